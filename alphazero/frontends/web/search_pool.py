"""Searches side by side: one player at many tables, and the thread that lets it think.

Everybody who asks the same player about the same game sits in one room: one network and one cache
serve them all, and each table's answer is what it would be alone. Whoever asks is answered on the
thread of the server, by `post`; the player itself is touched by the room's own thread alone.
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
"""Of a room: so many may search in it at once."""

LONGEST_SEARCH: Final = 1_000_000
"""New simulations after which a search of unknown length is ended."""

INTERVAL: Final = 0.2
"""Seconds between two reports of a search."""

LINES: Final = 8
"""Moves of which the line that follows is told."""

TOLD: Final = 32
"""Moves of which anything is told."""

Post = Callable[[Callable[[], None]], None]
"""Runs a function on the server's thread, soon."""


@dataclass(frozen=True)
class SearchProgress:
    """What a search has found, and how fast."""

    thought: SearchResult
    per_second: float


@dataclass(frozen=True)
class SearchResponse:
    """How a question ended."""

    action: int | None = None
    """None: the player resigns, or nothing was chosen"""
    report: SearchProgress | None = None
    """None from players who do not search"""
    fault: str = ""
    """what went wrong, for people"""


@dataclass(eq=False)
class SearchRequest:
    """A position to think about, and how long."""

    client: Hashable
    """whose table it is: what was found of earlier positions is kept for them"""
    moves: list[int]
    state: State
    simulations: int | None
    """None: as long as `seconds` last, or nobody stops it"""
    seconds: float | None
    show: Callable[[SearchProgress], None]
    """called on the server's thread, now and then"""
    answer: Callable[[SearchResponse], None]
    """called there once, unless the question is withdrawn before"""

    @property
    def is_endless(self) -> bool:
        """Whether only its asker ends it."""
        return self.simulations is None and self.seconds is None


@dataclass(eq=False)
class _Table:
    """A table, whom it serves, and the question it is about."""

    thinker: Analyzer
    asker: Hashable = None
    question: SearchRequest | None = None
    used: float = 0.0
    """when it was last asked for"""
    began: float = 0.0
    deadline: float | None = None
    reported: float = 0.0
    visits: int = 0
    """those of the root when the search began"""


@dataclass
class _Inbox:
    """What the server's thread wants of the room's: guarded by the room's bell."""

    questions: list[SearchRequest] = field(default_factory=list)
    withdrawn: list[SearchRequest] = field(default_factory=list)
    left: list[Hashable] = field(default_factory=list)


