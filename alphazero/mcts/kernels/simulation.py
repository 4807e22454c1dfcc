"""The kernels that grow the trees: walk down, expand, back up.

Letters as in `trees.py`.
"""

import math
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from alphazero.games.game import (
    ONGOING,
    PLY,
    RulesType,
    mark_legal,
    outcome_of,
    play_move,
    value_of,
)
from alphazero.mcts.kernels.equations import (
    SelectionParams,
    SelectionParamsType,
)
from alphazero.mcts.kernels.evaluation_cache import (
    Cache,
    CacheType,
    Words,
    get,
    hash_observation,
    put,
)
from alphazero.mcts.kernels.gumbel import select_improved_policy, select_sequential_halving
from alphazero.mcts.kernels.proofs import backup_bounds, is_proven, node_on_path
from alphazero.mcts.kernels.puct import select_puct
from alphazero.mcts.kernels.root import set_root_priors
from alphazero.mcts.kernels.transpositions import (
    find_node,
    has_transpositions,
    hash_state,
    index_node,
    node_value,
    rebuild_index,
)
from alphazero.mcts.kernels.tree import SlotsType, Trees, TreesType
from alphazero.mcts.kernels.ucb import select_ucb
from alphazero.mcts.rollout_methods import GUMBEL, PUCT
from alphazero.utils.arrays import Floats, Slots
from alphazero.utils.jit import inline_kernel, kernel

LEAF, TERMINAL, BLOCKED = 0, 1, 2
"""How a walk ends: at a leaf to evaluate, at a finished game, at a leaf already under way."""

MAX_FREE_SIMULATIONS = 1000
"""Simulations of one tree in one step that may do without an evaluation: a solved tree asks for
none, and would hold up the other slots and the clock until its budget is spent."""


@structref.register
class _SearchContextTypeClass(types.StructRef):  # type: ignore[misc]
    """The numba type of `SearchContext`."""


class SearchContext(structref.StructRefProxy):  # type: ignore[misc]
    """Trees, cache and selection parameters: one object, which a kernel unboxes in one step."""


structref.define_boxing(_SearchContextTypeClass, SearchContext)
SearchContextType = _SearchContextTypeClass(
    [("trees", TreesType), ("cache", CacheType), ("selection", SelectionParamsType)]
)


@kernel(SearchContextType(TreesType, CacheType, SelectionParamsType))
def make_context(trees: Trees, cache: Cache, selection: SelectionParams) -> Any:
    """Return the context of `select_leaves` and `backup_leaves`."""
    context = structref.new(SearchContextType)
    context.trees = trees
    context.cache = cache
    context.selection = selection
    return context


@inline_kernel
def _select_edge(
    trees: Trees, selection: SelectionParams, slot: int, node: int, reached: int
) -> int:
    """Return the edge of `node`, which was `reached` so often, that the simulation goes through."""
    if selection.rule == PUCT:
        return select_puct(trees, selection, slot, node)
    if selection.rule != GUMBEL:
        return select_ucb(trees, selection, slot, node, reached - 1)
    if node > 0 and selection.gumbel_below:
        return select_improved_policy(trees, selection, slot, node)
    if node == 0 and trees.slots[slot].halved > 0:
        return select_sequential_halving(trees, selection, slot)
    return select_puct(trees, selection, slot, node)


@inline_kernel
def add_node(trees: Trees, slot: int, depth: int, leaf: int, value: float, edges: int) -> int:
    """Append a node behind the last edge of a path; return it, or -1 when the tree is full."""
    node = trees.slots[slot].num_nodes
    first = trees.slots[slot].num_edges
    if node == trees.nodes.shape[1] or first + edges > trees.edges.shape[1]:
        return -1
    trees.nodes[slot, node].first_edge = first
    trees.nodes[slot, node].edge_count = edges
    trees.nodes[slot, node].value = value
    trees.nodes[slot, node].lower = -1
    trees.nodes[slot, node].upper = 1
    trees.nodes[slot, node].key = trees.leaf_key[slot, leaf]
    trees.slots[slot].num_nodes += 1
    trees.slots[slot].num_edges += edges if node > 0 else trees.root_prior.shape[1]
    if node > 0:
        index_node(trees, slot, node)
    else:
        rebuild_index(trees, slot)
    if depth > 0:
        trees.edges[slot, trees.leaf_path[slot, leaf, depth - 1]].child = node
    return int(node)


