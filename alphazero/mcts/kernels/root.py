"""Kernels for the roots: noise, budget, and statistics. Letters as in `tree.py`; n slots."""

import math
from typing import NamedTuple

import numpy as np
from numba import types

from alphazero.mcts.kernels.equations import SelectionParams, SelectionParamsType
from alphazero.mcts.kernels.gumbel import best_with_visits, completed_q_logits
from alphazero.mcts.kernels.proofs import is_solved
from alphazero.mcts.kernels.selection_rules import GUMBEL
from alphazero.mcts.kernels.transpositions import node_value
from alphazero.mcts.kernels.tree import SlotsType, Trees, TreesType
from alphazero.utils.arrays import BoolArray, Float64Array, Int64Array
from alphazero.utils.jit import inline_kernel, kernel


class RootStatistics(NamedTuple):
    """Statistics of roots by legal action; values are for the player to move."""

    counts: Int64Array
    """[n] legal actions; after their number, the rows below hold zeros and values NaN"""
    actions: Int64Array
    """[n, L] these actions, ascending"""
    visits: Int64Array
    """[n, L]"""
    priors: Float64Array
    """[n, L] priors of the network, without noise"""
    action_values: Float64Array
    """[n, L] mean values, NaN for unvisited actions"""
    move_policies: Float64Array
    """[n, L] distribution of the move: visit shares, or one-hot on the choice of Gumbel search;
    the priors of a root without visits. Actions proven to be worse have 0."""
    policy_targets: Float64Array
    """[n, L] `move_policies`, or the improved policy of Gumbel search"""
    values: Float64Array
    """[n] mean over all evaluations in the tree; for Gumbel search, the mean of the action values
    under the improved policy; exact for solved roots, and within the proven bounds of others"""

    def by_action(self, numbers: Float64Array, num_actions: int) -> Float64Array:
        """Return one of the fields [n, L] as [n, A], with 0 for the actions that are not legal."""
        dense = np.zeros((len(numbers), num_actions), numbers.dtype)
        is_legal = np.arange(numbers.shape[1]) < self.counts[:, None]
        dense[is_legal.nonzero()[0], self.actions[is_legal]] = numbers[is_legal]
        return dense


RootStatisticsType = types.NamedTuple(
    [
        types.int64[::1],
        *(types.int64[:, ::1],) * 2,
        *(types.float64[:, ::1],) * 4,
        types.float64[::1],
    ],
    RootStatistics,
)


@inline_kernel
def set_root_priors(trees: Trees, slot: int) -> None:
    """Set `root_prior` to (1 - epsilon) p + epsilon eta, eta ~ Dirichlet(alpha).

    Silver et al., Nature 550 (2017), Methods, "Self-play". Gamma draws divided by their sum are
    a Dirichlet draw. Only legal actions have edges and receive noise.
    """
    first, count = trees.nodes[slot, 0].first_edge, trees.nodes[slot, 0].edge_count
    fraction, noise = trees.slots[slot].dirichlet_fraction, 0.0
    for index in range(count):
        noise += trees.root_noise[slot, index]
    for index in range(count):
        prior = float(trees.edges[slot, first + index].prior)
        if fraction > 0 and noise > 0:
            prior = (1 - fraction) * prior + fraction * (trees.root_noise[slot, index] / noise)
        trees.root_prior[slot, index] = prior


@kernel(
    types.int64(
        TreesType,
        SlotsType,
        types.Array(types.int64, 1, "C"),
        types.Array(types.boolean, 1, "C"),
        types.Array(types.float64, 2, "C"),
        types.float64,
        types.int64,
    )
)
def begin_searches(
    trees: Trees,
    slots: Int64Array,
    simulations: Int64Array,
    explores: BoolArray,
    noise: Float64Array,
    fraction: float,
    halving_limit: int,
) -> int:
    """Start searches of `simulations` [n] in `slots` [n].

    The slots that explore, `explores` [n], take the rows of `noise` in order. Below `halving_limit`
    simulations, sequential halving divides them among the root's actions; visits from earlier
    searches then inform the values but not the halving.

    Returns the earlier visits of the roots that explore.
    """
    kept, row = 0, 0
    for index in range(len(slots)):
        slot, budget, explores_here = slots[index], simulations[index], explores[index]
        halves = budget < halving_limit
        trees.slots[slot].remaining = budget
        trees.slots[slot].dirichlet_fraction = fraction if explores_here else 0.0
        for edge in range(trees.root_noise.shape[1]):
            trees.root_noise[slot, edge] = noise[row, edge] if explores_here else 0.0
            trees.root_kept[slot, edge] = 0
        row += explores_here
        if trees.slots[slot].num_nodes > 0:
            set_root_priors(trees, slot)
            for edge in range(trees.nodes[slot, 0].edge_count):
                if explores_here:
                    kept += trees.edges[slot, edge].visits
                if halves:
                    trees.root_kept[slot, edge] = trees.edges[slot, edge].visits
        trees.slots[slot].halving_budget = budget if halves else 0
    return kept


