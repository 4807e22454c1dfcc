"""The kernels that grow the forest: walk down, expand, back up.

Letters as in `forest.py`.
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
    Selection,
    SelectionType,
)
from alphazero.mcts.kernels.evaluation_cache import (
    Cache,
    CacheType,
    Words,
    key_of,
    look_up,
    remember,
)
from alphazero.mcts.kernels.gumbel import select_by_halving, select_by_improvement
from alphazero.mcts.kernels.proofs import is_proven, node_on_path, prove
from alphazero.mcts.kernels.puct import select_puct
from alphazero.mcts.kernels.root import set_root_priors
from alphazero.mcts.kernels.transpositions import (
    enter_all,
    enter_node,
    find_node,
    is_graph,
    key_of_state,
    mean_value,
)
from alphazero.mcts.kernels.tree import Forest, ForestType, SlotsType
from alphazero.mcts.kernels.ucb import select_by_bandit
from alphazero.mcts.rollout_methods import GUMBEL, PUCT
from alphazero.utils.arrays import Floats, Slots
from alphazero.utils.jit import helper, kernel

LEAF, TERMINAL, BLOCKED = 0, 1, 2
"""How a walk ends: at a leaf to evaluate, at a finished game, at a leaf already under way."""

PATIENCE = 1000
"""Simulations of one tree in one step that may do without an evaluation: a solved tree asks for
none, and would hold up the other slots and the clock until its budget is spent."""


@structref.register
class _TreesTypeClass(types.StructRef):  # type: ignore[misc]
    """The numba type of `Trees`."""


class Trees(structref.StructRefProxy):  # type: ignore[misc]
    """A forest, its cache and its rule of selection, gathered once so that the kernels of every
    batch are called at no cost per array.
    """


structref.define_boxing(_TreesTypeClass, Trees)
TreesType = _TreesTypeClass(
    [("forest", ForestType), ("cache", CacheType), ("selection", SelectionType)]
)


@kernel(TreesType(ForestType, CacheType, SelectionType))
def gather_trees(forest: Forest, cache: Cache, selection: Selection) -> Any:
    """Return what `select_leaves` and `backup_leaves` need of a search."""
    trees = structref.new(TreesType)
    trees.forest = forest
    trees.cache = cache
    trees.selection = selection
    return trees


@helper
def _select_edge(forest: Forest, selection: Selection, slot: int, node: int, reached: int) -> int:
    """Return the edge of `node`, which was `reached` so often, that the simulation goes through."""
    if selection.rule == PUCT:
        return select_puct(forest, selection, slot, node)
    if selection.rule != GUMBEL:
        return select_by_bandit(forest, selection, slot, node, reached - 1)
    if node > 0 and selection.gumbel_below:
        return select_by_improvement(forest, selection, slot, node)
    if node == 0 and forest.slots[slot].halved > 0:
        return select_by_halving(forest, selection, slot)
    return select_puct(forest, selection, slot, node)


@helper
def add_node(forest: Forest, slot: int, depth: int, leaf: int, value: float, edges: int) -> int:
    """Append a node behind the last edge of a path; return it, or -1 when the tree is full."""
    node = forest.slots[slot].num_nodes
    first = forest.slots[slot].num_edges
    if node == forest.nodes.shape[1] or first + edges > forest.edges.shape[1]:
        return -1
    forest.nodes[slot, node].first_edge = first
    forest.nodes[slot, node].edge_count = edges
    forest.nodes[slot, node].value = value
    forest.nodes[slot, node].lower = -1
    forest.nodes[slot, node].upper = 1
    forest.nodes[slot, node].key = forest.leaf_key[slot, leaf]
    forest.slots[slot].num_nodes += 1
    forest.slots[slot].num_edges += edges if node > 0 else forest.root_prior.shape[1]
    if node > 0:
        enter_node(forest, slot, node)
    else:
        enter_all(forest, slot)
    if depth > 0:
        forest.edges[slot, forest.leaf_path[slot, leaf, depth - 1]].child = node
    return int(node)


@helper
def add_known(
    forest: Forest, selection: Selection, slot: int, depth: int, leaf: int, value: int
) -> None:
    """Append a node without edges, whose exact value is known."""
    node = add_node(forest, slot, depth, leaf, float(value), 0)
    if node >= 0:
        forest.nodes[slot, node].lower = forest.nodes[slot, node].upper = value
        if selection.solver:
            prove(forest, slot, leaf, depth)


@helper
def reset_state(forest: Forest, slot: int) -> None:
    """Copy the root's state to the scratch state; a loop, which compiles faster than a slice."""
    for index in range(len(forest.state)):
        forest.state[index] = forest.root_state[slot, index]


