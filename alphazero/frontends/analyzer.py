"""A player that searches one game on demand.

Tree search can be observed, stopped at any time and left to ponder; other players only move.
"""

import dataclasses
import time
from collections.abc import Callable

import numpy as np

from alphazero.errors import PlayerError
from alphazero.games.game import Game, State
from alphazero.mcts.kernels.root import RootStatistics
from alphazero.mcts.kernels.selection_rules import UNLIMITED
from alphazero.mcts.search import TreeSearch
from alphazero.players.base import Player
from alphazero.players.budget import NO_LIMIT, Budget
from alphazero.players.end_prediction import EndPrediction, predict_end
from alphazero.players.position_search import ALL_LINES, SearchResult, read_result
from alphazero.players.search_player import SearchPlayer
from alphazero.players.specs import CheckpointSpec, PlayerSpec
from alphazero.utils.progress import do_nothing


class Analyzer:
    """Searches one game."""

    def __init__(
        self,
        spec: PlayerSpec,
        game: Game,
        player: Player | None = None,
        slot: int = 0,
        rng: np.random.Generator | None = None,
    ) -> None:
        """`player` is a shared player, in which this game is in slot `slot`.

        `rng` is for players that play at random, as levels do in part; by default their games are
        always the same. Without a `player`, a new one is created. A shared player is stepped by its
        owner, who distributes its decisions; then `choose`, `step` and `end` must not be used.
        """
        self.spec = spec
        """Who plays: what `think_for` chose is part of it."""
        self._rng = rng
        self.budget = spec.budget
        """Limits of a move without a clock"""
        self.player: Player = player or spec.create(game, rng=rng, budget=NO_LIMIT)
        self.game = game
        self.slot = np.array([slot])
        self.moves: list[int] | None = None
        """Moves of the player's current position; None if it has none."""
        self._end: tuple[bytes, EndPrediction] | None = None
        """The last predicted end, and its state."""

    @property
    def search(self) -> TreeSearch:
        """The player's tree search; raise PlayerError when it has none."""
        if not isinstance(self.player, SearchPlayer):
            raise PlayerError("not supported: this player does not search a tree")
        return self.player.search

    @property
    def searches(self) -> bool:
        """Whether it can be observed, stopped and left to ponder."""
        return isinstance(self.player, SearchPlayer)

    @property
    def level(self) -> int | None:
        """Its level for people; None at full strength."""
        return getattr(self.spec, "level", None)

    def think_for(self, budget: Budget = NO_LIMIT, level: int | None = None) -> None:
        """Play with another budget at full strength, or at a level, which has its own.

        The player of a level is another one: it searches leaf by leaf, as the level was rated.
        """
        previous, options = self.level, budget._asdict()
        if isinstance(self.spec, CheckpointSpec):
            # The checkpoint stays the one that is loaded, though its file may be another by now.
            options |= {"level": level, "loaded": self.spec.saved}
        self.spec = dataclasses.replace(self.spec, **options)
        self.budget = self.spec.budget
        if self.level != previous:
            self.player = self.spec.create(self.game, rng=self._rng, budget=NO_LIMIT)
            self.moves = None

    def set_position(self, moves: list[int], state: State | None = None) -> None:
        """Set the position after `moves`, with an empty tree.

        `state` is this position, if the caller has it. Searches need only the state, not the moves.
        """
        if state is None:
            state = self.game.play(self.game.initial_state(), *moves)
        self.player.load_games(self.slot, state[None], [np.array(moves, np.int64)])
        self.moves = list(moves)

    def sync(self, moves: list[int], state: State | None = None) -> None:
        """Advance to the position after `moves`, keeping the subtree; else set it, by `state`."""
        if self.moves is None or moves[: len(self.moves)] != self.moves:
            self.set_position(moves, state)
            return
        for action in moves[len(self.moves) :]:
            self.player.advance(self.slot, np.array([action]))
        self.moves = list(moves)

    def budget_in(self, seconds: float | None) -> Budget:
        """Return the budget of a move for which a clock leaves `seconds`; its own without a clock.

        Simulations that the user set, or a level's, hold despite a clock.
        """
        if seconds is None:
            return self.budget
        is_fixed = getattr(self.spec, "simulations", None) is not None or self.level is not None
        return Budget(self.budget.simulations if is_fixed else None, seconds)

    def choose(
        self, budget: Budget | None = None, watch: Callable[[], object] = do_nothing
    ) -> int | None:
        """Return a move, or None to resign.

        `watch` is called between steps, and ends the search when it returns true. `budget` replaces
        the player's own one. Raise PlayerError when an external program fails.
        """
        simulations, seconds = budget or self.budget
        deadline = np.inf if seconds is None else time.monotonic() + seconds
        if self.searches:
            self.begin(simulations)
        else:
            if hasattr(self.player, "seconds"):
                self.player.seconds = seconds
            self.player.begin_moves(self.slot)
        while not len((decisions := self.player.take_decisions()).slots):
            for _, reason in self.player.forfeits():
                if reason:
                    raise PlayerError(f"no move: {reason}")
                return None
            self.step()
            if watch() or time.monotonic() > deadline:
                self.stop()
        return int(decisions.actions[0])

    def begin(self, simulations: int | None = None) -> None:
        """Start a search; None for no simulation limit."""
        self.search.begin_search(self.slot, UNLIMITED if simulations is None else simulations)

    def step(self) -> None:
        """Search for a few milliseconds, unless finished."""
        if not self.searches:
            self.player.step()
        elif not self.search.has_finished:
            self.search.step()

    def stop(self) -> None:
        """Stop a search; results stay and the player decides by them."""
        if self.searches:
            self.search.stop(self.slot)
        elif hasattr(self.player, "seconds"):
            self.player.seconds = 0.0

    def end(self) -> None:
        """Stop a search without a decision."""
        self.stop()
        while not len(self.search.pop_finished()):
            self.search.step()

    @property
    def roots(self) -> RootStatistics | None:
        """Root statistics of one slot; None if the position was never evaluated."""
        is_evaluated = self.search.root_is_evaluated(int(self.slot[0]))
        return self.search.root_statistics(self.slot) if is_evaluated else None

    def predict_end(self, state: State) -> EndPrediction:
        """Return how the game of `state` will end, by `predict_end`; the last one is kept."""
        key = state.tobytes()
        if self._end is None or self._end[0] != key:
            self._end = key, predict_end(self.game, state, self.player)
        return self._end[1]

    def result(self, state: State, lines: int = ALL_LINES) -> SearchResult | None:
        """Return the result in `state`, its position, with at most `lines` lines of moves.

        None without a tree search, and if the position was never evaluated.
        """
        slot, player = int(self.slot[0]), self.player
        if not isinstance(player, SearchPlayer) or not self.search.root_is_evaluated(slot):
            return None
        return read_result(player, slot, self.game, state, self.predict_end(state), lines=lines)
