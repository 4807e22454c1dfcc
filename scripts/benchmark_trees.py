"""Measure the trees of self-play without a network: leaves are answered at once, by random numbers.

python scripts/benchmark_trees.py CONFIG [section.key=value ...] [--workers 1,2] [--seconds 40]

Letters: R rows of a batch, A actions.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from alphazero.cli.argument_types import positive_numbers, seconds
from alphazero.cli.main import run_and_report
from alphazero.cli.shared import config_file_arguments
from alphazero.config.loader import load_config
from alphazero.config.schema import Config
from alphazero.diagnostics.benchmark import Played, SelfPlayGames
from alphazero.games import make_game
from alphazero.training.selfplay import SelfPlayStats
from alphazero.utils.arrays import Float32Array
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import Progress, no_progress, progress_bar
from alphazero.utils.tables import align

PREPARED_ROWS: Final = 4096

LOGIT_DEVIATION, VALUE_DEVIATION = 2.5, 0.4
"""Standard deviations of the prepared logits, and of the values before tanh. The trained players of
this repository have 2.9 and 0.7 in Connect Four, and 2.4 and 0.3 in Go on 9 x 9; their simulations
are 4.8 and 3.2 plies deep. These numbers give 4.0 and 4.1 plies; equal logits give 3.1 and 11."""

ROUNDS: Final = 5
"""All measurements alternate this often: a machine's speed drifts."""


class PreparedEvaluator:
    """Answers with random rows that were drawn beforehand.

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


class Rate(NamedTuple):
    """Rates per second of self-play with one number of workers."""

    workers: int
    evaluations: float
    simulations: float
    cores: float
    """cores in use: CPU time per second"""


def table(rates: Sequence[Rate]) -> str:
    """Return the rates as text."""
    header = "workers", "evaluations/s", "simulations/s", "speedup", "cores", "core µs/simulation"
    rows: list[Sequence[str]] = [header]
    for rate in rates:
        speedup = rate.simulations / rates[0].simulations
        numbers = f"{rate.evaluations:,.0f}", f"{rate.simulations:,.0f}", f"{speedup:.2f}"
        spent = f"{rate.cores:.2f}", f"{1e6 * rate.cores / rate.simulations:.2f}"
        rows.append((str(rate.workers), *numbers, *spent))
    return align(rows)


def benchmark_host(
    config: Config, workers: Sequence[int], seconds: float, show: Progress = no_progress
) -> list[Rate]:
    """Measure self-play for about `seconds`, for each number of `workers`.

    `show` is called with 1 after each measurement: `len(workers) * ROUNDS` times.
    """
    game, rng = make_game(config.game.name, **config.game.options), np.random.default_rng(0)
    sizes, started = (game.num_actions, config.selfplay.parallel_games), []
    for count in workers:
        evaluators = [PreparedEvaluator(*sizes, stream) for stream in rng.spawn(count)]
        started.append(SelfPlayGames(game, config, evaluators))
        started[-1].play(0.5)  # warms up
    totals = [(Played(), SelfPlayStats(), 0.0) for _ in workers]
    for _ in range(ROUNDS):
        for index, games in enumerate(started):
            before, (played, stats, cpu) = games.stats(), totals[index]
            cpu -= time.process_time()
            played += games.play(seconds / ROUNDS / len(started))
            cpu += time.process_time()
            totals[index] = played, stats + (games.stats() - before), cpu
            show(1)
    return [
        Rate(
            count,
            stats.evaluations / played.seconds,
            stats.simulations / played.seconds,
            cpu / played.seconds,
        )
        for count, (played, stats, cpu) in zip(workers, totals, strict=True)
    ]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    config_file_arguments(parser)
    parser.add_argument("--seconds", type=seconds, default=40, help="approximate duration")
    parser.add_argument(
        "--workers",
        type=positive_numbers,
        metavar="N,N",
        help="numbers of threads (default: 1, one per core, two per core)",
    )
    options = parser.parse_intermixed_args()
    config = load_config(options.config, options.overrides)
    games, cores = config.selfplay.parallel_games, config.run.threads or usable_cores()
    counts = options.workers or sorted({min(n, games) for n in (1, cores, 2 * cores)})
    if max(counts) > games:
        parser.error(f"--workers {max(counts)}: selfplay.parallel_games plays {games} at once")
    with progress_bar(len(counts) * ROUNDS, "measurement") as bar:
        print(table(benchmark_host(config, counts, options.seconds, bar.update)))


if __name__ == "__main__":
    sys.exit(run_and_report(main))
