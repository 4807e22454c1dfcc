"""The rules, checked by someone else: OpenSpiel plays the same games move by move.

Lanctot et al., *OpenSpiel: A Framework for Reinforcement Learning in Games* (2019). A game joins
by a line in `PAIRS`.
"""

from typing import Any

import numpy as np
import pyspiel
import pytest

from alphazero.games import ONGOING
from alphazero.games.registry import read_game

Theirs = tuple[str, dict[str, Any]]

PAIRS: dict[str, Theirs] = {
    "tic_tac_toe": ("tic_tac_toe", {}),
    "connect_four": ("connect_four", {}),
    "connect_four:rows=5,columns=9,length=3": (
        "connect_four",
        {"rows": 5, "columns": 9, "x_in_row": 3},
    ),
    "mnk:rows=5,columns=3,length=4": ("mnk", {"n": 5, "m": 3, "k": 4}),
    "mnk:rows=8,columns=8,length=5": ("mnk", {"n": 8, "m": 8, "k": 5}),
    # More than five in a row win in both.
    "gomoku:rows=9,columns=9": ("gomoku", {"size": 9}),
    "gomoku": ("gomoku", {}),
    # Theirs knows no largest number of chips to take: ours may take the whole heap here.
    "nim:heap=12,most=12": ("nim", {"pile_sizes": "12", "is_misere": False}),
    "othello": ("othello", {}),
    "hex": ("hex", {}),
    "hex:size=5,swap=1": ("hex", {"board_size": 5, "swap": True}),
}
"""Games of ours, and what OpenSpiel calls them. Actions have the same numbers in both."""


def differences(ours: str, theirs: Theirs, games: int, seed: int) -> list[str]:
    """Return a line for each game that OpenSpiel sees differently, and where."""
    game, spiel = read_game(ours), pyspiel.load_game(*theirs)
    found, results, rng = [], set(), np.random.default_rng(seed)
    for _ in range(games):
        state, other, actions, wrong = game.initial_state(), spiel.new_initial_state(), [], ""
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
@pytest.mark.parametrize("ours", PAIRS)
def test_open_spiel_sees_the_same_in_random_games(ours: str, games: int):
    assert differences(ours, PAIRS[ours], games, seed=1) == []


@pytest.mark.parametrize(
    ("ours", "theirs", "says"),
    [
        ("connect_four:length=4", {"x_in_row": 3}, "legal actions after"),
        ("connect_four:length=3", {"x_in_row": 4}, "end after"),
        ("connect_four:columns=6", {}, "legal actions after"),
    ],
)
def test_a_difference_would_be_found(ours: str, theirs: dict[str, int], says: str):
    assert differences(ours, ("connect_four", theirs), 200, seed=3)[0].startswith(says)