@inline_kernel
def add_solved_node(
    trees: Trees, selection: SelectionParams, slot: int, depth: int, leaf: int, value: int
) -> None:
    """Append a node without edges, whose exact value is known."""
    node = add_node(trees, slot, depth, leaf, float(value), 0)
    if node >= 0:
        trees.nodes[slot, node].lower = trees.nodes[slot, node].upper = value
        if selection.solver:
            backup_bounds(trees, slot, leaf, depth)


@inline_kernel
def reset_state(trees: Trees, slot: int) -> None:
    """Copy the root's state to the scratch state; a loop, which compiles faster than a slice."""
    for index in range(len(trees.state)):
        trees.state[index] = trees.root_state[slot, index]


@inline_kernel
def descend(
    rules: Any, trees: Trees, selection: SelectionParams, slot: int, leaf: int
) -> tuple[int, int, float]:
    """Walk from the root to a leaf; `trees.state` becomes the leaf's state.

    A walk as deep as `selection.depth` ends at a leaf, and leaves nothing there. In a graph, an
    edge that leads to a node which others have reached is joined to it, and the walk goes on.
    Returns how the walk ended, its depth, and at a finished game the value for its `to_play`.
    A game that outgrows its `max_moves` ends there: nothing is written beyond the path's room.
    """
    reset_state(trees, slot)
    trees.leaf_key[slot, leaf] = 0
    node, depth, reached = 0, 0, 0
    while True:
        if depth == trees.leaf_path.shape[2]:
            return TERMINAL, depth, trees.nodes[slot, node].value
        edge = _select_edge(trees, selection, slot, node, reached)
        play_move(rules, trees.state, trees.edges[slot, edge].action)
        trees.leaf_path[slot, leaf, depth] = edge
        depth += 1
        node, reached = trees.edges[slot, edge].child, trees.edges[slot, edge].visits
        if node < 0:
            outcome = outcome_of(rules, trees.state)
            if outcome != ONGOING:
                value = value_of(outcome, trees.state[PLY] % 2)
                if depth < selection.depth:
                    add_solved_node(trees, selection, slot, depth, leaf, value)
                return TERMINAL, depth, float(value)
            if trees.edges[slot, edge].pending > 0:
                return BLOCKED, depth, 0.0
            if has_transpositions(trees):
                trees.leaf_key[slot, leaf] = hash_state(trees, selection)
                node = find_node(trees, slot, trees.leaf_key[slot, leaf])
            if node < 0:
                return LEAF, depth, 0.0
            trees.edges[slot, edge].child = node
            trees.leaf_key[slot, leaf] = 0
        if trees.nodes[slot, node].edge_count == 0 or (
            selection.solver and is_proven(trees, slot, node)
        ):
            if selection.solver and has_transpositions(trees):
                backup_bounds(
                    trees, slot, leaf, depth
                )  # what others have proven is news on this path
            return TERMINAL, depth, trees.nodes[slot, node].value


@inline_kernel
def add_finished_root(rules: Any, trees: Trees, selection: SelectionParams, slot: int) -> None:
    """Give an empty tree its root, without edges, where the game is finished already."""
    reset_state(trees, slot)
    trees.leaf_key[slot, 0] = 0
    outcome = outcome_of(rules, trees.state)
    if outcome != ONGOING:
        add_solved_node(trees, selection, slot, 0, 0, value_of(outcome, trees.state[PLY] % 2))


@inline_kernel
def is_idle(trees: Trees, selection: SelectionParams, slot: int) -> bool:
    """Whether the root wants no simulation now: it is done, or waits for its noise.

    It is done at once where its game is finished or its value proven.
    """
    if trees.nodes[slot, 0].edge_count == 0 or (selection.solver and is_proven(trees, slot, 0)):
        trees.slots[slot].remaining = 0
    return bool(trees.slots[slot].remaining <= 0 or trees.slots[slot].awaits_noise)


@inline_kernel
def _has_winning_move(rules: Any, trees: Trees, slot: int, leaf: int) -> bool:
    """Whether a move in `trees.state`, whose legal actions are known, ends the game and wins."""
    mask = trees.leaf_mask[slot, leaf]
    for action in range(len(mask)):
        if mask[action]:
            for index in range(len(trees.state)):
                trees.next_state[index] = trees.state[index]
            play_move(rules, trees.next_state, action)
            outcome = outcome_of(rules, trees.next_state)
            if outcome != ONGOING and value_of(outcome, trees.state[PLY] % 2) == 1:
                return True
    return False


