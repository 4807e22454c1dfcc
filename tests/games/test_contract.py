"""The rules of every registered game: its contract, plain twins, and counts that are known."""

import copy
import functools
import itertools
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from helpers.games import random_line
from helpers.position_counter import positions_by_ply
from helpers.reference.go import GoTwin
from helpers.reference.rules import HexTwin, LineTwin, OthelloTwin, Twin

from alphazero.errors import GameError
from alphazero.games import ONGOING, game_names, game_options, make_game, register, value_of
from alphazero.games.connect_four import ConnectFour
from alphazero.games.contract.check import check_game
from alphazero.games.contract.random_games import FULL, SHORT
from alphazero.games.game import HEADER, PLY, Game, Mask, State
from alphazero.games.go.game import Go
from alphazero.games.hex import Hex
from alphazero.games.line_games import CELLS, LineGame
from alphazero.games.mnk import Mnk
from alphazero.games.nim import Nim
from alphazero.games.othello import Othello
from alphazero.games.registry import all_games, read_game, write_game

LINE_GAMES = [
    ConnectFour(),
    ConnectFour(rows=4, columns=5, length=3),
    ConnectFour(rows=1, columns=4, length=2),
    ConnectFour(rows=5, columns=1, length=4),
    ConnectFour(rows=3, columns=12, length=5),
    Mnk(),
    Mnk(rows=3, columns=4, length=3),
    Mnk(rows=4, columns=3, length=3),
    Mnk(rows=2, columns=5, length=3),
    Mnk(rows=1, columns=6, length=2),
    Mnk(rows=5, columns=5, length=4),
    Mnk(rows=12, columns=11, length=3),
]

GO_GAMES = [
    Go(1, 1),
    Go(1, 5, komi_half_points=0, superko=0),
    Go(3, 2, komi_half_points=-1, moves=40),
    Go(4, 4, superko=0, suicide=1),
    Go(5, 3, superko=2, suicide=1),
    Go(4, 4, features=1),
    Go(3, 5, komi_half_points=100, superko=2, suicide=1, features=1),
]

OTHER_GAMES = [Nim(1, 1), Nim(40, 7), Othello(4), Othello(6), Hex(2, 1), Hex(5), Hex(5, 1)]

GAMES = [*LINE_GAMES, *GO_GAMES, *OTHER_GAMES, *(make_game(name) for name in game_names())]


def short(item: object) -> str | None:
    """Write a game as a test's identifier."""
    return str(item) if isinstance(item, Game) else None


every_game = pytest.mark.parametrize("game", dict.fromkeys(GAMES), ids=short)


@functools.cache
def playouts(game: Game) -> list[list[tuple[State, int]]]:
    """Return random games, the same in every run."""
    rng = np.random.default_rng(game.state_size)
    return [random_line(game, rng) for _ in range(4)]


# The contract, which lives in the package.


@pytest.mark.parametrize(
    "effort", [SHORT, pytest.param(FULL, marks=pytest.mark.slow)], ids=["short", "full"]
)
@every_game
def test_every_game_meets_every_requirement(game: Game, effort: int):
    report = check_game(game, effort)
    assert not report.faults, str(report)
    assert not [note for note in report.notes if "only be run compiled" in note]


@every_game
def test_an_illegal_action_is_refused_by_its_number(game: Game):
    every = itertools.chain.from_iterable(playouts(game))
    for state, _ in itertools.islice(every, 0, 60, 6):
        illegal = np.flatnonzero(~game.legal_action_mask(state)).tolist()
        for action in [-1, game.num_actions, 10**9, *illegal[:5]]:
            with pytest.raises(GameError, match=f"^action {action} is not legal here$"):
                game.play(state, action)


@every_game
def test_what_is_no_state_of_the_game_never_reaches_its_rules(game: Game):
    state = game.initial_state()
    wrong = [None, "a1", state.tolist(), state[:-1], state[None], state.astype(np.int32)]
    for place in range(HEADER, HEADER + len(game.state_options)):
        if [*game.state_options][place - HEADER] not in game.variable_options:
            wrong.append(state + 100 * (np.arange(len(state)) == place))
    for other in wrong:
        for look in (game.legal_action_mask, game.play, game.outcome, game.margin, game.observe):
            with pytest.raises(GameError, match=re.escape(f"expected a state of {game}, int64")):
                look(other)  # type: ignore[arg-type]


