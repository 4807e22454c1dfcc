"""The kernels that grow the forest: walk down, expand, back up, move the root.

Letters as in `forest.py`.
"""

import math
from typing import Any

import numba
import numpy as np
from numba import types

from alphazero.games.game import ONGOING, PLY, RulesType, value_of
from alphazero.jit import helper, kernel
from alphazero.search.cache import Cache, CacheType, Words, key_of, look_up, remember
from alphazero.search.forest import Doubles, Floats, Forest, ForestType, Slots, SlotsType
from alphazero.search.selection import Selection, first_play_value, puct, puct_constant

LEAF, TERMINAL, BLOCKED = 0, 1, 2
"""How a walk ends: at a leaf to evaluate, at a finished game, at a leaf already under way."""

PATIENCE = 1000
"""Simulations of one tree in one turn that may end at finished games: a solved tree asks for no
evaluation, and would hold up the other slots and the clock until its budget is spent."""


SelectionType = numba.typeof(Selection(1.0, 0.0, False, 0.0))


@helper
def _select_edge(forest: Forest, selection: Selection, slot: int, node: int) -> int:
    """Return the edge of `node` with the highest PUCT score.

    Ties go to the higher prior, then to the earlier action; so the first visit of a node, where
    the exploration term is zero, follows the prior. An edge's pending simulations count as
    visits that were lost (virtual loss).
    """
    first = forest.first_edge[slot, node]
    last = first + forest.edge_count[slot, node]
    total_visits, total_value = 0, 0.0
    for edge in range(first, last):
        total_visits += forest.visits[slot, edge] + forest.pending[slot, edge]
        total_value += forest.value_sum[slot, edge] - forest.pending[slot, edge]
    c_puct = puct_constant(total_visits, selection.c_puct, selection.c_puct_base)
    first_play = first_play_value(
        forest.node_value[slot, node],
        total_value,
        total_visits,
        selection.first_play_parent,
        selection.first_play_reduction,
    )
    best, best_score, best_prior = first, -np.inf, -1.0
    for edge in range(first, last):
        visits = forest.visits[slot, edge] + forest.pending[slot, edge]
        prior = forest.prior[slot, edge]
        if node == 0:
            prior = forest.root_prior[slot, edge - first]
        value = first_play
        if visits > 0:
            value = (forest.value_sum[slot, edge] - forest.pending[slot, edge]) / visits
        score = puct(value, prior, visits, total_visits, c_puct)
        if score > best_score or (score == best_score and prior > best_prior):
            best, best_score, best_prior = edge, score, prior
    return best  # type: ignore[no-any-return]


@helper
def _add_node(forest: Forest, slot: int, depth: int, leaf: int, value: float, edges: int) -> int:
    """Append a node behind the last edge of a path; return it, or -1 when the tree is full."""
    node = forest.num_nodes[slot]
    first = forest.num_edges[slot]
    if node == forest.first_edge.shape[1] or first + edges > forest.action.shape[1]:
        return -1
    forest.first_edge[slot, node] = first
    forest.edge_count[slot, node] = edges
    forest.node_value[slot, node] = value
    forest.num_nodes[slot] += 1
    forest.num_edges[slot] += edges
    if depth > 0:
        forest.child[slot, forest.leaf_path[slot, leaf, depth - 1]] = node
    return int(node)


@helper
def _reset_state(forest: Forest, slot: int) -> None:
    """Copy the root's state to the scratch state; a loop, which compiles faster than a slice."""
    for index in range(len(forest.state)):
        forest.state[index] = forest.root_state[slot, index]


@helper
def _descend(
    rules: Any, forest: Forest, selection: Selection, slot: int, leaf: int
) -> tuple[int, int, float]:
    """Walk from the root to a leaf; `forest.state` becomes the leaf's state.

    Returns how the walk ended, its depth, and at a finished game the value for its `to_play`.
    """
    _reset_state(forest, slot)
    node, depth = 0, 0
    while True:
        edge = _select_edge(forest, selection, slot, node)
        rules.play(forest.state, forest.action[slot, edge])
        forest.leaf_path[slot, leaf, depth] = edge
        depth += 1
        node = forest.child[slot, edge]
        if node >= 0:
            if forest.edge_count[slot, node] == 0:
                return TERMINAL, depth, forest.node_value[slot, node]
            continue
        outcome = rules.outcome(forest.state)
        if outcome != ONGOING:
            value = float(value_of(outcome, forest.state[PLY] % 2))
            _add_node(forest, slot, depth, leaf, value, 0)
            return TERMINAL, depth, value
        if forest.pending[slot, edge] > 0:
            return BLOCKED, depth, 0.0
        return LEAF, depth, 0.0


@helper
def _add_finished_root(rules: Any, forest: Forest, slot: int) -> None:
    """Give an empty tree its root, without edges, where the game is finished already."""
    _reset_state(forest, slot)
    outcome = rules.outcome(forest.state)
    if outcome != ONGOING:
        _add_node(forest, slot, 0, 0, float(value_of(outcome, forest.state[PLY] % 2)), 0)


