"""An exact solver for Connect Four with bitboards.

Pons, *Solving Connect 4: how to build a perfect AI* (blog.gamesolver.org, 2015-2019): bitboards,
moves that do not lose at once, ordering by the threats that a move makes, a transposition table of
bounds, null windows on the score. The bitboards are from Tromp's Fhourstones.

A cell is a bit, column by column from the bottom. One bit above each column stays empty, so that no
line continues from one column's top at the next one's bottom. On the 6 x 7 board:

    6 13 20 27 34 41 48     the empty row
    5 12 19 26 33 40 47
    . . .
    0  7 14 21 28 35 42

`stones` are those of the player to move, `occupied` all stones. A *score* is Pons's: positive when
the player to move wins, 0 for a draw. Its absolute value is one more than the number of stones that
the winner has left at the end. Letters: D frames, W columns, N entries of the table.
"""

from collections.abc import Generator
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from alphazero.utils.arrays import Int64Array
from alphazero.utils.bits import count_bits
from alphazero.utils.jit import inline_kernel, kernel, shared_kernel

LARGEST_BOARD = 62
"""Bits of the largest board, with the empty row: all arithmetic stays positive in an int64."""

TABLE_ENTRIES = 8_388_593
"""A prime just below 2^23: 64 MiB; a short search touches little of it."""

SLICE = 100_000
"""Positions searched between two yields: some hundredths of a second."""

_FRAME = "stones", "occupied", "alpha", "beta", "result", "count", "cursor"
FRAME = np.dtype([(name, np.int64) for name in _FRAME])
"""A position on the stack; `count` moves to search, of which `cursor` are done."""

LOWER_BOUND = 128
"""Flag of a stored lower bound; other scores are upper bounds."""
OFFSET = 64
"""Added to stored scores, which makes them positive."""


class SolverArrays(NamedTuple):
    """The arrays of a solver; only kernels write to them, except the first frame and `counters`."""

    frames: npt.NDArray[Any]
    """[D] of FRAME"""
    moves: Int64Array
    """[D, W] moves as bits, the most promising first"""
    order_scores: Int64Array
    """[W] scratch"""
    table: Int64Array
    """[N] transposition table: 0, or the quotient of key / N and a bound in the lowest byte; the
    remainder is the index, so an entry identifies its position exactly"""
    order: Int64Array
    """[W] the columns, from the middle outwards"""
    counters: Int64Array
    """[7]: the entries below"""


TOP, NODES, FIRST_PLY, CELLS, HEIGHT, BOTTOM, BOARD = range(7)
"""The current frame, the positions searched, the first frame's ply; then constants of the board:
the number of cells, the bits per column, the bits of the lowest cells and of all cells."""

_ints = types.int64[::1]
SolverArraysType = types.NamedTuple(
    [numba.from_dtype(FRAME)[::1], types.int64[:, ::1], *(_ints,) * 4], SolverArrays
)


@shared_kernel
def winning_cells(stones: int, occupied: int, height: int, board: int) -> int:
    """Return the free cells that complete a line of four `stones`, reachable or not.

    `height` is the number of bits of a column with the empty one, `board` the bits of all cells.
    """
    found = (stones << 1) & (stones << 2) & (stones << 3)
    for step in (height - 1, height, height + 1):
        pair = (stones << step) & (stones << 2 * step)
        found |= pair & ((stones << 3 * step) | (stones >> step))
        pair = (stones >> step) & (stones >> 2 * step)
        found |= pair & ((stones >> 3 * step) | (stones << step))
    return found & (board ^ occupied)


