"""All that a run draws, but for texts: one table of names, units and meanings, and its writer."""

import io
import re
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

import numpy.typing as npt
from PIL import Image

from alphazero.errors import RunError
from alphazero.utils.files import reason, shown
from alphazero.utils.interrupts import held_back


class Metric(NamedTuple):
    """What TensorBoard shows under one name, for each iteration."""

    unit: str
    meaning: str
    kind: Literal["curve", "histogram", "picture"] = "curve"


METRICS: Mapping[str, Metric] = {
    "loss/total": Metric("", "(z - v)² - π·log p + c‖θ‖², mean over the iteration's steps"),
    "loss/policy": Metric("nats", "-π·log p, cross-entropy of the network's policy"),
    "loss/value": Metric(
        "", "(z - v)², squared error of the value; with `value_head: wdl` a cross-entropy, nats"
    ),
    "loss/l2": Metric("", "c‖θ‖²"),
    "learner/policy_entropy": Metric("nats", "entropy of the network's policy; falls as it learns"),
    "learner/value_error": Metric("", "distance between z and v, mean"),
    "learner/unseen_value_loss": Metric(
        "", "(z - v)² in this iteration's games, before the network learned from them"
    ),
    "learner/seen_value_loss": Metric(
        "", "(z - v)² of the same network in games of the window, which it may have learned from"
    ),
    "learner/learning_rate": Metric("", "the optimizer's, at the last step"),
    "learner/gradient_norm": Metric(
        "", "norm of the gradient before clipping, mean; AdamW, Muon: with that of c‖θ‖²"
    ),
    "learner/steps": Metric("steps", "optimizer steps since the run began"),
    "selfplay/game_length": Metric("moves", "mean length of the games that ended"),
    "selfplay/first_player_wins": Metric("share", "games won by the player who moves first"),
    "selfplay/draws": Metric("share", "games drawn"),
    "selfplay/first_player_losses": Metric("share", "games lost by the player who moves first"),
    "selfplay/resigned": Metric("share", "games that ended because a player resigned"),
    "selfplay/resign_threshold": Metric("value", "below it players resigned; -1: nobody did"),
    "selfplay/resign_false_positives": Metric(
        "share", "games played out, of those the threshold would have ended, that it had misjudged"
    ),
    "selfplay/search_entropy": Metric("nats", "entropy of the search policies, mean"),
    "selfplay/kept_visits": Metric(
        "share",
        "visits at the roots of full searches that the tree had kept from the move before, and "
        "that root noise had no part in",
    ),
    "selfplay/search_entropies": Metric("nats", "entropy of each search policy", kind="histogram"),
    "selfplay/search_values": Metric(
        "", "value that each full search found, for the player to move", kind="histogram"
    ),
    "selfplay/surprise": Metric(
        "",
        "among the 64 newest positions the one where the search policy π differs most from the "
        "network's p, by Σ π·log(π/p): prior, visits and values side by side",
        kind="picture",
    ),
    "selfplay/positions": Metric("positions", "positions searched fully, to learn from, so far"),
    "selfplay/evaluations": Metric("positions", "positions evaluated by the network, so far"),
    "speed/games_per_second": Metric("1/s", "self-play games ended"),
    "speed/simulations_per_second": Metric("1/s", "simulations in self-play"),
    "speed/evaluations_per_second": Metric("1/s", "positions evaluated by the network"),
    "speed/cache_hits": Metric("share", "positions whose evaluation was remembered"),
    "speed/search_efficiency": Metric(
        "share",
        "the workers' time of playing that was spent inside the evaluator, by the clock; "
        "`alphazero bench` compares with the bare network",
    ),
    "speed/peak_memory": Metric("MiB", "the most memory that the process has held"),
    "speed/batch_fill": Metric("share", "rows of the evaluated batches that were used"),
    "inference/int8_agreement": Metric(
        "share", "positions where int8 has the same best move as the ordinary precision"
    ),
    "inference/int8_value_error": Metric(
        "", "distance between int8's values and those of the ordinary precision, mean"
    ),
    "replay/window": Metric("positions", "newest positions that training draws from"),
    "replay/mean_age": Metric("iterations", "mean age of the positions in the window"),
    "gate/score": Metric("share", "the challenger's score against the best, a draw counts half"),
    "gate/elo": Metric("Elo", "the challenger's difference to the best, from the score"),
    "gate/elo_low": Metric("Elo", "lower end of its 95 % interval"),
    "gate/elo_high": Metric("Elo", "upper end of its 95 % interval"),
    "gate/distinct_games": Metric("share", "games of the gate that differ from one another"),
    "gate/rating": Metric("Elo", "the best player's, gains at the gates added up from 0"),
    "ladder/<anchor>/score": Metric(
        "share", "the best player's score against an opponent that never changes"
    ),
    "ladder/elo": Metric(
        "Elo", "the best player's, by Bradley-Terry, where the ladder's first opponent has 0"
    ),
    "ladder/elo_low": Metric("Elo", "lower end of its 95 % interval"),
    "ladder/elo_high": Metric("Elo", "upper end of its 95 % interval"),
    "solved/<who>_optimal/<stage>": Metric(
        "share",
        "optimal moves in solved positions of this stage of the game, by the bare network "
        "(`network`) and with search (`search`)",
    ),
    "solved/<who>_blunders/<stage>": Metric(
        "share", "positions among them that were not lost, and that its move lost"
    ),
    "solved/<who>_value_error/<stage>": Metric(
        "", "distance between its values and the exact ones, mean"
    ),
    "seconds/play": Metric("s", "time of self-play"),
    "seconds/learn": Metric("s", "time of learning"),
    "seconds/gate": Metric("s", "time of the gate"),
    "seconds/measure": Metric("s", "time of the ladder and of the solved positions"),
    "seconds/save": Metric("s", "time of saving, measured in the iteration before"),
}


