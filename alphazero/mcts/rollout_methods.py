"""Methods and configuration of the rollout searches; importing this compiles nothing."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from alphazero.config.fields import config_field

PUCT, GUMBEL, UCB1, UNIFORM = 0, 1, 2, 3
"""Selection rules."""

UNLIMITED_DEPTH = 2**30
"""Sentinel for "no depth limit"."""

UNLIMITED = 2**40
"""Sentinel for "no simulation limit"."""

FINAL_MOVES = ("max", "robust")
"""Rules for the final move: highest value, or most visits. Browne et al., *A Survey of Monte Carlo
Tree Search Methods* (2012), section 3.1."""


class RolloutMethod(NamedTuple):
    """A search method without a network."""

    title: str
    selection: str
    evaluation: str
    rule: int
    depth: int
    final_move: str
    """default rule for the final move; equal visits cannot decide"""


METHODS = {
    "flat_mc": RolloutMethod("flat Monte Carlo", "uniform", "random rollout", UNIFORM, 1, "max"),
    "flat_ucb": RolloutMethod("flat UCB", "UCB1", "random rollout", UCB1, 1, "robust"),
    "uct": RolloutMethod("UCT", "UCB1", "random rollout", UCB1, UNLIMITED_DEPTH, "robust"),
}
"""Search methods without a network, from the oldest to the newest."""


@dataclass(frozen=True)
class RolloutConfig:
    """Configuration of a rollout search. A search ends when its budget or memory is used up."""

    method: str = config_field(
        "uct",
        "search method",
        choices=tuple(METHODS),
        source="Browne et al., A Survey of MCTS Methods, 2012, sections 2.3, 2.4 and 3.3",
    )
    simulations: int = config_field(
        1000, "new rollouts per move", unit="simulations", at_least=1, at_most=100_000_000
    )
    exploration: float = config_field(
        math.sqrt(0.5),
        "C_p of UCB1, for rewards in [0, 1]",
        at_least=0,
        source="Browne et al. 2012, algorithm 2 and section 3.3: 1/sqrt(2)",
    )
    depth: int = config_field(
        0,
        "maximum depth of UCT's tree, which is then not reused; 0: no limit",
        unit="plies",
        at_least=0,
        at_most=UNLIMITED_DEPTH,
    )
    reuse_tree: bool = config_field(True, "keep the chosen child's subtree for the next move")
    final_move: str = config_field(
        "",
        "final move, by highest value or most visits; empty: `max` for flat_mc, else `robust`",
        choices=("", *FINAL_MOVES),
        source="Browne et al. 2012, section 3.1",
    )
    memory: int = config_field(
        1024,
        "memory of all trees together; a full tree ends its search",
        unit="MiB",
        at_least=1,
        at_most=1 << 20,
    )
    threads: int = config_field(
        1, "trees per position, searched in parallel", unit="threads", at_least=1, at_most=256
    )
