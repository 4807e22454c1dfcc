"""Methods and configuration of the rollout searches; importing this compiles nothing."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from alphazero.mcts.kernels.selection_rules import UCB1, UNIFORM, UNLIMITED


class RolloutMethod(NamedTuple):
    """A search method without a network."""

    rule: int
    depth: int
    final_move: str
    """`max`, the highest value, or `robust`, most visits (Browne et al., *A Survey of Monte Carlo
    Tree Search Methods*, 2012, section 3.1); equal visits cannot decide"""


METHODS = {
    "flat_mc": RolloutMethod(UNIFORM, 1, "max"),
    "flat_ucb": RolloutMethod(UCB1, 1, "robust"),
    "uct": RolloutMethod(UCB1, UNLIMITED, "robust"),
}
"""Search methods without a network, from the oldest to the newest."""


@dataclass(frozen=True)
class RolloutConfig:
    """Configuration of a rollout search."""

    method: str = "uct"
    """search method, one of `METHODS`: Browne et al. 2012, sections 2.3, 2.4 and 3.3"""
    simulations: int = 1000
    """new rollouts per move"""
    exploration: float = math.sqrt(0.5)
    """C_p of UCB1, for rewards in [0, 1]; 1/sqrt(2) as in Browne et al. 2012, algorithm 2 and
    section 3.3"""
    memory: int = 1024
    """memory of all trees together, in MiB; a full tree no longer grows"""
