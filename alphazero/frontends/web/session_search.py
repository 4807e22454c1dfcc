"""The search of a web session: what to search, and the search in progress."""

from collections.abc import Callable
from dataclasses import dataclass

from alphazero.frontends.game_tree import GameNode
from alphazero.frontends.web.catalog import PlayerOption
from alphazero.frontends.web.search_pool import (
    SearchPool,
    SearchProgress,
    SearchRequest,
    SearchResponse,
)
from alphazero.games.game import Game, to_play
from alphazero.players.checkpoint_player import SEQUENTIAL_BELOW
from alphazero.players.levels import LevelSettings

MOVE, HINT, REVIEW, ANALYSIS = "move", "hint", "review", "analysis"
"""Purposes of a search."""

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
            self.player.spec.saved is not None
            and self.simulations is not None
            and self.simulations <= SEQUENTIAL_BELOW
        )

    @property
    def client(self) -> str:
        """The part of the session whose tree it goes on with."""
        return str(to_play(self.node.state)) if self.purpose == MOVE else ANALYSIS


class CurrentSearch:
    """At most one search in progress; its callbacks are not called once it is replaced."""

    goal: SearchGoal | None = None
    """what is searched now"""
    pool: SearchPool
    """where it is searched"""
    per_second = 0.0
    """its simulations per second"""

    def __init__(
        self,
        session: str,
        find_pool: FindPool,
        on_progress: Callable[[SearchGoal, SearchProgress], None],
        on_response: Callable[[SearchGoal, SearchResponse], None],
    ) -> None:
        """`session` distinguishes the clients of this session in the pools."""
        self._session, self._find_pool = session, find_pool
        self._on_progress, self._on_response = on_progress, on_response
        self._request: SearchRequest
        self._pools: dict[str, SearchPool] = {}
        """pools by client"""

    def cancel(self) -> None:
        """End the search without a response."""
        if self.goal is not None:
            self.pool.cancel(self._request)
        self.goal, self.per_second = None, 0.0

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
        if self.goal == goal:
            return
        self.cancel()
        if goal is None:
            return
        pool = self._find_pool(goal.player, game, goal.is_sequential)
        former = self._pools.get(goal.client)
        if former is not None and former is not pool:
            former.release((self._session, goal.client))
        self._pools[goal.client] = self.pool = pool
        request = SearchRequest(
            (self._session, goal.client),
            goal.node.moves,
            goal.node.state,
            goal.simulations,
            goal.seconds,
            lambda progress: self._progress(request, progress),
            lambda response: self._respond(request, response),
            level=goal.level,
        )
        self.goal, self._request = goal, request
        pool.submit(request)

    def _progress(self, request: SearchRequest, progress: SearchProgress) -> None:
        if self.goal is not None and self._request is request:
            self.per_second = progress.per_second
            self._on_progress(self.goal, progress)

    def _respond(self, request: SearchRequest, response: SearchResponse) -> None:
        if self.goal is not None and self._request is request:
            self._on_response(self.goal, response)
