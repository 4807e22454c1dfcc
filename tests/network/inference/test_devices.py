"""Devices by torch's word, and the self-check that admits them."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from helpers.runs.tiny_run import YAML

from alphazero.cli.main import main
from alphazero.errors import ConfigError
from alphazero.network.inference import device_check, devices
from alphazero.network.inference.device_check import self_check
from alphazero.network.inference.devices import (
    ACCELERATORS,
    available_devices,
    resolve_device,
    resolve_precision,
)
from alphazero.utils.arrays import Float32Array

Results = dict[str, Float32Array]


@pytest.fixture(autouse=True)
def forget_checks() -> Iterator[None]:
    """Check devices anew: the results are kept for a process."""
    for cached in (devices._best_device, self_check):
        cached.cache_clear()
    yield
    for cached in (devices._best_device, self_check):
        cached.cache_clear()


@pytest.fixture
def torch_says_mps(monkeypatch) -> None:
    """Make torch say that it has Apple's GPU, and no other."""
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.xpu, "is_available", lambda: False)


def compute_mps_by(monkeypatch: pytest.MonkeyPatch, harm: Callable[[Results], Results]) -> None:
    """Make mps compute what the CPU computes, changed by `harm`."""
    compute = device_check._compute

    def fake(device: torch.device) -> Results:
        exact = compute(torch.device("cpu"))
        return exact if device.type == "cpu" else harm(exact)

    monkeypatch.setattr(device_check, "_compute", fake)


def test_auto_takes_what_the_machine_does_well(monkeypatch):
    assert available_devices()[-1] == "cpu"
    assert resolve_device("auto") == available_devices()[0]
    questions = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    for answer, precision in ((True, "bfloat16"), (False, "float32")):
        for question in questions:
            monkeypatch.setattr(torch.cpu, question, lambda answer=answer: answer, raising=False)
        assert resolve_precision("auto", "cpu") == precision
    for question in questions:
        monkeypatch.delattr(torch.cpu, question)
    assert resolve_precision("auto", "cpu") == "float32"
    assert resolve_precision("auto", "mps") == "float32"


def test_unknown_devices_and_precisions_are_refused():
    for device in ("gpu", "meta", "cuda:99", ""):
        with pytest.raises(ConfigError, match=r"has here: .*cpu; use 'auto' or 'cpu'"):
            resolve_device(device)
    with pytest.raises(ConfigError, match="'half'; expected one of 'auto', 'float32', 'bfloat16'"):
        resolve_precision("half", "cpu")


@pytest.mark.usefixtures("torch_says_mps")
def test_auto_takes_a_device_that_computes_as_the_cpu(monkeypatch, capsys):
    compute_mps_by(monkeypatch, lambda exact: exact)
    assert resolve_device("auto") == "mps"
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("torch_says_mps")
@pytest.mark.parametrize("part", ["policies", "values", "gradients"])
@pytest.mark.parametrize(
    "harm",
    [
        lambda numbers: numbers * 0,
        lambda numbers: numbers * np.nan,
        lambda numbers: np.roll(numbers, 1, 0),
        lambda numbers: numbers * np.float32(1.05),
    ],
    ids=["zeros", "NaN", "another place's", "5 % too much"],
)
def test_the_cpu_serves_where_a_device_computes_wrongly(
    monkeypatch, capsys, part: str, harm: Callable[[Float32Array], Float32Array]
):
    compute_mps_by(monkeypatch, lambda exact: {**exact, part: harm(exact[part])})
    assert resolve_device("auto") == resolve_device("auto") == "cpu"
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("mps is not used, it fails its self-check: policies by ")


@pytest.mark.usefixtures("torch_says_mps")
def test_a_device_asked_for_by_name_that_computes_wrongly_is_an_error(monkeypatch):
    compute_mps_by(monkeypatch, lambda exact: {**exact, "gradients": -exact["gradients"]})
    monkeypatch.setattr(devices, "_exists", lambda _: True)
    with pytest.raises(ConfigError, match=r"'mps' fails its self-check: .*gradients by 200\.0"):
        resolve_device("mps")


def test_the_check_leaves_random_numbers_alone_and_passes_the_cpu():
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    assert not self_check("cpu").fault
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.usefixtures("torch_says_mps")
@pytest.mark.skipif(torch.backends.mps.is_built(), reason="torch has Apple's GPU")
def test_a_run_goes_on_with_the_cpu_where_torch_cannot_use_its_device(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "tiny.yaml").write_text(YAML)
    monkeypatch.chdir(tmp_path)
    assert main(["train", "tiny.yaml", "budget.iterations=1", "inference.device=auto"]) == 0
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert line.startswith("mps is not used, it fails its self-check: torch cannot compute there (")
    assert "on the CPU" in captured.out


@pytest.mark.parametrize("kind", ACCELERATORS)
def test_a_device_asked_for_by_name_that_torch_lacks_is_an_error_before_the_run(
    tmp_path, monkeypatch, only_line, kind: str
):
    if kind in available_devices():
        pytest.skip("it is there")
    (tmp_path / "tiny.yaml").write_text(YAML)
    monkeypatch.chdir(tmp_path)
    line = only_line("train", "tiny.yaml", f"inference.device={kind}")
    assert line.startswith(f"error: device '{kind}' is not usable by torch ")
    assert not (tmp_path / "runs").exists()
