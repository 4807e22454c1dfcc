"""A sequential test: stop a match as soon as it is known who is stronger.

Wald, *Sequential Tests of Statistical Hypotheses*, Annals of Mathematical Statistics 16 (1945):
play on while the logarithm of the likelihood ratio of two hypotheses lies between two bounds that
the permitted errors give. How far apart pairs of games score is not known beforehand, so each
hypothesis is given the likeliest distribution of pair scores that has its mean: the generalised
test, Van den Bergh, *The Generalized Sequential Probability Ratio Test* and *Comments on
normalized Elo* (2019 to 2021), as chess programs' testers use it. A pair is one opening with
colours swapped, whose games are not independent; the pairs are.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from alphazero.arena.elo import expected_score, scores_by_pair
from alphazero.errors import AlphaZeroError
from alphazero.records.game_record import GameRecord

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""What a pair of games may score: the five outcomes of a "pentanomial" model."""

UNSEEN = 1e-3
"""Pairs imagined for a score that has not occurred, so that each hypothesis stays possible."""

BISECTIONS = 60


@dataclass(frozen=True)
class Sprt:
    """Which of two hypotheses about player 0's Elo difference to player 1 is true.

    Raises:
        AlphaZeroError: for hypotheses or errors that make no test.
    """

    elo0: float
    """the null hypothesis: not stronger than this"""
    elo1: float
    """the alternative: at least so much stronger"""
    alpha: float = 0.05
    """permitted probability of accepting elo1 where elo0 is true"""
    beta: float = 0.05
    """permitted probability of accepting elo0 where elo1 is true"""

    def __post_init__(self) -> None:
        if not -1000 <= self.elo0 < self.elo1 <= 1000:
            raise AlphaZeroError(
                "a sequential test needs elo0 below elo1, both from -1000 to 1000; "
                f"got {self.elo0:g} and {self.elo1:g}"
            )
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise AlphaZeroError(
                "the errors alpha and beta of a sequential test are above 0 and below 0.5; "
                f"got {self.alpha:g} and {self.beta:g}"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which elo0 and elo1 are accepted (Wald 1945)."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, counts: Sequence[int]) -> float:
        """Return the log-likelihood ratio, elo1 to elo0, of `counts` [5] of `PAIR_SCORES`."""
        if not sum(counts):
            return 0.0
        weights = [count or UNSEEN for count in counts]
        score0, score1 = expected_score(self.elo0), expected_score(self.elo1)
        tilt0, tilt1 = _tilt(weights, score0), _tilt(weights, score1)
        return sum(
            weight * math.log((1 + tilt0 * (at - score0)) / (1 + tilt1 * (at - score1)))
            for weight, at in zip(weights, PAIR_SCORES, strict=True)
        )

    def verdict(self, records: Sequence[GameRecord]) -> bool | None:
        """Return whether elo1 (True) or elo0 (False) is accepted; None: play on."""
        low, high = self.bounds
        ratio = self.ratio(count_pairs(records))
        return True if ratio >= high else False if ratio <= low else None

    def describe(self, records: Sequence[GameRecord]) -> str:
        """Say in one line what the test has found."""
        low, high = self.bounds
        verdict, ratio = self.verdict(records), self.ratio(count_pairs(records))
        said = "no answer yet" if verdict is None else f"elo{int(verdict)} accepted"
        return (
            f"sequential test of Elo {self.elo0:+g} against {self.elo1:+g}: {said}; "
            f"log-likelihood ratio {ratio:+.2f} ({low:.2f} to {high:.2f})"
        )


def count_pairs(records: Sequence[GameRecord]) -> list[int]:
    """Return how often player 0 scored each of `PAIR_SCORES` in a whole pair of games, [5]."""
    counts = [0] * len(PAIR_SCORES)
    for scores in scores_by_pair(records).values():
        if len(scores) == 2:
            counts[round(2 * sum(scores))] += 1
    return counts


def _tilt(weights: Sequence[float], score: float) -> float:
    """Return t where the likeliest distribution of mean `score` is w_i / W / (1 + t (a_i - score)).

    `weights` w [5] are counts of the scores a_i, W their sum. The mean is right where
    sum w_i (a_i - score) / (1 + t (a_i - score)) = 0, which falls in t between two poles
    (Van den Bergh, *The GSPRT*, Proposition 1.1).
    """
    low, high = -1 / (1 - score), 1 / score
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        slope = sum(
            weight * (at - score) / (1 + middle * (at - score))
            for weight, at in zip(weights, PAIR_SCORES, strict=True)
        )
        low, high = (middle, high) if slope > 0 else (low, middle)
    return (low + high) / 2
