"""A terminal session without its output: turns, player moves, analysis, budgets, saved games.

The hint analyzer has a tree of its own, so that hints do not make the opponent stronger.
"""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from alphazero.errors import PlayerError
from alphazero.frontends.analyzer import Analyzer
from alphazero.frontends.game_tree import PERSON, GameTree
from alphazero.games.game import Game, to_play, win_rate
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
        sources: Sequence[Path] = (),
    ) -> None:
        """`opening` is a game to continue, from the file in `sources`."""
        self.spec = spec
        self.game = game
        self.sides = sides
        """Whether the user plays the first and the second side."""
        self.games: list[PlayedGame] = []
        """Games before the current one."""
        self.sources = sources
        """Files that games were read from; they are not replaced."""
        self.game_tree = GameTree.of(opening) if opening else GameTree(game)
        self._opening = opening
        self.opponent = Analyzer(spec, game, rng=np.random.default_rng())
        self._hint_analyzer: Analyzer | None = None

    # --- the current game ---

    def begin(self) -> None:
        """Move the current game to `games`; start another."""
        self.games = self.played()
        self.game_tree, self._opening = GameTree(self.game), None
        # A game that was loaded may have begun in another position.
        self.opponent.moves = self._hint_analyzer = None

    @property
    def is_users_turn(self) -> bool:
        return self.sides[self.game_tree.to_play]

    def go(self, step: int, turns: int) -> bool:
        """Go `turns` turns of the user back (`step` -1) or forward (1); return whether it moved."""
        tree = self.game_tree
        turns_of = [self.sides[to_play(node.state)] for node in tree.line]
        start, end = tree.current.ply, len(turns_of) - 1
        if step < 0:
            plies = [ply for ply in reversed(range(start)) if turns_of[ply]]
        else:
            # The end of the line is a valid target whoever is to move.
            plies = [ply for ply in range(start + 1, end + 1) if turns_of[ply] or ply == end]
        return bool(plies) and tree.go_to(plies[min(turns, len(plies)) - 1])

    def played(self) -> list[PlayedGame]:
        """Return all games with moves, the current one last, without the moves taken back.

        Of a loaded game that goes on its own variations stay.
        """
        first, second = (PERSON if side else self.opponent.spec.name for side in self.sides)
        here, loaded = self.game_tree.current, self._opening
        ahead, here.last_child = here.last_child, None
        played, here.last_child = self.game_tree.played((first, second)), ahead
        goes_on = loaded and played.actions[: len(loaded.actions)] == loaded.actions
        variations = loaded.variations if loaded and goes_on else ()
        played = dataclasses.replace(played, variations=variations)
        return [*self.games, played] if played.actions else self.games

    def rates(self) -> list[float | None]:
        """Return the first player's win rate after each move, in [0, 1]; None if unknown."""
        values = [self.game_tree.value(node) for node in self.game_tree.current.path]
        return [None if value is None else win_rate(value) for value in values]

    # --- the player ---

    def make_opponents_move(
        self, watch: Callable[[], object]
    ) -> tuple[str, SearchResult | None] | None:
        """Play the opponent's move; return it and its search result, or None for a lost game.

        `watch` is called during the search. A resignation or an error loses the game.
        """
        game_tree, node, analyzer = self.game_tree, self.game_tree.current, self.opponent
        analyzer.sync(node.moves, node.state)
        forfeit_reason = ""
        try:
            action = analyzer.choose(watch=watch)
        except PlayerError as error:
            action, forfeit_reason = None, str(error)
        if action is None:
            analyzer.moves = None  # an external program is in an unknown state
            game_tree.resign(game_tree.to_play, forfeit_reason)
            return None
        result = analyzer.result(node.state)
        node.search_result = result or node.search_result
        name = self.game.action_name(node.state, action)
        game_tree.make(action, game_tree.search_comment(action, result))
        return name, result

    # --- the user's analysis ---

    def search_hint(self, is_stopped: Callable[[], bool]) -> SearchResult:
        """Search as long as for a move of the player, until `is_stopped()`; return the result.

        At a level for people, the budget is that of training. Simulations of an earlier search
        count. Raise PlayerError when the player has no tree search, or the game is over.
        """
        if not self.opponent.searches:
            raise PlayerError("this player gives no hints: it does not search a tree")
        if self.game_tree.is_over:
            raise PlayerError("the game is over: there is no move to search for")
        analyzer = self._hint_analyzer = self._hint_analyzer or Analyzer(self.spec, self.game)
        node, saved = self.game_tree.current, self.spec.saved
        analyzer.sync(node.moves, node.state)
        simulations, seconds = self.opponent.budget
        if self.opponent.level is not None and saved is not None:
            simulations, seconds = saved.settings.simulations, None
        before = analyzer.result(node.state)
        if before is not None and simulations is not None:
            simulations = max(simulations - before.simulations, 0)
        analyzer.choose(Budget(simulations, seconds), is_stopped)
        node.search_result = analyzer.result(node.state)
        assert node.search_result is not None, "it was searched"
        return node.search_result
