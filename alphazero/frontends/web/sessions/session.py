"""A user's web session: the game tree, the sides and the running search.

Sessions run on the event loop, searches in search pools, only while a page is connected.
"""

import asyncio
import dataclasses
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from alphazero.errors import AlphaZeroError, GameError
from alphazero.frontends.game_tree import PERSON, GameNode, GameTree
from alphazero.frontends.review.annotation import annotated_sgf
from alphazero.frontends.review.reviewer import PositionSolver, evaluation_of
from alphazero.frontends.search_pool import SearchPool, SearchProgress, SearchResponse
from alphazero.frontends.web.catalog.catalog import Catalog, PlayerOption
from alphazero.frontends.web.sessions.game_review import (
    BETTER,
    RETRY,
    Detour,
    GameReview,
    StoppedError,
)
from alphazero.frontends.web.sessions.session_search import (
    ANALYSIS,
    HINT,
    MOVE,
    REVIEW,
    SECOND,
    CurrentSearch,
    RunningSearch,
    SearchGoal,
)
from alphazero.games.game import Game
from alphazero.games.registry import name_of
from alphazero.players.levels import LevelSettings
from alphazero.players.position_search import SearchResult
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf_export import has_sgf, to_sgf

MAX_STATE_BYTES: Final = 1 << 24
"""Maximum bytes of the states of a game tree, without comments and search results."""

MAX_POSITIONS: Final = 4096
"""Maximum positions of a game tree, unless the game itself can be longer."""


class Host(Protocol):
    """The owner of the sessions: `session_manager.SessionManager`."""

    catalog: Catalog
    min_move_seconds: float
    """minimum seconds per move when players play each other"""
    solver_turn: asyncio.Semaphore
    """held by the only review that may use a solver now"""

    def search_pool(self, player: PlayerOption, game: Game, is_sequential: bool) -> SearchPool:
        """Return the search pool of a player and a game; `is_sequential` as in `SearchPool`."""

    def runs(self) -> list[dict[str, Any]]:
        """Return the JSON of the runs and their progress."""


@dataclass(frozen=True)
class Side:
    """The player of one side, with its budget; None for the user."""

    player: PlayerOption | None = None
    simulations: int | None = None
    seconds: float | None = None
    level: int | None = None
    """one of the player's levels for people, in place of a budget"""

    def json(self) -> dict[str, Any]:
        name = PERSON if self.player is None else self.player.name
        return {
            "player": name,
            "simulations": self.simulations,
            "seconds": self.seconds,
            "level": self.level,
        }

    @property
    def settings(self) -> LevelSettings | None:
        """How its level plays; None without a level."""
        if self.player is None or self.level is None:
            return None
        return self.player.levels[self.level - 1].settings

    @property
    def title(self) -> str:
        """The side's name in files."""
        if self.player is None:
            return PERSON
        if not self.player.searches:
            return self.player.name
        if self.level is not None:
            return f"{self.player.name}, level {self.level}"
        if self.seconds is not None:
            return f"{self.player.name}, {self.seconds:g} s"
        return f"{self.player.name}, {self.simulations} simulations"


