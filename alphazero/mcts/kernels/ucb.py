"""Selection without a network, by UCB1 or equal visits; the equations are in `equations.py`."""

import numpy as np

from alphazero.mcts.kernels.equations import SelectionParams, ucb1, ucb1_width, uniform
from alphazero.mcts.kernels.randomness import random_below
from alphazero.mcts.kernels.selection_rules import UCB1
from alphazero.mcts.kernels.tree import Trees
from alphazero.utils.jit import inline_kernel


@inline_kernel
def _visits_through(trees: Trees, slot: int, node: int) -> int:
    first, total = trees.nodes[slot, node].first_edge, 0
    for edge in range(first, first + trees.nodes[slot, node].edge_count):
        total += trees.edges[slot, edge].visits
    return total


@inline_kernel
def _draw_untried(trees: Trees, slot: int, first: int, untried: int) -> int:
    """Return a random one of the `untried` unvisited edges of the block at `first`."""
    skipped, edge = random_below(trees, slot, untried), first
    while True:
        if trees.edges[slot, edge].visits == 0:
            if skipped == 0:
                return edge
            skipped -= 1
        edge += 1


@inline_kernel
def select_ucb(trees: Trees, selection: SelectionParams, slot: int, node: int, through: int) -> int:
    """Return a random unvisited edge of `node`, or else the one with the highest score.

    `through` is the sum of its edges' visits. It is counted here at the root, and in a tree that
    has been full, where a node may be younger than visits of the edge to it. Every edge gets a
    visit before any gets a second one. Ties are broken at random.
    """
    first, count = trees.nodes[slot, node].first_edge, trees.nodes[slot, node].edge_count
    if node == 0 or trees.slots[slot].refused > 0:
        through = _visits_through(trees, slot, node)
    if through < count:
        return _draw_untried(trees, slot, first, count - through)
    width = ucb1_width(1 + through, selection.exploration)
    best, best_score, equals = first, -np.inf, 1
    for edge in range(first, first + count):
        visits = trees.edges[slot, edge].visits
        if selection.rule == UCB1:
            score = ucb1(trees.edges[slot, edge].value_sum, visits, width)
        else:
            score = uniform(visits)
        if score > best_score:
            best, best_score, equals = edge, score, 1
        elif score == best_score:
            equals += 1
            if random_below(trees, slot, equals) == 0:
                best = edge
    return best  # type: ignore[no-any-return]
