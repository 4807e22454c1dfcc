"""The sessions of a server and their search pools."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from alphazero.errors import GameError, PlayerError
from alphazero.frontends.web.catalog import Catalog, PlayerOption
from alphazero.frontends.web.run_records import (
    GATE,
    SELFPLAY,
    Archive,
    Record,
    headline,
    played_of,
    result_of,
    thoughts_of,
)
from alphazero.frontends.web.search_pool import SearchPool
from alphazero.frontends.web.security import RefusedError, greediest
from alphazero.frontends.web.session import Side, WebSession
from alphazero.games.game import ONGOING, Game
from alphazero.games.registry import read_game
from alphazero.mcts.network_search import network_statistics
from alphazero.players.options import CheckpointOptions
from alphazero.records.played_game import PlayedGame

SESSIONS: Final = 64
"""Maximum number of sessions."""

IDLE: Final = 1800.0
"""Seconds until a session without a page is closed."""

IDLE_WHEN_FULL: Final = 60.0
"""Idle limit in seconds when the server is full."""

ROOMS: Final = 8
"""Maximum number of search pools."""

STOPPING: Final = 2.0
"""Seconds to wait for a pool's thread at shutdown; as a daemon thread it ends with the program."""

CELLS: Final = 26 * 26
"""Maximum cells of a board that the page shows."""

MOST_GAMES: Final = 2000
"""Maximum games listed per iteration."""


