"""Networks with weights that are not the initial ones."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from alphazero.network.inference.backend import onnx_is_installed, openvino_is_installed
from alphazero.network.resnet import ResNet, fold_batch_norm
from helpers.settings import network_config

needs_openvino = pytest.mark.skipif(not openvino_is_installed(), reason="OpenVINO not installed")
needs_onnx = pytest.mark.skipif(not onnx_is_installed(), reason="ONNX not installed")

SETTINGS = network_config(blocks=2, filters=16, value_hidden=8)

OPTIONS: list[dict[str, str | int]] = [
    {"global_pooling": 6},
    {"heads": "convolutional"},
    {"heads": "convolutional", "policy_planes": 1},
    {"heads": "convolutional", "policy_planes": 2, "value_filters": 9, "global_pooling": 6},
    {"heads": "convolutional", "policy_planes": 3, "indexed": 50},
]
"""Options of the network that its twins in other libraries compute too."""


def moved(network: ResNet, spread: float = 0.1) -> ResNet:
    """Move every weight and statistic of a network, as training might; return it, to evaluate."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if tensor.is_floating_point():
                noise = torch.randn(tensor.shape, generator=generator) * spread
                tensor.add_(noise.abs() if name.endswith("running_var") else noise)
    return network.eval()


def scrambled(
    policy_planes: int = 0, indexed: int = 0, **options: str | int | tuple[str, ...]
) -> ResNet:
    """Return a moved network with 7 actions, or with `policy_planes` one without a cell.

    Or its actions are `indexed` ones of the planes, in another order.
    """
    actions, index = 42 * policy_planes + 1 if policy_planes else 7, None
    if indexed:
        actions, index = indexed, np.random.default_rng(4).permutation(42 * policy_planes)[:indexed]
    settings = replace(SETTINGS, **options)
    return moved(ResNet((3, 6, 7), actions, settings, 1, policy_planes, index))


def boards(count: int, rows: int = 6, columns: int = 7, seed: int = 3) -> np.ndarray:
    """Return random planes [count, 3, rows, columns] of zeros and ones, as games write them."""
    rng = np.random.default_rng(seed)
    return (rng.random((count, 3, rows, columns)) < 0.4).astype(np.float32)


def rounded_to(numbers: torch.Tensor, low: torch.Tensor, high: torch.Tensor, steps: int):
    """Return the nearest of `steps` + 1 evenly spaced numbers from `low` to `high`."""
    width = (high - low) / steps
    return torch.round((numbers.clamp(low, high) - low) / width) * width + low


def int8_twin(
    network: ResNet, calibration: np.ndarray, observations: np.ndarray
) -> list[np.ndarray]:
    """The slow twin: the network in torch, each convolution of its tower rounded in words."""
    network = fold_batch_norm(network)
    largest: dict[nn.Module, torch.Tensor] = {}
    layers = [layer for block in network.tower for layer in (block.first, block.second)]

    def note(layer: nn.Module, inputs: tuple[torch.Tensor]) -> None:
        largest[layer] = inputs[0].max()

    def rounding(layer: nn.Module, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        return (rounded_to(inputs[0], torch.tensor(0.0), largest[layer], 255),)

    with torch.no_grad():
        hooks = [layer.register_forward_pre_hook(note) for layer in layers]
        network(torch.from_numpy(calibration))
        for hook in hooks:
            hook.remove()
        for layer in layers:
            layer.register_forward_pre_hook(rounding)
            for channel in layer.convolution.weight:
                size = channel.abs().max()
                channel.copy_(rounded_to(channel, -size, size, 254))
        return [output.numpy() for output in network(torch.from_numpy(observations))]


Outputs = Sequence[np.ndarray]


def check_close(ours: Outputs, theirs: Outputs, tolerance: float = 1e-4) -> None:
    """Compare logits and values."""
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance)


def exact(network: ResNet, observations: np.ndarray) -> list[np.ndarray]:
    """Return the outputs of the unfolded network in evaluation mode, by torch alone."""
    with torch.no_grad():
        return [output.numpy() for output in network(torch.from_numpy(observations))]


def strengthen_pooling(network: ResNet) -> None:
    """Move the dense layers of a tower far from their start, so that their results count."""
    with torch.no_grad():
        for part in network.tower.modules():
            if isinstance(part, nn.Linear):
                part.weight.mul_(10)
