"""A terminal session without its output: turns, player moves, analysis, saved games.

The hint analyzer has a tree of its own, so that hints do not make the opponent stronger.
"""

import time
from collections.abc import Callable
from pathlib import Path

from alphazero.errors import PlayerError
from alphazero.frontends.analyzer import Analyzer
from alphazero.frontends.game_tree import PERSON, GameTree, SearchResult
from alphazero.frontends.terminal.strength import Budget, budget_of, level_of, set_level
from alphazero.games.game import Game, win_rate
from alphazero.players.options import CheckpointOptions
from alphazero.players.registry import PlayerSpec
from alphazero.records.game_files import load_start_position
from alphazero.records.played_game import PlayedGame


class TerminalSession:
    """State of a terminal session: current game, earlier games, sides, analyzers."""

    def __init__(
        self,
        spec: PlayerSpec,
        game: Game,
        sides: tuple[bool, bool],
        opening: PlayedGame | None = None,
    ) -> None:
        """`opening` is a game to continue."""
        self.spec = spec
        self.game = game
        self.sides = sides
        """Whether the user plays the first and the second side."""
        self.games: list[PlayedGame] = []
        """Games before the current one."""
        self._opponent = Analyzer(spec, game)
        self._analyst: Analyzer | None = None
        self.begin(opening)

    # --- the current game ---

    def begin(self, opening: PlayedGame | None = None) -> None:
        """Start a game, or continue `opening`."""
        self.game_tree = GameTree.of(opening) if opening else GameTree(self.game)

    def begin_new(self, opening: PlayedGame | None = None) -> None:
        """Move the current game to `games` and start another."""
        self.games = self.played()
        self.begin(opening)

    def load(self, path: Path, moves: int | None) -> None:
        """Continue the first game of a file, after `moves` moves.

        Raises:
            PlayerError, RunError: as `load_start_position`.
        """
        self.begin_new(load_start_position(path, moves, self.game))

    @property
    def ply(self) -> int:
        """The number of moves made."""
        return len(self.game_tree.moves)

    @property
    def to_play(self) -> int:
        """The player to move."""
        return self.game_tree.to_play

    @property
    def is_over(self) -> bool:
        """Whether the game is over."""
        return self.game_tree.is_over

    @property
    def is_users_turn(self) -> bool:
        """Whether the user is to move."""
        return self.sides[self.to_play]

    @property
    def names(self) -> tuple[str, str]:
        """The players' names in files."""
        first, second = (PERSON if side else self.spec.name for side in self.sides)
        return first, second

    def undo(self, turns: int = 1) -> bool:
        """Go back `turns` turns of the user; return whether it moved."""
        return self._go(-1, turns)

    def redo(self, turns: int = 1) -> bool:
        """Go forward `turns` turns of the user, at most to the end; return whether it moved."""
        return self._go(1, turns)

    def _go(self, step: int, turns: int) -> bool:
        here, end = self.ply, len(self.game_tree.line) - 1
        for _ in range(turns):
            ply = self.ply + step
            while 0 <= ply < end and not self.sides[ply % 2]:
                ply += step
            # The end of the line is a valid target whoever is to move.
            if not (0 <= ply <= end and (self.sides[ply % 2] or (step > 0 and ply == end))):
                break
            self.game_tree.go_to(ply)
        return self.ply != here

    def played(self) -> list[PlayedGame]:
        """Return all games with moves, the current one last."""
        played = self.game_tree.played(self.names)
        return [*self.games, played] if played.actions else self.games

    # --- the player ---

    def answer(self, watch: Callable[[], object] = bool) -> tuple[str, SearchResult | None] | None:
        """Play the opponent's move; return it and its search result, or None for a resignation or
        error.

        `watch` is called during the search.
        """
        game_tree, here = self.game_tree, self.game_tree.here
        analyzer = self._opponent
        analyzer.sync(game_tree.moves)
        fault = ""
        try:
            action, _ = analyzer.choose(None, watch)
        except PlayerError as error:
            action, fault = None, str(error)
        if action is None:
            analyzer.moves = None  # an external program is in an unknown state
            game_tree.resign(game_tree.to_play, fault)
            return None
        search_result = SearchResult.of(analyzer, here.state)
        here.search_result = search_result or here.search_result
        name = self.game.action_name(here.state, action)
        game_tree.make(action, game_tree.search_comment(action, search_result))
        return name, search_result

    def close(self) -> None:
        """Close the opponent."""
        self._opponent.player.close()

    @property
    def level(self) -> str:
        """The opponent's strength, in words.

        Raises:
            PlayerError: when it has no levels.
        """
        return level_of(self._opponent)

    def set_level(self, text: str) -> None:
        """Set the opponent's budget.

        Raises:
            PlayerError: for an invalid budget, or a player without levels.
        """
        set_level(self._opponent, text, least=0 if self.has_network else 1)

    # --- the user's analysis ---

    @property
    def has_network(self) -> bool:
        """Whether the opponent uses a network."""
        return isinstance(self.spec.options, CheckpointOptions)

    def hint_analyzer(self) -> Analyzer:
        """Return a second analyzer of the same player, at the current position.

        Raises:
            PlayerError: when the player has no tree search, or the game is over.
        """
        if not self._opponent.searches:
            raise PlayerError("this player gives no hints: it does not search as a checkpoint does")
        if self.is_over:
            raise PlayerError("the game is over: there is no move to look for")
        self._analyst = self._analyst or Analyzer(self.spec, self.game)
        self._analyst.sync(self.game_tree.moves)
        return self._analyst

    def remaining_budget(self, *, again: bool = False) -> Budget | None:
        """Return the budget still needed to match the opponent's search, or None if already met.

        For timed players any finished search counts, unless `again`.

        Raises:
            PlayerError: as `hint_analyzer`.
        """
        analyzer, budget = self.hint_analyzer(), budget_of(self._opponent)
        known = SearchResult.of(analyzer, self.game_tree.state)
        if known is None:
            return budget
        if budget.simulations is None:
            return budget if again else None
        lacks = budget.simulations - known.simulations
        return budget._replace(simulations=lacks) if lacks > 0 else None

    def search(self, budget: Budget, go_on: Callable[[], bool] = lambda: True) -> SearchResult:
        """Continue the search while `go_on`; return the result.

        Raises:
            PlayerError: as `hint_analyzer`.
        """
        analyzer = self.hint_analyzer()
        deadline = None if budget.seconds is None else time.monotonic() + budget.seconds
        analyzer.begin(budget.simulations)
        while not analyzer.search.has_finished and go_on():
            if deadline is not None and time.monotonic() > deadline:
                break
            analyzer.step()
        analyzer.end()
        return self.current_result()

    def current_result(self) -> SearchResult:
        """Return the search result of the current position, which must have been searched."""
        here = self.game_tree.here
        search_result = SearchResult.of(self.hint_analyzer(), here.state)
        assert search_result is not None, "it was not searched"
        here.search_result = search_result
        return search_result

    def rates(self) -> list[float | None]:
        """Return the first player's win rate after each move, in [0, 1]; None if unknown.

        Draws count half. An unsearched position has its move's value in the search before it.
        """
        values = [self.game_tree.value(node) for node in self.game_tree.path]
        return [None if value is None else win_rate(value) for value in values]
