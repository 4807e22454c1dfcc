"""The player interface: one player plays one side, or both, of many games at once.

A match reports events with `reset` and `advance` and requests moves with `begin_moves`. `step`
works on all requested moves, and `take_decisions` returns the finished ones.

Letters: n games, W actions with a place in the policies, S state size. `slots` holds the indices of
games.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np

from alphazero.errors import GameError
from alphazero.games.game import ONGOING, OUTCOME, Game, State
from alphazero.utils.arrays import Float32Array, Int64Array

_NO_SEARCH = np.zeros(1, np.float32)
_NO_SLOTS = np.zeros(0, np.int64)


class Decisions(NamedTuple):
    """Finished moves. Players that do not search leave `best_values` out."""

    slots: Int64Array
    """[n]"""
    actions: Int64Array
    """[n]"""
    policy_actions: Int64Array
    """[n, W]"""
    policy_shares: Float32Array
    """[n, W] shares of these actions in the search policy; zeros where it is no training target"""
    values: Float32Array
    """[n] position values, for the player to move"""
    best_values: Float32Array = _NO_SEARCH
    """[n], or [1] for all: the larger of the position's value and its best action's value"""


NOTHING = Decisions(
    _NO_SLOTS, _NO_SLOTS, _NO_SLOTS.reshape(0, 0), _NO_SEARCH[:0].reshape(0, 0), _NO_SEARCH[:0]
)
"""No finished moves."""
DecisionsType = numba.typeof(NOTHING)


class Forfeit(NamedTuple):
    """A game that a player loses by resignation, or by forfeit for a reason."""

    slot: int
    reason: str = ""
    """what went wrong, as a message; empty for a resignation, possible only on the own turn"""


class Player(ABC):
    """Plays many games of `game` at once."""

    game: Game

    @abstractmethod
    def reset(self, slots: Int64Array, states: State) -> None:
        """Start games `slots` [n], or set their positions, at `states` [n, S]."""

    def load_games(self, slots: Int64Array, states: State, lines: Sequence[Int64Array]) -> None:
        """Load games `slots` [n] at `states` [n, S], each after the moves of one of `lines`.

        As `reset`, but for players that need the move history.
        """
        del lines
        self.reset(slots, states)

    @abstractmethod
    def advance(self, slots: Int64Array, actions: Int64Array) -> None:
        """Apply `actions` [n], of either player, in games `slots` [n]."""

    @abstractmethod
    def begin_moves(self, slots: Int64Array) -> None:
        """Request a move in games `slots` [n]."""

    @abstractmethod
    def step(self) -> None:
        """Work briefly on all requested moves."""

    @abstractmethod
    def take_decisions(self) -> Decisions:
        """Return the finished moves, each once."""

    def forfeits(self) -> list[Forfeit]:
        """Return the games that this player forfeits, each once."""
        return []

    def close(self) -> None:  # noqa: B027  (most players hold no resources)
        """Release all resources."""

    def choose(self, state: State) -> int:
        """Return a move in one position `int64 [S]`, outside any match.

        Raises GameError when the game is over, and for what is no state of the player's game.
        """
        self.game.check_state(state)
        if state[OUTCOME] != ONGOING:
            raise GameError("the game is over: there is no move to choose")
        slot = np.array([0])
        self.reset(slot, state[None])
        self.begin_moves(slot)
        while not len((decisions := self.take_decisions()).slots):
            self.step()
        return int(decisions.actions[0])
