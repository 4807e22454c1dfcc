"""A player: one side, or both, of many games at once.

A match tells each player what happens on the tables and turns its wheel: `reset` and `advance` keep
it informed, `begin_moves` gives it the move, `step` works on all its open questions at once, and
`take_decisions` hands out the answers that are ready.

Letters: n tables, A actions, S state size.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alphazero.errors import GameError
from alphazero.games.game import ONGOING, OUTCOME, Game, State
from alphazero.mcts.move_selection import sample_actions
from alphazero.utils.arrays import Slots

_NO_SEARCH = np.zeros(1, np.float32)
_NO_TABLES = np.zeros(0, np.int64)


class Decisions(NamedTuple):
    """Moves that are ready; who does not search leaves the last two out."""

    tables: Slots
    """[n]"""
    actions: Slots
    """[n]"""
    policies: npt.NDArray[np.float32]
    """[n, A] the search policies behind them; zeros where they are not to be learned"""
    values: npt.NDArray[np.float32]
    """[n] the values of the positions, for the player to move"""
    surprises: npt.NDArray[np.float32] = _NO_SEARCH
    """[n], or [1] for all: KL(search policy || network's prior), nats; 0 where not learned from"""
    prospects: npt.NDArray[np.float32] = _NO_SEARCH
    """[n], or [1] for all: the better of the position's value and that of its best action"""


NOTHING = Decisions(_NO_TABLES, _NO_TABLES, np.zeros((0, 0), np.float32), _NO_SEARCH[:0])
"""No move is ready; not even the policies have columns."""


class Forfeit(NamedTuple):
    """A game that a player gives up."""

    table: int
    fault: str = ""
    """what went wrong, for people; empty: it resigns, which it may on its turn alone"""


class Player(ABC):
    """Someone who plays on many tables at once."""

    @abstractmethod
    def reset(self, tables: Slots, states: State) -> None:
        """A game begins, or goes on elsewhere: `tables` [n] now show `states` [n, S]."""

    def load_games(self, tables: Slots, states: State, actions: Slots) -> None:
        """A game lies on one table [1]: `states` [1, S], to which `actions` led from the first.

        As `reset`, but for a player that knows a position only by its moves.
        """
        del actions
        self.reset(tables, states)

    @abstractmethod
    def advance(self, tables: Slots, actions: Slots) -> None:
        """`actions` [n] were played on `tables` [n], by whomever."""

    @abstractmethod
    def begin_moves(self, tables: Slots) -> None:
        """It is this player's move on `tables` [n]."""

    @abstractmethod
    def step(self) -> None:
        """Work for a moment on every table where a move is owed."""

    @abstractmethod
    def take_decisions(self) -> Decisions:
        """Return the moves that are ready, each once."""

    def forfeits(self) -> list[Forfeit]:
        """Return the games that this player gives up, each once."""
        return []

    def close(self) -> None:  # noqa: B027  (most have nothing to put away)
        """Leave all tables for good."""

    def choose(self, state: State) -> int:
        """Return this player's move in one position `int64 [S]`, outside any match.

        Raises:
            GameError: when the game is over.
        """
        if state[OUTCOME] != ONGOING:
            raise GameError("the game is over: there is no move to choose")
        table = np.array([0])
        self.reset(table, state[None])
        self.begin_moves(table)
        while not len((decisions := self.take_decisions()).tables):
            self.step()
        return int(decisions.actions[0])


class RandomPlayer(Player):
    """Plays any legal move, all alike."""

    def __init__(self, game: Game, tables: int, rng: np.random.Generator) -> None:
        self.game = game
        self.rng = rng
        self._states = np.zeros((tables, game.state_size), np.int64)
        self._asked: Slots = np.zeros(0, np.int64)

    def reset(self, tables: Slots, states: State) -> None:
        """Remember the positions; what was asked there before is void."""
        self._states[tables] = states
        self._asked = np.setdiff1d(self._asked, tables)

    def advance(self, tables: Slots, actions: Slots) -> None:
        """Play the moves on the remembered positions."""
        for table, action in zip(tables, actions, strict=True):
            self._states[table] = self.game.play(self._states[table], int(action))

    def begin_moves(self, tables: Slots) -> None:
        """Remember where a move is owed."""
        self._asked = np.union1d(self._asked, tables)

    def step(self) -> None:
        """Need no thought."""

    def take_decisions(self) -> Decisions:
        """Answer every question at once."""
        tables, self._asked = self._asked, np.zeros(0, np.int64)
        masks = [self.game.legal_action_mask(self._states[table]) for table in tables]
        policies = np.array(masks, np.float32).reshape(len(tables), self.game.num_actions)
        policies /= np.maximum(policies.sum(axis=1, keepdims=True), 1)
        actions = sample_actions(policies, np.ones(len(tables)), self.rng)
        return Decisions(tables, actions, policies, np.zeros(len(tables), np.float32))
