"""An exact solver for Connect Four, with a position in two integers.

After Pons, *Solving Connect 4: how to build a perfect AI* (blog.gamesolver.org, 2015-2019):
bitboards, moves that do not lose at once, ordering by the threats a move makes, a transposition
table of bounds, null windows on the score. The bitboards go back to Tromp's Fhourstones.

A cell is a bit: columns from the left, each from the bottom, and above each column one bit that
stays empty, so that no line runs from one column's top into the next one's bottom:

    6 13 20 27 34 41 48     the empty row, here of the 6 x 7 board
    5 12 19 26 33 40 47
    . . .
    0  7 14 21 28 35 42

`stones` are those of the player to move, `filled` all of them. A *score* is Pons's: positive when
the player to move wins, 0 for a draw; its size is one more than the number of stones that the
winner has left at the end. Letters: D frames, W columns, N entries of the table.
"""

from collections.abc import Generator
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from alphazero.utils.jit import inline_kernel, kernel, shared_kernel

LARGEST_BOARD = 62
"""Bits, with the empty row: all arithmetic stays positive in an int64."""

TABLE_ENTRIES = 8_388_593
"""A prime, just below 2^23: 64 MiB, of which a short search touches little."""

SLICE = 100_000
"""Positions between two yields to other work: some hundredths of a second."""

FRAME = np.dtype(
    [
        ("stones", np.int64),
        ("filled", np.int64),
        ("alpha", np.int64),
        ("beta", np.int64),
        ("result", np.int64),
        ("count", np.int64),  # moves to search
        ("cursor", np.int64),  # moves already searched
    ]
)

LOWER_BOUND = 128
"""Marks a stored score as a lower bound; the others are upper bounds."""
OFFSET = 64
"""Makes every score positive."""


class SolverArrays(NamedTuple):
    """The arrays of a solver; only kernels write to them, except the first frame and `counters`."""

    frames: npt.NDArray[Any]
    """[D] of FRAME"""
    moves: npt.NDArray[np.int64]
    """[D, W] moves as bits, the most promising first"""
    order_scores: npt.NDArray[np.int64]
    """[W] scratch"""
    table: npt.NDArray[np.int64]
    """[N] 0, or the key's quotient by N and a bound in the lowest byte. The key's remainder is
    the index, so an entry identifies its position exactly."""
    order: npt.NDArray[np.int64]
    """[W] the columns, from the middle outwards"""
    counters: npt.NDArray[np.int64]
    """[7]: the entries below"""


TOP, NODES, FIRST_PLY, CELLS, HEIGHT, BOTTOM, BOARD = range(7)
"""The current frame, the positions searched, the first frame's ply; then constants of the board:
its cells, a column's bits, the lowest cells' bits, all cells' bits."""

SolverArraysType = types.NamedTuple(
    [
        types.Array(numba.from_dtype(FRAME), 1, "C"),
        types.Array(types.int64, 2, "C"),
        types.int64[::1],
        types.int64[::1],
        types.int64[::1],
        types.int64[::1],
    ],
    SolverArrays,
)


@shared_kernel
def winning_cells(stones: int, filled: int, height: int, board: int) -> int:
    """Return the free cells that complete a line of four `stones`, reachable or not.

    `height` is the number of bits of a column with the empty one, `board` the bits of all cells.
    """
    found = (stones << 1) & (stones << 2) & (stones << 3)
    for step in (height - 1, height, height + 1):
        pair = (stones << step) & (stones << 2 * step)
        found |= pair & ((stones << 3 * step) | (stones >> step))
        pair = (stones >> step) & (stones >> 2 * step)
        found |= pair & ((stones >> 3 * step) | (stones << step))
    return found & (board ^ filled)


