"""Evaluates the positions of a game: exactly where a solver is fast enough, else by a search."""

from collections.abc import Callable, Sequence

import numpy as np

from alphazero.errors import GameError, PlayerError
from alphazero.frontends.analyzer import Analyzer
from alphazero.frontends.review.judgement import Evaluation
from alphazero.games.game import ONGOING, PLY, Game, State, to_play, value_of
from alphazero.players.budget import Budget
from alphazero.players.position_search import LONGEST_LINE, SearchResult
from alphazero.players.specs import PlayerSpec
from alphazero.solvers.exact import ExactResult, solve_position, solver_for
from alphazero.utils.progress import do_nothing

SOLVER_SHARE = 50
"""The solver may search a 50th of its default number of positions, for about half a second."""


class Reviewer:
    """Evaluates the positions of one game by a solver and a player's search.

    Call it for a game's positions from the last to the first: the solver tries none before one that
    took too long.
    """

    def __init__(self, spec: PlayerSpec, game: Game, budget: Budget | None = None) -> None:
        """`budget` of each search replaces the player's own one.

        Raise PlayerError when the player does not search a tree.
        """
        if not spec.has_search:
            raise PlayerError(
                f"{spec.name} does not search, so it cannot review; name a checkpoint or uct"
            )
        self.game = game
        self.search_result: SearchResult | None = None
        """of the last position; None if that is solved"""
        self.unsolved = -1
        """The latest ply that took too long; no earlier one is tried."""
        self._solver = solver_for(game)
        self._spec, self._budget = spec, budget
        self._analyzer: Analyzer | None = None

    def evaluate(
        self,
        moves: Sequence[int],
        state: State | None = None,
        is_stopped: Callable[[], object] = do_nothing,
        told: int | None = None,
    ) -> Evaluation:
        """Return the evaluation of the position after `moves`, searched until `is_stopped()`.

        `state` is this position, for a game that does not begin in the initial one. Where the rules
        end the game, `told` is its outcome by the file, which may count dead stones. The value of a
        search is the position's, not the preferred move's: the best of many noisy values is too
        high, for either side, so that every move would seem to lose something.
        """
        if state is None:
            state = self.game.play(self.game.initial_state(), *moves)
        self.search_result, exact = None, self.solve(state)
        if told is not None and told != ONGOING and self.game.outcome(state) != ONGOING:
            return Evaluation(float(value_of(told, to_play(state))), is_exact=True)
        if exact is not None:
            return exact
        analyzer = self._analyzer = self._analyzer or Analyzer(self._spec, self.game)
        analyzer.set_position(list(moves), state)
        analyzer.choose(self._budget, is_stopped)
        result = self.search_result = analyzer.result(state)
        assert result is not None, "it was searched"
        best, choices = result.candidates[0], int(self.game.legal_action_mask(state).sum())
        is_exact = result.proof is not None
        return Evaluation(result.value, is_exact, 0, (best.action,), tuple(best.line), choices)

    def solve(self, state: State) -> Evaluation | None:
        """Return the exact evaluation of a position; None if it takes too long."""
        outcome = self.game.outcome(state)
        if outcome != ONGOING:
            return Evaluation(float(value_of(outcome, to_play(state))), is_exact=True)
        ply = int(state[PLY])
        if ply <= self.unsolved:
            return None
        result = self._solve(state)
        if result is None:
            self.unsolved = ply
            return None
        best = tuple(map(int, np.flatnonzero(result.best)))
        line = self._line(state, best[0])
        choices = int(self.game.legal_action_mask(state).sum())
        return Evaluation(float(result.value), True, result.end, best, line, choices)

    def _solve(self, state: State) -> ExactResult | None:
        limit = self._solver.default_node_limit // SOLVER_SHARE
        try:
            return solve_position(self._solver, state, limit + 1)
        except GameError:
            return None

    def _line(self, state: State, action: int) -> tuple[int, ...]:
        """Return best play of both sides after `action`, as far as it is solved."""
        line = [action]
        while len(line) < LONGEST_LINE:
            state = self.game.play(state, line[-1])
            if self.game.outcome(state) != ONGOING:
                break
            result = self._solve(state)
            if result is None:
                break
            line.append(int(np.argmax(result.best)))
        return tuple(line)
