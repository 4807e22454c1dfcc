"""Move selection from policies, or from visits and values. Letters: n positions, A actions."""

import math

import numpy as np
import numpy.typing as npt
from numba import types

from alphazero.utils.arrays import Float64Array, Int64Array
from alphazero.utils.jit import inline_kernel, kernel

LEAST_PRIOR = float(np.finfo(np.float32).tiny)
"""Smallest normal float32."""


@inline_kernel
def temper(policy: Float64Array, temperature: float, shares: Float64Array) -> None:
    """Write pi^(1/tau), renormalised, of `policy` [A] into `shares` [A]; tau >= 0.

    pi is proportional to the visits N, so this is N^(1/tau) of Silver et al., Nature 550 (2017),
    Methods, "Play". Computed in logarithms, which is safe for tau -> 0; at 0 the most visited
    actions have equal shares.
    """
    highest, total = 0.0, 0.0
    for action in range(len(policy)):
        highest = max(highest, policy[action])
    for action in range(len(policy)):
        share = 0.0
        if policy[action] == highest:
            share = 1.0
        elif policy[action] > 0 and temperature > 0:
            share = math.exp(math.log(policy[action] / highest) / temperature)
        shares[action] = share
        total += share
    for action in range(len(policy)):
        shares[action] /= total


def kl_divergences(policies: npt.NDArray[np.floating], priors: Float64Array) -> Float64Array:
    """Return KL(pi || p) = sum of pi log(pi / p), in nats, [n]; both are [n, A].

    A prior rounded to 0 counts as `LEAST_PRIOR`, so the result is finite.
    """
    shares = policies.astype(np.float64)
    ratios = np.where(shares > 0, shares, 1) / np.maximum(priors, LEAST_PRIOR)
    sums: Float64Array = (shares * np.log(ratios)).sum(axis=1)
    return np.maximum(sums, 0)  # rounding may make a sum negative


@inline_kernel
def draw(shares: Float64Array, point: float) -> int:
    """Return the action at which the cumulative `shares` [A] pass `point`, in [0, 1)."""
    chosen, total, passed = 0, 0.0, 0.0
    for action in range(len(shares)):
        total += shares[action]
    for action in range(len(shares)):
        if shares[action] > 0 and passed <= point * total:
            chosen = action
        passed += shares[action]
    return chosen


@kernel(types.void(types.float64[:, ::1], types.float64[::1], types.float64[::1], types.int64[::1]))
def _sample(
    policies: Float64Array, temperatures: Float64Array, points: Float64Array, actions: Int64Array
) -> None:
    """Write the action that `points` [n] draw from each tempered row of `policies` [n, A]."""
    shares = np.empty(policies.shape[1])
    for row in range(len(policies)):
        temper(policies[row], temperatures[row], shares)
        actions[row] = draw(shares, points[row])


def sample_actions(
    policies: npt.NDArray[np.floating], temperatures: Float64Array, rng: np.random.Generator
) -> Int64Array:
    """Draw one action per row from `policies` [n, A] at `temperatures` [n].

    At temperature 0 the first of the most visited actions is taken.
    """
    points = np.where(temperatures > 0, rng.random(len(policies)), 0.0)
    actions = np.zeros(len(policies), np.int64)
    _sample(np.ascontiguousarray(policies, np.float64), temperatures, points, actions)
    return actions


def final_actions(visits: Int64Array, action_values: Float64Array) -> Int64Array:
    """Return the action of each root with the highest value, the final move `max`.

    Each row of `visits` [n, A] has a visit; `action_values` [n, A] are NaN for unvisited actions.
    Ties go to more visits, then to the first action.
    """
    values = np.where(visits > 0, action_values, -np.inf)
    best = values == values.max(axis=1, keepdims=True)
    actions: Int64Array = np.where(best, visits, -1).argmax(axis=1)
    return actions
