"""Planes of Go beyond AlphaGo Zero's: what a network otherwise has to compute from the stones.

The choice follows KataGo (Wu 2019, arXiv:1902.10565, appendix A.1), without ladders. Planes 0 and 1
are the stones of the player to move and the opponent's; the constants below number the others.
"""

import numpy as np

from alphazero.games.compiled_rules import Signature
from alphazero.games.game import LAST, PLY, Planes, State
from alphazero.games.go.board import (
    COLUMNS,
    EMPTY,
    HEAD,
    KOMI,
    NEXT,
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
from alphazero.games.go.life import find_alive
from alphazero.games.go.rules import move_limit
from alphazero.utils.bits import lowest_bit
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
def _liberties(state: State, stone: int) -> int:
    """Return the number of liberties of the chain of `stone`; 4 if it has more than 3."""
    down, count, first, second, third = 4 * (state[COLUMNS] + 1), 0, 0, 0, 0
    following = stone
    while True:
        for beside in (following - down, following - 4, following + 4, following + down):
            if state[beside] < EMPTY or beside in (first, second, third):
                continue
            count += 1
            if count == 4:
                return count
            first, second, third = beside, first, second
        following = state[following + NEXT]
        if following == stone:
            return count


@inline_kernel
def _is_ko(state: State, lost: int, point: int, colour: int) -> bool:
    """Whether only the ko rule forbids `colour` the empty `point`; `lost` is its `captured_at`."""
    # As in `legal`: only suicide, or a stone where one was lost, can repeat a position.
    lost_here = bit_of(state, lost, point)
    if state[SUICIDE] == 0 and not lost_here:
        return False
    survives = has_liberty(state, point, colour)
    if not (lost_here if survives else state[SUICIDE] != 0):
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


@kernel(Signature.observe)
def observe_features(state: State, planes: Planes) -> None:
    """Write the `NUM_PLANES` planes of this module."""
    rows, columns, own = state[ROWS], state[COLUMNS], state[PLY] % 2 + 1
    limit = move_limit(state)
    lost, size = captured_at(state, own), sections(state)[0] >> 2
    owners, liberties = np.empty(size, np.int64), np.empty(size, np.int64)
    find_alive(state, owners)
    planes[:PASSED_PLANE] = 0
    for row in range(rows):
        for column in range(columns):
            point = point_at(state, row, column)
            if state[point] < WALL and state[point + HEAD] == point:
                liberties[point >> 2] = _liberties(state, point)
    for row in range(rows):
        for column in range(columns):
            point = point_at(state, row, column)
            if state[point] < WALL:
                planes[0 if state[point] == own else 1, row, column] = 1
                count = liberties[state[point + HEAD] >> 2]
                if count < 4:
                    planes[LIBERTY_PLANES + count - 1, row, column] = 1
            elif _is_ko(state, lost, point, own):
                planes[KO_PLANE, row, column] = 1
            owner = owners[point >> 2]
            if owner > 0:
                planes[ALIVE_PLANES + (owner != own), row, column] = 1
    for age in range(RECENT):
        number = _only_new_stone(state, own if age % 2 else 3 - own, age)
        if number > 0:
            row, column = number // (columns + 1) - 1, number % (columns + 1) - 1
            planes[MOVE_PLANES + age, row, column] = 1
    komi = state[KOMI] / (2 * KOMI_SCALE + abs(state[KOMI]))
    planes[PASSED_PLANE] = state[LAST] == rows * columns
    planes[KOMI_PLANE] = komi if own == WHITE else -komi
    planes[MOVES_PLANE] = max(limit - state[PLY], 0) / limit
    planes[BOARD_PLANE] = 1
