"""The rules of Go as kernels, and positions without their history.

`board.py` describes the state.
"""

import numpy as np
from numba import types

from alphazero.errors import GameError
from alphazero.games.compiled_rules import HEURISTIC_SCALE, UNKNOWN, Signature
from alphazero.games.game import (
    LAST,
    ONGOING,
    OUTCOME,
    PLY,
    Mask,
    Owners,
    Planes,
    State,
    to_play,
    value_of,
)
from alphazero.games.go.board import (
    BLACK,
    COLUMNS,
    EMPTY,
    FRONT,
    HISTORY,
    KEY,
    KOMI,
    MOVES,
    NEWEST,
    PREVIOUS,
    ROWS,
    SIMPLE,
    SUICIDE,
    SUPERKO,
    WALL,
    WHITE,
    add_position,
    bit_of,
    captured_at,
    has_liberty,
    history_at,
    is_repeated,
    key_after,
    point_at,
    put_stone,
    sections,
    sections_of,
    situation,
    situation_of,
)
from alphazero.utils.jit import inline_kernel, kernel


@inline_kernel
def _walk_region(state: State, start: int, walked: Mask, waiting: State) -> tuple[int, int]:
    """Walk the empty points connected to `start`; return their number and what borders on them.

    They are written to the front of `waiting` and marked in `walked`. The borders are a sum of
    BLACK and WHITE.
    """
    down = 4 * (state[COLUMNS] + 1)
    walked[start], waiting[0], count, done, reached = True, start, 1, 0, 0
    while done < count:
        point = waiting[done]
        done += 1
        for beside in (point - down, point - 4, point + 4, point + down):
            if state[beside] < WALL:
                reached |= state[beside]
            elif state[beside] >= EMPTY and not walked[beside]:
                walked[beside], waiting[count] = True, beside
                count += 1
    return count, reached


