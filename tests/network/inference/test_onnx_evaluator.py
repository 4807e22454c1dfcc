"""The ONNX model computes what the network computes, also where another program runs it."""

from typing import Any

import numpy as np
import pytest
import torch
from helpers.networks import (
    OPTIONS,
    Outputs,
    boards,
    check_close,
    check_int8,
    exact,
    needs_onnx,
    scrambled,
    strengthen_pooling,
)

from alphazero.network.inference.onnx_evaluator import onnx_bytes, open_session
from alphazero.network.inference.quantization import measure_ranges
from alphazero.network.resnet import fold_batch_norm

pytestmark = needs_onnx


def by_reference(model: bytes, observations: np.ndarray) -> Outputs:
    """Return the outputs by the reference of the ONNX standard, written in numpy."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(onnx.load_from_string(model))
    return evaluator.run(None, {"observations": observations})  # type: ignore[return-value]


def by_runtime(model: bytes, observations: np.ndarray) -> Outputs:
    outputs: Any = open_session(model).run(None, {"observations": observations})
    return outputs


@pytest.mark.parametrize("options", [{}, *OPTIONS])
def test_each_option_is_computed_as_by_the_network(options: dict[str, str | int]) -> None:
    network = scrambled(**options)
    strengthen_pooling(network)
    model = onnx_bytes(fold_batch_norm(network))
    for run in (by_reference, by_runtime):
        check_close(run(model, boards(3)), exact(network, boards(3)))


def test_one_file_serves_every_batch_size() -> None:
    model = onnx_bytes(fold_batch_norm(scrambled()))
    whole = by_runtime(model, boards(9))
    for count in (1, 4):
        logits, values = by_runtime(model, boards(9)[:count])
        assert (logits.shape, values.shape) == ((count, 7), (count,))
        check_close((logits, values), [output[:count] for output in whole], 1e-5)


@pytest.mark.parametrize("run", [by_reference, by_runtime])
@pytest.mark.parametrize("options", [{}, OPTIONS[-1]])
def test_int8_computes_what_rounding_in_torch_computes(
    options: dict[str, str | int], run: Any
) -> None:
    def quantize(network: Any, calibration: np.ndarray) -> Any:
        folded = fold_batch_norm(network)
        ranges = measure_ranges(folded, calibration)
        assert len(ranges) == 4  # two convolutions in each of two blocks
        model = onnx_bytes(folded, ranges)
        return lambda observations: run(model, observations)

    check_int8(quantize, options)


def test_int8_weights_take_a_quarter_of_the_room() -> None:
    network = fold_batch_norm(scrambled())
    layers = [layer for layer in network.tower.modules() if isinstance(layer, torch.nn.Conv2d)]
    tower = sum(layer.weight.numel() for layer in layers)
    saved = len(onnx_bytes(network)) - len(onnx_bytes(network, measure_ranges(network, boards(8))))
    assert 0.7 * 3 * tower < saved < 3 * tower
