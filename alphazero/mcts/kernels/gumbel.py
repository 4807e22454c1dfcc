"""Gumbel search: sequential halving at the root, an improved policy everywhere.

Danihelka, Guez, Schrittwieser & Silver, *Policy improvement by planning with Gumbel* (ICLR 2022).
The equations are in `selection.py`. Pending simulations count as lost visits.

The paper's roots begin without visits. A kept root has some: they enter the completed values and
sigma like any other, and halving counts only the visits of its own search.
"""

import math

import numpy as np

from alphazero.mcts.kernels.equations import Selection, considered_visits, improvement, mixed_value
from alphazero.mcts.kernels.tree import Forest
from alphazero.utils.jit import helper


@helper
def write_improved_logits(forest: Forest, selection: Selection, slot: int, node: int) -> None:
    """Write log P(a) + sigma(completed q(a)) of the node's edges into `forest.policy`, in order.

    The highest is 0. An action without visits has the mixed value (appendix D).
    """
    first, count = forest.nodes[slot, node].first_edge, forest.nodes[slot, node].edge_count
    total, most, visited_prior, visited_value = 0, 0, 0.0, 0.0
    for edge in range(first, first + count):
        visits = forest.edges[slot, edge].visits + forest.edges[slot, edge].pending
        if visits > 0:
            total, most = total + visits, max(most, visits)
            prior, lost = forest.edges[slot, edge].prior, forest.edges[slot, edge].pending
            visited_prior += prior
            visited_value += prior * (forest.edges[slot, edge].value_sum - lost) / visits
    mixed = mixed_value(forest.nodes[slot, node].value, total, visited_prior, visited_value)
    highest = -np.inf
    for index in range(count):
        edge = first + index
        visits = forest.edges[slot, edge].visits + forest.edges[slot, edge].pending
        value = mixed
        if visits > 0:
            value = (forest.edges[slot, edge].value_sum - forest.edges[slot, edge].pending) / visits
        forest.policy[index] = math.log(max(forest.edges[slot, edge].prior, 1e-30)) + improvement(
            value, most, selection.gumbel_visits, selection.gumbel_scale
        )
        highest = max(highest, forest.policy[index])
    for index in range(count):
        forest.policy[index] -= highest


@helper
def best_with_visits(forest: Forest, slot: int, visits: int) -> int:
    """Return the root's edge with the highest Gumbel draw + improved logit of those with `visits`.

    Visits from before the search do not count. `forest.policy` holds the improved logits. The
    first edge, when none has so many visits.
    """
    best, best_score = 0, -np.inf
    for edge in range(forest.nodes[slot, 0].edge_count):
        seen = forest.edges[slot, edge].visits + forest.edges[slot, edge].pending
        if seen - forest.root_kept[slot, edge] == visits:
            score = forest.root_noise[slot, edge] + forest.policy[edge]
            if score > best_score:
                best, best_score = edge, score
    return best


@helper
def select_by_halving(forest: Forest, selection: Selection, slot: int) -> int:
    """Return the root's edge whose turn it is in sequential halving (algorithm 2)."""
    write_improved_logits(forest, selection, slot, 0)
    halved = forest.slots[slot].halved
    actions = min(selection.gumbel_actions, forest.nodes[slot, 0].edge_count)
    return best_with_visits(
        forest, slot, considered_visits(halved - forest.slots[slot].remaining, halved, actions)
    )


@helper
def select_by_improvement(forest: Forest, selection: Selection, slot: int, node: int) -> int:
    """Return the edge with the greatest pi'(a) - N(a) / (1 + sum_b N(b)) (equation 14)."""
    write_improved_logits(forest, selection, slot, node)
    first, count = forest.nodes[slot, node].first_edge, forest.nodes[slot, node].edge_count
    weights, visits = 0.0, 0
    for index in range(count):
        forest.policy[index] = math.exp(forest.policy[index])
        weights += forest.policy[index]
        visits += (
            forest.edges[slot, first + index].visits + forest.edges[slot, first + index].pending
        )
    best, best_score = first, -np.inf
    for index in range(count):
        share = forest.edges[slot, first + index].visits + forest.edges[slot, first + index].pending
        score = forest.policy[index] / weights - share / (1 + visits)
        if score > best_score:
            best, best_score = first + index, score
    return best  # type: ignore[no-any-return]
