"""The result of a match: score, Elo difference and its interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphazero.games.game import value_of, win_rate
from alphazero.records.game_record import GameRecord

CONFIDENCE = 1.96
"""Half-width of the reported 95 % interval, in standard deviations, for many pairs."""


def elo_difference(score: float) -> float:
    """Return the Elo difference with expected score `score`, in (0, 1).

    score = 1 / (1 + 10^(-d / 400)): Elo, The Rating of Chessplayers, 1978.
    """
    return 400 * math.log10(score / (1 - score))


def expected_score(elo: float) -> float:
    """Return the expected score at an Elo difference: the inverse of `elo_difference`."""
    return 1 / (1 + 10 ** (-elo / 400))


@dataclass(frozen=True)
class MatchResult:
    """The result of player 0 against player 1, in player 0's view."""

    wins: int
    draws: int
    losses: int
    distinct: int
    """Number of distinct games; games with swapped players differ."""
    elo: float
    elo_low: float
    elo_high: float
    verdict: bool | None = None
    """Whether a sequential test accepts that player 0 is stronger; None if undecided."""

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins plus half the draws, as a share of the games."""
        return (self.wins + self.draws / 2) / self.games

    def __str__(self) -> str:
        return (
            f"{self.wins} won, {self.draws} drawn, {self.losses} lost: {self.score:.1%}, "
            f"Elo {self.elo:+z.0f} ({self.elo_low:+z.0f} to {self.elo_high:+z.0f}); "
            f"{self.distinct} of {self.games} games distinct"
        )


def scores_by_pair(records: Sequence[GameRecord]) -> dict[int, list[float]]:
    """Return player 0's scores, 1, 1/2 or 0, by the pair id of the games."""
    pairs: dict[int, list[float]] = {}
    for record in records:
        value = value_of(record.outcome, record.pairing.players.index(0))
        pairs.setdefault(record.pairing.pair_id, []).append(win_rate(value))
    return pairs


def match_result(records: Sequence[GameRecord]) -> MatchResult:
    """Summarize a match of paired games.

    The interval is 95 %, from the variance of the pairs' scores, because the two games of an
    opening are not independent. Half a point is added to each side before the Elo is computed, so
    that a clean sweep stays finite.
    """
    pairs = scores_by_pair(records)
    scores = [score for pair in pairs.values() for score in pair]
    games = len(scores)
    means = np.array([np.mean(pair) for pair in pairs.values()])
    score = (sum(scores) + 0.5) / (games + 1)
    # Two virtual pairs, a quarter point off the mean, keep the variance positive.
    freedom = len(means) + 1
    spread = float(((means - score) ** 2).sum() + 2 * 0.25**2) / freedom
    # Student's t, by its first correction to the normal: (z^3 + z) / (4 * degrees of freedom).
    deviations = CONFIDENCE + (CONFIDENCE**3 + CONFIDENCE) / (4 * freedom)
    error = deviations * math.sqrt(spread / len(means))
    edge = 0.5 / (games + 1)
    return MatchResult(
        wins=scores.count(1.0),
        draws=scores.count(0.5),
        losses=scores.count(0.0),
        distinct=len({(r.pairing.players, tuple(map(int, r.actions))) for r in records}),
        elo=elo_difference(score),
        elo_low=elo_difference(min(max(score - error, edge), 1 - edge)),
        elo_high=elo_difference(min(max(score + error, edge), 1 - edge)),
    )
