"""A player: one side, or both, of many games at once.

A match tells each player what happens on the tables and turns its wheel: `start` and `follow`
keep it informed, `ask` gives it the move, `think` works on all its open questions at once, and
`decide` hands out the answers that are ready.

Letters: n tables, A actions, S state size.
"""

import time
from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alphazero.errors import GameError
from alphazero.games.game import ONGOING, OUTCOME, PLY, Game, State
from alphazero.mcts.kernels.tree import Slots
from alphazero.mcts.move_selection import divergences, draw_actions
from alphazero.mcts.search import TreeSearch

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
    def start(self, tables: Slots, states: State) -> None:
        """A game begins, or goes on elsewhere: `tables` [n] now show `states` [n, S]."""

    def begin(self, tables: Slots, states: State, actions: Slots) -> None:
        """A game lies on one table [1]: `states` [1, S], to which `actions` led from the first.

        As `start`, but for a player that knows a position only by its moves.
        """
        del actions
        self.start(tables, states)

    @abstractmethod
    def follow(self, tables: Slots, actions: Slots) -> None:
        """`actions` [n] were played on `tables` [n], by whomever."""

    @abstractmethod
    def ask(self, tables: Slots) -> None:
        """It is this player's move on `tables` [n]."""

    @abstractmethod
    def think(self) -> None:
        """Work for a moment on every table where a move is owed."""

    @abstractmethod
    def decide(self) -> Decisions:
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
        self.start(table, state[None])
        self.ask(table)
        while not len((decisions := self.decide()).tables):
            self.think()
        return int(decisions.actions[0])


class RandomPlayer(Player):
    """Plays any legal move, all alike."""

    def __init__(self, game: Game, tables: int, rng: np.random.Generator) -> None:
        self.game = game
        self.rng = rng
        self._states = np.zeros((tables, game.state_size), np.int64)
        self._asked: Slots = np.zeros(0, np.int64)

    def start(self, tables: Slots, states: State) -> None:
        """Remember the positions; what was asked there before is void."""
        self._states[tables] = states
        self._asked = np.setdiff1d(self._asked, tables)

    def follow(self, tables: Slots, actions: Slots) -> None:
        """Play the moves on the remembered positions."""
        for table, action in zip(tables, actions, strict=True):
            self._states[table] = self.game.play(self._states[table], int(action))

    def ask(self, tables: Slots) -> None:
        """Remember where a move is owed."""
        self._asked = np.union1d(self._asked, tables)

    def think(self) -> None:
        """Need no thought."""

    def decide(self) -> Decisions:
        """Answer every question at once."""
        tables, self._asked = self._asked, np.zeros(0, np.int64)
        masks = [self.game.legal_action_mask(self._states[table]) for table in tables]
        policies = np.array(masks, np.float32).reshape(len(tables), self.game.num_actions)
        policies /= np.maximum(policies.sum(axis=1, keepdims=True), 1)
        actions = draw_actions(policies, np.ones(len(tables)), self.rng)
        return Decisions(tables, actions, policies, np.zeros(len(tables), np.float32))


class Temperature(NamedTuple):
    """How moves are drawn: `early` for the first `moves` plies of a game, `late` afterwards."""

    early: float
    moves: int
    late: float


class PlayoutCap(NamedTuple):
    """Most moves are searched quickly, to finish games; the others fully, to learn from.

    Wu, *Accelerating Self-Play Learning in Go* (2019), section 3.1. Quick searches have no noise.
    """

    full_share: float
    """the probability of a full search"""
    fast_simulations: int


ALWAYS_BEST = Temperature(0.0, 0, 0.0)
"""Play the most visited move."""


TURNS = 16
"""Turns of the wheel between two looks at the rest of the world, which cost time of their own."""


class SearchPlayer(Player):
    """Searches every table's position, whatever the search, and plays by visits.

    Each table is a slot of `search`. A search ends with its simulations, or after `seconds`,
    whichever is first.
    """

    def __init__(
        self,
        search: TreeSearch,
        *,
        seconds: float | None = None,
        temperature: Temperature = ALWAYS_BEST,
        cap: PlayoutCap | None = None,
    ) -> None:
        self.search = search
        self.seconds = seconds
        self.temperature = temperature
        self.cap = cap
        self.rng = search.rng
        self._plies = np.zeros(search.slots, np.int64)
        self._full = np.ones(search.slots, np.bool_)
        self._deadlines = np.full(search.slots, np.inf)

    def start(self, tables: Slots, states: State) -> None:
        """Begin with empty trees."""
        self._plies[tables] = states[:, PLY]
        self.search.start(tables, states)

    def follow(self, tables: Slots, actions: Slots) -> None:
        """Keep the part of the tree below the move."""
        self._plies[tables] += 1
        self.search.follow(tables, actions)

    def ask(self, tables: Slots) -> None:
        """Begin a search."""
        if self.cap is None:
            self.search.ask(tables)
        else:
            full = self._full[tables] = self.rng.random(len(tables)) < self.cap.full_share
            self.search.ask(tables[full])
            self.search.ask(tables[~full], self.cap.fast_simulations, explore=False)
        if self.seconds is not None:
            self._deadlines[tables] = time.monotonic() + self.seconds

    def think(self) -> None:
        """Search until moves are ready and the others fill no batch, for a few turns at most."""
        for _ in range(TURNS):
            if self.seconds is not None:
                late = np.flatnonzero(self._deadlines < time.monotonic())
                self.search.stop(late)
                self._deadlines[late] = np.inf
            self.search.think()
            if self.search.is_short:
                break

    def decide(self) -> Decisions:
        """Return a move for every search that is done."""
        tables = self.search.collect()
        if not len(tables):
            return NOTHING
        roots = self.search.roots(tables)
        early = self._plies[tables] < self.temperature.moves
        temperatures = np.where(early, self.temperature.early, self.temperature.late)
        actions = draw_actions(roots.policies, temperatures, self.rng)
        surprises = divergences(roots.targets, roots.priors).astype(np.float32)
        targets = roots.targets.astype(np.float32)
        quick = ~self._full[tables]
        targets[quick], surprises[quick] = 0, 0
        return Decisions(
            tables,
            actions,
            targets,
            roots.values.astype(np.float32),
            surprises,
            roots.prospects().astype(np.float32),
        )
