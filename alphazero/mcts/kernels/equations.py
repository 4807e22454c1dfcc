"""Which action a simulation tries next: the equations, each with its source.

`value` below is always relative to the player who chooses, so selection maximises and no sign
appears here.
"""

import math
from typing import NamedTuple

from numba import types

from alphazero.mcts.rollout_methods import UNLIMITED_DEPTH
from alphazero.utils.jit import inline_kernel


class SelectionParams(NamedTuple):
    """The rule of selection and its constants, as kernels take them."""

    rule: int
    depth: int = UNLIMITED_DEPTH
    """plies that a walk may be long; 1 for flat methods"""
    exploration: float = 0.0
    """c of UCB1"""
    c_puct: float = 0.0
    c_puct_base: float = 0.0
    first_play_parent: bool = False
    fpu_reduction: float = 0.0
    solver: bool = False
    gumbel_max_considered_actions: int = 0
    gumbel_maxvisit_init: float = 0.0
    gumbel_value_scale: float = 0.0
    backup_value_weighting: float = 0.0
    ignored_state_index: int = -1
    """in a graph, the number of a state that two positions may differ in and yet be one"""
    gumbel_below: bool = False
    """whether Gumbel search chooses by the improved policy below the root too"""


SelectionParamsType = types.NamedTuple(
    [
        {float: types.float64, bool: types.boolean, int: types.int64}[kind]
        for kind in SelectionParams.__annotations__.values()
    ],
    SelectionParams,
)


@inline_kernel
def puct(value: float, prior: float, visits: int, total_visits: int, c_puct: float) -> float:
    """Return Q(s,a) + c_puct P(s,a) sqrt(sum_b N(s,b)) / (1 + N(s,a)).

    `total_visits` is the sum over the node's actions. Silver et al., Nature 550 (2017), Methods,
    "Select".
    """
    return value + c_puct * prior * math.sqrt(total_visits) / (1 + visits)


@inline_kernel
def puct_constant(total_visits: int, c_puct: float, base: float) -> float:
    """Return c_puct, or with `base` > 0 log((1 + N(s) + base) / base) + c_puct.

    The growth with N(s) is AlphaZero's: Silver et al., Science 362 (2018), pseudocode,
    `pb_c_base` 19652 and `pb_c_init` 1.25. AlphaGo Zero's is constant.
    """
    if base > 0:
        return math.log((1 + total_visits + base) / base) + c_puct
    return c_puct


@inline_kernel
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


@inline_kernel
def ucb1_width(reached: int, c: float) -> float:
    """Return c sqrt(2 ln N(s)), the part of UCB1 that is the same for all actions of a node.

    N(s), `reached`, counts how often the node was, its own evaluation included.
    """
    return c * math.sqrt(2 * math.log(reached))


@inline_kernel
def ucb1(value_sum: float, visits: int, width: float) -> float:
    """Return Q(s,a) + c sqrt(2 ln N(s) / N(s,a)), for `visits` N(s,a) > 0 and `ucb1_width`.

    Browne et al., *A Survey of Monte Carlo Tree Search Methods* (2012), algorithm 2, BESTCHILD,
    with c = C_p = 1 / sqrt(2) for rewards in [0, 1] (Kocsis & Szepesvari, 2006); with c = 1 it is
    UCB1 of Auer, Cesa-Bianchi & Fischer (2002). The survey's equation in section 3.3 has 2 C_p in
    place of c; its pseudocode, which is followed here, has not. Values v = 2 r - 1 lie in
    [-1, 1], twice as wide as rewards r, so here c is twice as large: 2 C_p = sqrt(2) chooses the
    same actions.
    """
    return (value_sum + width * math.sqrt(visits)) / visits


@inline_kernel
def uniform(visits: int) -> float:
    """Return -N(s,a): every action is tried as often as any other, whatever it has brought.

    Flat Monte Carlo: Browne et al. (2012), section 2.3. Even shares in place of random ones have
    the same means with less noise.
    """
    return -float(visits)


@inline_kernel
def forced_visits(prior: float, total_visits: int, forced: float) -> float:
    """Return the visits that exploration owes a root action: sqrt(k P(c) sum_b N(b)).

    Wu, *Accelerating Self-Play Learning in Go* (arXiv:1902.10565), section 3.2, k = 2.
    """
    return math.sqrt(forced * prior * total_visits)


@inline_kernel
def sigma(value: float, most_visits: int, gumbel_maxvisit_init: float, scale: float) -> float:
    """Return the monotone transformation of a value, which is comparable to logits.

    sigma(q) = (c_visit + max_b N(b)) c_scale q, for q = (value + 1) / 2 in [0, 1].

    Danihelka et al., *Policy improvement by planning with Gumbel* (ICLR 2022), equation 8.
    """
    return (gumbel_maxvisit_init + most_visits) * scale * (value + 1) / 2


@inline_kernel
def mixed_value(
    node_value: float, visits: int, visited_prior: float, visited_value: float
) -> float:
    """Return v_mix, the value that actions without visits are given.

    (v + N / sum_b P(b) sum_b P(b) Q(b)) / (1 + N), sums over the visited actions, N all their
    visits: `visited_prior` is the first sum, `visited_value` the second. Danihelka et al. (ICLR
    2022), appendix D, equation 33.
    """
    if visited_prior <= 0:
        return node_value
    return (node_value + visits * visited_value / visited_prior) / (1 + visits)


@inline_kernel
def considered_visits(simulation: int, simulations: int, actions: int) -> int:
    """Return how often sequential halving has tried the actions whose turn it is.

    `simulation` counts from 0 to `simulations`; `actions` are considered at first, and half as
    many in each of log2(actions) phases of about equal length, never fewer than two.
    Danihelka et al. (ICLR 2022), algorithm 2; Karnin, Koren & Somekh (ICML 2013).
    """
    if actions <= 1:
        return simulation
    phases, size = 0, 1
    while size < actions:
        phases, size = phases + 1, 2 * size
    begin, visits = 0, 0
    while True:
        rounds = max(1, simulations // (phases * actions))
        if simulation < begin + rounds * actions:
            return visits + (simulation - begin) // actions
        begin, visits = begin + rounds * actions, visits + rounds
        actions = max(2, actions // 2)


@inline_kernel
def visit_weight(shortfall: float, weighting: float) -> float:
    """Return 1 / (1 + k d): what a visit counts in a mean, `shortfall` d below the best value.

    With k = 0 all visits count alike, as in AlphaGo Zero. Between that and the maximum lie many
    means: Coulom, *Efficient Selectivity and Backup Operators in Monte-Carlo Tree Search* (2006),
    section 3. KataGo (docs/KataGoMethods.md) lessens the weight of bad children too, by other
    formulas.
    """
    return 1 / (1 + weighting * shortfall)
