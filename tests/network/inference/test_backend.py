"""The backend is the fastest one that is installed, unless a key or a variable names another."""

from dataclasses import replace

import pytest
from helpers.networks import needs_onnx, needs_openvino, scrambled

from alphazero.config.schema import InferenceConfig
from alphazero.errors import ConfigError
from alphazero.network.inference import backend
from alphazero.network.inference.backend import explain_backend, make_evaluator, resolve_backend
from alphazero.network.inference.onnx_evaluator import OnnxEvaluator
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.inference.torch_evaluator import TorchEvaluator

ON_CPU = InferenceConfig(device="cpu", selfplay_precision="same")


@pytest.fixture(autouse=True)
def no_variable(monkeypatch) -> None:
    monkeypatch.delenv("ALPHAZERO_BACKEND", raising=False)


def install(monkeypatch: pytest.MonkeyPatch, openvino: bool = False, onnx: bool = False) -> None:
    monkeypatch.setattr(backend, "openvino_is_installed", lambda: openvino)
    monkeypatch.setattr(backend, "onnx_is_installed", lambda: onnx)


@pytest.mark.parametrize(
    ("openvino", "onnx", "precision", "expected"),
    [
        (True, True, "auto", "openvino"),
        (False, True, "auto", "onnxruntime"),
        (False, False, "auto", "torch"),
        (False, True, "bfloat16", "torch"),
    ],
)
def test_the_first_that_is_installed_serves(
    monkeypatch, openvino: bool, onnx: bool, precision: str, expected: str
):
    install(monkeypatch, openvino, onnx)
    settings = InferenceConfig(device="cpu", precision=precision)
    assert resolve_backend(settings) == expected
    monkeypatch.setattr(backend, "resolve_device", lambda _: "cuda")
    assert resolve_backend(settings) == "torch"


def test_without_openvino_and_onnx_torch_serves_and_one_line_says_so(monkeypatch):
    install(monkeypatch)
    assert isinstance(make_evaluator(scrambled(), ON_CPU), TorchEvaluator)
    line = explain_backend(ON_CPU)
    assert line.startswith("positions are evaluated by torch on the CPU; ")
    assert "pip install 'alphazero[openvino]', or 'alphazero[onnx]'" in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("name", "product"), [("openvino", "OpenVINO"), ("onnxruntime", "ONNX Run")]
)
def test_a_backend_that_is_not_installed_is_refused(monkeypatch, name: str, product: str):
    install(monkeypatch)
    with pytest.raises(ConfigError, match=f"^inference.backend: {product}.* is not installed; use"):
        resolve_backend(replace(ON_CPU, backend=name))
    monkeypatch.setenv("ALPHAZERO_BACKEND", name)
    with pytest.raises(ConfigError, match=f"^ALPHAZERO_BACKEND: {product}.* is not installed; use"):
        resolve_backend(ON_CPU)


def test_onnx_runtime_refuses_bfloat16_and_other_devices(monkeypatch):
    install(monkeypatch, onnx=True)
    with pytest.raises(ConfigError, match="ONNX Runtime computes in float32 only; use"):
        resolve_backend(InferenceConfig("onnxruntime", device="cpu", precision="bfloat16"))
    monkeypatch.setattr(backend, "resolve_device", lambda _: "cuda")
    with pytest.raises(ConfigError, match="ONNX Runtime computes on CPUs only"):
        resolve_backend(InferenceConfig("onnxruntime"))


@needs_onnx
@needs_openvino
@pytest.mark.parametrize(
    ("name", "kind", "description"),
    [
        ("openvino", OpenVINOEvaluator, "OpenVINO"),
        ("onnxruntime", OnnxEvaluator, "ONNX Runtime"),
        ("torch", TorchEvaluator, "torch"),
    ],
)
@pytest.mark.parametrize("configured", ["auto", "torch", "openvino"])
def test_the_variable_overrides_the_configuration(
    monkeypatch, name: str, kind: type, description: str, configured: str
):
    monkeypatch.setenv("ALPHAZERO_BACKEND", name)
    settings = replace(ON_CPU, backend=configured)
    assert type(make_evaluator(scrambled(), settings)) is kind
    assert explain_backend(settings) == f"positions are evaluated by {description} on the CPU"


def test_an_unknown_name_in_the_variable_is_one_clear_line(monkeypatch):
    monkeypatch.setenv("ALPHAZERO_BACKEND", "tensorrt")
    expected = "^ALPHAZERO_BACKEND: unknown backend 'tensorrt'; expected one of auto, torch, openv"
    with pytest.raises(ConfigError, match=expected):
        resolve_backend(ON_CPU)


@pytest.mark.parametrize(
    ("configured", "device", "openvino", "onnx", "description"),
    [
        ("auto", "cpu", False, False, "torch on the CPU"),
        ("auto", "cpu", False, True, "ONNX Runtime on the CPU"),
        ("torch", "cpu", True, True, "torch on the CPU"),
        ("auto", "cuda", True, True, "torch on cuda"),
    ],
)
def test_int8_without_openvino_is_left_out_and_reported_in_one_line(
    monkeypatch, configured: str, device: str, openvino: bool, onnx: bool, description: str
):
    install(monkeypatch, openvino, onnx)
    monkeypatch.setattr(backend, "resolve_device", lambda _: device)
    line = explain_backend(InferenceConfig(backend=configured, selfplay_precision="int8"))
    expected = (
        f"positions are evaluated by {description}, in self-play too: int8 is computed by OpenVINO"
    )
    assert line.startswith(expected)
    assert ("pip install" in line) == (not openvino and not onnx)
    assert "\n" not in line


@needs_openvino
def test_int8_in_self_play_is_reported():
    line = explain_backend(InferenceConfig(device="cpu", selfplay_precision="int8"))
    assert line == "positions are evaluated by OpenVINO on the CPU, in self-play in int8"
