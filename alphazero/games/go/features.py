"""Planes of Go beyond AlphaGo Zero's: what a network otherwise has to compute from the stones.

The choice follows KataGo (Wu 2019, arXiv:1902.10565, appendix A.1), without ladders. Planes 0 and 1
are the stones of the player to move and the opponent's; the constants below number the others.

Letters: N points with the walls around them, of which `point >> 2` is the number.
"""

import numpy as np

from alphazero.games.game import LAST, OBSERVE_RULE, PLY, Planes, State
from alphazero.games.go.board import (
    BLACK,
    COLUMNS,
    FRONT,
    HEAD,
    KOMI,
    ROWS,
    SUICIDE,
    WALL,
    WHITE,
    bit_of,
    captured_at,
    has_liberty,
    history_at,
    is_repeated,
    key_after,
    point_at,
    sections,
    situation,
)
from alphazero.games.go.life import find_alive, mark_board
from alphazero.games.go.rules import move_limit
from alphazero.utils.arrays import Float32Array, Int64Array, UInt64Array
from alphazero.utils.bits import count_bits, lowest_bit
from alphazero.utils.jit import inline_kernel, kernel

LIBERTY_PLANES = 2
"""Three planes: the chains with 1, 2 and 3 liberties."""
KO_PLANE = 5
"""The points that the ko rule forbids to the player to move."""
MOVE_PLANES = 6
"""`RECENT` planes: the point of the last move, of the one before, and so on; a pass has none."""
RECENT = 5
ALIVE_PLANES = 11
"""Two planes: the areas of the player to move and of the opponent that are unconditionally alive.
These are chains alive by Benson's theorem, and the regions vital to one of them that no other chain
borders on. The opponent can neither capture there nor live, even if the owner always passes."""
PASSED_PLANE = 13
"""Ones if the last move was a pass, so that a pass ends the game."""
KOMI_PLANE = 14
"""k / (`KOMI_SCALE` + |k|), where k is the komi of the player to move in points: -7.5 for Black. So
every komi is within -1 and 1, and those near the fair one differ most."""
MOVES_PLANE = 15
"""The moves left before the limit ends the game, as a fraction of the limit."""
BOARD_PLANE = 16
"""Ones: the border of the board is where the network pads with zeros."""
NUM_PLANES = 17

KOMI_SCALE = 10
"""Our choice; KataGo divides komi by 20, without a bound."""


@inline_kernel
def _is_ko(state: State, lost: int, point: int, colour: int) -> bool:
    """Whether only the ko rule forbids `colour` the empty `point`; `lost` is its `captured_at`."""
    survives = has_liberty(state, point, colour)
    # As in `legal`: only suicide, or a stone where one was lost, can repeat a position.
    if state[SUICIDE] == 0 if not survives else not bit_of(state, lost, point):
        return False
    return is_repeated(state, situation(state, key_after(state, point, colour, survives), colour))


@inline_kernel
def _only_new_stone(state: State, colour: int, age: int) -> int:
    """Return the number of the point of the only stone that `colour` got `age` moves ago, else 0.

    A pass and suicide bring none; in a drawing, which has no earlier position, all are new.
    """
    now, before = history_at(state, age, colour), history_at(state, age + 1, colour)
    found, one = 0, np.uint64(1)
    for word in range(sections(state)[3]):
        new = np.uint64(state[now + word] & ~state[before + word])
        if new != np.uint64(0):
            if found > 0 or new & (new - one) != np.uint64(0):
                return 0
            found = 64 * word + lowest_bit(new)
    return found


@inline_kernel
def _empty_points(state: State, board: UInt64Array, word: int) -> np.uint64:
    """Return one word of the set of all empty points."""
    black, white = history_at(state, 0, BLACK), history_at(state, 0, WHITE)
    return board[word] & ~np.uint64(state[black + word]) & ~np.uint64(state[white + word])  # type: ignore[no-any-return]


@inline_kernel
def _mark_liberties(state: State, board: UInt64Array, liberties: UInt64Array) -> None:
    """Add the empty points of `board` [W] to the sets `liberties` [N * W], by the chain's head."""
    words, down, one = len(board), 4 * (state[COLUMNS] + 1), np.uint64(1)
    for word in range(words):
        bits = _empty_points(state, board, word)
        while bits != np.uint64(0):
            lowest = bits & (~bits + one)
            point = FRONT + 4 * (64 * word + lowest_bit(bits))
            bits ^= lowest
            for beside in (point - down, point - 4, point + 4, point + down):
                stone = np.uint64(state[beside] < WALL)  # a branch would be hard to predict
                liberties[(state[beside + HEAD] >> 2) * words + word] |= lowest * stone


