"""An evaluator that knows nothing."""

import numpy as np

from alphazero.utils.arrays import Float32Array


class UniformEvaluator:
    """Evaluates every position as value 0 with equal logits; notes the `rows` of each batch."""

    def __init__(self, num_actions: int) -> None:
        self.num_actions = num_actions
        self.rows: list[int] = []

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return zeros: logits [R, A] and values [R]."""
        rows = len(observations)
        self.rows.append(rows)
        return np.zeros((rows, self.num_actions), np.float32), np.zeros(rows, np.float32)
