"""Networks with weights that are not the initial ones."""

from dataclasses import replace

import pytest
import torch

from alphazero.config.schema import NetworkConfig
from alphazero.network.openvino_evaluator import openvino_is_installed
from alphazero.network.resnet import ResNet

needs_openvino = pytest.mark.skipif(not openvino_is_installed(), reason="OpenVINO not installed")


SETTINGS = NetworkConfig(blocks=2, filters=16, value_hidden=8)


def scrambled(policy_planes: int = 0, **options: str | int) -> ResNet:
    """Return a network with weights and statistics that a trained one might have.

    It has 7 actions, or with `policy_planes` one without a cell.
    """
    actions = 42 * policy_planes + 1 if policy_planes else 7
    network = ResNet((3, 6, 7), actions, replace(SETTINGS, **options), 1, policy_planes)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if tensor.is_floating_point():
                noise = torch.randn(tensor.shape, generator=generator) * 0.1
                tensor.add_(noise.abs() if name.endswith("running_var") else noise)
    return network.eval()