@helper
def _backup(forest: Forest, slot: int, leaf: int, depth: int, value: float) -> None:
    """Credit a simulation to every edge of its path.

    `value` is for the player to move at the leaf; each edge receives it for the player who
    chose the edge, so it is negated once per ply. The one flip of sign in the search.
    """
    for ply in range(depth - 1, -1, -1):
        value = -value
        edge = forest.leaf_path[slot, leaf, ply]
        forest.visits[slot, edge] += 1
        forest.value_sum[slot, edge] += value


@helper
def _expand(forest: Forest, slot: int, leaf: int, logits: Floats, value: float) -> None:
    """Give the leaf a node whose priors are the softmax of `logits` [A] over legal actions."""
    mask = forest.leaf_mask[slot, leaf]
    count, highest = 0, -np.inf
    for action in range(len(mask)):
        if mask[action]:
            count += 1
            highest = max(highest, logits[action])
    node = _add_node(forest, slot, forest.leaf_depth[slot, leaf], leaf, value, count)
    if node < 0:
        return
    total = 0.0
    for action in range(len(mask)):
        if mask[action]:
            total += math.exp(logits[action] - highest)
    edge = forest.first_edge[slot, node]
    for action in range(len(mask)):
        if mask[action]:
            forest.action[slot, edge] = action
            forest.prior[slot, edge] = math.exp(logits[action] - highest) / total
            forest.visits[slot, edge] = 0
            forest.pending[slot, edge] = 0
            forest.value_sum[slot, edge] = 0.0
            forest.child[slot, edge] = -1
            edge += 1
    if node == 0:
        _mix_root_noise(forest, slot)


@helper
def _mix_root_noise(forest: Forest, slot: int) -> None:
    """Set the root's priors to (1 - epsilon) p + epsilon eta, eta ~ Dirichlet(alpha).

    Silver et al., Nature 550 (2017), Methods, "Self-play". Gamma draws divided by their sum are
    a Dirichlet draw; only legal actions have edges, so only they receive noise.
    """
    first, count = forest.first_edge[slot, 0], forest.edge_count[slot, 0]
    total = 0.0
    for index in range(count):
        total += forest.root_noise[slot, index]
    fraction = forest.noise_fraction[slot] if total > 0 else 0.0
    for index in range(count):
        noise = forest.root_noise[slot, index] / total if total > 0 else 0.0
        prior = forest.prior[slot, first + index]
        forest.root_prior[slot, index] = (1 - fraction) * prior + fraction * noise


@kernel(
    types.int64(
        RulesType,
        ForestType,
        CacheType,
        SelectionType,
        SlotsType,
        types.Array(types.float32, 4, "C"),
        types.Array(types.uint32, 2, "C"),
    )
)
def select_leaves(
    rules: Any,
    forest: Forest,
    cache: Cache,
    selection: Selection,
    slots: Slots,
    observations: Floats,
    words: Words,
) -> int:
    """Run simulations in every one of `slots` until each has its leaves to evaluate.

    Writes one observation per leaf into `observations` [R, C, H, W], whose bits `words`
    [R, C * H * W] are, and returns their number.
    Simulations that end at a finished game or at a remembered position need no evaluation and
    are backed up at once, at most `PATIENCE` of them. A root that is a finished game needs no
    simulation.
    """
    rows = 0
    for slot in slots:
        if forest.num_nodes[slot] == 0:
            _add_finished_root(rules, forest, slot)
        if forest.num_nodes[slot] > 0 and forest.edge_count[slot, 0] == 0:
            forest.remaining[slot] = 0
        leaf, patience = 0, PATIENCE
        while leaf < forest.leaf_depth.shape[1] and patience > 0:
            depth = 0
            if forest.num_nodes[slot] > 0:
                if forest.remaining[slot] <= 0:
                    break
                end, depth, value = _descend(rules, forest, selection, slot, leaf)
                if end == BLOCKED:
                    break
                forest.remaining[slot] -= 1
                if end == TERMINAL:
                    _backup(forest, slot, leaf, depth, value)
                    patience -= 1
                    continue
            elif leaf > 0:
                break
            else:
                _reset_state(forest, slot)
            forest.leaf_depth[slot, leaf] = depth
            rules.legal(forest.state, forest.leaf_mask[slot, leaf])
            rules.observe(forest.state, observations[rows])
            key = key_of(words[rows])
            place = look_up(cache, key)
            if place >= 0:
                value = float(cache.values[place])
                _expand(forest, slot, leaf, cache.logits[place], value)
                _backup(forest, slot, leaf, depth, value)
                forest.leaf_depth[slot, leaf] = -1
                patience -= 1
                continue
            for ply in range(depth):
                forest.pending[slot, forest.leaf_path[slot, leaf, ply]] += 1
            cache.row_keys[rows] = key
            forest.row_slot[rows] = slot
            forest.row_leaf[rows] = leaf
            rows += 1
            leaf += 1
    return rows