@inline_kernel
def _store(arrays: SolverArrays, frame: Any, score: int, kind: int) -> None:
    key = frame.stones + frame.occupied
    arrays.table[key % TABLE_ENTRIES] = (key // TABLE_ENTRIES) << 8 | kind | (score + OFFSET)


@inline_kernel
def _enter(
    arrays: SolverArrays, level: int, stones: int, occupied: int, alpha: int, beta: int
) -> bool:
    """Enter a position where no move wins at once; return whether its moves must be searched.

    If not, `result` holds its score, or a bound outside the window.
    """
    frame, counters = arrays.frames[level], arrays.counters
    cells, height, board = counters[CELLS], counters[HEIGHT], counters[BOARD]
    left = cells - counters[FIRST_PLY] - level
    threats = winning_cells(occupied ^ stones, occupied, height, board)
    possible = (occupied + counters[BOTTOM]) & board
    forced = possible & threats
    if forced:
        possible = forced if forced & (forced - 1) == 0 else 0
    possible &= ~(threats >> 1)  # below a cell where the opponent would win
    if possible == 0:
        frame.result = -(left // 2)
        return False
    if left <= 2:
        frame.result = 0
        return False
    alpha, beta = max(alpha, -((left - 2) // 2)), min(beta, (left - 1) // 2)
    key = stones + occupied
    entry = arrays.table[key % TABLE_ENTRIES]
    if entry != 0 and entry >> 8 == key // TABLE_ENTRIES:
        score = (entry & (LOWER_BOUND - 1)) - OFFSET
        if entry & LOWER_BOUND:
            alpha = max(alpha, score)
        else:
            beta = min(beta, score)
    if alpha >= beta:
        frame.result = beta
        return False
    frame.stones, frame.occupied = stones, occupied
    frame.alpha, frame.beta = alpha, beta
    count = 0
    for column in arrays.order:
        move = possible & (((1 << (height - 1)) - 1) << (column * height))
        if move:
            order_score = count_bits(winning_cells(stones | move, occupied | move, height, board))
            index = count
            while index > 0 and arrays.order_scores[index - 1] < order_score:
                arrays.moves[level, index] = arrays.moves[level, index - 1]
                arrays.order_scores[index] = arrays.order_scores[index - 1]
                index -= 1
            arrays.moves[level, index], arrays.order_scores[index] = move, order_score
            count += 1
    frame.count, frame.cursor = count, 0
    return True


@kernel(types.boolean(SolverArraysType, types.int64, types.int64))
def begin(arrays: SolverArrays, alpha: int, beta: int) -> bool:
    """Enter the position in the first frame; return whether its moves must be searched."""
    arrays.counters[TOP] = 0
    return _enter(arrays, 0, arrays.frames[0].stones, arrays.frames[0].occupied, alpha, beta)


@kernel(types.boolean(SolverArraysType, types.int64))
def run(arrays: SolverArrays, nodes: int) -> bool:
    """Search up to `nodes` more positions; return whether the search is over."""
    counters = arrays.counters
    last = counters[NODES] + nodes
    while counters[NODES] < last:
        top = counters[TOP]
        frame = arrays.frames[top]
        if frame.alpha < frame.beta and frame.cursor < frame.count:
            move = arrays.moves[top, frame.cursor]
            frame.cursor += 1
            counters[NODES] += 1
            stones, occupied = frame.occupied ^ frame.stones, frame.occupied | move
            if _enter(arrays, top + 1, stones, occupied, -frame.beta, -frame.alpha):
                counters[TOP] += 1
            else:
                frame.alpha = max(frame.alpha, -arrays.frames[top + 1].result)
        else:
            frame.result = frame.alpha
            _store(arrays, frame, frame.result, LOWER_BOUND if frame.alpha >= frame.beta else 0)
            if top == 0:
                return True
            counters[TOP] -= 1
            parent = arrays.frames[top - 1]
            parent.alpha = max(parent.alpha, -frame.result)
    return False


Search = Generator[None, None, int]
"""A search that yields between slices and returns a score. A new search invalidates the old one."""


class BitboardSolver:
    """Scores positions of one board size; its table serves later positions too."""

    def __init__(self, rows: int, columns: int) -> None:
        assert fits(rows, columns), f"{rows} x {columns} does not fit {LARGEST_BOARD} bits"
        self.cells = rows * columns
        self._height = rows + 1
        bottom = sum(1 << column * self._height for column in range(columns))
        self._board = bottom * ((1 << rows) - 1)
        middle = sorted(range(columns), key=lambda column: abs(2 * column - columns + 1))
        self._arrays = SolverArrays(
            np.zeros(self.cells + 1, FRAME),
            np.zeros((self.cells + 1, columns), np.int64),
            np.zeros(columns, np.int64),
            np.zeros(TABLE_ENTRIES, np.int64),
            np.array(middle, np.int64),
            np.array([0, 0, 0, self.cells, self._height, bottom, self._board]),
        )

    @property
    def nodes(self) -> int:
        return int(self._arrays.counters[NODES])

    def search(self, stones: int, occupied: int, alpha: int, beta: int) -> Search:
        """Return the score of an unfinished position if it lies between alpha and beta.

        A result <= alpha is an upper bound of the score, one >= beta a lower bound.
        """
        left = self.cells - occupied.bit_count()
        possible = (occupied + int(self._arrays.counters[BOTTOM])) & self._board
        if winning_cells(stones, occupied, self._height, self._board) & possible:
            return (left + 1) // 2
        frame = self._arrays.frames[0]
        frame["stones"], frame["occupied"] = stones, occupied
        self._arrays.counters[FIRST_PLY] = self.cells - left
        if begin(self._arrays, alpha, beta):
            while not run(self._arrays, SLICE):
                yield
        return int(frame["result"])

    def score(self, stones: int, occupied: int) -> Search:
        """Return the score of an unfinished position."""
        left = self.cells - occupied.bit_count()
        low, high = -(left // 2), (left + 1) // 2
        while low < high:
            # Early wins and losses are cheaper to rule out than late ones, so they come first.
            middle = (low + high) // 2
            middle = min(middle, -(-low // 2)) if middle <= 0 else max(middle, high // 2)
            result = yield from self.search(stones, occupied, middle, middle + 1)
            if result <= middle:
                high = result
            else:
                low = result
        return low


def fits(rows: int, columns: int) -> bool:
    """Whether the bits of a board fit, also shifted by three columns and rows."""
    return (rows + 1) * columns <= LARGEST_BOARD and 3 * (rows + 2) <= LARGEST_BOARD
