"""The rules, checked by someone else: OpenSpiel plays the same games move by move.

Lanctot et al., *OpenSpiel: A Framework for Reinforcement Learning in Games* (2019). A game joins
by a line in `PAIRS`. Letters: G games, T plies of the longest, A actions.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyspiel
import pytest
from numba import types

from alphazero.games import ONGOING, Game, State, make_game
from alphazero.games.compiled_rules import RulesType
from alphazero.games.game import OUTCOME
from alphazero.utils.arrays import BoolArray
from alphazero.utils.jit import kernel

CHUNK = 200
"""Games that are kept in memory at once."""


class Pair(NamedTuple):
    """A game of ours, and what OpenSpiel calls it. Actions have the same numbers in both."""

    name: str
    options: dict[str, int]
    theirs: str
    parameters: dict[str, Any]


PAIRS = [
    Pair("tic_tac_toe", {}, "tic_tac_toe", {}),
    Pair("connect_four", {}, "connect_four", {}),
    Pair(
        "connect_four",
        {"rows": 5, "columns": 9, "length": 3},
        "connect_four",
        {"rows": 5, "columns": 9, "x_in_row": 3},
    ),
    Pair("mnk", {"rows": 5, "columns": 3, "length": 4}, "mnk", {"n": 5, "m": 3, "k": 4}),
    Pair("mnk", {"rows": 8, "columns": 8, "length": 5}, "mnk", {"n": 8, "m": 8, "k": 5}),
    # More than five in a row win in both.
    Pair("gomoku", {"rows": 9, "columns": 9}, "gomoku", {"size": 9}),
    Pair("gomoku", {}, "gomoku", {}),
    # Theirs knows no largest number of chips to take: ours may take the whole heap here.
    Pair("nim", {"heap": 12, "most": 12}, "nim", {"pile_sizes": "12", "is_misere": False}),
    Pair("othello", {}, "othello", {}),
    Pair("hex", {}, "hex", {}),
    Pair("hex", {"size": 5, "swap": 1}, "hex", {"board_size": 5, "swap": True}),
]


def name_of(pair: Pair) -> str:
    return "-".join([pair.name, *(str(value) for value in pair.options.values())])


every_pair = pytest.mark.parametrize("pair", PAIRS, ids=name_of)

_rows = types.Array(types.int64, 2, "C")


@kernel(
    types.void(
        RulesType,
        types.int64[::1],
        types.Array(types.float64, 2, "C"),
        types.Array(types.boolean, 3, "C"),
        _rows,
        types.int64[::1],
    )
)
def play_out(rules: Any, first: Any, dice: Any, masks: Any, actions: Any, outcomes: Any) -> None:
    """Play G random games; the arrays stay as they were behind each game's end.

    `dice` [G, T] from 0 to 1 choose among the legal actions; written are `masks` [G, T + 1, A],
    also that of the end, `actions` [G, T] and `outcomes` [G].
    """
    for game in range(len(actions)):
        state = first.copy()
        for ply in range(masks.shape[1]):
            count = rules.functions.legal(state, masks[game, ply])
            outcomes[game] = state[OUTCOME]
            if count == 0:
                break
            chosen = int(dice[game, ply] * count)
            for action in range(masks.shape[2]):
                if masks[game, ply, action]:
                    if chosen == 0:
                        actions[game, ply] = action
                    chosen -= 1
            rules.functions.play(state, actions[game, ply])


def random_games(
    game: Game, count: int, rng: np.random.Generator
) -> Iterator[tuple[BoolArray, list[int], int]]:
    """Yield the legal actions at every ply [T + 1, A], the actions, and the outcome."""
    plies, first = game.max_moves, game.initial_state()
    for _ in range(count // CHUNK):
        masks = np.zeros((CHUNK, plies + 1, game.num_actions), np.bool_)
        actions: State = np.full((CHUNK, plies), -1, np.int64)
        outcomes: State = np.full(CHUNK, ONGOING, np.int64)
        play_out(game.rules, first, rng.random((CHUNK, plies)), masks, actions, outcomes)
        for index in range(CHUNK):
            played = actions[index][actions[index] >= 0].tolist()
            yield masks[index], played, int(outcomes[index])


def differences(pair: Pair, games: int, seed: int) -> list[str]:
    """Return a line for each game that OpenSpiel sees differently, and where."""
    game = make_game(pair.name, **pair.options)
    theirs = pyspiel.load_game(pair.theirs, pair.parameters)
    found, results = [], set()
    for masks, actions, outcome in random_games(game, games, np.random.default_rng(seed)):
        state, wrong = theirs.new_initial_state(), ""
        for mask, action in zip(masks, actions, strict=False):
            if state.is_terminal() or state.legal_actions() != np.flatnonzero(mask).tolist():
                wrong = "legal actions"
                break
            state.apply_action(action)
        if not wrong and not state.is_terminal():
            wrong = "end"
        elif not wrong and state.returns() != [outcome, -outcome]:
            wrong = "result"
        if wrong:
            found.append(f"{wrong} after {actions}")
        results.add(outcome)
    assert {1, -1} <= results <= {1, 0, -1}, "the games see both sides win"
    return found


@pytest.mark.parametrize("games", [400, pytest.param(100_000, marks=pytest.mark.slow)])
@every_pair
def test_open_spiel_sees_the_same_in_random_games(pair: Pair, games: int):
    assert differences(pair, games, seed=1) == []


@pytest.mark.parametrize(
    ("ours", "theirs", "says"),
    [
        ({"length": 4}, {"x_in_row": 3}, "legal actions after"),
        ({"length": 3}, {"x_in_row": 4}, "end after"),
        ({"columns": 6}, {}, "legal actions after"),
    ],
)
def test_a_difference_would_be_found(ours: dict[str, int], theirs: dict[str, int], says: str):
    pair = Pair("connect_four", ours, "connect_four", theirs)
    assert differences(pair, CHUNK, seed=3)[0].startswith(says)
