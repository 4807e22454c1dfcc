"""One iteration of a run: play, store, learn, gate, measure, report, save.

Silver et al., *Mastering the game of Go without human knowledge*, Nature 550 (2017). The same in
plain Python, without options: `alphazero/reference.py`.
"""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor
from tqdm import tqdm

from alphazero.config.loader import dump_config
from alphazero.config.schema import LearnerConfig
from alphazero.mcts.evaluator import Evaluator
from alphazero.network.checkpoint import Checkpoint
from alphazero.network.inference.backend import make_evaluator, num_selfplay_threads
from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.network.resnet import ResNet
from alphazero.records.game_record import NEVER_RESIGN, GameRecord
from alphazero.training.data.batch import Batch
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.training.learning.learner import Learner, StepReport
from alphazero.training.monitoring.metrics import IterationReport
from alphazero.training.run_directory import (
    CALIBRATE,
    GATE,
    HOLDOUT,
    LEARN,
    MEASURE,
    PLAY,
    RunDirectory,
)
from alphazero.training.selfplay import (
    SelfPlayNetwork,
    SelfPlayResult,
    play_games,
    with_simulations,
)
from alphazero.utils.arrays import Float32Array
from alphazero.utils.jobs import map_ahead, threads_per_evaluation
from alphazero.utils.progress import Progress, progress_bar, say

if TYPE_CHECKING:
    from alphazero.training.gate import GateResult

SAMPLERS = 4
"""The most threads that draw batches for a GPU; each holds one batch ahead."""

HOLDOUT_POSITIONS = 512
"""Positions of each kind: they give the mean squared error to about a tenth of itself."""


def new_learner(run: RunDirectory) -> Learner:
    """Return the learner of a run in this process."""
    return Learner(run.new_network(), run.config.learner, run.config.inference)


