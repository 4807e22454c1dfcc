"""When to resign: the threshold that games which were played to the end allow.

Silver et al., Nature 550 (2017), Methods, "Self-play": resignation is disabled in a tenth of the
games, and v_resign is chosen such that fewer than 5 % of those were wrongly given up, had it been
enabled. A player resigns when its prospects, the better of the root's value and that of the best
action, are below v_resign.

Letters: T moves of a game.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from alphazero.games.game import value_of
from alphazero.records.game_record import NEVER_RESIGN, Floats, GameRecord
from alphazero.training.data.game_shard import GameBatch


class ThresholdCheck(NamedTuple):
    """What a threshold would have done to games that were played to the end."""

    resigned: int
    """games that it would have ended"""
    wrong: int
    """those of them that were then not lost by the player who would have resigned"""


def non_resigned_games(shards: Iterable[GameBatch]) -> Iterator[GameRecord]:
    """Yield the games in which nobody could resign."""
    for games in shards:
        yield from (record for record in games.records() if not record.pairing.may_resign)


def judge_threshold(records: Iterable[GameRecord], threshold: float) -> ThresholdCheck:
    """Count what `threshold` would have done to finished games."""
    resigned = wrong = 0
    for record in records:
        below = np.flatnonzero(record.prospects < threshold)
        if len(below):
            resigned += 1
            wrong += _is_wrong(record.outcome, int(below[0]))
    return ThresholdCheck(resigned, wrong)


def resign_threshold(
    records: Iterable[GameRecord], false_positives: float, ceiling: float
) -> float:
    """Return the highest v_resign, at most `ceiling`, that is wrong in a share < `false_positives`.

    Of the games that were played to the end and that it would have ended, that is. Fewer than
    1 / `false_positives` of these cannot tell such a share: where there are no more, nobody
    resigns. As the threshold rises, what it would have done to a game changes just above each
    move whose prospects are lower than all before: from there on, that move would have ended it.
    """
    steps: list[tuple[float, int, int]] = []
    for record in records:
        later_resigned = later_wrong = 0
        for ply in reversed(_new_minima(record.prospects)):
            wrong = int(_is_wrong(record.outcome, ply))
            steps.append((float(record.prospects[ply]), 1 - later_resigned, wrong - later_wrong))
            later_resigned, later_wrong = 1, wrong
    steps.sort()
    best, resigned, mistaken = NEVER_RESIGN, 0, 0
    for index, (value, more_resigned, more_wrong) in enumerate(steps):
        if value >= ceiling:
            break
        resigned += more_resigned
        mistaken += more_wrong
        # All thresholds above this value and up to the next do the same.
        end = min(steps[index + 1][0] if index + 1 < len(steps) else ceiling, ceiling)
        enough = resigned * false_positives >= 1
        if end > value and enough and mistaken < false_positives * resigned:
            best = end
    return best


def measure_resignation(records: Sequence[GameRecord], threshold: float) -> dict[str, float]:
    """Return what became of resignation in an iteration's games, by the names of metrics.

    The threshold is judged by games that it was not made from.
    """
    resigned = sum(record.resigned for record in records)
    values = {
        "selfplay/resigned": resigned / len(records),
        "selfplay/resign_threshold": threshold,
    }
    whole = [record for record in records if not record.pairing.may_resign]
    verdict = judge_threshold(whole, threshold)
    if verdict.resigned:
        values["selfplay/resign_false_positives"] = verdict.wrong / verdict.resigned
    return values


def _is_wrong(outcome: int, ply: int) -> bool:
    """Whether the player to move at `ply`, who would have resigned, did not lose."""
    return value_of(outcome, ply % 2) >= 0


def _new_minima(prospects: Floats) -> list[int]:
    """Return the plies whose `prospects` [T] are lower than all before them."""
    lowest = np.minimum.accumulate(np.concatenate([[np.inf], prospects]))
    falls: list[int] = np.flatnonzero(lowest[1:] < lowest[:-1]).tolist()
    return falls
