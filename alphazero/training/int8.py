"""Self-play in int8, where its results agree with those of the ordinary precision.

Each iteration quantizes the best player anew, with positions of the replay window, and compares it
with the ordinary evaluator on other positions. The result depends on the published state alone, so
a resumed run gets the same. Actors receive the positions of a network's first such iteration, and
quantize it themselves, once.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from alphazero.config.schema import InferenceConfig
from alphazero.mcts.evaluator import Evaluator
from alphazero.network.openvino_evaluator import OpenVINOEvaluator
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.utils.arrays import Float32Array

CALIBRATION: Final = 256
"""Positions that set the ranges; a few hundred find the largest values well enough."""
CHECK: Final = 768
"""Positions that are compared: enough to measure a share of 0.99 to half a percent."""


class QuantizationError(NamedTuple):
    """The differences between two evaluators' results."""

    agreement: float
    """share of positions with the same best move"""
    value_error: float
    """mean absolute difference of the values"""

    def within(self, settings: InferenceConfig) -> bool:
        return (
            self.agreement >= settings.int8_min_agreement
            and self.value_error <= settings.int8_max_value_error
        )

    def explain_refusal(self, settings: InferenceConfig, precision: str) -> str:
        """Return why self-play stays in the ordinary `precision`."""
        return (
            f"self-play stays in {precision}; int8 has {self.agreement:.1%} of the best moves (at "
            f"least {settings.int8_min_agreement:.1%} wanted) and a value error of "
            f"{self.value_error:.3f} (at most {settings.int8_max_value_error:.3f})"
        )


class QuantizedEvaluator(NamedTuple):
    """The result of quantizing an evaluator."""

    evaluator: OpenVINOEvaluator
    """in int8, or the original one"""
    comparison: QuantizationError | None = None
    """int8 compared with the original; None: there was nothing to calibrate on"""
    calibration: Float32Array | None = None
    """[B, C, H, W] observations that set the ranges; None: the evaluator is the original one"""


def compare(
    evaluator: Evaluator, reference: Evaluator, observations: Float32Array
) -> QuantizationError:
    """Compare two evaluators' results on `observations` [B, C, H, W], B above 0.

    The best move is the one with the greatest logit, legal or not: a network learns to give
    illegal moves no probability.
    """
    exact_logits, exact_values = reference.evaluate(observations)
    logits, values = evaluator.evaluate(observations)
    same = logits.argmax(axis=1) == exact_logits.argmax(axis=1)
    return QuantizationError(float(same.mean()), float(np.abs(values - exact_values).mean()))


def draw_positions(
    replay: ReplayBuffer, rng: np.random.Generator
) -> tuple[Float32Array, Float32Array]:
    """Return up to `CALIBRATION` and `CHECK` distinct positions of the window, [., C, H, W]."""
    drawn = replay.sample(CALIBRATION + CHECK, rng, augment=False).observations
    distinct = rng.permutation(np.unique(drawn, axis=0))
    border = len(distinct) * CALIBRATION // (CALIBRATION + CHECK)
    return distinct[:border], distinct[border:]


def quantize(
    best: OpenVINOEvaluator, replay: ReplayBuffer, settings: InferenceConfig, seed: Sequence[int]
) -> QuantizedEvaluator:
    """Return `best` in int8, or `best` itself if int8 exceeds a limit or the window is empty."""
    if not replay.window:
        return QuantizedEvaluator(best)
    calibration, check = draw_positions(replay, np.random.default_rng(seed))
    if not len(calibration):
        return QuantizedEvaluator(best)
    rounded = best.quantized(calibration)
    comparison = compare(rounded, best, check)
    if comparison.within(settings):
        return QuantizedEvaluator(rounded, comparison, calibration)
    return QuantizedEvaluator(best, comparison)
