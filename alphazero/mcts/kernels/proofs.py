"""Proof in the tree: every node holds bounds on its exact value, and what meets is proven.

A finished game's bounds are its value. A node's lower bound is the best that one of its moves
guarantees, its upper bound the best that any may still bring; both come from its children, with
the sign turned. Cazenave & Saffidine, *Score Bounded Monte-Carlo Tree Search* (2010), which
adds draws to the MCTS-Solver of Winands, Björnsson & Saito (2008).
"""

from alphazero.mcts.kernels.tree import Forest
from alphazero.utils.jit import helper


@helper
def is_proven(forest: Forest, slot: int, node: int) -> bool:
    """Whether the node's exact value is known."""
    return bool(forest.nodes[slot, node].lower == forest.nodes[slot, node].upper)


@helper
def loses(forest: Forest, slot: int, edge: int) -> bool:
    """Whether the edge is proven to lose for the player who would choose it."""
    child = forest.edges[slot, edge].child
    return child >= 0 and forest.nodes[slot, child].lower == 1  # type: ignore[no-any-return]


@helper
def node_on_path(forest: Forest, slot: int, leaf: int, ply: int) -> int:
    """Return the node from which a path takes its edge number `ply`."""
    if ply == 0:
        return 0
    return forest.edges[slot, forest.leaf_path[slot, leaf, ply - 1]].child  # type: ignore[no-any-return]


@helper
def prove(forest: Forest, slot: int, leaf: int, depth: int) -> None:
    """Tighten the bounds of the nodes of a path, upwards, as far as they change."""
    for ply in range(depth - 1, -1, -1):
        node = node_on_path(forest, slot, leaf, ply)
        lower, upper = -1, -1
        first = forest.nodes[slot, node].first_edge
        for edge in range(first, first + forest.nodes[slot, node].edge_count):
            child = forest.edges[slot, edge].child
            lower = max(lower, -forest.nodes[slot, child].upper if child >= 0 else -1)
            upper = max(upper, -forest.nodes[slot, child].lower if child >= 0 else 1)
        if lower == forest.nodes[slot, node].lower and upper == forest.nodes[slot, node].upper:
            return
        forest.nodes[slot, node].lower, forest.nodes[slot, node].upper = lower, upper
        if lower == upper:
            forest.nodes[slot, node].value = lower
