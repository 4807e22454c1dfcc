"""Equations of action selection, each with its source.

Every `value` is for the player who chooses the action, so selection maximises it.
"""

import math
from typing import NamedTuple

import numba

from alphazero.mcts.kernels.selection_rules import UNLIMITED
from alphazero.utils.jit import inline_kernel


class SelectionParams(NamedTuple):
    """The selection rule and its constants, as a tuple for kernels."""

    rule: int
    depth: int = UNLIMITED
    """maximum depth of the tree in plies; 1 for flat methods"""
    exploration: float = 0.0
    """c of UCB1"""
    c_puct: float = 0.0
    c_puct_base: float = 0.0
    fpu_parent: bool = False
    fpu_reduction: float = 0.0
    mcts_solver: bool = False
    gumbel_max_considered_actions: int = 0
    gumbel_value_scale: float = 1.0
    """c_scale of `sigma`; Danihelka et al. 2022, section 5: 1 for Go"""
    backup_value_weighting: float = 0.0
    ignored_state_index: int = -1
    """index of the state entry that transposition keys leave out, -1 for none"""
    gumbel_below: bool = False
    """whether nodes below the root are selected by the improved policy of Gumbel search"""


SelectionParamsType = numba.typeof(SelectionParams(0))


@inline_kernel
def puct(value: float, prior: float, visits: int, total_visits: int, c_puct: float) -> float:
    """Return Q(s,a) + c_puct P(s,a) sqrt(sum_b N(s,b)) / (1 + N(s,a)).

    `total_visits` is sum_b N(s,b). Silver et al., Nature 550 (2017), Methods, "Select".
    """
    return value + c_puct * prior * math.sqrt(total_visits) / (1 + visits)


@inline_kernel
def puct_constant(total_visits: int, c_puct: float, base: float) -> float:
    """Return c_puct, or for `base` > 0 log((1 + N(s) + base) / base) + c_puct.

    The log term is AlphaZero's: Silver et al., Science 362 (2018), pseudocode, `pb_c_base` 19652
    and `pb_c_init` 1.25. AlphaGo Zero uses a constant.
    """
    if base > 0:
        return math.log((1 + total_visits + base) / base) + c_puct
    return c_puct


@inline_kernel
def first_play_value(
    node_value: float, total_value: float, total_visits: int, parent: bool, reduction: float
) -> float:
    """Return the value of an unvisited action (first play urgency).

    Zero, as in AlphaGo Zero ("each edge is initialised to Q = 0"), or with `parent` the node's
    mean value, its own evaluation included, minus `reduction`. Leela Zero subtracts
    0.25 sqrt(P of the visited), in win rates (0.5 in our values), from the network's value.
    """
    if not parent:
        return 0.0
    return (node_value + total_value) / (1 + total_visits) - reduction


@inline_kernel
def ucb1_width(reached: int, c: float) -> float:
    """Return c sqrt(2 ln N(s)), the factor of UCB1 that all actions of a node share.

    `reached` is N(s), the visits of the node, its own evaluation included.
    """
    return c * math.sqrt(2 * math.log(reached))


@inline_kernel
def ucb1(value_sum: float, visits: int, width: float) -> float:
    """Return Q(s,a) + c sqrt(2 ln N(s) / N(s,a)), for `visits` N(s,a) > 0 and `ucb1_width`.

    Browne et al., *A Survey of Monte Carlo Tree Search Methods* (2012), algorithm 2, BESTCHILD,
    with c = C_p = 1 / sqrt(2) for rewards in [0, 1] (Kocsis & Szepesvari, 2006); with c = 1 it is
    UCB1 of Auer, Cesa-Bianchi & Fischer (2002). We follow the survey's pseudocode; its equation
    in section 3.3 has 2 C_p instead of c. Values v = 2 r - 1 lie in [-1, 1], twice as wide as
    rewards r, so c doubles too: c = 2 C_p = sqrt(2) chooses the same actions.
    """
    return (value_sum + width * math.sqrt(visits)) / visits


@inline_kernel
def uniform(visits: int) -> float:
    """Return -N(s,a), which gives all actions the same number of visits.

    Flat Monte Carlo: Browne et al. (2012), section 2.3. Equal visits give the same means as random
    ones, with less noise.
    """
    return -float(visits)


@inline_kernel
def sigma(value: float, most_visits: int, scale: float) -> float:
    """Scale a value to be comparable with logits.

    sigma(q) = (c_visit + max_b N(b)) c_scale q, for q = (value + 1) / 2 in [0, 1].
    Danihelka et al., *Policy improvement by planning with Gumbel* (ICLR 2022), equation 8; c_visit
    is 50, as in section 5.
    """
    return (50.0 + most_visits) * scale * (value + 1) / 2


@inline_kernel
def mixed_value(
    node_value: float, visits: int, visited_prior: float, visited_value: float
) -> float:
    """Return v_mix = (v + N / sum_b P(b) sum_b P(b) Q(b)) / (1 + N), for unvisited actions.

    Sums run over visited actions: `visited_prior` is sum_b P(b), `visited_value` is
    sum_b P(b) Q(b), and N is `visits`. Danihelka et al. (ICLR 2022), appendix D, equation 33.
    """
    if visited_prior <= 0:
        return node_value
    return (node_value + visits * visited_value / visited_prior) / (1 + visits)


@inline_kernel
def considered_visits(simulation: int, simulations: int, actions: int) -> int:
    """Return the visits of the actions that sequential halving selects at `simulation`.

    `simulation` counts from 0 to `simulations`. The first phase considers `actions`, each of the
    log2(actions) phases half as many as the one before, at least two; phases are about equally
    long.
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
    """Return 1 / (1 + k d), the weight of a visit whose value is `shortfall` d below the best.

    With k = 0 all visits weigh the same, as in AlphaGo Zero. For backups between mean and maximum
    see Coulom, *Efficient Selectivity and Backup Operators in Monte-Carlo Tree Search* (2006),
    section 3. KataGo (docs/KataGoMethods.md) also reduces the weight of bad children, by other
    formulas.
    """
    return 1 / (1 + weighting * shortfall)
