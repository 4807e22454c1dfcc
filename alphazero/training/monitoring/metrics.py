"""The metrics of an iteration: one table of names, units and values."""

import functools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from alphazero.config.schema import Config
from alphazero.records.game_record import Policies
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.training.learning.learner import StepReport
from alphazero.training.learning.losses import LOSS_METRICS
from alphazero.training.manifest import RunState
from alphazero.training.selfplay import SelfPlayResult
from alphazero.utils.arrays import Float64Array
from alphazero.utils.machine import peak_megabytes

if TYPE_CHECKING:
    from alphazero.arena.elo import MatchResult
    from alphazero.network.inference.quantization import QuantizationError
    from alphazero.training.gate import GateResult


@dataclass(frozen=True)
class IterationReport:
    """The results of an iteration, complete but for saving."""

    config: Config
    state: RunState
    games: SelfPlayResult
    steps: StepReport
    gate: "GateResult | None"
    """result of the gate that ended in this iteration, if one did"""
    measurements: Mapping[str, float]
    """measurements of strength and of games not learned from yet, by metric name"""
    int8: "QuantizationError | None"
    resign_below: float
    replay: ReplayBuffer
    seconds: Mapping[str, float]
    """of each stage"""

    @functools.cached_property
    def searches(self) -> tuple[Float64Array, Float64Array]:
        """The entropies [n] of the full searches' policies, in nats, and their values [n]."""
        policies = Policies.join([record.policies for record in self.games.finished])
        values = np.concatenate([record.values for record in self.games.finished])
        full = policies.searched
        return policies.entropies()[full], values[full].astype(np.float64)

    @property
    def playing(self) -> float:
        """Seconds of self-play."""
        return self.seconds["play"] if self.games.seconds is None else self.games.seconds

    def line(self) -> str:
        state, stats = self.state, self.games.stats
        line = (
            f"iteration {state.iteration}: {state.games:,} games, "
            f"{state.positions:,} positions; {self._learned()}; "
            f"{stats.simulations / self.playing:,.0f} simulations/s, "
            f"{3600 * len(self.games.finished) / self.playing:,.0f} games/h"
        )
        if self.gate is not None:
            match, verdict = self.gate.match, "accepted" if self.gate.accepted else "refused"
            line += f"; gate {match.score:.1%}, Elo {match.elo:+z.0f}, {verdict}"
        if "anchors/elo" in self.measurements:
            line += f"; Elo by anchors {self.measurements['anchors/elo']:+z.0f}"
        return line

    def _learned(self) -> str:
        if self.steps.steps:
            total, policy, value = (
                self.steps.metrics[f"loss/{part}"] for part in ("total", "policy", "value")
            )
            return f"loss {total:.3f} (policy {policy:.3f}, value {value:.3f})"
        if self.state.step:
            return "no step was due"
        positions = math.ceil(self.config.learner.batch_size / self.config.replay.ratio)
        return f"nothing learned yet, the first step takes {positions:,} positions"

    def values(self) -> dict[str, float]:
        """Return the values of all curves by metric name, without losses when no step was due."""
        values = {
            name: float(value)
            for name, metric in METRICS.items()
            if metric.of is not None and (value := metric.of(self)) is not None
        }
        values |= {f"seconds/{stage}": spent for stage, spent in self.seconds.items()}
        values |= self.measurements
        values |= self.steps.metrics
        if self.config.selfplay.resign_enabled_fraction:
            from alphazero.training.resignation import measure_resignation

            values |= measure_resignation(self.games.finished, self.resign_below)
        return values

    def histograms(self) -> dict[str, npt.NDArray[Any]]:
        names = ("selfplay/search_entropies", "selfplay/search_values")
        return dict(zip(names, self.searches, strict=True))


class Metric(NamedTuple):
    """A TensorBoard metric with one value or histogram for each iteration."""

    unit: str
    of: Callable[[IterationReport], float | None] | None = None
    """its value; None: there is none in this iteration, or it is measured elsewhere"""
    kind: Literal["curve", "histogram"] = "curve"


def _share_of_outcome(outcome: int) -> Callable[[IterationReport], float]:
    return lambda report: float(
        np.mean([record.outcome == outcome for record in report.games.finished])
    )


def _gate(read: Callable[["MatchResult"], float]) -> Callable[[IterationReport], float | None]:
    return lambda report: None if report.gate is None else read(report.gate.match)