@inline_kernel
def _bits_in(number: int) -> int:
    """Count the bits of a number below 2^62, pairs first (Warren, *Hacker's Delight*, 5-1)."""
    number -= (number >> 1) & 0x5555555555555555
    number = (number & 0x3333333333333333) + ((number >> 2) & 0x3333333333333333)
    number = (number + (number >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (number * 0x0101010101010101) >> 56


@inline_kernel
def _remember(work: SolverArrays, frame: Any, score: int, kind: int) -> None:
    key = frame.stones + frame.filled
    place, size = key % TABLE_ENTRIES, TABLE_ENTRIES
    work.table[place] = (key // size) << 8 | kind | (score + OFFSET)


@inline_kernel
def _enter(work: SolverArrays, place: int, stones: int, filled: int, alpha: int, beta: int) -> bool:
    """Enter a position whose player to move cannot win at once; return whether to search deeper.

    If not, `result` holds its score, or a bound outside the window.
    """
    frame, counters = work.frames[place], work.counters
    cells, height, board = counters[CELLS], counters[HEIGHT], counters[BOARD]
    left = cells - counters[FIRST_PLY] - place
    threats = winning_cells(filled ^ stones, filled, height, board)
    possible = (filled + counters[BOTTOM]) & board
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
    key = stones + filled
    entry = work.table[key % TABLE_ENTRIES]
    if entry != 0 and entry >> 8 == key // TABLE_ENTRIES:
        score = (entry & (LOWER_BOUND - 1)) - OFFSET
        if entry & LOWER_BOUND:
            alpha = max(alpha, score)
        else:
            beta = min(beta, score)
    if alpha >= beta:
        frame.result = beta
        return False
    frame.stones, frame.filled = stones, filled
    frame.alpha, frame.beta = alpha, beta
    count = 0
    for column in work.order:
        move = possible & (((1 << (height - 1)) - 1) << (column * height))
        if move:
            merit = _bits_in(winning_cells(stones | move, filled | move, height, board))
            index = count
            while index > 0 and work.order_scores[index - 1] < merit:
                work.moves[place, index] = work.moves[place, index - 1]
                work.order_scores[index] = work.order_scores[index - 1]
                index -= 1
            work.moves[place, index], work.order_scores[index] = move, merit
            count += 1
    frame.count, frame.cursor = count, 0
    return True


@kernel(types.boolean(SolverArraysType, types.int64, types.int64))
def begin(work: SolverArrays, alpha: int, beta: int) -> bool:
    """Enter the position in the first frame; return whether there is anything to search."""
    work.counters[TOP] = 0
    return _enter(work, 0, work.frames[0].stones, work.frames[0].filled, alpha, beta)


@kernel(types.boolean(SolverArraysType, types.int64))
def run(work: SolverArrays, nodes: int) -> bool:
    """Search up to `nodes` more positions; return whether the search is over."""
    counters = work.counters
    last = counters[NODES] + nodes
    while counters[NODES] < last:
        top = counters[TOP]
        frame = work.frames[top]
        if frame.alpha < frame.beta and frame.cursor < frame.count:
            move = work.moves[top, frame.cursor]
            frame.cursor += 1
            counters[NODES] += 1
            stones, filled = frame.filled ^ frame.stones, frame.filled | move
            if _enter(work, top + 1, stones, filled, -frame.beta, -frame.alpha):
                counters[TOP] += 1
            else:
                frame.alpha = max(frame.alpha, -work.frames[top + 1].result)
        else:
            frame.result = frame.alpha
            _remember(work, frame, frame.result, LOWER_BOUND if frame.alpha >= frame.beta else 0)
            if top == 0:
                return True
            counters[TOP] -= 1
            parent = work.frames[top - 1]
            parent.alpha = max(parent.alpha, -frame.result)
    return False


Search = Generator[None, None, int]
"""A search that yields between slices, so that other work gets a turn, and returns a score.

Only one runs at a time: a new search invalidates the one before.
"""


class BitboardSolver:
    """Scores positions of one board size; its table serves later positions too."""

    def __init__(self, rows: int, columns: int) -> None:
        assert fits(rows, columns), f"{rows} x {columns} does not fit {LARGEST_BOARD} bits"
        self.rows, self.columns, self.cells = rows, columns, rows * columns
        self._height = rows + 1
        bottom = sum(1 << column * self._height for column in range(columns))
        self._board = bottom * ((1 << rows) - 1)
        middle = sorted(range(columns), key=lambda column: abs(2 * column - columns + 1))
        self._work = SolverArrays(
            np.zeros(self.cells + 1, FRAME),
            np.zeros((self.cells + 1, columns), np.int64),
            np.zeros(columns, np.int64),
            np.zeros(TABLE_ENTRIES, np.int64),
            np.array(middle, np.int64),
            np.array([0, 0, 0, self.cells, self._height, bottom, self._board]),
        )

    @property
    def nodes(self) -> int:
        """Positions searched so far."""
        return int(self._work.counters[NODES])

    def search(self, stones: int, filled: int, alpha: int, beta: int) -> Search:
        """Return the score of an unfinished position if it lies between alpha and beta.

        A result <= alpha is an upper bound of the score, one >= beta a lower bound.
        """
        left = self.cells - filled.bit_count()
        possible = (filled + int(self._work.counters[BOTTOM])) & self._board
        if winning_cells(stones, filled, self._height, self._board) & possible:
            return (left + 1) // 2
        frame = self._work.frames[0]
        frame["stones"], frame["filled"] = stones, filled
        self._work.counters[FIRST_PLY] = self.cells - left
        if begin(self._work, alpha, beta):
            while not run(self._work, SLICE):
                yield
        return int(frame["result"])

    def score(self, stones: int, filled: int) -> Search:
        """Return the score of an unfinished position."""
        left = self.cells - filled.bit_count()
        low, high = -(left // 2), (left + 1) // 2
        while low < high:
            # Early wins and losses are cheaper to rule out than late ones, so they come first.
            middle = (low + high) // 2
            middle = min(middle, -(-low // 2)) if middle <= 0 else max(middle, high // 2)
            result = yield from self.search(stones, filled, middle, middle + 1)
            if result <= middle:
                high = result
            else:
                low = result
        return low


def fits(rows: int, columns: int) -> bool:
    """Whether the bits of a board fit, also when shifted by three columns and rows."""
    return (rows + 1) * columns <= LARGEST_BOARD and 3 * (rows + 2) <= LARGEST_BOARD
