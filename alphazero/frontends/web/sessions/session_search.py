"""The searches of a web session: what to search, and the search in progress."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from alphazero.frontends.game_tree import GameNode
from alphazero.frontends.search_pool import (
    SearchPool,
    SearchProgress,
    SearchRequest,
    SearchResponse,
)
from alphazero.frontends.web.catalog.catalog import PlayerOption
from alphazero.games.game import Game, to_play
from alphazero.players.checkpoint_player import SEQUENTIAL_BELOW
from alphazero.players.levels import LevelSettings

MOVE, HINT, REVIEW, ANALYSIS, SECOND = "move", "hint", "review", "analysis", "second"
"""Purposes of a search; the last is the analysis by a second player, beside the first one."""

FindPool = Callable[[PlayerOption, Game, bool], SearchPool]
"""Returns the search pool of a player and a game; True: for short searches, one by one."""


@dataclass(frozen=True)
class SearchGoal:
    """The search to run now."""

    purpose: str
    node: GameNode
    player: PlayerOption
    simulations: int | None = None
    seconds: float | None = None
    level: LevelSettings | None = None

    @property
    def is_sequential(self) -> bool:
        """Whether it is a short network search, for a sequential pool."""
        return (
            self.player.spec.options.saved is not None
            and self.simulations is not None
            and self.simulations <= SEQUENTIAL_BELOW
        )

    @property
    def client(self) -> str:
        """The part of the session whose tree it goes on with."""
        if self.purpose == MOVE:
            return str(to_play(self.node.state))
        return SECOND if self.purpose == SECOND else ANALYSIS


@dataclass(frozen=True, eq=False)
class RunningSearch:
    """A search goal in progress in a pool."""

    goal: SearchGoal
    request: SearchRequest
    pool: SearchPool
    started: float


class CurrentSearch:
    """At most one search in progress; its callbacks are not called once it is replaced."""

    search: RunningSearch | None = None

    def __init__(
        self,
        session: str,
        find_pool: FindPool,
        on_progress: Callable[[RunningSearch, SearchProgress], None],
        on_response: Callable[[RunningSearch, SearchResponse], None],
    ) -> None:
        """`session` distinguishes the clients of this session in the pools."""
        self._session, self._find_pool = session, find_pool
        self._on_progress, self._on_response = on_progress, on_response
        self._per_second = 0.0
        self._pools: dict[str, SearchPool] = {}
        """pools by client"""

    @property
    def per_second(self) -> float:
        """Simulations per second of the search in progress, or 0."""
        return self._per_second if self.search is not None else 0.0

    def cancel(self) -> None:
        """End the search without a response."""
        if self.search is not None:
            self.search.pool.cancel(self.search.request)
            self.search = None

    def close(self) -> None:
        """End the search, and release its slots in the pools."""
        self.cancel()
        for client, pool in self._pools.items():
            pool.release((self._session, client))
        self._pools.clear()

    def set_goal(self, goal: SearchGoal | None, game: Game) -> None:
        """Replace the search, unless it has the same goal.

        Raises:
            AlphaZeroError: when no pool is free; then no search runs.
        """
        if self.search is not None and self.search.goal == goal:
            return
        self.cancel()
        if goal is None:
            return
        pool = self._find_pool(goal.player, game, goal.is_sequential)
        former = self._pools.get(goal.client)
        if former is not None and former is not pool:
            former.release((self._session, goal.client))
        self._pools[goal.client] = pool
        request = SearchRequest(
            (self._session, goal.client),
            goal.node.moves,
            goal.node.state,
            goal.simulations,
            goal.seconds,
            lambda progress: self._progress(search, progress),
            lambda response: self._respond(search, response),
            level=goal.level,
        )
        search = RunningSearch(goal, request, pool, asyncio.get_running_loop().time())
        self.search, self._per_second = search, 0.0
        pool.submit(request)

    def _progress(self, search: RunningSearch, progress: SearchProgress) -> None:
        if self.search is search:
            self._per_second = progress.per_second
            self._on_progress(search, progress)

    def _respond(self, search: RunningSearch, response: SearchResponse) -> None:
        if self.search is search:
            self._on_response(search, response)
