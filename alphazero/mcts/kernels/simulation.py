"""Kernels of a simulation: selection, expansion and backup. Letters as in `tree.py`."""

import math
from typing import Any

import numpy as np
from numba import types
from numba.experimental import structref

from alphazero.games.compiled_rules import UNKNOWN, RuleFunctions, RulesType, call_rule
from alphazero.games.game import ONGOING, OUTCOME, PLY, value_of
from alphazero.mcts.kernels.edges import add_edge, begins_lazy, make_lazy
from alphazero.mcts.kernels.equations import SelectionParams, SelectionParamsType
from alphazero.mcts.kernels.evaluation_cache import Cache, CacheType, get, hash_position, put
from alphazero.mcts.kernels.gumbel import select_improved_policy, select_sequential_halving
from alphazero.mcts.kernels.moves import MOVE_ON, MatchType
from alphazero.mcts.kernels.proofs import backup_bounds, is_solved, node_on_path
from alphazero.mcts.kernels.puct import select_puct
from alphazero.mcts.kernels.root import set_root_priors
from alphazero.mcts.kernels.selection_rules import GUMBEL, PUCT
from alphazero.mcts.kernels.transpositions import (
    find_node,
    has_transpositions,
    hash_state,
    index_node,
    node_value,
    rebuild_index,
)
from alphazero.mcts.kernels.tree import Trees, TreesType
from alphazero.mcts.kernels.ucb import select_ucb
from alphazero.utils.arrays import Float32Array, UInt32Array
from alphazero.utils.jit import inline_kernel, kernel

LEAF, TERMINAL, BLOCKED = 0, 1, 2
"""How a descent ends: at a leaf to evaluate, at a known value, at a leaf that is pending."""

MAX_FREE_SIMULATIONS = 1000
"""Limit per tree and step on simulations without an evaluation. A tree whose leaves need none
would otherwise spend its whole budget in one step, while other slots and the clock wait."""


@structref.register
class _SearchContextTypeClass(types.StructRef):  # type: ignore[misc]
    """The numba type of `SearchContext`."""


class SearchContext(structref.StructRefProxy):  # type: ignore[misc]
    """All that `next_batch` works with, unboxed by a kernel as one object."""


structref.define_boxing(_SearchContextTypeClass, SearchContext)
SearchContextType = _SearchContextTypeClass(
    [
        ("trees", TreesType),
        ("cache", CacheType),
        ("selection", SelectionParamsType),
        ("match", MatchType),
        ("move_on", types.FunctionType(MOVE_ON)),
    ]
)


@kernel(SearchContextType(CacheType, MatchType, types.FunctionType(MOVE_ON)))
def make_context(cache: Cache, match: Any, move_on: Any) -> Any:
    """Return the context of `next_batch`, for the own side of `match`.

    `move_on` plays the moves of its finished searches.
    """
    side = match.sides[match.own]
    context = structref.new(SearchContextType)
    context.trees = side.trees
    context.cache = cache
    context.selection = side.selection
    context.match = match
    context.move_on = move_on
    return context


@inline_kernel
def select_edge(
    trees: Trees, selection: SelectionParams, slot: int, node: int, reached: int
) -> int:
    """Return the edge of `node` that the rule selects; `reached`: visits of the edge to `node`."""
    if selection.rule == PUCT:
        return select_puct(trees, selection, slot, node)
    if selection.rule != GUMBEL:
        return select_ucb(trees, selection, slot, node, reached - 1)
    if node > 0 and selection.gumbel_below:
        return select_improved_policy(trees, selection, slot, node)
    if node == 0 and trees.slots[slot].halving_budget > 0:
        return select_sequential_halving(trees, selection, slot)
    return select_puct(trees, selection, slot, node)


@inline_kernel
def add_node(trees: Trees, slot: int, depth: int, leaf: int, value: float, edges: int) -> int:
    """Append a node below the last edge of the path; return it, or -1 if the tree is full."""
    node = trees.slots[slot].num_nodes
    first = trees.slots[slot].num_edges
    if node == trees.nodes.shape[1] or first + edges > trees.edges.shape[1]:
        trees.slots[slot].refused += 1
        return -1
    trees.nodes[slot, node].first_edge = first
    trees.nodes[slot, node].edge_count = trees.nodes[slot, node].created_count = edges
    trees.nodes[slot, node].value = value
    trees.nodes[slot, node].lower = -1
    trees.nodes[slot, node].upper = 1
    if has_transpositions(trees):
        trees.keys[slot, node] = trees.leaf_key[slot, leaf]
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
    trees: Trees,
    selection: SelectionParams,
    slot: int,
    depth: int,
    leaf: int,
    value: int,
    plies: int,
) -> None:
    """Append a node without edges, of the exact `value` for its player, `plies` before the end."""
    node = add_node(trees, slot, depth, leaf, value, 0)
    if node >= 0:
        trees.nodes[slot, node].plies = plies
        trees.nodes[slot, node].lower = trees.nodes[slot, node].upper = value
        if selection.mcts_solver:
            backup_bounds(trees, slot, leaf, depth)


