"""The MCTS solver: bounds on each node's exact value; a node is solved when they meet.

Both bounds of a finished game are its value. A node's lower and upper bounds are the maxima, over
its moves, of the children's negated upper and lower bounds. Cazenave & Saffidine, *Score Bounded
Monte-Carlo Tree Search* (2010), adds draws to the MCTS-Solver of Winands, Björnsson & Saito (2008).
"""

from alphazero.mcts.kernels.edges import edge_at, is_complete
from alphazero.mcts.kernels.tree import Trees
from alphazero.utils.jit import inline_kernel


@inline_kernel
def is_solved(trees: Trees, slot: int, node: int) -> bool:
    """Whether the node is solved: its exact value is known."""
    return bool(trees.nodes[slot, node].lower == trees.nodes[slot, node].upper)


@inline_kernel
def is_lost(trees: Trees, slot: int, edge: int) -> bool:
    """Whether the edge is proven to lose for the player who chooses it."""
    child = trees.edges[slot, edge].child
    return child >= 0 and trees.nodes[slot, child].lower == 1  # type: ignore[no-any-return]


@inline_kernel
def node_on_path(trees: Trees, slot: int, leaf: int, ply: int) -> int:
    """Return the parent node of edge `ply` of the leaf's path."""
    if ply == 0:
        return 0
    return trees.edges[slot, trees.leaf_path[slot, leaf, ply - 1]].child  # type: ignore[no-any-return]


@inline_kernel
def update_bounds(trees: Trees, slot: int, node: int) -> bool:
    """Update the bounds of an expanded node from its children; return whether they changed."""
    first, complete = trees.nodes[slot, node].first_edge, is_complete(trees, slot, node)
    lower, upper = -1, -1 if complete else 1
    for index in range(trees.nodes[slot, node].created_count):
        child = trees.edges[slot, edge_at(trees, slot, first, index, complete)].child
        lower = max(lower, -trees.nodes[slot, child].upper if child >= 0 else -1)
        upper = max(upper, -trees.nodes[slot, child].lower if child >= 0 else 1)
    if lower == trees.nodes[slot, node].lower and upper == trees.nodes[slot, node].upper:
        return False
    trees.nodes[slot, node].lower, trees.nodes[slot, node].upper = lower, upper
    if lower == upper:
        trees.nodes[slot, node].value = lower
    return True


@inline_kernel
def backup_bounds(trees: Trees, slot: int, leaf: int, depth: int) -> None:
    """Update the bounds of the path's nodes from the leaf upwards, until one does not change."""
    for ply in range(depth - 1, -1, -1):
        if not update_bounds(trees, slot, node_on_path(trees, slot, leaf, ply)):
            return
