"""The training loop: each iteration plays, stores, learns, gates, measures, reports and publishes.

Silver et al., *Mastering the game of Go without human knowledge*, Nature 550 (2017).
"""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from alphazero.arena.elo import MatchResult
from alphazero.config.loader import config_from, dump_config
from alphazero.config.reference import changed_values
from alphazero.config.schema import Config
from alphazero.games.contract.check import refuse_unsound
from alphazero.games.game import Game
from alphazero.games.registry import make_game
from alphazero.network.checkpoint import Checkpoint, check_network_size, checkpoint_bytes
from alphazero.network.inference.backend import (
    explain_backend,
    explain_threads,
    make_evaluator,
    num_selfplay_threads,
    resolve_backend,
)
from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.network.inference.device_check import check_device
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.inference.quantization import QuantizationError
from alphazero.network.resnet import ResNet
from alphazero.network.transfer import load_initial
from alphazero.records.game_record import NEVER_RESIGN, GameRecord
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import Batch, ReplayBuffer
from alphazero.training.evaluation import MetricValues, PlayerEvaluation
from alphazero.training.int8 import quantize
from alphazero.training.learning.data_parallel import Group, init_process_group
from alphazero.training.learning.learner import StepReport
from alphazero.training.learning.losses import StepLosses
from alphazero.training.learning.run_learner import follow_leader, new_learner
from alphazero.training.learning.step_schedule import StepSchedule
from alphazero.training.manifest import check_resumable, player_name, run_folder
from alphazero.training.monitoring.dashboard import tensorboard_layout
from alphazero.training.monitoring.holdout import holdout_value_loss
from alphazero.training.monitoring.iteration_report import IterationReport, save_samples
from alphazero.training.monitoring.tensorboard import Metrics, TensorBoardWriter
from alphazero.training.monitoring.time_left import StageBar, TimeLeft
from alphazero.training.play_backend import (
    GateResult,
    LocalBackend,
    NetworkSnapshot,
    PlayBackend,
    SelfPlayRequest,
)
from alphazero.training.random_streams import CALIBRATE, GATE, HOLDOUT, LEARN, MEASURE, PLAY, stream
from alphazero.training.resignation import non_resigned_games, resign_threshold
from alphazero.training.run_directory import RunDirectory
from alphazero.training.run_lock import locked
from alphazero.training.selfplay import SelfPlayResult
from alphazero.utils.files import printable
from alphazero.utils.jobs import map_ahead, threads_per_evaluation
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import Observer, Progress, no_observer, progress_bar, say

SAMPLERS = 4
"""The most threads that draw batches for a GPU; each holds one batch ahead."""


def train(config: Config | Mapping[str, Any] | Path | str, observe: Observer = no_observer) -> Path:
    """Train a new run until its budget is spent; return its folder.

    `config` is a configuration, its sections as nested dicts, or the path of a YAML file.
    `observe` receives each event of `alphazero train --json`.

    Raises:
        AlphaZeroError: when the run cannot start or continue; published iterations stay intact.
    """
    config = config_from(config)
    game = make_game(config.game.name, **config.game.options)
    _check(config, game)
    if config.network.initial:
        skeleton = ResNet.of(game, config.network, None)
        load_initial(config.network.initial, skeleton, np.random.default_rng(0))
    return _train(run_folder(config), lambda: RunDirectory.create(config), observe)


def resume(
    folder: Path | str, overrides: Sequence[str] = (), observe: Observer = no_observer
) -> Path:
    """Continue an interrupted run, or one whose budget `overrides` enlarge; return its folder.

    On the same machine the result equals that of an uninterrupted run. `observe` is as in `train`.

    Raises:
        AlphaZeroError: when there is nothing to resume, or as in `train`.
    """
    folder = Path(folder)
    check_resumable(folder)

    def open_run() -> RunDirectory:
        run = RunDirectory.resume(folder, overrides)
        _check(run.config, run.game)
        return run

    return _train(folder, open_run, observe)


def _check(config: Config, game: Game) -> None:
    refuse_unsound(game)
    check_network_size(config, game)
    resolve_backend(config.inference)


def _train(folder: Path, open_run: Callable[[], RunDirectory], observe: Observer) -> Path:
    """Train the run in `folder`; several processes under torchrun share the learner's steps."""
    group = init_process_group()
    if group and group.rank:
        follow_leader(group, folder)
    else:
        with locked(folder):
            _train_opened(open_run(), group, observe)
    return folder