@helper
def descend(
    rules: Any, forest: Forest, selection: Selection, slot: int, leaf: int
) -> tuple[int, int, float]:
    """Walk from the root to a leaf; `forest.state` becomes the leaf's state.

    A walk as deep as `selection.depth` ends at a leaf, and leaves nothing there. In a graph, an
    edge that leads to a node which others have reached is joined to it, and the walk goes on.
    Returns how the walk ended, its depth, and at a finished game the value for its `to_play`.
    A game that outgrows its `max_moves` ends there: nothing is written beyond the path's room.
    """
    reset_state(forest, slot)
    forest.leaf_key[slot, leaf] = 0
    node, depth, reached = 0, 0, 0
    while True:
        if depth == forest.leaf_path.shape[2]:
            return TERMINAL, depth, forest.nodes[slot, node].value
        edge = _select_edge(forest, selection, slot, node, reached)
        play_move(rules, forest.state, forest.edges[slot, edge].action)
        forest.leaf_path[slot, leaf, depth] = edge
        depth += 1
        node, reached = forest.edges[slot, edge].child, forest.edges[slot, edge].visits
        if node < 0:
            outcome = outcome_of(rules, forest.state)
            if outcome != ONGOING:
                value = value_of(outcome, forest.state[PLY] % 2)
                if depth < selection.depth:
                    add_known(forest, selection, slot, depth, leaf, value)
                return TERMINAL, depth, float(value)
            if forest.edges[slot, edge].pending > 0:
                return BLOCKED, depth, 0.0
            if is_graph(forest):
                forest.leaf_key[slot, leaf] = key_of_state(forest, selection)
                node = find_node(forest, slot, forest.leaf_key[slot, leaf])
            if node < 0:
                return LEAF, depth, 0.0
            forest.edges[slot, edge].child = node
            forest.leaf_key[slot, leaf] = 0
        if forest.nodes[slot, node].edge_count == 0 or (
            selection.solver and is_proven(forest, slot, node)
        ):
            if selection.solver and is_graph(forest):
                prove(forest, slot, leaf, depth)  # what others have proven is news on this path
            return TERMINAL, depth, forest.nodes[slot, node].value


@helper
def add_finished_root(rules: Any, forest: Forest, selection: Selection, slot: int) -> None:
    """Give an empty tree its root, without edges, where the game is finished already."""
    reset_state(forest, slot)
    forest.leaf_key[slot, 0] = 0
    outcome = outcome_of(rules, forest.state)
    if outcome != ONGOING:
        add_known(forest, selection, slot, 0, 0, value_of(outcome, forest.state[PLY] % 2))


@helper
def rests(forest: Forest, selection: Selection, slot: int) -> bool:
    """Whether the root wants no simulation now: it is done, or waits for its noise.

    It is done at once where its game is finished or its value proven.
    """
    if forest.nodes[slot, 0].edge_count == 0 or (selection.solver and is_proven(forest, slot, 0)):
        forest.slots[slot].remaining = 0
    return bool(forest.slots[slot].remaining <= 0 or forest.slots[slot].awaits_noise)


@helper
def _wins_at_once(rules: Any, forest: Forest, slot: int, leaf: int) -> bool:
    """Whether a move in `forest.state`, whose legal actions are known, ends the game and wins."""
    mask = forest.leaf_mask[slot, leaf]
    for action in range(len(mask)):
        if mask[action]:
            for index in range(len(forest.state)):
                forest.next_state[index] = forest.state[index]
            play_move(rules, forest.next_state, action)
            outcome = outcome_of(rules, forest.next_state)
            if outcome != ONGOING and value_of(outcome, forest.state[PLY] % 2) == 1:
                return True
    return False


