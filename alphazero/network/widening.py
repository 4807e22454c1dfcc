"""The weights of a network with more filters that begins as the function of a smaller one.

Source: Net2Net, Chen, Goodfellow, Shlens 2016 (arXiv:1511.05641). Net2WiderNet: each new filter is
a copy of an old one, and the layers that read the copies divide the old weight among them.
Net2DeeperNet: new blocks are the identity, as those of an untrained network are; this module has
nothing to do for them.

Shapes: F filters of the smaller network, N of the larger one, G pooled ones of both, O outputs.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import torch
from torch import Tensor

SPREAD: Final = 0.5
"""By how much the copies' shares of a weight differ from equal ones, relative to these.

Copies with equal shares would get equal gradients and stay equal. The paper adds noise to the
copies, which changes the function; unequal shares do not.
"""


@torch.no_grad()
def widen(
    given: Mapping[str, Tensor], more: int, rng: np.random.Generator, spread: float = SPREAD
) -> dict[str, Tensor]:
    """Return weights that compute what the weights `given` do, up to rounding, with `more` filters.

    Both are `state_dict`s of a `ResNet`.
    """
    filters, inner, wanted = len(given["stem.convolution.weight"]), {}, {}
    trunk = _sources(filters, more, rng)
    for name, tensor in given.items():
        if name.endswith("second.convolution.weight"):
            read = tensor.shape[1]  # F; F - G with pooling
            inner[name.split(".")[1]] = _sources(read, more, rng)
    for name, tensor in given.items():
        weight, words = tensor.cpu(), name.split(".")
        outputs = inputs = None
        if words[0] == "stem":
            outputs = trunk
        elif words[0] == "tower":
            between = inner[words[1]]
            if words[2] == "first":
                pooled = torch.arange(len(between) - more, filters)
                outputs, inputs = torch.cat([between, pooled]), trunk
            elif words[2] == "pooling":
                outputs = between
            else:
                outputs, inputs = trunk, between
        elif name.endswith("features.convolution.weight"):  # the first layer of a head
            inputs = trunk
        if outputs is not None and weight.ndim:
            weight = weight[outputs]
        if inputs is not None and weight.ndim > 1:
            weight = _divided(weight, inputs, rng, spread)
        wanted[name] = weight
    return wanted


def _sources(old: int, more: int, rng: np.random.Generator) -> Tensor:
    """Return the old filter of each filter: the old ones, then copies of random ones."""
    return torch.cat([torch.arange(old), torch.from_numpy(rng.integers(old, size=more))])


def _divided(weight: Tensor, sources: Tensor, rng: np.random.Generator, spread: float) -> Tensor:
    """Map weights [O, F, ...] to [O, N, ...], each divided among the copies of its input."""
    sizes = torch.from_numpy(1 + spread * rng.uniform(-1, 1, (len(weight), len(sources))))
    sums = torch.zeros(weight.shape[:2], dtype=sizes.dtype).index_add_(1, sources, sizes)
    shares = (sizes / sums[:, sources]).to(weight.dtype)
    return weight[:, sources] * shares[:, :, None, None]