def _mean_length(report: IterationReport) -> float:
    games = report.games.finished
    return sum(len(record.actions) for record in games) / len(games)


def _mean_entropy(report: IterationReport) -> float:
    entropies, _ = report.searches
    return float(entropies.sum()) / max(len(entropies), 1)


METRICS: Final[Mapping[str, Metric]] = {
    **{name: Metric(unit) for name, unit in LOSS_METRICS.items()},
    "learner/unseen_value_loss": Metric(""),
    "learner/seen_value_loss": Metric(""),
    "learner/learning_rate": Metric(""),
    "learner/gradient_norm": Metric(""),
    "learner/steps": Metric("steps", lambda report: report.state.step),
    "selfplay/game_length": Metric("moves", _mean_length),
    "selfplay/first_player_wins": Metric("share", _share_of_outcome(1)),
    "selfplay/draws": Metric("share", _share_of_outcome(0)),
    "selfplay/first_player_losses": Metric("share", _share_of_outcome(-1)),
    "selfplay/resigned": Metric("share"),
    "selfplay/resign_threshold": Metric("value"),
    "selfplay/resign_false_positives": Metric("share"),
    "selfplay/search_entropy": Metric("nats", _mean_entropy),
    "selfplay/kept_visits": Metric("share", lambda report: report.games.stats.kept_share),
    "selfplay/full_trees": Metric("share", lambda report: report.games.stats.refused_share),
    "selfplay/search_entropies": Metric("nats", kind="histogram"),
    "selfplay/search_values": Metric("", kind="histogram"),
    "selfplay/positions": Metric("positions", lambda report: report.state.positions),
    "selfplay/evaluations": Metric("positions", lambda report: report.state.evaluations),
    "speed/games_per_second": Metric(
        "1/s", lambda report: len(report.games.finished) / report.playing
    ),
    "speed/simulations_per_second": Metric(
        "1/s", lambda report: report.games.stats.simulations / report.playing
    ),
    "speed/evaluations_per_second": Metric(
        "1/s", lambda report: report.games.stats.evaluations / report.playing
    ),
    "speed/cache_hits": Metric("share", lambda report: report.games.stats.cache_hits),
    "speed/network_share": Metric("share", lambda report: report.games.stats.network_share),
    "speed/peak_memory": Metric("MiB", lambda _: peak_megabytes()),
    "speed/batch_fill": Metric("share", lambda report: report.games.stats.batch_fill),
    "inference/int8_policy_error": Metric(
        "share", lambda report: report.int8.policy_error if report.int8 else None
    ),
    "inference/int8_value_error": Metric(
        "", lambda report: report.int8.value_error if report.int8 else None
    ),
    "replay/window": Metric("positions", lambda report: report.replay.window),
    "replay/mean_age": Metric(
        "iterations", lambda report: report.replay.mean_age(report.state.iteration)
    ),
    "gate/score": Metric("share", _gate(lambda gate: gate.score)),
    "gate/elo": Metric("Elo", _gate(lambda gate: gate.elo)),
    "gate/elo_low": Metric("Elo", _gate(lambda gate: gate.elo_low)),
    "gate/elo_high": Metric("Elo", _gate(lambda gate: gate.elo_high)),
    "gate/distinct_games": Metric("share", _gate(lambda gate: gate.distinct / gate.games)),
    "gate/rating": Metric(
        "Elo", lambda report: None if report.gate is None else report.state.rating
    ),
    "anchors/<anchor>/score": Metric("share"),
    "anchors/elo": Metric("Elo"),
    "anchors/elo_low": Metric("Elo"),
    "anchors/elo_high": Metric("Elo"),
    "solved/<who>_optimal/<stage>": Metric("share"),
    "solved/<who>_blunders/<stage>": Metric("share"),
    "solved/<who>_value_error/<stage>": Metric(""),
    **{f"seconds/{stage}": Metric("s") for stage in ("play", "learn", "gate", "measure", "save")},
}
"""The metrics by name; the table in `training/README.md` says what each one means."""


def kind_of(name: str) -> str:
    """Return the kind of the metric `name`, or "unknown"."""
    for pattern, metric in METRICS.items():
        if re.fullmatch(re.sub("<[a-z]+>", "[^/]+", pattern), name):
            return metric.kind
    return "unknown"
