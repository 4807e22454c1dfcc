"""The review of a session's game: the evaluations of its positions."""

from collections.abc import Sequence
from typing import Any

from alphazero.frontends.game_tree import GameNode
from alphazero.frontends.review.judgement import Evaluation, Review, review_moves
from alphazero.frontends.review.reviewer import Reviewer
from alphazero.frontends.web.catalog import PlayerOption
from alphazero.games.game import Game, to_play


class GameReview:
    """The evaluations of a game's positions; they stay when the review is left."""

    def __init__(self, player: PlayerOption, game: Game) -> None:
        self.player = player
        self.reviewer = Reviewer(player.spec, game, player.default_budget)
        self.running = True
        self.is_busy = False
        """Whether a position is under evaluation."""
        self.evaluations: dict[GameNode, Evaluation] = {}

    def next_node(self, line: Sequence[GameNode]) -> GameNode | None:
        """Return the position to evaluate next: the last one without an evaluation."""
        return next((node for node in reversed(line) if node not in self.evaluations), None)

    def evaluate(self, node: GameNode) -> Evaluation:
        """Evaluate a position, on any thread; a search ends early when the review is left."""
        return self.reviewer.evaluate(node.moves, node.state, lambda: not self.running, node.told)

    def of_line(self, line: Sequence[GameNode]) -> Review:
        """Return the review of the moves of a line."""
        evaluations = [self.evaluations.get(node) for node in line]
        actions = [node.action for node in line if node.action is not None]
        unchosen = sum(node.is_opening or node.is_setup for node in line)
        return review_moves(actions, evaluations, unchosen, to_play(line[0].state))

    def json(self, line: Sequence[GameNode]) -> dict[str, Any]:
        """Return the summary of a line for the page."""
        evaluations = [self.evaluations.get(node) for node in line]
        return {
            "player": self.player.name,
            "running": self.running,
            "done": sum(evaluation is not None for evaluation in evaluations),
            "total": len(line),
            "exact": sum(bool(evaluation and evaluation.is_exact) for evaluation in evaluations),
            "accuracies": self.of_line(line).accuracies,
        }