@kernel(Signature.owners)
def owners(state: State, cells: Owners) -> None:
    """Give each point to the colour whose area it is in, as Tromp and Taylor count.

    A colour's area is its stones and the empty points that reach only that colour over empty
    points. All stones count as alive. https://tromp.github.io/go.html
    """
    end, columns = sections(state)[0], state[COLUMNS]
    walked = np.zeros(end, np.bool_)
    waiting = np.empty(end // 4, np.int64)
    for row in range(state[ROWS]):
        for column in range(columns):
            start = point_at(state, row, column)
            if state[start] < WALL:
                cells[row * columns + column] = 3 - 2 * state[start]
            elif not walked[start]:
                count, reached = _walk_region(state, start, walked, waiting)
                for point in waiting[:count]:
                    line, place = divmod((point - FRONT) // 4, columns + 1)
                    owner = 3 - 2 * reached if reached in (BLACK, WHITE) else 0
                    cells[(line - 1) * columns + place - 1] = owner


@kernel(types.int64(types.int64[::1]))
def area(state: State) -> int:
    """Return Black's area minus White's, in points."""
    cells = np.empty(state[ROWS] * state[COLUMNS], np.int8)
    owners(state, cells)
    return cells.sum()  # type: ignore[no-any-return]


@kernel(Signature.margin)
def margin(state: State) -> float:
    """Return Black's area minus White's and komi, in points."""
    return area(state) - state[KOMI] / 2  # type: ignore[no-any-return]


@inline_kernel
def move_limit(state: State) -> int:
    """Return the number of moves after which the game is over."""
    moves = state[MOVES]
    return moves if moves > 0 else 2 * state[ROWS] * state[COLUMNS]  # type: ignore[no-any-return]


@inline_kernel
def _final_outcome(state: State) -> int:
    """Return the outcome by area and komi."""
    return np.sign(2 * area(state) - state[KOMI])  # type: ignore[no-any-return]


@kernel(Signature.legal)
def legal(state: State, mask: Mask) -> int:
    """Mark the points where a stone may be placed, and the pass; none when the game is over."""
    rows, columns, colour = state[ROWS], state[COLUMNS], state[PLY] % 2 + 1
    suicide, lost = state[SUICIDE] != 0, captured_at(state, colour)
    if state[OUTCOME] != ONGOING:
        mask[:] = False
        return 0
    count = 1
    for row in range(rows):
        point = point_at(state, row, 0)
        for action in range(row * columns, (row + 1) * columns):
            allowed = False
            if state[point] >= EMPTY:
                survives = has_liberty(state, point, colour)
                allowed = survives or suicide
                # Only suicide, or a stone where one was lost, can repeat a position.
                if allowed and (not survives or bit_of(state, lost, point)):
                    key = key_after(state, point, colour, survives)
                    allowed = not is_repeated(state, situation(state, key, colour))
            mask[action] = allowed
            count += allowed
            point += 4
    mask[rows * columns] = True
    return count


@kernel(Signature.play)
def play(state: State, action: int) -> None:
    """Place a stone of the player to move, or pass."""
    columns, colour = state[COLUMNS], state[PLY] % 2 + 1
    passes = action == state[ROWS] * columns
    before = history_at(state, 0, BLACK)
    state[NEWEST] = (state[NEWEST] + 1) % HISTORY
    now = history_at(state, 0, BLACK)
    for word in range(2 * sections(state)[3]):
        state[now + word] = state[before + word]
    state[PREVIOUS] = state[KEY]
    if not passes:
        put_stone(state, point_at(state, action // columns, action % columns), colour)
    if state[SUPERKO] != SIMPLE:
        add_position(state, situation(state, state[KEY], colour))
    if (passes and state[LAST] == action) or state[PLY] + 1 == move_limit(state):
        state[OUTCOME] = _final_outcome(state)
    state[PLY] += 1
    state[LAST] = action


@kernel(Signature.wins_at_once)
def wins_at_once(state: State) -> int:
    """Return whether a second pass wins; UNKNOWN at the limit of moves, where any move may."""
    if state[PLY] + 1 == move_limit(state):
        return UNKNOWN
    if state[LAST] != state[ROWS] * state[COLUMNS]:
        return 0
    return value_of(_final_outcome(state), state[PLY] % 2) == 1


@kernel(Signature.observe)
def observe(state: State, planes: Planes) -> None:
    """Write AlphaGo Zero's planes: 8 positions, and ones everywhere when Black is to move.

    Planes 0 and 1 are own stones and the opponent's, planes 2 and 3 those of one move ago, and so
    on; zeros before the initial position. Silver et al., *Mastering the game of Go without human
    knowledge* (2017), Methods, "Neural network architecture".
    """
    columns, own = state[COLUMNS], state[PLY] % 2 + 1
    for age in range(HISTORY):
        mine, theirs = history_at(state, age, own), history_at(state, age, 3 - own)
        for row in range(state[ROWS]):
            point = point_at(state, row, 0)
            for column in range(columns):
                planes[2 * age, row, column] = bit_of(state, mine, point)
                planes[2 * age + 1, row, column] = bit_of(state, theirs, point)
                point += 4
    planes[2 * HISTORY] = 2 - own


@kernel(Signature.heuristic)
def lead(state: State) -> int:
    """Count the area as if the game were over.

    A lead of d half points is d / (|d| + the board's points) of a win: our own choice. Unlike
    `squash`, this rounds down.
    """
    half_points = (2 * area(state) - state[KOMI]) * (1 - 2 * (state[PLY] % 2))
    board_points = state[ROWS] * state[COLUMNS]
    return HEURISTIC_SCALE * half_points // (abs(half_points) + board_points)  # type: ignore[no-any-return]


def stones_of(state: State) -> State:
    """Return the board, `int64 [rows * columns]`: 0 empty, 1 black, 2 white."""
    points = state[FRONT : sections_of(state)[0] : 4]
    grid = points.reshape(state[ROWS] + 2, state[COLUMNS] + 1)[1:-1, 1:]
    return np.where(grid < WALL, grid, 0).ravel()


def without_history(state: State) -> State:
    """Return the position without the earlier positions that ko forbids."""
    state = state.copy()
    lost, history, seen, _ = sections_of(state)
    state[lost:history], state[seen:], state[PREVIOUS] = 0, 0, 0
    if state[SUPERKO] != SIMPLE:
        key = situation_of(state, state[KEY], 2 - to_play(state))
        state[seen + (key & (len(state) - seen - 1))] = key
    return state


def from_stones(state: State, stones: State, ply: int) -> State:
    """Return the position of `stones` [rows * columns] after `ply` unknown moves.

    `state` is the game's initial state. Raises GameError when a chain has no liberty.
    """
    state = state.copy()
    _, history, seen, words = sections_of(state)
    # A chain that has a liberty at the end has one at every step, in any order.
    for action in np.flatnonzero(stones):
        state[PLY], state[seen:] = stones[action] - 1, 0
        play(state, int(action))
    if not np.array_equal(stones_of(state), stones):
        raise GameError("a chain of stones in the diagram has no liberty")
    ring = state[history:seen].reshape(HISTORY, 2 * words)
    ring[np.arange(HISTORY) != state[NEWEST]] = 0
    state[PLY], state[OUTCOME], state[LAST] = ply, ONGOING, -1
    return without_history(state)


def set_ko(state: State, actions: list[int]) -> None:
    """Forbid legal `actions` by ko: add the positions after them to those seen."""
    lost, history, seen, _ = sections_of(state)
    for action in actions:
        after = state.copy()
        play(after, action)
        state[seen:], state[PREVIOUS] = after[seen:], after[KEY]
    if actions:
        state[lost:history] = -1  # the points of lost stones are unknown: check all points
