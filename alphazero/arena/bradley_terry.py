"""Ratings of many players from the games between them: the Bradley-Terry model.

Bradley & Terry, *Rank analysis of incomplete block designs*, Biometrika 39 (1952); with draws as
Davidson, *On extending the Bradley-Terry model to accommodate ties in paired comparison
experiments*, Journal of the American Statistical Association 65 (1970); with an advantage of the
first move as Davidson & Beaver, *On extending the Bradley-Terry model to incorporate within-pair
order effects*, Biometrics 33 (1977). With strengths r, for i who moves first:

    d = r_i - r_j + advantage
    win : draw : loss  =  e^(d/2) : tie : e^(-d/2)

d is the log odds of a win to a loss, whatever the number of draws. `elo.match_result`, for two
players, counts a draw as half a win, and finds smaller differences where draws are many.

Letters: N players.
"""

import math
from dataclasses import dataclass

import numpy as np

from alphazero.errors import PlayerError
from alphazero.utils.arrays import BoolArray, Float64Array, Int64Array

ELO = 400 / math.log(10)
"""Elo per natural unit of strength, by the logistic curve of `elo_difference`."""

PRIOR = 1.0
"""Virtual games per player, half won and half lost, spread evenly over opponents and colours, for
finite ratings. For two players without draws this equals the half point per side in `match_result`.
Compare Coulom's BayesElo, whose default is 2.
"""

DEVIANCE = 3.8415
"""Twice the log-likelihood drop at the ends of a 95 % interval: chi-square, 1 degree."""

MAX_STRENGTH = 40.0
"""Distance from the rating at which the search for an interval end gives up and calls the interval
open, in natural units (7,000 Elo)."""


@dataclass(frozen=True)
class Ratings:
    """Fitted ratings, in Elo above the anchor."""

    elo: Float64Array
    """[N]"""
    low: Float64Array
    """[N] lower ends of 95 % profile-likelihood intervals of the difference to the anchor; -inf for
    an open interval"""
    high: Float64Array
    """[N] upper ends; inf for an open interval"""
    advantage: float
    """advantage of the first move, Elo"""
    draws: float
    """share of draws between equal players, without the advantage"""


