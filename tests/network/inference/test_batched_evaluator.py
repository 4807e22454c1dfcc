"""Every evaluator computes what the network computes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from helpers.networks import (
    OPTIONS,
    boards,
    check_close,
    exact,
    needs_onnx,
    needs_openvino,
    scrambled,
    strengthen_pooling,
)

from alphazero.config.schema import InferenceConfig
from alphazero.network.inference.backend import make_evaluator
from alphazero.network.inference.batched_evaluator import BatchedEvaluator, rows_in_match
from alphazero.network.resnet import ResNet

each_backend = pytest.mark.parametrize(
    "backend",
    [
        "torch",
        pytest.param("openvino", marks=needs_openvino),
        pytest.param("onnxruntime", marks=needs_onnx),
    ],
)


@pytest.fixture(autouse=True)
def no_variable(monkeypatch) -> None:
    monkeypatch.delenv("ALPHAZERO_BACKEND", raising=False)


def evaluator_of(network: ResNet, backend: str) -> BatchedEvaluator:
    return make_evaluator(network, InferenceConfig(backend, "cpu", "float32"))


@each_backend
@pytest.mark.parametrize("options", [{}, *OPTIONS])
def test_answers_agree_with_the_network(backend: str, options: dict[str, str | int]):
    network, observations = scrambled(**options), boards(130)
    strengthen_pooling(network)
    expected, evaluator = exact(network, observations), evaluator_of(network, backend)
    assert (evaluator.device, evaluator.precision) == ("cpu", "float32")
    for count in (0, 1, 3, 64, 130, 5):
        answers = evaluator.evaluate(observations[:count])
        assert all(answer.dtype == np.float32 and answer.flags.c_contiguous for answer in answers)
        check_close(answers, [output[:count] for output in expected])


@each_backend
def test_later_training_is_not_seen(backend: str):
    network, observations = scrambled(), boards(4)
    evaluator = evaluator_of(network, backend)
    before = evaluator.evaluate(observations)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(1)
    for old, new in zip(before, evaluator.evaluate(observations), strict=True):
        np.testing.assert_array_equal(old, new)


@each_backend
def test_threads_at_once_get_their_own_answers(backend: str):
    evaluator = evaluator_of(scrambled(), backend)
    batches = [boards(8) * scale for scale in (0.5, 1, 2, 3)]
    alone = [evaluator.evaluate(batch)[0] for batch in batches]

    def work(batch: np.ndarray) -> np.ndarray:
        return [evaluator.evaluate(batch)[0] for _ in range(30)][-1]

    with ThreadPoolExecutor(4) as pool:
        np.testing.assert_array_equal(list(pool.map(work, batches)), alone)


def test_a_batch_of_a_match_is_always_full_except_on_a_gpu_where_padding_is_free():
    evaluator = evaluator_of(scrambled(), "torch")
    assert [rows_in_match(games, evaluator) for games in (1, 20, 40, 256)] == [1, 4, 8, 96]
    evaluator.device = "cuda"
    assert [rows_in_match(games, evaluator) for games in (1, 20, 40, 256)] == [1, 20, 40, 256]
