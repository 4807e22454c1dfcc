"""A user's web session: the game tree, the sides and the running search.

Sessions run on the event loop, searches in search pools, only while a page is connected.
"""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from alphazero.errors import AlphaZeroError, GameError
from alphazero.frontends.game_tree import PERSON, GameNode, GameTree
from alphazero.frontends.web.catalog import Catalog, PlayerOption
from alphazero.frontends.web.search_pool import (
    SearchPool,
    SearchProgress,
    SearchRequest,
    SearchResponse,
)
from alphazero.games.game import Game
from alphazero.games.registry import name_of
from alphazero.players.checkpoint_player import SEQUENTIAL_BELOW
from alphazero.players.options import CheckpointOptions
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf_export import has_sgf, to_sgf

MOST_STATES: Final = 1 << 24
"""Maximum bytes of the states of a game tree, without comments and search results."""

MOST_POSITIONS: Final = 4096
"""Maximum positions of a game tree, unless the game itself can be longer."""

MOVE, HINT, ANALYSIS = "move", "hint", "analysis"
"""Purposes of a search."""


class Host(Protocol):
    """The owner of the sessions: `session_manager.SessionManager`."""

    catalogue: Catalog
    pace: float
    """minimum seconds per move when players play each other"""

    def search_pool(self, offer: PlayerOption, game: Game, few: bool) -> SearchPool:
        """Return the search pool of a player and a game; `few` as in `SearchPool`."""


@dataclass(frozen=True)
class Side:
    """The player of one side, with its budget; without `offer` the user."""

    offer: PlayerOption | None = None
    simulations: int | None = None
    seconds: float | None = None

    def json(self) -> dict[str, Any]:
        """Return the JSON for the page."""
        name = "human" if self.offer is None else self.offer.name
        return {"player": name, "simulations": self.simulations, "seconds": self.seconds}

    @property
    def title(self) -> str:
        """The side's name in files."""
        if self.offer is None:
            return PERSON
        told = f"{self.simulations} simulations" if self.seconds is None else f"{self.seconds:g} s"
        return f"{self.offer.name}, {told}" if self.offer.searches else self.offer.name


@dataclass(frozen=True)
class SearchGoal:
    """The search to run now."""

    purpose: str
    node: GameNode
    seat: Side

    @property
    def is_few(self) -> bool:
        """Whether it is a short network search, for a pool with `few`."""
        assert self.seat.offer is not None
        return (
            isinstance(self.seat.offer.spec.options, CheckpointOptions)
            and self.seat.simulations is not None
            and self.seat.simulations <= SEQUENTIAL_BELOW
        )


@dataclass(frozen=True, eq=False)
class RunningSearch:
    """A search goal in progress in a pool."""

    goal: SearchGoal
    question: SearchRequest
    pool: SearchPool
    began: float


