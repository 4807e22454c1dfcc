"""The search's interface to a network.

Letters: R rows of a batch, A actions, [C, H, W] the game's observation.
"""

from typing import Protocol

import numpy as np

from alphazero.games.game import Game
from alphazero.utils.arrays import Float32Array, Int64Array


class Evaluator(Protocol):
    """Evaluates batches of positions."""

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return policy logits [R, A] and values [R] in [-1, 1], for the player to move.

        `observations`: float32 [R, C, H, W]. Logits of illegal actions are ignored.
        """
        ...


class FixedBatches:
    """Calls another evaluator in batches of exactly `size` positions, padded with zeros.

    A network's output may differ in its last bits between batch sizes. With an evaluation cache
    the batch size depends on earlier searches, and without padding so would these bits.
    """

    def __init__(self, evaluator: Evaluator, size: int) -> None:
        self.evaluator = evaluator
        self.size = size

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return logits [R, A] and values [R]."""
        rows = len(observations)
        padded = np.zeros((-(-rows // self.size) * self.size, *observations.shape[1:]), np.float32)
        padded[:rows] = observations
        answers = [
            self.evaluator.evaluate(batch) for batch in np.split(padded, len(padded) // self.size)
        ]
        logits, values = zip(*answers, strict=True)
        return np.concatenate(logits)[:rows], np.concatenate(values)[:rows]


class SymmetricEvaluator:
    """Transforms positions by the game's symmetries before another evaluator sees them.

    With `rng`, one random symmetry per position; without, the mean logits and values over all.
    """

    def __init__(
        self, game: Game, evaluator: Evaluator, rng: np.random.Generator | None = None
    ) -> None:
        self.evaluator = evaluator
        self.rng = rng
        symmetries = game.symmetries()
        self._actions = symmetries.actions
        self._cells = np.argsort(symmetries.cells, axis=1)

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return logits [R, A] and values [R]; logits are for the untransformed positions."""
        positions, kinds = len(observations), len(self._actions)
        if self.rng is not None:
            symmetries = self.rng.integers(kinds, size=positions)
            return self._evaluate_transformed(observations, symmetries)
        repeated, symmetries = np.tile(observations, (kinds, 1, 1, 1)), np.arange(kinds)
        logits, values = self._evaluate_transformed(repeated, symmetries.repeat(positions))
        return _mean(np.split(logits, kinds)), _mean(np.split(values, kinds))

    def _evaluate_transformed(
        self, observations: Float32Array, symmetries: Int64Array
    ) -> tuple[Float32Array, Float32Array]:
        """Evaluate each position under its symmetry [R]; transform the logits back."""
        flat = observations.reshape(*observations.shape[:2], -1)
        transformed = np.take_along_axis(flat, self._cells[symmetries][:, None, :], axis=2)
        logits, values = self.evaluator.evaluate(transformed.reshape(observations.shape))
        return np.take_along_axis(logits, self._actions[symmetries], axis=1), values


def _mean(views: list[Float32Array]) -> Float32Array:
    """Return the mean, added view by view: the last bits of `mean(0)` depend on the batch size."""
    total = np.zeros_like(views[0])
    for view in views:
        total += view
    return total / np.float32(len(views))


def innermost(evaluator: Evaluator) -> Evaluator:
    """Return the network itself, without the evaluators of this module around it."""
    while isinstance(evaluator, FixedBatches | SymmetricEvaluator):
        evaluator = evaluator.evaluator
    return evaluator