@every_game
def test_a_state_may_be_read_only_as_of_a_mapped_file(game: Game):
    state = game.initial_state()
    locked = state.copy()
    locked.flags.writeable = False
    assert np.array_equal(game.legal_action_mask(locked), game.legal_action_mask(state))
    assert np.array_equal(game.observe(locked), game.observe(state))
    assert game.margin(locked) == game.margin(state)
    action = int(game.legal_action_mask(state).argmax())
    assert np.array_equal(game.play(locked, action), game.play(state, action))


# A game registered while the tests run.


@dataclass(frozen=True)
class Take(Nim):
    """Take one or two counters in turn; the last counter wins."""

    heap: int = 7
    most: int = 2


def test_a_game_registered_at_run_time_is_found_and_keeps_the_contract(
    temporary_games, monkeypatch
):
    names = game_names()
    register("take")(Take)
    register("long_take", heap=9)(Take)
    assert game_names() == sorted([*names, "take", "long_take"])
    assert game_options("long_take") == {"heap": 9, "most": 2}
    for game in (make_game("take"), make_game("long_take"), make_game("take", heap=2)):
        assert not check_game(game).faults
    monkeypatch.undo()
    assert game_names() == names


def test_what_cannot_be_registered_is_refused_with_the_reason(temporary_games):
    @dataclass(frozen=True)
    class WithoutDefault(Nim):
        extra: int = field(kw_only=True)

    class WithoutDataclass(Nim):
        extra: int = 1

    for name, kind, defaults, reason in [
        ("two words", Nim, {}, "a name has letters, digits, - and _"),
        (3, Nim, {}, "a name has letters"),
        ("take", Nim, {"heaps": 3}, "Nim has no option 'heaps'"),
        ("take", Nim, {"heap": "3"}, "the option 'heap' needs an int as default"),
        ("take", Nim, {"heap": True}, "the option 'heap' needs an int as default"),
        ("take", WithoutDefault, {}, "the option 'extra' needs an int as default"),
        ("take", WithoutDataclass, {}, "no option 'extra'; options are .* a class with @dataclass"),
    ]:
        with pytest.raises(GameError, match=reason):
            register(name, **defaults)(kind)  # type: ignore[arg-type]
    register("take-one", extra=1)(WithoutDefault)
    assert make_game("take-one").options["extra"] == 1


class Mute(LineGame):
    """A game whose moves have no names."""

    render = Mnk.render


def test_a_game_that_lacks_a_method_is_refused_with_its_name(temporary_games):
    register("mute", rows=3, columns=3, length=3)(Mute)
    with pytest.raises(GameError, match=r"^mute has no action_name, num_actions, .*symmetries$"):
        make_game("mute")


def test_games_that_cannot_be_made_cost_only_themselves(temporary_games, capsys):
    class Failing(Mnk):
        """A game that asks for its `lenght`."""

        def __post_init__(self) -> None:
            assert self.lenght > 0  # type: ignore[attr-defined]

    others = list(map(write_game, all_games()))
    register("mute", rows=3, columns=3, length=3)(Mute)
    register("failing")(Failing)
    assert capsys.readouterr().err == ""
    assert list(map(write_game, all_games())) == others
    failing, mute = capsys.readouterr().err.splitlines()
    line = Failing.__post_init__.__code__.co_firstlineno + 1
    reason = f"failing cannot be made: {__file__}:{line}: AttributeError: 'Failing' object has no "
    assert failing.startswith(f"skipped game 'failing': {reason}")
    with pytest.raises(GameError, match=re.escape(reason)):
        make_game("failing")
    assert mute.startswith("skipped game 'mute': mute has no action_name, ")


# The plain twins.


