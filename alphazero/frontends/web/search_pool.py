"""Parallel searches of one player for many clients, on a thread of their own.

Clients with the same player and game share a pool, and so a network and its cache; results are as
if each searched alone. They are delivered on the server's thread by `post`; the player is used only
by the pool's thread.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Final

from alphazero.errors import AlphaZeroError
from alphazero.frontends.analyzer import Analyzer, without_limit
from alphazero.frontends.game_tree import SearchResult
from alphazero.games.game import Game, State
from alphazero.players.base import Player
from alphazero.players.checkpoint_player import LEAVES_PER_BATCH, SEQUENTIAL_BELOW
from alphazero.players.options import CheckpointOptions
from alphazero.players.registry import PlayerSpec
from alphazero.players.search_player import SearchPlayer

TABLES: Final = 16
"""Slots of a pool: the maximum number of parallel searches."""

LONGEST_SEARCH: Final = 1_000_000
"""Limit of new simulations in a search without a budget of simulations."""

INTERVAL: Final = 0.2
"""Seconds between progress reports."""

LINES: Final = 8
"""Maximum moves reported with a line."""

TOLD: Final = 32
"""Maximum moves reported."""

Post = Callable[[Callable[[], None]], None]
"""Schedules a function on the server's thread."""


@dataclass(frozen=True)
class SearchProgress:
    """A search result and its speed, in simulations per second."""

    thought: SearchResult
    per_second: float


@dataclass(frozen=True)
class SearchResponse:
    """The end of a request."""

    action: int | None = None
    """None for a resignation, or if no move was chosen"""
    report: SearchProgress | None = None
    """None from players without a search"""
    fault: str = ""
    """an error message for the user"""


@dataclass(eq=False)
class SearchRequest:
    """A position to search, and the budget."""

    client: Hashable
    """owner of the slot, whose tree is kept for its next request"""
    moves: list[int]
    state: State
    simulations: int | None
    """None for no limit other than `seconds`"""
    seconds: float | None
    show: Callable[[SearchProgress], None]
    """called on the server's thread at intervals"""
    answer: Callable[[SearchResponse], None]
    """called once on the server's thread, unless the request is withdrawn"""

    @property
    def is_endless(self) -> bool:
        """Whether only the client ends it."""
        return self.simulations is None and self.seconds is None


@dataclass(eq=False)
class _Table:
    """A slot with its client and request."""

    analyzer: Analyzer
    client: Hashable = None
    question: SearchRequest | None = None
    used: float = 0.0
    """time of its last request"""
    began: float = 0.0
    deadline: float | None = None
    reported: float = 0.0
    visits: int = 0
    """visits of the root at the start of the search"""


@dataclass
class _Inbox:
    """Messages from the server's thread to the pool's; guarded by `_bell`."""

    questions: list[SearchRequest] = field(default_factory=list)
    withdrawn: list[SearchRequest] = field(default_factory=list)
    left: list[Hashable] = field(default_factory=list)


