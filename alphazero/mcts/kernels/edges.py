"""The edges of a node, which PUCT creates one by one.

PUCT visits the actions of a node in the order of their priors, and most of them never. So a node
with more than `CREATED_AT_ONCE` edges begins with lazy ones: an action and a prior. An edge is
created, as a record of `EDGE`, when it is first selected. Selection then reads the created edges
and the lazy one with the highest prior, and expansion writes a quarter of the memory.

A node is complete if all its edges are created. The root always is: its priors have noise, and
sequential halving selects its actions in any order.
"""

import numpy as np

from alphazero.mcts.kernels.tree import CREATED, Trees
from alphazero.utils.jit import inline_kernel

CREATED_AT_ONCE = 12
"""A node with at most this many edges is complete from the beginning."""


@inline_kernel
def is_complete(trees: Trees, slot: int, node: int) -> bool:
    """Whether all edges of the node are created."""
    return bool(trees.nodes[slot, node].created_count == trees.nodes[slot, node].edge_count)


@inline_kernel
def edge_at(trees: Trees, slot: int, first: int, index: int, complete: bool) -> int:
    """Return the created edge `index`, in the order of actions, of the node with block `first`."""
    return first + (index if complete else trees.created_places[slot, first + index])


@inline_kernel
def init_edge(trees: Trees, slot: int, edge: int, action: int, prior: float) -> None:
    """Reset an edge to zero visits."""
    trees.edges[slot, edge].action = action
    trees.edges[slot, edge].prior = prior
    trees.edges[slot, edge].visits = 0
    trees.edges[slot, edge].pending = 0
    trees.edges[slot, edge].value_sum = 0.0
    trees.edges[slot, edge].child = -1


@inline_kernel
def begins_lazy(trees: Trees, node: int, count: int) -> bool:
    """Whether the `count` edges of a new node are lazy."""
    return node > 0 and count > CREATED_AT_ONCE and trees.lazy_priors.shape[1] > 0


@inline_kernel
def add_edge(trees: Trees, slot: int, edge: int, action: int, prior: float, lazy: bool) -> None:
    """Write an edge of a new node; call `make_lazy` after the last lazy one."""
    if lazy:
        trees.lazy_actions[slot, edge], trees.lazy_priors[slot, edge] = action, prior
    else:
        init_edge(trees, slot, edge, action, prior)


@inline_kernel
def make_lazy(trees: Trees, slot: int, node: int) -> None:
    """Mark all edges of a node as lazy."""
    trees.nodes[slot, node].created_count = 0
    _find_next(trees, slot, node)


@inline_kernel
def _find_next(trees: Trees, slot: int, node: int) -> None:
    """Find the lazy edge with the highest prior, the earliest of equal ones."""
    first, highest, place = trees.nodes[slot, node].first_edge, np.float32(-1), 0
    for index in range(trees.nodes[slot, node].edge_count):
        prior = trees.lazy_priors[slot, first + index]
        if prior > highest:
            highest, place = prior, index
    trees.nodes[slot, node].next_place = place


@inline_kernel
def create_next(trees: Trees, slot: int, node: int) -> int:
    """Create the lazy edge with the highest prior; return it."""
    first, index = trees.nodes[slot, node].first_edge, trees.nodes[slot, node].created_count
    place = trees.nodes[slot, node].next_place
    edge = first + place
    init_edge(trees, slot, edge, trees.lazy_actions[slot, edge], trees.lazy_priors[slot, edge])
    trees.lazy_priors[slot, edge] = CREATED
    trees.nodes[slot, node].created_count = index + 1
    while index > 0 and trees.created_places[slot, first + index - 1] > place:
        trees.created_places[slot, first + index] = trees.created_places[slot, first + index - 1]
        index -= 1
    trees.created_places[slot, first + index] = place
    _find_next(trees, slot, node)
    return edge  # type: ignore[no-any-return]
