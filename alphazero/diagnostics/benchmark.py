"""The speed of self-play, compared with the network alone on the same device."""

import functools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from alphazero.arena.match import Match
from alphazero.config.schema import Config
from alphazero.games import Game, make_game
from alphazero.mcts.evaluator import Evaluator
from alphazero.mcts.network_search import NetworkSearch
from alphazero.network.checkpoint import check_network_size
from alphazero.network.inference.backend import make_evaluator
from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.network.resnet import ResNet
from alphazero.training.selfplay import SelfPlayStats, make_selfplay_match
from alphazero.utils.arrays import Float32Array
from alphazero.utils.jobs import JobProgress, run_jobs, split_evenly
from alphazero.utils.machine import peak_megabytes
from alphazero.utils.progress import Progress, no_progress

ROUNDS = 16
"""Self-play and the network alone alternate this often: a machine's speed drifts."""


@dataclass(frozen=True)
class Benchmark:
    """Rates per second of self-play and of the network alone."""

    workers: int
    parallel_games: int
    backend: str
    evaluations: float
    simulations: float
    moves: float
    games: float
    network_only: float
    """positions a second in batches of the same size, without search"""
    cache_hits: float
    batch_fill: float
    network_share: float
    """share of the workers' playing time inside the evaluator"""
    peak_megabytes: float

    @property
    def efficiency(self) -> float:
        """Evaluations a second in self-play, as a share of the network alone."""
        return self.evaluations / self.network_only

    def __str__(self) -> str:
        return "\n".join(
            [
                f"search efficiency   {self.efficiency:.3f}",
                f"evaluations/s       {self.evaluations:,.0f}",
                f"network alone/s     {self.network_only:,.0f}",
                f"simulations/s       {self.simulations:,.0f}",
                f"moves/s             {self.moves:,.0f}",
                f"games/s             {self.games:,.1f}",
                f"cache hits          {self.cache_hits:.1%}",
                f"batch fill          {self.batch_fill:.1%}",
                f"parallel games      {self.parallel_games}",
                f"workers             {self.workers}",
                f"backend             {self.backend}",
                f"peak memory         {self.peak_megabytes:,.0f} MiB",
            ]
        )


def untrained_network(
    game: Game, config: Config
) -> tuple[ResNet, BatchedEvaluator, BatchedEvaluator]:
    """Return an untrained network, and its evaluators in the gate and in self-play."""
    network = ResNet.of(game, config.network, config.run.seed)
    evaluator = make_evaluator(network, config.inference)
    int8 = config.inference.selfplay_precision == "int8"
    if int8 and evaluator.computes_int8:
        first = game.observe(game.initial_state())[None]
        return network, evaluator, evaluator.quantized(first)
    return network, evaluator, evaluator


def start_selfplay(
    game: Game, config: Config, evaluator: Evaluator, worker: int, num_games: int
) -> tuple[Match, NetworkSearch]:
    """Start `num_games` games of self-play, with the random numbers of `worker`, from 0 up."""
    rng = np.random.default_rng([config.run.seed, worker])
    match, search = make_selfplay_match(game, config, evaluator, rng, num_games)
    match.start_games()
    return match, search


class SelfPlayGames:
    """Games in progress, split among workers: one per evaluator, or fewer if there are fewer games.

    The cache is cleared after the games of an iteration, as in training.
    """

    def __init__(self, game: Game, config: Config, evaluators: Sequence[Evaluator]) -> None:
        self.game = game
        self.games_per_worker = split_evenly(config.selfplay.parallel_games, len(evaluators))
        started = [
            start_selfplay(game, config, evaluators[worker], worker, num_games)
            for worker, num_games in enumerate(self.games_per_worker)
        ]
        self.matches, self.searches = zip(*started, strict=True)
        self._games_per_iteration = config.selfplay.games_per_iteration
        self._games_since_clearing = 0

    def play(self, seconds: float) -> "Played":
        """Play for about `seconds`, one thread per worker."""
        played = time_matches(self.matches, seconds)
        self._games_since_clearing += played.games
        if self._games_since_clearing >= self._games_per_iteration:
            self._games_since_clearing = 0
            for search in self.searches:
                search.clear_cache()
        return played

    def stats(self) -> SelfPlayStats:
        """Return the counters since the start, summed over the workers."""
        stats = SelfPlayStats()
        for search in self.searches:
            stats.add(search)
        return stats


