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
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.inference.quantization import CALIBRATION, QuantizationError
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.utils.arrays import Float32Array

CHECK: Final = 768
"""Positions that are compared: enough to measure a share of 0.99 to half a percent."""


class QuantizedEvaluator(NamedTuple):
    """The result of quantizing an evaluator."""

    evaluator: OpenVINOEvaluator
    """in int8, or the original one"""
    comparison: QuantizationError | None = None
    """int8 compared with the original; None: there was nothing to calibrate on"""
    calibration: Float32Array | None = None
    """[B, C, H, W] observations that set the ranges; None: the evaluator is the original one"""


def sample_positions(
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
    calibration, check = sample_positions(replay, np.random.default_rng(seed))
    if not len(calibration):
        return QuantizedEvaluator(best)
    rounded = best.quantized(calibration)
    comparison = QuantizationError.between(rounded.evaluate(check), best.evaluate(check))
    if comparison.within(settings):
        return QuantizedEvaluator(rounded, comparison, calibration)
    return QuantizedEvaluator(best, comparison)
