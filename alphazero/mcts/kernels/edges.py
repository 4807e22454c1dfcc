"""The edges of a node, which PUCT opens one by one.

PUCT visits the actions of a node in the order of their priors, and most of them never. So a node
with more than `OPEN_AT_ONCE` edges begins with closed ones: an action and a prior. An edge is
opened, as a record of `EDGE`, when it is first selected. Selection then reads the opened edges and
the closed one with the highest prior, and expansion writes a quarter of the memory.

A node is complete if all its edges are open. The root always is: its priors have noise, and
sequential halving selects its actions in any order.
"""

import numpy as np

from alphazero.mcts.kernels.tree import OPEN, Trees
from alphazero.utils.jit import inline_kernel

OPEN_AT_ONCE = 12
"""A node with at most so many edges is complete from the beginning."""


@inline_kernel
def has_margins(trees: Trees) -> bool:
    """Whether `outcome_values` and `outcome_sums` are kept beside the utilities."""
    return trees.outcome_values.shape[1] > 0  # type: ignore[no-any-return]


@inline_kernel
def is_complete(trees: Trees, slot: int, node: int) -> bool:
    """Whether all edges of the node are open."""
    return bool(trees.nodes[slot, node].open_count == trees.nodes[slot, node].edge_count)


@inline_kernel
def edge_at(trees: Trees, slot: int, first: int, index: int, complete: bool) -> int:
    """Return the open edge `index`, in the order of actions, of the node with block `first`."""
    return first + (index if complete else trees.open_places[slot, first + index])


@inline_kernel
def init_edge(trees: Trees, slot: int, edge: int, action: int, prior: float) -> None:
    """Reset an edge to zero visits."""
    trees.edges[slot, edge].action = action
    trees.edges[slot, edge].prior = prior
    trees.edges[slot, edge].visits = 0
    trees.edges[slot, edge].pending = 0
    trees.edges[slot, edge].value_sum = 0.0
    if has_margins(trees):
        trees.outcome_sums[slot, edge] = 0.0
    trees.edges[slot, edge].child = -1


@inline_kernel
def begins_closed(trees: Trees, node: int, count: int) -> bool:
    """Whether the `count` edges of a new node are closed."""
    return node > 0 and count > OPEN_AT_ONCE and trees.closed_priors.shape[1] > 0


@inline_kernel
def add_edge(trees: Trees, slot: int, edge: int, action: int, prior: float, closed: bool) -> None:
    """Write an edge of a new node; after `closed` ones follows `close_node`."""
    if closed:
        trees.closed_actions[slot, edge], trees.closed_priors[slot, edge] = action, prior
    else:
        init_edge(trees, slot, edge, action, prior)


@inline_kernel
def close_node(trees: Trees, slot: int, node: int) -> None:
    """Say that all edges of a node are closed."""
    trees.nodes[slot, node].open_count = 0
    _find_next(trees, slot, node)


@inline_kernel
def _find_next(trees: Trees, slot: int, node: int) -> None:
    """Find the closed edge with the highest prior, the earliest of equal ones."""
    first, highest, place = trees.nodes[slot, node].first_edge, np.float32(-1), 0
    for index in range(trees.nodes[slot, node].edge_count):
        prior = trees.closed_priors[slot, first + index]
        if prior > highest:
            highest, place = prior, index
    trees.nodes[slot, node].next_place = place


@inline_kernel
def open_next(trees: Trees, slot: int, node: int) -> int:
    """Open the closed edge with the highest prior; return it."""
    first, index = trees.nodes[slot, node].first_edge, trees.nodes[slot, node].open_count
    place = trees.nodes[slot, node].next_place
    edge = first + place
    init_edge(trees, slot, edge, trees.closed_actions[slot, edge], trees.closed_priors[slot, edge])
    trees.closed_priors[slot, edge] = OPEN
    trees.nodes[slot, node].open_count = index + 1
    while index > 0 and trees.open_places[slot, first + index - 1] > place:
        trees.open_places[slot, first + index] = trees.open_places[slot, first + index - 1]
        index -= 1
    trees.open_places[slot, first + index] = place
    _find_next(trees, slot, node)
    return edge  # type: ignore[no-any-return]
