"""From search policies to moves.

Letters: n positions, A actions.
"""

import numpy as np
import numpy.typing as npt

from alphazero.search.forest import Doubles, Slots


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
