"""Counts every position of a game that is won by a line, ply by ply, with the compiled rules.

Two positions are the same when the same stones lie on the same cells: boards that mirror each
other are two, and the order of the moves does not matter. Play stops at a win; a finished
position is counted like any other, once, and nothing follows it.

A board is kept as a number in base 3, cut into words of 32 cells. Letters used for shapes:
N boards, M of the moves from them, W words.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import types

from alphazero.games.compiled_rules import RulesType
from alphazero.games.game import ONGOING, OUTCOME, PLY
from alphazero.games.line_games import CELLS, LineGame
from alphazero.utils.jit import kernel

WORD = 32
"""Cells in one word: 3 to the power of 32 fits an int64 with room."""

_row, _boards, _flags = types.int64[::1], types.int64[:, ::1], types.boolean[::1]


@kernel(types.int64(RulesType, _row, types.int64, _boards, _boards, _flags))
def _follow(
    rules: Any, first: Any, num_actions: int, boards: Any, children: Any, running: Any
) -> int:
    """Write the boards one move after `boards` and whether each is unfinished; return their number.

    `first` is an unfinished state with the ply of `boards`, `int64 [N, W]`; `children` is
    `int64 [M, W]` and `running` is `bool [M]`.
    """
    count = 0
    state, child = first.copy(), first.copy()
    mask = np.zeros(num_actions, np.bool_)
    cells = len(first) - CELLS
    for board in range(len(boards)):
        for cell in range(cells):
            state[CELLS + cell] = boards[board, cell // WORD] // 3 ** (cell % WORD) % 3
        rules.functions.legal(state, mask)
        for action in range(num_actions):
            if mask[action]:
                child[:] = state
                rules.functions.play(child, action)
                for cell in range(cells):
                    children[count, cell // WORD] += child[CELLS + cell] * 3 ** (cell % WORD)
                running[count] = child[OUTCOME] == ONGOING
                count += 1
    return count


def positions_by_ply(game: LineGame) -> Iterator[int]:
    """Yield how many positions of `game` can be reached after 0, 1, 2, ... moves."""
    first = game.initial_state()
    words = -(-(len(first) - CELLS) // WORD)
    boards = np.zeros((1, words), np.int64)
    yield 1
    for ply in range(game.max_moves):
        first[PLY] = ply
        children = np.zeros((len(boards) * game.num_actions, words), np.int64)
        running = np.zeros(len(children), np.bool_)
        count = _follow(game.rules, first, game.num_actions, boards, children, running)
        children, running = children[:count], running[:count]
        order = np.lexsort(children.T)
        children, running = children[order], running[order]
        new = np.ones(count, np.bool_)
        new[1:] = (children[1:] != children[:-1]).any(axis=1)
        yield int(new.sum())
        boards = children[new & running]
