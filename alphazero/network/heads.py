"""Policy heads, and the pooling of heads that work on any size of board.

Source: KataGo, Wu 2019 (arXiv:1902.10565), section 3.3 and appendix A.

Shapes: B positions, H rows, W columns, F filters, K planes of actions, E other actions, A actions.
"""

import math
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from alphazero.config.schema import NetworkConfig
from alphazero.network.layers import ConvNorm

REFERENCE_WIDTH: Final = 14
"""KataGo's middle width: of boards from 9 to 19."""

WIDTH_SCALE: Final = 10
"""KataGo's unit of the width's deviation from it."""

NUM_SUMMARIES: Final = 3
"""Numbers that `pool_board` computes of each filter."""


def scale_of_board(height: int, width: int) -> float:
    """Return (b - 14) / 10 for a board of H x W cells, where b = sqrt(H W) is its width."""
    return (math.sqrt(height * width) - REFERENCE_WIDTH) / WIDTH_SCALE


def pool_board(features: Tensor) -> Tensor:
    """Map features [B, F, H, W] to [B, 3 F]: means, scaled means, maxima.

    The scaled mean is the mean times `scale_of_board`. KataGo's value head has a mean scaled by the
    square of the width in place of the maxima; here both heads have its general pooling layer,
    because one line on the board decides most of the games.
    """
    means = features.mean((2, 3))
    scale = scale_of_board(features.shape[2], features.shape[3])
    return torch.cat([means, scale * means, features.amax((2, 3))], 1)


class ConvolutionalPolicy(nn.Module):
    """Policy logits: K planes over the cells, then E actions without a cell, such as a pass.

    KataGo's policy head: F filters, plus a bias that depends on F pooled ones, give the logits of
    each cell by a 1 x 1 convolution; the pooled ones alone give those of the other actions. A
    normalisation after the bias is left out, because the input is normalised.
    """

    def __init__(self, filters: int, planes: int, others: int) -> None:
        super().__init__()
        self.filters = filters
        self.bias = nn.Linear(NUM_SUMMARIES * filters, filters)
        # As a dense layer at each cell it stays in float32 where convolutions do not.
        self.planes = nn.Linear(filters, planes)
        self.others = nn.Linear(NUM_SUMMARIES * filters, others) if others else None

    def forward(self, features: Tensor) -> Tensor:
        """Map normalised features [B, 2 F, H, W] to logits [B, K H W + E]."""
        local, pooled = torch.split(features.float(), [self.filters, self.filters], 1)
        summary = pool_board(relu(pooled))
        local = relu(local + self.bias(summary)[:, :, None, None])
        logits = self.planes(local.permute(0, 2, 3, 1)).permute(0, 3, 1, 2).flatten(1)
        return logits if self.others is None else torch.cat([logits, self.others(summary)], 1)


def make_policy_head(
    settings: NetworkConfig, cells: int, num_actions: int, planes: int
) -> tuple[ConvNorm, nn.Module]:
    """Return the features and the output of a policy head: convolutional, or dense if K is 0."""
    inputs, filters = settings.filters, settings.policy_filters
    if planes:
        output = ConvolutionalPolicy(filters, planes, num_actions - planes * cells)
        return ConvNorm(inputs, 2 * filters, 1), output
    return ConvNorm(inputs, filters, 1), nn.Linear(filters * cells, num_actions)


def policy_logits(features: Tensor, output: nn.Module) -> Tensor:
    """Return logits float32 [B, A] of a policy head's normalised features."""
    if not isinstance(output, ConvolutionalPolicy):
        features = relu(features, inplace=True).flatten(1).float()
    logits: Tensor = output(features)
    return logits.float()
