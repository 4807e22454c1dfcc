"""Stones, chains and captures of Go, and the position history that ko rules need.

A chain is a set of connected stones of one colour; its liberties are the empty points beside it.
Chains are updated with every stone, so that the check of a move only needs its four neighbours.

The state is one row. The header of `game.py` and the nine entries `ROWS` to `NEWEST` come first.
Then come four numbers for each point of the board, row by row from the top left, with walls above,
below and left of the rows; the right neighbour of a row's last point is the next row's wall. A
`point` is the index of the first of these numbers in the state:

    state[point]               BLACK, WHITE, WALL, or EMPTY + the number of its empty neighbours
    state[point + HEAD]        a stone's chain: the point of one of the chain's stones
    state[point + NEXT]        the next stone of the chain, circularly
    state[point + LIBERTIES]   of the chain's head only: its liberties, see `as_liberty`

Then come sets of points, one bit per point, and a hash set of positions:

    lost       [2, W]      the points where a black or a white stone was ever removed
    history    [8, 2, W]   the black and the white stones of the last 8 positions, a ring buffer
    seen       the rest    the keys of all positions so far; empty for simple ko

Letters: W words of 64 bits.
"""

import numpy as np

from alphazero.games.game import HEADER, State
from alphazero.utils.jit import inline_kernel

ROWS, COLUMNS, KOMI, SUPERKO, SUICIDE, MOVES, KEY, PREVIOUS, NEWEST = range(HEADER, HEADER + 9)
"""The game's options; then the key of the stones on the board, the key before the last move, and
the ring index of the newest position."""
FRONT = HEADER + 9
"""The first point; a multiple of 4, so that point >> 2 numbers the points."""

HEAD, NEXT, LIBERTIES = 1, 2, 3
BLACK, WHITE, WALL, EMPTY = 1, 2, 3, 4

SIMPLE, POSITIONAL, SITUATIONAL = 0, 1, 2
"""Ko rules. They forbid to repeat: the position before the opponent's move; any earlier position;
any earlier position with the same player to move."""

HISTORY = 8
"""Number of positions whose stones are kept."""

LONGEST_SIDE = 19
_KEYS = np.random.default_rng(2016).integers(-(2**63), 2**63, (3, 512), np.int64)
"""A random number for each colour and point; a position's key is the XOR of its stones' numbers
(Zobrist, *A new hashing method with application for game playing*, 1970)."""
FIRST_KEY, _WHITE_TO_PLAY = int(_KEYS[0, 0]), int(_KEYS[0, 1])


def sections_of(state: State) -> tuple[int, int, int, int]:
    """Return the indices where `lost`, `history` and `seen` begin, and W."""
    points = (state[ROWS] + 2) * (state[COLUMNS] + 1)
    words = (points + 63) // 64
    lost = FRONT + 4 * points
    return lost, lost + 2 * words, lost + (2 + 2 * HISTORY) * words, words


def situation_of(state: State, key: int, colour: int) -> int:
    """Return the key that the ko rule compares, after `colour` moved to a board with `key`."""
    return key ^ _WHITE_TO_PLAY if state[SUPERKO] == SITUATIONAL and colour == BLACK else key


sections, situation = inline_kernel(sections_of), inline_kernel(situation_of)
"""The same for kernels."""


@inline_kernel
def point_at(state: State, row: int, column: int) -> int:
    """Return the point at `row`, counted from the top, and `column`."""
    return FRONT + 4 * ((row + 1) * (state[COLUMNS] + 1) + column + 1)  # type: ignore[no-any-return]


@inline_kernel
def bit_of(state: State, first: int, point: int) -> int:
    """Return 1 if `point` is in the set at `first`, else 0."""
    number = (point - FRONT) >> 2
    return state[first + (number >> 6)] >> (number & 63) & 1  # type: ignore[no-any-return]


@inline_kernel
def captured_at(state: State, colour: int) -> int:
    """Return the index of the set of points where `colour` ever lost a stone."""
    lost, _, _, words = sections(state)
    return lost + (colour - 1) * words


@inline_kernel
def history_at(state: State, age: int, colour: int) -> int:
    """Return the index of the set of `colour`'s stones `age` moves ago."""
    _, history, _, words = sections(state)
    place = (state[NEWEST] - age) % HISTORY
    return history + (2 * place + colour - 1) * words  # type: ignore[no-any-return]


@inline_kernel
def as_liberty(point: int) -> int:
    """Return what an empty neighbour with number n adds to its chain's three sums: 1, n, n squared.

    A liberty beside several stones of the chain counts several times, so that adding or removing
    a stone is a single addition. The sums share one integer, with 11, 20 and 28 bits: enough for
    19 x 19 with its 1,444 neighbours and numbers up to 422.
    """
    number = point >> 2
    return (1 << 48) + (number << 28) + number * number


@inline_kernel
def in_atari(state: State, stone: int) -> bool:
    """Whether the chain of `stone`, which has liberties, has only one.

    All numbers are equal exactly if count x squares = sum x sum (Cauchy-Schwarz).
    """
    sums = state[state[stone + HEAD] + LIBERTIES]
    total = (sums >> 28) & 0xFFFFF
    return (sums >> 48) * (sums & 0xFFFFFFF) == total * total  # type: ignore[no-any-return]


