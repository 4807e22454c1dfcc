"""A tracker receives each iteration once, and no error of it reaches a training."""

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from helpers.runs.tiny_run import fingerprint, tiny_config

from alphazero.training.loop import Training, resume, train
from alphazero.training.monitoring import tracker_writer, writers
from alphazero.training.monitoring.tensorboard import Metrics
from alphazero.training.monitoring.tracker_writer import TrackerWriter
from alphazero.training.monitoring.trackers import TrackerRun

Capture = pytest.CaptureFixture[str]


class FakeTracker:
    """Keeps what it receives; `broken` names the method or iteration that fails."""

    opened: ClassVar[list["FakeTracker"]] = []
    broken: object = None

    def __init__(self, run: TrackerRun) -> None:
        self._fail_at("open")
        self.run, self.id = run, run.id or "an id"
        self.received: list[int] = []
        self.values: dict[str, float] = {}
        self.ends: list[bool] = []
        FakeTracker.opened.append(self)

    def _fail_at(self, place: object) -> None:
        if self.broken == place:
            raise ConnectionError(f"no answer\nat \x1b[1m{place}")

    def write(self, iteration: int, metrics: Metrics) -> None:
        self._fail_at(iteration)
        self.received.append(iteration)
        self.values.update(metrics.values)

    def close(self, *, is_finished: bool) -> None:
        self._fail_at("close")
        self.ends.append(is_finished)


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeTracker]:
    """Let the tracker `wandb` be a fake, installed or not."""
    monkeypatch.setattr(FakeTracker, "opened", [])
    monkeypatch.setattr(tracker_writer, "TRACKERS", {"wandb": FakeTracker})
    monkeypatch.setattr(writers, "require_trackers", lambda config: None)
    monkeypatch.setattr("alphazero.training.loop.require_trackers", lambda config: None)
    return FakeTracker


def new_writer(folder: Path) -> TrackerWriter:
    return TrackerWriter("wandb", folder, tiny_config(folder), {"network.blocks": 1})


def write(writer: TrackerWriter, *iterations: int) -> None:
    for iteration in iterations:
        writer.write(iteration, Metrics({"loss/total": 1.0}))


def test_the_tracker_knows_the_run_again_and_receives_no_iteration_twice(tmp_path: Path) -> None:
    with new_writer(tmp_path) as writer:
        write(writer, 1, 2, 3)
    with new_writer(tmp_path) as writer:  # resumed from iteration 1
        write(writer, 2, 3, 4)
    first, second = FakeTracker.opened
    assert (first.run.id, second.run.id) == ("", "an id")
    assert (first.received, second.received) == ([1, 2, 3], [4])
    assert first.ends == second.ends == [True]
    assert first.run.settings == {"network.blocks": 1}
    assert "filters: 8" in first.run.configuration


def test_an_iteration_that_was_being_sent_when_the_process_died_is_not_sent_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any) -> None:
        raise SystemExit

    writer = new_writer(tmp_path)
    monkeypatch.setattr(FakeTracker, "write", die)
    with pytest.raises(SystemExit):
        write(writer, 1)
    monkeypatch.undo()
    assert json.loads((tmp_path / "tracker-wandb.json").read_text())["iteration"] == 1


def test_ctrl_c_ends_the_session_as_unfinished(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), new_writer(tmp_path):
        raise KeyboardInterrupt
    assert FakeTracker.opened[0].ends == [False]


@pytest.mark.parametrize("place", ["open", 1, 2, "close"])
def test_an_error_is_one_line_and_the_next_session_tries_again(
    tmp_path: Path, place: object, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(FakeTracker, "broken", place)
    with new_writer(tmp_path) as writer:
        write(writer, 1, 2, 3)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: wandb receives no more of this run, which goes on: Connection")
    assert "no answer at" in line
    assert line.isprintable()
    monkeypatch.setattr(FakeTracker, "broken", None)
    with new_writer(tmp_path) as writer:
        write(writer, 4)
    assert FakeTracker.opened[-1].received == [4]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": 3, "iteration": 1}', '{"id": "x"}'])
def test_a_damaged_progress_file_is_one_warning(tmp_path: Path, text: str, capsys: Capture) -> None:
    (tmp_path / "tracker-wandb.json").write_text(text)
    with new_writer(tmp_path) as writer:
        write(writer, 1)
    (line,) = capsys.readouterr().err.splitlines()
    assert "wandb receives no more" in line
    assert FakeTracker.opened == []


def test_a_run_with_a_tracker_has_the_files_of_one_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """It is interrupted after two iterations were sent and one was published."""
    plain = fingerprint(train(tiny_config(tmp_path / "plain", "budget.iterations=3")))
    monkeypatch.setattr(FakeTracker, "broken", 3)

    def stop_at_two(self: Training) -> None:
        if self.run.state.iteration == 2:
            raise KeyboardInterrupt
        save(self)

    save = Training.save
    monkeypatch.setattr(Training, "save", stop_at_two)
    config = tiny_config(tmp_path / "tracked", "budget.iterations=3", "run.trackers=[wandb]")
    with pytest.raises(KeyboardInterrupt):
        train(config)
    monkeypatch.setattr(Training, "save", save)
    run = resume(tmp_path / "tracked" / "tiny")
    assert [each.received for each in FakeTracker.opened] == [[1, 2], []]
    assert FakeTracker.opened[0].values["selfplay/positions"] > 0
    assert "wandb receives no more" in capsys.readouterr().err
    tracked = fingerprint(run)
    del tracked["tracker-wandb.json"], tracked["config.yaml"], plain["config.yaml"]
    assert tracked == plain
