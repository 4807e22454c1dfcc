"""One person's table: a game looked at while it is played, who sits there, and what is searched.

All of it happens on the server's thread; searches run in rooms and answer there. A session thinks
only while a page looks at it.
"""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from alphazero.errors import AlphaZeroError, GameError
from alphazero.frontends.game_tree import PERSON, GameNode, GameTree
from alphazero.frontends.web.catalog import Catalog, PlayerOption
from alphazero.frontends.web.search_pool import (
    SearchPool,
    SearchProgress,
    SearchRequest,
    SearchResponse,
)
from alphazero.frontends.web.view import Json, view_of
from alphazero.games.game import Game
from alphazero.games.registry import name_of
from alphazero.players.checkpoint_player import SEQUENTIAL_BELOW
from alphazero.players.options import CheckpointOptions
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf_export import has_sgf, to_sgf

MOST_STATES: Final = 1 << 24
"""Bytes that the positions of a study may take, comments and thoughts aside."""

MOST_POSITIONS: Final = 4096
"""Positions of a study, unless its game alone may be longer."""

MOVE, HINT, ANALYSIS = "move", "hint", "analysis"
"""What a search is for."""


class Host(Protocol):
    """Who runs the sessions: see `house.py`."""

    catalogue: Catalog
    pace: float
    """seconds that a move takes at least where two players are watched"""

    def search_pool(self, offer: PlayerOption, game: Game, few: bool) -> SearchPool:
        """Return the room of a player and a game."""


@dataclass(frozen=True)
class Side:
    """Who plays a side: a person, or a player who thinks for so long."""

    offer: PlayerOption | None = None
    simulations: int | None = None
    seconds: float | None = None

    def json(self) -> Json:
        """Return what the page is told."""
        name = "human" if self.offer is None else self.offer.name
        return {"player": name, "simulations": self.simulations, "seconds": self.seconds}

    @property
    def title(self) -> str:
        """How the side is called in a file."""
        if self.offer is None:
            return PERSON
        told = f"{self.simulations} simulations" if self.seconds is None else f"{self.seconds:g} s"
        return f"{self.offer.name}, {told}" if self.offer.searches else self.offer.name


@dataclass(frozen=True)
class SearchGoal:
    """What should be thought about now."""

    purpose: str
    node: GameNode
    seat: Side

    @property
    def is_few(self) -> bool:
        """Whether it belongs among the short searches of a network."""
        assert self.seat.offer is not None
        return (
            isinstance(self.seat.offer.entrant.options, CheckpointOptions)
            and self.seat.simulations is not None
            and self.seat.simulations <= SEQUENTIAL_BELOW
        )


@dataclass(frozen=True, eq=False)
class RunningSearch:
    """A wish that a room works on."""

    wish: SearchGoal
    question: SearchRequest
    room: SearchPool
    began: float


