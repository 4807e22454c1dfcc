"""Othello against a plain twin, its known counts and values, and what is typed and drawn."""

import numpy as np
import pytest
from benchmark_rules import perft

from alphazero.errors import GameError
from alphazero.games import ONGOING
from alphazero.games.compiled_rules import HEURISTIC_SCALE
from alphazero.games.game import PLY
from alphazero.games.othello import DISCS, Othello
from alphazero.solvers.exact import solve_position, solver_for

PERFT = [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288]
"""Sequences of 1, 2, 3, ... moves from the first position of the 8 x 8 board; a pass is a move.

Bik, *Perft for Reversi* (2009). His players pass for ever where neither can move, so he counts the
games that end with the 9th move, 228, and with the 10th, 356, at every later depth too.
"""


@pytest.mark.parametrize(
    ("depth", "count"),
    [
        *enumerate(PERFT, 1),
        pytest.param(10, 24571284 - 228, marks=pytest.mark.slow),
        pytest.param(11, 212258800 - 228 - 356, marks=pytest.mark.slow),
    ],
)
def test_there_are_as_many_sequences_of_moves_as_is_known(depth: int, count: int):
    game = Othello()
    assert perft(game, game.initial_state(), depth) == count


def test_the_second_player_wins_on_four_by_four():
    """Known to end 3 to 11; the winner's margin is not asked for here."""
    game = Othello(4)
    found = solve_position(solver_for(game), game.initial_state(), 10_000_000)
    assert found.value == -1
    assert found.best.sum() >= 1


def test_a_game_may_end_with_empty_cells():
    """The shortest game: white is wiped out with black's fifth disc."""
    game = Othello()
    state = game.from_moves("e6 f4 e3 f6 g5 d6 e7 f5 c5")
    assert game.outcome(state) == 1
    assert state[PLY] == 9
    assert game.render(state).count("O") == 1, "in the line that says whose turn it would be"


def test_a_game_may_end_drawn():
    game = Othello(4)
    state = game.parse("X X X X\nX X X X\nO O O O\nO O O O\nX to move after 12 moves")
    assert game.outcome(state) == 0
    assert not game.legal_action_mask(state).any()


FORCED = ". O X X\nX X X X\nX X X X\nX X X X\nO to move after 11 moves"
"""In the last empty corner X would enclose a disc, and O none."""


def test_a_player_who_encloses_nothing_passes():
    game = Othello(4)
    state = game.parse(FORCED)
    assert np.flatnonzero(game.legal_action_mask(state)).tolist() == [16]
    assert game.action_name(state, 16) == "pass"
    assert game.parse_action(state, " PASS\n") == 16
    assert game.action_cell(state, 16) is None
    with pytest.raises(GameError, match=r"^no disc can be placed; type pass$"):
        game.parse_action(state, "a1")
    passed = game.play(state, 16)
    assert np.array_equal(passed[DISCS:], state[DISCS:])
    assert game.outcome(passed) == ONGOING
    last = game.play(passed, game.parse_action(passed, "a1"))
    assert game.outcome(last) == 1
    with pytest.raises(GameError, match=r"^the game is over$"):
        game.parse_action(last, "pass")


def test_cells_are_named_from_the_top_left_and_black_begins_on_the_usual_ones():
    game = Othello()
    state = game.initial_state()
    legal = np.flatnonzero(game.legal_action_mask(state))
    assert [game.action_name(state, int(action)) for action in legal] == ["d3", "c4", "f5", "e6"]
    assert game.render(game.from_moves(["D3", "c5"])) == (
        "   a b c d e f g h\n"
        " 1 . . . . . . . .\n"
        " 2 . . . . . . . .\n"
        " 3 . . . X . . . .\n"
        " 4 . . . X X . . .\n"
        " 5 . . O O O . . .\n"
        " 6 . . . . . . . .\n"
        " 7 . . . . . . . .\n"
        " 8 . . . . . . . .\n"
        "X to move after 2 moves"
    )


def test_the_heuristic_likes_corners_and_freedom_and_sees_both_sides_alike():
    game, estimates, moves_of = Othello(4), {}, {}
    for turn, moves in (("X", 4), ("O", 5)):
        state = game.parse(
            f"X . . .\nX O X .\nX X O .\n. . . .\n{turn} to move after {moves} moves"
        )
        estimates[turn] = int(game.rule_functions.heuristic(state))
        moves_of[turn] = int(game.legal_action_mask(state)[:-1].sum())
    assert moves_of["X"] > moves_of["O"] + 1
    lead = 8 + moves_of["X"] - moves_of["O"]  # X has a corner
    assert estimates["X"] == HEURISTIC_SCALE * lead // (lead + 20)
    assert estimates["O"] == -estimates["X"]