@inline_kernel
def _is_playable(trees: Trees, selection: SelectionParams, slot: int, edge: int) -> bool:
    """Whether the solver's bounds allow playing a root edge.

    They exclude an edge whose upper bound is below the root's lower bound, and at a solved root
    each edge that is not proven to reach the root's value.
    """
    if not selection.mcts_solver:
        return True
    child = trees.edges[slot, edge].child
    lower, upper = -1, 1
    if child >= 0:
        lower, upper = -trees.nodes[slot, child].upper, -trees.nodes[slot, child].lower
    guaranteed = trees.nodes[slot, 0].lower
    return upper >= guaranteed and (lower == guaranteed or not is_solved(trees, slot, 0))


@inline_kernel
def _write_policies(
    trees: Trees, selection: SelectionParams, slot: int, policy: Float64Array, target: Float64Array
) -> None:
    """Write the root's move policy [L] and policy target [L]."""
    best, most, highest = 0, -1, -np.inf
    if selection.rule == GUMBEL:
        completed_q_logits(trees, selection, slot, 0)
    for edge in range(trees.nodes[slot, 0].edge_count):
        if not _is_playable(trees, selection, slot, edge):
            trees.policy[edge] = -np.inf
            continue
        highest = max(highest, trees.policy[edge])
        if trees.edges[slot, edge].visits - trees.root_kept[slot, edge] > most:
            best, most = edge, trees.edges[slot, edge].visits - trees.root_kept[slot, edge]
    if selection.rule == GUMBEL:
        best = best_with_visits(trees, slot, most)
    for edge in range(trees.nodes[slot, 0].edge_count):
        if not _is_playable(trees, selection, slot, edge):
            continue
        if selection.rule == GUMBEL:
            policy[edge] = edge == best
            target[edge] = math.exp(trees.policy[edge] - highest)
        elif most <= 0:
            policy[edge] = target[edge] = trees.edges[slot, edge].prior
        else:
            policy[edge] = target[edge] = trees.edges[slot, edge].visits
    played, learned = policy.sum(), target.sum()
    for edge in range(len(policy)):
        policy[edge] /= played
        target[edge] /= learned


@inline_kernel
def _improved_value(
    mean: float, target: Float64Array, visits: Int64Array, values: Float64Array
) -> float:
    """Return the mean of the visited actions' `values` [L] under the improved policy `target` [L].

    Halving visits good and bad actions equally, so the `mean` over visits is too low. `mean` is
    returned if the policy is zero on all visited actions.
    """
    share, value = 0.0, 0.0
    for edge in range(len(target)):
        if visits[edge] > 0:
            share += target[edge]
            value += target[edge] * values[edge]
    return value / share if share > 0 else mean


@kernel(types.void(TreesType, SelectionParamsType, SlotsType, RootStatisticsType))
def read_roots(
    trees: Trees, selection: SelectionParams, slots: Int64Array, roots: RootStatistics
) -> None:
    """Write the statistics of `slots` [n] into the arrays of `roots`."""
    for index in range(len(slots)):
        slot = slots[index]
        visits, values = roots.visits[index], roots.action_values[index]
        policy, target = roots.move_policies[index], roots.policy_targets[index]
        roots.counts[index] = trees.nodes[slot, 0].edge_count
        for edge in range(len(visits)):
            roots.actions[index, edge], visits[edge], roots.priors[index, edge] = 0, 0, 0
            policy[edge], target[edge], values[edge] = 0, 0, np.nan
        for edge in range(trees.nodes[slot, 0].edge_count):
            visits[edge] = trees.edges[slot, edge].visits
            roots.actions[index, edge] = trees.edges[slot, edge].action
            roots.priors[index, edge] = trees.edges[slot, edge].prior
            if visits[edge] > 0:
                values[edge] = trees.edges[slot, edge].value_sum / visits[edge]
        _write_policies(trees, selection, slot, policy, target)
        value = node_value(trees, selection, slot, 0)
        if selection.rule == GUMBEL and not (selection.mcts_solver and is_solved(trees, slot, 0)):
            value = _improved_value(value, target, visits, values)
        if selection.mcts_solver:
            value = min(max(value, trees.nodes[slot, 0].lower), trees.nodes[slot, 0].upper)
        roots.values[index] = value
