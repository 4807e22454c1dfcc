"""OpenVINO sends nothing, and computes in bfloat16 and int8 nearly what the network computes."""

import os
import platform
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from helpers.networks import OPTIONS, Outputs, boards, check_int8, exact, needs_openvino, scrambled
from helpers.paths import ROOT, TESTS

from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.resnet import ResNet

pytestmark = needs_openvino


def test_its_telemetry_sends_nothing():
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


def check_near(rounded: Outputs, network: ResNet, observations: np.ndarray) -> None:
    logits, values = exact(network, observations)
    assert np.abs(rounded[0] - logits).max() < 0.05 * logits.std() + 0.02
    assert np.abs(rounded[1] - values).max() < 0.05


@pytest.mark.parametrize("options", [{}, OPTIONS[0], OPTIONS[-1]])
def test_bfloat16_stays_close(options: dict[str, str | int]):
    network, observations = scrambled(**options), boards(64)
    check_near(OpenVINOEvaluator(network, "bfloat16").evaluate(observations), network, observations)


@pytest.mark.parametrize("options", [{}, OPTIONS[-1]])
def test_int8_computes_what_rounding_in_torch_computes(options: dict[str, str | int]):
    def quantize(network: ResNet, calibration: np.ndarray) -> Any:
        return OpenVINOEvaluator(network, "float32").quantized(calibration).evaluate

    check_int8(quantize, options)


def test_int8_stays_close_on_positions_like_those_it_was_calibrated_on():
    network, observations = scrambled(), boards(300)
    for precision in ("float32", "bfloat16"):
        evaluator = OpenVINOEvaluator(network, precision).quantized(observations[:200])
        assert evaluator.precision == f"int8 and {precision}"
        check_near(evaluator.evaluate(observations), network, observations)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="kernels of x86")
def test_the_tower_is_compiled_to_int8_and_nothing_else():
    evaluator = OpenVINOEvaluator(scrambled(), "float32").quantized(boards(8))
    layers = evaluator.compile(8).get_runtime_model().get_ops()
    kinds = [
        str(layer.get_rt_info()["runtimePrecision"].astype(str))
        for layer in layers
        if layer.get_rt_info()["layerType"].astype(str) == "Convolution"
    ]
    tower, others = 2 * 2, 1 + 2
    assert sorted(kinds) == ["f32"] * others + ["u8"] * tower


def test_the_evaluator_that_was_rounded_from_answers_as_before():
    observations = boards(8)
    evaluator = OpenVINOEvaluator(scrambled(), "float32")
    before = evaluator.evaluate(observations)
    rounded = evaluator.quantized(observations).evaluate(observations)
    for old, new, other in zip(before, evaluator.evaluate(observations), rounded, strict=True):
        np.testing.assert_array_equal(old, new)
        assert (old != other).any()