class SearchPool:
    """A player of a game at `TABLES` tables; its thread begins with the first question."""

    def __init__(self, entrant: PlayerSpec, game: Game, post: Post, few: bool = False) -> None:
        """`few`: all searches in it are of at most `SEQUENTIAL_BELOW` simulations, which are run
        one by one.
        """
        self.entrant, self.game, self.few = entrant, game, few
        self.askers: set[Hashable] = set()
        """Who has asked and not left; kept by the server's thread."""
        self._post = post
        self._bell = threading.Condition()
        self._mail = _Inbox()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._tables: list[_Table] = []
        self._waiting: list[SearchRequest] = []
        self._waits: set[SearchRequest] = set()
        """Asked, and neither answered nor withdrawn; kept by the server's thread."""
        self.failed = False
        """Whether its player broke down: it will answer nothing any more."""
        self.player: Player | None = None
        """None before the first question."""

    @property
    def busy(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self._waits)

    def ask(self, question: SearchRequest) -> None:
        """Think about a position, as soon as a table is free."""
        self.askers.add(question.client)
        self._waits.add(question)
        with self._bell:
            self._mail.questions.append(question)
            self._bell.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True)
            self._thread.start()

    def withdraw(self, question: SearchRequest) -> None:
        """Stop thinking about it; nobody is answered any more."""
        self._waits.discard(question)
        with self._bell:
            self._mail.withdrawn.append(question)
            self._bell.notify()

    def leave(self, asker: Hashable) -> None:
        """Give up an asker's table."""
        self.askers.discard(asker)
        with self._bell:
            self._mail.left.append(asker)
            self._bell.notify()

    def close(self) -> None:
        """End the thread; what is not answered will not be."""
        with self._bell:
            self._closed = True
            self._bell.notify()

    def join(self, seconds: float) -> None:
        """Wait for the thread to end, after `close`."""
        if self._thread is not None:
            self._thread.join(seconds)

    # --- on the room's own thread ----------------------------------------------------------------

    def _work(self) -> None:
        """Let the player think as long as there are questions."""
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
        """Seat the player, with a thinker at each table."""
        endless, options = without_limit(self.entrant), self.entrant.options
        if not isinstance(options, CheckpointOptions):
            player = endless.create(self.game, TABLES)
        elif self.few:
            player = options.saved.create(TABLES, simulations=SEQUENTIAL_BELOW, leaves=1)
        else:
            player = endless.options.saved.create(TABLES, seconds=1.0, leaves=LEAVES_PER_BATCH)  # type: ignore[attr-defined]
        self._tables = [
            _Table(Analyzer(self.entrant, self.game, player, table)) for table in range(TABLES)
        ]
        return player

    def _take_mail(self) -> bool:
        """Wait for something to do; return whether the room is still open."""
        with self._bell:
            while not (
                self._closed
                or self._mail != _Inbox()
                or any(table.question for table in self._tables)
            ):
                self._bell.wait()
            mail, self._mail = self._mail, _Inbox()
        self._waiting += mail.questions
        self._waiting = [each for each in self._waiting if each not in mail.withdrawn]
        for table in self._tables:
            if table.question in mail.withdrawn or table.asker in mail.left:
                self._clear(table)
            if table.asker in mail.left:
                table.asker = None
        return not self._closed

    def _clear(self, table: _Table) -> None:
        """Forget a table's question; its player stops thinking about it."""
        if table.question and table.thinker.searches:
            table.thinker.stop()
        elif table.question:
            table.thinker.set_position([])  # a new game: what was asked is void
        table.question = None

    def _place_questions(self) -> None:
        """Give each question a table, while there are any."""
        while self._waiting:
            table = self._find_table(self._waiting[0].client)
            if table is None:
                return
            self._begin(table, self._waiting.pop(0))

    def _find_table(self, asker: Hashable) -> _Table | None:
        """Return an asker's own table, else a free one, else the one that was least lately used.

        Where all are busy, the search without end that has gone on longest gives way.
        """
        own = next((table for table in self._tables if table.asker == asker), None)
        if own is not None:
            return own
        idle = [table for table in self._tables if table.question is None]
        if idle:
            return min(idle, key=lambda table: (table.asker is not None, table.used))
        endless = [table for table in self._tables if table.question and table.question.is_endless]
        if not endless:
            return None
        table = min(endless, key=lambda table: table.began)
        assert table.question is not None
        self._answer(table.question, SearchResponse(report=self._report(table)))
        self._clear(table)
        return table

    def _begin(self, table: _Table, question: SearchRequest) -> None:
        """Lay out a question's position and begin to think."""
        thinker = table.thinker
        if table.asker != question.client or not thinker.searches:
            # Nothing is kept for somebody else, nor by players who only remember a position.
            thinker.set_position(question.moves)
        else:
            thinker.sync(question.moves)
        now = time.monotonic()
        table.asker, table.question = question.client, question
        table.used = table.began = table.reported = now
        table.deadline = None if question.seconds is None else now + question.seconds
        if thinker.searches:
            roots = thinker.roots
            table.visits = 0 if roots is None else int(roots.visits.sum())
            thinker.begin(question.simulations)
        else:
            thinker.player.begin_moves(thinker.table)

    def _turn(self, player: Player) -> None:
        """Turn the wheel once, and tell what has come of it."""
        if isinstance(player, SearchPlayer):
            player.search.step()
            self._report_all()
        else:
            player.step()
        decisions = player.take_decisions()
        for number, action in zip(decisions.tables.tolist(), decisions.actions, strict=True):
            table = self._tables[number]
            if table.question is not None:
                self._answer(table.question, SearchResponse(int(action), self._report(table)))
                table.question = None
        for forfeit in player.forfeits():
            table = self._tables[forfeit.table]
            if table.question is not None:
                self._answer(table.question, SearchResponse(fault=forfeit.fault))
                table.question = None

    def _report_all(self) -> None:
        """Tell what is found so far, where it is time to, and end what has run out of time."""
        now = time.monotonic()
        for table in self._tables:
            question = table.question
            if question is None:
                continue
            if table.deadline is not None and now >= table.deadline:
                table.thinker.stop()
            elif now - table.reported >= INTERVAL:
                table.reported = now
                report = self._report(table)
                if report is None:
                    continue
                self._post(lambda told=question.show, report=report: told(report))  # type: ignore[misc]
                done = report.thought.simulations - table.visits
                if question.simulations is None and done >= LONGEST_SEARCH:
                    table.thinker.stop()

    def _report(self, table: _Table) -> SearchProgress | None:
        """Return what a table's search has found so far."""
        assert table.question is not None
        thought = SearchResult.of(table.thinker, table.question.state, LINES)
        if thought is None:
            return None
        spent = max(time.monotonic() - table.began, 1e-3)
        speed = max(thought.simulations - table.visits, 0) / spent
        return SearchProgress(replace(thought, candidates=thought.candidates[:TOLD]), speed)

    def _answer(self, question: SearchRequest, answer: SearchResponse) -> None:
        """Answer on the server's thread, unless the question is withdrawn before."""

        def tell() -> None:
            if question in self._waits:
                self._waits.discard(question)
                question.answer(answer)

        self._post(tell)

    def _fail(self, error: BaseException) -> None:
        """Tell everybody who waits that there will be no answer."""
        fault = str(error) if isinstance(error, AlphaZeroError) else "the player failed"

        def tell() -> None:
            self.failed = True
            for question in list(self._waits):
                self._waits.discard(question)
                question.answer(SearchResponse(fault=fault))

        self._post(tell)
