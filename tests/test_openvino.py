"""OpenVINO computes what the network computes."""

import threading
from dataclasses import replace

import numpy as np
import pytest
import torch

from alphazero.config import InferenceConfig, NetworkConfig
from alphazero.errors import ConfigError, RunError
from alphazero.network import backend
from alphazero.network.backend import explain_backend, make_evaluator, resolve_backend
from alphazero.network.inference import TorchEvaluator
from alphazero.network.openvino_evaluator import OpenVINOEvaluator, openvino_is_installed
from alphazero.network.resnet import ResNet

needs_openvino = pytest.mark.skipif(not openvino_is_installed(), reason="OpenVINO not installed")


SETTINGS = NetworkConfig(blocks=2, filters=16, value_hidden=8)
OPTIONS = [
    {"value_head": "wdl"},
    {"squeeze_excitation": 5},
    {"global_pooling": 6},
    {"value_head": "wdl", "squeeze_excitation": 5, "global_pooling": 6},
]


def scrambled(**options: str | int) -> ResNet:
    """Return a network with weights and statistics that a trained one might have."""
    network = ResNet((3, 6, 7), 7, replace(SETTINGS, **options), 1)
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if tensor.is_floating_point():
                noise = torch.randn(tensor.shape, generator=generator) * 0.1
                tensor.add_(noise.abs() if name.endswith("running_var") else noise)
    return network.eval()


def boards(count: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    return (rng.random((count, 3, 6, 7)) < 0.4).astype(np.float32)


@needs_openvino
@pytest.mark.parametrize("count", [0, 1, 3, 64, 130])
def test_answers_agree_with_the_plain_network(count: int) -> None:
    network, observations = scrambled(), boards(count)
    with torch.no_grad():
        logits, values = network(torch.from_numpy(observations))
    evaluated = OpenVINOEvaluator(network, "float32").evaluate(observations)
    np.testing.assert_allclose(evaluated[0], logits.numpy(), atol=1e-4)
    np.testing.assert_allclose(evaluated[1], values.numpy(), atol=1e-4)
    assert [array.dtype for array in evaluated] == [np.float32, np.float32]


@needs_openvino
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("count", [1, 5])
def test_each_option_is_computed_as_by_the_plain_network(
    options: dict[str, str | int], count: int
) -> None:
    network, observations = scrambled(**options), boards(count)
    with torch.no_grad():
        # Far from their start, so that what is compared counts.
        for part in network.tower.modules():
            if isinstance(part, torch.nn.Linear):
                part.weight.mul_(10)
        logits, values = network(torch.from_numpy(observations))
    evaluated = OpenVINOEvaluator(network, "float32").evaluate(observations)
    np.testing.assert_allclose(evaluated[0], logits.numpy(), atol=1e-4)
    np.testing.assert_allclose(evaluated[1], values.numpy(), atol=1e-4)


@needs_openvino
@pytest.mark.parametrize("options", [{}, OPTIONS[-1]])
def test_bfloat16_stays_close(options: dict[str, str | int]) -> None:
    network, observations = scrambled(**options), boards(64)
    exact = TorchEvaluator(network, precision="float32").evaluate(observations)
    rounded = OpenVINOEvaluator(network, "bfloat16").evaluate(observations)
    assert np.abs(rounded[0] - exact[0]).max() < 0.05 * exact[0].std() + 0.02
    assert np.abs(rounded[1] - exact[1]).max() < 0.05


@needs_openvino
def test_later_training_is_not_seen() -> None:
    network, observations = scrambled(), boards(4)
    evaluator = OpenVINOEvaluator(network, "float32")
    before = evaluator.evaluate(observations)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(1)
    for old, new in zip(before, evaluator.evaluate(observations), strict=True):
        np.testing.assert_array_equal(old, new)


@needs_openvino
def test_threads_at_once_get_their_own_answers() -> None:
    evaluator = OpenVINOEvaluator(scrambled(), "float32")
    batches = [boards(8) * scale for scale in (0.5, 1, 2, 3)]
    alone = [evaluator.evaluate(batch)[0] for batch in batches]
    together: dict[int, np.ndarray] = {}

    def work(index: int) -> None:
        for _ in range(30):
            together[index] = evaluator.evaluate(batches[index])[0]

    threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index, answer in enumerate(alone):
        np.testing.assert_array_equal(together[index], answer)


@needs_openvino
def test_a_network_that_answers_nan_is_told() -> None:
    network = scrambled()
    with torch.no_grad():
        network.policy_output.bias.fill_(float("nan"))
    with pytest.raises(RunError, match="NaN or infinity for 2 of 2 positions"):
        OpenVINOEvaluator(network, "float32").evaluate(boards(2))


@needs_openvino
def test_wrong_shapes_are_shown() -> None:
    with pytest.raises(ValueError, match=r"expected observations \[B, C=3, H=6, W=7\], received"):
        OpenVINOEvaluator(scrambled(), "float32").evaluate(np.zeros((1, 2, 6, 7), np.float32))


def test_without_openvino_torch_serves_and_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backend, "openvino_is_installed", lambda: False)
    settings = InferenceConfig(device="cpu")
    assert resolve_backend(settings) == "torch"
    assert isinstance(make_evaluator(scrambled(), settings), TorchEvaluator)
    line = explain_backend(settings)
    assert "pip install 'alphazero[openvino]'" in line
    assert "\n" not in line
    with pytest.raises(ConfigError, match="OpenVINO is not installed"):
        resolve_backend(InferenceConfig(device="cpu", backend="openvino"))


@needs_openvino
def test_with_openvino_it_is_chosen_on_a_cpu() -> None:
    assert resolve_backend(InferenceConfig(device="cpu")) == "openvino"
    assert isinstance(make_evaluator(scrambled(), InferenceConfig(device="cpu")), OpenVINOEvaluator)
    assert resolve_backend(InferenceConfig(device="cpu", backend="torch")) == "torch"