@inline_kernel
def reset_state(trees: Trees, slot: int) -> None:
    """Copy the root's state to `trees.state`. A loop compiles faster than a slice."""
    for index in range(len(trees.state)):
        trees.state[index] = trees.root_state[slot, index]


@inline_kernel
def descend(
    rules: RuleFunctions, trees: Trees, selection: SelectionParams, slot: int, leaf: int
) -> tuple[int, int, float]:
    """Select edges from the root to a leaf; `trees.state` becomes the leaf's state.

    At `selection.depth` plies no node is added. In a graph, an edge to a known position is
    linked to its node, and the descent continues. A path of D edges ends the descent, so a game
    that exceeds its `max_moves` writes nothing past the array.

    Returns the end (LEAF, TERMINAL or BLOCKED), the depth, and for TERMINAL the value for the
    player to move there.
    """
    reset_state(trees, slot)
    trees.leaf_key[slot, leaf] = 0
    node, depth, reached = 0, 0, 0
    while True:
        if depth == trees.leaf_path.shape[2]:
            return TERMINAL, depth, trees.nodes[slot, node].value
        edge = select_edge(trees, selection, slot, node, reached)
        call_rule(rules.play, trees.state, trees.edges[slot, edge].action)
        trees.leaf_path[slot, leaf, depth] = edge
        depth += 1
        node, reached = trees.edges[slot, edge].child, trees.edges[slot, edge].visits
        if node < 0:
            outcome = trees.state[OUTCOME]
            if outcome != ONGOING:
                value = value_of(outcome, trees.state[PLY] % 2)
                if depth < selection.depth:
                    add_solved_node(trees, selection, slot, depth, leaf, value, 0)
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
            selection.mcts_solver and is_solved(trees, slot, node)
        ):
            if selection.mcts_solver and has_transpositions(trees):
                # Bounds proven through another parent may be new to this path.
                backup_bounds(trees, slot, leaf, depth)
            return TERMINAL, depth, trees.nodes[slot, node].value


@inline_kernel
def add_finished_root(trees: Trees, selection: SelectionParams, slot: int) -> None:
    """Add the root of an empty tree, without edges, if its game is finished."""
    reset_state(trees, slot)
    trees.leaf_key[slot, 0] = 0
    outcome = trees.state[OUTCOME]
    if outcome != ONGOING:
        value = value_of(outcome, trees.state[PLY] % 2)
        add_solved_node(trees, selection, slot, 0, 0, value, 0)


@inline_kernel
def is_idle(trees: Trees, selection: SelectionParams, slot: int) -> bool:
    """Whether the budget is spent, which a solved root sets to 0."""
    if trees.nodes[slot, 0].edge_count == 0 or (
        selection.mcts_solver and is_solved(trees, slot, 0)
    ):
        trees.slots[slot].remaining = 0
    return bool(trees.slots[slot].remaining <= 0)


@inline_kernel
def list_legal(rules: RuleFunctions, trees: Trees, slot: int, leaf: int) -> int:
    """Write the legal actions of `trees.state` to `mask` and `leaf_actions`; return their number.

    The words of the mask are read first, for few actions may be legal. More than L are left out.
    """
    call_rule(rules.legal, trees.state, trees.mask)
    count, room = 0, trees.leaf_actions.shape[2]
    for word in range(len(trees.mask_words)):
        if trees.mask_words[word] != 0:
            for action in range(8 * word, min(8 * word + 8, len(trees.mask))):
                if trees.mask[action] and count < room:
                    trees.leaf_actions[slot, leaf, count] = action
                    count += 1
    return count


@inline_kernel
def has_winning_move(rules: RuleFunctions, trees: Trees, slot: int, leaf: int, count: int) -> bool:
    """Whether one of the `count` legal moves of `trees.state`, in `leaf_actions`, wins at once."""
    verdict: int = call_rule(rules.wins_at_once, trees.state)
    if verdict != UNKNOWN:
        return verdict == 1
    for place in range(count):
        for index in range(len(trees.state)):
            trees.next_state[index] = trees.state[index]
        call_rule(rules.play, trees.next_state, trees.leaf_actions[slot, leaf, place])
        outcome = trees.next_state[OUTCOME]
        if outcome != ONGOING and value_of(outcome, trees.state[PLY] % 2) == 1:
            return True
    return False


