"""Counts every position of a game that is won by a line, ply by ply, with the compiled rules.

Two positions are the same when the same stones lie on the same cells: boards that mirror each
other are two, and the order of the moves does not matter. Play stops at a win; a finished
position is counted like any other, once, and nothing follows it.

Letters used for shapes: N boards, M of the moves from them, C cells.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import types

from alphazero.games.compiled_rules import RulesType
from alphazero.games.game import ONGOING, OUTCOME, PLY
from alphazero.games.line_games import CELLS, LineGame
from alphazero.utils.jit import kernel

_row, _boards, _flags = types.int64[::1], types.int8[:, ::1], types.boolean[::1]


@kernel(types.int64(RulesType, _row, types.int64, _boards, _boards, _flags))
def _follow(
    rules: Any, first: Any, num_actions: int, boards: Any, children: Any, running: Any
) -> int:
    """Write the boards one move after `boards` and whether each is unfinished; return their number.

    `first` is an unfinished state with the ply of `boards`, `int8 [N, C]`; `children` is
    `int8 [M, C]` and `running` is `bool [M]`.
    """
    count, state, child = 0, first.copy(), first.copy()
    mask = np.zeros(num_actions, np.bool_)
    for board in range(len(boards)):
        state[CELLS:] = boards[board]
        rules.functions.legal(state, mask)
        for action in range(num_actions):
            if mask[action]:
                child[:] = state
                rules.functions.play(child, action)
                children[count] = child[CELLS:]
                running[count] = child[OUTCOME] == ONGOING
                count += 1
    return count


def positions_by_ply(game: LineGame) -> Iterator[int]:
    """Yield how many positions of `game` can be reached after 0, 1, 2, ... moves."""
    first = game.initial_state()
    cells = len(first) - CELLS
    boards = np.zeros((1, cells), np.int8)
    yield 1
    for ply in range(game.max_moves):
        first[PLY] = ply
        children = np.zeros((len(boards) * game.num_actions, cells), np.int8)
        running = np.zeros(len(children), np.bool_)
        count = _follow(game.rules, first, game.num_actions, boards, children, running)
        _, new = np.unique(children[:count].view(f"S{cells}"), return_index=True)
        yield len(new)
        boards = children[new[running[new]]]