def _train_opened(run: RunDirectory, group: Group | None, observe: Observer) -> None:
    backend, folder = explain_backend(run.config.inference), printable(run.folder)
    verb = "resuming" if run.state.iteration else "training into"
    parent = printable(run.folder.parent)
    say(f"{verb} {folder}; watch with: tensorboard --logdir {parent}")
    say(backend)
    observe({"event": "start", **_progress_of(run), "backend": backend})
    threads = run.config.run.threads or usable_cores()
    local = run.config.selfplay.distributed is None
    if local and (advice := explain_threads(run.config, threads)):
        say(advice)
    with threads_per_evaluation(threads), Training(run, threads, group) as training:
        if run.budget_is_spent():
            say(
                f"its budget is spent, at iteration {run.state.iteration:,}; to go on, enlarge it, "
                "as with budget.iterations=..."
            )
        else:
            with TensorBoardWriter(
                run.folder / "tensorboard",
                run.state.iteration,
                tensorboard_layout(run.config),
                changed_values(run.config),
            ) as board:
                while not run.budget_is_spent():
                    figures = training.iterate(board.write)
                    observe({"event": "iteration", **_progress_of(run), "metrics": figures})
    run.clean_up()
    observe({"event": "end", **_progress_of(run)})


def _progress_of(run: RunDirectory) -> dict[str, Any]:
    """Return the fields of every event."""
    state = run.state
    return {
        "run": str(run.folder),
        "game": run.config.game.name,
        "iteration": state.iteration,
        "games": state.games,
        "positions": state.positions,
        "evaluations": state.evaluations,
        "steps": state.step,
        "seconds": state.seconds,
        "best": state.best,
        "budget_spent": run.budget_share(),
        "seconds_left": run.seconds_left(),
    }


class PendingGate(NamedTuple):
    """A gate under way."""

    checkpoint: Checkpoint
    evaluator: BatchedEvaluator
    result: Future[GateResult]


