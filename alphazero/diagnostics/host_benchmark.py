"""The speed of self-play without a network: the trees alone, or with a device of a set speed.

It shows how many evaluations a second this machine's cores request, and which share of a device's
speed they use.

Letters: R rows of a batch, A actions.
"""

import math
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Final

import numpy as np

from alphazero.config.schema import Config
from alphazero.diagnostics.benchmark import Played, SelfPlayGames
from alphazero.games import make_game
from alphazero.mcts.evaluator import Evaluator
from alphazero.training.selfplay import SelfPlayStats
from alphazero.utils.arrays import Float32Array
from alphazero.utils.progress import Progress, no_progress
from alphazero.utils.tables import align

PREPARED_ROWS: Final = 4096

LOGIT_DEVIATION, VALUE_DEVIATION = 2.5, 0.4
"""Standard deviations of the prepared logits, and of the values before tanh. The trained players of
this repository have 2.9 and 0.7 in Connect Four, and 2.4 and 0.3 in Go on 9 x 9; their simulations
are 4.8 and 3.2 plies deep. These numbers give 4.0 and 4.1 plies; equal logits give 3.1 and 11."""

WAKE_SECONDS: Final = 70e-6
"""Linux wakes a sleeping thread about this late. A wait sleeps shorter by it, and spins for the
rest."""

ROUNDS: Final = 5
"""All measurements alternate this often: a machine's speed drifts."""

WARM_UP_SECONDS: Final = 0.5

QUIET: Final = 0.9
"""Cores that one worker without a device uses at least on a machine with no other work."""

EXTRAPOLATED_CORES: Final = (4, 16, 64)

_yield_core = getattr(os, "sched_yield", lambda: None)
"""Lets other threads run, without the delay of `time.sleep(0)`."""


class PreparedEvaluator:
    """Answers at once with random rows that were drawn beforehand, in turn.

    Logits are normal, values the tanh of normal numbers. A position that is evaluated twice gets
    two answers, unless the search's cache has the first.
    """

    def __init__(self, num_actions: int, most_rows: int, rng: np.random.Generator) -> None:
        rows = max(PREPARED_ROWS, most_rows)
        self._logits = rng.normal(0, LOGIT_DEVIATION, (rows, num_actions)).astype(np.float32)
        self._values = np.tanh(rng.normal(0, VALUE_DEVIATION, rows)).astype(np.float32)
        self._next = 0

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return logits [R, A] and values [R]: views, which the next answers may repeat."""
        begin, end = self._next, self._next + len(observations)
        if end > len(self._values):
            begin, end = 0, len(observations)
        self._next = end
        return self._logits[begin:end], self._values[begin:end]


class PacedDevice:
    """Evaluates one batch after the other at `rate` positions a second, for several threads.

    A batch is ready when its turn has come and `size / rate` seconds have passed, and not before
    `latency` seconds. The latencies of several batches overlap.
    """

    def __init__(self, rate: float = math.inf, latency: float = 0.0) -> None:
        self.rate = rate
        self.latency = latency
        self._free_at = 0.0
        self._lock = threading.Lock()

    def wait_for(self, positions: int) -> None:
        """Hand over a batch and sleep until it is ready."""
        with self._lock:
            now = time.perf_counter()
            self._free_at = max(self._free_at, now) + positions / self.rate
            ready_at = max(self._free_at, now + self.latency)
        if (left := ready_at - time.perf_counter()) > WAKE_SECONDS:
            time.sleep(left - WAKE_SECONDS)
        while time.perf_counter() < ready_at:
            _yield_core()


class PacedEvaluator:
    """Gives another evaluator's answers when a device would have them ready."""

    def __init__(self, evaluator: Evaluator, device: PacedDevice) -> None:
        self.evaluator = evaluator
        self.device = device

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return logits [R, A] and values [R]."""
        answers = self.evaluator.evaluate(observations)
        self.device.wait_for(len(observations))
        return answers


@dataclass(frozen=True)
class HostRate:
    """Rates per second of self-play with one number of workers and one device."""

    workers: int
    device: float
    """positions a second; infinite: no device, answers at once"""
    evaluations: float
    simulations: float
    cores: float
    """cores in use: CPU time per second"""

    @property
    def share(self) -> float:
        """Share of the device's speed that is used."""
        return self.evaluations / self.device

    @property
    def core_microseconds(self) -> float:
        """CPU time per simulation in microseconds."""
        return 1e6 * self.cores / self.simulations


