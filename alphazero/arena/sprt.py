"""A sequential probability ratio test: stops a match once it is decided.

Wald, *Sequential Tests of Statistical Hypotheses*, Annals of Mathematical Statistics 16 (1945):
play on while the log-likelihood ratio of two hypotheses lies between two bounds, which follow from
the permitted errors. The distribution of pair scores is unknown, so each hypothesis gets the
maximum-likelihood distribution with its mean: the generalized test, Van den Bergh, *The Generalized
Sequential Probability Ratio Test* and *Comments on normalized Elo* (2019 to 2021), as in chess
engine testing. A pair is one opening with colours swapped: its games are dependent, pairs are
independent.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from alphazero.arena.bradley_terry import PairScore
from alphazero.arena.elo import expected_score
from alphazero.errors import AlphaZeroError

PAIR_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Possible scores of a pair of games: a "pentanomial" model."""

UNSEEN = 1e-3
"""Virtual pairs for a score that has not occurred, so that each hypothesis stays possible."""

BISECTIONS = 60


@dataclass(frozen=True)
class Sprt:
    """A test between two hypotheses about player 0's Elo difference to player 1.

    Raises:
        AlphaZeroError: for invalid hypotheses or errors.
    """

    elo0: float
    """null hypothesis: the difference is at most this"""
    elo1: float
    """alternative: the difference is at least this"""
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

    def ratio(self, counts: Sequence[float]) -> float:
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

    def verdict(self, pairs: Sequence[PairScore]) -> bool | None:
        """Return whether elo1 (True) or elo0 (False) is accepted; None to play on."""
        low, high = self.bounds
        ratio = self.ratio(count_pairs(pairs))
        return True if ratio >= high else False if ratio <= low else None

    def describe(self, pairs: Sequence[PairScore]) -> str:
        """Describe the state of the test in one line."""
        low, high = self.bounds
        verdict, ratio = self.verdict(pairs), self.ratio(count_pairs(pairs))
        decision = "undecided" if verdict is None else f"elo{int(verdict)} accepted"
        return (
            f"sequential test of Elo {self.elo0:+g} against {self.elo1:+g}: {decision}; "
            f"log-likelihood ratio {ratio:+z.2f} ({low:.2f} to {high:.2f})"
        )


def count_pairs(pairs: Sequence[PairScore]) -> list[float]:
    """Count player 0's scores in pairs of games, by `PAIR_SCORES`: [5]; a repeated pair is one."""
    counts = [0.0] * len(PAIR_SCORES)
    for pair in pairs:
        counts[round(4 * pair.score)] += pair.games / 2
    return counts


def _tilt(weights: Sequence[float], score: float) -> float:
    """Return t of the likeliest distribution w_i / W / (1 + t (a_i - score)) of mean `score`.

    `weights` w [5] are the counts of the scores a_i, W their sum. t is the zero of
    sum w_i (a_i - score) / (1 + t (a_i - score)), which decreases in t between two poles
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
