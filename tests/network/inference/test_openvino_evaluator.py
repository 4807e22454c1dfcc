"""OpenVINO sends nothing, and computes in bfloat16 and int8 nearly what the network computes."""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest
from helpers.networks import OPTIONS, boards, needs_openvino, plain_int8, scrambled
from helpers.paths import ROOT, TESTS

from alphazero.config.schema import NetworkConfig
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator, OpenVINORunner
from alphazero.network.inference.torch_evaluator import TorchEvaluator
from alphazero.network.resnet import ResNet

pytestmark = needs_openvino


def test_its_telemetry_sends_nothing() -> None:
    """OpenVINO reports its import, though not where continuous integration names itself."""
    code = """
import sys
from helpers.networks import boards, scrambled
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
OpenVINOEvaluator(scrambled(), "float32").evaluate(boards(1))
assert "openvino.tools.ovc" in sys.modules
print([name for name in sys.modules if sys.modules[name] and name.startswith("openvino_tel")])
"""
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT, TESTS)))
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("options", [{}, OPTIONS[0], OPTIONS[-1]])
def test_bfloat16_stays_close(options: dict[str, str | int]) -> None:
    network, observations = scrambled(**options), boards(64)
    exact = TorchEvaluator(network, precision="float32").evaluate(observations)
    rounded = OpenVINOEvaluator(network, "bfloat16").evaluate(observations)
    assert np.abs(rounded[0] - exact[0]).max() < 0.05 * exact[0].std() + 0.02
    assert np.abs(rounded[1] - exact[1]).max() < 0.05


@pytest.mark.parametrize("options", [{}, OPTIONS[-1]])
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


def test_int8_stays_close_on_positions_like_those_it_was_calibrated_on() -> None:
    network, observations = scrambled(), boards(300)
    exact = TorchEvaluator(network, precision="float32").evaluate(observations)
    for precision in ("float32", "bfloat16"):
        evaluator = OpenVINOEvaluator(network, precision).quantized(observations[:200])
        assert evaluator.precision == f"int8 and {precision}"
        rounded = evaluator.evaluate(observations)
        assert np.abs(rounded[0] - exact[0]).max() < 0.05 * exact[0].std() + 0.02
        assert np.abs(rounded[1] - exact[1]).max() < 0.05


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


def test_the_evaluator_that_was_rounded_from_answers_as_before() -> None:
    observations = boards(8)
    evaluator = OpenVINOEvaluator(scrambled(), "float32")
    before = evaluator.evaluate(observations)
    rounded = evaluator.quantized(observations).evaluate(observations)
    for old, new, other in zip(before, evaluator.evaluate(observations), rounded, strict=True):
        np.testing.assert_array_equal(old, new)
        assert (old != other).any()


def test_an_untrained_network_whose_blocks_are_all_zeros_can_be_rounded() -> None:
    network = ResNet((3, 6, 7), 7, NetworkConfig(blocks=2, filters=16, value_hidden=8), 1)
    evaluator = OpenVINOEvaluator(network, "float32")
    exact = evaluator.evaluate(boards(8))
    rounded = evaluator.quantized(boards(8)).evaluate(boards(8))
    for expected, received in zip(exact, rounded, strict=True):
        np.testing.assert_allclose(received, expected, atol=1e-4)
