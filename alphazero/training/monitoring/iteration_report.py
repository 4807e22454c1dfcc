"""The report of an iteration: a printed line, metrics, pictures and sample games."""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from alphazero.arena.elo import MatchResult
from alphazero.config.schema import Config
from alphazero.games.game import Game
from alphazero.network.inference.quantization import QuantizationError
from alphazero.records.game_record import GameRecord
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf_export import commented, has_sgf, to_sgf
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.training.evaluation import MetricValues
from alphazero.training.learning.learner import StepReport
from alphazero.training.manifest import RunState
from alphazero.training.monitoring.surprise import full_searches, most_surprising_position
from alphazero.training.resignation import measure_resignation
from alphazero.training.run_directory import RunDirectory
from alphazero.training.selfplay import SelfPlayResult
from alphazero.utils.arrays import Float64Array
from alphazero.utils.machine import peak_megabytes

SAMPLE_GAMES = 1
"""Self-play games and gate games written to games/ in each iteration."""


@dataclass(frozen=True)
class IterationReport:
    """The results of an iteration, complete but for saving."""

    config: Config
    game: Game
    state: RunState
    games: SelfPlayResult
    steps: StepReport
    gate: MatchResult | None
    """result of the gate that ended in this iteration, if one did"""
    measured: MetricValues
    """results of `PlayerEvaluation` and `holdout_value_loss` by metric name"""
    int8: QuantizationError | None
    resign_below: float
    replay: ReplayBuffer
    seconds: Mapping[str, float]
    """of each stage"""

    @functools.cached_property
    def _searches(self) -> tuple[Float64Array, Float64Array]:
        return full_searches(self.games.finished)

    @property
    def _playing(self) -> float:
        return self.seconds["play"] if self.games.seconds is None else self.games.seconds

    def line(self) -> str:
        state, seconds = self.state, self._playing
        line = (
            f"iteration {state.iteration}: {state.games:,} games, "
            f"{state.positions:,} positions; {self._learned()}; "
            f"{self.games.stats.simulations / seconds:,.0f} simulations/s, "
            f"{3600 * len(self.games.finished) / seconds:,.0f} games/h"
        )
        gate = self.gate
        if gate is not None:
            accepted = self.config.gate.accepts(gate.score)
            verdict = "accepted" if accepted else "refused"
            line += f"; gate {gate.score:.1%}, Elo {gate.elo:+z.0f}, {verdict}"
        if "anchors/elo" in self.measured:
            line += f"; Elo by anchors {self.measured['anchors/elo']:+z.0f}"
        return line

    def _learned(self) -> str:
        state, steps = self.state, self.steps
        if steps.steps:
            return f"loss {steps.total:.3f} (policy {steps.policy:.3f}, value {steps.value:.3f})"
        if state.step:
            return "no step was due"
        wanted = self.config.learner.batch_size / self.config.replay.ratio
        return f"nothing learned yet, the first step takes {math.ceil(wanted):,} positions"

    def figures(self) -> dict[str, float]:
        """Return the values of all curves by metric name, without losses when no step was due."""
        state, steps, games = self.state, self.steps, self.games
        count, seconds, (entropies, _) = len(games.finished), self._playing, self._searches
        outcomes = np.array([record.outcome for record in games.finished])
        moves = sum(len(record.actions) for record in games.finished)
        figures = {
            "learner/steps": state.step,
            "selfplay/game_length": moves / count,
            "selfplay/first_player_wins": float((outcomes == 1).mean()),
            "selfplay/draws": float((outcomes == 0).mean()),
            "selfplay/first_player_losses": float((outcomes == -1).mean()),
            "selfplay/search_entropy": float(entropies.sum()) / max(len(entropies), 1),
            "selfplay/kept_visits": games.stats.kept_share,
            "selfplay/positions": state.positions,
            "selfplay/evaluations": state.evaluations,
            "speed/games_per_second": count / seconds,
            "speed/simulations_per_second": games.stats.simulations / seconds,
            "speed/evaluations_per_second": games.stats.evaluations / seconds,
            "speed/cache_hits": games.stats.cache_hits,
            "speed/network_share": games.stats.network_share,
            "speed/batch_fill": games.stats.batch_fill,
            "speed/peak_memory": peak_megabytes(),
            "replay/window": self.replay.window,
            "replay/mean_age": self.replay.mean_age(state.iteration),
        }
        figures |= {f"seconds/{stage}": spent for stage, spent in self.seconds.items()}
        figures |= self.measured
        if steps.steps:
            figures |= {
                "loss/total": steps.total,
                "loss/policy": steps.policy,
                "loss/value": steps.value,
                "loss/l2": steps.l2,
                "learner/policy_entropy": steps.entropy,
                "learner/value_error": steps.error,
                "learner/learning_rate": steps.learning_rate,
                "learner/gradient_norm": steps.gradient_norm,
            }
            losses = {f"auxiliary/{head}": loss for head, loss in steps.auxiliary.items()}
            figures |= {name: loss for name, loss in losses.items() if not math.isnan(loss)}
        if self.config.selfplay.resign_enabled_fraction:
            figures |= measure_resignation(games.finished, self.resign_below)
        if self.int8:
            figures["inference/int8_agreement"] = self.int8.agreement
            figures["inference/int8_value_error"] = self.int8.value_error
        if self.gate is not None:
            figures |= {
                "gate/score": self.gate.score,
                "gate/elo": self.gate.elo,
                "gate/elo_low": self.gate.elo_low,
                "gate/elo_high": self.gate.elo_high,
                "gate/distinct_games": self.gate.distinct / self.gate.games,
                "gate/rating": state.rating,
            }
        return figures

    def histograms(self) -> dict[str, npt.NDArray[Any]]:
        """Return the numbers for each histogram by metric name."""
        names = ("selfplay/search_entropies", "selfplay/search_values")
        return dict(zip(names, self._searches, strict=True))

    def pictures(self) -> dict[str, Image.Image]:
        """Return the pictures by metric name."""
        surprise = most_surprising_position(self.game, self.games.finished, self.games.evaluator)
        title = f"{self.config.game.name}, iteration {self.state.iteration}"
        return {"selfplay/surprise": surprise.draw(self.game, title)} if surprise else {}


def save_samples(run: RunDirectory, kind: str, game: Game, records: Sequence[GameRecord]) -> str:
    """Write `SAMPLE_GAMES` games into `games/`, as text and SGF or JSON; return the text."""
    records = records[:SAMPLE_GAMES]
    if not records:
        return ""
    text = "\n\n".join(record.describe(game) for record in records)
    names = ("challenger", "best") if kind == "gate" else ("best", "best")
    played = [PlayedGame.of(game, record, names) for record in records]
    if has_sgf(game):
        suffix, lines = ".sgf", "".join(map(to_sgf, map(commented, played, records)))
    else:
        suffix, lines = ".jsonl", "".join(f"{each.to_line()}\n" for each in played)
    name = f"{kind}-{run.state.iteration:06d}"
    run.save_text(f"{name}.txt", f"{text}\n")
    run.save_text(f"{name}{suffix}", lines)
    return text
