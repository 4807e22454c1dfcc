"""Eight queens by tree search: how pruning makes it fast.

Place n queens on an n x n board so that none attacks another. A tree of placements has one branch
per square and one level per queen: 64⁸, near 3 · 10¹⁴, for the usual board. Each constraint
narrows it: one queen per row leaves 8⁸ = 16,777,216; one per column as well leaves 8! = 40,320;
and pruning a branch as soon as two queens attack each other leaves 2,056 placements in all, and
the 92 solutions. Chess and Go are too wide and too deep for exact pruning: there a policy cuts the
width, and a value the depth.
"""

import math
from dataclasses import dataclass

from alphazero.foundations.common import Progress, check_number

MOST_QUEENS = 12
"""More would take minutes."""


@dataclass(frozen=True)
class Search:
    """The result of a search."""

    visited: tuple[int, ...]
    """placements of 1, 2, … n queens"""
    solutions: tuple[tuple[int, ...], ...]
    """the column of the queen in each row"""


def search(queens: int, show: Progress | None = None) -> Search:
    """Search for placements of 1 to 12 queens, depth first, by row, columns from left to right.

    Columns and diagonals are checked at every placement. Shows each finished square of the first
    row.
    """
    check_number("queens", queens, 1, MOST_QUEENS)
    visited = [0] * queens
    solutions: list[tuple[int, ...]] = []
    columns: list[int] = []

    def place_next() -> None:
        row = len(columns)
        if row == queens:
            solutions.append(tuple(columns))
            return
        for column in range(queens):
            if column not in columns and not attacked(columns, column):
                visited[row] += 1
                columns.append(column)
                place_next()
                columns.pop()
            if row == 0 and show:
                show(1)

    place_next()
    return Search(tuple(visited), tuple(solutions))


def attacked(columns: list[int], column: int) -> bool:
    """Whether a queen in the next row would share a diagonal with an earlier one."""
    row = len(columns)
    return any(abs(column - other) == row - above for above, other in enumerate(columns))


def widths(queens: int, pruned: Search) -> dict[str, list[int]]:
    """Return the numbers of placements of 1, 2, … n queens under each constraint."""
    depths = range(1, queens + 1)
    return {
        "any square": [queens ** (2 * depth) for depth in depths],
        "one queen a row": [queens**depth for depth in depths],
        "one a row and a column": [math.perm(queens, depth) for depth in depths],
        "cut where queens attack": list(pruned.visited),
    }
