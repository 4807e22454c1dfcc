"""Parallel searches of one player for many clients, on a thread of their own.

Clients of one player and game share a pool, with its network and cache; no result depends on
another client. `post` delivers results on the server's thread; only the pool's thread uses the
player.
"""

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from queue import Queue
from typing import Final

import numpy as np

from alphazero.errors import AlphaZeroError
from alphazero.frontends.analyzer import Analyzer
from alphazero.frontends.game_tree import GameNode
from alphazero.games.game import PLY, Game
from alphazero.players.base import Player
from alphazero.players.budget import NO_LIMIT, Budget
from alphazero.players.checkpoint_player import LEAVES_PER_BATCH
from alphazero.players.levels import LevelSettings
from alphazero.players.position_search import SearchResult
from alphazero.players.search_player import SearchPlayer
from alphazero.players.specs import PlayerSpec

SLOTS: Final = 16
"""Maximum number of parallel searches of a pool."""

MAX_SIMULATIONS: Final = 1_000_000
"""Limit of a budget of simulations, and of the new simulations in a search without one."""

REPORT_INTERVAL: Final = 0.2
"""Seconds between progress reports."""

MAX_LINES: Final = 8
"""Maximum moves reported with a line."""

FAILED: Final = "the player failed"

Post = Callable[[Callable[[], None]], None]
"""Schedules a function on the server's thread."""


def words_of(error: BaseException) -> str:
    """Return what the page says of an error; that of a bug would not help its user."""
    return str(error) if isinstance(error, AlphaZeroError) else FAILED


@dataclass(frozen=True)
class SearchResponse:
    """The end of a request."""

    action: int | None = None
    """None for a resignation, or if no move was chosen"""
    result: SearchResult | None = None
    """None from players without a search"""
    error: str = ""
    """an error message for the user"""


@dataclass(frozen=True)
class SearchRequest:
    """A position to search: for whom, how long and why."""

    client: Hashable
    """who has one request at a time, and a slot that keeps its tree for the next one"""
    node: GameNode
    budget: Budget
    """`NO_LIMIT`: until the client ends the search"""
    on_progress: Callable[["SearchRequest", SearchResult, float], None]
    """called on the server's thread at intervals, with the simulations per second"""
    on_response: Callable[["SearchRequest", SearchResponse], None]
    """called once on the server's thread, unless the request is canceled"""
    purpose: str = ""
    level: LevelSettings | None = None
    """chooses the move from the search; None for the best one"""


@dataclass(eq=False)
class _Slot:
    """A parallel game of the player, with its client and request."""

    analyzer: Analyzer
    client: Hashable = None
    request: SearchRequest | None = None
    start: float = 0.0
    """time when its last request started"""
    deadline: float | None = None
    last_report: float = 0.0
    """time of the last progress report"""
    visits: int = 0
    """visits of the root at the start of the search"""