@inline_kernel
def _walk(
    rules: RuleFunctions, trees: Trees, selection: SelectionParams, slot: int, leaf: int
) -> int:
    """Descend once; return the end. An empty tree's root is a LEAF, an idle root is BLOCKED."""
    end, depth, value, count = LEAF, 0, 0.0, 0
    if trees.slots[slot].num_nodes > 0:
        if is_idle(trees, selection, slot):
            return BLOCKED
        end, depth, value = descend(rules, trees, selection, slot, leaf)
        if end == BLOCKED:
            return BLOCKED
        trees.slots[slot].remaining -= 1
        trees.slots[slot].simulations += 1
        trees.slots[slot].new_visits += trees.slots[slot].exploring
    elif leaf > 0:
        return BLOCKED
    else:
        reset_state(trees, slot)
    if end == LEAF:
        count = list_legal(rules, trees, slot, leaf)
        solves = selection.mcts_solver and depth > 0
        if solves and has_winning_move(rules, trees, slot, leaf, count):
            add_solved_node(trees, selection, slot, depth, leaf, 1, 1)
            end, value = TERMINAL, 1.0
    trees.leaves[slot, leaf].depth = depth
    trees.leaves[slot, leaf].count = count
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
    """Add a simulation to every edge of its path.

    `value` is for the player to move at the leaf. Each edge stores values for the player who
    chooses the edge, so `value` is negated once per ply: the only sign flip in the search.
    The value of a solved node replaces the value from below it. With transpositions, an
    edge's mean is recomputed from its child node.
    """
    is_graph = has_transpositions(trees)
    for ply in range(depth - 1, -1, -1):
        edge = trees.leaf_path[slot, leaf, ply]
        child = trees.edges[slot, edge].child
        value = -value
        trees.edges[slot, edge].visits += 1
        if is_graph and child >= 0:
            mean = node_value(trees, selection, slot, child)
            trees.edges[slot, edge].value_sum = -mean * trees.edges[slot, edge].visits
        else:
            trees.edges[slot, edge].value_sum += value
        if selection.mcts_solver and not is_graph:
            node = node_on_path(trees, slot, leaf, ply)
            if is_solved(trees, slot, node):
                value = trees.nodes[slot, node].value


@inline_kernel
def expand(trees: Trees, slot: int, leaf: int) -> None:
    """Add the leaf's node; its priors are the softmax of the legal actions' logits.

    In a graph, another leaf of the round may have added the node already: link to that one.
    """
    depth = trees.leaves[slot, leaf].depth
    if has_transpositions(trees) and depth > 0:
        node = find_node(trees, slot, trees.leaf_key[slot, leaf])
        if node >= 0:
            trees.edges[slot, trees.leaf_path[slot, leaf, depth - 1]].child = node
            return
    count, highest, total = trees.leaves[slot, leaf].count, -np.inf, 0.0
    node = add_node(trees, slot, depth, leaf, trees.leaves[slot, leaf].value, count)
    if node < 0:
        return
    for place in range(count):
        highest = max(highest, trees.leaf_logits[slot, leaf, place])
    for place in range(count):
        trees.policy[place] = math.exp(trees.leaf_logits[slot, leaf, place] - highest)
        total += trees.policy[place]
    first = trees.nodes[slot, node].first_edge
    lazy = begins_lazy(trees, node, count)
    for place in range(count):
        action, prior = trees.leaf_actions[slot, leaf, place], trees.policy[place] / total
        add_edge(trees, slot, first + place, action, prior, lazy)
    if lazy:
        make_lazy(trees, slot, node)
    if node == 0:
        set_root_priors(trees, slot)


@inline_kernel
def _backup_round(trees: Trees, selection: SelectionParams, slot: int) -> None:
    """Expand and back up the simulations of a tree's round, in the order of selection."""
    for leaf in range(trees.slots[slot].walks):
        depth = trees.leaves[slot, leaf].depth
        if trees.leaves.shape[1] > 1:
            for ply in range(depth):
                trees.edges[slot, trees.leaf_path[slot, leaf, ply]].pending -= 1
        if trees.leaves[slot, leaf].expands:
            expand(trees, slot, leaf)
        backup(trees, selection, slot, leaf, depth, trees.leaves[slot, leaf].value)
    trees.slots[slot].walks = 0