class SessionManager:
    """The sessions by name, and the search pools by player and game.

    Not thread-safe; `open()` binds it to the running event loop.
    """

    def __init__(self, catalogue: Catalog, *, pace: float = 0.5, sessions: int = SESSIONS) -> None:
        self.catalogue = catalogue
        self.pace = pace
        self.limit = sessions
        self.sessions: dict[str, WebSession] = {}
        self._clients: dict[str, str] = {}
        """Client of each session."""
        self._left: dict[str, float] = {}
        """Time when each session was last seen in use."""
        self._pools: dict[tuple[str, Game, bool], SearchPool] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> None:
        """Bind to the running event loop."""
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """Close all sessions and wait for their pools to stop."""
        pools = list(self._pools.values())
        for name in list(self.sessions):
            self.close_session(name)
        for pool in pools:
            pool.close()
        for pool in pools:
            pool.join(STOPPING)
        self._pools.clear()

    def add(self, game: Game, seats: list[Side], client: str = "") -> WebSession:
        """Create a session for a client.

        Raises:
            RefusedError: when there are too many.
        """
        self.close_idle()
        if len(self.sessions) >= self.limit:
            self.close_idle(IDLE_WHEN_FULL)
        if len(self.sessions) >= self.limit:
            self._make_room(client)
        session = WebSession(self, game, seats)
        self.sessions[session.name] = session
        self._clients[session.name] = client
        self._left[session.name] = time.monotonic()
        return session

    def _make_room(self, newcomer: str) -> None:
        """Close a session of the client with the most; raise RefusedError if that is the newcomer.

        Sessions without a page go first, and among them the longest idle.
        """
        client = greediest(Counter([newcomer, *self._clients.values()]), newcomer)
        if client == newcomer:
            text = f"there are {self.limit} sessions already; close a page, or wait"
            raise RefusedError(429, text)

        def worth(name: str) -> tuple[bool, float]:
            return bool(self.sessions[name].watchers), self._left[name]

        self.close_session(
            min((name for name in self._clients if self._clients[name] == client), key=worth)
        )

    def close_session(self, name: str) -> None:
        """Close a session and the pools without clients."""
        session = self.sessions.pop(name, None)
        self._clients.pop(name, None)
        self._left.pop(name, None)
        if session is not None:
            session.close()
        for key, pool in list(self._pools.items()):
            if not pool.clients:
                pool.close()
                del self._pools[key]

    def close_idle(self, idle: float = IDLE) -> None:
        """Close sessions without a page for `idle` seconds."""
        now = time.monotonic()
        for name, session in list(self.sessions.items()):
            if session.watchers:
                self._left[name] = now
            elif now - self._left[name] > idle:
                self.close_session(name)

    def touch(self, session: WebSession) -> None:
        """Restart a session's idle time."""
        self._left[session.name] = time.monotonic()

    def search_pool(self, offer: PlayerOption, game: Game, few: bool) -> SearchPool:
        """Return the search pool of a player and a game; `few` as in `SearchPool`.

        Raises:
            PlayerError: when too many other pools are busy.
        """
        key = offer.name, game, few
        pool = self._pools.get(key)
        if pool is None or pool.failed:
            if pool is not None:
                pool.close()
            for other, each in list(self._pools.items()):
                if len(self._pools) >= ROOMS and not each.busy:
                    each.close()
                    del self._pools[other]
            if len(self._pools) >= ROOMS and key not in self._pools:
                raise PlayerError(f"{ROOMS} other players think already; wait, or stop one")
            pool = self._pools[key] = SearchPool(offer.spec, game, self._post, few)
        return pool

    def _post(self, call: Callable[[], None]) -> None:
        """Schedule a function on the event loop; a no-op after the server has ended."""
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)

    # --- look-ups by name ------------------------------------------------------------------------

    def game(self, text: str) -> Game:
        """Return a game by name and options.

        Raises:
            GameError: when there is none, or its board is too large for the page.
        """
        game = self.catalogue.games.get(text) or read_game(text)
        return checked_game(game)

    def archive(self, name: str) -> Archive:
        """Return a run by name.

        Raises:
            PlayerError: when there is none.
        """
        if name not in self.catalogue.archives:
            raise PlayerError("there is no run of this name here")
        return self.catalogue.archives[name]

    def chapters(self, name: str) -> dict[str, Any]:
        """Return the JSON of a run."""
        archive = self.archive(name)
        return {
            "iterations": [
                {"iteration": iteration, "kind": kind} for iteration, kind in archive.iterations()
            ]
        }

    def list_games(self, name: str, iteration: int, kind: str) -> dict[str, Any]:
        """Return the JSON of an iteration."""
        archive = self.archive(name)
        if kind not in (SELFPLAY, GATE):
            raise GameError(f"kind is {SELFPLAY} or {GATE}")
        games = archive.games(iteration, kind)
        return {
            "total": len(games),
            "games": [
                {
                    "index": index,
                    "moves": len(each.actions),
                    "result": result_of(each),
                    "text": headline(each),
                }
                for index, each in enumerate(games[:MOST_GAMES])
            ],
        }

    def recorded(
        self, name: str, iteration: int, kind: str, index: int
    ) -> tuple[PlayedGame, list[dict[str, Any]]]:
        """Return a recorded game, with the recorded and current evaluations of each position."""
        archive = self.archive(name)
        games = archive.games(iteration, kind)
        if not 0 <= index < len(games):
            raise GameError(f"there are {len(games)} games, counted from 0; no number {index}")
        game = checked_game(archive.game)
        return played_of(game, games[index]), self._thoughts(game, games[index])

    def _thoughts(self, game: Game, record: Record) -> list[dict[str, Any]]:
        """Return the recorded search policy and the current network's, by position."""
        thoughts, states = thoughts_of(record), played_of(game, record).states()
        unfinished = [state for state in states if game.outcome(state) == ONGOING]
        options = self.catalogue.analyst(game).spec.options
        now = None
        if isinstance(options, CheckpointOptions):
            now = network_statistics(game, options.saved.evaluator, np.stack(unfinished))
        told = []
        for ply in range(len(unfinished)):
            each: dict[str, Any] = dict.fromkeys(("policy", "value", "prior", "first_value"))
            if thoughts is not None and ply < len(thoughts.values):
                each["policy"] = _shares(thoughts.policies[ply]) or None
                each["value"] = float(thoughts.values[ply])
            if now is not None:
                each["prior"] = _shares(now.priors[ply])
                each["first_value"] = float(now.values[ply])
            told.append(each)
        return told


def checked_game(game: Game) -> Game:
    """Return a game whose board the page can show.

    Raises:
        GameError: for a larger board.
    """
    _, rows, columns = game.observation_shape
    if rows * columns > CELLS:
        raise GameError(f"the page shows boards of up to {CELLS} cells, not {rows * columns:,}")
    return game


def _shares(policy: "np.ndarray[Any, Any]") -> list[tuple[int, float]]:
    """Return the actions with positive probability, the largest first."""
    order = np.argsort(-policy, kind="stable")
    return [(int(action), float(policy[action])) for action in order if policy[action] > 0]
