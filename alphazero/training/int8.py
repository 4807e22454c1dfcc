"""Self-play in int8, where its results agree with those of the ordinary precision.

Each iteration quantizes the best player anew, with positions of the replay window, and compares it
with the ordinary evaluator on other positions. The result depends on the published state alone, so
a resumed run gets the same. Actors receive the positions of a network's first such iteration, and
quantize it themselves, once.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.network.inference.quantization import CALIBRATION, QuantizationError
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.training.selfplay import SelfPlayNetwork
from alphazero.utils.arrays import Float32Array

CHECK: Final = 768
"""Positions that are compared: enough to know the mean errors to a tenth of themselves."""


def sample_positions(
    replay: ReplayBuffer, rng: np.random.Generator
) -> tuple[Float32Array, Float32Array]:
    """Return up to `CALIBRATION` and `CHECK` distinct positions of the window, [., C, H, W]."""
    drawn = replay.sample(CALIBRATION + CHECK, rng, augment=False).observations
    distinct = rng.permutation(np.unique(drawn, axis=0))
    border = len(distinct) * CALIBRATION // (CALIBRATION + CHECK)
    return distinct[:border], distinct[border:]


def quantize(best: BatchedEvaluator, replay: ReplayBuffer, seed: Sequence[int]) -> SelfPlayNetwork:
    """Return `best` in int8, or itself if it cannot, exceeds a limit or the window is empty."""
    if not best.computes_int8 or not replay.window:
        return SelfPlayNetwork(best)
    calibration, check = sample_positions(replay, np.random.default_rng(seed))
    if not len(calibration):
        return SelfPlayNetwork(best)
    rounded = best.quantized(calibration)
    comparison = QuantizationError.between(rounded.evaluate(check), best.evaluate(check))
    if comparison.good:
        return SelfPlayNetwork(rounded, comparison, calibration)
    return SelfPlayNetwork(best, comparison)
