"""The sessions of a server and their search pools."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from alphazero.errors import PlayerError
from alphazero.frontends.web.catalog import Catalog, PlayerOption, Side
from alphazero.frontends.web.search_pool import SearchPool, SearchRequest
from alphazero.frontends.web.security import RefusedError
from alphazero.frontends.web.session import WebSession
from alphazero.games.game import Game
from alphazero.players.checkpoint_player import SEQUENTIAL_BELOW

MAX_SESSIONS: Final = 64
"""Maximum number of sessions."""

MAX_POOLS: Final = 8
"""Maximum number of search pools."""

SHUTDOWN_SECONDS: Final = 2.0
"""Seconds to wait for a pool's thread at shutdown; a daemon thread ends with the program."""


class SessionManager:
    """The sessions by id, and the search pools by player and game, of one event loop."""

    def __init__(
        self, catalog: Catalog, *, min_move_seconds: float = 0.5, max_sessions: int = MAX_SESSIONS
    ) -> None:
        self.catalog = catalog
        self.min_move_seconds = min_move_seconds
        """Minimum seconds per move when players play each other."""
        self.max_sessions = max_sessions
        self.sessions: dict[str, WebSession] = {}
        self.review_turn = asyncio.Semaphore(1)
        """Held while a position is evaluated: reviews take turns."""
        self._pools: dict[tuple[PlayerOption, Game, int], SearchPool] = {}

    def close(self) -> None:
        """Close all sessions and wait for their pools to stop."""
        for session_id in list(self.sessions):
            self.close_session(session_id)
        for pool in self._pools.values():
            pool.close()
        for pool in self._pools.values():
            pool.join(SHUTDOWN_SECONDS)

    def create_session(self, game: Game, sides: list[Side]) -> WebSession:
        """Create a session; at the limit, in place of the longest idle one without a page.

        Raise RefusedError when all have a page.
        """
        if len(self.sessions) >= self.max_sessions:
            idle = [session for session in self.sessions.values() if not session.watchers]
            if not idle:
                text = f"the server already has {self.max_sessions} sessions; close a page"
                raise RefusedError(429, text)
            self.close_session(min(idle, key=lambda session: session.last_used).id)
        session = WebSession(self, game, sides)
        self.sessions[session.id] = session
        return session

    def close_session(self, session_id: str) -> None:
        if session := self.sessions.pop(session_id, None):
            session.close()

    def search_pool(self, player: PlayerOption, game: Game, request: SearchRequest) -> SearchPool:
        """Return the search pool of a player and a game.

        Levels, as they were rated, and small budgets are searched leaf by leaf, in another pool.
        Raise PlayerError when too many other pools are busy.
        """
        simulations, most = request.budget.simulations, 0
        is_short = simulations is not None and simulations <= SEQUENTIAL_BELOW
        if player.spec.saved is not None and (is_short or request.level is not None):
            most = max([SEQUENTIAL_BELOW, *(each.settings.simulations for each in player.levels)])
        key = player, game, most
        pool = self._pools.get(key)
        if pool is not None and not pool.has_failed:
            return pool
        if pool is not None:
            pool.close()
            del self._pools[key]
        for other_key, other in list(self._pools.items()):
            if len(self._pools) >= MAX_POOLS and not other.is_busy:
                other.close()
                del self._pools[other_key]
        if len(self._pools) >= MAX_POOLS:
            raise PlayerError(f"{MAX_POOLS} other players are searching; wait, or stop one")
        loop = asyncio.get_running_loop()

        def post(call: Callable[[], None]) -> None:
            with contextlib.suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(call)

        self._pools[key] = SearchPool(player.spec, game, post, most)
        return self._pools[key]
