"""The ONNX model computes what the network computes, also where another program runs it."""

import numpy as np
import pytest
from helpers.networks import (
    OPTIONS,
    Outputs,
    boards,
    check_close,
    exact,
    needs_onnx,
    scrambled,
    strengthen_pooling,
)

from alphazero.network.inference.onnx_evaluator import onnx_bytes
from alphazero.network.resnet import fold_batch_norm

pytestmark = needs_onnx


def by_reference(model: bytes, observations: np.ndarray) -> Outputs:
    """Return the outputs by the reference of the ONNX standard, written in numpy."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(onnx.load_from_string(model))
    return evaluator.run(None, {"observations": observations})  # type: ignore[return-value]


@pytest.mark.parametrize("options", [{}, *OPTIONS])
def test_each_option_is_computed_as_by_the_network(options: dict[str, str | int]):
    network = scrambled(**options)
    strengthen_pooling(network)
    model = onnx_bytes(fold_batch_norm(network))
    check_close(by_reference(model, boards(3)), exact(network, boards(3)))
