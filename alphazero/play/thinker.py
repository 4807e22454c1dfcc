"""A player at one table that thinks as long as somebody wants it to.

Players that search a tree can be watched while they think, stopped at any time and left to ponder;
others are asked for a move and give one.
"""

import dataclasses
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from alphazero.errors import PlayerError
from alphazero.games.game import Game, State
from alphazero.players.names import Entrant
from alphazero.players.player import UNLIMITED, Player, SearchPlayer
from alphazero.search.wheel import Roots, TreeSearch

TABLE = np.array([0])

LONGEST_LINE = 16
"""Moves of a line that is shown."""


class Candidate(NamedTuple):
    """What a search has found of one move."""

    action: int
    visits: int
    value: float
    """mean, for the player to move, from -1 to 1; that of the position where nothing was visited"""
    prior: float
    line: list[int]
    """the most visited line, which begins with the move"""


class Thinker:
    """Thinks about one game."""

    def __init__(self, entrant: Entrant, game: Game) -> None:
        self.simulations = entrant.options.usual_simulations
        """A move's, where no clock decides; None: `seconds` decide"""
        self.is_told = getattr(entrant.options, "simulations", None) is not None
        """Whether the person wants so many simulations, clock or no clock."""
        self.seconds: float | None = getattr(entrant.options, "seconds", None)
        endless = dataclasses.replace(entrant, options=entrant.options.without_limit())
        self.player: Player = endless.seat(game)
        self.game = game

    @property
    def search(self) -> TreeSearch:
        """The player's tree.

        Raises:
            PlayerError: when it has none.
        """
        if not isinstance(self.player, SearchPlayer):
            raise PlayerError("not supported: this player does not search as a checkpoint does")
        return self.player.search

    @property
    def searches(self) -> bool:
        """Whether it can be watched, stopped and left to ponder."""
        return isinstance(self.player, SearchPlayer)

    def show(self, moves: list[int]) -> None:
        """Lay out the position after these moves; what was known of another one is forgotten."""
        self.player.start(TABLE, self.game.initial_state()[None])
        self.follow(moves)

    def follow(self, moves: list[int]) -> None:
        """See moves made; what is known of the position after them is kept."""
        for action in moves:
            self.player.follow(TABLE, np.array([action]))

    def choose(
        self, seconds: float | None, watch: Callable[[], object] = bool
    ) -> tuple[int | None, float]:
        """Return a move, or None to resign, and the position's value; `watch` is called meanwhile.

        It thinks for so many `seconds`, or as it was told where that is None.

        Raises:
            PlayerError: when another program is behind it and fails.
        """
        if self.searches:
            return self._search(seconds, watch)
        if seconds is not None and hasattr(self.player, "seconds"):
            self.player.seconds = seconds
        self.player.ask(TABLE)
        while not len((decisions := self.player.decide()).tables):
            for _, fault in self.player.forfeits():
                if fault:
                    raise PlayerError(f"no move: {fault}")
                return None, -1.0
            self.player.think()
            watch()
        return int(decisions.actions[0]), float(decisions.values[0])

    def _search(self, seconds: float | None, watch: Callable[[], object]) -> tuple[int, float]:
        """Search and choose."""
        simulations = self.simulations
        if seconds is None:
            seconds = self.seconds
        elif not self.is_told:
            simulations = None
        deadline = np.inf if seconds is None else time.monotonic() + seconds
        self.begin(simulations)
        while not self.search.is_ready:
            self.turn()
            watch()
            if time.monotonic() > deadline:
                self.search.stop(TABLE)
        decisions = self.player.decide()
        return int(decisions.actions[0]), float(decisions.values[0])

    def begin(self, simulations: int | None = None) -> None:
        """Begin to search; without end where no number is given."""
        self.search.ask(TABLE, UNLIMITED if simulations is None else simulations)

    def turn(self) -> None:
        """Search for some milliseconds, unless there is nothing more to find."""
        if not self.search.is_ready:
            self.search.think()

    def end(self) -> None:
        """End a search; what it has found stays."""
        self.search.stop(TABLE)
        while not len(self.search.collect()):
            self.search.think()

    @property
    def roots(self) -> Roots | None:
        """What the tree tells of the position, [1, A]; None when it was never looked at."""
        return self.search.roots(TABLE) if self.search.has_looked(0) else None

    def candidates(self, state: State) -> list[Candidate]:
        """Return what the search has found of each legal move in `state`, the best first."""
        roots = self.roots
        if roots is None:
            return []
        legal = np.flatnonzero(self.game.legal_action_mask(state))
        order = np.lexsort((-roots.priors[0, legal], -roots.visits[0, legal]))
        order = order[np.argsort(-roots.policies[0, legal[order]], kind="stable")]
        values = np.where(roots.visits[0] > 0, roots.action_values[0], roots.values[0])
        return [
            Candidate(
                action,
                int(roots.visits[0, action]),
                float(values[action]),
                float(roots.priors[0, action]),
                self.search.variation(0, action, LONGEST_LINE),
            )
            for action in map(int, legal[order])
        ]