@dataclass(frozen=True)
class _Model:
    """Penalized log-likelihood of parameters [N + 2]: strengths, advantage, log tie factor."""

    pairs: Int64Array
    """[M, 2] first and second player, for each cell with games"""
    counts: Float64Array
    """[M, 3] games lost, drawn and won by the first player, with virtual games"""
    players: int

    def log_shares(self, parameters: Float64Array) -> Float64Array:
        """Return the log probabilities of loss, draw and win, [M, 3]."""
        first, second = self.pairs.T
        gap = parameters[first] - parameters[second] + parameters[-2]
        logits = np.stack([-gap / 2, np.full(len(gap), parameters[-1]), gap / 2], axis=1)
        top = logits.max(axis=1, keepdims=True)
        shares: Float64Array = (
            logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
        )
        return shares

    def likelihood(self, parameters: Float64Array) -> float:
        seen = self.counts > 0
        return float((self.counts[seen] * self.log_shares(parameters)[seen]).sum())

    def derivatives(self, parameters: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the gradient [N + 2] and the information, minus the Hessian, [N + 2, N + 2]."""
        shares = np.exp(self.log_shares(parameters))
        games = self.counts.sum(axis=1)
        # Sufficient statistics of a game: half the first player's value, and whether it was drawn.
        margin, tied = (shares[:, 2] - shares[:, 0]) / 2, shares[:, 1]
        design = np.zeros((len(games), self.players + 2))
        rows = np.arange(len(games))
        design[rows, self.pairs[:, 0]] += 1
        design[rows, self.pairs[:, 1]] -= 1
        design[:, -2] = 1
        ties = np.zeros_like(design)
        ties[:, -1] = 1
        gradient = design.T @ ((self.counts[:, 2] - self.counts[:, 0]) / 2 - games * margin)
        gradient += ties.T @ (self.counts[:, 1] - games * tied)
        spread = games * ((1 - tied) / 4 - margin**2)
        mixed = games * (-margin * tied)
        alone = games * (tied * (1 - tied))
        cross = design.T @ (mixed[:, None] * ties)
        information = design.T @ (spread[:, None] * design) + cross + cross.T
        return gradient, information + ties.T @ (alone[:, None] * ties)

    def maximise(self, start: Float64Array, free: BoolArray) -> Float64Array:
        """Return the maximum-likelihood parameters; those not `free` [N + 2] keep their values.

        Newton's method on a concave function; steps that do not increase it are halved.
        """
        parameters, reached = start.copy(), self.likelihood(start)
        for _ in range(100):
            gradient, information = self.derivatives(parameters)
            step = np.zeros_like(parameters)
            inner = information[np.ix_(free, free)]
            try:
                step[free] = np.linalg.solve(inner, gradient[free])
            except np.linalg.LinAlgError:  # far away the likelihood is flat in some direction
                step[free] = np.linalg.lstsq(inner, gradient[free])[0]
            step *= min(1.0, 4 / max(float(np.abs(step).max()), 1e-300))
            while (found := self.likelihood(parameters + step)) < reached - 1e-12 * abs(reached):
                step /= 2
            parameters, reached = parameters + step, found
            if np.abs(step).max() < 1e-9:
                break
        return parameters


def fit(counts: Int64Array, anchor: int = 0, prior: float = PRIOR) -> Ratings:
    """Return the maximum-likelihood ratings, with `anchor` at 0.

    `counts` [N, N, 3]: games of i, moving first, against j, by outcome -1, 0, +1.

    Raises:
        PlayerError: when some players are not linked by games.
    """
    players = len(counts)
    met = (counts + counts.transpose(1, 0, 2)).sum(axis=2) > 0
    if not _is_connected(met):
        raise PlayerError("some players are not linked by games: nothing compares them")
    opponents = np.maximum(met.sum(axis=1), 1)
    # Virtual games of each pair that met; a quarter goes to each result of each colour.
    imagined = prior * met * (1 / opponents[:, None] + 1 / opponents[None, :]) / 2
    whole = counts.astype(np.float64)
    whole[:, :, 0] += imagined / 4
    whole[:, :, 2] += imagined / 4
    pairs = np.argwhere(whole.sum(axis=2) > 0)
    model = _Model(pairs, whole[pairs[:, 0], pairs[:, 1]], players)
    free = np.ones(players + 2, np.bool_)
    free[anchor] = False
    start = np.zeros(players + 2)
    if not counts[:, :, 1].any():
        start[-1], free[-1] = -np.inf, False
    best = model.maximise(start, free)
    ends = np.array([_interval(model, best, free, index) for index in range(players)])
    tie = math.exp(best[-1])
    return Ratings(
        ELO * best[:players],
        ELO * ends[:, 0],
        ELO * ends[:, 1],
        float(ELO * best[-2]),
        tie / (2 + tie),
    )


def _interval(
    model: _Model, best: Float64Array, free: BoolArray, index: int
) -> tuple[float, float]:
    """Return the interval where the profile log-likelihood drops by at most `DEVIANCE` / 2.

    An end is infinite if the drop is smaller even `MAX_STRENGTH` away.
    """
    if not free[index]:
        return float(best[index]), float(best[index])
    peak, fixed = model.likelihood(best), free.copy()
    fixed[index] = False
    width = math.sqrt(np.linalg.inv(model.derivatives(best)[1][np.ix_(free, free)]).max())
    ends = []
    for side in (-1.0, 1.0):
        parameters = best.copy()

        def excess(
            distance: float, side: float = side, parameters: Float64Array = parameters
        ) -> float:
            parameters[index] = best[index] + side * distance
            parameters[:] = model.maximise(parameters, fixed)
            return 2 * (peak - model.likelihood(parameters)) - DEVIANCE

        near, far = 0.0, width
        while (is_inside := excess(far) < 0) and far < MAX_STRENGTH:
            near, far = far, 2 * far
        if is_inside:
            ends.append(side * math.inf)
            continue
        while far - near > 1e-3:
            middle = (near + far) / 2
            near, far = (middle, far) if excess(middle) < 0 else (near, middle)
        ends.append(float(best[index]) + side * (near + far) / 2)
    return ends[0], ends[1]


def _is_connected(met: BoolArray) -> bool:
    """Whether the graph `met` [N, N] is connected."""
    reached = np.zeros(len(met), np.bool_)
    reached[0] = True
    for _ in range(len(met)):
        reached |= met[reached].any(axis=0)
    return bool(reached.all())