class Training:
    """The parts of a run, and one iteration of them.

    On a cluster the stages overlap: actors play while the learner learns, and a gate's result is
    used in the iteration in which it arrives.
    """

    def __init__(self, run: RunDirectory, cores: int, group: Group | None = None) -> None:
        config = run.config
        self.run = run
        self.config = config
        self.cores = cores
        self.workers = num_selfplay_threads(config, cores)
        self.game = run.game
        self.group = group
        self.learner = new_learner(run, group)
        self.schedule = StepSchedule(config, run.state)
        self.replay = ReplayBuffer(run.game, config.replay, config.network.auxiliary)
        self.evaluation = PlayerEvaluation(self.game, config)
        self.best: BatchedEvaluator
        self.unfinished: list[GameRecord] = []
        """games under way"""
        self.resign_below = NEVER_RESIGN
        self.seconds: dict[str, float] = {"save": 0.0}
        self.time_left = TimeLeft()
        self.int8: QuantizationError | None = None
        """int8 compared with the ordinary precision in this iteration, if it was tried"""
        self.holdout_losses: MetricValues = {}
        """value losses on this iteration's games before they were learned from"""
        self.pending_gate: PendingGate | None = None
        self.early: list[StepLosses] = []
        """losses of the steps that were done ahead of schedule, for the next report"""
        if run.state.best:
            self._restore()
        else:
            self._save_first()
        self.backend = self._make_backend()
        if group is not None:
            group.sync_followers()

    def iterate(self, write: Callable[[int, Metrics], None]) -> MetricValues:
        """Run one iteration and publish its result; return its metrics."""
        state, left = self.run.state, self.run.seconds_left()
        state.iteration += 1
        self.time_left.begin_iteration(self._stages(), left)
        for stage in ("gate", "measure"):
            self.seconds.pop(stage, None)
        before = state.positions
        games = self.play()
        self.store_games(games)
        steps = self.learn(before)
        result = self.gate() if steps.steps or self.pending_gate else None
        figures = self.report(write, games, steps, result, self.measure())
        self.save()
        return figures

    def _stages(self) -> list[str]:
        """Return the stages that this iteration will have, as far as that is known."""
        iteration, gate = self.run.state.iteration, self.config.gate
        plays_gate = self.pending_gate or (gate.games and iteration % gate.interval == 0)
        measures = self.evaluation.due(iteration)
        return [
            "play",
            "learn",
            *["gate"] * bool(plays_gate),
            *["measure"] * bool(measures),
            "save",
        ]

    def play(self) -> SelfPlayResult:
        """Play the best player against itself."""
        settings = self.config.selfplay
        if settings.resign_enabled_fraction:
            # From the games of the last published state, so a resumed run computes the same.
            self.resign_below = resign_threshold(
                non_resigned_games(self.replay.shards),
                settings.resign_false_positives,
                settings.resign_threshold_max,
            )
        with self._stage("play", settings.games_per_iteration, "game") as bar:
            request = SelfPlayRequest(
                self._selfplay_network(),
                self._seed(PLAY),
                self.resign_below,
                self.unfinished,
                settings.simulations_fraction(self.run.state.positions),
            )
            games = self.backend.play(request, bar.update, self._learn_ahead)
        self.unfinished = games.unfinished
        return games

    def _selfplay_network(self) -> NetworkSnapshot:
        """Return the best player for self-play: in int8 if configured, available and accurate."""
        settings, best = self.config.inference, self._best_snapshot()
        evaluator = best.evaluator
        if settings.selfplay_precision != "int8" or not isinstance(evaluator, OpenVINOEvaluator):
            return best
        quantized = quantize(evaluator, self.replay, settings, self._seed(CALIBRATE))
        self.int8 = quantized.comparison
        if self.int8 and quantized.calibration is None:
            refusal = f"self-play stays in {evaluator.precision}; {self.int8.explain(settings)}"
            say(f"iteration {self.run.state.iteration}: {refusal}")
        return best._replace(evaluator=quantized.evaluator, calibration=quantized.calibration)

    def store_games(self, games: SelfPlayResult) -> None:
        """Add the games to the replay window, in memory and on disk."""
        state = self.run.state
        arrays = GameBatch.of(self.game, games.finished)
        seed = self._seed(HOLDOUT)
        self.holdout_losses = holdout_value_loss(
            self.learner, self.replay, arrays, self.config.learner, seed
        )
        self.replay.add(state.iteration, arrays)
        state.positions = self.replay.total_positions
        state.evaluations += games.stats.evaluations
        state.games += len(games.finished)
        state.shards = self.replay.iterations
        self.run.save_games(arrays)

    def learn(self, positions_before: int) -> StepReport:
        """Do the steps that are due."""
        steps = self.schedule.take_due(positions_before, self.run.state.positions)
        early, self.early = self.early, []
        first = self.learner.step
        with self._stage("learn", steps, "step") as bar, self._learning_threads():
            # A GPU learns alone: meanwhile other cores draw the next batches. On a CPU the steps
            # themselves keep all cores busy.
            threads = 0 if self.learner.device.type == "cpu" else min(self.cores - 1, SAMPLERS)
            bar.iterable = map_ahead(self._batch, range(first, first + steps), threads)
            report = self.learner.train(bar, early)
        self.run.state.step = self.learner.step
        return report

    def _learn_ahead(self) -> bool:
        """Do one step ahead of schedule, while games are missing; return False at the limit."""
        if not self.replay.window or not self.schedule.take_ahead():
            return False
        with self._learning_threads():
            self.early.append(self.learner.train_step(self._batch(self.learner.step)))
        return True

    def _learning_threads(self) -> contextlib.AbstractContextManager[None]:
        """Set the learner's number of threads."""
        return threads_per_evaluation(min(self.cores, self.learner.useful_threads))

    def _batch(self, step: int) -> Batch:
        """Draw the batch of a step."""
        settings = self.config.learner
        rng = np.random.default_rng([*self._seed(LEARN), step])
        return self.replay.sample(
            settings.batch_size, rng, settings.augment_symmetries, settings.search_value_weight
        )

    def gate(self) -> MatchResult | None:
        """Start or finish a gate; without gates, the newest network always becomes the best."""
        state, settings = self.run.state, self.config.gate
        if not settings.games:
            self.best = make_evaluator(self.learner.ema_network, self.config.inference)
            state.best = self.run.save_player(self._checkpoint())
            return None
        result = None
        begins = self.pending_gate is None and state.iteration % settings.interval == 0
        if begins or self.pending_gate:
            with self._stage("gate", settings.games, "game") as bar:
                challenge = self.pending_gate or self._begin_gate(bar.update)
                # At the end of the run no later iteration could use the result: wait for it.
                if challenge.result.done() or self.run.budget_is_spent():
                    result = self._end_gate(challenge)
                    self.pending_gate = None
                else:
                    self.pending_gate = challenge
        self.run.save_player(self._checkpoint())
        return result

    def _begin_gate(self, show: Progress) -> PendingGate:
        checkpoint = self._checkpoint()
        evaluator = make_evaluator(self.learner.ema_network, self.config.inference)
        name = player_name(checkpoint.step)
        challenger = NetworkSnapshot(name, evaluator, lambda: checkpoint_bytes(checkpoint, name))
        future = self.backend.gate(challenger, self._best_snapshot(), self._seed(GATE), show)
        return PendingGate(checkpoint, evaluator, future)

    def _end_gate(self, challenge: PendingGate) -> MatchResult:
        """Wait for a gate's result; make the challenger the best if it is accepted."""
        state = self.run.state
        result, records = challenge.result.result()
        rating = state.rating + result.elo
        name = self.run.save_player(dataclasses.replace(challenge.checkpoint, rating=rating))
        if self.config.gate.accepts(result.score):
            self.best, state.best, state.rating = challenge.evaluator, name, rating
        save_samples(self.run, "gate", self.game, records)
        return result

    def measure(self) -> MetricValues:
        """Measure the best player against anchors and solved positions, if that is due."""
        work = self.evaluation.due(self.run.state.iteration)
        if not work:
            return {}
        with self._stage("measure", work, "answer") as bar:
            seed = self._seed(MEASURE)
            return self.evaluation.measure(self.best, seed, self.workers, bar.update)

    def report(
        self,
        write: Callable[[int, Metrics], None],
        games: SelfPlayResult,
        steps: StepReport,
        result: MatchResult | None,
        strength: MetricValues,
    ) -> MetricValues:
        """Write the iteration's metrics, print one line about it, and return the curves' values."""
        state = self.run.state
        samples = save_samples(self.run, "selfplay", self.game, games.finished)
        texts = {"selfplay/sample_game": samples}
        if state.iteration == 1:
            texts["run/config"] = dump_config(self.config)
        report = IterationReport(
            config=self.config,
            game=self.game,
            state=state,
            games=games,
            steps=steps,
            gate=result,
            measured=self.holdout_losses | strength,
            int8=self.int8,
            resign_below=self.resign_below,
            replay=self.replay,
            seconds=self.seconds,
        )
        figures = report.figures()
        pictures = report.pictures()
        write(state.iteration, Metrics(figures, texts, report.histograms(), pictures))
        say(report.line())
        return figures

    def save(self) -> None:
        """Publish this iteration: a resumed run starts with the next one."""
        with self._stage("save", 1, "state") as bar:
            self.run.save_learner(self.learner.state())
            self.run.save_unfinished(self.unfinished)
            self.run.publish()
            bar.update()

    def _save_first(self) -> None:
        """Publish the untrained network, so that the run always has a best player."""
        self._set_best(self.learner.ema_network)
        rating = 0.0 if self.config.gate.games else None
        self.run.state.best = self.run.save_player(self._checkpoint(rating))
        self.save()

    def _restore(self) -> None:
        state = self.run.state
        self.learner.restore(self.run.load_learner(), state.step)
        self._set_best(self.run.load_best().network())
        for iteration in state.shards:
            self.replay.add(iteration, self.run.load_shard(iteration), state.positions)
        self.unfinished = self.run.load_unfinished()

    def _set_best(self, network: ResNet) -> None:
        """Make `network` the best player, after a check that the device computes it correctly."""
        self.best = make_evaluator(network, self.config.inference)
        agreement = check_device(self.best, network, self.game)
        say(f"self-check: {agreement}")

    def _best_snapshot(self) -> NetworkSnapshot:
        name = self.run.state.best
        return NetworkSnapshot(name, self.best, lambda: self.run.read(name))

    def _checkpoint(self, rating: float | None = None) -> Checkpoint:
        return self.run.checkpoint(self.learner.ema_network, rating)

    def _make_backend(self) -> PlayBackend:
        if self.config.selfplay.distributed is None:
            return LocalBackend(self.game, self.config, self.cores)
        from alphazero.training.distributed.ray_cluster import open_actor_pool

        return open_actor_pool(self.game, self.config, self.run.state.iteration)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.backend.close()
        if self.group is not None:
            with contextlib.suppress(RuntimeError):  # the followers raised the same error and ended
                self.group.shutdown()

    def _seed(self, purpose: int) -> list[int]:
        return stream(self.config, self.run.state.iteration, purpose)

    @contextlib.contextmanager
    def _stage(self, name: str, total: int, unit: str) -> Iterator[Any]:
        begin = time.monotonic()
        title = f"iteration {self.run.state.iteration:,} {name}"
        self.time_left.begin(name)
        with progress_bar(
            total, unit, desc=title, factory=StageBar, time_left=self.time_left
        ) as bar:
            yield bar
        self.seconds[name] = time.monotonic() - begin
        self.time_left.end(name, self.seconds[name])
        self.run.state.seconds += self.seconds[name]
