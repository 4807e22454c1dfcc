"""Root exploration in self-play: Dirichlet noise, prior temperature, forced playouts."""

from dataclasses import dataclass

import numpy as np

from alphazero.utils.arrays import Doubles


@dataclass(frozen=True)
class Exploration:
    """Parameters of root exploration.

    Root priors become P = (1 - `fraction`) p^(1/`temperature`) + `fraction` Dir(`alpha`), and each
    visited action gets at least sqrt(`forced` P sum N) visits. `shaped`: see `shaped_alphas`.
    """

    fraction: float = 0.0
    alpha: float = 0.3
    shaped: bool = False
    temperature: float = 1.0
    forced: float = 0.0


NO_EXPLORATION = Exploration()


def shaped_alphas(priors: Doubles, alpha: float) -> Doubles:
    """Return the concentrations [n, A] of shaped noise, with mean `alpha` over legal actions.

    `priors` [n, A] are 0 exactly at illegal actions, and so is the result. Half is spread
    uniformly, half in proportion to the excess of the log prior, capped at 4 times the uniform
    prior, over its mean. KataGo, docs/KataGoMethods.md, "Shaped Dirichlet Noise", caps at 0.01,
    which is 3.6 times the uniform prior on a 19 x 19 board.
    """
    legal = priors > 0
    counts = legal.sum(axis=1, keepdims=True)
    logs = np.log(np.clip(priors, 1e-20, 4 / np.maximum(counts, 1)))
    means = (logs * legal).sum(axis=1, keepdims=True) / np.maximum(counts, 1)
    above = np.maximum(logs - means, 0) * legal
    sums = above.sum(axis=1, keepdims=True)
    even = legal / np.maximum(counts, 1)
    shape = np.where(sums > 0, (even + above / np.maximum(sums, 1e-20)) / 2, even)
    return np.asarray(alpha * counts * shape)