@inline_kernel
def _walk(rules: Any, trees: Trees, selection: SelectionParams, slot: int, leaf: int) -> int:
    """Run a simulation down to a leaf, and return how it ended; BLOCKED also where none is wanted.

    The first walk of an empty tree stays at its root, and is no simulation.
    """
    end, depth, value = LEAF, 0, 0.0
    if trees.slots[slot].num_nodes > 0:
        if is_idle(trees, selection, slot):
            return BLOCKED
        end, depth, value = descend(rules, trees, selection, slot, leaf)
        if end == BLOCKED:
            return BLOCKED
        trees.slots[slot].remaining -= 1
        trees.slots[slot].simulations += 1
    elif leaf > 0:
        return BLOCKED
    else:
        reset_state(trees, slot)
    if end == LEAF:
        mark_legal(rules, trees.state, trees.leaf_mask[slot, leaf])
        if selection.solver and depth > 0 and _has_winning_move(rules, trees, slot, leaf):
            add_solved_node(trees, selection, slot, depth, leaf, 1)
            end, value = TERMINAL, 1.0
    trees.leaves[slot, leaf].depth = depth
    trees.leaves[slot, leaf].expands = end == LEAF
    trees.leaves[slot, leaf].value = value
    if trees.leaves.shape[1] > 1:
        for ply in range(depth):
            trees.edges[slot, trees.leaf_path[slot, leaf, ply]].pending += 1
    return end


@inline_kernel
def backup(
    trees: Trees, selection: SelectionParams, slot: int, leaf: int, depth: int, value: float
) -> None:
    """Credit a simulation to every edge of its path.

    `value` is for the player to move at the leaf; each edge receives it for the player who
    chose the edge, so it is negated once per ply. The one flip of sign in the search. What the
    solver has proven of a node on the way takes the place of the value from below. In a graph,
    or where bad moves count less, an edge's value becomes that of the node behind it.
    """
    anew = has_transpositions(trees) or selection.backup_value_weighting > 0
    for ply in range(depth - 1, -1, -1):
        edge = trees.leaf_path[slot, leaf, ply]
        child = trees.edges[slot, edge].child
        value = -value
        trees.edges[slot, edge].visits += 1
        if anew and child >= 0:
            mean = node_value(trees, selection, slot, child)
            trees.edges[slot, edge].value_sum = -mean * trees.edges[slot, edge].visits
        else:
            trees.edges[slot, edge].value_sum += value
        if selection.solver and not anew:
            node = node_on_path(trees, slot, leaf, ply)
            if is_proven(trees, slot, node):
                value = trees.nodes[slot, node].value


@inline_kernel
def init_edge(trees: Trees, slot: int, edge: int, action: int, prior: float) -> None:
    """Begin an edge that nothing went through yet."""
    trees.edges[slot, edge].action = action
    trees.edges[slot, edge].prior = prior
    trees.edges[slot, edge].visits = 0
    trees.edges[slot, edge].pending = 0
    trees.edges[slot, edge].value_sum = 0.0
    trees.edges[slot, edge].child = -1


@inline_kernel
def _expand(trees: Trees, slot: int, leaf: int) -> None:
    """Give the leaf a node whose priors are the softmax of its logits over legal actions.

    In a graph, another leaf of the same round may have given its position a node already.
    """
    depth = trees.leaves[slot, leaf].depth
    if has_transpositions(trees) and depth > 0:
        node = find_node(trees, slot, trees.leaf_key[slot, leaf])
        if node >= 0:
            trees.edges[slot, trees.leaf_path[slot, leaf, depth - 1]].child = node
            return
    mask, logits = trees.leaf_mask[slot, leaf], trees.leaf_logits[slot, leaf]
    count, highest = 0, -np.inf
    for action in range(len(mask)):
        if mask[action]:
            count += 1
            highest = max(highest, logits[action])
    node = add_node(trees, slot, depth, leaf, trees.leaves[slot, leaf].value, count)
    if node < 0:
        return
    total = 0.0
    for action in range(len(mask)):
        if mask[action]:
            trees.policy[action] = math.exp(logits[action] - highest)
            total += trees.policy[action]
    edge = trees.nodes[slot, node].first_edge
    for action in range(len(mask)):
        if mask[action]:
            init_edge(trees, slot, edge, action, trees.policy[action] / total)
            edge += 1
    if node == 0:
        set_root_priors(trees, slot)


@inline_kernel
def _write_answer(trees: Trees, slot: int, leaf: int, logits: Floats, value: float) -> None:
    """Keep a leaf's evaluation, `logits` [A] and `value`, until its round is backed up."""
    for action in range(len(logits)):
        trees.leaf_logits[slot, leaf, action] = logits[action]
    trees.leaves[slot, leaf].value = value


