"""The description of the machine, for an issue."""

import re
from pathlib import Path

import pytest
import torch
from helpers.paths import ROOT

from alphazero.cli.main import main
from alphazero.diagnostics.machine_report import without_home
from alphazero.network.inference import backend, openvino_evaluator
from alphazero.network.inference.device_check import TOLERANCES
from alphazero.utils.shipped import shipped_configs

Capture = pytest.CaptureFixture[str]


def report(capsys: Capture) -> str:
    assert main(["doctor", "--machine"]) == 0
    return capsys.readouterr().out


def test_it_reports_the_machine_and_versions_without_the_home_folder(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(ROOT.parent))
    monkeypatch.setenv("ALPHAZERO_FOLDER", str(ROOT / "x"))
    monkeypatch.setenv("AWS_SECRET", "hidden")
    output = report(capsys)
    names = {line.split("  ")[0] for line in output.splitlines()} - {""}
    assert names >= {"processor", "instructions", "cores", "memory", "device", "cache"}
    assert f"torch {torch.__version__}" in output
    assert f"ALPHAZERO_FOLDER=~/{ROOT.name}/x" in output
    assert "hidden" not in output
    assert str(ROOT) not in output
    listed = re.findall(r"^configurations (.*)$", output, re.MULTILINE)
    assert sorted(", ".join(listed).split(", ")) == sorted(shipped_configs())
    checks = re.findall(r"^ +(\w+): policies are off by ([\d.]+)% and values", output, re.MULTILINE)
    assert len(checks) == len(listed)
    assert all(float(error) / 100 < TOLERANCES[precision] for precision, error in checks)


def test_it_names_what_would_be_faster(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALPHAZERO_BACKEND", raising=False)
    for module in (backend, openvino_evaluator):
        monkeypatch.setattr(module, "openvino_is_installed", lambda: False)
    output = report(capsys)
    assert "why: OpenVINO is not installed" in output
    (line,) = (each for each in output.splitlines() if each.startswith("faster with"))
    assert "pip install 'alphazero[openvino]'" in line


def test_the_home_folder_is_a_tilde_also_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "ann")
    text = f"{tmp_path}/ann/x {tmp_path}/link {tmp_path}/anna"
    assert without_home(text, tmp_path / "link") == f"~/x ~ {tmp_path}/anna"
    assert without_home("/usr/bin /", Path("/")) == "/usr/bin /"
