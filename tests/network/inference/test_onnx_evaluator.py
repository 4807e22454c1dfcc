"""The ONNX model computes what the network computes, also where another program runs it."""

from typing import Any

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

from alphazero.network.inference.onnx_evaluator import onnx_bytes, open_session
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
def test_each_option_is_computed_as_by_the_network(options: dict[str, str | int]):
    network = scrambled(**options)
    strengthen_pooling(network)
    model = onnx_bytes(fold_batch_norm(network))
    for run in (by_reference, by_runtime):
        check_close(run(model, boards(3)), exact(network, boards(3)))


def test_one_file_serves_every_batch_size():
    model = onnx_bytes(fold_batch_norm(scrambled()))
    whole = by_runtime(model, boards(9))
    for count in (1, 4):
        logits, values = by_runtime(model, boards(9)[:count])
        assert (logits.shape, values.shape) == ((count, 7), (count,))
        check_close((logits, values), [output[:count] for output in whole], 1e-5)
