"""Squares, lines and actions of chess on boards of 5 x 5, 6 x 6 and 8 x 8.

A square is 8 * rank + file on every board, so that one set of tables serves all sizes; ranks count
from the side of the player to move. What lies outside a smaller board is a wall. A set of squares
is a 64-bit number whose bit s is square s.
"""

from typing import Final, NamedTuple

import numpy as np

Bits = np.uint64
"""A set of squares. Kernels combine it only with its own type, else numba converts to floats."""

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(1, 7)
KINDS: Final = "PNBRQK"
SIZES: Final = (5, 6, 8)
"""Kernels find the place of a size here by (size - 4) // 2."""

_KNIGHT_STEPS: Final = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
_LINE_STEPS: Final = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
"""Steps (file, rank), clockwise from straight ahead."""


def _steps(square: int, steps: tuple[tuple[int, int], ...], most: int = 1) -> list[list[int]]:
    """Return the squares reached by up to `most` of each of `steps`, on 8 x 8."""
    rank, file = divmod(square, 8)
    lines = []
    for right, up in steps:
        line = []
        for count in range(1, most + 1):
            column, row = file + count * right, rank + count * up
            if 0 <= column < 8 and 0 <= row < 8:
                line.append(8 * row + column)
        lines.append(line)
    return lines


def _bits(squares: list[int]) -> int:
    return sum(1 << square for square in squares)


def _targets(steps: tuple[tuple[int, int], ...], most: int = 1) -> np.ndarray:
    """Return the squares reached from each square, uint64 [64]."""
    lines = (_steps(square, steps, most) for square in range(64))
    return np.array([sum(map(_bits, ways)) for ways in lines], Bits)


BOARD = np.array([_bits([8 * r + f for r in range(n) for f in range(n)]) for n in SIZES], Bits)
"""uint64 [3]: the squares of each size."""
LAST_RANK = np.array([_bits([8 * (n - 1) + f for f in range(n)]) for n in SIZES], Bits)
THIRD_RANK = Bits(_bits(list(range(16, 24))))
LIGHT = Bits(_bits([s for s in range(64) if (s // 8 + s) % 2]))
NOT_FIRST_FILE = Bits(_bits([s for s in range(64) if s % 8 != 0]))
NOT_LAST_FILE = Bits(_bits([s for s in range(64) if s % 8 != 7]))

KNIGHT_TARGETS = _targets(_KNIGHT_STEPS)
KING_TARGETS = _targets(_LINE_STEPS)
PAWN_TARGETS = _targets(((-1, 1), (1, 1)))
"""uint64 [64]: where a pawn of the player to move takes from each square; from there opponent's
pawns attack it."""

FILE_LINE = _targets(((0, 1), (0, -1)), 7)
RISING_LINE = _targets(((1, 1), (-1, -1)), 7)
FALLING_LINE = _targets(((1, -1), (-1, 1)), 7)
"""uint64 [64] each: the rest of the line through each square."""


def _rank_targets() -> np.ndarray:
    """Return uint8 [8, 64]: targets along a rank by file and by its six inner squares."""
    table = np.zeros((8, 64), np.uint8)
    for file in range(8):
        for inner in range(64):
            for line in _steps(file, ((1, 0), (-1, 0)), 7):
                for square in line:
                    table[file, inner] |= 1 << square
                    if inner << 1 >> square & 1:
                        break
    return table


RANK_TARGETS = _rank_targets()


def _between_and_lines() -> tuple[np.ndarray, np.ndarray]:
    """Return uint64 [64, 64] each: the squares between two on a line, and their whole line."""
    between, lines = np.zeros((64, 64), Bits), np.zeros((64, 64), Bits)
    for one in range(64):
        ways = _steps(one, _LINE_STEPS, 7)
        for number, way in enumerate(ways):
            line = _bits([one, *way, *ways[(number + 4) % 8]])
            for place, other in enumerate(way):
                between[one, other], lines[one, other] = _bits(way[:place]), line
    return between, lines


BETWEEN, LINES = _between_and_lines()


PROMOTIONS: Final = {5: (KNIGHT, BISHOP, ROOK), 6: (KNIGHT, ROOK), 8: (KNIGHT, BISHOP, ROOK)}
"""What a pawn may become besides a queen, by size; Los Alamos chess has no bishops."""


class Actions(NamedTuple):
    """The actions of a size, as lists by action, seen by the player to move.

    First all moves of a queen or a knight, by source and target; a pawn that reaches the last rank
    so becomes a queen. Then the pawn moves that promote to less. As planes over the cells they are
    those of AlphaZero (Silver et al. 2018, *Science* 362, supplement, table S2): 8 directions x
    distances, 8 moves of a knight, 3 ways of a pawn x kinds. Moves beyond the board are left out,
    which leaves 1,858 of 73 x 64 on 8 x 8.
    """

    sources: list[int]
    targets: list[int]
    promotions: list[int]
    """the kind that a pawn becomes; 0 for a queen, and for all other moves"""
    places: list[int]
    """in planes x cells, counted row by row from the top"""


def _actions(size: int) -> Actions:
    actions = Actions([], [], [], [])

    def add(source: int, target: int, plane: int, promotion: int = 0) -> None:
        rank, file = divmod(source, 8)
        row = (plane * size + size - 1 - rank) * size + file
        for items, item in zip(actions, (source, target, promotion, row), strict=True):
            items.append(item)

    board = [8 * rank + file for rank in range(size) for file in range(size)]
    kinds = PROMOTIONS[size]
    knights = 8 * (size - 1)
    for source in board:
        moves = {}
        for direction, line in enumerate(_steps(source, _LINE_STEPS, size - 1)):
            for distance, target in enumerate(line):
                moves[target] = direction * (size - 1) + distance
        for number, line in enumerate(_steps(source, _KNIGHT_STEPS)):
            moves |= dict.fromkeys(line, knights + number)
        for target in sorted(moves.keys() & set(board)):
            add(source, target, moves[target])
    for source in board[-2 * size : -size]:
        for side in (-1, 0, 1):
            if 0 <= source % 8 + side < size:
                for number, kind in enumerate(kinds):
                    plane = knights + 8 + (side + 1) * len(kinds) + number
                    add(source, source + 8 + side, plane, kind)
    return actions


ACTIONS: Final = {size: _actions(size) for size in SIZES}


NUM_ACTIONS = np.array([len(actions.sources) for actions in ACTIONS.values()])


def _padded(field: str) -> np.ndarray:
    """Return a field of the actions of every size, int16 [3, A of 8 x 8]."""
    table = np.zeros((len(SIZES), len(ACTIONS[8].sources)), np.int16)
    for index, actions in enumerate(ACTIONS.values()):
        values = getattr(actions, field)
        table[index, : len(values)] = values
    return table


SOURCES, TARGETS, PROMOTED = map(_padded, ("sources", "targets", "promotions"))


def _numbers() -> tuple[np.ndarray, np.ndarray]:
    """Return the actions by source and target, [3, 64, 64]: plain ones, first promotions.

    They are uint16, for kernels look for negative numbers in signed ones.
    """
    plain, first = (np.zeros((len(SIZES), 64, 64), np.uint16) for _ in range(2))
    for index, (sources, targets, promotions, _) in enumerate(ACTIONS.values()):
        for action in reversed(range(len(sources))):
            table = first if promotions[action] else plain
            table[index, sources[action], targets[action]] = action
    return plain, first


PLAIN_ACTION, FIRST_PROMOTION = _numbers()
NUM_PROMOTIONS = np.array([len(PROMOTIONS[size]) for size in SIZES])
