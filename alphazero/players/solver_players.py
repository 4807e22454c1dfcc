"""Players without sampling: alpha-beta to a depth or time limit, and exact play."""

import time
from abc import abstractmethod
from collections.abc import Generator, Sequence

import numpy as np

from alphazero.games.compiled_rules import HEURISTIC_SCALE
from alphazero.games.game import Game, State
from alphazero.players.sequential_player import SequentialPlayer
from alphazero.solvers.alphabeta import AlphaBeta, is_proven
from alphazero.solvers.exact import solver_for
from alphazero.utils.arrays import Int64Array

SLICE = 5_000
"""Positions searched between checks of the clock: a few ms, about 10 ms on a large board."""

SOLVER_POSITIONS = 2_000_000
"""Node limit of an exact solution: about a second of Connect Four."""

FALLBACK_POSITIONS = 100_000
"""Node limit of alpha-beta where no exact solution was found."""

Steps = Generator[None, None, tuple[int, float]]
"""A computation that yields between slices; returns an action and the position's value."""


class SlicedPlayer(SequentialPlayer):
    """Searches one game after the other, so that all games share one transposition table."""

    def __init__(self, game: Game, slots: int, rng: np.random.Generator) -> None:
        super().__init__(game, slots)
        self.rng = rng
        self._steps: Steps | None = None

    @abstractmethod
    def work(self, state: State) -> Steps:
        """Find a move in an unfinished position `int64 [S]`."""

    def reset(self, slots: Int64Array, states: State) -> None:
        if self._waiting and self._waiting[0] in slots:
            self._steps = None
        super().reset(slots, states)

    def step(self) -> None:
        if not self._waiting:
            return
        if self._steps is None:
            self._steps = self.work(self._states[self._waiting[0]])
        try:
            next(self._steps)
        except StopIteration as done:
            self._answers[self._waiting.popleft()] = done.value
            self._steps = None


class MinimaxPlayer(SlicedPlayer):
    """Iterative-deepening alpha-beta, to `depth` plies or for `seconds` a move; ties are random."""

    def __init__(
        self,
        game: Game,
        slots: int,
        rng: np.random.Generator,
        *,
        depth: int | None = None,
        seconds: float | None = None,
    ) -> None:
        super().__init__(game, slots, rng)
        self.depth = depth or game.max_moves
        self.seconds = seconds
        self.root_actions: Sequence[int] | None = None
        """The moves that it considers; None for all."""
        self.search = AlphaBeta(game)

    def work(self, state: State) -> Steps:
        """Deepen to the limit; depth 1 is always completed."""
        search, began = self.search, time.monotonic()
        preference = self.rng.permutation(self.game.num_actions)
        search.start(state, self.depth, preference=preference, root_actions=self.root_actions)
        while not search.run(SLICE):
            late = self.seconds is not None and time.monotonic() - began >= self.seconds
            if late and search.depth > 0:
                break
            yield
        return search.best_action(), value_of_score(search.score)


class SolverPlayer(SlicedPlayer):
    """Plays perfectly: the fastest win, or the longest resistance; ties are broken at random.

    Falls back to alpha-beta when an exact solution takes more than `SOLVER_POSITIONS` nodes.
    """

    def __init__(self, game: Game, slots: int, rng: np.random.Generator) -> None:
        super().__init__(game, slots, rng)
        self.solver = solver_for(game)
        self.search = AlphaBeta(game)

    def work(self, state: State) -> Steps:
        """Solve the position, or search it by alpha-beta within `FALLBACK_POSITIONS` nodes."""
        steps, last = self.solver.solve_in_slices(state), self.solver.nodes + SOLVER_POSITIONS
        while self.solver.nodes < last:
            try:
                next(steps)
            except StopIteration as done:
                actions = np.flatnonzero(done.value.best)
                return int(self.rng.choice(actions)), float(done.value.value)
            yield
        search = self.search
        preference = self.rng.permutation(self.game.num_actions)
        search.start(state, self.game.max_moves, preference=preference)
        last = search.nodes + FALLBACK_POSITIONS
        while (search.nodes < last or search.depth == 0) and not search.run(SLICE):
            yield
        return search.best_action(), value_of_score(search.score)


def value_of_score(score: int) -> float:
    """Return the value in [-1, 1] of a score; both are for the player to move."""
    return float(np.sign(score)) if is_proven(score) else score / HEURISTIC_SCALE
