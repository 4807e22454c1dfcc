"""A graph in place of a tree: a position that several orders of moves reach has one node.

Walks count on the edges that they take, and an edge's value is what all walks to its node have
found, whichever way they came: Czech, Korus & Kersting, *Improving AlphaZero Using Monte-Carlo
Graph Search* (ICAPS 2021), with means that are computed anew on the way back, from a node's edges
and their own visits, as in KataGo (docs/GraphSearch.md).

Two positions are one where their states are the same, so a game whose past counts, and is in its
state, keeps a tree. A game never comes back to a state, since the ply is part of it.
"""

import numpy as np

from alphazero.mcts.kernels.equations import Selection, relative_weight
from alphazero.mcts.kernels.proofs import is_proven
from alphazero.mcts.kernels.tree import Forest
from alphazero.utils.jit import helper


@helper
def is_graph(forest: Forest) -> bool:
    """Whether several edges may lead to one node."""
    return forest.table.shape[1] > 0  # type: ignore[no-any-return]


@helper
def key_of_state(forest: Forest, selection: Selection) -> int:
    """Return a hash of `forest.state`, mixed as in `cache.py`; 0, which says none, is no loss."""
    key = np.uint64(0x9E3779B97F4A7C15)
    for index in range(len(forest.state)):
        if index != selection.unseen:
            key = (key ^ np.uint64(forest.state[index])) * np.uint64(0xBF58476D1CE4E5B9)
            key ^= key >> np.uint64(29)
    return key  # type: ignore[return-value]


@helper
def find_node(forest: Forest, slot: int, key: int) -> int:
    """Return the node of the position with this key, or -1."""
    last = forest.table.shape[1] - 1
    place = np.int64(key & np.uint64(last))
    while forest.table[slot, place] > 0:
        node = forest.table[slot, place] - 1
        if forest.nodes[slot, node].key == key:
            return node  # type: ignore[no-any-return]
        place = (place + 1) & last
    return -1


@helper
def enter_node(forest: Forest, slot: int, node: int) -> None:
    """Let a node of a graph be found by its key, if it has one."""
    key, last = forest.nodes[slot, node].key, forest.table.shape[1] - 1
    if last < 0 or key == 0:
        return
    place = np.int64(key & np.uint64(last))
    while forest.table[slot, place] > 0:
        place = (place + 1) & last
    forest.table[slot, place] = node + 1


@helper
def enter_all(forest: Forest, slot: int) -> None:
    """Let all nodes of a graph be found by their keys, and nothing else."""
    for place in range(forest.table.shape[1]):
        forest.table[slot, place] = 0
    for node in range(forest.slots[slot].num_nodes if is_graph(forest) else 0):
        enter_node(forest, slot, node)


@helper
def mean_value(forest: Forest, selection: Selection, slot: int, node: int) -> float:
    """Return the node's value, for its player to move: the mean of its evaluation and its edges.

    An edge weighs as much as it has visits, or less, the worse it is than the best of them.
    """
    if selection.solver and is_proven(forest, slot, node):
        return forest.nodes[slot, node].value  # type: ignore[no-any-return]
    first = forest.nodes[slot, node].first_edge
    last = first + forest.nodes[slot, node].edge_count
    best = -np.inf
    for edge in range(first, last):
        visits = forest.edges[slot, edge].visits
        if visits > 0:
            best = max(best, forest.edges[slot, edge].value_sum / visits)
    weights, total = 1.0, forest.nodes[slot, node].value
    for edge in range(first, last):
        visits = forest.edges[slot, edge].visits
        if visits > 0:
            value = forest.edges[slot, edge].value_sum / visits
            weight = visits * relative_weight(best - value, selection.value_weighting)
            weights += weight
            total += weight * value
    return total / weights  # type: ignore[no-any-return]
