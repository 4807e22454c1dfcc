"""Gumbel search: sequential halving at the root, the improved policy below it.

Danihelka, Guez, Schrittwieser & Silver, *Policy improvement by planning with Gumbel* (ICLR 2022).
The equations are in `equations.py`. Pending simulations count as visits without a value.

The paper's roots begin without visits. The visits of a kept root enter the completed values and
sigma, but halving counts only those of its own search.
"""

import math

import numpy as np

from alphazero.mcts.kernels.equations import SelectionParams, considered_visits, mixed_value, sigma
from alphazero.mcts.kernels.tree import Trees
from alphazero.utils.jit import inline_kernel


@inline_kernel
def completed_q_logits(trees: Trees, selection: SelectionParams, slot: int, node: int) -> None:
    """Write log P(a) + sigma(completed q(a)) of the node's edges into `trees.policy`.

    They are shifted so that the maximum is 0. Unvisited actions have the mixed value (appendix D).
    """
    first, count = trees.nodes[slot, node].first_edge, trees.nodes[slot, node].edge_count
    total, most, visited_prior, visited_value = 0, 0, 0.0, 0.0
    for edge in range(first, first + count):
        visits = trees.edges[slot, edge].visits
        if visits > 0:
            total, most = total + visits, max(most, visits)
            prior = trees.edges[slot, edge].prior
            visited_prior += prior
            visited_value += prior * trees.edges[slot, edge].value_sum / visits
    mixed = mixed_value(trees.nodes[slot, node].value, total, visited_prior, visited_value)
    highest = -np.inf
    for index in range(count):
        edge = first + index
        value = mixed
        if trees.edges[slot, edge].visits > 0:
            value = trees.edges[slot, edge].value_sum / trees.edges[slot, edge].visits
        scaled = sigma(value, most, selection.gumbel_value_scale)
        trees.policy[index] = math.log(max(trees.edges[slot, edge].prior, 1e-30)) + scaled
        highest = max(highest, trees.policy[index])
    for index in range(count):
        trees.policy[index] -= highest


@inline_kernel
def best_with_visits(trees: Trees, slot: int, visits: int) -> int:
    """Return the root edge with the highest Gumbel draw + improved logit among those at `visits`.

    Visits before this search do not count. `trees.policy` holds the improved logits. Returns the
    first edge if none has `visits` visits.
    """
    best, best_score = 0, -np.inf
    for edge in range(trees.nodes[slot, 0].edge_count):
        visited = trees.edges[slot, edge].visits + trees.edges[slot, edge].pending
        if visited - trees.root_kept[slot, edge] == visits:
            score = trees.root_noise[slot, edge] + trees.policy[edge]
            if score > best_score:
                best, best_score = edge, score
    return best


@inline_kernel
def select_sequential_halving(trees: Trees, selection: SelectionParams, slot: int) -> int:
    """Return the root edge that sequential halving selects (algorithm 2)."""
    completed_q_logits(trees, selection, slot, 0)
    budget = trees.slots[slot].halving_budget
    actions = min(selection.gumbel_max_considered_actions, trees.nodes[slot, 0].edge_count)
    return best_with_visits(
        trees, slot, considered_visits(budget - trees.slots[slot].remaining, budget, actions)
    )


@inline_kernel
def select_improved_policy(trees: Trees, selection: SelectionParams, slot: int, node: int) -> int:
    """Return the edge with the greatest pi'(a) - N(a) / (1 + sum_b N(b)) (equation 14)."""
    completed_q_logits(trees, selection, slot, node)
    first, count = trees.nodes[slot, node].first_edge, trees.nodes[slot, node].edge_count
    weights, visits = 0.0, 0
    for index in range(count):
        trees.policy[index] = math.exp(trees.policy[index])
        weights += trees.policy[index]
        visits += trees.edges[slot, first + index].visits + trees.edges[slot, first + index].pending
    best, best_score = first, -np.inf
    for index in range(count):
        share = trees.edges[slot, first + index].visits + trees.edges[slot, first + index].pending
        score = trees.policy[index] / weights - share / (1 + visits)
        if score > best_score:
            best, best_score = first + index, score
    return best  # type: ignore[no-any-return]
