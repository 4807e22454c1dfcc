"""A user's web session: the game tree, the sides and the running search.

Sessions run on the event loop, searches in search pools, only while a page is connected.
"""

import asyncio
import secrets
import time
import traceback
from collections.abc import Callable
from typing import Final, Protocol

from alphazero.errors import AlphaZeroError, GameError
from alphazero.frontends.game_tree import GameNode, GameTree
from alphazero.frontends.review.annotation import annotated
from alphazero.frontends.web.catalog import Catalog, PlayerOption, Side
from alphazero.frontends.web.game_review import GameReview
from alphazero.frontends.web.search_pool import SearchPool, SearchRequest, SearchResponse, words_of
from alphazero.games.game import Game, to_play
from alphazero.games.registry import name_of
from alphazero.players.budget import NO_LIMIT, Budget
from alphazero.players.levels import LevelSettings
from alphazero.players.position_search import SearchResult
from alphazero.records.game_files import record_format
from alphazero.records.pgn import to_pgn
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf_export import to_sgf

MAX_STATE_BYTES: Final = 1 << 24
"""Maximum bytes of the states of a game tree, without comments and search results."""

MAX_POSITIONS: Final = 4096
"""Maximum positions of a game tree, unless the game itself can be longer."""

GAME_OVER: Final = "the game is over; go back or start a new one"

MOVE, HINT, ANALYSIS = "move", "hint", "analysis"
"""Purposes of a search."""


class Manager(Protocol):
    """The part of `SessionManager` that a session uses."""

    catalog: Catalog
    min_move_seconds: float
    review_turn: asyncio.Semaphore

    def search_pool(self, player: PlayerOption, game: Game, request: SearchRequest) -> SearchPool:
        """Return the search pool of a player and a game for a request."""