@kernel(
    types.void(
        ForestType,
        CacheType,
        types.int64,
        types.Array(types.float32, 2, "C"),
        types.Array(types.float32, 1, "C"),
    )
)
def backup_leaves(forest: Forest, cache: Cache, rows: int, logits: Floats, values: Floats) -> None:
    """Expand and back up the leaves of the last batch with their evaluations.

    `logits` [R, A], `values` [R]: for the player to move at each leaf.
    """
    for row in range(rows):
        slot, leaf = forest.row_slot[row], forest.row_leaf[row]
        depth = forest.leaf_depth[slot, leaf]
        value = float(values[row])
        remember(cache, cache.row_keys[row], logits[row], value)
        for ply in range(depth):
            forest.pending[slot, forest.leaf_path[slot, leaf, ply]] -= 1
        _expand(forest, slot, leaf, logits[row], value)
        _backup(forest, slot, leaf, depth, value)
        forest.leaf_depth[slot, leaf] = -1


@kernel(types.void(ForestType, SlotsType))
def mix_noise(forest: Forest, slots: Slots) -> None:
    """Give the roots of `slots` the noise that `root_noise` holds now.

    A root that waits for its evaluation gets it when it is expanded.
    """
    for slot in slots:
        if forest.num_nodes[slot] > 0:
            _mix_root_noise(forest, slot)


@helper
def _keep_subtree(forest: Forest, slot: int, root: int) -> None:
    """Move the subtree below `root` to the front of the slot's arrays; the rest is forgotten.

    Node by node in ascending order: nodes and blocks of edges only ever move forward.
    """
    renumbered = forest.renumbered
    nodes = forest.num_nodes[slot]
    for node in range(nodes):
        renumbered[node] = -1
    renumbered[root] = 0
    kept = 0
    for node in range(root, nodes):
        if renumbered[node] < 0:
            continue
        renumbered[node] = kept
        kept += 1
        first = forest.first_edge[slot, node]
        for edge in range(first, first + forest.edge_count[slot, node]):
            if forest.child[slot, edge] >= 0:
                renumbered[forest.child[slot, edge]] = 0
    target = 0
    for node in range(root, nodes):
        place = renumbered[node]
        if place < 0:
            continue
        first, count = forest.first_edge[slot, node], forest.edge_count[slot, node]
        forest.first_edge[slot, place] = target
        forest.edge_count[slot, place] = count
        forest.node_value[slot, place] = forest.node_value[slot, node]
        for edge in range(first, first + count):
            forest.action[slot, target] = forest.action[slot, edge]
            forest.prior[slot, target] = forest.prior[slot, edge]
            forest.visits[slot, target] = forest.visits[slot, edge]
            forest.pending[slot, target] = forest.pending[slot, edge]
            forest.value_sum[slot, target] = forest.value_sum[slot, edge]
            child = forest.child[slot, edge]
            forest.child[slot, target] = renumbered[child] if child >= 0 else -1
            target += 1
    forest.num_nodes[slot] = kept
    forest.num_edges[slot] = target


@kernel(types.void(RulesType, ForestType, SlotsType, SlotsType, types.boolean))
def advance_trees(rules: Any, forest: Forest, slots: Slots, actions: Slots, keep: bool) -> None:
    """Play `actions` [n] at the roots of `slots` [n]; with `keep`, the child becomes the root.

    Nothing is kept of a tree whose child was not expanded.
    """
    for index in range(len(slots)):
        slot, action = slots[index], actions[index]
        rules.play(forest.root_state[slot], action)
        child = -1
        if keep and forest.num_nodes[slot] > 0:
            for edge in range(forest.edge_count[slot, 0]):
                if forest.action[slot, edge] == action:
                    child = forest.child[slot, edge]
        if child >= 0 and forest.edge_count[slot, child] > 0:
            _keep_subtree(forest, slot, child)
        else:
            forest.num_nodes[slot] = 0
            forest.num_edges[slot] = 0


@kernel(
    types.void(
        ForestType,
        SlotsType,
        types.Array(types.int64, 2, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 2, "C"),
        types.Array(types.float64, 1, "C"),
    )
)
def read_roots(
    forest: Forest,
    slots: Slots,
    visits: Slots,
    priors: Doubles,
    action_values: Doubles,
    root_values: Doubles,
) -> None:
    """Write the statistics of the roots of `slots` [n], action by action [n, A].

    `priors` are the network's, without noise. `action_values` of unvisited actions are NaN.
    `root_values` [n] are the means of all evaluations, for the player to move.
    """
    for index in range(len(slots)):
        slot = slots[index]
        for action in range(visits.shape[1]):
            visits[index, action], priors[index, action] = 0, 0.0
            action_values[index, action] = np.nan
        total_visits, total_value = 1, forest.node_value[slot, 0]
        for edge in range(forest.edge_count[slot, 0]):
            action, count = forest.action[slot, edge], forest.visits[slot, edge]
            visits[index, action] = count
            priors[index, action] = forest.prior[slot, edge]
            if count > 0:
                action_values[index, action] = forest.value_sum[slot, edge] / count
            total_visits += count
            total_value += forest.value_sum[slot, edge]
        root_values[index] = total_value / total_visits
