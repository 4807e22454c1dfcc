"""The loop on a cluster: actors play all the time while this process learns.

The stages overlap. The learner does steps ahead of schedule while games are missing, and a gate's
result is used in the iteration in which it arrives.
"""

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, NamedTuple

from torch import Tensor

from alphazero.network.checkpoint import Checkpoint, checkpoint_bytes
from alphazero.network.inference.backend import make_evaluator
from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.training.distributed.ray_cluster import open_actor_pool
from alphazero.training.gate import GateResult
from alphazero.training.iteration import Training
from alphazero.training.learning.learner import StepReport
from alphazero.training.manifest import player_name
from alphazero.training.run_directory import GATE, RunDirectory
from alphazero.training.selfplay import SelfPlayNetwork, SelfPlayResult
from alphazero.utils.progress import Progress

MAX_STEPS_AHEAD = 50
"""Steps that the learner may do before the games arrive that make them due: AGZ's stages ran in
parallel without a bound, but more steps would learn the same window by heart."""


class PendingGate(NamedTuple):
    """A gate under way."""

    checkpoint: Checkpoint
    evaluator: BatchedEvaluator
    result: Future[GateResult]


class DistributedTraining(Training):
    """Training with the games of Ray actors."""

    def __init__(self, run: RunDirectory, *arguments: Any) -> None:
        # First, for a cluster that refuses must not leave a run behind.
        self.pool = open_actor_pool(run.game, run.config, run.state.iteration)
        try:
            super().__init__(run, *arguments)
        except BaseException:
            self.close()
            raise
        self.pending_gate: PendingGate | None = None
        self.early_metrics: list[Mapping[str, Tensor]] = []
        """metrics of the steps that were done ahead of schedule, for the next report"""
        due = self.config.steps_due(self.run.state.positions)
        self.steps_ahead = min(max(self.learner.step - due, 0), MAX_STEPS_AHEAD)
        """steps that were done before they were due; resuming may change how many are due"""

    def play_games(self, network: SelfPlayNetwork, show: Progress) -> SelfPlayResult:
        best = self.run.read(self.run.state.best)
        fraction = self.config.selfplay.simulations_fraction(self.run.state.positions)
        terms = self.resign_below, fraction, network.calibration
        games = self.pool.play(best, show, self._learn_ahead, *terms)
        return games._replace(unfinished=self.unfinished)

    def _learn_ahead(self) -> bool:
        """Do one step ahead of schedule, while games are missing; return False at the limit."""
        if not self.replay.window or self.steps_ahead >= MAX_STEPS_AHEAD:
            return False
        with self.learning_threads():
            self.early_metrics.append(self.learner.train_step(self.batch(self.learner.step)))
        self.steps_ahead += 1
        return True

    def learn(self, positions_before: int) -> StepReport:
        metrics, self.early_metrics = self.early_metrics, []
        due = self.config.steps_due(self.run.state.positions)
        steps = due - self.config.steps_due(positions_before)
        done = min(self.steps_ahead, steps)
        self.steps_ahead -= done
        return self.do_steps(steps - done, metrics)

    def gate(self, steps: StepReport, under_way: bool = False) -> GateResult | None:
        return super().gate(steps, under_way or self.pending_gate is not None)

    def play_gate(self, show: Progress) -> GateResult | None:
        """Begin a gate, or use its result once it is there, and then begin one that is due."""
        earlier, is_last = self.pending_gate, self.run.budget_is_spent()
        pending = earlier or self._begin_gate(show)
        # At the end of the run no later iteration could use the result: wait for it.
        if not (pending.result.done() or is_last):
            self.pending_gate = pending
            return None
        self.pending_gate = None
        result = self.decide(pending.checkpoint, pending.evaluator, pending.result.result())
        is_due = self.run.state.iteration % self.config.gate.interval == 0
        if earlier and is_due and not is_last and self.learner.step > earlier.checkpoint.step:
            self.pending_gate = self._begin_gate(show)
        return result

    def save_newest(self) -> None:
        """Save the newest player; one whose gate is under way is saved with its rating after it."""
        if not self.pending_gate or self.pending_gate.checkpoint.step != self.learner.step:
            super().save_newest()

    def _begin_gate(self, show: Progress) -> PendingGate:
        checkpoint = self.checkpoint()
        evaluator = make_evaluator(self.learner.ema_network, self.config.inference)
        challenger = checkpoint_bytes(checkpoint, player_name(checkpoint.step))
        best = self.run.read(self.run.state.best)
        future = self.pool.gate(challenger, best, self.run.seed(GATE), show)
        return PendingGate(checkpoint, evaluator, future)

    def close(self) -> None:
        self.pool.close()
