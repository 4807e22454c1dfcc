"""The resignation threshold, computed from games that were played to the end.

Silver et al., Nature 550 (2017), Methods, "Self-play": a tenth of the games are played without
resignation, and v_resign is chosen such that fewer than 5 % of the resignations in them would have
been wrong. A player resigns when the better of the root's value and the best action's value is
below v_resign.

Letters: T moves of a game.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from alphazero.games.game import value_of
from alphazero.records.game_record import NEVER_RESIGN, GameRecord
from alphazero.training.data.game_shard import GameBatch
from alphazero.utils.arrays import Float32Array

RESIGN_FALSE_POSITIVES: Final = 0.05
"""Share of wrong resignations that the threshold stays below; AlphaGo Zero's."""

RESIGN_THRESHOLD_MAX: Final = -0.5
"""Highest threshold, so that undecided positions are played on. AlphaGo Zero has none; thresholds
in use are -0.7 to -0.9 (ELF OpenGo, Leela Zero)."""


class ThresholdCheck(NamedTuple):
    """The effect that a threshold would have had on games that were played to the end."""

    resigned: int
    """games that it would have ended"""
    wrong: int
    """games among them that the resigning player did not lose"""


def non_resigned_games(games: GameBatch) -> list[GameRecord]:
    """Return the games in which resignation was disabled."""
    return [record for record in games.records() if not record.pairing.may_resign]


def check_threshold(records: Iterable[GameRecord], threshold: float) -> ThresholdCheck:
    """Count the games that `threshold` would have ended, and its mistakes among them."""
    resigned = wrong = 0
    for record in records:
        below = np.flatnonzero(record.best_values < threshold)
        if len(below):
            resigned += 1
            wrong += _is_wrong(record.outcome, int(below[0]))
    return ThresholdCheck(resigned, wrong)


def resign_threshold(records: Iterable[GameRecord]) -> float:
    """Return the highest v_resign within the two limits, from games that were played to the end.

    The share of mistakes is taken over the games that v_resign would have ended. At least
    1 / `RESIGN_FALSE_POSITIVES` of them are needed to measure it; with fewer, nobody resigns.
    As the threshold rises, its effect on a game changes just above each new minimum of the
    best values: from there on, that move ends the game.
    """
    steps: list[tuple[float, int, int]] = []
    for record in records:
        later_resigned = later_wrong = 0
        for ply in reversed(_new_minima(record.best_values)):
            wrong = int(_is_wrong(record.outcome, ply))
            steps.append((float(record.best_values[ply]), 1 - later_resigned, wrong - later_wrong))
            later_resigned, later_wrong = 1, wrong
    steps = sorted(step for step in steps if step[0] < RESIGN_THRESHOLD_MAX)
    steps.append((RESIGN_THRESHOLD_MAX, 0, 0))
    best, resigned, mistaken = NEVER_RESIGN, 0, 0
    for (value, more_resigned, more_wrong), (end, *_) in itertools.pairwise(steps):
        resigned += more_resigned
        mistaken += more_wrong
        # All thresholds above this value, up to the next one, have the same effect.
        allowed = RESIGN_FALSE_POSITIVES * resigned
        if end > value and allowed >= 1 and mistaken < allowed:
            best = end
    return best


def measure_resignation(records: Sequence[GameRecord], threshold: float) -> dict[str, float]:
    """Return the resignation metrics by name, from games that `threshold` was not computed from."""
    resigned = sum(record.resigned for record in records)
    values = {"selfplay/resigned": resigned / len(records), "selfplay/resign_threshold": threshold}
    non_resigned = [record for record in records if not record.pairing.may_resign]
    check = check_threshold(non_resigned, threshold)
    if check.resigned:
        values["selfplay/resign_false_positives"] = check.wrong / check.resigned
    return values


def _is_wrong(outcome: int, ply: int) -> bool:
    """Whether resigning at `ply` is a mistake: the player to move there did not lose."""
    return value_of(outcome, ply % 2) >= 0


def _new_minima(best_values: Float32Array) -> list[int]:
    """Return the plies whose `best_values` [T] are lower than all before them."""
    lowest = np.minimum.accumulate(np.concatenate([[np.inf], best_values]))
    plies: list[int] = np.flatnonzero(lowest[1:] < lowest[:-1]).tolist()
    return plies
