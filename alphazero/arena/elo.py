"""What a match says about strength: score, Elo difference and its interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphazero.games.game import value_of
from alphazero.records.game_record import GameRecord

CONFIDENCE = 1.96
"""Standard deviations of the reported interval, when pairs are many: 95 %."""


def elo_difference(score: float) -> float:
    """Return the Elo difference at which `score`, in (0, 1), is expected.

    score = 1 / (1 + 10^(-d / 400)): Elo, The Rating of Chessplayers, 1978.
    """
    return 400 * math.log10(score / (1 - score))


def expected_score(elo: float) -> float:
    """Return the score that is expected at an Elo difference: the inverse of `elo_difference`."""
    return 1 / (1 + 10 ** (-elo / 400))


@dataclass(frozen=True)
class MatchResult:
    """Player 0 of the players' list against player 1, from the first one's view."""

    wins: int
    draws: int
    losses: int
    distinct: int
    """Different games among them, the players' seats considered."""
    elo: float
    elo_low: float
    elo_high: float
    verdict: bool | None = None
    """What a sequential test decided: whether player 0 is stronger; None without an answer."""

    @property
    def games(self) -> int:
        """The number of games."""
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Wins plus half the draws, as a share of the games."""
        return (self.wins + self.draws / 2) / self.games

    def __str__(self) -> str:
        return (
            f"{self.wins} won, {self.draws} drawn, {self.losses} lost: {self.score:.1%}, "
            f"Elo {self.elo:+.0f} ({self.elo_low:+.0f} to {self.elo_high:+.0f}); "
            f"{self.distinct} of {self.games} games distinct"
        )


def scores_by_pair(records: Sequence[GameRecord]) -> dict[int, list[float]]:
    """Return player 0's score in each game, 1, 1/2 or 0, by the label of its pair of games."""
    pairs: dict[int, list[float]] = {}
    for record in records:
        value = value_of(record.outcome, record.pairing.players.index(0))
        pairs.setdefault(record.pairing.pair_id, []).append((1 + value) / 2)
    return pairs


def match_result(records: Sequence[GameRecord]) -> MatchResult:
    """Sum up a match of paired games.

    The interval is 95 %, from the variance of the pairs' scores: the two games of one opening
    are not independent. Half a point to each side is added before the Elo is taken, so that a
    clean sweep stays finite.
    """
    pairs = scores_by_pair(records)
    scores = [score for pair in pairs.values() for score in pair]
    games = len(scores)
    means = np.array([np.mean(pair) for pair in pairs.values()])
    score = (sum(scores) + 0.5) / (games + 1)
    # Two imagined pairs, a quarter point off the mean: honest also when every pair ended alike.
    freedom = len(means) + 1
    spread = float(((means - score) ** 2).sum() + 2 * 0.25**2) / freedom
    # Student's t, by its first correction to the normal: (z^3 + z) / 4 for each degree of freedom.
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
