"""Quantization to int8: the convolutions that are rounded, and their ranges.

A convolution's input, not negative after its ReLU, is rounded to 256 levels from 0 to the
largest value on positions from play, with one range per tensor. Its weights are rounded to
255 levels, symmetric around 0, with one range per output channel. (Jacob et al., *Quantization and
training of neural networks for efficient integer-arithmetic-only inference*, arXiv:1712.05877,
sections 2.1 and 3; per channel: Krishnamoorthi, arXiv:1806.08342, section 3.)

On x86 without VNNI, such as Zen 3, sums of two products stop at 16 bits, and 2 * 255 * 127 is too
much (oneDNN's guide, "Nuances of int8 computations"). OpenVINO's remedy, weights of 7 bits, costs
more than it saves: on a Zen 3 at most one sum in a million was cut in players of tic-tac-toe and
Connect Four. On 768 positions of each of six shipped players 97.9 to 99.9 % of the best moves were
equal with the cuts, 98.2 to 99.9 % without, and 97.9 to 99.5 % with 7 bits, whose logits were 1.4
to 1.6 times as far away. `QuantizationError` is measured where the network plays: it sees the cuts.

Shapes: B positions, C planes, H rows, W columns, A actions, F filters.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from alphazero.network.resnet import ResNet
from alphazero.utils.arrays import Float32Array, Float64Array

UNSIGNED_LEVELS: Final = 256
SIGNED_LEVELS: Final = 255
"""-127 to 127: symmetric, so that 0 stays 0."""

CALIBRATION: Final = 256
"""Positions that set the ranges; a few hundred find the largest values well enough."""

MAX_POLICY_ERROR: Final = 0.02
"""Largest mean distance of int8's policies from the exact ones, which is 0.002 to 0.014 in shipped
players; that of bfloat16 is 0.001 to 0.008. Equal best moves are a worse measure. Chess has many
moves of nearly equal probability: bfloat16 already changes 2 % of the best moves, int8 3 to 4 %,
and the new one is on average only 0.006 less probable."""

MAX_VALUE_ERROR: Final = 0.03
"""Largest mean difference of int8's values, which is 0.003 to 0.009."""

_MIN_RANGE: Final = 1e-6
"""The smallest range: an untrained block's weights are all 0."""

Outputs = Sequence[Float32Array]
"""Policy logits [B, A] and values [B]."""

Ranges = Mapping[Tensor, Tensor]
"""The largest input [1, 1, 1, 1] of each convolution to round, by its weight."""


def measure_ranges(network: ResNet, observations: Float32Array) -> Ranges:
    """Return the largest input of every convolution of the tower on `observations` [B, C, H, W].

    The tower is nearly all of the work; stem and heads are not rounded. `network` is folded.
    """
    ranges: dict[Tensor, Tensor] = {}

    def note(layer: Any, inputs: tuple[Tensor]) -> None:
        ranges[layer.weight] = inputs[0].max().clamp_min(_MIN_RANGE).reshape(1, 1, 1, 1)

    layers = [layer for layer in network.tower.modules() if isinstance(layer, nn.Conv2d)]
    hooks = [layer.register_forward_pre_hook(note) for layer in layers]
    with torch.inference_mode():
        network(torch.from_numpy(observations))
    for hook in hooks:
        hook.remove()
    return ranges


def weight_ranges(weight: Tensor) -> Tensor:
    """Return each channel's largest absolute weight [F, 1, 1, 1]; `weight` is [F, ., ., .]."""
    return weight.abs().amax(dim=(1, 2, 3), keepdim=True).clamp_min(_MIN_RANGE)


class QuantizationError(NamedTuple):
    """The differences between the answers in int8 and the exact ones."""

    policy_error: float
    """mean total variation distance of the policies, 0 to 1"""
    value_error: float
    """mean absolute difference of the values"""

    @classmethod
    def between(cls, rounded: Outputs, exact: Outputs) -> Self:
        """Compare the answers for the same positions, at least one.

        Moves are legal or not: a network learns to give illegal ones no probability.
        """
        moved = np.abs(_softmax(rounded[0]) - _softmax(exact[0])).sum(axis=1) / 2
        return cls(float(moved.mean()), float(np.abs(rounded[1] - exact[1]).mean()))

    @property
    def good(self) -> bool:
        """Whether both differences are within their limits."""
        return self.policy_error <= MAX_POLICY_ERROR and self.value_error <= MAX_VALUE_ERROR

    def __str__(self) -> str:
        return (
            f"int8 moves {self.policy_error:.1%} of the policies' probability (at most "
            f"{MAX_POLICY_ERROR:.1%} wanted) and has a value error of "
            f"{self.value_error:.3f} (at most {MAX_VALUE_ERROR:.3f})"
        )


def _softmax(logits: Float32Array) -> Float64Array:
    weights: Float64Array = np.exp(logits - logits.max(axis=1, keepdims=True), dtype=np.float64)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
