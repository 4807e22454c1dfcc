"""How self-play explores at the root: Dirichlet noise, forced playouts, Gumbel draws."""

from dataclasses import dataclass

import numpy as np

from alphazero.utils.arrays import Doubles


@dataclass(frozen=True)
class Exploration:
    """What makes a root look beyond what it believes, in self-play.

    Its priors become P = (1 - `fraction`) p^(1/`temperature`) + `fraction` Dir(`alpha`), and
    actions that were tried are forced to get sqrt(`forced` P sum N) visits.
    """

    fraction: float = 0.0
    alpha: float = 0.3
    shaped: bool = False
    temperature: float = 1.0
    forced: float = 0.0


NO_EXPLORATION = Exploration()


def shaped_alphas(priors: Doubles, alpha: float) -> Doubles:
    """Return the concentrations of shaped noise: `alpha` on the mean of the legal actions.

    `priors` [n, A] are 0 exactly where an action is not legal, and there the result is 0. Half is
    spread evenly, half in proportion to how far the logarithm of the prior, cut at 4 times the
    even share, stands above the mean. KataGo, docs/KataGoMethods.md, "Shaped Dirichlet Noise",
    cuts at 0.01, which is 3.6 times the even share on its board of 19 x 19.
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
