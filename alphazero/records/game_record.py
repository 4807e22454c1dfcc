"""A game as it was played: what self-play learns from and what matches count."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alphazero.games.game import ONGOING, Game

NEVER_RESIGN = -1.0
"""A threshold that no value is below."""

Floats = npt.NDArray[np.float32]

RESIGNED = 3
"""In place of an outcome: the player to move gives up."""

MISCOUNTED = 4
"""In place of an outcome: the ply is not the number of moves played, or is beyond `max_moves`."""


@dataclass(frozen=True)
class Pairing:
    """A game to be played: who sits where, and the moves it begins with."""

    players: tuple[int, int] = (0, 0)
    """Indices into the match's players: who is player 0, who is player 1."""
    opening: tuple[int, ...] = ()
    pair_id: int = 0
    """For the caller's own use."""
    may_resign: bool = False
    """Whether the players may resign; otherwise they play to the end."""


class MoveData(NamedTuple):
    """What is written down of the games on the tables, move by move, as `Decisions` tell it."""

    actions: npt.NDArray[np.int32]
    """[T, length]"""
    policies: Floats
    """[T, length, A]"""
    values: Floats
    """[T, length]"""
    surprises: Floats
    """[T, length]"""
    prospects: Floats
    """[T, length]"""


@dataclass(frozen=True)
class GameRecord:
    """A game, finished or under way; T moves."""

    pairing: Pairing
    actions: npt.NDArray[np.int32]
    """[T]"""
    policies: Floats
    """[T, A] search policies; rows of zeros for moves that are not to be learned from"""
    values: Floats
    """[T] the searches' values, for the player to move; zeros for the opening's moves"""
    surprises: Floats
    """[T] KL(search policy || network's prior), nats; 0 for moves not to be learned from"""
    prospects: Floats
    """[T] the better of the value and that of the best action; zeros for the opening's moves"""
    outcome: int
    """For player 0: +1, 0, -1, or ONGOING."""
    resigned: bool = False
    """Whether the player to move after the last move resigned."""
    forfeit_reason: str = ""
    """Why the game was taken from the player who lost it, in words; empty: it was not."""

    @classmethod
    def opening(cls, game: Game, pairing: Pairing) -> "GameRecord":
        """Return a game under way that has only its opening's moves, which nobody searched."""
        length = len(pairing.opening)
        nothing = np.zeros(length, np.float32)
        policies = np.zeros((length, game.num_actions), np.float32)
        actions = np.array(pairing.opening, np.int32)
        return cls(pairing, actions, policies, nothing, nothing, nothing, ONGOING)

    @property
    def move_data(self) -> MoveData:
        """What was written down of each move, as a match writes it."""
        return MoveData(self.actions, self.policies, self.values, self.surprises, self.prospects)

    def moves(self, game: Game) -> list[str]:
        """Return the moves in the game's notation."""
        names, state = [], game.initial_state()
        for action in self.actions:
            names.append(game.action_name(state, int(action)))
            state = game.play(state, int(action))
        return names

    def describe(self, game: Game) -> str:
        """Write the game for people: who won, the moves, the last position."""
        winner = {1: "the first player won", 0: "a draw", -1: "the second player won"}
        result = "unfinished" if self.outcome == ONGOING else winner[self.outcome]
        if self.resigned:
            result += " by resignation"
        if self.forfeit_reason:
            result += f" by adjudication: {self.forfeit_reason}"
        state = game.play(game.initial_state(), *map(int, self.actions))
        moves = " ".join(self.moves(game))
        return f"{result}, {len(self.actions)} moves\n{moves}\n{game.render(state)}"
