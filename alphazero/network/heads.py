"""The heads of the network: policy, value and auxiliary ones, and the layer that all parts have.

Convolutional policy heads and the pooling of the board: KataGo, Wu 2019 (arXiv:1902.10565), section
3.3 and appendix A. Auxiliary heads learn other targets for better features; self-play does not
compute them: section 4.1; KataGo, docs/KataGoMethods.md, "Short-term Value and Score Targets".

Shapes: B positions, H rows, W columns, F filters, K planes of actions, E other actions, A actions,
T horizons.
"""

import math
from typing import Final, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import relu, softplus
from torch.nn.utils.fusion import fuse_conv_bn_eval

from alphazero.config.schema import NetworkConfig

REFERENCE_WIDTH: Final = 14
WIDTH_SCALE: Final = 10
"""KataGo's middle width, of boards from 9 to 19, and its unit of the deviation from it."""

NUM_SUMMARIES: Final = 3
"""Numbers that `pool_board` computes of each filter."""

HEAD_FILTERS: Final = 32
"""1x1 filters of each head, as in KataGo's networks of 128 filters."""

HORIZON_SHARES: Final = (0.176, 0.056, 0.016)
"""KataGo's factors of the board's cells in the T horizons of the short-term values: 65, 21 and 7
moves on 19 x 19, 15, 6 and 2 on 9 x 9 (`cpp/dataio/trainingwrite.cpp`)."""

MIN_SPREAD: Final = 0.05
"""The smallest standard deviation of a margin, in board widths: half a point on 9 x 9."""


class ConvNorm(nn.Module):
    """A convolution without bias that keeps H and W, then batch normalisation."""

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
        self.normalisation: nn.Module = nn.BatchNorm2d(outputs)

    def forward(self, features: Tensor) -> Tensor:
        """Map features [B, inputs, H, W] to [B, outputs, H, W]."""
        return cast(Tensor, self.normalisation(self.convolution(features)))

    def fold(self) -> None:
        """Merge the normalisation, with its running statistics, into the convolution."""
        if isinstance(self.normalisation, nn.BatchNorm2d):
            self.convolution = fuse_conv_bn_eval(self.convolution, self.normalisation)
            self.normalisation = nn.Identity()


def pool_board(features: Tensor) -> Tensor:
    """Map features [B, F, H, W] to [B, 3 F]: means, scaled means, maxima.

    The scale is (b - 14) / 10 for a board of width b = sqrt(H W). KataGo's value head has a mean
    scaled by the square of the width in place of the maxima; here both heads have its general
    pooling layer, because one line on the board decides most of the games.
    """
    means = features.mean((2, 3))
    width = math.sqrt(features.shape[2] * features.shape[3])
    scale = (width - REFERENCE_WIDTH) / WIDTH_SCALE
    return torch.cat([means, scale * means, features.amax((2, 3))], 1)


class ConvolutionalPolicy(nn.Module):
    """Policy logits: K planes over the cells, then E actions without a cell, such as a pass.

    Or, with an `index` [A], those of the A places in the planes where actions lie.

    KataGo's policy head, without the normalisation after the bias, because the input is normalised:
    F filters, plus a bias that depends on F pooled ones, give the logits of each cell by a 1 x 1
    convolution; the pooled ones alone give those of the other actions.
    """

    def __init__(self, filters: int, planes: int, others: int) -> None:
        super().__init__()
        self.filters = filters
        self.bias = nn.Linear(NUM_SUMMARIES * filters, filters)
        # As a dense layer at each cell it stays in float32 where convolutions do not.
        self.planes = nn.Linear(filters, planes)
        self.others = nn.Linear(NUM_SUMMARIES * filters, others) if others else None
        self.index: Tensor | None
        # No weight: it belongs to the game.
        self.register_buffer("index", None, persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """Map normalised features [B, 2 F, H, W] to logits [B, A]."""
        local, pooled = torch.split(features.float(), [self.filters, self.filters], 1)
        summary = pool_board(relu(pooled))
        local = relu(local + self.bias(summary)[:, :, None, None])
        logits: Tensor = self.planes(local.permute(0, 2, 3, 1)).permute(0, 3, 1, 2).flatten(1)
        if self.index is not None:
            return logits.index_select(1, self.index)
        return logits if self.others is None else torch.cat([logits, self.others(summary)], 1)


def make_policy_head(
    settings: NetworkConfig, cells: int, num_actions: int, planes: int
) -> tuple[ConvNorm, nn.Module]:
    """Return the features and the output of a policy head: convolutional, or dense if K is 0."""
    inputs, filters = settings.filters, settings.policy_filters
    if planes:
        output = ConvolutionalPolicy(filters, planes, max(num_actions - planes * cells, 0))
        return ConvNorm(inputs, 2 * filters, 1), output
    return ConvNorm(inputs, filters, 1), nn.Linear(filters * cells, num_actions)


# --- auxiliary heads -----------------------------------------------------------------------------


class PerCellHead(nn.Module):
    """One logit for each cell; fits any size of the board."""

    def __init__(self, filters: int) -> None:
        super().__init__()
        self.features = ConvNorm(filters, HEAD_FILTERS, 1)
        self.output = nn.Linear(HEAD_FILTERS, 1)

    def forward(self, trunk: Tensor) -> Tensor:
        """Map the trunk [B, F, H, W] to logits float32 [B, H * W]."""
        features = relu(self.features(trunk), inplace=True)
        logits: Tensor = self.output(features.permute(0, 2, 3, 1).float())
        return logits.flatten(1).float()


class PooledHead(nn.Module):
    """Outputs of the means and maxima over the board; fits any size of it."""

    def __init__(self, filters: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.features = ConvNorm(filters, HEAD_FILTERS, 1)
        self.hidden = nn.Linear(2 * HEAD_FILTERS, hidden)
        self.output = nn.Linear(hidden, outputs)

    def forward(self, trunk: Tensor) -> Tensor:
        """Map the trunk [B, F, H, W] to float32 [B, outputs]."""
        features = relu(self.features(trunk), inplace=True).float()
        summary = torch.cat([features.mean((2, 3)), features.amax((2, 3))], 1)
        outputs: Tensor = self.output(relu(self.hidden(summary)))
        return outputs.float()


class MarginHead(PooledHead):
    """The mean and the standard deviation of the margin.

    KataGo learns a distribution over all scores beside them, which its search does not use. Two
    numbers fit any game and board. Counting in board widths keeps the outputs near 1.
    """

    def __init__(self, filters: int, hidden: int) -> None:
        super().__init__(filters, hidden, 2)

    def forward(self, trunk: Tensor) -> Tensor:
        """Map the trunk [B, F, H, W] to mean and standard deviation float32 [B, 2], in points."""
        mean, spread = super().forward(trunk).unbind(1)
        width = math.sqrt(trunk.shape[2] * trunk.shape[3])
        return width * torch.stack([mean, softplus(spread) + MIN_SPREAD], 1)


def make_auxiliary_heads(settings: NetworkConfig) -> nn.ModuleDict:
    """Return the heads in `settings.auxiliary` by name."""
    filters, hidden = settings.filters, settings.value_hidden
    heads = {
        "ownership": PerCellHead(filters),
        "margin": MarginHead(filters, hidden),
        "short_term_value": PooledHead(filters, hidden, len(HORIZON_SHARES)),
    }
    return nn.ModuleDict({name: heads[name] for name in settings.auxiliary})
