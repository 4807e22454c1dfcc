"""Unconditionally alive areas of Go, by Benson's theorem.

Benson, *Life in the game of Go*, Information Sciences 10 (1976), 17-29: of all chains and the
regions between them, take away the chains with less than two vital regions, and the regions that
border on a chain taken away, until none is left to take away.

Letters: N points with the walls around them, numbered by `point >> 2`. Sets of points
are bits as in `board.py`.
"""

import numpy as np
from numba import types

from alphazero.games.game import State
from alphazero.games.go.board import (
    BLACK,
    COLUMNS,
    EMPTY,
    FRONT,
    HEAD,
    ROWS,
    SUICIDE,
    WALL,
    WHITE,
    history_at,
    sections,
)
from alphazero.utils.arrays import Int64Array, UInt64Array
from alphazero.utils.bits import lowest_bit
from alphazero.utils.jit import inline_kernel, kernel

BOARD, STONES, FREE, NOT_VITAL, CANDIDATES = range(5)
"""Sets of points for the search of regions: all of the board, one colour's stones, all others, and
of these the ones in a region that is vital to no chain, and the rest."""


@inline_kernel
def _mark_board(state: State, sets: UInt64Array) -> None:
    """Write all points of the board to `sets[BOARD]`."""
    stride = state[COLUMNS] + 1
    for word in range(sets.shape[1]):
        sets[BOARD, word] = np.uint64(0)
    line = (np.uint64(1) << np.uint64(stride - 1)) - np.uint64(1)
    for row in range(1, state[ROWS] + 1):
        word, start = (row * stride + 1) >> 6, np.uint64((row * stride + 1) & 63)
        sets[BOARD, word] |= line << start
        if start + np.uint64(stride - 1) > np.uint64(64):
            sets[BOARD, word + 1] |= line >> (np.uint64(64) - start)


@inline_kernel
def _beside(sets: UInt64Array, which: int, word: int, stride: int) -> np.uint64:
    """Return one word of the set of all points beside those of `sets[which]`, with walls.

    Neighbours are 1 and `stride`, the length of a row, apart.
    """
    bits, before, after = sets[which, word], np.uint64(0), np.uint64(0)
    if word > 0:
        before = sets[which, word - 1]
    if word + 1 < sets.shape[1]:
        after = sets[which, word + 1]
    one, far = np.uint64(1), np.uint64(stride)
    up, down = np.uint64(63), np.uint64(64 - stride)
    sideways = bits << one | before >> up | bits >> one | after << up
    return sideways | bits << far | before >> down | bits >> far | after << down  # type: ignore[no-any-return]


@inline_kernel
def _find_candidates(state: State, colour: int, sets: UInt64Array) -> bool:
    """Write the regions that may be vital to a chain of `colour` to `sets[CANDIDATES]`.

    A region is a set of connected points without stones of `colour`. It is vital to no chain if
    one of its empty points is beside no stone of `colour`; most positions have no other regions.
    Returns whether there is one. `sets[BOARD]` holds all points.
    """
    own, other = history_at(state, 0, colour), history_at(state, 0, 3 - colour)
    words, stride, growing, found = sets.shape[1], state[COLUMNS] + 1, True, False
    for word in range(words):
        sets[STONES, word] = np.uint64(state[own + word])
    for word in range(words):
        free = sets[BOARD, word] & ~sets[STONES, word]
        sets[FREE, word] = free
        if state[SUICIDE] == 0:
            free &= ~np.uint64(state[other + word])
        sets[NOT_VITAL, word] = free & ~_beside(sets, STONES, word, stride)
    while growing:
        growing = False
        for word in range(words):
            before = sets[NOT_VITAL, word]
            after = (before | _beside(sets, NOT_VITAL, word, stride)) & sets[FREE, word]
            growing = growing or after != before
            sets[NOT_VITAL, word] = after
    for word in range(words):
        sets[CANDIDATES, word] = sets[FREE, word] & ~sets[NOT_VITAL, word]
        found = found or sets[CANDIDATES, word] != np.uint64(0)
    return found


