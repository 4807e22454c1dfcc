"""A player that thinks about one game, at one table, as long as somebody wants it to.

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
from alphazero.mcts.rollout_methods import UNLIMITED
from alphazero.mcts.search import RootStatistics, TreeSearch
from alphazero.players.base import Player
from alphazero.players.registry import PlayerSpec
from alphazero.players.search_player import SearchPlayer

LONGEST_LINE = 16
"""Moves of a line that is shown."""

EVERY = 10**9
"""More lines than there are moves."""


class Candidate(NamedTuple):
    """What a search has found of one move."""

    action: int
    visits: int
    value: float
    """mean, for the player to move, from -1 to 1; that of the position where nothing was visited"""
    prior: float
    line: list[int]
    """the most visited line, which begins with the move"""


class Analyzer:
    """Thinks about one game."""

    def __init__(
        self, entrant: PlayerSpec, game: Game, player: Player | None = None, table: int = 0
    ) -> None:
        """`player` is the entrant seated at several tables, of which this is one.

        Without it the entrant is seated here alone. Who shares a player turns its wheel and hands
        out its decisions; `choose`, `step` and `end` are for players that are not shared.
        """
        self.simulations = entrant.options.default_simulations
        """A move's, where no clock decides; None: `seconds` decide"""
        self.is_told = getattr(entrant.options, "simulations", None) is not None
        """Whether the person wants so many simulations, clock or no clock."""
        self.seconds: float | None = getattr(entrant.options, "seconds", None)
        self.player: Player = player or without_limit(entrant).create(game)
        self.game = game
        self.table = np.array([table])
        self.moves: list[int] | None = None
        """Those that the player has seen on its table; None: it has no game before it."""

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

    def set_position(self, moves: list[int]) -> None:
        """Lay out the position after these moves; what was known of another one is forgotten."""
        state = self.game.play(self.game.initial_state(), *moves)
        self.player.load_games(self.table, state[None], np.array(moves, np.int64))
        self.moves = list(moves)

    def sync(self, moves: list[int]) -> None:
        """Go to the position after these moves; what is known of it is kept."""
        if self.moves is None or moves[: len(self.moves)] != self.moves:
            self.set_position(moves)
            return
        for action in moves[len(self.moves) :]:
            self.player.advance(self.table, np.array([action]))
        self.moves = list(moves)

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
        self.player.begin_moves(self.table)
        while not len((decisions := self.player.take_decisions()).tables):
            for _, fault in self.player.forfeits():
                if fault:
                    raise PlayerError(f"no move: {fault}")
                return None, -1.0
            self.player.step()
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
        while not self.search.has_finished:
            self.step()
            watch()
            if time.monotonic() > deadline:
                self.stop()
        decisions = self.player.take_decisions()
        return int(decisions.actions[0]), float(decisions.values[0])

    def begin(self, simulations: int | None = None) -> None:
        """Begin to search; without end where no number is given."""
        self.search.begin_search(self.table, UNLIMITED if simulations is None else simulations)

    def step(self) -> None:
        """Search for some milliseconds, unless there is nothing more to find."""
        if not self.search.has_finished:
            self.search.step()

    def stop(self) -> None:
        """Let a search end; what it has found stays, and the player decides by it."""
        self.search.stop(self.table)

    def end(self) -> None:
        """End a search without a decision."""
        self.stop()
        while not len(self.search.pop_finished()):
            self.search.step()

    @property
    def roots(self) -> RootStatistics | None:
        """What the tree tells of the position, [1, A]; None when it was never looked at."""
        looked = self.search.root_is_evaluated(int(self.table[0]))
        return self.search.root_statistics(self.table) if looked else None

    @property
    def first_value(self) -> float:
        """What the bare network, or one rollout, said of the position, which was looked at."""
        return self.search.root_network_value(int(self.table[0]))

    def candidates(self, state: State, lines: int = EVERY) -> list[Candidate]:
        """Return what the search has found of each legal move in `state`, the best first.

        So many `lines` are followed; of the other moves the move alone is told.
        """
        roots = self.roots
        if roots is None:
            return []
        legal = np.flatnonzero(self.game.legal_action_mask(state))
        order = np.lexsort((-roots.priors[0, legal], -roots.visits[0, legal]))
        order = order[np.argsort(-roots.move_policies[0, legal[order]], kind="stable")]
        values = np.where(roots.visits[0] > 0, roots.action_values[0], roots.values[0])
        return [
            Candidate(
                action,
                int(roots.visits[0, action]),
                float(values[action]),
                float(roots.priors[0, action]),
                self.search.principal_variation(int(self.table[0]), action, LONGEST_LINE)
                if place < lines
                else [action],
            )
            for place, action in enumerate(map(int, legal[order]))
        ]


def without_limit(entrant: PlayerSpec) -> PlayerSpec:
    """Return the entrant with trees that have room, for a face that says how long to think."""
    return dataclasses.replace(entrant, options=entrant.options.unlimited())