class Training:
    """The parts of a run, and one iteration of them: its stages take turns in this process."""

    def __init__(
        self,
        run: RunDirectory,
        cores: int,
        make_learner: Callable[[RunDirectory], Learner] = new_learner,
    ) -> None:
        config = run.config
        self.run = run
        self.config = config
        self.cores = cores
        self.workers = num_selfplay_threads(config, cores)
        self.game = run.game
        self.learner = make_learner(run)
        self.replay = ReplayBuffer(run.game, config.replay, config.network.auxiliary)
        self.best: BatchedEvaluator
        self.selfplay: SelfPlayNetwork
        """the best network as it played in this iteration"""
        self.unfinished: list[GameRecord] = []
        """games under way"""
        self.resign_below = NEVER_RESIGN
        self.seconds: dict[str, float] = {"save": 0.0}
        self.is_first = True
        """whether the next report is the first of this process, whose configuration may be new"""
        self.holdout_losses: dict[str, float] = {}
        """value losses on this iteration's games before they were learned from"""
        self.evaluation = None
        if config.evaluation.anchors or config.evaluation.solved_positions_per_stage:
            from alphazero.training.evaluation import PlayerEvaluation

            self.evaluation = PlayerEvaluation(self.game, config)
        if run.state.best:
            self._restore()
        else:
            self._save_first()

    def iterate(self, write: Callable[..., None]) -> dict[str, float]:
        """Run one iteration and publish its result; return its metrics."""
        state = self.run.state
        state.iteration += 1
        for stage in ("gate", "measure"):
            self.seconds.pop(stage, None)
        before = state.positions
        games = self.play()
        self.store_games(games)
        steps = self.learn(before)
        result = self.gate(steps)
        metrics = self.report(write, games, steps, result, self.measure())
        self.save()
        return metrics

    def play(self) -> SelfPlayResult:
        """Play the best player against itself."""
        settings = self.config.selfplay
        if settings.resign_enabled_fraction:
            from alphazero.training.resignation import non_resigned_games, resign_threshold

            # From the games of the last published state, so a resumed run computes the same.
            self.resign_below = resign_threshold(non_resigned_games(self.replay.games))
        with self._stage("play", settings.games_per_iteration, "game") as bar:
            self.selfplay = self._selfplay_network()
            games = self.play_games(self.selfplay, bar.update)
        self.unfinished = games.unfinished
        return games

    def _selfplay_network(self) -> SelfPlayNetwork:
        """Return the best network for self-play: in int8 if configured, available and accurate."""
        if self.config.inference.selfplay_precision != "int8":
            return SelfPlayNetwork(self.best)
        from alphazero.training.int8 import quantize

        quantized = quantize(self.best, self.replay, self.run.seed(CALIBRATE))
        if quantized.comparison and quantized.calibration is None:
            refusal = f"self-play stays in {self.best.precision}; {quantized.comparison}"
            say(f"iteration {self.run.state.iteration}: {refusal}")
        return quantized

    def play_games(self, network: SelfPlayNetwork, show: Progress) -> SelfPlayResult:
        """Play the games of this iteration; `show` gets the number of newly finished games."""
        fraction = self.config.selfplay.simulations_fraction(self.run.state.positions)
        return play_games(
            self.game,
            with_simulations(self.config, fraction),
            network.evaluator,
            self.run.seed(PLAY),
            self.unfinished,
            self.workers,
            show,
            self.resign_below,
        )

    def store_games(self, games: SelfPlayResult) -> None:
        """Add the games to the replay window, in memory and on disk."""
        state = self.run.state
        arrays = GameBatch.of(self.game, games.finished)
        self.holdout_losses = holdout_value_loss(
            self.best, self.replay, arrays, self.config.learner, self.run.seed(HOLDOUT)
        )
        self.replay.add(state.iteration, arrays)
        state.positions = self.replay.total_positions
        state.evaluations += games.stats.evaluations
        state.games += len(games.finished)
        state.shards = self.replay.iterations
        self.run.save_games(arrays)

    def learn(self, positions_before: int) -> StepReport:
        """Do the steps that are due: replay ratio x new positions / batch size."""
        due = self.config.steps_due
        return self.do_steps(due(self.run.state.positions) - due(positions_before))

    def do_steps(self, steps: int, earlier: Iterable[Mapping[str, Tensor]] = ()) -> StepReport:
        """Do `steps` steps; report them together with `earlier` ones."""
        first = self.learner.step
        with self._stage("learn", steps, "step") as bar, self.learning_threads():
            # A GPU learns alone: meanwhile other cores draw the next batches. On a CPU the steps
            # themselves keep all cores busy.
            threads = 0 if self.learner.device.type == "cpu" else min(self.cores - 1, SAMPLERS)
            bar.iterable = map_ahead(self.batch, range(first, first + steps), threads)
            report = self.learner.train(bar, earlier)
        self.run.state.step = self.learner.step
        return report

    def learning_threads(self) -> contextlib.AbstractContextManager[None]:
        """Set the learner's number of threads."""
        return threads_per_evaluation(min(self.cores, self.learner.useful_threads))

    def batch(self, step: int) -> Batch[Float32Array]:
        settings = self.config.learner
        rng = np.random.default_rng([*self.run.seed(LEARN), step])
        return self.replay.sample(settings.batch_size, rng, True, settings.search_value_weight)

    def gate(self, steps: StepReport, under_way: bool = False) -> "GateResult | None":
        """Play a gate that is due, after steps; without gates the newest network is the best.

        Returns its result if a gate ended. One that is `under_way` is always due.
        """
        state, settings, result = self.run.state, self.config.gate, None
        if not (steps.steps or under_way):
            return None
        if not settings.games:
            self.best = make_evaluator(self.learner.ema_network, self.config.inference)
        elif under_way or state.iteration % settings.interval == 0:
            with self._stage("gate", settings.games, "game") as bar:
                result = self.play_gate(bar.update)
        self.save_newest()
        return result

    def save_newest(self) -> None:
        """Save the newest player; without gates it is the best."""
        name = self.run.save_player(self.checkpoint())
        if not self.config.gate.games:
            self.run.state.best = name

    def play_gate(self, show: Progress) -> "GateResult | None":
        """Let the challenger play the best; return the result."""
        from alphazero.training.gate import decide_gate, play_gate

        challenger = make_evaluator(self.learner.ema_network, self.config.inference)
        players = self.game, self.config, challenger, self.best
        play = partial(play_gate, *players, cores=self.cores, show=show)
        result = decide_gate(self.game, self.config, self.run.seed(GATE), play)
        return self.decide(self.checkpoint(), challenger, result)

    def decide(
        self, checkpoint: Checkpoint, challenger: BatchedEvaluator, result: "GateResult"
    ) -> "GateResult":
        """Make the challenger the best if the gate accepts it; return the result."""
        state = self.run.state
        state.rating += result.gain
        rating = state.rating if result.accepted else state.rating + result.match.elo
        name = self.run.save_player(dataclasses.replace(checkpoint, rating=rating))
        if result.accepted:
            self.best, state.best = challenger, name
        self.run.save_sample("gate", result.records[0])
        return result

    def measure(self) -> dict[str, float]:
        """Measure the best player against anchors and solved positions, if that is due."""
        if self.evaluation is None or not (work := self.evaluation.due(self.run.state.iteration)):
            return {}
        with self._stage("measure", work, "answer") as bar:
            # The same openings each time: changes of the curve are those of the player.
            seed = [self.config.run.seed, 0, MEASURE]
            return self.evaluation.measure(self.best, seed, self.workers, bar.update)

    def report(
        self,
        write: Callable[..., None],
        games: SelfPlayResult,
        steps: StepReport,
        result: "GateResult | None",
        strength: Mapping[str, float],
    ) -> dict[str, float]:
        """Write the iteration's metrics, print one line about it, and return the curves' values."""
        state = self.run.state
        texts = {"selfplay/sample_game": self.run.save_sample("selfplay", games.finished[0])}
        if self.is_first:
            texts["run/config"], self.is_first = dump_config(self.config), False
        report = IterationReport(
            config=self.config,
            state=state,
            games=games,
            steps=steps,
            gate=result,
            measurements={**self.holdout_losses, **strength},
            int8=self.selfplay.comparison,
            resign_below=self.resign_below,
            replay=self.replay,
            seconds=self.seconds,
        )
        metrics = report.values()
        write(state.iteration, metrics, texts, report.histograms())
        left = tqdm.format_interval(self.run.seconds_left() or 0)
        say(f"{report.line()}; {left} left")
        return metrics

    def save(self) -> None:
        """Publish this iteration: a resumed run starts with the next one."""
        with self._stage("save", 1, "state") as bar:
            self.run.save_state(self.learner.state(), self.unfinished)
            self.run.publish()
            bar.update()

    def _save_first(self) -> None:
        """Publish the untrained network, so that the run always has a best player."""
        self._set_best(self.learner.ema_network)
        rating = 0.0 if self.config.gate.games else None
        self.run.state.best = self.run.save_player(self.checkpoint(rating))
        self.save()

    def _restore(self) -> None:
        state = self.run.state
        self.learner.restore(self.run.load_learner(), state.step)
        self._set_best(self.run.load_best().network())
        for iteration in state.shards:
            self.replay.add(iteration, self.run.load_shard(iteration), state.positions)
        self.unfinished = self.run.load_games(state.unfinished).records()

    def _set_best(self, network: ResNet) -> None:
        """Make `network` the best player, after a check that the device computes it correctly."""
        from alphazero.network.inference.device_check import check_device

        self.best = make_evaluator(network, self.config.inference)
        agreement = check_device(self.best, network, self.game)
        say(f"self-check: {agreement}")

    def checkpoint(self, rating: float | None = None) -> Checkpoint:
        """Return the challenger."""
        return self.run.checkpoint(self.learner.ema_network, rating)

    def close(self) -> None:
        """Release what the run used; nothing on one machine."""

    @contextlib.contextmanager
    def _stage(self, name: str, total: int, unit: str) -> Iterator[Any]:
        begin = time.monotonic()
        title = f"iteration {self.run.state.iteration:,} {name}"
        with progress_bar(total, unit, desc=title) as bar:
            yield bar
        self.seconds[name] = time.monotonic() - begin
        self.run.state.seconds += self.seconds[name]


def holdout_value_loss(
    player: Evaluator,
    replay: ReplayBuffer,
    newest: GameBatch,
    settings: LearnerConfig,
    seed: Sequence[int],
) -> dict[str, float]:
    """Return the value losses in games not learned from yet and in games of the window, by metric.

    The `newest` games enter the window afterwards, so no game has to be kept from training. Both
    kinds of positions are drawn as in training, but without symmetries, and evaluated by the
    `player`. A loss is the mean of (z - v)², 0 to 4. Empty if one kind has no positions.
    """
    alone = ReplayBuffer(replay.game, replay.settings)
    alone.add(0, newest)
    if not (replay.window and alone.window):
        return {}
    rng, weight, losses = np.random.default_rng(seed), settings.search_value_weight, {}
    for kind, games in ("seen", replay), ("unseen", alone):
        batch = games.sample(HOLDOUT_POSITIONS, rng, False, weight)
        errors = batch.values - player.evaluate(batch.observations)[1]
        losses[f"learner/{kind}_value_loss"] = float(np.square(errors, dtype=np.float64).mean())
    return losses
