"""What the search asks of a network: the only thing it knows about one.

Letters: R rows of a batch, A actions, [C, H, W] the game's observation.
"""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from alphazero.games.game import Game

Floats = npt.NDArray[np.float32]


class Evaluator(Protocol):
    """A judge of positions."""

    def evaluate(self, observations: Floats) -> tuple[Floats, Floats]:
        """Return policy logits [R, A] and values [R] in [-1, 1], for the player to move.

        `observations`: float32 [R, C, H, W]. Logits of illegal actions are not looked at.
        """
        ...


class UniformEvaluator:
    """Knows nothing: every action alike, every value 0."""

    def __init__(self, num_actions: int) -> None:
        self.num_actions = num_actions

    def evaluate(self, observations: Floats) -> tuple[Floats, Floats]:
        """Return zeros: `logits` [R, A] and `values` [R]."""
        rows = len(observations)
        return np.zeros((rows, self.num_actions), np.float32), np.zeros(rows, np.float32)


class FixedBatches:
    """Asks another evaluator in batches of exactly `size` positions, filled up with empty ones.

    A network's answer to a position may differ in its last bits between batches of two sizes. A
    search that remembers evaluations asks in batches of any size, so these bits would depend on
    what was searched before.
    """

    def __init__(self, evaluator: Evaluator, size: int) -> None:
        self.evaluator = evaluator
        self.size = size

    def evaluate(self, observations: Floats) -> tuple[Floats, Floats]:
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
    """Asks another evaluator about positions as the game's symmetries show them.

    About each under a random one, or, without `rng`, under all of them, whose logits and values
    are averaged.
    """

    def __init__(
        self, game: Game, evaluator: Evaluator, rng: np.random.Generator | None = None
    ) -> None:
        self.evaluator = evaluator
        self.rng = rng
        symmetries = game.symmetries()
        self._actions = symmetries.actions
        self._cells = np.argsort(symmetries.cells, axis=1)

    def evaluate(self, observations: Floats) -> tuple[Floats, Floats]:
        """Return logits [R, A] and values [R] for the positions as they are."""
        if self.rng is not None:
            drawn = self.rng.integers(len(self._actions), size=len(observations))
            return self._ask(observations, drawn)
        answers = [
            self._ask(observations, np.full(len(observations), symmetry))
            for symmetry in range(len(self._actions))
        ]
        logits, values = zip(*answers, strict=True)
        return np.mean(logits, axis=0, dtype=np.float32), np.mean(values, axis=0, dtype=np.float32)

    def _ask(
        self, observations: Floats, symmetries: npt.NDArray[np.int64]
    ) -> tuple[Floats, Floats]:
        """Show each position under its symmetry [R]; turn the logits back."""
        flat = observations.reshape(*observations.shape[:2], -1)
        turned = np.take_along_axis(flat, self._cells[symmetries][:, None, :], axis=2)
        logits, values = self.evaluator.evaluate(turned.reshape(observations.shape))
        return np.take_along_axis(logits, self._actions[symmetries], axis=1), values


def with_symmetries(
    game: Game, evaluator: Evaluator, symmetry: str, rng: np.random.Generator
) -> Evaluator:
    """Return the evaluator that `search.leaf_symmetry` asks for."""
    if symmetry == "none":
        return evaluator
    return SymmetricEvaluator(game, evaluator, rng if symmetry == "random" else None)
