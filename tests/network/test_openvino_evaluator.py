"""OpenVINO computes what the network computes."""

import platform
import threading

import numpy as np
import pytest
import torch
from helpers.networks import needs_openvino, scrambled
from torch import nn

from alphazero.config.schema import InferenceConfig, NetworkConfig
from alphazero.errors import ConfigError, RunError
from alphazero.network import backend
from alphazero.network.backend import explain_backend, make_evaluator, resolve_backend
from alphazero.network.openvino_evaluator import OpenVINOEvaluator, OpenVINORunner
from alphazero.network.resnet import ResNet, fold_batch_norm
from alphazero.network.torch_evaluator import TorchEvaluator

OPTIONS = [
    {"value_head": "wdl"},
    {"squeeze_excitation": 5},
    {"global_pooling": 6},
    {"heads": "convolutional"},
    {"heads": "convolutional", "policy_planes": 1},
    {"heads": "convolutional", "policy_planes": 2, "value_head": "wdl", "value_filters": 9},
    {"value_head": "wdl", "squeeze_excitation": 5, "global_pooling": 6},
]


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
@pytest.mark.parametrize("options", [{}, OPTIONS[-2], OPTIONS[-1]])
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


# Int8


def rounded_to(numbers: torch.Tensor, low: torch.Tensor, high: torch.Tensor, steps: int):
    """Return the nearest of `steps` + 1 evenly spaced numbers from `low` to `high`."""
    width = (high - low) / steps
    return torch.round((numbers.clamp(low, high) - low) / width) * width + low


def plain_int8(network: ResNet, calibration: np.ndarray, observations: np.ndarray):
    """The slow twin: the network in torch, each convolution of its tower rounded in words."""
    network = fold_batch_norm(network)
    greatest: dict[nn.Module, torch.Tensor] = {}
    towers = [layer for block in network.tower for layer in (block.first, block.second)]

    def note(layer: nn.Module, inputs: tuple[torch.Tensor]) -> None:
        greatest[layer] = inputs[0].max()

    def rounding(layer: nn.Module, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        return (rounded_to(inputs[0], torch.tensor(0.0), greatest[layer], 255),)

    with torch.no_grad():
        hooks = [layer.register_forward_pre_hook(note) for layer in towers]
        network(torch.from_numpy(calibration))
        for hook in hooks:
            hook.remove()
        for layer in towers:
            layer.register_forward_pre_hook(rounding)
            weight = layer.convolution.weight
            for channel in weight:
                size = channel.abs().max()
                channel.copy_(rounded_to(channel, -size, size, 254))
        logits, values = network(torch.from_numpy(observations))
    return logits.numpy(), values.numpy()


@needs_openvino
@pytest.mark.parametrize("options", [{}, OPTIONS[-2]])
def test_int8_computes_what_rounding_in_torch_computes(options: dict[str, str | int]) -> None:
    network, calibration, observations = scrambled(**options), boards(200), boards(300)[200:]
    evaluator = OpenVINOEvaluator(network, "float32")
    exact = evaluator.evaluate(observations)
    logits, values = evaluator.quantized(calibration).evaluate(observations)
    plain_logits, plain_values = plain_int8(network, calibration, observations)
    # A number on the edge between two levels may fall to either side; other levels or ranges
    # would be as far away as the exact answers are.
    assert np.abs(logits - plain_logits).mean() < 0.1 * np.abs(logits - exact[0]).mean()
    assert np.abs(values - plain_values).mean() < 0.1 * np.abs(values - exact[1]).mean()


@needs_openvino
def test_int8_stays_close_on_positions_like_those_it_was_calibrated_on() -> None:
    network, observations = scrambled(), boards(300)
    exact = TorchEvaluator(network, precision="float32").evaluate(observations)
    for precision in ("float32", "bfloat16"):
        evaluator = OpenVINOEvaluator(network, precision).quantized(observations[:200])
        assert evaluator.precision == f"int8 and {precision}"
        rounded = evaluator.evaluate(observations)
        assert np.abs(rounded[0] - exact[0]).max() < 0.05 * exact[0].std() + 0.02
        assert np.abs(rounded[1] - exact[1]).max() < 0.05


@needs_openvino
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="kernels of x86")
def test_the_tower_is_compiled_to_int8_and_nothing_else() -> None:
    evaluator = OpenVINOEvaluator(scrambled(), "float32").quantized(boards(8))
    evaluator.evaluate(boards(8))
    (batch,) = evaluator._idle[8]
    assert isinstance(batch, OpenVINORunner)
    kinds = [
        str(each.get_rt_info()["runtimePrecision"].astype(str))
        for each in batch.request.get_compiled_model().get_runtime_model().get_ops()
        if each.get_rt_info()["layerType"].astype(str) == "Convolution"
    ]
    tower, others = 2 * 2, 1 + 2
    assert sorted(kinds) == ["f32"] * others + ["u8"] * tower


@needs_openvino
def test_the_evaluator_that_was_rounded_from_answers_as_before() -> None:
    observations = boards(8)
    evaluator = OpenVINOEvaluator(scrambled(), "float32")
    before = evaluator.evaluate(observations)
    rounded = evaluator.quantized(observations).evaluate(observations)
    for old, new, other in zip(before, evaluator.evaluate(observations), rounded, strict=True):
        np.testing.assert_array_equal(old, new)
        assert (old != other).any()


@needs_openvino
def test_an_untrained_network_whose_blocks_are_all_zeros_can_be_rounded() -> None:
    network = ResNet((3, 6, 7), 7, NetworkConfig(blocks=2, filters=16, value_hidden=8), 1)
    evaluator = OpenVINOEvaluator(network, "float32")
    exact = evaluator.evaluate(boards(8))
    rounded = evaluator.quantized(boards(8)).evaluate(boards(8))
    for expected, received in zip(exact, rounded, strict=True):
        np.testing.assert_allclose(received, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("chosen", "device", "installed", "told"),
    [
        ("auto", "cpu", False, "torch on the CPU, in self-play too: int8 is computed by OpenVINO"),
        ("torch", "cpu", True, "torch on the CPU, in self-play too: int8 is computed by OpenVINO"),
        ("auto", "cuda", True, "torch on cuda, in self-play too: int8 is computed by OpenVINO"),
    ],
)
def test_int8_where_openvino_does_not_compute_is_left_out_and_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, chosen: str, device: str, installed: bool, told: str
) -> None:
    monkeypatch.setattr(backend, "openvino_is_installed", lambda: installed)
    monkeypatch.setattr(backend, "resolve_device", lambda _: device)
    line = explain_backend(InferenceConfig(backend=chosen, selfplay_precision="int8"))
    assert line.startswith(f"positions are evaluated by {told}")
    assert ("pip install" in line) == (chosen == "auto" and device == "cpu")
    assert "\n" not in line


@needs_openvino
def test_int8_in_self_play_is_told() -> None:
    line = explain_backend(InferenceConfig(device="cpu", selfplay_precision="int8"))
    assert line == "positions are evaluated by OpenVINO on the CPU, in self-play in int8"
