"""Auxiliary heads: what a network learns beside policy and value, for better features.

Self-play does not compute them. Wu 2019 (arXiv:1902.10565), section 4.1; KataGo,
docs/KataGoMethods.md, "Short-term Value and Score Targets".

Shapes: B positions, H rows, W columns, F filters, T horizons.
"""

import math
from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from alphazero.config.schema import NetworkConfig
from alphazero.network.layers import ConvNorm

HEAD_FILTERS: Final = 32
"""1x1 filters of each head, as in KataGo's networks of 128 filters."""

HORIZON_SHARES: Final = (0.176, 0.056, 0.016)
"""KataGo's factors of the board's cells in the T horizons of the short-term values: 65, 21 and 7
moves on 19 x 19, 15, 6 and 2 on 9 x 9 (`cpp/dataio/trainingwrite.cpp`)."""

LEAST_SPREAD: Final = 0.05
"""The smallest standard deviation of a margin, in board widths: half a point on 9 x 9."""


class PerCellHead(nn.Module):
    """One logit for each cell; no weight depends on the size of the board."""

    def __init__(self, filters: int) -> None:
        super().__init__()
        self.features = ConvNorm(filters, HEAD_FILTERS, 1)
        self.output = nn.Linear(HEAD_FILTERS, 1)

    def forward(self, trunk: Tensor) -> Tensor:
        """Map the trunk [B, F, H, W] to logits float32 [B, H * W]."""
        features = functional.relu(self.features(trunk), inplace=True)
        logits: Tensor = self.output(features.permute(0, 2, 3, 1).float())
        return logits.flatten(1).float()


class PooledHead(nn.Module):
    """Outputs of the means and maxima over the board; no weight depends on its size."""

    def __init__(self, filters: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.features = ConvNorm(filters, HEAD_FILTERS, 1)
        self.hidden = nn.Linear(2 * HEAD_FILTERS, hidden)
        self.output = nn.Linear(hidden, outputs)

    def forward(self, trunk: Tensor) -> Tensor:
        """Map the trunk [B, F, H, W] to float32 [B, outputs]."""
        features = functional.relu(self.features(trunk), inplace=True).float()
        summary = torch.cat([features.mean((2, 3)), features.amax((2, 3))], 1)
        outputs: Tensor = self.output(functional.relu(self.hidden(summary)))
        return outputs.float()


class MarginHead(PooledHead):
    """The mean and the standard deviation of the margin.

    KataGo learns a distribution over all scores beside them, with a weight for every score; its
    search uses only mean and standard deviation, and so do people. Two numbers fit any game and
    size of board. The head counts in board widths, which keeps its outputs near 1.
    """

    def __init__(self, filters: int, hidden: int) -> None:
        super().__init__(filters, hidden, 2)

    def forward(self, trunk: Tensor) -> Tensor:
        """Map the trunk [B, F, H, W] to mean and standard deviation float32 [B, 2], in points."""
        mean, spread = super().forward(trunk).unbind(1)
        width = math.sqrt(trunk.shape[2] * trunk.shape[3])
        return width * torch.stack([mean, functional.softplus(spread) + LEAST_SPREAD], 1)


def make_heads(settings: NetworkConfig) -> nn.ModuleDict:
    """Return the heads in `settings.auxiliary` by name."""
    filters, hidden = settings.filters, settings.value_hidden
    makers: dict[str, Callable[[], nn.Module]] = {
        "ownership": lambda: PerCellHead(filters),
        "margin": lambda: MarginHead(filters, hidden),
        "short_term_value": lambda: PooledHead(filters, hidden, len(HORIZON_SHARES)),
    }
    return nn.ModuleDict({name: makers[name]() for name in settings.auxiliary})
