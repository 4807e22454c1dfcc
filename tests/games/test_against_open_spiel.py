"""The rules, checked by someone else: OpenSpiel plays the same games move by move.

Lanctot et al., *OpenSpiel: A Framework for Reinforcement Learning in Games* (2019). A game joins
by a line in `PAIRS`.
"""

from typing import Any, NamedTuple

import numpy as np
import pyspiel
import pytest

from alphazero.games import ONGOING, make_game


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


def differences(pair: Pair, games: int, seed: int) -> list[str]:
    """Return a line for each game that OpenSpiel sees differently, and where."""
    game = make_game(pair.name, **pair.options)
    theirs = pyspiel.load_game(pair.theirs, pair.parameters)
    found, results, rng = [], set(), np.random.default_rng(seed)
    for _ in range(games):
        state, other, actions, wrong = game.initial_state(), theirs.new_initial_state(), [], ""
        while not wrong and game.outcome(state) == ONGOING:
            legal = np.flatnonzero(game.legal_action_mask(state)).tolist()
            if other.is_terminal() or other.legal_actions() != legal:
                wrong = "legal actions"
            else:
                actions.append(legal[rng.integers(len(legal))])
                state = game.play(state, actions[-1])
                other.apply_action(actions[-1])
        outcome = game.outcome(state)
        if not wrong and not other.is_terminal():
            wrong = "end"
        elif not wrong and other.returns() != [outcome, -outcome]:
            wrong = "result"
        if wrong:
            found.append(f"{wrong} after {actions}")
        else:
            results.add(outcome)
    assert found or {1, -1} <= results <= {1, 0, -1}, "the games see both sides win"
    return found


@pytest.mark.parametrize("games", [150, pytest.param(30_000, marks=pytest.mark.slow)])
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
    assert differences(pair, 200, seed=3)[0].startswith(says)
