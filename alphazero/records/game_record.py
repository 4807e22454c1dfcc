"""The record of a game, for training and for match results."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alphazero.games.game import ONGOING, Game
from alphazero.games.results import describe_result
from alphazero.utils.arrays import Float32Array, Int32Array

NEVER_RESIGN = -1.0
"""A threshold below every value."""

RESIGNED = 3
"""A special outcome: the player to move resigns."""


@dataclass(frozen=True)
class Pairing:
    """A game to play: its players and its opening."""

    players: tuple[int, int] = (0, 0)
    """indices into the match's players: player 0, player 1"""
    opening: tuple[int, ...] = ()
    pair_id: int = 0
    """for use by the caller"""
    may_resign: bool = False
    """whether the players may resign; else they play to the end"""
    options: tuple[int, ...] = ()
    """values of the game's `variable_options`; empty: the game's own"""


class MoveData(NamedTuple):
    """The data of the moves of T parallel games, as in `Decisions`."""

    actions: Int32Array
    """[T, length]"""
    policies: Float32Array
    """[T, length, A]"""
    values: Float32Array
    """[T, length]"""
    best_values: Float32Array
    """[T, length]"""


@dataclass(frozen=True)
class GameRecord:
    """A game of T moves, finished or not."""

    pairing: Pairing
    actions: Int32Array
    """[T]"""
    policies: Float32Array
    """[T, A] search policies; zeros if the policy is not a training target"""
    values: Float32Array
    """[T] search values for the player to move; zeros for opening moves"""
    best_values: Float32Array
    """[T] the larger of the value and the best action's value; zeros for opening moves"""
    outcome: int
    """for player 0: +1, 0, -1, or ONGOING"""
    resigned: bool = False
    """whether the player to move after the last move resigned"""
    forfeit_reason: str = ""
    """why the loser forfeited the game; empty if nobody did"""

    @classmethod
    def opening(cls, game: Game, pairing: Pairing) -> "GameRecord":
        """Return an unfinished game with only the moves of its opening, which were not searched."""
        length = len(pairing.opening)
        nothing = np.zeros(length, np.float32)
        policies = np.zeros((length, game.num_actions), np.float32)
        actions = np.array(pairing.opening, np.int32)
        return cls(pairing, actions, policies, nothing, nothing, ONGOING)

    @property
    def move_data(self) -> MoveData:
        """The data of the moves, without the games axis."""
        return MoveData(self.actions, self.policies, self.values, self.best_values)

    def variant(self, game: Game) -> Game:
        """Return `game` with the options of this record."""
        return game.variant(self.pairing.options)

    def moves(self, game: Game) -> list[str]:
        """Return the moves in the game's notation."""
        return game.action_names(self.variant(game).initial_state(), self.actions)

    def describe(self, game: Game) -> str:
        """Return the result, the moves and the last position as text."""
        result = describe_result(self.outcome, self.resigned, self.forfeit_reason)
        game = self.variant(game)
        state = game.play(game.initial_state(), *map(int, self.actions))
        moves = " ".join(self.moves(game))
        return f"{result}, {len(self.actions)} moves\n{moves}\n{game.render(state)}"
