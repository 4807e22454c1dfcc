"""The TensorBoard folder of a run."""

import contextlib
import io
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy.typing as npt

from alphazero.errors import RunError
from alphazero.training.monitoring.metrics import Layout, kind_of
from alphazero.utils.files import path_errors
from alphazero.utils.jobs import defer_interrupts

if TYPE_CHECKING:
    from PIL import Image

BINS = 40
"""Bins of a histogram, of equal width from the minimum to the maximum."""

Settings = Mapping[str, float | bool | str]
"""Values of configuration keys by dotted name."""


class Metrics(NamedTuple):
    """The metrics of one iteration, each by name."""

    values: Mapping[str, float]
    """points of the curves"""
    texts: Mapping[str, str] = MappingProxyType({})
    histograms: Mapping[str, npt.NDArray[Any]] = MappingProxyType({})
    """numbers [n]"""
    pictures: "Mapping[str, Image.Image]" = MappingProxyType({})


class TensorBoardWriter:
    """Writes a run's TensorBoard folder; on resume, points after `iteration` are purged.

    TensorBoard's thread shares a queue with this class, so Ctrl-C is deferred inside its methods.
    *Custom Scalars* shows `layout`; of several layouts TensorBoard takes the last. *HPARAMS* shows
    the `settings` of all runs beside their last values; of several settings it takes the first.
    """

    @defer_interrupts()
    def __init__(
        self,
        folder: Path,
        iteration: int,
        layout: Layout | None = None,
        settings: Settings | None = None,
    ) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._folder = folder
        self._others = set(threading.enumerate())
        self._hook = threading.excepthook
        threading.excepthook = self._on_thread_error
        with path_errors("write", folder, (OSError,)), contextlib.ExitStack() as on_error:
            on_error.callback(self._restore_hook)
            # TensorBoard reads files in the order of names; these begin with the time in seconds.
            while list(folder.glob(f"events.out.tfevents.{int(time.time()):010d}.*")):
                time.sleep(0.05)
            self._writer = SummaryWriter(str(folder), purge_step=iteration + 1)
            if layout:
                self._writer.add_custom_scalars(layout)
            if settings:
                self._add_summary(_settings_summary(settings), 0)
            on_error.pop_all()

    @defer_interrupts()
    def write(self, iteration: int, metrics: Metrics) -> None:
        """Add a point to each curve, and texts, histograms and pictures."""
        values, texts, histograms, pictures = metrics
        for kind, content in (("curve", values), ("histogram", histograms), ("picture", pictures)):
            unknown = [name for name in content if kind_of(name) != kind]
            assert not unknown, f"no {kind} in the table of metrics: {unknown}"
        with path_errors("write", self._folder, (OSError,)):
            for name, value in values.items():
                self._writer.add_scalar(name, value, iteration)
            for name, numbers in histograms.items():
                if numbers.size:
                    self._writer.add_histogram(name, numbers, iteration, bins=BINS)
            for name, picture in pictures.items():
                self._add_summary(_to_summary(name, picture), iteration)
            for name, text in texts.items():
                block = "\n".join(f"    {line}" for line in text.splitlines())
                self._writer.add_text(name, block, iteration)
            self._writer.flush()

    def _add_summary(self, summary: Any, iteration: int) -> None:
        writer = self._writer._get_file_writer()  # type: ignore[no-untyped-call]
        writer.add_summary(summary, iteration)

    def _on_thread_error(self, arguments: threading.ExceptHookArgs) -> None:
        """Hide the traceback of TensorBoard's thread: `write` raises its error."""
        if not _is_tensorboards(arguments.thread):
            self._hook(arguments)

    def _restore_hook(self) -> None:
        """Restore `threading.excepthook`, after stopping a thread that a failed `close` left."""
        for thread in set(threading.enumerate()) - self._others:
            if _is_tensorboards(thread):
                thread.stop()  # type: ignore[attr-defined]  # TensorBoard's; it joins the thread
        threading.excepthook = self._hook

    def __enter__(self) -> Self:
        return self

    @defer_interrupts()
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            with path_errors("write", self._folder, (OSError,)):
                self._writer.close()
        except RunError:
            if kind is None:  # else that error is already being raised
                raise
        finally:
            self._restore_hook()


def _to_summary(name: str, picture: "Image.Image") -> Any:
    """Return a picture in 256 colours: `add_image` would take two and a half times the size."""
    from PIL import Image
    from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]

    data = io.BytesIO()
    coverage, none = Image.Quantize.MAXCOVERAGE, Image.Dither.NONE  # half the median cut's time
    picture.quantize(method=coverage, dither=none).save(data, "PNG", optimize=True)
    image = Summary.Image(
        height=picture.height,
        width=picture.width,
        colorspace=3,
        encoded_image_string=data.getvalue(),
    )
    return Summary(value=[Summary.Value(tag=name, image=image)])


def _settings_summary(settings: Settings) -> Any:
    """Return what the plugin *HPARAMS* reads as the hyperparameters of this folder's run.

    `add_hparams` would write them into a folder of its own. It would also fix the table's columns
    to those of one run; without that, the plugin shows the settings and curves of all runs.
    """
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.plugins.hparams import metadata  # type: ignore[import-untyped]
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionStartInfo  # type: ignore[import-untyped]

    start = SessionStartInfo(start_time_secs=time.time())
    for name, value in settings.items():
        kind = {bool: "bool_value", str: "string_value"}.get(type(value), "number_value")
        setattr(start.hparams[name], kind, value)
    content = metadata.create_summary_metadata(HParamsPluginData(session_start_info=start))
    tag = metadata.SESSION_START_INFO_TAG
    return Summary(value=[Summary.Value(tag=tag, metadata=content, tensor=metadata.NULL_TENSOR)])


def _is_tensorboards(thread: threading.Thread | None) -> bool:
    return type(thread).__module__.startswith("tensorboard.")
