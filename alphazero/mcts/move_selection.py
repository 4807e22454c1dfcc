"""Move selection from policies, or from visits and values. Letters: n positions, A actions."""

import math

import numpy as np
import numpy.typing as npt
from numba import types

from alphazero.utils.arrays import Float64Array, Int64Array
from alphazero.utils.jit import inline_kernel, kernel

LEAST_PRIOR = float(np.finfo(np.float32).tiny)
"""Smallest normal float32."""

_numbers = types.float64[::1]
_rows = types.float64[:, ::1]


@inline_kernel
def temper(policy: Float64Array, temperature: float, shares: Float64Array) -> None:
    """Write the renormalised pi^(1/tau) of `policy` [A] into `shares` [A]."""
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


@kernel(types.void(_rows, _numbers, _rows))
def _temper(policies: Float64Array, temperatures: Float64Array, shares: Float64Array) -> None:
    for row in range(len(policies)):
        temper(policies[row], temperatures[row], shares[row])


def apply_temperature(
    policies: npt.NDArray[np.floating], temperatures: Float64Array
) -> Float64Array:
    """Return pi^(1/tau), renormalised: `policies` [n, A] at `temperatures` [n] >= 0.

    pi is proportional to the visits N, so this is N^(1/tau) of Silver et al., Nature 550 (2017),
    Methods, "Play". Computed in logarithms, which is safe for tau -> 0; at 0 the most visited
    actions have equal shares.
    """
    shares = np.empty(policies.shape)
    _temper(np.ascontiguousarray(policies, np.float64), temperatures, shares)
    return shares


@inline_kernel
def divergence(policy: Float64Array, prior: Float64Array) -> float:
    """Return KL(pi || p) of one position; a prior of 0 counts as `LEAST_PRIOR`."""
    total = 0.0
    for action in range(len(policy)):
        share = policy[action]
        if share > 0:
            total += share * math.log(share / max(prior[action], LEAST_PRIOR))
    return max(total, 0.0)  # rounding may make it negative


@kernel(types.void(_rows, _rows, _numbers))
def _diverge(policies: Float64Array, priors: Float64Array, sums: Float64Array) -> None:
    """Write KL(pi || p) of each row into `sums` [n]."""
    for row in range(len(policies)):
        sums[row] = divergence(policies[row], priors[row])


def kl_divergences(policies: npt.NDArray[np.floating], priors: Float64Array) -> Float64Array:
    """Return KL(pi || p) = sum of pi log(pi / p), in nats, [n]; both are [n, A].

    A prior rounded to 0 counts as `LEAST_PRIOR`, so the result is finite.
    """
    sums = np.empty(len(policies))
    _diverge(np.ascontiguousarray(policies, np.float64), priors, sums)
    return sums


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


@kernel(types.void(_rows, _numbers, types.int64[::1]))
def _draw_all(shares: Float64Array, points: Float64Array, actions: Int64Array) -> None:
    for row in range(len(shares)):
        actions[row] = draw(shares[row], points[row])


def sample_actions(
    policies: npt.NDArray[np.floating], temperatures: Float64Array, rng: np.random.Generator
) -> Int64Array:
    """Draw one action per row from `policies` [n, A] at `temperatures` [n].

    At temperature 0 the first of the most visited actions is taken.
    """
    shares = apply_temperature(policies, temperatures)
    points = np.where(temperatures > 0, rng.random(len(policies)), 0.0)
    actions = np.zeros(len(policies), np.int64)
    _draw_all(shares, points, actions)
    return actions


def final_actions(final_move: str, visits: Int64Array, action_values: Float64Array) -> Int64Array:
    """Return the action of each root by the rule `final_move`, one of `FINAL_MOVES`.

    Each row of `visits` [n, A] has a visit; `action_values` [n, A] are NaN for unvisited actions.
    Ties between values go to more visits, ties between visits to the higher value, then to the
    first action.
    """
    values = np.where(visits > 0, action_values, -np.inf)
    first, second = (visits, values) if final_move == "robust" else (values, visits)
    equal = first == first.max(axis=1, keepdims=True)
    actions: Int64Array = np.where(equal, second, -np.inf).argmax(axis=1)
    return actions