def pattern_of(known: str) -> str:
    """Return the regular expression for a name in the table: `<word>` stands for any words."""
    return re.sub("<[a-z]+>", "[^/]+", known)


def _kind_of(name: str) -> str:
    """Return the kind of what is drawn under `name`."""
    for known, metric in METRICS.items():
        if re.fullmatch(pattern_of(known), name):
            return metric.kind
    return "unknown"


BINS = 40
"""Bins of a histogram, equally wide from the least number to the greatest."""


def peak_megabytes() -> float:
    """Return the most memory that this process has held, in MiB; NaN where no system call tells."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / (1 << 10)


Layout = Mapping[str, Mapping[str, Sequence[str | Sequence[str]]]]
"""Chapters, their charts, and of each its kind and curves: as `add_custom_scalars` takes them."""


class Curves:
    """The TensorBoard folder of a run; on resume what lies after `iteration` is purged.

    TensorBoard's thread shares a queue with us, so Ctrl-C is held back while we are in it.
    `layout` is what TensorBoard shows under *Custom Scalars*; of several it takes the last.
    """

    @held_back()
    def __init__(self, folder: Path, iteration: int, layout: Layout | None = None) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._folder = folder
        self._others = set(threading.enumerate())
        self._hook = threading.excepthook
        threading.excepthook = self._hear
        try:
            # TensorBoard reads files in the order of their names, which begin with the second.
            while list(folder.glob(f"events.out.tfevents.{int(time.time()):010d}.*")):
                time.sleep(0.05)
            self._writer = SummaryWriter(str(folder), purge_step=iteration + 1)
            if layout:
                self._writer.add_custom_scalars(layout)
        except OSError as error:
            self._hear_no_more()
            raise RunError(f"cannot write {shown(folder)}: {reason(error)}") from error

    @held_back()
    def write(
        self,
        iteration: int,
        values: Mapping[str, float],
        texts: Mapping[str, str],
        histograms: Mapping[str, npt.NDArray[Any]] | None = None,
        pictures: Mapping[str, Image.Image] | None = None,
    ) -> None:
        """Add a point to each curve named in `values`, and what is given under the other names.

        `histograms` are the numbers themselves, [n]; of none at all there is no histogram.
        """
        histograms, pictures = histograms or {}, pictures or {}
        for kind, given in (("curve", values), ("histogram", histograms), ("picture", pictures)):
            unknown = [name for name in given if _kind_of(name) != kind]
            assert not unknown, f"no {kind} in the table of metrics: {unknown}"
        try:
            for name, value in values.items():
                self._writer.add_scalar(name, value, iteration)
            for name, numbers in histograms.items():
                if numbers.size:
                    self._writer.add_histogram(name, numbers, iteration, bins=BINS)
            for name, picture in pictures.items():
                summary = _to_summary(name, picture)
                writer = self._writer._get_file_writer()  # type: ignore[no-untyped-call]
                writer.add_summary(summary, iteration)
            for name, text in texts.items():
                block = "\n".join(f"    {line}" for line in text.splitlines())
                self._writer.add_text(name, block, iteration)
            self._writer.flush()
        except OSError as error:
            raise RunError(f"cannot write {shown(self._folder)}: {reason(error)}") from error

    def _hear(self, told: threading.ExceptHookArgs) -> None:
        """Leave out the traceback of TensorBoard's thread: `write` raises what the thread met."""
        if not _is_tensorboards(told.thread):
            self._hook(told)

    def _hear_no_more(self) -> None:
        """Let others hear of threads again, once ours has ended, which a refused `close` leaves."""
        for thread in set(threading.enumerate()) - self._others:
            if _is_tensorboards(thread):
                thread.stop()  # type: ignore[attr-defined]  # TensorBoard's; waits for its end
        threading.excepthook = self._hook

    def __enter__(self) -> Self:
        return self

    @held_back()
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._writer.close()
        except OSError as failure:
            if kind is None:  # else the disk's refusal has been told already
                raise RunError(f"cannot write {shown(self._folder)}: {reason(failure)}") from None
        finally:
            self._hear_no_more()


def _to_summary(name: str, picture: Image.Image) -> Any:
    """Return a picture as TensorBoard keeps it, in 256 colours: drawings have few.

    `add_image` of the writer writes full colours, of two and a half times the size.
    """
    from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]

    data = io.BytesIO()
    picture.quantize(dither=Image.Dither.NONE).save(data, "PNG", optimize=True)
    image = Summary.Image(
        height=picture.height,
        width=picture.width,
        colorspace=3,
        encoded_image_string=data.getvalue(),
    )
    return Summary(value=[Summary.Value(tag=name, image=image)])


def _is_tensorboards(thread: threading.Thread | None) -> bool:
    return type(thread).__module__.startswith("tensorboard.")
