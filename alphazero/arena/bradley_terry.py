"""Ratings of players from the games between them, with intervals: the Bradley-Terry model.

Bradley & Terry, *Rank analysis of incomplete block designs*, Biometrika 39 (1952). With strengths r
the expected score of i against j is 1 / (1 + e^(r_j - r_i)); a draw is half a win. Pairs of games
swap colours, so moving first needs no parameter.

The model takes games for independent and without draws. The intervals do not: draws vary less, and
the two games of an opening depend on each other. So the profile likelihood is scaled by how much
the scores of pairs vary in truth (Chandler & Bate, *Inference for clustered data using the
independence loglikelihood*, Biometrika 94, 2007).

Letters: N players, M pair scores.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alphazero.errors import PlayerError
from alphazero.utils.arrays import BoolArray, Float64Array

ELO = 400 / math.log(10)
"""Elo per natural unit of strength, by the logistic curve of `elo_difference`."""

PRIOR = 1.0
"""Virtual games per player, half won and half lost, spread evenly over opponents, for finite
ratings: between two players half a point per side. Compare Coulom's BayesElo, whose default is 2.
"""

DEVIATIONS = 1.96
"""Half-width of a 95 % interval in standard errors, for many pairs."""

MAX_STRENGTH = 40.0
"""Distance from the rating at which the search for an interval end gives up and calls the interval
open, in natural units (7,000 Elo)."""


class PairScore(NamedTuple):
    """The score in a pair of games that swap colours."""

    players: tuple[int, int]
    score: float
    """mean score of the first of them, 0 to 1"""
    games: float = 2.0
    """the number of games that it counts for"""


@dataclass(frozen=True)
class Ratings:
    """Fitted ratings, in Elo above the anchor."""

    elo: Float64Array
    """[N]"""
    low: Float64Array
    """[N] lower ends of 95 % intervals of the difference to the anchor; -inf for an open one"""
    high: Float64Array
    """[N] upper ends; inf for an open one"""


@dataclass(frozen=True)
class _Model:
    """The log-likelihood of strengths [N], virtual games included."""

    design: Float64Array
    """[M, N] 1 for the first player of a pair score, -1 for the second"""
    scores: Float64Array
    """[M]"""
    games: Float64Array
    """[M]"""

    def likelihood(self, strengths: Float64Array) -> float:
        gaps = self.design @ strengths
        return float(self.games @ (self.scores * gaps - np.logaddexp(0, gaps)))

    def expected(self, strengths: Float64Array) -> Float64Array:
        """Return the expected scores, [M]."""
        expected: Float64Array = np.exp(-np.logaddexp(0, -self.design @ strengths))
        return expected

    def spread(self, weights: Float64Array, free: BoolArray) -> Float64Array:
        """Return the sum of x x^T over rows x of the design, by `weights` [M]: [free, free]."""
        design = self.design[:, free]
        spread: Float64Array = design.T @ (weights[:, None] * design)
        return spread

    def information(self, strengths: Float64Array, free: BoolArray) -> Float64Array:
        """Return minus the Hessian for the `free` strengths."""
        expected = self.expected(strengths)
        return self.spread(self.games * expected * (1 - expected), free)

    def maximise(self, start: Float64Array, free: BoolArray) -> Float64Array:
        """Return the maximum-likelihood strengths; those not `free` [N] keep their values.

        Newton's method on a concave function; steps that do not increase it are halved.
        """
        strengths, height = start.copy(), self.likelihood(start)
        for _ in range(100 if free.any() else 0):
            step = np.zeros_like(strengths)
            gradient = (self.games * (self.scores - self.expected(strengths))) @ self.design
            # By least squares, for far away the likelihood is flat in some direction.
            step[free] = np.linalg.lstsq(self.information(strengths, free), gradient[free])[0]
            step *= min(1.0, 4 / max(float(np.abs(step).max()), 1e-300))
            while (next_height := self.likelihood(strengths + step)) < height - 1e-12 * abs(height):
                step /= 2
            strengths, height = strengths + step, next_height
            if np.abs(step).max() < 1e-9:
                break
        return strengths


def fit(
    num_players: int, pairs: Sequence[PairScore], anchor: int = 0, prior: float = PRIOR
) -> Ratings:
    """Return the maximum-likelihood ratings of players 0 to N - 1, with `anchor` at 0.

    Raises PlayerError when some players are not linked by games.
    """
    indices = np.array([pair.players for pair in pairs], np.int64).reshape(-1, 2)
    met = np.zeros((num_players, num_players), np.bool_)
    met[indices[:, 0], indices[:, 1]] = met[indices[:, 1], indices[:, 0]] = True
    if not _is_connected(met):
        raise PlayerError("some players are not linked by games: nothing compares them")
    virtual = np.argwhere(np.triu(met))
    virtual_games = prior * (1 / met.sum(axis=1))[virtual].mean(axis=1)
    first, second = np.concatenate([indices, virtual]).T
    model = _Model(
        np.eye(num_players)[first] - np.eye(num_players)[second],
        np.array([pair.score for pair in pairs] + [0.5] * len(virtual)),
        np.array([pair.games for pair in pairs] + virtual_games.tolist()),
    )
    free = np.arange(num_players) != anchor
    best = model.maximise(np.zeros(num_players), free)
    expected = model.expected(best)
    squares = (model.games * (model.scores - expected)) ** 2
    # Virtual games come in pairs that end alike: (2 (1 - p))^2 or (2 p)^2 for each half of them.
    tail = expected[len(pairs) :]
    squares[len(pairs) :] = virtual_games * ((1 - tail) ** 2 + tail**2)
    covariance = np.linalg.inv(model.information(best, free))
    ratios = np.diag(covariance @ model.spread(squares, free) @ covariance) / np.diag(covariance)
    ends = np.zeros((num_players, 2))
    for index, ratio in zip(np.flatnonzero(free).tolist(), ratios, strict=True):
        # Student's t, by its first correction to the normal: (z^3 + z) / (4 * degrees of freedom).
        freedom = 1 + (indices == index).sum()
        deviations = DEVIATIONS + (DEVIATIONS**3 + DEVIATIONS) / (4 * freedom)
        ends[index] = _interval(model, best, free, index, ratio * deviations**2)
    return Ratings(ELO * best, ELO * ends[:, 0], ELO * ends[:, 1])


def _interval(
    model: _Model, best: Float64Array, free: BoolArray, index: int, deviance: float
) -> tuple[float, float]:
    """Return the interval where twice the profile log-likelihood drops by at most `deviance`.

    An end is infinite if the drop is smaller even `MAX_STRENGTH` away.
    """
    peak, others = model.likelihood(best), free.copy()
    others[index] = False
    ends = []
    for side in (-1.0, 1.0):
        strengths, near, far = best.copy(), 0.0, math.inf
        while far - near > 1e-3 and (near < MAX_STRENGTH or far < math.inf):
            distance = (near + far) / 2 if far < math.inf else 2 * near + 0.25
            strengths[index] = best[index] + side * distance
            strengths = model.maximise(strengths, others)
            if 2 * (peak - model.likelihood(strengths)) < deviance:
                near = distance
            else:
                far = distance
        ends.append(float(best[index]) + side * (near + far) / 2)
    return ends[0], ends[1]


def _is_connected(met: BoolArray) -> bool:
    """Whether the graph `met` [N, N] is connected."""
    reached = np.zeros(len(met), np.bool_)
    reached[0] = True
    for _ in range(len(met)):
        reached |= met[reached].any(axis=0)
    return bool(reached.all())
