"""What the loop writes its metrics to: TensorBoard files, and the trackers in `run.trackers`."""

import contextlib
import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt
from PIL import Image

from alphazero.config.reference import changed_values
from alphazero.config.schema import Config
from alphazero.errors import RunError
from alphazero.training.monitoring.dashboard import tensorboard_layout
from alphazero.training.monitoring.tensorboard import TensorBoardWriter
from alphazero.training.monitoring.tracker_writer import TrackerWriter


class MetricsWriter(Protocol):
    """Receives the metrics of each iteration once."""

    def write(
        self,
        iteration: int,
        values: Mapping[str, float],
        texts: Mapping[str, str],
        histograms: Mapping[str, npt.NDArray[Any]] | None = None,
        pictures: Mapping[str, Image.Image] | None = None,
    ) -> None:
        """Add a point to each curve, and texts, pictures, and histograms of numbers [n]."""


class _AllWriters(NamedTuple):
    writers: Sequence[MetricsWriter]

    def write(self, *metrics: Any) -> None:
        for writer in self.writers:
            writer.write(*metrics)


def require_trackers(config: Config) -> None:
    """Raise RunError unless the packages of `run.trackers` are installed."""
    for name in config.run.trackers:
        if importlib.util.find_spec(name) is None:
            raise RunError(
                f"run.trackers: {name} is not installed; pip install 'alphazero[{name}]', or leave "
                "it out"
            )


@contextlib.contextmanager
def open_writers(folder: Path, config: Config, iteration: int) -> Iterator[MetricsWriter]:
    """Yield a writer to all of a run's TensorBoard files and trackers, after `iteration`.

    Raises:
        RunError: when the TensorBoard files cannot be written.
    """
    settings = changed_values(config)
    with contextlib.ExitStack() as stack:
        writers: list[MetricsWriter] = [
            stack.enter_context(
                TensorBoardWriter(
                    folder / "tensorboard", iteration, tensorboard_layout(config), settings
                )
            )
        ]
        for name in config.run.trackers:
            writers.append(stack.enter_context(TrackerWriter(name, folder, config, settings)))
        yield _AllWriters(writers)
