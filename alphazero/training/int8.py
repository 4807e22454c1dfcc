"""Self-play in int8, where that answers as the network itself does.

Each iteration rounds the best player anew, on positions of the replay window, and compares it
with the ordinary evaluator on others. What it does depends on the published state alone, so a
resumed run does the same. Actors elsewhere get the positions of a network's first such iteration,
and round it for themselves, once.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from alphazero.config.schema import InferenceConfig
from alphazero.mcts.evaluator import Evaluator
from alphazero.network.openvino_evaluator import OpenVINOEvaluator
from alphazero.training.data.replay_buffer import ReplayBuffer

Floats = npt.NDArray[np.float32]

CALIBRATION: Final = 256
"""Positions that set the ranges; a few hundred find the greatest values well enough."""
CHECK: Final = 768
"""Positions that are compared: enough to know a share of 0.99 to half a percent."""


class QuantizationError(NamedTuple):
    """How an evaluator's answers stand beside those of another one."""

    agreement: float
    """share of positions with the same best move"""
    value_error: float
    """mean distance of the values"""

    def within(self, settings: InferenceConfig) -> bool:
        """Whether both figures keep the limits of the configuration."""
        return (
            self.agreement >= settings.int8_agreement
            and self.value_error <= settings.int8_value_error
        )


class QuantizedEvaluator(NamedTuple):
    """What became of rounding an evaluator."""

    evaluator: OpenVINOEvaluator
    """in int8, or as it was"""
    comparison: QuantizationError | None = None
    """of the one in int8 with the one that was; None: there was nothing to calibrate on"""
    calibration: Floats | None = None
    """[B, C, H, W] what the ranges are from; None: it is as it was"""


def compare(evaluator: Evaluator, reference: Evaluator, observations: Floats) -> QuantizationError:
    """Compare answers on `observations` [B, C, H, W], B above 0.

    The best move is that of the greatest logit, legal or not: a network learns to give illegal
    moves nothing.
    """
    exact_logits, exact_values = reference.evaluate(observations)
    logits, values = evaluator.evaluate(observations)
    same = logits.argmax(axis=1) == exact_logits.argmax(axis=1)
    return QuantizationError(float(same.mean()), float(np.abs(values - exact_values).mean()))


def draw_positions(replay: ReplayBuffer, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw positions of the window: one part to calibrate on, and others to check on.

    Returns two arrays float32 [., C, H, W] of at most `CALIBRATION` and `CHECK` positions. No
    position is in both, nor twice, however often games went through it.
    """
    drawn = replay.sample(CALIBRATION + CHECK, rng, augment=False).observations
    distinct = rng.permutation(np.unique(drawn, axis=0))
    border = len(distinct) * CALIBRATION // (CALIBRATION + CHECK)
    return distinct[:border], distinct[border:]


def quantize(
    best: OpenVINOEvaluator, replay: ReplayBuffer, settings: InferenceConfig, seed: Sequence[int]
) -> QuantizedEvaluator:
    """Return `best` in int8, or `best` itself where int8 breaks a limit."""
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
