"""Move selection from policies, or from visits and values. Letters: n positions, A actions."""

import math

import numpy as np
import numpy.typing as npt
from numba import types

from alphazero.utils.arrays import Float64Array, Int64Array
from alphazero.utils.jit import inline_kernel, kernel


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
