"""Exhaustive minimax: the exact value of every position of a small game.

Letters: P positions, S state size, A actions.
"""

from typing import NamedTuple

import numpy as np

from alphazero.errors import GameError
from alphazero.games.game import ONGOING, Game, State, to_play, value_of
from alphazero.utils.arrays import BoolArray, Int64Array

POSITION_LIMIT = 500_000
"""Maximum number of positions to solve, in ten to twenty seconds."""

MOVE_LIMIT = 100
"""Maximum length of a game to solve: longer games have too many positions."""

ILLEGAL = -2
"""The value of an illegal action."""


class SolvedPositions(NamedTuple):
    """Unfinished positions with their exact values."""

    states: State
    """[P, S]"""
    values: Int64Array
    """[P] +1, 0 or -1 for the player to move, under perfect play"""
    action_values: Int64Array
    """[P, A] the same for each action, for the player who takes it, or ILLEGAL"""

    @property
    def optimal(self) -> BoolArray:
        """The actions that keep the position's value, [P, A]."""
        optimal: BoolArray = self.action_values == self.values[:, None]
        return optimal

    def take(self, positions: Int64Array) -> "SolvedPositions":
        """Return the entries of the positions with these indices."""
        return SolvedPositions(*(array[positions] for array in self))


def solve_all_positions(game: Game, limit: int = POSITION_LIMIT) -> SolvedPositions:
    """Solve all reachable positions of a game; the first is the initial one.

    Positions with different last moves are different. Raises GameError for more than `limit`
    positions, or games longer than MOVE_LIMIT.
    """
    too_many = GameError(f"the game has more than {limit:,} positions: too many to solve all")
    if game.max_moves > MOVE_LIMIT:
        raise GameError(f"a game can have {game.max_moves:,} moves: too many to solve it whole")
    values: dict[bytes, int] = {}
    solved: dict[bytes, tuple[State, Int64Array]] = {}

    def value_at(state: State) -> int:
        key = state.tobytes()
        if key in values:
            return values[key]
        if (outcome := game.outcome(state)) != ONGOING:
            return values.setdefault(key, value_of(outcome, to_play(state)))
        if len(solved) >= limit:
            raise too_many
        action_values = np.full(game.num_actions, ILLEGAL)
        solved[key] = (state, action_values)
        for action in np.flatnonzero(game.legal_action_mask(state)):
            action_values[action] = -value_at(game.play(state, int(action)))
        values[key] = int(action_values.max())
        return values[key]

    value_at(game.initial_state())
    return SolvedPositions(
        np.array([state for state, _ in solved.values()]),
        np.array([values[key] for key in solved]),
        np.array([action_values for _, action_values in solved.values()]),
    )
