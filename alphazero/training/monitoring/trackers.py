"""The experiment trackers of `run.trackers`; each package is imported when it is first used.

Nothing is sent but what a tracker's own settings ask for, such as `WANDB_MODE`, `WANDB_PROJECT`,
`MLFLOW_TRACKING_URI` and `MLFLOW_EXPERIMENT_NAME`: the packages' reports about their own use are
off.
"""

import html
import os
import secrets
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from alphazero.training.monitoring.tensorboard import BINS, Metrics, Settings

PROJECT: Final = "alphazero"
"""Name of the project or experiment that holds the runs, if the environment names none."""


class TrackerRun(NamedTuple):
    """The fields of a run that a tracker receives."""

    folder: Path
    name: str
    id: str
    """the tracker's own id of a run that it knows; empty for a new one"""
    settings: Settings
    """configuration values that differ from the defaults"""
    configuration: str
    """all values, as YAML"""


class Tracker(Protocol):
    """A run in an experiment tracker; any method may raise any exception."""

    id: str

    def write(self, iteration: int, metrics: Metrics) -> None:
        """Add the metrics of an iteration, as far as the tracker has such things."""

    def close(self, *, is_finished: bool) -> None:
        """End the session; a run that is not finished may go on in another one."""


class Wandb:
    """Weights & Biases: curves, histograms, pictures and texts."""

    def __init__(self, run: TrackerRun) -> None:
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
        import wandb

        self._wandb = wandb
        self.id = run.id or secrets.token_hex(4)
        self._run = wandb.init(
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            name=run.name,
            id=self.id,
            resume="allow" if run.id else None,
            dir=run.folder,
            # Send no program output, no code and nothing about the machine.
            settings=wandb.Settings(
                console="off",
                quiet=True,
                x_save_requirements=False,
                disable_code=True,
                disable_git=True,
                save_code=False,
                x_disable_meta=True,
                x_disable_stats=True,
            ),
        )
        self._run.config.update(dict(run.settings), allow_val_change=True)

    def write(self, iteration: int, metrics: Metrics) -> None:
        content: dict[str, Any] = dict(metrics.values)
        for name, numbers in metrics.histograms.items():
            if numbers.size:
                counted = np.histogram(numbers, bins=BINS)
                content[name] = self._wandb.Histogram(np_histogram=counted)
        for name, picture in metrics.pictures.items():
            content[name] = self._wandb.Image(picture)
        for name, text in metrics.texts.items():
            content[name] = self._wandb.Html(f"<pre>{html.escape(text)}</pre>")
        self._run.log(content, step=iteration)

    def close(self, *, is_finished: bool) -> None:
        self._run.finish(exit_code=0 if is_finished else 1)


class Mlflow:
    """MLflow: curves and pictures; the configuration as an artifact."""

    def __init__(self, run: TrackerRun) -> None:
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        from mlflow import MlflowClient, entities

        self._entities, self._client = entities, MlflowClient()
        self.id = run.id
        if run.id:
            self._client.update_run(run.id, status="RUNNING")
        else:
            name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
            known = self._client.get_experiment_by_name(name)
            experiment = known.experiment_id if known else self._client.create_experiment(name)
            self.id = self._client.create_run(experiment, run_name=run.name).info.run_id
            # MLflow's parameters never change, so those of the first session stay.
            parameters = [entities.Param(key, str(each)) for key, each in run.settings.items()]
            self._client.log_batch(self.id, params=parameters[:100])  # its limit
        self._client.log_text(self.id, run.configuration, "config.yaml")

    def write(self, iteration: int, metrics: Metrics) -> None:
        now = int(time.time() * 1000)
        points = [
            self._entities.Metric(name, float(value), now, iteration)
            for name, value in metrics.values.items()
        ]
        self._client.log_batch(self.id, metrics=points)
        for name, picture in metrics.pictures.items():
            self._client.log_image(self.id, picture, key=name, step=iteration, synchronous=True)

    def close(self, *, is_finished: bool) -> None:
        self._client.set_terminated(self.id, "FINISHED" if is_finished else "KILLED")


TRACKERS: Final[Mapping[str, Callable[[TrackerRun], Tracker]]] = {"wandb": Wandb, "mlflow": Mlflow}
"""The trackers by their names in `run.trackers`."""
