"""ONNX Runtime computes what the network computes."""

import numpy as np
import pytest
import torch
from helpers.networks import (
    OPTIONS,
    boards,
    check_later_training_is_not_seen,
    check_threads_get_their_own_answers,
    needs_onnx,
    scrambled,
)

from alphazero.errors import ConfigError, RunError
from alphazero.network.inference import onnx_graph
from alphazero.network.inference.onnx_evaluator import OnnxEvaluator

pytestmark = needs_onnx


@pytest.mark.parametrize("count", [0, 1, 3, 130])
@pytest.mark.parametrize("options", [{}, OPTIONS[-1]])
def test_answers_agree_with_the_plain_network(count: int, options: dict[str, str | int]) -> None:
    network, observations = scrambled(**options), boards(count)
    with torch.no_grad():
        logits, values = network(torch.from_numpy(observations))
    evaluated = OnnxEvaluator(network).evaluate(observations)
    np.testing.assert_allclose(evaluated[0], logits.numpy(), atol=1e-4)
    np.testing.assert_allclose(evaluated[1], values.numpy(), atol=1e-4)
    assert [array.dtype for array in evaluated] == [np.float32, np.float32]


def test_later_training_is_not_seen() -> None:
    network = scrambled()
    check_later_training_is_not_seen(network, OnnxEvaluator(network), boards(4))


def test_threads_at_once_get_their_own_answers() -> None:
    check_threads_get_their_own_answers(OnnxEvaluator(scrambled()))


def test_a_network_that_answers_nan_is_reported() -> None:
    network = scrambled()
    with torch.no_grad():
        network.policy_output.bias.fill_(float("nan"))
    with pytest.raises(RunError, match="NaN or infinity for 2 of 2 positions"):
        OnnxEvaluator(network).evaluate(boards(2))


def test_without_onnx_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_graph, "find_spec", lambda _: None)
    with pytest.raises(ConfigError, match=r"pip install 'alphazero\[onnx\]'"):
        OnnxEvaluator(scrambled())