class WebSession:
    """A game tree, two sides, and at most one search."""

    def __init__(self, host: Host, game: Game, sides: list[Side], client: str = "") -> None:
        """`client` is the key of the client that created it."""
        self.id = secrets.token_urlsafe(16)
        self.host = host
        self.client = client
        self.last_used = time.monotonic()
        self.game_tree = GameTree(game)
        self.sides = sides
        self.watchers: set[Callable[[str], None]] = set()
        """Callbacks of the open streams, called with `view`, `search`, `runs` or `end`."""
        self.paused = False
        self.analyzing = False
        self.analysis_player = host.catalog.analysis_player(game)
        self.second_player: PlayerOption | None = None
        """Player that analyzes the same positions beside the first one."""
        self.message = ""
        self.serial = 0
        """Increases with every change, so that a page can order views."""
        self.hinted: GameNode | None = None
        """Position of the last hint."""
        self.recorded: dict[GameNode, dict[str, Any]] = {}
        """Recorded search results and current network outputs, by position."""
        self._first = CurrentSearch(self.id, host.search_pool, self._on_progress, self._on_response)
        self._second = CurrentSearch(
            self.id, host.search_pool, self._on_second_progress, self._on_second_response
        )
        self.second_result: tuple[GameNode, SearchResult] | None = None
        """What the second player has found, and where."""
        self._hint: GameNode | None = None
        """Position of a pending hint request."""
        self._step: GameNode | None = None
        """Position in which a paused player makes a single move."""
        self._navigated_to: GameNode | None = None
        """Position reached by navigation: players do not move there until resumed."""
        self._analyzed: GameNode | None = None
        """Position whose analysis is complete."""
        self._second_analyzed: GameNode | None = None
        """The same of the second player."""
        self.review: GameReview | None = None
        self.detour: Detour | None = None
        """Variation that the review has led to."""
        self._solving: asyncio.Task[None] | None = None

    # --- state -----------------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        return self.game_tree.game

    @property
    def search(self) -> RunningSearch | None:
        """The running search, without that of the second player."""
        return self._first.search

    @property
    def speeds(self) -> tuple[float, float]:
        """Simulations per second of the running search, and of the second player's."""
        return self._first.per_second, self._second.per_second

    @property
    def side_to_play(self) -> Side:
        return self.sides[self.game_tree.to_play]

    @property
    def is_waiting(self) -> bool:
        """Whether a player does not move because the user navigated here."""
        can_move = self.side_to_play.player is not None and not self.game_tree.is_over
        return can_move and self._navigated_to is self.game_tree.current

    @property
    def _user_sides(self) -> list[int]:
        return [index for index, side in enumerate(self.sides) if side.player is None]

    @property
    def reviewed_line(self) -> list[GameNode]:
        """The positions of the game under review, also during a detour from it."""
        return self.game_tree.line if self.detour is None else self.detour.move.line

    @property
    def hides_search(self) -> bool:
        """Whether the user looks for a better move here, which a search would show."""
        detour = self.detour
        return (
            detour is not None
            and detour.kind == RETRY
            and (self.game_tree.current is detour.node and self.hinted is not detour.node)
        )

    @property
    def to_review(self) -> list[GameNode]:
        """The positions that the review evaluates: the game's, and a try at a better move."""
        here, detour = self.game_tree.current, self.detour
        is_try = detour is not None and detour.kind == RETRY and here.parent is detour.node
        return [*self.reviewed_line, here] if is_try else self.reviewed_line

    def touch(self) -> None:
        self.last_used = time.monotonic()

    # --- commands of the page --------------------------------------------------------------------

    def move(self, action: int) -> None:
        if self.game_tree.is_over:
            raise GameError("the game is over; go back or start a new one")
        if self.search is not None and self.search.goal.purpose == MOVE:
            raise GameError("the other side is thinking; pause it first")
        here = self.game_tree.current
        self._play(action)
        if self.detour is not None and self.detour.node is here and self.review is not None:
            self.review.running = True  # judges the move
            self._stay()
            return
        self._navigated_to = self.detour = None
        self._refresh()

    def paste(self, actions: list[int]) -> None:
        """Play moves from the current position."""
        try:
            for action in actions:
                self._play(action)
        finally:
            self._stay()

    def undo(self) -> None:
        """Undo a resignation or a move; with one user side, to the user's previous turn."""
        if self.game_tree.loser is not None:
            self.game_tree.resignation = None
        else:
            ply = self.game_tree.current.ply - 1
            while ply > 0 and not self._is_user_turn(ply):
                ply -= 1
            self.game_tree.go_to(ply)
        self._stay()

    def redo(self) -> None:
        """Redo a move; with one user side, to the user's next turn."""
        ply, last = self.game_tree.current.ply + 1, len(self.game_tree.line) - 1
        while ply < last and not self._is_user_turn(ply):
            ply += 1
        self.game_tree.go_to(min(ply, last))
        self._stay()

    def go_to(self, ply: int) -> None:
        """Go to position `ply` of the line."""
        if not self.game_tree.go_to(ply):
            raise GameError(f"the line has {len(self.game_tree.line) - 1} moves, not {ply}")
        self._stay()

    def branch(self, ply: int, index: int) -> None:
        """Enter variation `index` after `ply` moves."""
        line = self.game_tree.line
        if not 0 <= ply < len(line) or not 0 <= index < len(line[ply].children):
            raise GameError(f"there is no variation {index} after {ply} moves")
        self.game_tree.current = line[ply]
        action = line[ply].children[index].action
        assert action is not None
        self.game_tree.make(action)
        self._stay()

    def set_sides(self, sides: list[Side]) -> None:
        self.sides = sides
        self._navigated_to = None
        self._refresh()

    def start_game(self, game: Game, sides: list[Side]) -> None:
        """Start a game; players from runs play as they are now."""
        newest = self.host.catalog.newest
        self.sides = [
            side if side.player is None else dataclasses.replace(side, player=newest(side.player))
            for side in sides
        ]
        self.analysis_player = newest(self.analysis_player)
        self.second_player = self.second_player and newest(self.second_player)
        self._set_tree(GameTree(game))
        self._refresh()

    def resign(self) -> None:
        """Resign for the user; for the player to move if both or no sides are the user's."""
        if self.game_tree.is_over:
            raise GameError("the game is already over")
        user = self._user_sides
        self.game_tree.resign(user[0] if len(user) == 1 else self.game_tree.to_play)
        self._refresh()

    def hint(self) -> None:
        """Run the analysis player once, with its default budget."""
        self._hint, self.hinted = self.game_tree.current, None
        self._refresh()

    def analyze(
        self, on: bool, player: PlayerOption | None = None, second: PlayerOption | None = None
    ) -> None:
        """Turn the endless analysis of the current position on or off, by one player or two."""
        for each in (player, second):
            if each is not None and not each.searches:
                raise GameError(f"{each.name} does not search, so it cannot analyze")
        self.analysis_player = player or self.analysis_player
        self.second_player, self.second_result = second, None
        self.analyzing, self._analyzed, self._second_analyzed = on, None, None
        self._refresh()

    def start_review(self, on: bool) -> None:
        """Review the line with the analysis player, or leave its review; results are kept."""
        review = self.review
        if review is None or (on and review.player is not self.analysis_player):
            if review is not None:
                review.running = False
            self.review = review = GameReview(self.analysis_player)
        review.running = on
        self._refresh()

    def take_detour(self, kind: str, ply: int) -> None:
        """Go to the position before move `ply`, to try again, or to see the better line."""
        if self.review is None:
            raise GameError("review the game first")
        if self.detour is not None:
            self.detour.end(self.game_tree)
        self.detour, self.hinted = Detour.at(kind, self.game_tree, ply), None
        self.game_tree.current = node = self.detour.node
        known = self.review.evaluations.get(node)
        try:
            if kind == BETTER and known is not None:
                for action in known.line:
                    self._play(action)
                self.game_tree.go_to(ply if known.line else ply - 1)
        finally:
            self._stay()

    def end_detour(self) -> None:
        """Return from a detour to the game."""
        if self.detour is not None:
            self.detour.end(self.game_tree)
        self.detour = None
        self._stay()

    def pause(self, on: bool) -> None:
        self.paused = on
        if not on:
            self._navigated_to = None
        self._refresh()

    def step(self) -> None:
        """Let a paused player make one move."""
        if self.game_tree.is_over or self.side_to_play.player is None:
            raise GameError("no player is to move here")
        self.paused, self._step = True, self.game_tree.current
        self._refresh()

    def load(self, played: PlayedGame, recorded: list[dict[str, Any]] | None = None) -> None:
        """Load a game, with the recorded data of a run for the positions of its line, if any."""
        self._set_tree(GameTree.of(played))
        self.recorded = dict(zip(self.game_tree.line, recorded or [], strict=False))
        self.sides = [
            side if side.player is None or side.player.spec.plays(played.game) else Side()
            for side in self.sides
        ]
        self._stay()

    def export(self, sgf: bool) -> str:
        """Return the line as SGF, with its review, or as a line of JSON.

        Raises:
            GameError: for SGF of a game without SGF.
        """
        played = self.game_tree.played((self._name(0), self._name(1)))
        if not sgf:
            return played.to_line() + "\n"
        if not has_sgf(self.game):
            raise GameError(f"{name_of(self.game)} cannot be written as SGF; save it as JSON")
        if self.review is None:
            return to_sgf(played)
        line = self.game_tree.line
        evaluations = [self.review.evaluations.get(node) for node in line]
        return annotated_sgf(played, evaluations, self.review.of_line(line))

    def person(self, player: int) -> str | None:
        """Return the name of a side's person, from the loaded game; None if it is not known."""
        names = self.game_tree.loaded_players
        known = self.sides[player].player is None and names is not None
        return names[player] if known and names else None

    def _name(self, player: int) -> str:
        return self.person(player) or self.sides[player].title

    # --- searches --------------------------------------------------------------------------------

    def watch(self, watcher: Callable[[str], None]) -> None:
        """Add a stream; with the first one, searches start."""
        self.watchers.add(watcher)
        self._update()

    def unwatch(self, watcher: Callable[[str], None]) -> None:
        """Remove a stream; without any, the search stops."""
        self.watchers.discard(watcher)
        if not self.watchers:
            self._first.cancel()
            self._second.cancel()

    def close(self) -> None:
        """Stop the search, end the streams and release the search slots."""
        if self.review is not None:
            self.review.running = False
        self._first.close()
        self._second.close()
        self.notify("end")
        self.watchers.clear()

    def _stay(self) -> None:
        """Stay in the position reached by navigation: players do not move until resumed."""
        self._navigated_to, self._step = self.game_tree.current, None
        self._refresh()

    def _refresh(self) -> None:
        """Remove the message and update."""
        self.message = ""
        self._update()

    def _update(self) -> None:
        """Start the search that is due and notify the pages."""
        try:
            self._first.set_goal(self._goal() if self.watchers else None, self.game)
            self._second.set_goal(self._second_goal() if self.watchers else None, self.game)
        except AlphaZeroError as error:
            self._fail(str(error))
            self._first.cancel()
            self._second.cancel()
        self.notify("view")

    def _goal(self) -> SearchGoal | None:
        """Return the search that is due: a hint, a player's move, or an analysis."""
        here, side = self.game_tree.current, self.side_to_play
        if self.game_tree.is_over:
            return self._review_goal()
        if self._hint is here:
            budget = self.analysis_player.default_budget
            return SearchGoal(HINT, here, self.analysis_player, budget.simulations, budget.seconds)
        may_move = self._step is here or not (self.paused or self.is_waiting)
        if side.player is not None and may_move:
            settings = side.settings
            simulations = settings.simulations if settings else side.simulations
            return SearchGoal(MOVE, here, side.player, simulations, side.seconds, settings)
        if (goal := self._review_goal()) is not None:
            return goal
        if self.analyzing and self._analyzed is not here:
            return SearchGoal(ANALYSIS, here, self.analysis_player)
        return None

    def _second_goal(self) -> SearchGoal | None:
        """Return the second player's search, which is due while the first one may analyze."""
        here, player, first = self.game_tree.current, self.second_player, self.search
        if player is None or not self.analyzing or self.game_tree.is_over:
            return None
        if self._second_analyzed is here or (first and first.goal.purpose != ANALYSIS):
            return None
        return SearchGoal(SECOND, here, player)

    def _review_goal(self) -> SearchGoal | None:
        """Return the review's next search; None while a solver is at work, or without a review."""
        review = self.review
        if review is None or not review.running or review.solving:
            return None
        node = review.next_node(self.to_review)
        if node is None:
            review.running = False
            return None
        if review.is_for_solver(node):
            review.solving = True
            self._solving = asyncio.create_task(self._solve(review))
            return None
        budget = review.player.default_budget
        return SearchGoal(REVIEW, node, review.player, budget.simulations, budget.seconds)

    async def _solve(self, review: GameReview) -> None:
        """Let a solver evaluate the line's last positions, until one takes too long."""
        try:
            async with self.host.solver_turn:
                solver = PositionSolver(self.game)
                while (node := self._node_for_solver(review)) is not None:
                    found = await asyncio.to_thread(review.solve, solver, node.state)
                    if found is not None:
                        review.evaluations[node] = found
                        self.notify("view")
        except StoppedError:
            pass
        finally:
            review.solving = False
        self._update()

    def _node_for_solver(self, review: GameReview) -> GameNode | None:
        """Return the next position of a review, if it still runs and a solver may try it."""
        if self.review is not review or not review.running or not self.watchers:
            return None
        node = review.next_node(self.to_review)
        return node if node is not None and review.is_for_solver(node) else None

    def _on_progress(self, search: RunningSearch, progress: SearchProgress) -> None:
        search.goal.node.search_result = progress.result
        self.notify("search")

    def _on_second_progress(self, search: RunningSearch, progress: SearchProgress) -> None:
        self.second_result = search.goal.node, progress.result
        self.notify("search")

    def _on_second_response(self, search: RunningSearch, response: SearchResponse) -> None:
        self._second.search, self._second_analyzed = None, search.goal.node
        if response.progress is not None:
            self.second_result = search.goal.node, response.progress.result
        if response.error:
            self._fail(response.error)
        self._update()

    def _on_response(self, search: RunningSearch, response: SearchResponse) -> None:
        """Handle a finished search; games between players are slowed down."""
        loop = asyncio.get_running_loop()
        wait = self.host.min_move_seconds - (loop.time() - search.started)
        if search.goal.purpose == MOVE and not self._user_sides and wait > 0:
            loop.call_later(wait, self._finish, search, response)
        else:
            self._finish(search, response)

    def _finish(self, search: RunningSearch, response: SearchResponse) -> None:
        if self.search is not search:
            return
        self._first.search = None
        node, purpose = search.goal.node, search.goal.purpose
        if response.progress is not None:
            node.search_result = response.progress.result
        if response.error:
            self._fail(response.error)
        elif purpose == HINT:
            self._hint, self.hinted = None, node
        elif purpose == ANALYSIS:
            self._analyzed = node
        elif purpose == REVIEW:
            self._take_evaluation(node)
        elif response.action is None:
            self.game_tree.resign(self.game_tree.to_play)
        else:
            comment = self.game_tree.search_comment(response.action, node.search_result)
            try:
                self._play(response.action, comment)
            except GameError as error:
                self._fail(str(error))
        self._update()

    def _take_evaluation(self, node: GameNode) -> None:
        """Keep the result of the review's search."""
        if self.review is not None and node.search_result is not None:
            choices = int(self.game.legal_action_mask(node.state).sum())
            self.review.evaluations[node] = evaluation_of(node.search_result, choices)

    def _fail(self, message: str) -> None:
        """Show an error and stop all automatic searches."""
        self.message = message
        if self.review is not None:
            self.review.running = False
        self.paused, self.analyzing, self._hint, self._step = True, False, None, None

    def _play(self, action: int, comment: str = "") -> None:
        is_known = any(child.action == action for child in self.game_tree.current.children)
        limit = min(MAX_POSITIONS, MAX_STATE_BYTES // (8 * self.game.state_size))
        limit = max(self.game.max_moves + 1, limit)
        if self.game_tree.size + (not is_known) > limit:
            raise GameError(f"a game tree has at most {limit:,} positions; save it and start anew")
        self.game_tree.make(action, comment)

    def _is_user_turn(self, ply: int) -> bool:
        """Whether undo and redo stop here: on every ply, or on the turns of a single user side."""
        user = self._user_sides
        return len(user) != 1 or ply % 2 == user[0]

    def _set_tree(self, game_tree: GameTree) -> None:
        if game_tree.game != self.game:
            self.analysis_player = self.host.catalog.analysis_player(game_tree.game)
            self.second_player = None
        self._first.cancel()
        self._second.cancel()
        self.second_result = None
        self.game_tree = game_tree
        self.recorded = {}
        if self.review is not None:
            self.review.running = False  # stops its solver
        self.review = self.detour = None
        self.hinted = self._hint = self._step = self._navigated_to = None
        self._analyzed = self._second_analyzed = None

    def notify(self, event: str) -> None:
        """Send an event to the open streams."""
        self.serial += 1
        for watcher in list(self.watchers):
            watcher(event)
