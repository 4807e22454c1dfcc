"""PUCT, the selection of AlphaGo Zero."""

import numpy as np

from alphazero.mcts.kernels.edges import create_next, edge_at, is_complete
from alphazero.mcts.kernels.equations import SelectionParams, first_play_value, puct, puct_constant
from alphazero.mcts.kernels.proofs import is_lost
from alphazero.mcts.kernels.tree import Trees
from alphazero.utils.jit import inline_kernel


@inline_kernel
def select_puct(trees: Trees, selection: SelectionParams, slot: int, node: int) -> int:
    """Return the edge with the highest PUCT score.

    Ties go to the higher prior, then to the earlier action: at a node's first visit the
    exploration term is zero, and the prior decides. Pending simulations count as visits without a
    value (Liu et al., *Watch the Unobserved*, ICLR 2020, section 3): they lead the next ones
    elsewhere, and do not distort means. Edges proven to lose are skipped.
    """
    first, count = trees.nodes[slot, node].first_edge, trees.nodes[slot, node].created_count
    complete = is_complete(trees, slot, node)
    total_visits, observed, total_value = 0, 0, 0.0
    for index in range(count):
        edge = edge_at(trees, slot, first, index, complete)
        total_visits += trees.edges[slot, edge].visits + trees.edges[slot, edge].pending
        observed += trees.edges[slot, edge].visits
        total_value += trees.edges[slot, edge].value_sum
    c_puct = puct_constant(total_visits, selection.c_puct, selection.c_puct_base)
    first_play = first_play_value(
        trees.nodes[slot, node].value,
        total_value,
        observed,
        selection.fpu_parent,
        selection.fpu_reduction,
    )
    best, best_score, best_prior = -1, -np.inf, -1.0
    for index in range(count):
        edge = edge_at(trees, slot, first, index, complete)
        if selection.mcts_solver and is_lost(trees, slot, edge):
            continue
        visits = trees.edges[slot, edge].visits + trees.edges[slot, edge].pending
        prior = trees.edges[slot, edge].prior
        if node == 0:
            prior = trees.root_prior[slot, edge - first]
        value = first_play
        if trees.edges[slot, edge].visits > 0:
            value = trees.edges[slot, edge].value_sum / trees.edges[slot, edge].visits
        score = puct(value, prior, visits, total_visits, c_puct)
        if score > best_score or (score == best_score and prior > best_prior):
            best, best_score, best_prior = edge, score, prior
    if not complete:  # lazy edges have one value, so the highest prior has the highest score
        edge = first + trees.nodes[slot, node].next_place
        prior = trees.lazy_priors[slot, edge]
        score = puct(first_play, prior, 0, total_visits, c_puct)
        equal = score == best_score
        if score > best_score or (
            equal and (prior > best_prior or (prior == best_prior and edge < best))
        ):
            best = create_next(trees, slot, node)
    return max(best, first)  # type: ignore[no-any-return]
