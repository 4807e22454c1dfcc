"""A graph in place of a tree: a position that several orders of moves reach has one node.

Walks count on the edges that they take, and an edge's value is what all walks to its node have
found, whichever way they came: Czech, Korus & Kersting, *Improving AlphaZero Using Monte-Carlo
Graph Search* (ICAPS 2021), with means that are computed anew on the way back, from a node's edges
and their own visits, as in KataGo (docs/GraphSearch.md).

Two positions are one where their states are the same, so a game whose past counts, and is in its
state, keeps a tree. A game never comes back to a state, since the ply is part of it.
"""

import numpy as np

from alphazero.mcts.kernels.equations import SelectionParams, visit_weight
from alphazero.mcts.kernels.proofs import is_proven
from alphazero.mcts.kernels.tree import Trees
from alphazero.utils.jit import inline_kernel


@inline_kernel
def has_transpositions(trees: Trees) -> bool:
    """Whether several edges may lead to one node."""
    return trees.transposition_table.shape[1] > 0  # type: ignore[no-any-return]


@inline_kernel
def hash_state(trees: Trees, selection: SelectionParams) -> int:
    """Return a hash of `trees.state`, mixed as in `cache.py`; 0, which says none, is no loss."""
    key = np.uint64(0x9E3779B97F4A7C15)
    for index in range(len(trees.state)):
        if index != selection.ignored_state_index:
            key = (key ^ np.uint64(trees.state[index])) * np.uint64(0xBF58476D1CE4E5B9)
            key ^= key >> np.uint64(29)
    return key  # type: ignore[return-value]


@inline_kernel
def find_node(trees: Trees, slot: int, key: int) -> int:
    """Return the node of the position with this key, or -1."""
    last = trees.transposition_table.shape[1] - 1
    place = np.int64(key & np.uint64(last))
    while trees.transposition_table[slot, place] > 0:
        node = trees.transposition_table[slot, place] - 1
        if trees.nodes[slot, node].key == key:
            return node  # type: ignore[no-any-return]
        place = (place + 1) & last
    return -1


@inline_kernel
def index_node(trees: Trees, slot: int, node: int) -> None:
    """Let a node of a graph be found by its key, if it has one."""
    key, last = trees.nodes[slot, node].key, trees.transposition_table.shape[1] - 1
    if last < 0 or key == 0:
        return
    place = np.int64(key & np.uint64(last))
    while trees.transposition_table[slot, place] > 0:
        place = (place + 1) & last
    trees.transposition_table[slot, place] = node + 1


@inline_kernel
def rebuild_index(trees: Trees, slot: int) -> None:
    """Let all nodes of a graph be found by their keys, and nothing else."""
    for place in range(trees.transposition_table.shape[1]):
        trees.transposition_table[slot, place] = 0
    for node in range(trees.slots[slot].num_nodes if has_transpositions(trees) else 0):
        index_node(trees, slot, node)


@inline_kernel
def node_value(trees: Trees, selection: SelectionParams, slot: int, node: int) -> float:
    """Return the node's value, for its player to move: the mean of its evaluation and its edges.

    An edge weighs as much as it has visits, or less, the worse it is than the best of them.
    """
    if selection.solver and is_proven(trees, slot, node):
        return trees.nodes[slot, node].value  # type: ignore[no-any-return]
    first = trees.nodes[slot, node].first_edge
    last = first + trees.nodes[slot, node].edge_count
    best = -np.inf
    for edge in range(first, last):
        visits = trees.edges[slot, edge].visits
        if visits > 0:
            best = max(best, trees.edges[slot, edge].value_sum / visits)
    weights, total = 1.0, trees.nodes[slot, node].value
    for edge in range(first, last):
        visits = trees.edges[slot, edge].visits
        if visits > 0:
            value = trees.edges[slot, edge].value_sum / visits
            weight = visits * visit_weight(best - value, selection.backup_value_weighting)
            weights += weight
            total += weight * value
    return total / weights  # type: ignore[no-any-return]
