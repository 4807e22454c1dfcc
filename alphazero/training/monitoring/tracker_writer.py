"""A run's metrics for an experiment tracker, without any effect on the training."""

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tqdm import tqdm

from alphazero.config.loader import dump_config
from alphazero.config.schema import Config
from alphazero.training.monitoring.tensorboard import Metrics, Settings
from alphazero.training.monitoring.trackers import TRACKERS, Tracker, TrackerRun
from alphazero.utils.checked_json import field, parse_object
from alphazero.utils.files import read_limited, write_atomic
from alphazero.utils.interrupts import defer_interrupts

PROGRESS: Final = "tracker-{}.json"
"""File in a run's folder: the tracker's id of the run, and the last iteration it was sent."""


class TrackerWriter:
    """Writes a run's metrics to one tracker; a resumed run goes on where it was.

    An error of the tracker is one warning, after which it receives nothing more until the run is
    resumed. Iterations that it has received before are not sent again.
    """

    def __init__(self, name: str, folder: Path, config: Config, settings: Settings) -> None:
        self._name = name
        self._file = folder / PROGRESS.format(name)
        self._tracker: Tracker | None = None
        self._id, self._sent = "", 0
        with self._warning():
            if self._file.exists():
                known = parse_object(read_limited(self._file, 1 << 16))
                self._id, self._sent = field(known, "id", str), field(known, "iteration", int)
            run = TrackerRun(
                folder.resolve(), config.run.name, self._id, settings, dump_config(config)
            )
            self._tracker = TRACKERS[name](run)
            self._id = self._tracker.id
            self._save_progress()

    def write(self, iteration: int, metrics: Metrics) -> None:
        if self._tracker is None or iteration <= self._sent:
            return
        with self._warning():
            # Saved first: a kill in between loses one iteration's points, and repeats none.
            self._sent = iteration
            self._save_progress()
            self._tracker.write(iteration, metrics)

    def _save_progress(self) -> None:
        content = {"id": self._id, "iteration": self._sent}
        write_atomic(self._file, json.dumps(content).encode() + b"\n")

    @contextlib.contextmanager
    def _warning(self) -> Iterator[None]:
        """Defer Ctrl-C, because trackers share locks with threads; an error becomes a warning."""
        with defer_interrupts():
            try:
                yield
            except Exception as error:  # whatever the tracker's package raises
                self._tracker = None
                text = " ".join(f"{type(error).__name__}: {error}".split())
                reason = "".join(filter(str.isprintable, text))[:200]
                tqdm.write(
                    f"warning: {self._name} receives no more of this run, which goes on: {reason}",
                    file=sys.stderr,
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._tracker is not None:
            with self._warning():
                self._tracker.close(is_finished=kind is None)