@inline_kernel
def _answer_from_cache(trees: Trees, cache: Cache, slot: int, leaf: int, place: int) -> None:
    """Copy entry `place` of the cache to a leaf."""
    for index in range(trees.leaves[slot, leaf].count):
        trees.leaf_logits[slot, leaf, index] = cache.logits[place, index]
    trees.leaves[slot, leaf].value = float(cache.values[place])


@inline_kernel
def _select(
    rules: RuleFunctions,
    trees: Trees,
    cache: Cache,
    selection: SelectionParams,
    observations: Float32Array,
    words: UInt32Array,
) -> int:
    """The second half of `next_batch`, without reference counting."""
    leaves, rows, slots = trees.leaves.shape[1], 0, len(trees.slots)
    first = trees.rows[len(trees.rows) - 1].slot + 1  # of those that the last batch left out
    for turn in range(slots):
        slot = (first + turn) % slots
        if not trees.slots[slot].searching:
            continue
        if trees.slots[slot].num_nodes == 0:
            add_finished_root(trees, selection, slot)
        budget, before = MAX_FREE_SIMULATIONS, rows
        while rows == before and rows + leaves <= len(trees.rows) and budget > 0:
            walks = 0
            while walks < leaves:
                end = _walk(rules, trees, selection, slot, walks)
                if end == BLOCKED:
                    break
                if end == LEAF:
                    call_rule(rules.observe, trees.state, observations[rows])
                    key = np.uint64(1)
                    if len(cache.keys) > 0:
                        key = np.uint64(hash_position(words[rows], trees.mask_words, cache.factors))
                    place = get(cache, key)  # type: ignore[arg-type]
                    if place >= 0:
                        _answer_from_cache(trees, cache, slot, walks, place)
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
                budget -= walks
    return rows


@inline_kernel
def _back_up(
    trees: Trees,
    cache: Cache,
    selection: SelectionParams,
    rows: int,
    logits: Float32Array,
    values: Float32Array,
) -> None:
    """The first half of `next_batch`, without reference counting; the answers are cached."""
    for row in range(rows):
        slot, leaf = trees.rows[row].slot, trees.rows[row].leaf
        count = trees.leaves[slot, leaf].count
        for place in range(count):
            logit = logits[row, trees.leaf_actions[slot, leaf, place]]
            trees.leaf_logits[slot, leaf, place] = logit
        value = float(values[row])
        trees.leaves[slot, leaf].value = value
        put(cache, cache.row_keys[row], trees.leaf_logits[slot, leaf], count, value)
        if row + 1 == rows or trees.rows[row + 1].slot != slot:
            _backup_round(trees, selection, slot)


@inline_kernel
def _num_unfinished(trees: Trees) -> int:
    """Return in how many slots a search goes on."""
    count = 0
    for slot in trees.slots:
        count += slot.searching and (slot.remaining > 0 or slot.num_nodes == 0)
    return count


@kernel(
    types.int64(
        RulesType,
        SearchContextType,
        types.int64,
        types.Array(types.float32, 2, "C"),
        types.Array(types.float32, 1, "C"),
        types.int64,
        types.Array(types.float32, 4, "C"),
        types.Array(types.uint32, 2, "C"),
    )
)
def next_batch(
    rules: Any,
    context: Any,
    rows: int,
    logits: Float32Array,
    values: Float32Array,
    min_active_slots: int,
    observations: Float32Array,
    words: UInt32Array,
) -> int:
    """Back up the last batch, of `rows` leaves; move games on; then collect the next batch.

    `logits` [R, A] and `values` [R] are for the player to move at each leaf of the last batch.

    Each slot that searches runs simulations until it waits for an evaluation. A tree runs rounds of
    up to K simulations, kept apart because pending ones count as visits; a blocked descent ends the
    round early. A round is backed up as a whole, in the order of selection, whether a leaf needs an
    evaluation, has one in the cache, or is a finished game: the cache therefore never changes the
    result. A round without evaluations is backed up at once and the next one begins, up to
    `MAX_FREE_SIMULATIONS`. Idle roots are skipped.

    Writes one observation per evaluation into `observations` [R, C, H, W] and returns their
    number. `words` [R, C * H * W] is a view of the same bits. Slots that found no free row come
    first in the next batch. If fewer than `min_active_slots` searches are unfinished, none are
    selected and -1 is returned.
    """
    _back_up(context.trees, context.cache, context.selection, rows, logits, values)
    context.move_on(rules, context.match)
    if _num_unfinished(context.trees) < min_active_slots:
        return -1
    return _select(
        rules.functions, context.trees, context.cache, context.selection, observations, words
    )
