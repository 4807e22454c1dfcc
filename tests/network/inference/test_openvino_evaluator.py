"""OpenVINO sends nothing, and computes in bfloat16 and int8 nearly what the network computes."""

import os
import platform

import numpy as np
import pytest
from helpers.networks import (
    OPTIONS,
    SETTINGS,
    boards,
    check_close,
    exact,
    int8_twin,
    needs_openvino,
    scrambled,
)
from helpers.paths import ROOT, TESTS
from helpers.processes import run_python

from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.resnet import ResNet

pytestmark = needs_openvino


def test_its_telemetry_sends_nothing(monkeypatch):
    """OpenVINO reports its import, though not where continuous integration names itself."""
    code = """
import sys
from helpers.networks import boards, scrambled
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
OpenVINOEvaluator(scrambled(), "float32").evaluate(boards(1))
assert "openvino.tools.ovc" in sys.modules
print([name for name in sys.modules if sys.modules[name] and name.startswith("openvino_tel")])
"""
    monkeypatch.delenv("CI", raising=False)
    path = os.pathsep.join(map(str, (ROOT, TESTS)))
    assert run_python("-c", code, PYTHONPATH=path) == "[]\n"


@pytest.mark.parametrize("options", [{}, OPTIONS[-1]])
def test_int8_computes_what_rounding_in_torch_computes(options: dict[str, str | int]):
    """Compare a rounded network with its slow twin, and a rounded untrained one with itself.

    Differences are in units of the mean effect of rounding. Sums in float32 err by 0.001 of it. A
    position differs more if one of its 2,700 rounded numbers lies on the edge between two levels,
    or if a sum of two products exceeds 16 bits where the processor has no VNNI: one in ten to one
    in three. Ranges that are wrong by 1 % change nearly all positions by 1 and more.
    """
    network, calibration, observations = scrambled(**options), boards(200), boards(300)[200:]
    evaluator = OpenVINOEvaluator(network, "float32").quantized(calibration)
    rounded, unrounded = evaluator.evaluate(observations), exact(network, observations)
    differences = np.zeros(len(observations))
    twin = int8_twin(network, calibration, observations)
    for ours, theirs, other in zip(rounded, twin, unrounded, strict=True):
        distances = np.abs(ours - theirs).reshape(len(ours), -1).max(axis=1)
        differences = np.maximum(differences, distances / np.abs(theirs - other).mean())
    assert np.quantile(differences, 0.4) < 0.01
    assert differences.mean() < 2
    untrained = ResNet((3, 6, 7), 7, SETTINGS, 1).eval()  # the weights of its blocks are all zeros
    evaluator = OpenVINOEvaluator(untrained, "float32").quantized(boards(8))
    check_close(evaluator.evaluate(boards(8)), exact(untrained, boards(8)))


def test_int8_stays_close_on_positions_like_those_it_was_calibrated_on():
    network, observations = scrambled(), boards(300)
    logits, values = exact(network, observations)
    for precision in ("float32", "bfloat16"):
        evaluator = OpenVINOEvaluator(network, precision).quantized(observations[:200])
        assert evaluator.precision == f"int8 and {precision}"
        rounded = evaluator.evaluate(observations)
        assert np.abs(rounded[0] - logits).max() < 0.05 * logits.std() + 0.02
        assert np.abs(rounded[1] - values).max() < 0.05


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
