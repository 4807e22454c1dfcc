"""The loop's one writer stands for TensorBoard and every tracker."""

import importlib.util
import re
from pathlib import Path

import pytest
from helpers.commands import OnlyLine
from helpers.runs.events import points
from helpers.runs.tiny_run import YAML, tiny_config

from alphazero.errors import RunError
from alphazero.training.monitoring import writers
from alphazero.training.monitoring.tensorboard import Metrics
from alphazero.training.monitoring.writers import open_writers, require_trackers


class Received(list):
    """A tracker's writer that keeps what it gets."""

    def __init__(self, name: str, *_: object) -> None:
        super().__init__([name])

    def write(self, *metrics: object) -> None:
        self.append(metrics)

    def __enter__(self) -> "Received":
        EVERYONE.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.append("closed")


EVERYONE: list[Received] = []


def test_every_writer_receives_every_iteration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    EVERYONE.clear()
    monkeypatch.setattr(writers, "TrackerWriter", Received)
    config = tiny_config(tmp_path, "run.trackers=[mlflow, wandb]")
    with open_writers(tmp_path, config, 0) as write:
        write(1, Metrics({"loss/total": 2.0}))
    assert points(tmp_path / "tensorboard", "loss/total") == [(1, 2.0)]
    sent = (1, Metrics({"loss/total": 2.0}))
    assert [["mlflow", sent, "closed"], ["wandb", sent, "closed"]] == EVERYONE


def test_a_tracker_that_is_not_installed_is_reported_before_anything_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, only_line: OnlyLine
) -> None:
    found = importlib.util.find_spec
    absent = ("wandb", "mlflow")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *_: None if name in absent else found(name)
    )
    require_trackers(tiny_config(tmp_path))
    with pytest.raises(RunError, match=re.escape("pip install 'alphazero[mlflow]'")):
        require_trackers(tiny_config(tmp_path, "run.trackers=[mlflow]"))
    (tmp_path / "tiny.yaml").write_text(YAML)
    line = only_line(
        "train", tmp_path / "tiny.yaml", f"run.folder={tmp_path}", "run.trackers=[wandb]"
    )
    assert line.startswith("error: run.trackers: wandb is not installed; pip install")
    assert not (tmp_path / "tiny").exists()
