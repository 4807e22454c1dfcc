"""The sessions of a server and their search pools."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from alphazero.errors import GameError, PlayerError, did_you_mean
from alphazero.frontends.search_pool import SearchPool
from alphazero.frontends.web.catalog.catalog import Catalog, PlayerOption
from alphazero.frontends.web.catalog.run_follower import RunFollower
from alphazero.frontends.web.security import RefusedError, client_with_most
from alphazero.frontends.web.sessions.session import Side, WebSession
from alphazero.games.game import ONGOING, Game
from alphazero.games.registry import read_game, write_game
from alphazero.games.results import SCORES
from alphazero.mcts.network_search import network_statistics
from alphazero.records.archive import (
    GATE,
    SAVED,
    SELFPLAY,
    Archive,
    Record,
    headline,
    to_played_game,
)
from alphazero.records.game_record import GameRecord
from alphazero.records.opening_explorer import explore
from alphazero.records.played_game import PlayedGame

MAX_SESSIONS: Final = 64
"""Maximum number of sessions."""

IDLE_SECONDS: Final = 1800.0
"""Seconds until a session without a page is closed."""

IDLE_SECONDS_WHEN_FULL: Final = 60.0
"""The same when the server is full."""

MAX_POOLS: Final = 8
"""Maximum number of search pools."""

SHUTDOWN_SECONDS: Final = 2.0
"""Seconds to wait for a pool's thread at shutdown; as a daemon thread it ends with the program."""

MAX_CELLS: Final = 26 * 26
"""Maximum cells of a board that the page shows."""

MAX_GAMES: Final = 2000
"""Maximum games listed per iteration."""


