"""Evaluates the positions of a game: exactly where a solver is fast enough, else by a search."""

from collections.abc import Sequence

import numpy as np

from alphazero.errors import GameError, PlayerError
from alphazero.frontends.analyzer import Analyzer
from alphazero.frontends.review.judgement import Evaluation
from alphazero.games.game import ONGOING, PLY, Game, State, to_play, value_of
from alphazero.players.position_search import LONGEST_LINE, SearchResult
from alphazero.players.specs import PlayerSpec
from alphazero.solvers.exact import ExactResult, solve_position, solver_for

SOLVER_SHARE = 50
"""The solver may search a 50th of its default number of positions, for about half a second."""


class PositionSolver:
    """Solves the positions of one game, from its last one backwards, until one takes too long."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._solver = solver_for(game)
        self.unsolved = -1
        """The latest ply that took too long; no earlier one is tried."""

    def evaluate(self, state: State) -> Evaluation | None:
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


def evaluation_of(result: SearchResult, choices: int) -> Evaluation:
    """Return what a search says of its position, with `choices` legal moves.

    The value is the position's, not the preferred move's: the best of many noisy values is too
    high, for either side, so that every move would seem to lose something.
    """
    best = result.candidates[0]
    return Evaluation(
        result.value,
        result.proof is not None,
        best=(best.action,),
        line=tuple(best.line),
        choices=choices,
    )


class Reviewer:
    """Evaluates positions of one game by a solver and a player's search."""

    def __init__(self, spec: PlayerSpec, game: Game) -> None:
        """Create the player; raise PlayerError when it does not search a tree."""
        if not spec.has_search:
            raise PlayerError(
                f"{spec.name} does not search, so it cannot review; name a checkpoint or uct"
            )
        self.game = game
        self.solver = PositionSolver(game)
        self._spec = spec
        self._analyzer: Analyzer | None = None

    def evaluate(self, moves: Sequence[int], state: State | None = None) -> Evaluation:
        """Return the evaluation of the position after `moves`.

        `state` is this position, for a game that does not begin in the initial one.

        Call it for a game's positions from the last to the first, as the solver needs.
        """
        if state is None:
            state = self.game.play(self.game.initial_state(), *moves)
        exact = self.solver.evaluate(state)
        if exact is not None:
            return exact
        if self._analyzer is None:
            self._analyzer = Analyzer(self._spec, self.game)
        analyzer = self._analyzer
        analyzer.set_position(list(moves), state)
        analyzer.choose()
        result = analyzer.result(state, lines=1)
        assert result is not None, "it was searched"
        return evaluation_of(result, int(self.game.legal_action_mask(state).sum()))