@inline_kernel
def has_liberty(state: State, point: int, colour: int) -> bool:
    """Whether a stone of `colour` on empty `point` has a liberty after its captures."""
    if state[point] > EMPTY:
        return True
    down = 4 * (state[COLUMNS] + 1)
    for beside in (point - down, point - 4, point + 4, point + down):
        if state[beside] < WALL and (state[beside] == colour) != in_atari(state, beside):
            return True
    return False


@inline_kernel
def key_after(state: State, point: int, colour: int, survives: bool) -> int:
    """Return the key of the board after a stone of `colour` on empty `point`.

    It captures opponent's chains if it `survives`; else it dies with its own chain.
    """
    key = state[KEY]
    if survives:
        key ^= _KEYS[colour, point >> 2]
    down = 4 * (state[COLUMNS] + 1)
    sides = (point - down, point - 4, point + 4, point + down)
    for side in range(4):
        stone = sides[side]
        taken = state[stone] == (3 - colour if survives else colour)
        if taken and in_atari(state, stone):
            for other in range(side):  # a chain on two sides is captured once
                same = state[sides[other]] == state[stone]
                taken = taken and not (same and state[sides[other] + HEAD] == state[stone + HEAD])
            following = stone
            while taken:
                key ^= _KEYS[state[stone], following >> 2]
                following = state[following + NEXT]
                taken = following != stone
    return key  # type: ignore[no-any-return]


@inline_kernel
def is_repeated(state: State, key: int) -> bool:
    """Whether the ko rule forbids the situation `key`."""
    if state[SUPERKO] == SIMPLE:
        return key == state[PREVIOUS]  # type: ignore[no-any-return]
    first = sections(state)[2]
    last = len(state) - first - 1  # the size of the set is a power of two
    place = key & last
    while state[first + place] != 0:
        if state[first + place] == key:
            return True
        place = (place + 1) & last
    return False


@inline_kernel
def add_position(state: State, key: int) -> None:
    """Add the key of a situation to the set `seen`."""
    first = sections(state)[2]
    last = len(state) - first - 1
    place = key & last
    for _ in range(last):  # one place stays free to end lookups
        if state[first + place] == 0 or state[first + place] == key:
            state[first + place] = key
            return
        place = (place + 1) & last


@inline_kernel
def _flip(state: State, now: int, point: int, colour: int) -> None:
    """Toggle a stone in the key and in the newest position's sets at `now`."""
    number = (point - FRONT) >> 2
    words = sections(state)[3]
    state[now + (colour - 1) * words + (number >> 6)] ^= 1 << (number & 63)
    state[KEY] ^= _KEYS[colour, point >> 2]


@inline_kernel
def _join(state: State, stone: int, other: int) -> None:
    head, gone = state[other + HEAD], state[stone + HEAD]
    if head == gone:
        return
    state[head + LIBERTIES] += state[gone + LIBERTIES]
    following = stone
    while True:
        state[following + HEAD] = head
        following = state[following + NEXT]
        if following == stone:
            break
    state[stone + NEXT], state[other + NEXT] = state[other + NEXT], state[stone + NEXT]


@inline_kernel
def _remove(state: State, now: int, stone: int) -> None:
    colour, down = state[stone], 4 * (state[COLUMNS] + 1)
    lost = captured_at(state, colour)
    while state[stone] == colour:
        free = EMPTY
        for beside in (stone - down, stone - 4, stone + 4, stone + down):
            if state[beside] >= EMPTY:
                state[beside] += 1
                free += 1
            elif state[beside] != WALL:
                state[state[beside + HEAD] + LIBERTIES] += as_liberty(stone)
        state[stone] = free
        _flip(state, now, stone, colour)
        number = (stone - FRONT) >> 2
        state[lost + (number >> 6)] |= 1 << (number & 63)
        stone = state[stone + NEXT]


@inline_kernel
def put_stone(state: State, point: int, colour: int) -> None:
    """Put a stone on empty `point`; remove the chains it captures, or its own chain if dead."""
    now, down = history_at(state, 0, BLACK), 4 * (state[COLUMNS] + 1)
    state[point], state[point + HEAD], state[point + NEXT] = colour, point, point
    state[point + LIBERTIES] = 0
    _flip(state, now, point, colour)
    places = (point - down, point - 4, point + 4, point + down, point)
    for beside in places[:4]:
        if state[beside] >= EMPTY:
            state[beside] -= 1
            state[point + LIBERTIES] += as_liberty(beside)
        elif state[beside] != WALL:
            state[state[beside + HEAD] + LIBERTIES] -= as_liberty(point)
    for beside in places[:4]:
        if state[beside] == colour:
            _join(state, point, beside)
    # The own chain comes last, because captures may give it liberties.
    for stone in places:
        if state[stone] < WALL and (state[stone] != colour or stone == point):  # noqa: SIM102
            if state[state[stone + HEAD] + LIBERTIES] == 0:
                _remove(state, now, stone)
