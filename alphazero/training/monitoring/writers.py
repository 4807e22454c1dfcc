"""What the loop writes its metrics to: TensorBoard files, and the trackers in `run.trackers`."""

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from alphazero.config.reference import changed_values
from alphazero.config.schema import Config
from alphazero.errors import RunError
from alphazero.training.monitoring.dashboard import tensorboard_layout
from alphazero.training.monitoring.tensorboard import Metrics, TensorBoardWriter
from alphazero.training.monitoring.tracker_writer import TrackerWriter

WriteMetrics: TypeAlias = Callable[[int, Metrics], None]
"""Writes an iteration's metrics."""


def require_trackers(config: Config) -> None:
    """Raise RunError unless the packages of `run.trackers` are installed."""
    for name in config.run.trackers:
        if importlib.util.find_spec(name) is None:
            raise RunError(
                f"run.trackers: {name} is not installed; pip install 'alphazero[{name}]', or leave "
                "it out"
            )


@contextlib.contextmanager
def open_writers(folder: Path, config: Config, iteration: int) -> Iterator[WriteMetrics]:
    """Yield a function that writes to a run's TensorBoard files and trackers, after `iteration`.

    Raises:
        RunError: when the TensorBoard files cannot be written.
    """
    settings = changed_values(config)
    with contextlib.ExitStack() as stack:
        layout = tensorboard_layout(config)
        board = TensorBoardWriter(folder / "tensorboard", iteration, layout, settings)
        writers: list[TensorBoardWriter | TrackerWriter] = [stack.enter_context(board)]
        for name in config.run.trackers:
            writers.append(stack.enter_context(TrackerWriter(name, folder, config, settings)))

        def write(iteration: int, metrics: Metrics) -> None:
            for writer in writers:
                writer.write(iteration, metrics)

        yield write