@inline_kernel
def _gather_points(
    state: State, liberties: UInt64Array, owners: Int64Array, cells: Float32Array, words: int
) -> None:
    """Write each point's colour, its chain's liberties, and its owner to `cells` [3, H * W].

    An empty point has 0 liberties.
    """
    cell = 0
    for row in range(state[ROWS]):
        point = point_at(state, row, 0)
        for _ in range(state[COLUMNS]):
            first, count = (state[point + HEAD] >> 2) * words, 0
            for word in range(words):
                count += count_bits(liberties[first + word])
            cells[0, cell] = state[point]
            cells[1, cell] = count * (state[point] < WALL)
            cells[2, cell] = owners[point >> 2]
            cell, point = cell + 1, point + 4


@inline_kernel
def _mark_equal(planes: Float32Array, plane: int, cells: Float32Array, wanted: int) -> None:
    """Write to a plane of `planes` [C * H * W] where `cells` [H * W] equals `wanted`."""
    first = plane * len(cells)
    for cell in range(len(cells)):
        planes[first + cell] = cells[cell] == np.float32(wanted)


@inline_kernel
def _fill(planes: Float32Array, plane: int, end: int, size: int, value: float) -> None:
    """Fill the planes from `plane` to `end`, of `size` points each."""
    for index in range(plane * size, end * size):
        planes[index] = value


@inline_kernel
def _mark_ko(state: State, own: int, board: UInt64Array, planes: Planes) -> None:
    """Mark the points that the ko rule forbids to `own`."""
    lost, stride, one = captured_at(state, own), state[COLUMNS] + 1, np.uint64(1)
    for word in range(len(board)):
        bits = _empty_points(state, board, word)
        if state[SUICIDE] == 0:  # only a stone where one was lost can repeat a position
            bits &= np.uint64(state[lost + word])
        while bits != np.uint64(0):
            number = 64 * word + lowest_bit(bits)
            bits &= bits - one
            if _is_ko(state, lost, FRONT + 4 * number, own):
                planes[KO_PLANE, number // stride - 1, number % stride - 1] = 1


@kernel(OBSERVE_RULE)
def observe_features(state: State, planes: Planes) -> None:
    """Write the `NUM_PLANES` planes of this module."""
    rows, columns, own = state[ROWS], state[COLUMNS], state[PLY] % 2 + 1
    end, _, _, words = sections(state)
    size, limit, flat = rows * columns, move_limit(state), planes.reshape(-1)
    owners, cells = np.empty(end >> 2, np.int64), np.empty((3, size), np.float32)
    board, liberties = np.zeros(words, np.uint64), np.zeros((end >> 2) * words, np.uint64)
    mark_board(state, board)
    find_alive(state, board, owners)
    _mark_liberties(state, board, liberties)
    _gather_points(state, liberties, owners, cells, words)
    for plane, colour in ((0, own), (1, 3 - own)):
        _mark_equal(flat, plane, cells[0], colour)
        _mark_equal(flat, ALIVE_PLANES + plane, cells[2], colour)
    for count in range(3):
        _mark_equal(flat, LIBERTY_PLANES + count, cells[1], count + 1)
    _fill(flat, KO_PLANE, ALIVE_PLANES, size, 0)
    _mark_ko(state, own, board, planes)
    for age in range(RECENT):
        number = _only_new_stone(state, own if age % 2 else 3 - own, age)
        if number > 0:
            row, column = number // (columns + 1) - 1, number % (columns + 1) - 1
            planes[MOVE_PLANES + age, row, column] = 1
    komi = state[KOMI] / (2 * KOMI_SCALE + abs(state[KOMI]))
    _fill(flat, PASSED_PLANE, KOMI_PLANE, size, state[LAST] == size)
    _fill(flat, KOMI_PLANE, MOVES_PLANE, size, komi if own == WHITE else -komi)
    _fill(flat, MOVES_PLANE, BOARD_PLANE, size, max(limit - state[PLY], 0) / limit)
    _fill(flat, BOARD_PLANE, NUM_PLANES, size, 1)
