"""The TensorBoard folder of a run."""

import importlib
import numbers
import os
import re
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy.typing as npt

from alphazero.errors import RunError
from alphazero.training.monitoring.metrics import kind_of
from alphazero.utils.files import path_errors
from alphazero.utils.progress import defer_interrupts

BINS = 40
"""Bins of a histogram, of equal width from the minimum to the maximum."""


class TensorBoardWriter:
    """Writes a run's TensorBoard folder; on resume, points after `iteration` are purged.

    Everything of an iteration is one record, written at once. Not by `SummaryWriter`: TensorBoard
    reads files in the order of their names, which begin with the time in seconds there, so a clock
    that is behind would hide the curves before and after.
    """

    def __init__(self, folder: Path, iteration: int) -> None:
        from tensorboard.compat.proto.event_pb2 import SessionLog  # type: ignore[import-untyped]

        self._folder = folder
        with path_errors("write", folder, (OSError,)):
            folder.mkdir(parents=True, exist_ok=True)
            self._path = folder / _next_name(folder)
        self._add([], file_version="brain.Event:2")
        self._add([], step=iteration + 1, session_log=SessionLog(status=SessionLog.START))

    @defer_interrupts()
    def write(
        self,
        iteration: int,
        values: Mapping[str, float],
        texts: Mapping[str, str] = MappingProxyType({}),
        histograms: Mapping[str, npt.NDArray[Any]] = MappingProxyType({}),
    ) -> None:
        """Add a point to each curve, texts, and histograms of numbers [n], by name."""
        for kind, content in (("curve", values), ("histogram", histograms)):
            unknown = [name for name in content if kind_of(name) != kind]
            assert not unknown, f"no {kind} in the table of metrics: {unknown}"
        summary: Any = importlib.import_module("torch.utils.tensorboard.summary")
        parts = [summary.scalar(name, value) for name, value in values.items()]
        parts += [
            summary.histogram(name, part, BINS) for name, part in histograms.items() if part.size
        ]
        for name, lines in texts.items():
            block = "\n".join(f"    {line}" for line in lines.splitlines())
            parts.append(summary.text(name, block))
        self._add(parts, step=iteration)

    @defer_interrupts()
    def write_more(self, iteration: int, values: object) -> None:
        """Add a point to each curve of an observer, by name; anything but a dict adds none.

        Raises:
            RunError: for a value that is no number, or the name of one of the run's own metrics.
        """
        if not isinstance(values, dict):
            return
        for name, value in values.items():
            if not isinstance(name, str) or kind_of(name) != "unknown":
                raise RunError(
                    f"observe: {name!r} cannot be added: a curve needs a name of its own"
                )
            if not isinstance(value, numbers.Real):
                raise RunError(f"observe: {name} must be a number, got {value!r:.80}")
        summary: Any = importlib.import_module("torch.utils.tensorboard.summary")
        parts = [summary.scalar(name, float(value)) for name, value in values.items()]
        self._add(parts, step=iteration)

    def _add(self, parts: Sequence[Any], **content: Any) -> None:
        """Append an event, whose summary joins `parts`."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]
        from tensorboard.summary.writer.record_writer import RecordWriter  # type: ignore[import-untyped]

        if parts:
            content["summary"] = Summary(value=[value for part in parts for value in part.value])
        event = Event(wall_time=time.time(), **content)
        with path_errors("write", self._folder, (OSError,)), self._path.open("ab") as file:
            records = RecordWriter(file)
            records.write(event.SerializeToString())
            records.flush()


def _next_name(folder: Path) -> str:
    """Return the name of a new file of events, which comes after those in the folder."""
    names = [
        re.match(r"events\.out\.tfevents\.([0-9]{10})\.", path.name) for path in folder.iterdir()
    ]
    seconds = max([int(time.time()), *(int(name[1]) + 1 for name in names if name)])
    return f"events.out.tfevents.{seconds:010d}.{socket.gethostname()}.{os.getpid()}"
