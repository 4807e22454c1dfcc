"""Exhaustive minimax: the exact value of every position of a game small enough to count out.

Letters: P positions, S state size, A actions.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alphazero.errors import GameError
from alphazero.games.game import ONGOING, Game, State, to_play, value_of

POSITION_LIMIT = 500_000
"""Positions that are counted out at most: some ten or twenty seconds."""

MOVE_LIMIT = 100
"""Moves of the longest game that is counted out: a game that may last longer has too many."""


class Solution(NamedTuple):
    """Every position that can be reached and is not finished, with its exact answer."""

    states: State
    """[P, S]; the initial state first"""
    values: npt.NDArray[np.int64]
    """[P] +1, 0 or -1 for the player to move, when both play without mistake"""
    optimal: npt.NDArray[np.bool_]
    """[P, A] the actions that keep that value"""


def solve(game: Game, limit: int = POSITION_LIMIT) -> Solution:
    """Solve a game by looking at everything.

    Positions are told apart by their whole state, the last move included.

    Raises:
        GameError: when there are more than `limit` positions, or a game may last so long that there
            must be.
    """
    too_many = GameError(
        f"the game has more than {limit:,} positions, too many to look at every one"
    )
    if game.max_moves > MOVE_LIMIT:
        raise too_many
    values: dict[bytes, int] = {}
    solved: dict[bytes, tuple[State, npt.NDArray[np.bool_]]] = {}

    def value_at(state: State) -> int:
        key = state.tobytes()
        if key in values:
            return values[key]
        outcome = game.outcome(state)
        if outcome != ONGOING:
            values[key] = value_of(outcome, to_play(state))
            return values[key]
        if len(solved) >= limit:
            raise too_many
        optimal = np.zeros(game.num_actions, np.bool_)
        solved[key] = (state, optimal)
        answers = {
            int(action): -value_at(game.play(state, int(action)))
            for action in np.flatnonzero(game.legal_action_mask(state))
        }
        best = max(answers.values())
        optimal[[action for action, value in answers.items() if value == best]] = True
        values[key] = best
        return best

    value_at(game.initial_state())
    return Solution(
        np.array([state for state, _ in solved.values()]),
        np.array([values[key] for key in solved]),
        np.array([optimal for _, optimal in solved.values()]),
    )