class SelfPlayBenchmark(SelfPlayGames):
    """A measurement of self-play and of the network alone, with an untrained network.

    Training hardly changes the speed, but brings more cache hits and more solved nodes.
    """

    def __init__(self, config: Config, workers: int) -> None:
        game = make_game(config.game.name, **config.game.options)
        check_network_size(config, game)
        self.network, self.evaluator, self.selfplay_evaluator = untrained_network(game, config)
        super().__init__(game, config, [self.selfplay_evaluator] * workers)

    def measure(self, seconds: float, show: Progress = no_progress) -> Benchmark:
        """Measure for about `seconds`: half of them self-play, half the network alone.

        A large network needs longer for one step of each: after twice the time no round begins.
        """
        length, end = seconds / (2 * ROUNDS), math.inf
        batch_sizes = [search.rows for search in self.searches]
        evaluated, seconds_alone, played, before = 0, 0.0, Played(), SelfPlayStats()
        for number in range(ROUNDS + 1):
            if number == 1:
                # The first round compiles and warms up: it does not count.
                evaluated, seconds_alone, played, before = 0, 0.0, Played(), self.stats()
                end = time.perf_counter() + 2 * seconds
            positions, spent = time_network(self.game, self.selfplay_evaluator, batch_sizes, length)
            evaluated, seconds_alone = evaluated + positions, seconds_alone + spent
            played += self.play(length)
            show(1)
            if time.perf_counter() > end:
                show(ROUNDS - number)
                break
        stats, evaluator = self.stats() - before, self.selfplay_evaluator
        stats.seconds_playing = played.seconds * len(self.games_per_worker)
        return Benchmark(
            workers=len(self.games_per_worker),
            parallel_games=sum(self.games_per_worker),
            backend=f"{type(evaluator).__name__}, {evaluator.device}, {evaluator.precision}",
            evaluations=stats.evaluations / played.seconds,
            simulations=stats.simulations / played.seconds,
            moves=played.moves / played.seconds,
            games=played.games / played.seconds,
            network_only=evaluated / seconds_alone,
            cache_hits=stats.cache_hits,
            batch_fill=stats.batch_fill,
            network_share=stats.network_share,
            peak_megabytes=peak_megabytes(),
        )


@dataclass(frozen=True)
class Played:
    """Games and moves, and the time of playing them."""

    games: int = 0
    moves: int = 0
    seconds: float = 0.0
    """mean over the threads"""
    span: float = 0.0
    """seconds from the begin of the first thread to the end of the last"""
    core_seconds: float = 0.0
    """CPU time of all threads"""

    def __add__(self, other: "Played") -> "Played":
        return Played(*(mine + vars(other)[name] for name, mine in vars(self).items()))


def repeat_in_threads(
    steps: Sequence[Callable[[], int]], seconds: float
) -> tuple[int, float, float, float]:
    """Call each of `steps` for about `seconds`, at least once, in a thread of its own.

    Returns the sum of their results; the mean seconds of a thread, the seconds from the begin of
    the first to the end of the last, and the CPU time of all.
    """
    progress = JobProgress()

    def repeat(step: Callable[[], int]) -> tuple[int, float, float, float]:
        begin, cpu, total = time.perf_counter(), time.thread_time(), step()
        while time.perf_counter() < begin + seconds:
            total += step()
            progress.advance(0)
        return total, begin, time.perf_counter(), time.thread_time() - cpu

    jobs = [functools.partial(repeat, step) for step in steps]
    totals, begins, ends, cpu = zip(*run_jobs(jobs, progress), strict=True)
    spent = (sum(ends) - sum(begins)) / len(jobs)
    return sum(totals), spent, max(ends) - min(begins), sum(cpu)


def time_matches(matches: Sequence[Match], seconds: float) -> Played:
    """Step the matches for about `seconds`, one thread each."""

    def step(match: Match) -> int:
        return len(match.step())

    before = sum(match.moves_made for match in matches)
    steps = [functools.partial(step, match) for match in matches]
    games, *times = repeat_in_threads(steps, seconds)
    return Played(games, sum(match.moves_made for match in matches) - before, *times)


def time_network(
    game: Game, evaluator: Evaluator, batches: Sequence[int], seconds: float
) -> tuple[int, float]:
    """Evaluate full batches, one thread per size; return positions and mean seconds."""

    def step(observations: Float32Array) -> int:
        evaluator.evaluate(observations)
        return len(observations)

    first = game.observe(game.initial_state())[None]
    steps = [functools.partial(step, np.repeat(first, size, axis=0)) for size in batches]
    positions, spent, *_ = repeat_in_threads(steps, seconds)
    return positions, spent
