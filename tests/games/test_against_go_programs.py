"""Go, checked by other programs: OpenSpiel and GNU Go see the same random games, move by move.

How their rules differ from ours, and what is compared because of it:

| | ours | OpenSpiel | GNU Go |
| --- | --- | --- | --- |
| repetition | may not be played | ends the game as a draw | may be played by suicide alone |
| suicide | by option | never | by option |
| memory of positions | the whole game | the whole game | lost at move 500 |
| end | two passes, limit | two passes, limit | never: the board is compared |
| dead stones | count as alive | count as alive | taken off: compared on boards without any |

Moves that the others allow and ours do not must bring a position back, or the test fails.
"""

import random
import shutil
from contextlib import closing

import numpy as np
import pyspiel
import pytest

from alphazero.games import ONGOING
from alphazero.games.game import OUTCOME, PLY, State
from alphazero.games.go.game import Go
from alphazero.games.go.rules import play, stones_of, without_history
from alphazero.players.program_process import GTP, ProgramProcess

GNU_GO = shutil.which("gnugo", path="/usr/games:/usr/local/bin:/usr/bin:/bin")
GNU_GO_MEMORY = 500
"""Moves that it remembers: MAX_MOVE_HISTORY in its source."""
needs_gnu_go = pytest.mark.skipif(not GNU_GO, reason="GNU Go is missing: apt install gnugo")


# --- OpenSpiel ---------------------------------------------------------------------------------


def repeats(theirs: pyspiel.State, action: int) -> bool:
    """Whether OpenSpiel ends the game at `action` because the board was there before."""
    child = theirs.clone()
    child.apply_action(action)
    # A komi of 7.5 leaves no other draw.
    return bool(child.is_terminal() and child.returns() == [0, 0])


def compare_with_open_spiel(game: Go, dice: random.Random, every_move: bool) -> None:
    """Play a random game; `every_move` asks of every legal move whether it repeats a position."""
    spiel = pyspiel.load_game("go", {"board_size": game.rows, "komi": game.komi})
    theirs, state, moves = spiel.new_initial_state(), game.initial_state(), list[int]()
    while game.outcome(state) == ONGOING:
        ours, legal = np.flatnonzero(game.legal_action_mask(state)).tolist(), theirs.legal_actions()
        assert not theirs.is_terminal(), moves
        if game.superko == 0:
            assert ours == legal, moves
        elif every_move:
            assert ours == [action for action in legal if not repeats(theirs, action)], moves
        else:
            assert set(ours) <= set(legal), moves
            assert all(repeats(theirs, action) for action in set(legal) - set(ours)), moves
        action = dice.choice(ours)
        if game.superko == 0 and repeats(theirs, action):
            return
        moves.append(action)
        state = game.play(state, action)
        theirs.apply_action(action)
    assert theirs.is_terminal(), moves
    assert theirs.returns() == [game.outcome(state), -game.outcome(state)], moves


