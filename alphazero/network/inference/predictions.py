"""What the auxiliary heads predict, as arrays for people.

Shapes: B positions, C planes, H rows, W columns, T horizons.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from alphazero.network.resnet import ResNet
from alphazero.utils.arrays import Float32Array
from alphazero.utils.jobs import at_most_threads


class AuxiliaryPredictions(NamedTuple):
    """What the auxiliary heads say of B positions, for `to_play` of each; None: no such head."""

    ownership: Float32Array | None
    """[B, H * W] in [-1, 1]: 1 for cells that will be the player's, -1 for the opponent's"""
    margin: Float32Array | None
    """[B] by how much the player will win, mean"""
    margin_spread: Float32Array | None
    """[B] its standard deviation"""
    short_term_value: Float32Array | None
    """[B, T] in [-1, 1]: the search's values a few moves on, the farthest horizon first"""


@torch.inference_mode()
def predict(network: ResNet, observations: Float32Array) -> AuxiliaryPredictions:
    """Return the auxiliary predictions for `observations` [B, C, H, W].

    `network` is in evaluation mode, on any device and of any precision. This is for people: it
    does not batch, and computes policy and value too.
    """
    weight = network.stem.convolution.weight
    given = torch.from_numpy(np.ascontiguousarray(observations)).to(weight.device, weight.dtype)
    with at_most_threads(network.useful_threads(len(given))):
        found = network.forward_full(given).auxiliary
    margins = found.get("margin")

    def array(tensor: Tensor | None) -> Float32Array | None:
        return None if tensor is None else tensor.float().cpu().numpy()

    return AuxiliaryPredictions(
        array(_value_of_logits(found.get("ownership"))),
        array(None if margins is None else margins[:, 0]),
        array(None if margins is None else margins[:, 1]),
        array(_value_of_logits(found.get("short_term_value"))),
    )


def _value_of_logits(logits: Tensor | None) -> Tensor | None:
    """Return 2 p - 1 for the probabilities p of the logits."""
    return None if logits is None else torch.tanh(logits / 2)