class SearchPool:
    """A player of a game with `TABLES` slots; its thread starts with the first request."""

    def __init__(self, spec: PlayerSpec, game: Game, post: Post, few: bool = False) -> None:
        """With `few`, searches have at most `SEQUENTIAL_BELOW` simulations, run one by one."""
        self.spec, self.game, self.few = spec, game, few
        self.clients: set[Hashable] = set()
        """Clients with a slot or a request; used by the server's thread."""
        self._post = post
        self._condition = threading.Condition()
        self._inbox = _Inbox()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._tables: list[_Table] = []
        self._waiting: list[SearchRequest] = []
        self._waits: set[SearchRequest] = set()
        """Open requests; used by the server's thread."""
        self.failed = False
        """Whether its player failed; no more requests are answered."""
        self.player: Player | None = None
        """None before the first request."""

    @property
    def busy(self) -> bool:
        """Whether there are open requests."""
        return bool(self._waits)

    def ask(self, question: SearchRequest) -> None:
        """Queue a request."""
        self.clients.add(question.client)
        self._waits.add(question)
        with self._condition:
            self._inbox.questions.append(question)
            self._condition.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()

    def withdraw(self, question: SearchRequest) -> None:
        """Cancel a request; its `answer` is not called."""
        self._waits.discard(question)
        with self._condition:
            self._inbox.withdrawn.append(question)
            self._condition.notify()

    def leave(self, client: Hashable) -> None:
        """Release a client's slot."""
        self.clients.discard(client)
        with self._condition:
            self._inbox.left.append(client)
            self._condition.notify()

    def close(self) -> None:
        """End the thread; open requests are not answered."""
        with self._condition:
            self._closed = True
            self._condition.notify()

    def join(self, seconds: float) -> None:
        """Wait for the thread to end after `close`."""
        if self._thread is not None:
            self._thread.join(seconds)

    # --- on the pool's thread --------------------------------------------------------------------

    def _work(self) -> None:
        """Run requests until the pool is closed."""
        try:
            player = self.player = self._seat()
            with contextlib.closing(player):
                while self._take_mail():
                    self._place_questions()
                    if any(table.question for table in self._tables):
                        self._turn(player)
        except BaseException as error:
            self._fail(error)
            if not isinstance(error, AlphaZeroError):
                raise

    def _seat(self) -> Player:
        """Create the player, and an analyzer per slot."""
        endless, options = without_limit(self.spec), self.spec.options
        if not isinstance(options, CheckpointOptions):
            player = endless.create(self.game, TABLES)
        elif self.few:
            player = options.saved.create(TABLES, simulations=SEQUENTIAL_BELOW, leaves=1)
        else:
            player = endless.options.saved.create(TABLES, seconds=1.0, leaves=LEAVES_PER_BATCH)  # type: ignore[attr-defined]
        self._tables = [
            _Table(Analyzer(self.spec, self.game, player, table)) for table in range(TABLES)
        ]
        return player

    def _take_mail(self) -> bool:
        """Wait for work and read the messages; return False when the pool is closed."""
        with self._condition:
            while not (
                self._closed
                or self._inbox != _Inbox()
                or any(table.question for table in self._tables)
            ):
                self._condition.wait()
            inbox, self._inbox = self._inbox, _Inbox()
        self._waiting += inbox.questions
        self._waiting = [each for each in self._waiting if each not in inbox.withdrawn]
        for table in self._tables:
            if table.question in inbox.withdrawn or table.client in inbox.left:
                self._clear(table)
            if table.client in inbox.left:
                table.client = None
        return not self._closed

    def _clear(self, table: _Table) -> None:
        """Cancel a slot's request and its search."""
        if table.question and table.analyzer.searches:
            table.analyzer.stop()
        elif table.question:
            table.analyzer.set_position([])  # resets pending move requests
        table.question = None

    def _place_questions(self) -> None:
        """Assign the queued requests to slots, while there are any."""
        while self._waiting:
            table = self._find_table(self._waiting[0].client)
            if table is None:
                return
            self._begin(table, self._waiting.pop(0))

    def _find_table(self, client: Hashable) -> _Table | None:
        """Return the client's own slot, else a free one, else the least recently used idle one.

        If all are busy, the longest-running endless search is ended.
        """
        own = next((table for table in self._tables if table.client == client), None)
        if own is not None:
            return own
        idle = [table for table in self._tables if table.question is None]
        if idle:
            return min(idle, key=lambda table: (table.client is not None, table.used))
        endless = [table for table in self._tables if table.question and table.question.is_endless]
        if not endless:
            return None
        table = min(endless, key=lambda table: table.began)
        assert table.question is not None
        self._answer(table.question, SearchResponse(report=self._report(table)))
        self._clear(table)
        return table

    def _begin(self, table: _Table, question: SearchRequest) -> None:
        analyzer = table.analyzer
        if table.client != question.client or not analyzer.searches:
            # No tree is reused for another client, or by players without a tree.
            analyzer.set_position(question.moves)
        else:
            analyzer.sync(question.moves)
        now = time.monotonic()
        table.client, table.question = question.client, question
        table.used = table.began = table.reported = now
        table.deadline = None if question.seconds is None else now + question.seconds
        if analyzer.searches:
            roots = analyzer.roots
            table.visits = 0 if roots is None else int(roots.visits.sum())
            analyzer.begin(question.simulations)
        else:
            analyzer.player.begin_moves(analyzer.table)

    def _turn(self, player: Player) -> None:
        """Advance all searches once and deliver results."""
        if isinstance(player, SearchPlayer):
            player.search.step()
            self._report_all()
        else:
            player.step()
        decisions = player.take_decisions()
        for number, action in zip(decisions.slots.tolist(), decisions.actions, strict=True):
            table = self._tables[number]
            if table.question is not None:
                self._answer(table.question, SearchResponse(int(action), self._report(table)))
                table.question = None
        for forfeit in player.forfeits():
            table = self._tables[forfeit.slot]
            if table.question is not None:
                self._answer(table.question, SearchResponse(fault=forfeit.fault))
                table.question = None

    def _report_all(self) -> None:
        """Send the progress reports that are due, and stop searches past their limits."""
        now = time.monotonic()
        for table in self._tables:
            question = table.question
            if question is None:
                continue
            if table.deadline is not None and now >= table.deadline:
                table.analyzer.stop()
            elif now - table.reported >= INTERVAL:
                table.reported = now
                report = self._report(table)
                if report is None:
                    continue
                self._post(lambda told=question.show, report=report: told(report))  # type: ignore[misc]
                done = report.thought.simulations - table.visits
                if question.simulations is None and done >= LONGEST_SEARCH:
                    table.analyzer.stop()

    def _report(self, table: _Table) -> SearchProgress | None:
        assert table.question is not None
        thought = SearchResult.of(table.analyzer, table.question.state, LINES)
        if thought is None:
            return None
        spent = max(time.monotonic() - table.began, 1e-3)
        speed = max(thought.simulations - table.visits, 0) / spent
        return SearchProgress(replace(thought, candidates=thought.candidates[:TOLD]), speed)

    def _answer(self, question: SearchRequest, answer: SearchResponse) -> None:
        """Deliver a response on the server's thread, unless the request is withdrawn."""

        def tell() -> None:
            if question in self._waits:
                self._waits.discard(question)
                question.answer(answer)

        self._post(tell)

    def _fail(self, error: BaseException) -> None:
        """Answer all open requests with an error."""
        fault = str(error) if isinstance(error, AlphaZeroError) else "the player failed"

        def tell() -> None:
            self.failed = True
            for question in list(self._waits):
                self._waits.discard(question)
                question.answer(SearchResponse(fault=fault))

        self._post(tell)