def boards(*sizes: tuple[int, int]) -> pytest.MarkDecorator:
    """Parametrize a test by sides and numbers of games; the second half is slow."""
    slow = [pytest.param(*size, marks=pytest.mark.slow) for size in sizes[len(sizes) // 2 :]]
    return pytest.mark.parametrize(("side", "games"), [*sizes[: len(sizes) // 2], *slow])


@pytest.mark.parametrize("superko", [0, 1])
@boards((5, 200), (9, 40), (19, 4), (5, 5_000), (9, 2_000), (19, 200))
def test_open_spiel_sees_the_same(side: int, games: int, superko: int):
    dice = random.Random(side + games)
    for _ in range(games):
        compare_with_open_spiel(Go(side, side, superko=superko), dice, side == 5)


# --- GNU Go ------------------------------------------------------------------------------------


def gnu_go(*options: str) -> "closing[ProgramProcess]":
    """Start GNU Go, which ends with the block."""
    command = f"{GNU_GO} --mode gtp --chinese-rules --level 1 {' '.join(options)}"
    return closing(ProgramProcess(command, GTP))


def ask(program: ProgramProcess, command: str) -> str:
    """Return the answer to a command, which must not fail."""
    answer = program.ask(command)
    assert answer.succeeded, f"{command}: {answer.text}"
    return answer.text


def is_eye(game: Go, stones: State, action: int, colour: int) -> bool:
    """Whether all points beside this one have stones of `colour`."""
    grid = np.pad(stones.reshape(game.rows, game.columns), 1, constant_values=colour)
    row, column = action // game.columns + 1, action % game.columns + 1
    beside = grid[[row - 1, row + 1, row, row], [column, column, column - 1, column + 1]]
    return bool((beside == colour).all())


def may_differ(game: Go, past: list[State], action: int) -> bool:
    """Whether GNU Go is known to allow `action`, which truly brings a position back.

    It looks for no repetition behind a suicide, and forgets earlier positions at its 500th move.
    `past` are the positions so far.
    """
    after = past[-1].copy()
    play(after, action)
    repeats = any(np.array_equal(stones_of(before), stones_of(after)) for before in past)
    is_suicide = game.action_cell(past[-1], action) is None
    return repeats and (is_suicide or len(past) > GNU_GO_MEMORY)


def compare_with_gnu_go(
    program: ProgramProcess, game: Go, dice: random.Random, settle: bool
) -> State:
    """Play a random game and compare the legal moves at every ply and the stones at the end.

    To `settle` a board nobody fills a point that their own stones surround.
    """
    for command in (f"boardsize {game.rows}", "clear_board", f"komi {game.komi}"):
        ask(program, command)
    state, ply, past = game.initial_state(), 0, list[State]()
    while game.outcome(state) == ONGOING:
        colour = ply % 2 + 1
        legal = np.flatnonzero(game.legal_action_mask(state)).tolist()[:-1]
        names = {game.action_name(state, action) for action in legal}
        theirs = set(ask(program, f"all_legal {'xbw'[colour]}").split())
        past.append(state)
        assert names <= theirs, game.render(state)
        for action in range(game.pass_action) if names != theirs else ():
            if game.action_name(state, action) in theirs - names:
                assert game.superko == 1, game.render(state)
                assert may_differ(game, past, action), game.render(state)
        stones = stones_of(state)
        useful = [a for a in legal if not (settle and is_eye(game, stones, a, colour))]
        action = dice.choice(useful) if useful else game.pass_action
        ask(program, f"play {'xbw'[colour]} {game.action_name(state, action)}")
        state, ply = game.play(state, action), ply + 1
    for colour, name in ((1, "black"), (2, "white")):
        points = np.flatnonzero(stones_of(state) == colour).tolist()
        ours = {game.action_name(state, action) for action in points}
        assert ours == set(ask(program, f"list_stones {name}").split()), game.render(state)
    return state


VARIANTS = [
    (0, 0, ("--simple-ko", "--forbid-suicide")),
    (1, 0, ("--positional-superko", "--forbid-suicide")),
    (1, 1, ("--positional-superko", "--allow-suicide")),
    (2, 0, ("--situational-superko", "--forbid-suicide")),
]
"""The rule of ko, suicide, and both as GNU Go calls them."""


@needs_gnu_go
@pytest.mark.parametrize(("superko", "suicide", "options"), VARIANTS)
@boards((5, 10), (9, 3), (5, 300), (9, 200), (19, 20))
def test_gnu_go_knows_the_same_legal_moves(
    side: int, games: int, superko: int, suicide: int, options: tuple[str, ...]
):
    dice = random.Random(side + games)
    with gnu_go(*options) as program:
        for _ in range(games):
            game = Go(side, side, superko=superko, suicide=suicide)
            compare_with_gnu_go(program, game, dice, settle=False)


def is_settled(game: Go, state: State) -> bool:
    """Whether both sides can but fill their own eyes, even if no ko were forbidden."""
    stones = stones_of(state)
    for colour in (1, 2):
        free = without_history(state)
        free[OUTCOME], free[PLY] = ONGOING, colour - 1
        legal = np.flatnonzero(game.legal_action_mask(free)).tolist()[:-1]
        if not all(is_eye(game, stones, action, colour) for action in legal):
            return False
    return True


def score_text(game: Go, state: State) -> str:
    """Write the score as the Go Text Protocol does."""
    score = game.margin(state)
    return f"{'B' if score > 0 else 'W'}+{abs(score):.1f}" if score else "0"


@needs_gnu_go
@pytest.mark.parametrize(
    ("sizes", "least"),
    [
        ([(5, 6), (9, 4)], 5),
        pytest.param([(5, 100), (9, 100), (13, 10), (19, 5)], 100, marks=pytest.mark.slow),
    ],
)
def test_gnu_go_counts_the_same_area_on_settled_boards(sizes: list[tuple[int, int]], least: int):
    """At least `least` final boards must be comparable."""
    dice, compared = random.Random(7), 0
    with gnu_go("--positional-superko") as program:
        for side, games in sizes:
            for _ in range(games):
                game = Go(side, side, moves=10 * side * side)
                state = compare_with_gnu_go(program, game, dice, settle=True)
                if is_settled(game, state):
                    compared += 1
                    assert ask(program, "final_score") == score_text(game, state), game.render(
                        state
                    )
    assert compared >= least
