"""Which action a simulation tries next: the equations, each with its source.

`value` below is always relative to the player who chooses, so selection maximises and no sign
appears here.
"""

import math
from typing import NamedTuple

from alphazero.config import SearchConfig
from alphazero.jit import helper


class Selection(NamedTuple):
    """The constants of selection, as kernels take them."""

    c_puct: float
    c_puct_base: float
    first_play_parent: bool
    first_play_reduction: float


def selection_of(settings: SearchConfig) -> Selection:
    """Return the constants that the configuration asks for."""
    return Selection(
        float(settings.c_puct),
        float(settings.c_puct_base),
        settings.first_play == "parent",
        float(settings.first_play_reduction),
    )


@helper
def puct(value: float, prior: float, visits: int, total_visits: int, c_puct: float) -> float:
    """Return Q(s,a) + c_puct P(s,a) sqrt(sum_b N(s,b)) / (1 + N(s,a)).

    `total_visits` is the sum over the node's actions. Silver et al., Nature 550 (2017), Methods,
    "Select".
    """
    return value + c_puct * prior * math.sqrt(total_visits) / (1 + visits)


@helper
def puct_constant(total_visits: int, c_puct: float, base: float) -> float:
    """Return c_puct, or with `base` > 0 log((1 + N(s) + base) / base) + c_puct.

    The growth with N(s) is AlphaZero's: Silver et al., Science 362 (2018), pseudocode,
    `pb_c_base` 19652 and `pb_c_init` 1.25. AlphaGo Zero's is constant.
    """
    if base > 0:
        return math.log((1 + total_visits + base) / base) + c_puct
    return c_puct


@helper
def first_play_value(
    node_value: float, total_value: float, total_visits: int, parent: bool, reduction: float
) -> float:
    """Return the value that an unvisited action is given.

    Zero, as in AlphaGo Zero ("each edge is initialised to Q = 0"), or the mean of every
    evaluation below the node, its own included, less `reduction` (Leela Zero's "FPU reduction").
    """
    if not parent:
        return 0.0
    return (node_value + total_value) / (1 + total_visits) - reduction