class WebSession:
    """A study, two seats, and at most one search."""

    def __init__(self, host: Host, game: Game, seats: list[Side]) -> None:
        self.name = secrets.token_urlsafe(16)
        self.host = host
        self.study = GameTree(game)
        self.seats = seats
        self.watchers: set[Callable[[str], None]] = set()
        """Of each open stream: called with `view` or `thought` when there is a new one, and with
        `end` when the session has ended."""
        self.paused = False
        self.analyzing = False
        self.analyst = host.catalogue.analyst(game)
        self.message = ""
        self.serial = 0
        """Rises with every change, so that a page knows the newer of two views."""
        self.hinted: GameNode | None = None
        """The position in which a hint was given."""
        self.recorded: dict[GameNode, Json] = {}
        """What a run's search thought of a position, and what its network thinks now."""
        self.task: RunningSearch | None = None
        self.per_second = 0.0
        self._hint: GameNode | None = None
        """The position in which a hint is wanted."""
        self._step: GameNode | None = None
        """The position in which a player is to move though it is paused."""
        self._resting: GameNode | None = None
        """A position that was looked up: nobody moves there until a person wants it."""
        self._finished: GameNode | None = None
        """The position of which the analysis has found all it can."""
        self._rooms: dict[str, SearchPool] = {}
        """Where each of our askers has a table."""

    # --- what is the case ------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        """The game on the board."""
        return self.study.game

    @property
    def is_waiting(self) -> bool:
        """Whether a player's move waits for a person who looked this position up."""
        machine = self.seats[self.study.to_play].offer is not None
        return machine and not self.study.is_over and self._resting is self.study.here

    @property
    def is_watched(self) -> bool:
        """Whether two players play each other."""
        return all(seat.offer is not None for seat in self.seats)

    def view(self) -> Json:
        """Return all that the page shows."""
        return view_of(self)

    # --- what is done: each method is a request --------------------------------------------------

    def make(self, action: int) -> None:
        """Make a person's move."""
        if self.study.is_over:
            raise GameError("the game is over; go back, or begin a new one")
        if self.task is not None and self.task.wish.purpose == MOVE:
            raise GameError("it is the other side's turn, which is thinking; pause it first")
        self._make(action)
        self._moved()

    def paste(self, actions: list[int]) -> None:
        """Make moves, from this position on."""
        for action in actions:
            self._make(action)
        self.look()

    def back(self) -> None:
        """Take a move back, and the answer to it where one side is a person's."""
        if self.study.loser is not None:
            self.study.surrender = None
        else:
            ply = self.study.here.ply - 1
            while ply > 0 and not self._is_turning_point(ply):
                ply -= 1
            self.study.go_to(ply)
        self.look()

    def forth(self) -> None:
        """Make again what was taken back."""
        ply, last = self.study.here.ply + 1, len(self.study.line) - 1
        while ply < last and not self._is_turning_point(ply):
            ply += 1
        self.study.go_to(min(ply, last))
        self.look()

    def go_to(self, ply: int) -> None:
        """Look at the position after so many moves of the line."""
        if not self.study.go_to(ply):
            raise GameError(f"the line has {len(self.study.line) - 1} moves, not {ply}")
        self.look()

    def branch(self, ply: int, index: int) -> None:
        """Follow another of the moves that were tried after `ply` moves."""
        line = self.study.line
        if not 0 <= ply < len(line) or not 0 <= index < len(line[ply].children):
            raise GameError(f"no move number {index} was tried after {ply} moves")
        self.study.here = line[ply]
        action = line[ply].children[index].action
        assert action is not None
        self.study.make(action)
        self.look()

    def set_sides(self, seats: list[Side]) -> None:
        """Change who plays."""
        self.seats = seats
        self._resting = None
        self.message = ""
        self.refresh()

    def begin(self, game: Game | None = None, seats: list[Side] | None = None) -> None:
        """Begin a new game."""
        if seats is not None:
            self.seats = seats
        self._set(GameTree(game or self.game))
        self.refresh()

    def resign(self) -> None:
        """Let the person resign: whose turn it is where both or none are."""
        if self.study.is_over:
            raise GameError("the game is over already")
        people = [player for player, seat in enumerate(self.seats) if seat.offer is None]
        self.study.resign(people[0] if len(people) == 1 else self.study.to_play)
        self.message = ""
        self.refresh()

    def hint(self) -> None:
        """Ask the analyst once, for as long as it usually thinks."""
        self._hint, self.hinted = self.study.here, None
        self.message = ""
        self.refresh()

    def analyze(self, on: bool, offer: PlayerOption | None = None) -> None:
        """Search whatever position is looked at, without end; or no more."""
        if offer is not None:
            if not offer.searches:
                raise GameError(f"{offer.name} does not search, so it has nothing to show")
            self.analyst = offer
        self.analyzing, self._finished = on, None
        self.message = ""
        self.refresh()

    def stop(self) -> None:
        """End whatever search there is; the players wait."""
        self.paused = self.paused or (self.task is not None and self.task.wish.purpose == MOVE)
        self.analyzing, self._hint, self._step = False, None, None
        self.refresh()

    def pause(self, on: bool) -> None:
        """Let the players wait, or move again."""
        self.paused = on
        self.message = ""
        if not on:
            self._resting = None
        self.refresh()

    def step(self) -> None:
        """Let the player whose turn it is make one move, though it is paused."""
        if self.study.is_over or self.seats[self.study.to_play].offer is None:
            raise GameError("no player is to move here")
        self.paused, self._step = True, self.study.here
        self.message = ""
        self.refresh()

    def load(self, played: PlayedGame) -> None:
        """Look at a game that was played elsewhere."""
        self._check_room(played.game, len(played.actions))
        self._set(GameTree.of(played))
        self.seats = [
            seat if seat.offer is None or seat.offer.entrant.game in (None, played.game) else Side()
            for seat in self.seats
        ]
        self.look()

    def record(self, told: list[Json]) -> None:
        """Show beside each position of the line what a run has recorded of it; see `load`."""
        self.recorded = dict(zip(self.study.line, told, strict=False))
        self.look()

    def saved(self, sgf: bool) -> str:
        """Return the line as a file: SGF, or a line of JSON.

        Raises:
            GameError: for SGF of a game that has none.
        """
        played = self.study.played((self.seats[0].title, self.seats[1].title))
        if not sgf:
            return played.to_line() + "\n"
        if not has_sgf(self.game):
            raise GameError(f"{name_of(self.game)} cannot be written as SGF; save it as JSON")
        return to_sgf(played)

    # --- how it goes on --------------------------------------------------------------------------

    def watch(self, watcher: Callable[[str], None]) -> None:
        """Tell a stream of every change; with the first one, players begin to think."""
        self.watchers.add(watcher)
        self.refresh()

    def unwatch(self, watcher: Callable[[str], None]) -> None:
        """Forget a stream; without any, nobody thinks."""
        self.watchers.discard(watcher)
        if not self.watchers:
            self._set_goal(None)

    def close(self) -> None:
        """Stop thinking, end the streams and give the tables up."""
        self._set_goal(None)
        self._tell("end")
        self.watchers.clear()
        for asker, room in self._rooms.items():
            room.leave((self.name, asker))
        self._rooms.clear()

    def look(self) -> None:
        """Rest in the position that was looked up: a player moves there when it is told to."""
        self._resting, self._step = self.study.here, None
        self.message = ""
        self.refresh()

    def refresh(self) -> None:
        """Think about what there is to think about now, and tell the pages."""
        self._set_goal(self._wish() if self.watchers else None)
        self._tell("view")

    def _wish(self) -> SearchGoal | None:
        """Return what there is to think about: a hint, a player's move, or an analysis."""
        here, mover = self.study.here, self.seats[self.study.to_play]
        if self.study.is_over:
            return None
        if self._hint is here:
            usual = self.analyst.default_level
            return SearchGoal(HINT, here, Side(self.analyst, usual.simulations, usual.seconds))
        free = self._step is here or not (self.paused or self.is_waiting)
        if mover.offer is not None and free:
            return SearchGoal(MOVE, here, mover)
        if self.analyzing and self._finished is not here:
            return SearchGoal(ANALYSIS, here, Side(self.analyst))
        return None

    def _set_goal(self, wish: SearchGoal | None) -> None:
        """Think about that and nothing else."""
        if self.task is not None and self.task.wish == wish:
            return
        if self.task is not None:
            self.task.room.withdraw(self.task.question)
            self.task, self.per_second = None, 0.0
        if wish is None:
            return
        offer = wish.seat.offer
        assert offer is not None
        try:
            room = self.host.search_pool(offer, self.game, wish.is_few)
        except AlphaZeroError as error:
            self._fail(str(error))
            return
        asker = str(self.study.to_play) if wish.purpose == MOVE else "analyst"
        former = self._rooms.get(asker)
        if former is not None and former is not room:
            former.leave((self.name, asker))
        self._rooms[asker] = room
        question = SearchRequest(
            (self.name, asker),
            self.study.moves,
            self.study.state,
            wish.seat.simulations,
            wish.seat.seconds,
            lambda report: self._show(task, report),
            lambda answer: self._hear(task, answer),
        )
        task = self.task = RunningSearch(wish, question, room, asyncio.get_running_loop().time())
        room.ask(question)

    def _show(self, task: RunningSearch, report: SearchProgress) -> None:
        """Show what a search has found so far."""
        if self.task is task:
            task.wish.node.thought, self.per_second = report.thought, report.per_second
            self._tell("thought")

    def _hear(self, task: RunningSearch, answer: SearchResponse) -> None:
        """Do what a search was for, but let a person see who watches two players."""
        if self.task is not task:
            return
        loop = asyncio.get_running_loop()
        rest = self.host.pace - (loop.time() - task.began)
        if task.wish.purpose == MOVE and self.is_watched and rest > 0:
            loop.call_later(rest, self._finish, task, answer)
        else:
            self._finish(task, answer)

    def _finish(self, task: RunningSearch, answer: SearchResponse) -> None:
        if self.task is not task:
            return
        self.task, self.per_second = None, 0.0
        node, purpose = task.wish.node, task.wish.purpose
        if answer.report is not None:
            node.thought = answer.report.thought
        if answer.fault:
            self._fail(answer.fault)
        elif purpose == HINT:
            self._hint, self.hinted = None, node
        elif purpose == ANALYSIS:
            self._finished = node
        elif answer.action is None:
            self.study.resign(self.study.to_play)
        else:
            try:
                self._make(answer.action, self.study.search_comment(answer.action, node.thought))
            except GameError as error:
                self._fail(str(error))
        self.refresh()

    def _fail(self, text: str) -> None:
        """Tell a person what went wrong, and try nothing more by oneself."""
        self.message = text
        self.paused, self.analyzing, self._hint, self._step = True, False, None, None

    def _make(self, action: int, comment: str = "") -> None:
        known = any(child.action == action for child in self.study.here.children)
        self._check_room(self.game, self.study.size + (not known))
        self.study.make(action, comment)

    def _moved(self) -> None:
        self.message = ""
        self._resting = None
        self.refresh()

    def _is_turning_point(self, ply: int) -> bool:
        """Whether undo and redo stop here: in every position, but one person's turns alone."""
        people = [player for player, seat in enumerate(self.seats) if seat.offer is None]
        return len(people) != 1 or ply % 2 == people[0]

    def _check_room(self, game: Game, positions: int) -> None:
        most = max(game.max_moves + 1, min(MOST_POSITIONS, MOST_STATES // (8 * game.state_size)))
        if positions > most:
            raise GameError(f"at most {most:,} positions are kept; save this, and begin a new game")

    def _set(self, study: GameTree) -> None:
        """Put another game on the table."""
        if study.game != self.game:
            self.analyst = self.host.catalogue.analyst(study.game)
        self._set_goal(None)
        self.study = study
        self.message = ""
        self.recorded = {}
        self.hinted = self._hint = self._step = self._resting = self._finished = None

    def _tell(self, news: str) -> None:
        self.serial += 1
        for watcher in list(self.watchers):
            watcher(news)