@helper
def _walk(rules: Any, forest: Forest, selection: Selection, slot: int, leaf: int) -> int:
    """Run a simulation down to a leaf, and return how it ended; BLOCKED also where none is wanted.

    The first walk of an empty tree stays at its root, and is no simulation.
    """
    end, depth, value = LEAF, 0, 0.0
    if forest.slots[slot].num_nodes > 0:
        if rests(forest, selection, slot):
            return BLOCKED
        end, depth, value = descend(rules, forest, selection, slot, leaf)
        if end == BLOCKED:
            return BLOCKED
        forest.slots[slot].remaining -= 1
        forest.slots[slot].simulations += 1
    elif leaf > 0:
        return BLOCKED
    else:
        reset_state(forest, slot)
    if end == LEAF:
        mark_legal(rules, forest.state, forest.leaf_mask[slot, leaf])
        if selection.solver and depth > 0 and _wins_at_once(rules, forest, slot, leaf):
            add_known(forest, selection, slot, depth, leaf, 1)
            end, value = TERMINAL, 1.0
    forest.leaves[slot, leaf].depth = depth
    forest.leaves[slot, leaf].expands = end == LEAF
    forest.leaves[slot, leaf].value = value
    if forest.leaves.shape[1] > 1:
        for ply in range(depth):
            forest.edges[slot, forest.leaf_path[slot, leaf, ply]].pending += 1
    return end


@helper
def backup(
    forest: Forest, selection: Selection, slot: int, leaf: int, depth: int, value: float
) -> None:
    """Credit a simulation to every edge of its path.

    `value` is for the player to move at the leaf; each edge receives it for the player who
    chose the edge, so it is negated once per ply. The one flip of sign in the search. What the
    solver has proven of a node on the way takes the place of the value from below. In a graph,
    or where bad moves count less, an edge's value becomes that of the node behind it.
    """
    anew = is_graph(forest) or selection.value_weighting > 0
    for ply in range(depth - 1, -1, -1):
        edge = forest.leaf_path[slot, leaf, ply]
        child = forest.edges[slot, edge].child
        value = -value
        forest.edges[slot, edge].visits += 1
        if anew and child >= 0:
            mean = mean_value(forest, selection, slot, child)
            forest.edges[slot, edge].value_sum = -mean * forest.edges[slot, edge].visits
        else:
            forest.edges[slot, edge].value_sum += value
        if selection.solver and not anew:
            node = node_on_path(forest, slot, leaf, ply)
            if is_proven(forest, slot, node):
                value = forest.nodes[slot, node].value


@helper
def write_edge(forest: Forest, slot: int, edge: int, action: int, prior: float) -> None:
    """Begin an edge that nothing went through yet."""
    forest.edges[slot, edge].action = action
    forest.edges[slot, edge].prior = prior
    forest.edges[slot, edge].visits = 0
    forest.edges[slot, edge].pending = 0
    forest.edges[slot, edge].value_sum = 0.0
    forest.edges[slot, edge].child = -1


@helper
def _expand(forest: Forest, slot: int, leaf: int) -> None:
    """Give the leaf a node whose priors are the softmax of its logits over legal actions.

    In a graph, another leaf of the same round may have given its position a node already.
    """
    depth = forest.leaves[slot, leaf].depth
    if is_graph(forest) and depth > 0:
        node = find_node(forest, slot, forest.leaf_key[slot, leaf])
        if node >= 0:
            forest.edges[slot, forest.leaf_path[slot, leaf, depth - 1]].child = node
            return
    mask, logits = forest.leaf_mask[slot, leaf], forest.leaf_logits[slot, leaf]
    count, highest = 0, -np.inf
    for action in range(len(mask)):
        if mask[action]:
            count += 1
            highest = max(highest, logits[action])
    node = add_node(forest, slot, depth, leaf, forest.leaves[slot, leaf].value, count)
    if node < 0:
        return
    total = 0.0
    for action in range(len(mask)):
        if mask[action]:
            forest.policy[action] = math.exp(logits[action] - highest)
            total += forest.policy[action]
    edge = forest.nodes[slot, node].first_edge
    for action in range(len(mask)):
        if mask[action]:
            write_edge(forest, slot, edge, action, forest.policy[action] / total)
            edge += 1
    if node == 0:
        set_root_priors(forest, slot)


@helper
def _write_answer(forest: Forest, slot: int, leaf: int, logits: Floats, value: float) -> None:
    """Keep a leaf's evaluation, `logits` [A] and `value`, until its round is backed up."""
    for action in range(len(logits)):
        forest.leaf_logits[slot, leaf, action] = logits[action]
    forest.leaves[slot, leaf].value = value


