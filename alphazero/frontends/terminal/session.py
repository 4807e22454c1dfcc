"""A person and a player at one table: whose turn it is, the player's answers, what is saved.

Nothing is printed here. The player has a tree of its own; what the person lets be searched grows
in another one, so that asking for a hint makes the opponent no stronger.
"""

import time
from collections.abc import Callable
from pathlib import Path

from alphazero.errors import PlayerError
from alphazero.frontends.analyzer import Analyzer
from alphazero.frontends.game_tree import PERSON, GameTree, SearchResult
from alphazero.frontends.terminal.strength import Budget, budget_of, level_of, set_level
from alphazero.games.game import Game
from alphazero.players.options import CheckpointOptions
from alphazero.players.registry import PlayerSpec
from alphazero.records.game_files import load_start_position
from alphazero.records.played_game import PlayedGame


class TerminalSession:
    """The games of one evening."""

    def __init__(
        self,
        entrant: PlayerSpec,
        game: Game,
        sides: tuple[bool, bool],
        opening: PlayedGame | None = None,
    ) -> None:
        """`opening` is a game to go on with."""
        self.entrant = entrant
        self.game = game
        self.sides = sides
        """Whether the person plays the first side, the second side."""
        self.games: list[PlayedGame] = []
        """Those before the one on the table."""
        self._opponent = Analyzer(entrant, game)
        self._analyst: Analyzer | None = None
        self.begin(opening)

    # --- the game on the table ---

    def begin(self, opening: PlayedGame | None = None) -> None:
        """Clear the table for a game, or for one to go on with."""
        self.study = GameTree.of(opening) if opening else GameTree(self.game)

    def begin_new(self, opening: PlayedGame | None = None) -> None:
        """Put the game on the table to the others, and begin."""
        self.games = self.played()
        self.begin(opening)

    def load(self, path: Path, moves: int | None) -> None:
        """Go on from a file's first game.

        Raises:
            PlayerError, RunError: as `load_start_position`.
        """
        self.begin_new(load_start_position(path, moves, self.game))

    @property
    def ply(self) -> int:
        """How many moves were made."""
        return len(self.study.moves)

    @property
    def to_play(self) -> int:
        """Whose turn it is."""
        return self.study.to_play

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.study.is_over

    @property
    def persons_turn(self) -> bool:
        """Whether the person is to move."""
        return self.sides[self.to_play]

    @property
    def names(self) -> tuple[str, str]:
        """Who plays, as files call them."""
        first, second = (PERSON if side else self.entrant.name for side in self.sides)
        return first, second

    def undo(self, turns: int = 1) -> bool:
        """Go back to earlier turns of the person; return whether there was one."""
        return self._go(-1, turns)

    def redo(self, turns: int = 1) -> bool:
        """Go on to later ones, or to the end of the line; return whether there is more of it."""
        return self._go(1, turns)

    def _go(self, step: int, turns: int) -> bool:
        here, end = self.ply, len(self.study.line) - 1
        for _ in range(turns):
            ply = self.ply + step
            while 0 <= ply < end and not self.sides[ply % 2]:
                ply += step
            # A line's end is a place to go on from, whosever turn it is there.
            if not (0 <= ply <= end and (self.sides[ply % 2] or (step > 0 and ply == end))):
                break
            self.study.go_to(ply)
        return self.ply != here

    def played(self) -> list[PlayedGame]:
        """Return the games in which moves were made, the one on the table last."""
        played = self.study.played(self.names)
        return [*self.games, played] if played.actions else self.games

    # --- the player ---

    def answer(self, watch: Callable[[], object] = bool) -> tuple[str, SearchResult | None] | None:
        """Let the player move; return the move and what it thought, or None if it gave up.

        `watch` is called while it thinks.
        """
        study, here = self.study, self.study.here
        thinker = self._opponent
        thinker.sync(study.moves)
        fault = ""
        try:
            action, _ = thinker.choose(None, watch)
        except PlayerError as error:
            action, fault = None, str(error)
        if action is None:
            thinker.moves = None  # another program may be anywhere now
            study.resign(study.to_play, fault)
            return None
        thought = SearchResult.of(thinker, here.state)
        here.thought = thought or here.thought
        name = self.game.action_name(here.state, action)
        study.make(action, study.search_comment(action, thought))
        return name, thought

    def close(self) -> None:
        """Let the player go."""
        self._opponent.player.close()

    @property
    def level(self) -> str:
        """How strong the player is, in words.

        Raises:
            PlayerError: where it has no levels.
        """
        return level_of(self._opponent)

    def set_level(self, text: str) -> None:
        """Let the player think for so long from now on.

        Raises:
            PlayerError: for what is no such time, and where it has no levels.
        """
        set_level(self._opponent, text, least=0 if self.has_network else 1)

    # --- the person's own look at the position ---

    @property
    def has_network(self) -> bool:
        """Whether a network is behind the player."""
        return isinstance(self.entrant.options, CheckpointOptions)

    def hint_analyzer(self) -> Analyzer:
        """Return the player once more, which sees the position.

        Raises:
            PlayerError: where it does not search, or there is nothing to search for.
        """
        if not self._opponent.searches:
            raise PlayerError("this player gives no hints: it does not search as a checkpoint does")
        if self.is_over:
            raise PlayerError("the game is over: there is no move to look for")
        self._analyst = self._analyst or Analyzer(self.entrant, self.game)
        self._analyst.sync(self.study.moves)
        return self._analyst

    def remaining_budget(self, *, again: bool = False) -> Budget | None:
        """Return what lacks to a search as long as the player's own; None: nothing.

        Where the player's seconds decide, any search is long enough, unless it is wanted `again`.

        Raises:
            PlayerError: as `hint_analyzer`.
        """
        thinker, budget = self.hint_analyzer(), budget_of(self._opponent)
        known = SearchResult.of(thinker, self.study.state)
        if known is None:
            return budget
        if budget.simulations is None:
            return budget if again else None
        lacks = budget.simulations - known.simulations
        return budget._replace(simulations=lacks) if lacks > 0 else None

    def search(self, budget: Budget, go_on: Callable[[], bool] = lambda: True) -> SearchResult:
        """Search the position further, while `go_on`; return all that is known then.

        Raises:
            PlayerError: as `hint_analyzer`.
        """
        thinker = self.hint_analyzer()
        deadline = None if budget.seconds is None else time.monotonic() + budget.seconds
        thinker.begin(budget.simulations)
        while not thinker.search.has_finished and go_on():
            if deadline is not None and time.monotonic() > deadline:
                break
            thinker.step()
        thinker.end()
        return self.current_result()

    def current_result(self) -> SearchResult:
        """Return what was found so far in the position, which was searched."""
        here = self.study.here
        thought = SearchResult.of(self.hint_analyzer(), here.state)
        assert thought is not None, "it was not searched"
        here.thought = thought
        return thought

    def rates(self) -> list[float | None]:
        """Return the first player's win rate after each move, from 0 to 1; None: unknown.

        A draw counts half. A move that was looked at before it was made has the value found then.
        """
        values = [self.study.value(node) for node in self.study.path]
        return [None if value is None else (1 + value) / 2 for value in values]
