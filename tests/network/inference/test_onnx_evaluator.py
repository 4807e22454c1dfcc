"""The ONNX model computes what the network computes, also where another program runs it."""

from typing import Any

import numpy as np
import pytest
import torch
from helpers.networks import OPTIONS, SETTINGS, boards, needs_onnx, plain_int8, scrambled

from alphazero.network.inference.onnx_evaluator import onnx_bytes, open_session
from alphazero.network.inference.quantization import measure_ranges
from alphazero.network.resnet import ResNet, fold_batch_norm

pytestmark = needs_onnx


def in_reference(model: bytes, observations: np.ndarray) -> list[np.ndarray]:
    """Return the outputs by the reference of the ONNX standard, written in numpy."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(onnx.load_from_string(model))
    return evaluator.run(None, {"observations": observations})  # type: ignore[return-value]


def in_runtime(model: bytes, observations: np.ndarray) -> list[np.ndarray]:
    outputs: Any = open_session(model).run(None, {"observations": observations})
    return list(outputs)


@pytest.mark.parametrize("options", [{}, *OPTIONS])
def test_each_option_is_computed_as_by_the_plain_network(options: dict[str, str | int]) -> None:
    network, observations = scrambled(**options), boards(3)
    with torch.no_grad():
        # Far from their start, so that what is compared counts.
        for part in network.tower.modules():
            if isinstance(part, torch.nn.Linear):
                part.weight.mul_(10)
        logits, values = network(torch.from_numpy(observations))
    model = onnx_bytes(fold_batch_norm(network))
    for run in (in_reference, in_runtime):
        received = run(model, observations)
        np.testing.assert_allclose(received[0], logits.numpy(), atol=1e-4)
        np.testing.assert_allclose(received[1], values.numpy(), atol=1e-4)


def test_one_file_serves_every_batch_size() -> None:
    session = open_session(onnx_bytes(fold_batch_norm(scrambled())))
    whole = session.run(None, {"observations": boards(9)})
    for count in (1, 4, 9):
        logits, values = session.run(
            ["policy_logits", "values"], {"observations": boards(9)[:count]}
        )
        assert (logits.shape, values.shape) == ((count, 7), (count,))
        np.testing.assert_allclose(logits, whole[0][:count], atol=1e-5)
        np.testing.assert_allclose(values, whole[1][:count], atol=1e-5)


@pytest.mark.parametrize("options", [{}, OPTIONS[-1]])
def test_int8_computes_what_rounding_in_torch_computes(options: dict[str, str | int]) -> None:
    network, calibration, observations = scrambled(**options), boards(200), boards(300)[200:]
    folded = fold_batch_norm(network)
    ranges = measure_ranges(folded, calibration)
    assert len(ranges) == 4  # two convolutions in each of two blocks
    exact = in_runtime(onnx_bytes(folded), observations)
    twin = plain_int8(network, calibration, observations)
    # A number on the edge between two levels may fall to either side; other levels or ranges
    # would be as far away as the exact answers are.
    for run in (in_reference, in_runtime):
        received = run(onnx_bytes(folded, ranges), observations)
        for output in (0, 1):
            error = np.abs(received[output] - twin[output]).mean()
            assert error < 0.1 * np.abs(received[output] - exact[output]).mean()


def test_int8_weights_take_a_quarter_of_the_room() -> None:
    network = fold_batch_norm(scrambled())
    tower = sum(
        layer.weight.numel()
        for layer in network.tower.modules()
        if isinstance(layer, torch.nn.Conv2d)
    )
    saved = len(onnx_bytes(network)) - len(onnx_bytes(network, measure_ranges(network, boards(8))))
    assert 0.7 * 3 * tower < saved < 3 * tower


def test_an_untrained_network_whose_blocks_are_all_zeros_can_be_rounded() -> None:
    network = fold_batch_norm(ResNet((3, 6, 7), 7, SETTINGS, 1))
    exact = in_runtime(onnx_bytes(network), boards(8))
    rounded = in_runtime(onnx_bytes(network, measure_ranges(network, boards(8))), boards(8))
    for expected, received in zip(exact, rounded, strict=True):
        np.testing.assert_allclose(received, expected, atol=1e-4)