class WebSession:
    """A game tree, two sides, and at most one search."""

    def __init__(self, manager: Manager, game: Game, sides: list[Side]) -> None:
        self.id = secrets.token_urlsafe(16)
        self.manager = manager
        self.last_used = time.monotonic()
        self.game_tree = GameTree(game)
        self.sides = sides
        self.watchers: set[Callable[[str], None]] = set()
        """Callbacks of the open streams, called with `view`, `search` or `end`."""
        self.paused = False
        self.analyzing = False
        self.shows_territory = False
        """Whether the page shows who will own the board: the network says it, also unsearched."""
        self.is_flipped = False
        """Whether the user has turned the board from the view of its side."""
        self.analysis_player = manager.catalog.analysis_player(game)
        self.message = ""
        self.serial = 0
        """Increases with every change, so that a page can order views."""
        self.goal: SearchRequest | None = None
        """The running search; callbacks of a replaced one are ignored."""
        self.per_second = 0.0
        """Simulations per second of the running search."""
        self.review: GameReview | None = None
        self.hinted: GameNode | None = None
        """Position of the last hint."""
        self._hint: GameNode | None = None
        """Position of a pending hint request."""
        self._navigated_to: GameNode | None = None
        """Position reached by navigation: players do not move there until resumed."""
        self._last_move: GameNode | None = None
        """Position after the last move of the game under way, where a player may be thinking."""
        self._analyzed: GameNode | None = None
        """Position whose analysis is complete."""
        self._pool: SearchPool | None = None
        """The search pool of `goal`."""
        self._reviewing: asyncio.Task[None] | None = None

    # --- state -----------------------------------------------------------------------------------

    @property
    def game(self) -> Game:
        return self.game_tree.game

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
    def is_turned(self) -> bool:
        """Whether the board of a game of pieces is seen from the second side: a lone user's."""
        return self.game.is_turned and (self._user_sides == [1]) != self.is_flipped

    # --- commands of the page --------------------------------------------------------------------

    def move(self, action: int, ply: int | None = None) -> None:
        """Play a move; one that was chosen at another `ply`, as by a double click, is left out."""
        if ply not in (None, self.game_tree.current.ply):
            return
        if self.game_tree.is_over:
            raise GameError(GAME_OVER)
        if self.goal is not None and self.goal.purpose == MOVE:
            raise GameError("the other side is thinking; pause it first")
        self._play(action)
        self._navigated_to, self._last_move = None, self.game_tree.current
        self._refresh()

    def paste(self, actions: list[int], left_out: str) -> None:
        """Play moves from the current position, and show what was left out of them."""
        if self.game_tree.is_over:
            raise GameError(GAME_OVER)
        try:
            for action in actions:
                self._play(action)
        finally:
            self._stay()
        self.message = left_out

    def undo(self) -> None:
        """Undo a resignation or a move; with one user side, back to the user's previous turn."""
        here = self.game_tree.current
        if here.loser is not None:
            here.loser, here.forfeit_reason = None, ""
        else:
            ply, users = here.ply - 1, self._user_sides
            if len(users) == 1 and ply > 0 and self.game_tree.to_play == users[0]:
                ply -= 1
            self.game_tree.go_to(ply)
        self._stay()

    def go_to(self, ply: int) -> None:
        if not self.game_tree.go_to(ply):
            raise GameError(f"the line has {len(self.game_tree.line) - 1} moves, not {ply}")
        if self.game_tree.current is self._last_move:  # back from a look at earlier positions
            self._navigated_to = None
            self._refresh()
        else:
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
        was_person, self.sides = self.side_to_play.player is None, sides
        if was_person:
            self._navigated_to = None  # else a player waits, as before
        self._refresh()

    def start_game(self, game: Game, sides: list[Side]) -> None:
        self.sides, self.is_flipped, self.paused = sides, False, False
        self._set_tree(GameTree(game))
        self._refresh()

    def resign(self, player: int | None = None) -> None:
        """Resign for `player`, by default for the only user side, else for who is to move."""
        if self.game_tree.is_over:
            raise GameError("the game is already over")
        users = self._user_sides
        usual = users[0] if len(users) == 1 else self.game_tree.to_play
        self.game_tree.resign(usual if player is None else player)
        self._refresh()

    def hint(self) -> None:
        """Run the analysis player once, with its default budget."""
        self._hint, self.hinted = self.game_tree.current, None
        self._refresh()

    def analyze(self, on: bool, player: PlayerOption | None = None) -> None:
        """Turn the endless analysis of the current position on or off."""
        if player is not None and not player.spec.has_search:
            raise GameError(f"{player.name} does not search, so it cannot analyze")
        self.analysis_player = player or self.analysis_player
        self.analyzing, self._analyzed = on, None
        self._refresh()

    def show_territory(self, on: bool) -> None:
        self.shows_territory = on
        self._refresh()

    def turn(self) -> None:
        """Turn the board of a game of pieces."""
        self.is_flipped = not self.is_flipped
        self._refresh()

    def start_review(self, on: bool) -> None:
        """Review the line with the analysis player, or leave its review; results are kept."""
        review = self.review
        if review is None or (on and review.player is not self.analysis_player):
            if review is not None:
                review.running = False
            self.review = review = GameReview(self.analysis_player, self.game)
        review.running = on
        self._refresh()

    def pause(self, on: bool) -> None:
        self.paused = on
        if not on:
            self._navigated_to = None
        self._refresh()

    def load(self, played: PlayedGame, warnings: list[str]) -> None:
        """Load a recorded game, and show what was left out of it."""
        self._set_tree(GameTree.of(played))
        self.sides = [
            side if side.player is None or side.player.spec.plays(played.game) else Side()
            for side in self.sides
        ]
        self._stay()
        self.message = "; ".join(warnings)

    def export(self, kind: str) -> str:
        """Return the line as "sgf" or "pgn", with its review, or as a line of "json".

        Raise GameError for a format that the game does not have.
        """
        first, second = (self.person(side) or self.sides[side].title for side in (0, 1))
        played = self.game_tree.played((first, second))
        if kind == "json":
            return played.to_line() + "\n"
        if kind != record_format(self.game):
            name = name_of(self.game)
            raise GameError(f"{name} cannot be written as {kind[:20].upper()}; save it as JSON")
        write = to_pgn if kind == "pgn" else to_sgf
        if self.review is None:
            return write(played)
        line = self.game_tree.line
        evaluations = [self.review.evaluations.get(node) for node in line]
        return write(annotated(played, evaluations, self.review.of_line(line)))

    def person(self, player: int) -> str | None:
        """Return the name of a side's person from the loaded game, if any."""
        names = self.game_tree.loaded_players
        return names[player] if names and self.sides[player].player is None else None

    # --- searches --------------------------------------------------------------------------------

    def watch(self, watcher: Callable[[str], None]) -> None:
        """Add a stream; with the first one, searches start."""
        self.watchers.add(watcher)
        self._update()

    def unwatch(self, watcher: Callable[[str], None]) -> None:
        """Remove a stream; without any, the search stops."""
        self.watchers.discard(watcher)
        if not self.watchers:
            self._set_goal(None)

    def close(self) -> None:
        """Stop the search and end the streams."""
        if self.review is not None:
            self.review.running = False
        self._set_goal(None)
        self.notify("end")
        self.watchers.clear()

    def _stay(self) -> None:
        """Stay in this position: players do not move until resumed."""
        self._navigated_to = self.game_tree.current
        self._refresh()

    def _refresh(self) -> None:
        self.message = ""
        self._update()

    def _update(self) -> None:
        """Start the search that is due, let a review go on and notify the pages."""
        try:
            self._set_goal(self._next_goal() if self.watchers else None)
        except AlphaZeroError as error:
            self._fail(str(error))
            self._set_goal(None)
        review = self.review
        if review is not None and review.running and not review.is_busy and self.watchers:
            review.is_busy = True
            self._reviewing = asyncio.create_task(self._run(review))
        self.notify("view")

    def _set_goal(self, due: tuple[PlayerOption, SearchRequest] | None) -> None:
        """Replace the running search, unless it is the same.

        Raise AlphaZeroError when no pool is free.
        """
        pool = goal = None
        if due is not None:
            player, goal = due
            pool = self.manager.search_pool(player, self.game, goal)
        if goal == self.goal and pool is self._pool:
            return
        if self.goal is not None and self._pool is not None:
            self._pool.cancel(self.goal.client)
        self._pool, self.goal, self.per_second = pool, goal, 0.0
        if pool is not None and goal is not None:
            pool.submit(goal)

    def _next_goal(self) -> tuple[PlayerOption, SearchRequest] | None:
        """Return the search that is due, and its player: a hint, a move, or an analysis."""
        here, side, analyst = self.game_tree.current, self.side_to_play, self.analysis_player
        if self.game_tree.is_over:
            return None
        if self._hint is here:
            return self._request(HINT, analyst, analyst.default_budget)
        if side.player is not None and not self.paused and not self.is_waiting:
            settings = side.settings
            budget = Budget(settings.simulations) if settings else side.budget
            return self._request(MOVE, side.player, budget, settings)
        if self.analyzing and self._analyzed is not here:
            return self._request(ANALYSIS, analyst, NO_LIMIT)
        has_network = analyst.spec.saved is not None
        if self.shows_territory and here.search_result is None and has_network:
            return self._request(ANALYSIS, analyst, Budget(0))
        return None

    def _request(
        self, purpose: str, player: PlayerOption, budget: Budget, level: LevelSettings | None = None
    ) -> tuple[PlayerOption, SearchRequest]:
        """Return a search of the current position; each side has a tree, the analyst another."""
        node, callbacks = self.game_tree.current, (self._on_progress, self._on_response)
        client = self.id, to_play(node.state) if purpose == MOVE else ANALYSIS
        return player, SearchRequest(client, node, budget, *callbacks, purpose, level)

    async def _run(self, review: GameReview) -> None:
        """Evaluate the line's positions, the last one first, each on a worker thread."""
        while review.running and self.watchers:
            node = review.next_node(self.game_tree.line)
            if node is None:
                review.running = False
                break
            try:
                async with self.manager.review_turn:
                    evaluation = await asyncio.to_thread(review.evaluate, node)
            except Exception as error:
                self._fail(words_of(error))
                if not isinstance(error, AlphaZeroError):
                    traceback.print_exception(error)
                break
            if review.running:
                review.evaluations[node] = evaluation
                self._set_result(node, review.reviewer.search_result)
                self.notify("view")
        review.is_busy = False
        self._update()

    def _on_progress(self, goal: SearchRequest, result: SearchResult, per_second: float) -> None:
        if self.goal is goal:
            self._set_result(goal.node, result, goal.purpose)
            self.per_second = per_second
            self.notify("search")

    def _on_response(self, goal: SearchRequest, response: SearchResponse) -> None:
        """Finish a search; delay the moves of a game between players."""
        wait = self.manager.min_move_seconds if goal.purpose == MOVE and not self._user_sides else 0
        asyncio.get_running_loop().call_later(wait, self._finish, goal, response)

    def _finish(self, goal: SearchRequest, response: SearchResponse) -> None:
        if self.goal is not goal:
            return
        self.goal, self._pool, self.per_second = None, None, 0.0
        node, purpose = goal.node, goal.purpose
        self._set_result(node, response.result, purpose)
        if response.error:
            self._fail(response.error)
            if purpose == ANALYSIS:  # its network would be asked again and again
                self.shows_territory = False
        elif purpose == HINT:
            self._hint, self.hinted = None, node
        elif purpose == ANALYSIS:
            self._analyzed = node
        elif response.action is None:
            self.game_tree.resign(self.game_tree.to_play)
        else:
            comment = self.game_tree.search_comment(response.action, node.search_result)
            try:
                self._play(response.action, comment)
                self._last_move = self.game_tree.current
            except GameError as error:
                self._fail(str(error))
        self._update()

    def _set_result(self, node: GameNode, result: SearchResult | None, purpose: str = "") -> None:
        """Replace a position's search result by one, if any; a hint there ends with its own."""
        if result is None:
            return
        node.search_result = result
        if self.hinted is node and purpose != HINT:
            self.hinted = None

    def _fail(self, message: str) -> None:
        """Show an error and stop all automatic searches."""
        self.message = message
        if self.review is not None:
            self.review.running = False
        self.paused, self.analyzing, self._hint = True, False, None

    def _play(self, action: int, comment: str = "") -> None:
        is_new = all(child.action != action for child in self.game_tree.current.children)
        limit = min(MAX_POSITIONS, MAX_STATE_BYTES // (8 * self.game.state_size))
        limit = max(self.game.max_moves + 1, limit)
        if self.game_tree.size + is_new > limit:
            raise GameError(f"a game tree has at most {limit:,} positions; save it and start anew")
        self.game_tree.make(action, comment)

    def _set_tree(self, game_tree: GameTree) -> None:
        if game_tree.game != self.game:
            self.analysis_player = self.manager.catalog.analysis_player(game_tree.game)
        else:
            name = self.analysis_player.name
            self.analysis_player = self.manager.catalog.players.get(name, self.analysis_player)
        self._set_goal(None)
        self.game_tree = game_tree
        if self.review is not None:
            self.review.running = False  # ends its task
        self.review = self.hinted = self._hint = self._analyzed = None
        self._navigated_to = self._last_move = None

    def notify(self, event: str) -> None:
        self.serial += 1
        for watcher in list(self.watchers):
            watcher(event)
