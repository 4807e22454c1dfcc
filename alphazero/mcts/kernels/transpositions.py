"""Transpositions: positions reached by several move orders share one node, so trees are graphs.

Visits count per edge. An edge's value is the value of its node, from the simulations through all
its parents: Czech, Korus & Kersting, *Improving AlphaZero Using Monte-Carlo Graph Search* (ICAPS
2021). Backup recomputes means from a node's edges and their own visits, as in KataGo
(docs/GraphSearch.md).

Positions share a node if their states are equal. A game with `history_in_state` keeps a tree.
The state contains the ply, so the graph has no cycles.
"""

import numpy as np

from alphazero.mcts.kernels.edges import edge_at, is_complete
from alphazero.mcts.kernels.equations import SelectionParams, visit_weight
from alphazero.mcts.kernels.proofs import is_solved
from alphazero.mcts.kernels.tree import Trees
from alphazero.utils.bits import GOLDEN_GAMMA, mix_hash
from alphazero.utils.jit import inline_kernel


@inline_kernel
def has_transpositions(trees: Trees) -> bool:
    """Whether several edges may lead to one node."""
    return trees.transposition_table.shape[1] > 0  # type: ignore[no-any-return]


@inline_kernel
def hash_state(trees: Trees, selection: SelectionParams) -> int:
    """Hash `trees.state`; a node whose hash is 0 is not indexed."""
    key = GOLDEN_GAMMA
    for index in range(len(trees.state)):
        if index != selection.ignored_state_index:
            key = mix_hash(key, trees.state[index])
    return key  # type: ignore[return-value]


@inline_kernel
def find_node(trees: Trees, slot: int, key: int) -> int:
    """Return the node with this key, or -1."""
    last = trees.transposition_table.shape[1] - 1
    place = np.int64(key & np.uint64(last))
    while trees.transposition_table[slot, place] > 0:
        node = trees.transposition_table[slot, place] - 1
        if trees.keys[slot, node] == key:
            return node  # type: ignore[no-any-return]
        place = (place + 1) & last
    return -1


@inline_kernel
def index_node(trees: Trees, slot: int, node: int) -> None:
    """Add a node of a graph to the transposition table, if it has a key."""
    last = trees.transposition_table.shape[1] - 1
    if last < 0 or trees.keys[slot, node] == 0:
        return
    key = trees.keys[slot, node]
    place = np.int64(key & np.uint64(last))
    while trees.transposition_table[slot, place] > 0:
        place = (place + 1) & last
    trees.transposition_table[slot, place] = node + 1


@inline_kernel
def rebuild_index(trees: Trees, slot: int) -> None:
    """Rebuild the transposition table from all nodes of a graph."""
    for place in range(trees.transposition_table.shape[1]):
        trees.transposition_table[slot, place] = 0
    for node in range(trees.slots[slot].num_nodes if has_transpositions(trees) else 0):
        index_node(trees, slot, node)


@inline_kernel
def node_value(trees: Trees, selection: SelectionParams, slot: int, node: int) -> float:
    """Return the mean of a node's evaluation and its edges, or its exact value if solved.

    It is for the node's player to move. An edge's weight is its visits times `visit_weight`.
    """
    if selection.mcts_solver and is_solved(trees, slot, node):
        return trees.nodes[slot, node].value  # type: ignore[no-any-return]
    first, complete = trees.nodes[slot, node].first_edge, is_complete(trees, slot, node)
    count, best = trees.nodes[slot, node].created_count, -np.inf
    for index in range(count):
        edge = edge_at(trees, slot, first, index, complete)
        visits = trees.edges[slot, edge].visits
        if visits > 0:
            best = max(best, trees.edges[slot, edge].value_sum / visits)
    weights, total = 1.0, trees.nodes[slot, node].value
    for index in range(count):
        edge = edge_at(trees, slot, first, index, complete)
        visits = trees.edges[slot, edge].visits
        if visits > 0:
            value = trees.edges[slot, edge].value_sum / visits
            weight = visits * visit_weight(best - value, selection.backup_value_weighting)
            weights += weight
            total += weight * value
    return total / weights  # type: ignore[no-any-return]