HEADER: Final = (
    *("workers", "device/s", "evaluations/s", "of device"),
    *("simulations/s", "speedup", "cores", "core µs/simulation"),
)


@dataclass(frozen=True)
class HostBenchmark:
    """Rates, device by device."""

    rates: Sequence[HostRate]
    cores: int

    def __str__(self) -> str:
        lines = [align([HEADER, *map(self._row, self.rates)])]
        serial = self.serial_share
        if serial is not None:
            alone = self._alone(1)
            lines.append(f"extrapolated by Amdahl's law, {serial:.0%} of the work one at a time:")
            lines += [
                f"{cores:7} cores {alone * cores / (1 + serial * (cores - 1)):19,.0f} evaluations/s"
                for cores in EXTRAPOLATED_CORES
            ]
        for rate in self.rates:
            if rate.workers == 1 and math.isinf(rate.device) and rate.cores < QUIET:
                lines.append(
                    f"the machine is busy: one worker without a device had {rate.cores:.2f} cores"
                )
        return "\n".join(lines)

    @property
    def serial_share(self) -> float | None:
        """The share s of the work that one worker at a time can do, in [0, 1]; None: not measured.

        The speedup of n workers is n / (1 + s (n - 1)) (Amdahl, AFIPS 1967), measured without a
        device, with the most workers that have a core each. Python's lock is the main part.
        """
        counts = [rate.workers for rate in self.rates if rate.workers <= self.cores]
        most = max(counts, default=1)
        if 1 not in counts or most == 1:
            return None
        speedup = self._alone(most) / self._alone(1)
        return min(max((most / speedup - 1) / (most - 1), 0.0), 1.0)

    def _alone(self, workers: int) -> float:
        """Return the evaluations a second without a device."""
        return mean(
            rate.evaluations
            for rate in self.rates
            if rate.workers == workers and math.isinf(rate.device)
        )

    def _row(self, rate: HostRate) -> tuple[str, ...]:
        first = next(other for other in self.rates if other.device == rate.device)
        paced = math.isfinite(rate.device)
        return (
            str(rate.workers),
            f"{rate.device:,.0f}" if paced else "none",
            f"{rate.evaluations:,.0f}",
            f"{rate.share:.1%}" if paced else "",
            f"{rate.simulations:,.0f}",
            f"{rate.simulations / first.simulations:.2f}",
            f"{rate.cores:.2f}",
            f"{rate.core_microseconds:.2f}",
        )


def benchmark_host(
    config: Config,
    workers: Sequence[int],
    devices: Sequence[float],
    latency: float,
    cores: int,
    seconds: float,
    show: Progress = no_progress,
) -> HostBenchmark:
    """Measure self-play for about `seconds`, for each of `workers` with each device and without.

    A device is given by its positions a second; all have the same `latency` in seconds. `show` is
    called with 1 after each measurement: `len(workers) * (len(devices) + 1) * ROUNDS` times.
    """
    game, device = make_game(config.game.name, **config.game.options), PacedDevice()
    num_games, rng = config.selfplay.parallel_games, np.random.default_rng(config.run.seed)

    def evaluators(count: int) -> list[PacedEvaluator]:
        prepared = [
            PreparedEvaluator(game.num_actions, num_games, stream) for stream in rng.spawn(count)
        ]
        return [PacedEvaluator(evaluator, device) for evaluator in prepared]

    games = [SelfPlayGames(game, config, evaluators(count)) for count in workers]
    for each in games:
        each.play(WARM_UP_SECONDS)
    cells = [(rate, index) for rate in (*devices, math.inf) for index in range(len(workers))]
    totals = {cell: (Played(), SelfPlayStats()) for cell in cells}
    for _ in range(ROUNDS):
        for rate, index in cells:
            device.rate, device.latency = rate, latency if math.isfinite(rate) else 0.0
            before, (played, stats) = games[index].stats(), totals[rate, index]
            played += games[index].play(seconds / ROUNDS / len(cells))
            totals[rate, index] = played, stats + (games[index].stats() - before)
            show(1)
    rates = [
        HostRate(
            len(games[index].matches),
            rate,
            stats.evaluations / played.span,
            stats.simulations / played.span,
            played.core_seconds / played.span,
        )
        for (rate, index), (played, stats) in totals.items()
    ]
    return HostBenchmark(rates, cores)