@helper
def _backup_round(forest: Forest, selection: Selection, slot: int) -> None:
    """Expand and back up the walks of a tree's round, in the order in which they were made."""
    for leaf in range(forest.slots[slot].walks):
        depth = forest.leaves[slot, leaf].depth
        if forest.leaves.shape[1] > 1:
            for ply in range(depth):
                forest.edges[slot, forest.leaf_path[slot, leaf, ply]].pending -= 1
        if forest.leaves[slot, leaf].expands:
            _expand(forest, slot, leaf)
        backup(forest, selection, slot, leaf, depth, forest.leaves[slot, leaf].value)
    forest.slots[slot].walks = 0


@helper
def _first_in_turn(forest: Forest, slots: Slots) -> int:
    """Return the place in `slots`, which ascend, of the first that the last full batch left out."""
    last = forest.rows[len(forest.rows) - 1].slot
    for place in range(len(slots)):
        if slots[place] > last:
            return place
    return 0


@kernel(
    types.int64(
        RulesType,
        TreesType,
        SlotsType,
        types.Array(types.float32, 4, "C"),
        types.Array(types.uint32, 2, "C"),
    )
)
def select_leaves(
    rules: Any,
    trees: Any,
    slots: Slots,
    observations: Floats,
    words: Words,
) -> int:
    """Run simulations in every one of `slots` until each waits for an evaluation.

    A tree's simulations come in rounds of as many as it has leaves. Virtual loss keeps the walks
    of a round apart. All are backed up together, in the order of the walks, whether they ended at
    a leaf to evaluate, at a remembered position or at a finished game: so what is remembered
    never changes the answer. A round that asks for no evaluation is backed up at once, and the
    next one begins, for at most `PATIENCE` simulations. A round ends early where a walk is
    blocked. A root that is a finished game, or proven, needs no simulation; one whose noise has
    not been drawn yet waits for it.

    Writes one observation per evaluation into `observations` [R, C, H, W], whose bits `words`
    [R, C * H * W] are, and returns their number. Slots for which no row was left come first in
    the next batch.
    """
    forest, cache, selection = trees.forest, trees.cache, trees.selection
    leaves, rows, first = forest.leaves.shape[1], 0, _first_in_turn(forest, slots)
    for turn in range(len(slots)):
        slot = slots[(first + turn) % len(slots)]
        if forest.slots[slot].num_nodes == 0:
            add_finished_root(rules, forest, selection, slot)
        patience, before = PATIENCE, rows
        while rows == before and rows + leaves <= len(forest.rows) and patience > 0:
            walks = 0
            while walks < leaves:
                end = _walk(rules, forest, selection, slot, walks)
                if end == BLOCKED:
                    break
                if end == LEAF:
                    rules.observe(forest.state, observations[rows])
                    key = key_of(words[rows]) if len(cache.keys) > 0 else np.uint64(1)
                    place = look_up(cache, key)  # type: ignore[arg-type]
                    if place >= 0:
                        value = float(cache.values[place])
                        _write_answer(forest, slot, walks, cache.logits[place], value)
                    else:
                        forest.rows[rows].slot = slot
                        forest.rows[rows].leaf = walks
                        cache.row_keys[rows] = key
                        rows += 1
                walks += 1
            forest.slots[slot].walks = walks
            if walks == 0:
                break
            if rows == before:
                _backup_round(forest, selection, slot)
                patience -= walks
    return rows


@kernel(
    types.void(
        TreesType,
        types.int64,
        types.Array(types.float32, 2, "C"),
        types.Array(types.float32, 1, "C"),
    )
)
def backup_leaves(trees: Any, rows: int, logits: Floats, values: Floats) -> None:
    """Back up the rounds that waited for the last batch, whose evaluations these are.

    `logits` [R, A], `values` [R]: for the player to move at each leaf.
    """
    forest, cache, selection = trees.forest, trees.cache, trees.selection
    for row in range(rows):
        slot, leaf = forest.rows[row].slot, forest.rows[row].leaf
        value = float(values[row])
        remember(cache, cache.row_keys[row], logits[row], value)
        _write_answer(forest, slot, leaf, logits[row], value)
        if row + 1 == rows or forest.rows[row + 1].slot != slot:
            _backup_round(forest, selection, slot)
