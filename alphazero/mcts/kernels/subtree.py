"""Tree reuse: the played child becomes the root, and its subtree is kept."""

from typing import Any

from numba import types

from alphazero.games.compiled_rules import RulesType
from alphazero.mcts.kernels.edges import edge_at, init_edge, is_complete
from alphazero.mcts.kernels.transpositions import has_transpositions, rebuild_index
from alphazero.mcts.kernels.tree import CREATED, SlotsType, Trees, TreesType
from alphazero.utils.arrays import Int64Array
from alphazero.utils.jit import inline_kernel, kernel


@inline_kernel
def _mark_reachable(trees: Trees, slot: int, root: int) -> int:
    """Write each node's new index into `trees.new_index`; return the number of kept nodes.

    `root` becomes 0, its descendants follow in their old order, and all other nodes become -1.
    """
    new_index, waiting = trees.new_index, trees.stack
    nodes = trees.slots[slot].num_nodes
    for node in range(nodes):
        new_index[node] = -1
    new_index[root], waiting[0], count = 0, root, 1
    while count > 0:
        count -= 1
        node = waiting[count]
        first, complete = trees.nodes[slot, node].first_edge, is_complete(trees, slot, node)
        for index in range(trees.nodes[slot, node].created_count):
            child = trees.edges[slot, edge_at(trees, slot, first, index, complete)].child
            if child >= 0 and new_index[child] < 0:
                new_index[child], waiting[count] = 0, child
                count += 1
    kept = 1
    for node in range(nodes):
        if new_index[node] == 0 and node != root:
            new_index[node] = kept
            kept += 1
    return kept


@inline_kernel
def _move_node(trees: Trees, slot: int, node: int, target: int) -> int:
    """Move a node to its new index and its edges to `target`; return the end of the block.

    All edges of a node that becomes the root are created.
    """
    place, first = trees.new_index[node], trees.nodes[slot, node].first_edge
    edges, complete = trees.nodes[slot, node].edge_count, is_complete(trees, slot, node)
    shift = target - first
    for index in range(trees.nodes[slot, node].created_count):
        edge = edge_at(trees, slot, first, index, complete)
        child = trees.edges[slot, edge].child
        trees.edges[slot, edge + shift] = trees.edges[slot, edge]
        trees.edges[slot, edge + shift].child = trees.new_index[child] if child >= 0 else -1
        if not complete:
            trees.created_places[slot, target + index] = trees.created_places[slot, first + index]
    trees.nodes[slot, place] = trees.nodes[slot, node]
    trees.nodes[slot, place].first_edge = target
    if has_transpositions(trees):
        trees.keys[slot, place] = trees.keys[slot, node]
    for edge in range(first, first if complete else first + edges):
        action, prior = trees.lazy_actions[slot, edge], trees.lazy_priors[slot, edge]
        trees.lazy_actions[slot, edge + shift] = action
        trees.lazy_priors[slot, edge + shift] = prior
        if place == 0 and prior != CREATED:
            init_edge(trees, slot, edge + shift, action, prior)
    if place == 0:
        trees.nodes[slot, 0].created_count = edges
    return target + edges  # type: ignore[no-any-return]


@inline_kernel
def _compact_subtree(trees: Trees, slot: int, root: int) -> None:
    """Move the subtree of `root` to the front of the slot's arrays and drop all other nodes.

    The root's block keeps its length L. The other nodes move in ascending order, each towards the
    front, so none overwrites a node that has not moved yet.
    """
    nodes, kept = trees.slots[slot].num_nodes, _mark_reachable(trees, slot, root)
    _move_node(trees, slot, root, 0)
    target = trees.root_prior.shape[1]
    for node in range(nodes):
        if trees.new_index[node] > 0:
            target = _move_node(trees, slot, node, target)
    trees.slots[slot].num_nodes = kept
    trees.slots[slot].num_edges = target
    rebuild_index(trees, slot)


@inline_kernel
def advance_tree(trees: Trees, slot: int, action: int, keep: bool) -> None:
    """Follow a move that `root_state` has made already; with `keep`, its child becomes the root.

    The tree is emptied if the child has no node or no edges.
    """
    child = -1
    if keep and trees.slots[slot].num_nodes > 0:
        for edge in range(trees.nodes[slot, 0].edge_count):
            if trees.edges[slot, edge].action == action:
                child = trees.edges[slot, edge].child
    if child >= 0 and trees.nodes[slot, child].edge_count > 0:
        _compact_subtree(trees, slot, child)
    else:
        trees.slots[slot].num_nodes = 0
        trees.slots[slot].num_edges = 0


@kernel(types.void(RulesType, TreesType, SlotsType, SlotsType, types.boolean))
def advance_trees(
    rules: Any, trees: Trees, slots: Int64Array, actions: Int64Array, keep: bool
) -> None:
    """Play `actions` [n] at the roots of `slots` [n]; `keep` the subtrees or not."""
    for index in range(len(slots)):
        slot, action = slots[index], actions[index]
        rules.functions.play(trees.root_state[slot], action)
        advance_tree(trees, slot, action, keep)
