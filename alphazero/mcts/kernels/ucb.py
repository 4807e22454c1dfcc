"""Selection without a network: UCB1 or even shares, and the random numbers of a slot.

The equations are in `selection.py`. Each slot draws from a stream of its own, kept in the trees:
what a slot finds depends on its seed alone, not on its neighbours.
"""

import numpy as np

from alphazero.mcts.kernels.equations import SelectionParams, ucb1, ucb1_width, uniform
from alphazero.mcts.kernels.tree import Trees
from alphazero.mcts.rollout_methods import UCB1
from alphazero.utils.jit import inline_kernel


@inline_kernel
def random_below(trees: Trees, slot: int, limit: int) -> int:
    """Return the slot's next random number in [0, `limit`), for a `limit` below 2^32.

    SplitMix64 (Steele, Lea & Flood, OOPSLA 2014); its high 32 bits are scaled, which favours no
    number by more than `limit` / 2^32 (Lemire, *Fast random integer generation in an interval*,
    2019, without its second look).
    """
    bits = trees.slots[slot].random + np.uint64(0x9E3779B97F4A7C15)
    trees.slots[slot].random = bits
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return np.int64(((bits >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))  # type: ignore[return-value]


@inline_kernel
def _visits_through(trees: Trees, slot: int, node: int) -> int:
    """Return how many simulations went on through an edge of `node`."""
    first, total = trees.nodes[slot, node].first_edge, 0
    for edge in range(first, first + trees.nodes[slot, node].edge_count):
        total += trees.edges[slot, edge].visits
    return total


@inline_kernel
def _draw_untried(trees: Trees, slot: int, first: int, untried: int) -> int:
    """Return one of the `untried` edges without visits, from `first` on."""
    skipped, edge = random_below(trees, slot, untried), first
    while True:
        if trees.edges[slot, edge].visits == 0:
            if skipped == 0:
                return edge
            skipped -= 1
        edge += 1


@inline_kernel
def select_ucb(trees: Trees, selection: SelectionParams, slot: int, node: int, through: int) -> int:
    """Return an edge of `node` that was never tried, or else the one with the highest score.

    `through` simulations went on through its edges; no edge got a second one while another had
    none. Chance chooses among equals.
    """
    first, count = trees.nodes[slot, node].first_edge, trees.nodes[slot, node].edge_count
    if node == 0:
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
