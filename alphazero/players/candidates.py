"""A search's result for each move of a position."""

from typing import Final, NamedTuple

import numpy as np

from alphazero.mcts.search import RootStatistics, TreeSearch
from alphazero.utils.arrays import Float64Array, Int64Array

LONGEST_LINE: Final = 16
"""Maximum moves of a line."""

ALL_LINES: Final = 10**9


class Candidate(NamedTuple):
    """A search's result for one move."""

    action: int
    visits: int
    value: float
    """mean, in [-1, 1], for the player to move; the position's value if unvisited"""
    prior: float
    line: list[int]
    """most visited line, starting with the move"""


def candidates_of(
    search: TreeSearch,
    slot: int,
    roots: RootStatistics,
    legal: Int64Array,
    priors: Float64Array,
    lines: int = ALL_LINES,
) -> list[Candidate]:
    """Return the result for each of the moves `legal` [n] in `slot`, best first.

    `roots` are the statistics of this slot alone, and `priors` [A] those of its moves. The first
    `lines` candidates get a principal variation; others hold only their move.
    """
    order = np.lexsort((-priors[legal], -roots.visits[0, legal]))
    order = order[np.argsort(-roots.move_policies[0, legal[order]], kind="stable")]
    values = np.where(roots.visits[0] > 0, roots.action_values[0], roots.values[0])
    return [
        Candidate(
            action,
            int(roots.visits[0, action]),
            float(values[action]),
            float(priors[action]),
            search.principal_variation(slot, action, LONGEST_LINE)
            if place < lines and roots.visits[0, action]
            else [action],
        )
        for place, action in enumerate(map(int, legal[order]))
    ]
