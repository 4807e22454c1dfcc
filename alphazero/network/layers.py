"""The layer that the tower and all heads are made of.

Shapes: B positions, H rows, W columns.
"""

from typing import cast

from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


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
