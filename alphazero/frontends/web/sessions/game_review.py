"""The review of a session's game: the evaluations of its positions, and the better lines shown.

A solver evaluates the last positions on a worker thread, the session's search pool the others.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from alphazero.errors import GameError
from alphazero.frontends.game_tree import GameNode, GameTree
from alphazero.frontends.review.judgement import (
    Evaluation,
    Judgement,
    MoveReview,
    Review,
    review_moves,
)
from alphazero.frontends.review.reviewer import PositionSolver
from alphazero.frontends.web.catalog.catalog import PlayerOption
from alphazero.games.game import State

RETRY, BETTER = "retry", "better"
"""Detours from the game: another try at a move, or the better line."""

COUNTED: Final = Judgement.BEST, Judgement.INACCURACY, Judgement.MISTAKE, Judgement.BLUNDER


class StoppedError(Exception):
    """Raised inside a solver whose review was stopped."""


class GameReview:
    """The evaluations of a game's positions; they stay when the review is left."""

    def __init__(self, player: PlayerOption) -> None:
        self.player = player
        self.running = True
        self.evaluations: dict[GameNode, Evaluation] = {}
        self.solving = False
        """Whether a solver is at work."""
        self._unsolved = -1
        """As in `PositionSolver`."""

    def next_node(self, line: Sequence[GameNode]) -> GameNode | None:
        """Return the position to evaluate next: the last one without an evaluation."""
        return next((node for node in reversed(line) if node not in self.evaluations), None)

    def is_for_solver(self, node: GameNode) -> bool:
        """Whether a solver has not given up before this position."""
        return node.ply > self._unsolved

    def solve(self, solver: PositionSolver, state: State) -> Evaluation | None:
        """Evaluate a position exactly, on a worker thread; None if it takes too long.

        Raises:
            StoppedError: when the review is stopped.
        """

        def watch() -> None:
            if not self.running:
                raise StoppedError

        solver.unsolved = self._unsolved
        found = solver.evaluate(state, watch)
        self._unsolved = solver.unsolved
        return found

    def of_line(self, line: Sequence[GameNode]) -> Review:
        """Return the review of the moves of a line."""
        evaluations = [self.evaluations.get(node) for node in line]
        actions = [node.action for node in line if node.action is not None]
        return review_moves(actions, evaluations, sum(node.is_opening for node in line))

    def of_move(self, node: GameNode) -> MoveReview | None:
        """Return the review of the move into a position; its ply counts from there."""
        assert node.action is not None, "a move leads to it"
        assert node.parent is not None
        around = [self.evaluations.get(node.parent), self.evaluations.get(node)]
        return review_moves([node.action], around, int(node.is_opening)).moves[0]

    def json(self, line: Sequence[GameNode]) -> dict[str, Any]:
        """Return the summary of a line for the page."""
        review = self.of_line(line)
        return {
            "player": self.player.name,
            "running": self.running,
            "done": sum(node in self.evaluations for node in line),
            "total": len(line),
            "exact": sum(
                node in self.evaluations and self.evaluations[node].is_exact for node in line
            ),
            "accuracies": review.accuracies,
            "counts": [
                {judgement.value: review.count(player, judgement) for judgement in COUNTED}
                for player in (0, 1)
            ],
        }


class Detour(NamedTuple):
    """A variation that a review has led to, and the move of the game that it replaces."""

    kind: str
    node: GameNode
    """the position before the move"""
    move: GameNode
    """the position after it"""

    @classmethod
    def at(cls, kind: str, game_tree: GameTree, ply: int) -> "Detour":
        """Return a detour from move `ply`.

        Raises:
            GameError: when there is no such move.
        """
        line = game_tree.line
        if not 1 <= ply < len(line):
            raise GameError(f"ply: the line has moves 1 to {len(line) - 1}, not {ply}")
        return cls(kind, line[ply - 1], line[ply])

    def end(self, game_tree: GameTree) -> None:
        """Return to the move of the game."""
        self.node.last_child = self.move
        game_tree.current = self.move
