"""A terminal session without its output: turns, player moves, analysis, budgets, saved games.

The hint analyzer has a tree of its own, so that hints do not make the opponent stronger.
"""

import time
from collections.abc import Callable

from alphazero.errors import PlayerError
from alphazero.frontends.analyzer import Analyzer
from alphazero.frontends.game_tree import PERSON, GameTree
from alphazero.games.game import Game, win_rate
from alphazero.players.budget import Budget
from alphazero.players.position_search import SearchResult
from alphazero.players.specs import PlayerSpec
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
        self.game_tree = GameTree.of(opening) if opening else GameTree(game)
        self.opponent = Analyzer(spec, game)
        self._hint_analyzer: Analyzer | None = None

    # --- the current game ---

    def begin(self, opening: PlayedGame | None = None) -> None:
        """Move the current game to `games`; start another, or continue `opening`."""
        self.games = self.played()
        self.game_tree = GameTree.of(opening) if opening else GameTree(self.game)

    @property
    def is_users_turn(self) -> bool:
        return self.sides[self.game_tree.to_play]

    def go(self, step: int, turns: int) -> bool:
        """Go `turns` turns of the user back (`step` -1) or forward (1); return whether it moved."""
        tree = self.game_tree
        start, end = tree.current.ply, len(tree.line) - 1
        for _ in range(turns):
            ply = tree.current.ply + step
            while 0 <= ply < end and not self.sides[ply % 2]:
                ply += step
            # The end of the line is a valid target whoever is to move.
            if not (0 <= ply <= end and (self.sides[ply % 2] or (step > 0 and ply == end))):
                break
            tree.go_to(ply)
        return tree.current.ply != start

    def played(self) -> list[PlayedGame]:
        """Return all games with moves, the current one last."""
        first, second = (PERSON if side else self.spec.name for side in self.sides)
        played = self.game_tree.played((first, second))
        return [*self.games, played] if played.actions else self.games

    # --- the player ---

    def make_opponents_move(
        self, watch: Callable[[], object]
    ) -> tuple[str, SearchResult | None] | None:
        """Play the opponent's move; return it and its search result, or None for a lost game.

        `watch` is called during the search. A resignation or an error loses the game.
        """
        game_tree, here, analyzer = self.game_tree, self.game_tree.current, self.opponent
        analyzer.sync(game_tree.moves)
        forfeit_reason = ""
        try:
            action = analyzer.choose(None, watch)
        except PlayerError as error:
            action, forfeit_reason = None, str(error)
        if action is None:
            analyzer.moves = None  # an external program is in an unknown state
            game_tree.resign(game_tree.to_play, forfeit_reason)
            return None
        result = analyzer.result(here.state)
        here.search_result = result or here.search_result
        name = self.game.action_name(here.state, action)
        game_tree.make(action, game_tree.search_comment(action, result))
        return name, result

    def describe_budget(self) -> str:
        """Describe how long the player thinks; raise PlayerError when it has no budget."""
        analyzer = self.opponent
        if analyzer.searches:
            return str(analyzer.budget)
        depth, seconds = self._depth(), getattr(analyzer.player, "seconds", None)
        return f"depth {depth}" if seconds is None else str(Budget(seconds=seconds))

    def set_budget(self, text: str) -> None:
        """Set the player's budget per move, at full strength.

        Raises:
            PlayerError: for an invalid budget, or a player without one.
        """
        analyzer = self.opponent
        if analyzer.searches:
            budget = Budget.read(text)
            if budget.simulations == 0 and not self.has_network:
                raise PlayerError("expected at least 1 simulation: this player has no network")
            analyzer.think_for(budget)
            return
        self._depth()
        budget = Budget.read(text, "plies")
        if budget.simulations == 0:
            raise PlayerError("expected a depth of at least 1 ply")
        longest = self.game.max_moves
        vars(analyzer.player).update(
            depth=min(budget.simulations or longest, longest), seconds=budget.seconds
        )

    def _depth(self) -> int:
        """Return the search depth of a player without a tree; raise PlayerError if it has none."""
        depth = getattr(self.opponent.player, "depth", None)
        if depth is None:
            raise PlayerError("this player has no budget to set")
        return int(depth)

    # --- the user's analysis ---

    @property
    def has_network(self) -> bool:
        return self.spec.saved is not None

    def hint_analyzer(self) -> Analyzer:
        """Return a second analyzer of the same player, at the current position.

        Raises:
            PlayerError: when the player has no tree search, or the game is over.
        """
        if not self.opponent.searches:
            raise PlayerError("this player gives no hints: it does not search a tree")
        if self.game_tree.is_over:
            raise PlayerError("the game is over: there is no move to search for")
        self._hint_analyzer = self._hint_analyzer or Analyzer(self.spec, self.game)
        self._hint_analyzer.sync(self.game_tree.moves)
        return self._hint_analyzer

    def remaining_budget(self, *, again: bool = False) -> Budget | None:
        """Return the budget still needed to match the opponent's search, or None if already met.

        For timed players any finished search counts, unless `again`. At a level for people, the
        budget is that of training.

        Raises:
            PlayerError: as `hint_analyzer`.
        """
        known = self.hint_analyzer().result(self.game_tree.state)
        budget, saved = self.opponent.budget, self.spec.saved
        if self.opponent.level is not None and saved is not None:
            budget = Budget(saved.settings.simulations)
        if known is None:
            return budget
        if budget.simulations is None:
            return budget if again else None
        rest = budget.simulations - known.simulations
        return budget._replace(simulations=rest) if rest > 0 else None

    def search(self, budget: Budget, is_wanted: Callable[[], bool] = lambda: True) -> SearchResult:
        """Continue the search while `is_wanted()`; return the result.

        Raises:
            PlayerError: as `hint_analyzer`.
        """
        analyzer = self.hint_analyzer()
        deadline = None if budget.seconds is None else time.monotonic() + budget.seconds
        analyzer.begin(budget.simulations)
        while not analyzer.search.has_finished and is_wanted():
            if deadline is not None and time.monotonic() > deadline:
                break
            analyzer.step()
        analyzer.end()
        return self.current_result()

    def current_result(self) -> SearchResult:
        """Return the search result of the current position, which must have been searched."""
        here = self.game_tree.current
        here.search_result = self.hint_analyzer().result(here.state)
        assert here.search_result is not None, "it was not searched"
        return here.search_result

    def rates(self) -> list[float | None]:
        """Return the first player's win rate after each move, in [0, 1]; None if unknown.

        Draws count half. An unsearched position has its move's value in the search before it.
        """
        values = [self.game_tree.value(node) for node in self.game_tree.path]
        return [None if value is None else win_rate(value) for value in values]
