"""Margins beside values: each backend computes what `predict` says of the head `margin`."""

import numpy as np
import pytest
import torch
from helpers.networks import boards, needs_onnx, needs_openvino, scrambled

from alphazero.config.schema import InferenceConfig
from alphazero.errors import RunError
from alphazero.network.inference.backend import make_evaluator
from alphazero.network.inference.batched_evaluator import BatchedEvaluator, rows_in_match
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.resnet import ResNet

OPENVINO = pytest.param("openvino", marks=needs_openvino)
BACKENDS = ["torch", OPENVINO, pytest.param("onnxruntime", marks=needs_onnx)]


def evaluator_of(network: ResNet, backend: str) -> BatchedEvaluator:
    settings = InferenceConfig(device="cpu", precision="float32", backend=backend)
    return make_evaluator(network, settings)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("count", [0, 1, 3, 40])
def test_margins_stand_beside_the_values(backend: str, count: int) -> None:
    for options in ({"global_pooling": 6}, {"heads": "convolutional"}):
        network = scrambled(auxiliary=("short_term_value", "margin"), **options)
        evaluator = evaluator_of(network, backend)
        logits, values = evaluator.evaluate(boards(count))
        both = evaluator.with_margins()
        assert both is evaluator.with_margins()
        logits_again, values_and_margins = both.evaluate(boards(count))
        assert values_and_margins.shape == (count, 2)
        assert values_and_margins.dtype == np.float32
        assert values.shape == (count,)
        np.testing.assert_allclose(logits_again, logits, atol=1e-5)
        np.testing.assert_allclose(values_and_margins[:, 0], values, atol=1e-5)
        if count:
            margins = evaluator.predict(boards(count)).margin
            np.testing.assert_allclose(values_and_margins[:, 1], margins, atol=1e-4)
            assert evaluator.evaluate(boards(count))[1].shape == (count,), "as before"


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_margin_that_is_no_number_is_reported(backend: str) -> None:
    network = scrambled(auxiliary=("margin",))
    with torch.no_grad():
        network.auxiliary["margin"].output.bias[0] = torch.nan
    evaluator = evaluator_of(network, backend)
    evaluator.evaluate(boards(3))
    with pytest.raises(RunError, match="NaN or infinity for 3 of 3 positions"):
        evaluator.with_margins().evaluate(boards(3))


@needs_openvino
def test_int8_has_margins_too() -> None:
    exact = OpenVINOEvaluator(scrambled(auxiliary=("margin",)), "float32")
    _, expected = exact.with_margins().evaluate(boards(60))
    rounded = exact.quantized(boards(60))
    _, values = rounded.evaluate(boards(60))
    _, found = rounded.with_margins().evaluate(boards(60))
    np.testing.assert_allclose(found[:, 0], values, atol=1e-5)
    assert np.abs(found - expected).max(axis=0) == pytest.approx([0, 0], abs=0.1)
    assert (found != expected).any()


def test_a_batch_of_a_match_is_always_full_except_on_a_gpu_where_padding_is_free() -> None:
    evaluator = evaluator_of(scrambled(), "torch")
    assert [rows_in_match(games, evaluator) for games in (1, 20, 40, 256)] == [1, 4, 8, 96]
    evaluator.device = "cuda"
    assert [rows_in_match(games, evaluator) for games in (1, 20, 40, 256)] == [1, 20, 40, 256]