class SearchPool:
    """A player of a game with `SLOTS` slots; its thread starts with the first request."""

    def __init__(self, spec: PlayerSpec, game: Game, post: Post, sequential: int = 0) -> None:
        """With `sequential`, a search has at most so many simulations, one by one."""
        self._spec, self._game, self._sequential = spec, game, sequential
        self.has_failed = False
        """Whether its player failed; no more requests are answered."""
        self._open_requests: dict[Hashable, SearchRequest] = {}
        """By client; used by the server's thread."""
        self._post = post
        self._messages: Queue[Callable[[], object] | None] = Queue()
        """Calls for the pool's thread, in order; None closes the pool."""
        self._thread: threading.Thread | None = None
        self._slots: list[_Slot] = []
        self._queue: list[SearchRequest] = []
        """Requests without a slot."""

    @property
    def is_busy(self) -> bool:
        return bool(self._open_requests)

    def submit(self, request: SearchRequest) -> None:
        self._open_requests[request.client] = request
        self._messages.put(lambda: self._queue.append(request))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def cancel(self, client: Hashable) -> None:
        """Cancel a client's request, wherever it waits: its `on_response` is not called."""
        self._open_requests.pop(client, None)
        self._messages.put(lambda: self._cancel(client))

    def close(self) -> None:
        """End the thread; open requests are not answered."""
        self._messages.put(None)

    def join(self, seconds: float) -> None:
        """Wait for the thread to end after `close`."""
        if self._thread is not None:
            self._thread.join(seconds)

    # --- on the pool's thread --------------------------------------------------------------------

    def _run(self) -> None:
        try:
            with contextlib.closing(self._create_player()) as player:
                while self._read_messages():
                    self._assign_requests()
                    if any(slot.request for slot in self._slots):
                        self._step(player)
        except BaseException as error:
            self.has_failed = True
            self._respond(None, SearchResponse(error=words_of(error)))
            if not isinstance(error, AlphaZeroError):
                raise

    def _create_player(self) -> Player:
        spec, rng = self._spec.for_game(self._game), np.random.default_rng()
        if spec.saved is None:
            limits = NO_LIMIT if spec.has_search else None  # alpha-beta keeps to its own
            player = spec.create(self._game, SLOTS, rng, limits)
        elif self._sequential:
            player = spec.saved.create(SLOTS, Budget(self._sequential), leaves=1, rng=rng)
        else:
            player = spec.saved.create(SLOTS, NO_LIMIT, leaves=LEAVES_PER_BATCH, rng=rng)
        analyzers = (Analyzer(self._spec, self._game, player, index) for index in range(SLOTS))
        self._slots = list(map(_Slot, analyzers))
        return player

    def _read_messages(self) -> bool:
        """Wait for work and read the messages; return False when the pool is closed."""
        while not self._messages.empty() or not any(slot.request for slot in self._slots):
            message = self._messages.get()
            if message is None:
                return False
            message()
            if self._queue and self._messages.empty():
                break
        return True

    def _cancel(self, client: Hashable) -> None:
        self._queue = [request for request in self._queue if request.client != client]
        for slot in self._slots:
            if slot.client != client or slot.request is None:
                continue
            if slot.analyzer.searches:
                slot.analyzer.stop()
            else:
                slot.analyzer.set_position([])  # resets pending move requests
            slot.request = None

    def _assign_requests(self) -> None:
        """Assign the queued requests to slots, while there are any."""
        while self._queue:
            slot = self._find_slot(self._queue[0].client)
            if slot is None:
                return
            self._start(slot, self._queue.pop(0))

    def _find_slot(self, client: Hashable) -> _Slot | None:
        """Return the client's own slot, else a free one, else the least recently used idle one."""
        for slot in self._slots:
            if slot.client == client:
                return slot
        idle = [slot for slot in self._slots if slot.request is None]
        return min(idle, key=lambda slot: (slot.client is not None, slot.start), default=None)

    def _start(self, slot: _Slot, request: SearchRequest) -> None:
        analyzer = slot.analyzer
        if slot.client != request.client or not analyzer.searches:
            # No tree is reused for another client, or by players without a tree.
            analyzer.set_position(request.node.moves, request.node.state)
        else:
            analyzer.sync(request.node.moves, request.node.state)
        now = time.monotonic()
        slot.client, slot.request = request.client, request
        slot.start = slot.last_report = now
        seconds = request.budget.seconds
        slot.deadline = None if seconds is None else now + seconds
        if analyzer.searches:
            roots = analyzer.roots
            slot.visits = 0 if roots is None else int(roots.visits.sum())
            analyzer.begin(request.budget.simulations)
        else:
            analyzer.player.begin_moves(analyzer.slot)

    def _step(self, player: Player) -> None:
        """Advance all searches once and deliver results."""
        if isinstance(player, SearchPlayer):
            player.search.step()
            self._report_progress()
        else:
            player.step()
        decisions = player.take_decisions()
        for index, action in zip(decisions.slots.tolist(), decisions.actions, strict=True):
            slot = self._slots[index]
            request, slot.request = slot.request, None
            if request is not None:
                move = self._move_of(slot.analyzer, request, int(action))
                result = slot.analyzer.result(request.node.state, MAX_LINES)
                self._respond(request, SearchResponse(move, result))
        for forfeit in player.forfeits():
            slot = self._slots[forfeit.slot]
            request, slot.request = slot.request, None
            if request is not None:
                self._respond(request, SearchResponse(error=forfeit.reason))

    def _move_of(self, analyzer: Analyzer, request: SearchRequest, action: int) -> int:
        """Return the move of a request's level, where the search plays `action`."""
        roots = analyzer.roots if request.level and analyzer.searches else None
        if request.level is None or roots is None:
            return action
        ply, rng = int(request.node.state[PLY]), analyzer.search.rng
        return request.level.choose(ply, action, roots, 0, rng)

    def _report_progress(self) -> None:
        """Send the progress reports that are due, and stop searches past their limits."""
        now = time.monotonic()
        for slot in self._slots:
            request = slot.request
            if request is None:
                continue
            if slot.deadline is not None and now >= slot.deadline:
                slot.analyzer.stop()
            elif now - slot.last_report >= REPORT_INTERVAL:
                slot.last_report = now
                result = slot.analyzer.result(request.node.state, MAX_LINES)
                if result is None:
                    continue
                done = max(result.simulations - slot.visits, 0)
                speed = done / max(now - slot.start, 1e-3)
                self._post(functools.partial(request.on_progress, request, result, speed))
                if request.budget.simulations is None and done >= MAX_SIMULATIONS:
                    slot.analyzer.stop()

    def _respond(self, request: SearchRequest | None, response: SearchResponse) -> None:
        """Deliver a response on the server's thread to an open request; None: to all of them."""

        def deliver() -> None:
            for each in [request] if request else list(self._open_requests.values()):
                if self._open_requests.get(each.client) is each:
                    del self._open_requests[each.client]
                    each.on_response(each, response)

        self._post(deliver)