@inline_kernel
def _find_regions(
    state: State,
    colour: int,
    sets: UInt64Array,
    regions: Int64Array,
    points: Int64Array,
    ends: Int64Array,
    vital: Int64Array,
) -> int:
    """Number the regions of `sets[CANDIDATES]`; return how many there are.

    Writes the number, from 1 on, of each point of a region to `regions` [N], else 0; the points of
    region r to `points` from `ends[r - 1]` to `ends[r]`; and the heads of the at most four chains
    to which it is vital to `vital[4 * r:]`, filled up with 0. A region is vital to a chain if each
    of its empty points is a liberty of the chain. Where suicide is allowed, the opponent can empty
    its points too, so each of them must be beside the chain.
    """
    down, one = 4 * (state[COLUMNS] + 1), np.uint64(1)
    count, size, done = 0, 0, 0
    ends[0] = 0
    for number in range(len(regions)):
        regions[number] = 0
    for word in range(sets.shape[1]):
        bits = sets[CANDIDATES, word]
        while bits != np.uint64(0):
            start = FRONT + 4 * (64 * word + lowest_bit(bits))
            bits &= bits - one
            if regions[start >> 2] > 0:
                continue
            count += 1
            regions[start >> 2], points[size] = count, start
            size += 1
            for slot in range(4 * count, 4 * count + 4):
                vital[slot] = 0
            untried = True
            while done < size:
                point = points[done]
                done += 1
                for beside in (point - down, point - 4, point + 4, point + down):
                    inside = state[beside] != WALL and state[beside] != colour
                    if inside and regions[beside >> 2] == 0:
                        regions[beside >> 2], points[size] = count, beside
                        size += 1
                if state[point] >= EMPTY or state[SUICIDE] != 0:
                    _keep_vital(state, colour, point, vital, 4 * count, untried)
                    untried = False
            ends[count] = size
    return count


@inline_kernel
def _keep_vital(
    state: State, colour: int, point: int, vital: Int64Array, first: int, untried: bool
) -> None:
    """Keep in the four places of `vital` from `first` the chains of `colour` beside `point`.

    The first point, with `untried`, writes its chains there, each once.
    """
    down = 4 * (state[COLUMNS] + 1)
    above = state[point - down + HEAD] if state[point - down] == colour else 0
    before = state[point - 4 + HEAD] if state[point - 4] == colour else 0
    after = state[point + 4 + HEAD] if state[point + 4] == colour else 0
    under = state[point + down + HEAD] if state[point + down] == colour else 0
    if untried:
        vital[first] = above
        vital[first + 1] = before if before != above else 0
        vital[first + 2] = after if after not in (above, before) else 0
        vital[first + 3] = under if under not in (above, before, after) else 0
    for slot in range(first, first + 4):
        if vital[slot] not in (above, before, after, under):
            vital[slot] = 0


@inline_kernel
def _is_vital(vital: Int64Array, region: int) -> bool:
    """Whether `region` is vital to any chain."""
    chains = vital[4 * region] | vital[4 * region + 1]
    return chains | vital[4 * region + 2] | vital[4 * region + 3] > 0  # type: ignore[no-any-return]


@inline_kernel
def _count_vital(count: int, vital: Int64Array, lives: Int64Array) -> int:
    """Write the number of each chain's vital regions to `lives` [N], by head; return the most."""
    most = 0
    for number in range(len(lives)):
        lives[number] = 0
    for slot in range(4, 4 * count + 4):
        if vital[slot] > 0:
            lives[vital[slot] >> 2] += 1
            most = max(most, lives[vital[slot] >> 2])
    return most


@inline_kernel
def _open_regions(
    state: State,
    colour: int,
    points: Int64Array,
    ends: Int64Array,
    count: int,
    vital: Int64Array,
    lives: Int64Array,
) -> bool:
    """Drop the vital regions beside a chain with less than two of them; return if there was one.

    The opponent may capture such a chain and enter the region.
    """
    down, opened = 4 * (state[COLUMNS] + 1), False
    for region in range(1, count + 1):
        if not _is_vital(vital, region):
            continue
        weak = False
        for place in range(ends[region - 1], ends[region]):
            point = points[place]
            for beside in (point - down, point - 4, point + 4, point + down):
                weak |= state[beside] == colour and lives[state[beside + HEAD] >> 2] < 2
        if weak:
            opened = True
            for slot in range(4 * region, 4 * region + 4):
                vital[slot] = 0
    return opened


@kernel(types.void(types.int64[::1], types.int64[::1]))
def find_alive(state: State, owners: Int64Array) -> None:
    """Write the colour whose unconditionally alive area a point belongs to, else 0, to `owners`.

    `owners` [N].
    """
    end, _, _, words = sections(state)
    size = end >> 2
    sets = np.empty((CANDIDATES + 1, words), np.uint64)
    _mark_board(state, sets)
    numbers = np.empty((8, size), np.int64)
    regions, points, ends, lives = numbers[0], numbers[1], numbers[2], numbers[3]
    vital = numbers[4:].ravel()
    for number in range(size):
        owners[number] = 0
    for colour in (BLACK, WHITE):
        if not _find_candidates(state, colour, sets):
            continue
        count = _find_regions(state, colour, sets, regions, points, ends, vital)
        while _count_vital(count, vital, lives) >= 2:
            if not _open_regions(state, colour, points, ends, count, vital, lives):
                for point in range(FRONT, end, 4):
                    number = point >> 2
                    if state[point] == colour:
                        alive = lives[state[point + HEAD] >> 2] >= 2
                    else:
                        alive = regions[number] > 0 and _is_vital(vital, regions[number])
                    if alive:
                        owners[number] = colour
                break