class SessionManager:
    """The sessions by id, and the search pools by player and game.

    Not thread-safe; `open()` binds it to the running event loop.
    """

    def __init__(
        self, catalog: Catalog, *, min_move_seconds: float = 0.5, max_sessions: int = MAX_SESSIONS
    ) -> None:
        self.catalog = catalog
        self.min_move_seconds = min_move_seconds
        """Minimum seconds per move when players play each other."""
        self.max_sessions = max_sessions
        self.sessions: dict[str, WebSession] = {}
        self.solver_turn = asyncio.Semaphore(1)
        """Held by the only review that may use a solver now."""
        self._pools: dict[tuple[PlayerOption, Game, bool], SearchPool] = {}
        self._follower = RunFollower(catalog)
        self._following: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> None:
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """Close all sessions and wait for their pools to stop."""
        pools = list(self._pools.values())
        for session_id in list(self.sessions):
            self.close_session(session_id)
        for pool in pools:
            pool.close()
        for pool in pools:
            pool.join(SHUTDOWN_SECONDS)
        self._pools.clear()

    def create_session(self, game: Game, sides: list[Side], client: str = "") -> WebSession:
        """Create a session for a client.

        Raises:
            RefusedError: when there are too many.
        """
        self.close_idle()
        if len(self.sessions) >= self.max_sessions:
            self.close_idle(IDLE_SECONDS_WHEN_FULL)
        if len(self.sessions) >= self.max_sessions:
            self._make_room(client)
        session = WebSession(self, game, sides, client)
        self.sessions[session.id] = session
        return session

    def _make_room(self, newcomer: str) -> None:
        """Close a session of the client with the most; raise RefusedError if that is the newcomer.

        Sessions without a page go first, and among them the longest idle.
        """
        counts = Counter([newcomer, *(session.client for session in self.sessions.values())])
        client = client_with_most(counts, newcomer)
        if client == newcomer:
            text = f"the server already has {self.max_sessions} sessions; close a page or wait"
            raise RefusedError(429, text)
        candidates = [session for session in self.sessions.values() if session.client == client]
        oldest = min(candidates, key=lambda session: (bool(session.watchers), session.last_used))
        self.close_session(oldest.id)

    def close_session(self, session_id: str) -> None:
        """Close a session and the pools without clients."""
        session = self.sessions.pop(session_id, None)
        if session is not None:
            session.close()
        for key, pool in list(self._pools.items()):
            if not pool.clients:
                pool.close()
                del self._pools[key]

    def close_idle(self, idle_seconds: float = IDLE_SECONDS) -> None:
        """Close sessions without a page for `idle_seconds`."""
        for session in list(self.sessions.values()):
            if session.watchers:
                session.touch()
            elif time.monotonic() - session.last_used > idle_seconds:
                self.close_session(session.id)

    def search_pool(self, player: PlayerOption, game: Game, is_sequential: bool) -> SearchPool:
        """Return the search pool of a player and a game; `is_sequential` as in `SearchPool`.

        Raises:
            PlayerError: when too many other pools are busy.
        """
        key = player, game, is_sequential
        pool = self._pools.get(key)
        if pool is None or pool.has_failed:
            if pool is not None:
                pool.close()
            for other, each in list(self._pools.items()):
                if len(self._pools) >= MAX_POOLS and not each.is_busy:
                    each.close()
                    del self._pools[other]
            if len(self._pools) >= MAX_POOLS and key not in self._pools:
                raise PlayerError(f"{MAX_POOLS} other players are searching; wait, or stop one")
            pool = SearchPool(player.spec, game, self._post, is_sequential)
            self._pools[key] = pool
        return pool

    def _post(self, call: Callable[[], None]) -> None:
        """Schedule a function on the event loop; do nothing after the server has ended."""
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)

    # --- runs in training ------------------------------------------------------------------------

    def runs(self) -> list[dict[str, Any]]:
        """Return the JSON of the runs and their progress."""
        return self._follower.json()

    def follow_runs(self) -> None:
        """Check on a worker thread whether runs have published something; notify the pages."""
        if self.catalog.archives and (self._following is None or self._following.done()):
            self._following = asyncio.create_task(self._follow_runs())

    async def _follow_runs(self) -> None:
        changes = await asyncio.to_thread(self._follower.look)
        self._follower.apply(changes)
        if changes:
            for session in self.sessions.values():
                session.notify("runs")

    # --- games and runs by name ------------------------------------------------------------------

    def game(self, name: str) -> Game:
        """Return a game by name and options.

        Raises:
            GameError: when there is none, or its board is too large for the page.
        """
        return check_board_size(self.catalog.games.get(name) or read_game(name))

    def archive(self, run: str) -> Archive:
        """Return a run by name.

        Raises:
            PlayerError: when there is none.
        """
        if run not in self.catalog.archives:
            hint = did_you_mean(run, self.catalog.archives)
            raise PlayerError(f"unknown run {run[:60]!a}{hint}")
        return self.catalog.archives[run]

    def list_iterations(self, run: str) -> dict[str, Any]:
        """Return the iterations of a run, as JSON."""
        iterations = self.archive(run).iterations()
        return {"iterations": [{"iteration": number, "kind": kind} for number, kind in iterations]}

    def charts(self, run: str) -> dict[str, Any]:
        """Return the JSON of a run's curves."""
        return {"charts": self.archive(run).charts()}

    def list_games(self, run: str, iteration: int, kind: str) -> dict[str, Any]:
        """Return the games of an iteration, as JSON."""
        archive = self.archive(run)
        if kind not in (SELFPLAY, GATE, SAVED):
            raise GameError(f"kind: expected {SELFPLAY}, {GATE} or {SAVED}")
        games = archive.games(iteration, kind)
        return {
            "total": len(games),
            "games": [
                {
                    "index": index,
                    "moves": len(each.actions),
                    "result": SCORES[each.outcome],
                    "text": headline(archive.game, each),
                }
                for index, each in enumerate(games[:MAX_GAMES])
            ],
        }

    def recorded_game(
        self, run: str, iteration: int, kind: str, index: int
    ) -> tuple[PlayedGame, list[dict[str, Any]]]:
        """Return a recorded game, with the recorded and current evaluations of each position."""
        archive = self.archive(run)
        games = archive.games(iteration, kind)
        if not 0 <= index < len(games):
            raise GameError(f"game: expected a number from 0 to {len(games) - 1}, got {index}")
        played = to_played_game(archive.game, games[index])
        return played, self._evaluations(check_board_size(played.game), games[index])

    def openings(self, run: str, game: Game, line: Sequence[str]) -> dict[str, Any]:
        """Return the JSON of the moves that a run's or a file's games made after a line of `game`.

        Raises:
            GameError: if they are of another game.
        """
        archive = self.archive(run)
        if not archive.game.accepts(game):
            raise GameError(f"{run} has games of {write_game(archive.game)}")
        found = explore(archive.game, archive.opening_games(), line)
        sums = found.counts
        return {
            "groups": list(found.groups),
            "games": sum(sums),
            "moves": [
                {
                    "action": move.action,
                    "name": move.name,
                    "cell": game.action_cell(found.state, move.action),
                    "source": game.action_source(found.state, move.action),
                    "games": move.games,
                    "score": move.score,
                    "shares": [
                        count / among if among else None
                        for count, among in zip(move.counts, sums, strict=True)
                    ],
                }
                for move in found.moves
            ],
        }

    def _evaluations(self, game: Game, record: Record) -> list[dict[str, Any]]:
        """Return the recorded search policy and the current network's, by position."""
        states = to_played_game(game, record).states()
        unfinished = [state for state in states if game.outcome(state) == ONGOING]
        options = self.catalog.analysis_player(game).spec.options
        network = None
        if saved := options.saved:
            network = network_statistics(saved.game, saved.evaluator, np.stack(unfinished))
        evaluations = []
        for ply in range(len(unfinished)):
            each: dict[str, Any] = dict.fromkeys(("policy", "value", "prior", "network_value"))
            if isinstance(record, GameRecord) and ply < len(record.values):
                each["policy"] = _positive_shares(record.policies[ply]) or None
                each["value"] = float(record.values[ply])
            if network is not None:
                each["prior"] = _positive_shares(network.priors[ply])
                each["network_value"] = float(network.values[ply])
            evaluations.append(each)
        return evaluations


def check_board_size(game: Game) -> Game:
    """Return a game whose board the page can show.

    Raises:
        GameError: for a larger board.
    """
    _, rows, columns = game.observation_shape
    if rows * columns > MAX_CELLS:
        raise GameError(f"the page shows boards of up to {MAX_CELLS} cells, not {rows * columns:,}")
    return game


def _positive_shares(policy: "np.ndarray[Any, Any]") -> list[tuple[int, float]]:
    """Return the actions with positive probability, the largest first."""
    order = np.argsort(-policy, kind="stable")
    return [(int(action), float(policy[action])) for action in order if policy[action] > 0]
