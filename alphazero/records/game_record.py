"""The record of a game, for training and for match results."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphazero.games.game import ONGOING, Game
from alphazero.utils.arrays import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array

NEVER_RESIGN = -1.0
"""A threshold below every value."""


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


@dataclass(frozen=True, eq=False)
class Policies:
    """The search policies of P positions, as the M moves that have a share in them.

    A game may have thousands of actions and few legal moves, of which a search visits fewer.
    """

    counts: Int32Array
    """[P] moves with a share; 0: the position is no training target"""
    actions: Int32Array
    """[M] of one position after the other, ascending in each"""
    shares: Float32Array
    """[M] above 0; those of a position add up to 1, but for tiny ones that are left out"""

    @classmethod
    def none(cls, positions: int) -> "Policies":
        """Return no policies, for positions that are no training targets."""
        nothing = np.zeros(0, np.int32)
        return cls(np.zeros(positions, np.int32), nothing, nothing.astype(np.float32))

    @classmethod
    def join(cls, parts: "Sequence[Policies]") -> "Policies":
        """Concatenate the positions of `parts`, at least one."""
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def searched(self) -> BoolArray:
        """[P] whether a position is a training target."""
        return self.counts > 0

    @property
    def rows(self) -> Int64Array:
        """[M] the position of each move."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def part(self, begin: int, end: int) -> "Policies":
        """Return the policies of the positions from `begin` to before `end`."""
        first, last = self.counts[:begin].sum(), self.counts[:end].sum()
        return Policies(self.counts[begin:end], self.actions[first:last], self.shares[first:last])

    def dense(self, num_actions: int) -> Float32Array:
        """Return the shares of all actions, [P, A]."""
        dense = np.zeros((len(self), num_actions), np.float32)
        dense[self.rows, self.actions] = self.shares
        return dense

    def entropies(self) -> Float64Array:
        """Return -sum of pi log pi in nats, [P]; from 0 to log A."""
        shares = self.shares.astype(np.float64)
        sums: Float64Array = np.zeros(len(self))
        np.add.at(sums, self.rows, -shares * np.log(shares))
        return sums


@dataclass(frozen=True)
class GameRecord:
    """A game of T moves, finished or not."""

    pairing: Pairing
    actions: Int32Array
    """[T]"""
    policies: Policies
    """of the T searches"""
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
    def opening(cls, pairing: Pairing) -> "GameRecord":
        """Return an unfinished game with only the moves of its opening, which were not searched."""
        length = len(pairing.opening)
        nothing = np.zeros(length, np.float32)
        actions = np.array(pairing.opening, np.int32)
        return cls(pairing, actions, Policies.none(length), nothing, nothing, ONGOING)

    def variant(self, game: Game) -> Game:
        return game.variant(self.pairing.options)

    def moves(self, game: Game) -> list[str]:
        return game.action_names(self.variant(game).initial_state(), self.actions)
