"""What the search asks of a network: the only thing it knows about one.

Letters: R rows of a batch, A actions, [C, H, W] the game's observation.
"""

from typing import Protocol

import numpy as np
import numpy.typing as npt

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
