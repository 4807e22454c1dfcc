"""Go: every rule as a picture, against a plain twin, and against counts that are known."""

import random
from typing import Any

import numpy as np
import pytest
from numba import types

from alphazero.errors import GameError
from alphazero.games import ONGOING, make_game
from alphazero.games.compiled_rules import HEURISTIC_SCALE
from alphazero.games.game import LAST, PLY, State
from alphazero.games.go.board import EMPTY, point_at, put_stone
from alphazero.games.go.game import Go
from alphazero.games.registry import read_game, write_game
from alphazero.utils.jit import kernel


def drawn(game: Go, state: State) -> list[str]:
    """Return the rows of the board without spaces."""
    lines = game.render(state).splitlines()[: game.rows]
    return ["".join(line.split()[1:]) for line in lines]


def allows(game: Go, state: State, name: str) -> bool:
    """Whether the move of this name is legal."""
    try:
        return bool(game.legal_action_mask(state)[game.parse_action(state, name)])
    except GameError:
        return False


def after(game: Go, state: State, moves: str) -> State:
    """Return the position after moves."""
    for move in moves.split():
        state = game.play(state, game.parse_action(state, move))
    return state


# --- counts that are known ---------------------------------------------------------------------


@kernel(types.int64(types.int64[::1]))
def count_positions(first: Any) -> int:
    """Colour the board in every way and count where all stones keep lying as they were laid."""
    rows, columns = first[3], first[4]
    state, count = first.copy(), 0
    for number in range(3 ** (rows * columns)):
        state[:] = first
        rest = number
        for cell in range(rows * columns):
            if rest % 3:
                put_stone(state, point_at(state, cell // columns, cell % columns), rest % 3)
            rest //= 3
        rest, whole = number, True
        for cell in range(rows * columns):
            value = state[point_at(state, cell // columns, cell % columns)]
            whole = whole and (value == rest % 3 or (value >= EMPTY and rest % 3 == 0))
            rest //= 3
        count += whole
    return count


LEGAL_POSITIONS = [
    (1, 1, 1),
    (1, 2, 5),
    (1, 3, 15),
    (1, 7, 867),
    (2, 2, 57),
    (2, 3, 489),
    (4, 2, 4_125),
    (3, 3, 12_675),
    pytest.param(4, 3, 321_689, marks=pytest.mark.slow),
    pytest.param(4, 4, 24_318_165, marks=pytest.mark.slow),
]
"""Tromp & Farnebäck, *Combinatorics of Go* (2007), table of L(m, n)."""


@pytest.mark.parametrize(("rows", "columns", "count"), LEGAL_POSITIONS)
def test_legal_positions_are_as_many_as_tromp_counted(rows: int, columns: int, count: int):
    assert count_positions(Go(rows, columns).initial_state()) == count


# --- ko ----------------------------------------------------------------------------------------

KO = """
5 . X O . .
4 X O . O .
3 . X O . .
2 . . . . .
1 . . . . .
"""


@pytest.mark.parametrize("superko", [0, 1, 2])
def test_a_ko_may_be_taken_back_after_a_move_elsewhere(superko: int):
    game = Go(5, 5, superko=superko)
    state = after(game, game.parse(KO), "C4")
    assert drawn(game, state)[1] == "X.XO."
    assert not allows(game, state, "B4")
    with pytest.raises(GameError, match="B4 is forbidden by ko: it repeats an earlier position"):
        game.parse_action(state, "b4")
    assert "1 moves, O to play, ko at B4; komi 7.5" in game.render(state)
    state = after(game, state, "A1 E1")
    assert allows(game, state, "B4")
    assert drawn(game, after(game, state, "B4"))[1] == "XO.O."


SENT_TWO = "1 . O . O .\n1 moves, O to play;"
"""White sends two stones at A1; Black takes them from C1; White takes one back from B1."""


@pytest.mark.parametrize(("superko", "returns"), [(0, True), (1, False), (2, True)])
def test_send_two_return_one(superko: int, returns: bool):
    game = Go(1, 5, superko=superko)
    state = game.parse(SENT_TWO)
    state = after(game, state, "A1")
    assert drawn(game, state) == ["OO.O."]
    state = after(game, state, "C1")
    assert drawn(game, state) == ["..XO."]
    assert allows(game, state, "B1") is returns
    if returns:  # the board is as before, but now Black is to move
        state = after(game, state, "B1")
        assert drawn(game, state) == [".O.O."]
        state = after(game, state, "pass")
        assert allows(game, state, "A1") is (superko == 0), "the second time all is as it was"


TRIPLE_KO = """
3 X O . O X O . O X . X O
2 . X O . . X O . . X O .
1 . . . . . . . . . . . .
"""


@pytest.mark.parametrize(("superko", "endless"), [(0, True), (1, False), (2, False)])
def test_triple_ko(superko: int, endless: bool):
    game = Go(3, 12, superko=superko)
    first = game.parse(TRIPLE_KO)
    state = after(game, first, "C3 K3 G3 B3 L3")
    assert drawn(game, state)[0] == "XO.OX.XOX.XO"
    assert allows(game, state, "F3") is endless
    if endless:
        state = after(game, state, "F3")
        assert drawn(game, state) == drawn(game, first)
        assert allows(game, state, "C3")


# --- suicide ------------------------------------------------------------------------------------


LAST_LIBERTY = """
3 X . O
2 O O O
1 . . .
"""


def test_suicide_is_forbidden():
    game = Go(3, 3)
    with pytest.raises(GameError, match="B3 is forbidden: the stone would have no liberty"):
        game.parse_action(game.parse(LAST_LIBERTY), "B3")


# --- the end and the score ---------------------------------------------------------------------

SCORES = [
    (". . .\n. . .\n. . .", 0),
    (". . .\n. X .\n. . .", 9),
    # The column between the walls is dame; the one behind White's is White's.
    ("X . O .\nX . O .\nX . O .", 3 - 6),
    # Three points of dame, and Black's corner.
    ("X X . O\nX . . O\n. X O O", 5 - 4),
    # Seki: whoever fills one of the two liberties in the middle is taken from the other.
    (". O O X . O X X . .\nO . O X . O X . X .", 10 - 8),
    # A stone that cannot live is counted while it is there, and spoils the point beside it.
    (". X . X .\nX X O X X\nX . X X .", 13 - 1),
]


@pytest.mark.parametrize(("diagram", "area"), SCORES)
def test_the_board_is_counted_by_area(diagram: str, area: int):
    rows = diagram.splitlines()
    for komi in (0, 15, -3):
        game = Go(len(rows), len(rows[0].split()), komi_half_points=komi)
        state = game.parse(diagram)
        assert game.margin(state) == area - komi / 2
        state = after(game, state, "pass pass")
        assert game.outcome(state) == np.sign(2 * area - komi)


def test_the_heuristic_is_the_lead_of_the_player_to_move():
    game = Go(3, 3, komi_half_points=3)
    state = game.parse(". X .\n. . X\n. . .")  # all nine points are Black's: by 15 half points
    for player, lead in (0, 15), (1, -15):
        state[PLY] = 2 + player
        assert game.rule_functions.heuristic(state) == HEURISTIC_SCALE * lead // (15 + 9)


def test_two_passes_in_a_row_end_the_game_and_two_of_one_player_do_not():
    game = Go(5, 5)
    state = after(game, game.initial_state(), "pass C3 pass A1 pass")
    assert game.outcome(state) == ONGOING
    assert "O passed" not in game.render(state)
    assert "5 moves, O to play, X passed; komi 7.5" in game.render(state)
    state = after(game, state, "pass")
    assert game.outcome(state) == -1
    assert "6 moves, over: O wins by 32.5; komi 7.5" in game.render(state)
    assert game.legal_action_mask(state).sum() == 0
    with pytest.raises(GameError, match="the game is over"):
        game.parse_action(state, "A2")


def test_the_limit_of_moves_is_twice_the_points_unless_another_is_given():
    assert [Go(9, 9).max_moves, Go(19, 19).max_moves, Go(moves=90).max_moves] == [162, 722, 90]


# --- what the network sees ---------------------------------------------------------------------


def test_the_observation_is_eight_positions_of_each_colour_and_the_colour_to_move():
    """The boards are kept here as they were drawn, and compared newest first."""
    game, dice = Go(4, 5, suicide=1, moves=60), random.Random(3)
    state, past = game.initial_state(), [np.zeros(20, np.int64)]
    while game.outcome(state) == ONGOING:
        legal = np.flatnonzero(game.legal_action_mask(state))
        state = game.play(state, int(dice.choice(legal[:-1] if len(legal) > 1 else legal)))
        signs = "".join(drawn(game, state))
        past.insert(0, np.array([".XO".index(sign) for sign in signs]))
        planes = game.observe(state).reshape(17, 20)
        own = int(state[PLY]) % 2 + 1
        boards = (past + [np.zeros(20)] * 8)[:8]
        for age, stones in enumerate(boards):
            assert np.array_equal(planes[2 * age], stones == own)
            assert np.array_equal(planes[2 * age + 1], stones == 3 - own)
        assert (planes[16] == (own == 1)).all()
    assert len(past) > 30


# --- text --------------------------------------------------------------------------------------


def test_points_are_named_as_in_the_go_text_protocol():
    game = make_game("go", rows=19, columns=19)
    state = game.initial_state()
    assert game.action_name(state, 0) == "A19"
    assert game.action_name(state, 8) == "J19", "there is no column I"
    assert game.action_name(state, 360) == "T1"
    assert game.action_name(state, 361) == "pass"
    for text in ("d4", "D4", " D04 ", "PASS", "Pass"):
        assert game.action_name(state, game.parse_action(state, text)) in ("D4", "pass")


EMPTY_3 = ". . .\n. . .\n. . .\n"


def test_simple_ko_forbids_no_two_points():
    game = Go(3, 3, superko=0)
    with pytest.raises(GameError, match="more points than simple ko can forbid"):
        game.parse(EMPTY_3 + "2 moves, X to play, ko at A1 A2;")
    state = Go(3, 3).parse(EMPTY_3 + "2 moves, X to play, ko at A1 A2;")
    assert Go(3, 3).legal_action_mask(state).sum() == 8


def test_a_drawing_says_that_the_opponent_passed():
    game = Go(3, 3)
    state = game.parse(EMPTY_3 + "5 moves, O to play, X passed;")
    assert state[LAST] == game.pass_action
    assert game.outcome(after(game, state, "pass")) == -1


def test_a_game_is_written_with_the_options_that_differ():
    text = "go:rows=19,columns=19,superko=2"
    assert (write_game(read_game(text)), write_game(Go())) == (text, "go")
