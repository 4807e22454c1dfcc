"""What the real packages keep of a run, offline, read back by their own means."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from helpers.runs.tiny_run import tiny_config
from helpers.runs.wandb_files import read_offline_run
from PIL import Image

from alphazero.config.reference import changed_values
from alphazero.training.monitoring.tensorboard import Metrics
from alphazero.training.monitoring.tracker_writer import TrackerWriter

pytestmark = pytest.mark.filterwarnings("ignore")

VALUES = {"loss/total": 2.5, "anchors/uct_4/score": 0.75, "gate/elo_low": -math.inf}
TEXTS = {"selfplay/sample_game": "X . O\n<. X .>"}
HISTOGRAMS = {"selfplay/search_values": np.array([0.0, 0.25, 1.0])}
PICTURES = {"selfplay/surprise": Image.new("RGB", (8, 6), (230, 159, 0))}


def needs(*names: str) -> pytest.MarkDecorator:
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


def write_sessions(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Write iterations 1 and 2, then, resumed from 1 with a larger budget, 2 and 3."""
    for budget, iterations in ((2, (1, 2)), (3, (2, 3))):
        config = tiny_config(folder, f"budget.iterations={budget}")
        with TrackerWriter(name, folder, config, changed_values(config)) as writer:
            for iteration in iterations:
                writer.write(iteration, Metrics(VALUES, TEXTS, HISTOGRAMS, PICTURES))
    assert "warning: " not in capsys.readouterr().err


@needs("wandb")
def test_wandb_offline_has_each_point_once_in_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    write_sessions("wandb", tmp_path, capsys)
    sessions = sorted((tmp_path / "wandb").glob("offline-run-*"))
    runs = [read_offline_run(session) for session in sessions]
    assert len(runs) == 2
    assert runs[0].id == runs[1].id
    steps = [{step for step, _, _ in run.points} for run in runs]
    assert steps == [{1, 2}, {3}]
    for run, step in ((runs[0], 1), (runs[0], 2), (runs[1], 3)):
        points = [(name, value) for at, name, value in run.points if at == step]
        names = {name.split(".")[0] for name, _ in points}
        assert names >= {*VALUES, *TEXTS, *HISTOGRAMS, *PICTURES}
        assert ("loss/total", 2.5) in points
        assert ("anchors/uct_4/score", 0.75) in points
    assert [run.settings["budget.iterations"] for run in runs] == [2, 3]
    assert runs[0].settings["network.filters"] == 8
    kept = {path.suffix for path in sessions[0].glob("files/**/*") if path.is_file()}
    assert kept == {".html", ".png"}, "nothing of the machine and its packages"


STORES = [
    pytest.param("file", marks=needs("mlflow")),
    pytest.param("sqlite", marks=needs("mlflow", "sqlalchemy", "alembic")),
]


@pytest.mark.parametrize("store", STORES)
def test_mlflow_has_each_point_once_in_one_run(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"sqlite:///{tmp_path / 'runs.db'}" if store == "sqlite" else f"{tmp_path / 'runs'}"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", address)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    write_sessions("mlflow", tmp_path, capsys)
    from mlflow import MlflowClient

    client = MlflowClient()
    experiment = client.get_experiment_by_name("alphazero")
    (run,) = client.search_runs([experiment.experiment_id])
    assert (run.info.run_name, run.info.status) == ("tiny", "FINISHED")
    for name, value in VALUES.items():
        history = client.get_metric_history(run.info.run_id, name)
        assert [point.step for point in history] == [1, 2, 3]
        # SQL has no infinity; MLflow keeps the largest number in its place.
        assert {max(point.value, -1e300) for point in history} == {max(value, -1e300)}
    assert run.data.params["network.filters"] == "8"
    assert run.data.params["budget.iterations"] == "2", "as the run began"
    configuration = client.download_artifacts(run.info.run_id, "config.yaml", str(tmp_path))
    assert "  iterations: 3\n" in Path(configuration).read_text()
    pictures = [each.path for each in client.list_artifacts(run.info.run_id, "images")]
    steps = {path.split("+step+")[1].split("+")[0] for path in pictures if path.endswith(".png")}
    assert steps == {"1", "2", "3"}