@inline_kernel
def _backup_round(trees: Trees, selection: SelectionParams, slot: int) -> None:
    """Expand and back up the walks of a tree's round, in the order in which they were made."""
    for leaf in range(trees.slots[slot].walks):
        depth = trees.leaves[slot, leaf].depth
        if trees.leaves.shape[1] > 1:
            for ply in range(depth):
                trees.edges[slot, trees.leaf_path[slot, leaf, ply]].pending -= 1
        if trees.leaves[slot, leaf].expands:
            _expand(trees, slot, leaf)
        backup(trees, selection, slot, leaf, depth, trees.leaves[slot, leaf].value)
    trees.slots[slot].walks = 0


@inline_kernel
def _round_robin_start(trees: Trees, slots: Slots) -> int:
    """Return the place in `slots`, which ascend, of the first that the last full batch left out."""
    last = trees.rows[len(trees.rows) - 1].slot
    for place in range(len(slots)):
        if slots[place] > last:
            return place
    return 0


@kernel(
    types.int64(
        RulesType,
        SearchContextType,
        SlotsType,
        types.Array(types.float32, 4, "C"),
        types.Array(types.uint32, 2, "C"),
    )
)
def select_leaves(
    rules: Any,
    context: Any,
    slots: Slots,
    observations: Floats,
    words: Words,
) -> int:
    """Run simulations in every one of `slots` until each waits for an evaluation.

    A tree's simulations come in rounds of as many as it has leaves. Virtual loss keeps the walks of
    a round apart. All are backed up together, in the order of the walks, whether they ended at a
    leaf to evaluate, at a remembered position or at a finished game: so what is remembered never
    changes the answer. A round that asks for no evaluation is backed up at once, and the next one
    begins, for at most `MAX_FREE_SIMULATIONS` simulations. A round ends early where a walk is
    blocked. A root that is a finished game, or proven, needs no simulation; one whose noise has not
    been drawn yet waits for it.

    Writes one observation per evaluation into `observations` [R, C, H, W], whose bits `words`
    [R, C * H * W] are, and returns their number. Slots for which no row was left come first in
    the next batch.
    """
    trees, cache, selection = context.trees, context.cache, context.selection
    leaves, rows, first = trees.leaves.shape[1], 0, _round_robin_start(trees, slots)
    for turn in range(len(slots)):
        slot = slots[(first + turn) % len(slots)]
        if trees.slots[slot].num_nodes == 0:
            add_finished_root(rules, trees, selection, slot)
        patience, before = MAX_FREE_SIMULATIONS, rows
        while rows == before and rows + leaves <= len(trees.rows) and patience > 0:
            walks = 0
            while walks < leaves:
                end = _walk(rules, trees, selection, slot, walks)
                if end == BLOCKED:
                    break
                if end == LEAF:
                    rules.observe(trees.state, observations[rows])
                    key = hash_observation(words[rows]) if len(cache.keys) > 0 else np.uint64(1)
                    place = get(cache, key)  # type: ignore[arg-type]
                    if place >= 0:
                        value = float(cache.values[place])
                        _write_answer(trees, slot, walks, cache.logits[place], value)
                    else:
                        trees.rows[rows].slot = slot
                        trees.rows[rows].leaf = walks
                        cache.row_keys[rows] = key
                        rows += 1
                walks += 1
            trees.slots[slot].walks = walks
            if walks == 0:
                break
            if rows == before:
                _backup_round(trees, selection, slot)
                patience -= walks
    return rows


@kernel(
    types.void(
        SearchContextType,
        types.int64,
        types.Array(types.float32, 2, "C"),
        types.Array(types.float32, 1, "C"),
    )
)
def backup_leaves(context: Any, rows: int, logits: Floats, values: Floats) -> None:
    """Back up the rounds that waited for the last batch, whose evaluations these are.

    `logits` [R, A], `values` [R]: for the player to move at each leaf.
    """
    trees, cache, selection = context.trees, context.cache, context.selection
    for row in range(rows):
        slot, leaf = trees.rows[row].slot, trees.rows[row].leaf
        value = float(values[row])
        put(cache, cache.row_keys[row], logits[row], value)
        _write_answer(trees, slot, leaf, logits[row], value)
        if row + 1 == rows or trees.rows[row + 1].slot != slot:
            _backup_round(trees, selection, slot)