class WebSession:
    """A game tree, two sides, and at most one search."""

    def __init__(self, host: Host, game: Game, seats: list[Side]) -> None:
        self.name = secrets.token_urlsafe(16)
        self.host = host
        self.game_tree = GameTree(game)
        self.seats = seats
        self.watchers: set[Callable[[str], None]] = set()
        """Callbacks of the open streams, called with `view`, `thought` or `end`."""
        self.paused = False
        self.analyzing = False
        self.analyst = host.catalogue.analyst(game)
        self.message = ""
        self.serial = 0
        """Increases with every change, so that a page can order views."""
        self.hinted: GameNode | None = None
        """Position of the last hint."""
        self.recorded: dict[GameNode, dict[str, Any]] = {}
        """Recorded search results and current network outputs, by position."""
        self.task: RunningSearch | None = None
        self.per_second = 0.0
        self._hint: GameNode | None = None
        """Position of a pending hint request."""
        self._step: GameNode | None = None
        """Position in which a paused player makes a single move."""
        self._resting: GameNode | None = None
        """Position reached by navigation: players do not move there until resumed."""
        self._finished: GameNode | None = None
        """Position whose analysis is complete."""
        self._pools: dict[str, SearchPool] = {}
        """Search pool by client of this session."""

    # --- state -----------------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        """The current game."""
        return self.game_tree.game

    @property
    def is_waiting(self) -> bool:
        """Whether a player does not move because the user navigated here."""
        machine = self.seats[self.game_tree.to_play].offer is not None
        return machine and not self.game_tree.is_over and self._resting is self.game_tree.here

    @property
    def is_watched(self) -> bool:
        """Whether no side is the user's."""
        return all(seat.offer is not None for seat in self.seats)

    # --- actions: one method per request ---------------------------------------------------------

    def make(self, action: int) -> None:
        """Play the user's move."""
        if self.game_tree.is_over:
            raise GameError("the game is over; go back, or begin a new one")
        if self.task is not None and self.task.goal.purpose == MOVE:
            raise GameError("it is the other side's turn, which is thinking; pause it first")
        self._make(action)
        self._moved()

    def paste(self, actions: list[int]) -> None:
        """Play moves from the current position."""
        for action in actions:
            self._make(action)
        self.look()

    def back(self) -> None:
        """Undo a resignation or a move; with one user side, to the user's previous turn."""
        if self.game_tree.loser is not None:
            self.game_tree.surrender = None
        else:
            ply = self.game_tree.here.ply - 1
            while ply > 0 and not self._is_turning_point(ply):
                ply -= 1
            self.game_tree.go_to(ply)
        self.look()

    def forth(self) -> None:
        """Redo a move; with one user side, to the user's next turn."""
        ply, last = self.game_tree.here.ply + 1, len(self.game_tree.line) - 1
        while ply < last and not self._is_turning_point(ply):
            ply += 1
        self.game_tree.go_to(min(ply, last))
        self.look()

    def go_to(self, ply: int) -> None:
        """Go to position `ply` of the line."""
        if not self.game_tree.go_to(ply):
            raise GameError(f"the line has {len(self.game_tree.line) - 1} moves, not {ply}")
        self.look()

    def branch(self, ply: int, index: int) -> None:
        """Enter variation `index` after `ply` moves."""
        line = self.game_tree.line
        if not 0 <= ply < len(line) or not 0 <= index < len(line[ply].children):
            raise GameError(f"no move number {index} was tried after {ply} moves")
        self.game_tree.here = line[ply]
        action = line[ply].children[index].action
        assert action is not None
        self.game_tree.make(action)
        self.look()

    def set_sides(self, seats: list[Side]) -> None:
        """Change the players."""
        self.seats = seats
        self._resting = None
        self.message = ""
        self.refresh()

    def begin(self, game: Game | None = None, seats: list[Side] | None = None) -> None:
        """Start a new game."""
        if seats is not None:
            self.seats = seats
        self._set(GameTree(game or self.game))
        self.refresh()

    def resign(self) -> None:
        """Resign for the user; for the player to move if both or no sides are the user's."""
        if self.game_tree.is_over:
            raise GameError("the game is over already")
        people = [player for player, seat in enumerate(self.seats) if seat.offer is None]
        self.game_tree.resign(people[0] if len(people) == 1 else self.game_tree.to_play)
        self.message = ""
        self.refresh()

    def hint(self) -> None:
        """Run the analysis player once, with its default budget."""
        self._hint, self.hinted = self.game_tree.here, None
        self.message = ""
        self.refresh()

    def analyze(self, on: bool, offer: PlayerOption | None = None) -> None:
        """Turn the endless analysis of the current position on or off."""
        if offer is not None:
            if not offer.searches:
                raise GameError(f"{offer.name} does not search, so it has nothing to show")
            self.analyst = offer
        self.analyzing, self._finished = on, None
        self.message = ""
        self.refresh()

    def stop(self) -> None:
        """Stop the search; players are paused."""
        self.paused = self.paused or (self.task is not None and self.task.goal.purpose == MOVE)
        self.analyzing, self._hint, self._step = False, None, None
        self.refresh()

    def pause(self, on: bool) -> None:
        """Pause or resume the players."""
        self.paused = on
        self.message = ""
        if not on:
            self._resting = None
        self.refresh()

    def step(self) -> None:
        """Let a paused player make one move."""
        if self.game_tree.is_over or self.seats[self.game_tree.to_play].offer is None:
            raise GameError("no player is to move here")
        self.paused, self._step = True, self.game_tree.here
        self.message = ""
        self.refresh()

    def load(self, played: PlayedGame) -> None:
        """Load a recorded game."""
        self._check_room(played.game, len(played.actions))
        self._set(GameTree.of(played))
        self.seats = [
            seat if seat.offer is None or seat.offer.spec.game in (None, played.game) else Side()
            for seat in self.seats
        ]
        self.look()

    def record(self, told: list[dict[str, Any]]) -> None:
        """Attach the recorded data of a run to the positions of the line; call after `load`."""
        self.recorded = dict(zip(self.game_tree.line, told, strict=False))
        self.look()

    def saved(self, sgf: bool) -> str:
        """Return the line as SGF or as a line of JSON.

        Raises:
            GameError: for SGF of a game without SGF.
        """
        played = self.game_tree.played((self.seats[0].title, self.seats[1].title))
        if not sgf:
            return played.to_line() + "\n"
        if not has_sgf(self.game):
            raise GameError(f"{name_of(self.game)} cannot be written as SGF; save it as JSON")
        return to_sgf(played)

    # --- searches --------------------------------------------------------------------------------

    def watch(self, watcher: Callable[[str], None]) -> None:
        """Add a stream; with the first one, searches start."""
        self.watchers.add(watcher)
        self.refresh()

    def unwatch(self, watcher: Callable[[str], None]) -> None:
        """Remove a stream; without any, the search stops."""
        self.watchers.discard(watcher)
        if not self.watchers:
            self._set_goal(None)

    def close(self) -> None:
        """Stop the search, end the streams and release the search slots."""
        self._set_goal(None)
        self._tell("end")
        self.watchers.clear()
        for client, pool in self._pools.items():
            pool.leave((self.name, client))
        self._pools.clear()

    def look(self) -> None:
        """Stay in the position reached by navigation: players do not move until resumed."""
        self._resting, self._step = self.game_tree.here, None
        self.message = ""
        self.refresh()

    def refresh(self) -> None:
        """Start the search that is due and notify the pages."""
        self._set_goal(self._goal() if self.watchers else None)
        self._tell("view")

    def _goal(self) -> SearchGoal | None:
        """Return the search that is due: a hint, a player's move, or an analysis."""
        here, mover = self.game_tree.here, self.seats[self.game_tree.to_play]
        if self.game_tree.is_over:
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

    def _set_goal(self, goal: SearchGoal | None) -> None:
        """Replace the running search, unless it has the same goal."""
        if self.task is not None and self.task.goal == goal:
            return
        if self.task is not None:
            self.task.pool.withdraw(self.task.question)
            self.task, self.per_second = None, 0.0
        if goal is None:
            return
        offer = goal.seat.offer
        assert offer is not None
        try:
            pool = self.host.search_pool(offer, self.game, goal.is_few)
        except AlphaZeroError as error:
            self._fail(str(error))
            return
        client = str(self.game_tree.to_play) if goal.purpose == MOVE else "analyst"
        former = self._pools.get(client)
        if former is not None and former is not pool:
            former.leave((self.name, client))
        self._pools[client] = pool
        question = SearchRequest(
            (self.name, client),
            self.game_tree.moves,
            self.game_tree.state,
            goal.seat.simulations,
            goal.seat.seconds,
            lambda report: self._show(task, report),
            lambda answer: self._hear(task, answer),
        )
        task = self.task = RunningSearch(goal, question, pool, asyncio.get_running_loop().time())
        pool.ask(question)

    def _show(self, task: RunningSearch, report: SearchProgress) -> None:
        if self.task is task:
            task.goal.node.thought, self.per_second = report.thought, report.per_second
            self._tell("thought")

    def _hear(self, task: RunningSearch, answer: SearchResponse) -> None:
        """Handle a finished search; games between players are slowed to `Host.pace`."""
        if self.task is not task:
            return
        loop = asyncio.get_running_loop()
        rest = self.host.pace - (loop.time() - task.began)
        if task.goal.purpose == MOVE and self.is_watched and rest > 0:
            loop.call_later(rest, self._finish, task, answer)
        else:
            self._finish(task, answer)

    def _finish(self, task: RunningSearch, answer: SearchResponse) -> None:
        if self.task is not task:
            return
        self.task, self.per_second = None, 0.0
        node, purpose = task.goal.node, task.goal.purpose
        if answer.report is not None:
            node.thought = answer.report.thought
        if answer.fault:
            self._fail(answer.fault)
        elif purpose == HINT:
            self._hint, self.hinted = None, node
        elif purpose == ANALYSIS:
            self._finished = node
        elif answer.action is None:
            self.game_tree.resign(self.game_tree.to_play)
        else:
            try:
                self._make(
                    answer.action, self.game_tree.search_comment(answer.action, node.thought)
                )
            except GameError as error:
                self._fail(str(error))
        self.refresh()

    def _fail(self, text: str) -> None:
        """Show an error and stop all automatic searches."""
        self.message = text
        self.paused, self.analyzing, self._hint, self._step = True, False, None, None

    def _make(self, action: int, comment: str = "") -> None:
        known = any(child.action == action for child in self.game_tree.here.children)
        self._check_room(self.game, self.game_tree.size + (not known))
        self.game_tree.make(action, comment)

    def _moved(self) -> None:
        self.message = ""
        self._resting = None
        self.refresh()

    def _is_turning_point(self, ply: int) -> bool:
        """Whether undo and redo stop here: on every ply, or on the turns of a single user side."""
        people = [player for player, seat in enumerate(self.seats) if seat.offer is None]
        return len(people) != 1 or ply % 2 == people[0]

    def _check_room(self, game: Game, positions: int) -> None:
        most = max(game.max_moves + 1, min(MOST_POSITIONS, MOST_STATES // (8 * game.state_size)))
        if positions > most:
            raise GameError(f"at most {most:,} positions are kept; save this, and begin a new game")

    def _set(self, game_tree: GameTree) -> None:
        if game_tree.game != self.game:
            self.analyst = self.host.catalogue.analyst(game_tree.game)
        self._set_goal(None)
        self.game_tree = game_tree
        self.message = ""
        self.recorded = {}
        self.hinted = self._hint = self._step = self._resting = self._finished = None

    def _tell(self, news: str) -> None:
        self.serial += 1
        for watcher in list(self.watchers):
            watcher(news)
