"""From search policies to moves, and from visits and values to the final one.

Letters: n positions, A actions.
"""

import numpy as np
import numpy.typing as npt

from alphazero.search.forest import Doubles, Masks, Slots

FINAL_MOVES = ("max", "robust", "max_robust", "secure")
"""How a move is chosen in the end: by the highest value, by the most visits, by both, by the
highest lower bound. Chaslot et al., *Progressive Strategies for Monte-Carlo Tree Search* (2008);
Browne et al., *A Survey of Monte Carlo Tree Search Methods* (2012), section 3.1."""


def tempered(policies: npt.NDArray[np.floating], temperatures: Doubles) -> Doubles:
    """Return pi^(1/tau), renormalised: `policies` [n, A] at `temperatures` [n] >= 0.

    pi is proportional to the visits N, so this is N^(1/tau) of Silver et al., Nature 550 (2017),
    Methods, "Play". Computed in logarithms, so that tau -> 0 is safe; at 0 the most visited
    actions share everything.
    """
    with np.errstate(divide="ignore"):
        logs = np.log(policies.astype(np.float64))
    logs -= logs.max(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = logs / temperatures[:, None]
    weights = np.exp(np.where(logs == 0, 0.0, scaled))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def divergences(policies: npt.NDArray[np.floating], priors: Doubles) -> Doubles:
    """Return KL(pi || p) = sum of pi log(pi / p), in nats, [n]; both are [n, A].

    A prior that rounding has made 0 counts as the least number that float32 holds: all is finite.
    """
    shares = policies.astype(np.float64)
    least = np.maximum(priors, np.finfo(np.float32).tiny)
    sums: Doubles = (shares * np.log(np.where(shares > 0, shares / least, 1))).sum(axis=1)
    return np.maximum(sums, 0)  # rounding may leave less than nothing


def draw_actions(
    policies: npt.NDArray[np.floating], temperatures: Doubles, rng: np.random.Generator
) -> Slots:
    """Draw one action a row from `policies` [n, A] at `temperatures` [n].

    At temperature 0 no random number decides: the first of the most visited actions is taken.
    """
    cumulated = np.cumsum(tempered(policies, temperatures), axis=1)
    points = rng.random(len(policies)) * cumulated[:, -1]
    drawn = (cumulated <= points[:, None]).sum(axis=1)
    actions: Slots = np.where(temperatures > 0, drawn, policies.argmax(axis=1))
    return actions


def lower_bounds(visits: Slots, action_values: Doubles, confidence: float) -> Doubles:
    """Return v - A / sqrt(n), [n, A], for A = `confidence`; -inf where nothing was visited.

    Chaslot et al. (2008), "secure child"; with A = 0 the values themselves.
    """
    bounds = action_values - confidence / np.sqrt(np.maximum(visits, 1))
    return np.where(visits > 0, bounds, -np.inf)


def best_actions(
    final_move: str, visits: Slots, action_values: Doubles, confidence: float
) -> Slots:
    """Return the action that each root plays: one of `FINAL_MOVES`, by `visits` [n, A] > 0.

    `action_values` [n, A] are NaN where not visited. Of equal values the more visited action is
    taken, of equal visits the one with the higher value, then the first. `max_robust` takes the
    robust child: whether it is the max child too is for `is_max_robust` to say.
    """
    values = lower_bounds(visits, action_values, confidence if final_move == "secure" else 0.0)
    by_visits = final_move in ("robust", "max_robust")
    first, second = (visits, values) if by_visits else (values, visits)
    equal = first == first.max(axis=1, keepdims=True)
    actions: Slots = np.where(equal, second, -np.inf).argmax(axis=1)
    return actions


def is_max_robust(visits: Slots, action_values: Doubles) -> Masks:
    """Return whether one child has both the most visits and the highest value, [n]."""
    robust = best_actions("robust", visits, action_values, 0.0)[:, None]
    values = lower_bounds(visits, action_values, 0.0)
    highest: Masks = np.take_along_axis(values, robust, axis=1)[:, 0] == values.max(axis=1)
    return highest