GO_BOARDS = [
    *((1, 1, 2), (1, 2, 5), (2, 2, 12), (1, 5, 12), (2, 3, 12), (3, 3, 6), (3, 5, 3), (5, 5, 1)),
    *((rows, columns, 0) for rows, columns in ((3, 3), (4, 3), (5, 5), (9, 9), (3, 19))),
]
"""Rows, columns and games; with 0 games the test is slow, and has many."""


def twins_of_go() -> Iterator[Any]:
    """Yield a game and its twin for every rule of ko with and without suicide."""
    for (rows, columns, games), ko, suicide in itertools.product(GO_BOARDS, range(3), range(2)):
        game = Go(rows, columns, 1, ko, suicide, moves=min(8 * rows * columns, 150))
        many = max(1, 4000 // (rows * columns) ** 2)
        marks = () if games else pytest.mark.slow
        yield pytest.param(game, GoTwin(game), games or many, marks=marks)


TWINS = [
    *(
        (g, LineTwin(g.rows, g.columns, g.length, isinstance(g, ConnectFour)), 12)
        for g in LINE_GAMES
    ),
    *((Othello(size), OthelloTwin(size), games) for size, games in ((4, 20), (6, 6), (8, 4))),
    *(
        (Hex(size), HexTwin(size), games)
        for size, games in ((2, 30), (3, 30), (5, 15), (7, 6), (11, 2))
    ),
    *twins_of_go(),
]
"""Games, their twins, and how many random games are played in step with them."""


@pytest.mark.parametrize(("game", "twin", "games"), TWINS, ids=short)
def test_rules_agree_with_the_plain_twin(game: Game, twin: Twin, games: int):
    dice, passes, counts_area = random.Random(game.state_size), 0, isinstance(game, Othello | Go)
    for _ in range(games):
        state, other = game.initial_state(), copy.deepcopy(twin)
        while True:
            planes, player, mask = game.observe(state), other.player, game.legal_action_mask(state)
            stones = [other.stones.get(cell) for cell in other.cells()]
            assert planes[0].ravel().tolist() == [owner == player for owner in stones]
            assert planes[1].ravel().tolist() == [owner == 1 - player for owner in stones]
            last = mask[:-1] if isinstance(game, Othello) else 1 - player
            assert (planes[-1].ravel() == last).all()
            result, legal = other.outcome(), np.flatnonzero(mask).tolist()
            assert game.outcome(state) == (ONGOING if result is None else result)
            assert legal == other.legal(), game.render(state)
            if isinstance(game, LineGame):
                won = other.winning_cells()
                assert {divmod(cell, game.columns) for cell in game.winning_cells(state)} == won
            else:
                owners = np.full(len(stones), 7, np.int8)
                game.rule_functions.owners(state, owners)
                assert owners.tolist() == other.owners()
            if counts_area:
                assert game.margin(state) == sum(other.owners()) - getattr(game, "komi", 0)
            if not legal:
                break
            if isinstance(game, Go):  # the longer a game, the more may repeat: passes are rare
                legal = legal[-1:] if dice.random() < 0.05 else legal[:-1] or legal
            action = dice.choice(legal)
            passes += game.action_cell(state, action) is None
            state = game.play(state, action)
            other.play(action)
    assert passes or not counts_area


# Known counts.


def test_tic_tac_toe_has_its_known_positions_and_games():
    """Positions are distinct boards, finished ones included; games are sequences of moves."""
    game = make_game("tic_tac_toe")
    games_from: dict[bytes, int] = {}

    def count(state: State) -> int:
        board = state[CELLS:].tobytes()
        if board not in games_from:
            legal = np.flatnonzero(game.legal_action_mask(state))
            games_from[board] = sum(count(game.play(state, action)) for action in legal) or 1
        return games_from[board]

    assert count(game.initial_state()) == 255_168
    assert len(games_from) == 5_478
    assert sum(positions_by_ply(make_game("tic_tac_toe"))) == 5_478


CONNECT_FOUR_POSITIONS = [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275, 558186]
"""Distinct positions of Connect Four 6 x 7 after 0, 1, 2, ... moves (OEIS A212693)."""


@pytest.mark.parametrize("count", [7, pytest.param(10, marks=pytest.mark.slow)])
def test_connect_four_has_its_known_positions(count: int):
    counts = itertools.islice(positions_by_ply(ConnectFour()), count)
    assert list(counts) == CONNECT_FOUR_POSITIONS[:count]


@pytest.mark.slow
@pytest.mark.parametrize(("length", "total"), [(3, 6_036_001), (4, 9_722_011)])
def test_four_by_four_has_its_known_positions(length: int, total: int):
    """Distinct boards, mirrored ones apart; play stops at a win; finished boards count once."""
    assert sum(positions_by_ply(Mnk(rows=4, columns=4, length=length))) == total


# Sizes of symmetry groups, and values.


@pytest.mark.parametrize(
    ("game", "count"),
    [
        (Mnk(), 8),
        (Othello(), 8),
        (Mnk(rows=3, columns=4), 4),
        (ConnectFour(), 2),
        (ConnectFour(rows=7), 2),
    ],
    ids=short,
)
def test_boards_have_eight_four_or_two_symmetries(game: Game, count: int):
    actions, cells = game.symmetries()
    assert len({(tuple(a), tuple(c)) for a, c in zip(actions, cells, strict=True)}) == count
    assert len(actions) == count


def test_a_value_is_the_outcome_seen_by_the_player():
    assert [value_of(result, 0) for result in (1, 0, -1)] == [1, 0, -1]
    assert [value_of(result, 1) for result in (1, 0, -1)] == [-1, 0, 1]


# What people read and type.


DRAWINGS = {
    "connect_four": ("4453", 4 * ". . . . . . .\n" + ". . . O . . .\n. . O X X . .\n1 2 3 4 5 6 7"),
    "mnk:rows=3,columns=4": ("a1 D3 b2", " 3 . . . O\n 2 . X . .\n 1 X . . .\n   a b c d"),
    "nim:heap=7": ("31", "o o o . . . .\n3 left after 2 moves"),
}
"""Moves, and the drawing after them."""


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_game_is_drawn_with_the_names_of_its_moves(name: str):
    game, (moves, drawing) = read_game(name), DRAWINGS[name]
    assert game.render(game.from_moves(moves)) == drawing


@pytest.mark.parametrize(
    ("diagram", "result"), [("X O O\nO X O\nX X .", 1), ("X O X\nX O O\nO X .", 0)]
)
def test_the_last_stone_of_a_full_board_may_still_win(diagram: str, result: int):
    game = Mnk()
    state = game.play(game.parse(diagram), 8)
    assert state[PLY] == game.max_moves
    assert game.outcome(state) == result
    assert game.outcome(game.parse(game.render(state))) == result


def test_an_empty_cell_that_a_variant_forbids_is_not_called_taken():
    class NoCentre(Mnk):
        def legal_action_mask(self, state: State) -> Mask:
            mask = super().legal_action_mask(state)
            mask[4] = False
            return mask

    game = NoCentre()
    with pytest.raises(GameError, match=r"^b2 is forbidden; type another cell$"):
        game.parse_action(game.initial_state(), "b2")


SCRAPS = [
    *"XO.xo 0123456789abcdklm-+\n\n\t",
    *"²٣３①Ķ\u212aİ\x00\x1b\ud800\u2028",
    "X O .\n",
    ". . .\n",
]


@every_game
def test_random_text_never_raises_anything_but_a_game_error(game: Game):
    dice = random.Random(7)
    states = [state for state, _ in playouts(game)[0]]
    for _ in range(200):
        text = "".join(dice.choices(SCRAPS, k=dice.choice((1, 2, 2, 3, 5, 30))))
        state = dice.choice(states)
        with suppress(GameError):
            assert game.legal_action_mask(state)[game.parse_action(state, text)]
        drawing = list(game.render(state))
        for _ in range(dice.randrange(4)):
            drawing[dice.randrange(len(drawing))] = dice.choice(SCRAPS)
        for diagram in (text, "".join(drawing)):
            with suppress(GameError):
                assert len(game.parse(diagram)) == game.state_size
