"""What a training prints: text, nothing, or one JSON object a line."""

import json
import re
from pathlib import Path

import pytest
from helpers.commands import documented_keys, exit_code, objects
from helpers.frontends.terminal_client import Stream
from helpers.runs.tiny_run import YAML

from alphazero.diagnostics.run_history import read_curves

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def tiny(tmp_path, monkeypatch) -> None:
    """Go to a folder with the configuration of a tiny run."""
    (tmp_path / "tiny.yaml").write_text(YAML)
    monkeypatch.chdir(tmp_path)


def test_each_published_iteration_is_an_object_with_the_values_of_its_curves(capsys):
    start, first, second, end = objects(capsys, "train", "tiny.yaml", "budget.iterations=2")
    assert [event["event"] for event in (start, first, second, end)] == [
        *("start", "iteration", "iteration", "end")
    ]
    common = documented_keys("train") - {"backend", "metrics"}
    assert start.keys() == common | {"backend"}
    assert first.keys() == second.keys() == common | {"metrics"}
    assert end.keys() == common
    curves = read_curves(Path("runs/tiny"))
    for event in (first, second):
        metrics = event["metrics"]
        assert metrics.keys() == {
            name for name, curve in curves.items() if event["iteration"] in curve
        }
        for name, value in metrics.items():
            if value is not None:
                assert curves[name][event["iteration"]] == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert [event["budget_spent"] for event in (start, first, second, end)] == [0, 0.5, 1, 1]
    assert (start["seconds_left"], end["seconds_left"]) == (None, 0)
    assert (Path("runs/tiny") / end["best"]).is_file()
    start, third, end = objects(
        capsys, "train", "--resume", "runs/tiny", "budget.iterations=3", "--quiet"
    )
    assert (start["iteration"], third["iteration"], end["iteration"]) == (2, 3, 3)


def test_text_goes_to_standard_error_beside_json(capsys):
    assert exit_code("train", "tiny.yaml", "budget.iterations=1", "--json") == 0
    captured = capsys.readouterr()
    assert [json.loads(line)["event"] for line in captured.out.splitlines()] == [
        *("start", "iteration", "end")
    ]
    assert re.search(r"^iteration 1: 6 games, .*; [0-9:]+ left$", captured.err, re.MULTILINE)


def test_a_quiet_training_prints_its_last_line_alone_and_errors(capsys):
    assert exit_code("train", "tiny.yaml", "budget.iterations=1", "--quiet") == 0
    assert capsys.readouterr() == ("done; play it with: alphazero play runs/tiny\n", "")
    assert exit_code("train", "tiny.yaml", "--quiet") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")


def test_a_terminal_shows_the_stage_under_way(monkeypatch):
    screen = Stream(is_terminal=True)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    assert exit_code("train", "tiny.yaml", "budget.iterations=2") == 0
    lines = [line.rstrip() for line in screen.text.replace("\n", "\r").split("\r")]
    assert any(re.match(r"iteration 2 play: .* 0/6 \[", line) for line in lines)
    assert any(re.match(r"iteration 2 save: .* 0/1 \[", line) for line in lines)
    assert max(map(len, lines)) <= 80
