"""Kernels for the roots: noise, budget, and statistics. Letters as in `tree.py`; n slots."""

import math
from typing import NamedTuple

import numba
import numpy as np
from numba import types

from alphazero.mcts.kernels.equations import SelectionParams, SelectionParamsType
from alphazero.mcts.kernels.gumbel import best_with_visits, completed_q_logits
from alphazero.mcts.kernels.proofs import is_solved, update_bounds
from alphazero.mcts.kernels.randomness import random_gamma, random_gumbel, random_unit
from alphazero.mcts.kernels.selection_rules import GUMBEL, UNLIMITED
from alphazero.mcts.kernels.transpositions import node_value
from alphazero.mcts.kernels.tree import SlotsType, Trees, TreesType
from alphazero.utils.arrays import Float64Array, Int64Array
from alphazero.utils.jit import inline_kernel, kernel


class Exploration(NamedTuple):
    """How self-play differs from play: noise at the root, drawn moves, fast searches.

    Playout cap randomization: most searches are fast, to finish games; full ones yield targets. Wu,
    *Accelerating Self-Play Learning in Go* (2019), section 3.1. Fast searches have no noise.
    """

    dirichlet_fraction: float = 0.0
    """epsilon: root priors become (1 - epsilon) p + epsilon Dir(alpha)"""
    dirichlet_alpha: float = 0.3
    temperature_moves: int = 0
    temperature: float = 0.0
    """of the first `temperature_moves` plies of a game"""
    final_temperature: float = 0.0
    """of the others"""
    full_search_probability: float = 1.0
    fast_simulations: int = 1


class Side(NamedTuple):
    """A search as the kernels of moves see it: its trees, and how it searches and chooses."""

    trees: Trees
    selection: SelectionParams
    exploration: Exploration
    explores: bool
    """whether full searches have noise at the root"""
    simulations: int
    """of a full search"""
    keeps_trees: bool
    """whether the subtree of the move that was played is kept"""


ExplorationType = numba.typeof(Exploration())
SideType = types.NamedTuple(
    [TreesType, SelectionParamsType, ExplorationType, types.boolean, types.int64, types.boolean],
    Side,
)


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
    """[n] `node_value` of the root; for Gumbel search, the mean of the action values under the
    improved policy; exact for solved roots, and within the proven bounds of others"""


def empty_statistics(count: int, most_legal: int) -> RootStatistics:
    """Return arrays for the statistics of `count` roots, to be written."""
    counts, shape = np.empty(count, np.int64), (count, most_legal)
    actions, visits = np.empty((2, *shape), np.int64)
    priors, action_values, policies, targets = np.empty((4, *shape))
    return RootStatistics(
        counts, actions, visits, priors, action_values, policies, targets, np.empty(count)
    )


RootStatisticsType = numba.typeof(empty_statistics(0, 1))


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


@inline_kernel
def begin_search(side: Side, slot: int, budget: int, full: bool) -> None:
    """Start a search of `budget` simulations; a full one has root noise, if the side explores.

    Below `UNLIMITED` simulations, Gumbel search divides them among the root's actions by sequential
    halving; visits from earlier searches then inform the values but not the halving.
    """
    trees, gumbel = side.trees, side.selection.rule == GUMBEL
    fraction, explores = side.exploration.dirichlet_fraction, full and side.explores
    halves = gumbel and budget < UNLIMITED
    trees.slots[slot].full = full
    trees.slots[slot].searching, trees.slots[slot].exploring = True, explores
    trees.slots[slot].dirichlet_fraction = fraction if explores and not gumbel else 0.0
    for edge in range(trees.root_noise.shape[1]):
        noise = 0.0
        if explores and gumbel:
            noise = random_gumbel(trees, slot)
        elif explores and fraction > 0:
            noise = random_gamma(trees, slot, side.exploration.dirichlet_alpha)
        trees.root_noise[slot, edge] = noise
        trees.root_kept[slot, edge] = 0
    kept = 0
    if trees.slots[slot].num_nodes > 0:
        set_root_priors(trees, slot)
        for edge in range(trees.nodes[slot, 0].edge_count):
            kept += trees.edges[slot, edge].visits
            if halves:
                trees.root_kept[slot, edge] = trees.edges[slot, edge].visits
    if explores:
        trees.slots[slot].kept_visits += kept
    trees.slots[slot].remaining = min(budget, UNLIMITED - kept)
    trees.slots[slot].halving_budget = budget if halves else 0


@inline_kernel
def begin_move(side: Side, slot: int) -> None:
    """Start the search of a move: a full one, or with a playout cap a fast one by chance."""
    full, share = True, side.exploration.full_search_probability
    if share < 1:
        full = random_unit(side.trees, slot) < share
    fast = side.exploration.fast_simulations
    begin_search(side, slot, side.simulations if full else fast, full)


@kernel(types.void(SideType, SlotsType, types.int64))
def begin_searches(side: Side, slots: Int64Array, simulations: int) -> None:
    """Start full searches of `simulations` in `slots` [n]; -1: as for a move."""
    for slot in slots:
        if simulations < 0:
            begin_move(side, slot)
        else:
            begin_search(side, slot, simulations, True)


@inline_kernel
def _is_playable(trees: Trees, selection: SelectionParams, slot: int, edge: int) -> bool:
    """Whether the solver's bounds allow playing a root edge.

    They exclude, at a solved root, each edge that is not proven to reach the root's value; else an
    edge that is proven to lose, or whose upper bound is below the root's lower bound.
    """
    if not selection.mcts_solver:
        return True
    child = trees.edges[slot, edge].child
    lower, upper = -1, 1
    if child >= 0:
        lower, upper = -trees.nodes[slot, child].upper, -trees.nodes[slot, child].lower
    guaranteed = trees.nodes[slot, 0].lower
    if is_solved(trees, slot, 0):
        return bool(lower == guaranteed)
    return bool(upper > -1 and upper >= guaranteed)


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


@inline_kernel
def read_root(
    trees: Trees, selection: SelectionParams, slot: int, roots: RootStatistics, index: int
) -> None:
    """Write the statistics of a slot into row `index` of the arrays of `roots`."""
    visits, values = roots.visits[index], roots.action_values[index]
    policy, target = roots.move_policies[index], roots.policy_targets[index]
    roots.counts[index] = trees.nodes[slot, 0].edge_count
    if selection.mcts_solver and roots.counts[index] > 0:
        update_bounds(trees, slot, 0)  # other paths may have solved nodes that positions share
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


@kernel(types.void(TreesType, SelectionParamsType, SlotsType, RootStatisticsType))
def read_roots(
    trees: Trees, selection: SelectionParams, slots: Int64Array, roots: RootStatistics
) -> None:
    """Write the statistics of `slots` [n] into the arrays of `roots`."""
    for index in range(len(slots)):
        read_root(trees, selection, slots[index], roots, index)
