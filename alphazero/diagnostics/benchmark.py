"""The speed of self-play, compared with the network alone on the same device."""

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphazero.arena.match import Match
from alphazero.config.schema import Config
from alphazero.games import Game, make_game
from alphazero.mcts.evaluator import Evaluator
from alphazero.network.backend import make_evaluator
from alphazero.network.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.resnet import ResNet
from alphazero.training.selfplay import make_selfplay_match
from alphazero.training.selfplay_stats import SelfPlayStats
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
                f"bare network/s      {self.network_only:,.0f}",
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


class SelfPlayBenchmark:
    """A measurement of self-play and of the network alone, with an untrained network.

    Training hardly changes the speed, but brings more cache hits and more solved nodes. The cache
    is cleared after the games of an iteration, as in training.
    """

    def __init__(self, config: Config, workers: int) -> None:
        self.game = make_game(config.game.name, **config.game.options)
        shape, seed = self.game.observation_shape, config.run.seed
        self.network = ResNet(shape, self.game.num_actions, config.network, seed)
        self.evaluator = make_evaluator(self.network, config.inference)
        """of the gate"""
        self.selfplay_evaluator = self.evaluator
        int8 = config.inference.selfplay_precision == "int8"
        if int8 and isinstance(self.evaluator, OpenVINOEvaluator):
            first = self.game.observe(self.game.initial_state())[None]
            self.selfplay_evaluator = self.evaluator.quantized(first)
        self.games_per_worker = split_evenly(config.selfplay.parallel_games, workers)
        made = [
            make_selfplay_match(
                self.game,
                config,
                self.selfplay_evaluator,
                np.random.default_rng([seed, worker]),
                num_games,
            )
            for worker, num_games in enumerate(self.games_per_worker)
        ]
        self.matches = [match for match, _ in made]
        self.searches = [search for _, search in made]
        self._batch_sizes = [search.rows for search in self.searches]
        self._games_per_iteration = config.selfplay.games_per_iteration
        for match in self.matches:
            match.start_games()

    def measure(self, seconds: float, show: Progress = no_progress) -> Benchmark:
        """Measure for about `seconds`: half of them self-play, half the network alone."""
        length = seconds / (2 * ROUNDS)
        evaluated, seconds_alone, played, before = 0, 0.0, Played(), SelfPlayStats()
        games_since_clearing = 0
        for number in range(ROUNDS + 1):
            if number == 1:
                # The first round compiles and warms up: it does not count.
                evaluated, seconds_alone, played, before = 0, 0.0, Played(), self._stats()
            positions, spent = time_network(
                self.game, self.selfplay_evaluator, self._batch_sizes, length
            )
            evaluated, seconds_alone = evaluated + positions, seconds_alone + spent
            new = time_matches(self.matches, length)
            played, games_since_clearing = played + new, games_since_clearing + new.games
            if games_since_clearing >= self._games_per_iteration:
                games_since_clearing = 0
                for search in self.searches:
                    search.clear_cache()
            show(1)
        stats, evaluator = self._stats() - before, self.selfplay_evaluator
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
            network_share=stats.search_efficiency,
            peak_megabytes=peak_megabytes(),
        )

    def _stats(self) -> SelfPlayStats:
        stats = SelfPlayStats()
        for search in self.searches:
            stats.add(search)
        return stats


def benchmark(
    config: Config, seconds: float, workers: int, show: Progress = no_progress
) -> Benchmark:
    """Measure a configuration's self-play for about `seconds`."""
    return SelfPlayBenchmark(config, workers).measure(seconds, show)


@dataclass(frozen=True)
class Played:
    """The games and moves played in `seconds`."""

    games: int = 0
    moves: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Played") -> "Played":
        return Played(
            self.games + other.games, self.moves + other.moves, self.seconds + other.seconds
        )


def time_matches(matches: Sequence[Match], seconds: float) -> Played:
    """Step the matches for about `seconds`, one thread each; return the threads' mean seconds."""
    progress = JobProgress()
    jobs = [functools.partial(_play, match, seconds, progress) for match in matches]
    games, moves, spent = zip(*run_jobs(jobs, progress), strict=True)
    return Played(sum(games), sum(moves), sum(spent) / len(spent))


def time_network(
    game: Game, evaluator: Evaluator, batches: Sequence[int], seconds: float
) -> tuple[int, float]:
    """Evaluate full batches, one thread per size; return positions and mean seconds."""
    progress = JobProgress()
    jobs = [
        functools.partial(_evaluate, game, evaluator, size, seconds, progress) for size in batches
    ]
    positions, spent = zip(*run_jobs(jobs, progress), strict=True)
    return sum(positions), sum(spent) / len(spent)


def _evaluate(
    game: Game, evaluator: Evaluator, size: int, seconds: float, progress: JobProgress
) -> tuple[int, float]:
    observations = np.zeros((size, *game.observation_shape), np.float32)
    observations[:] = game.observe(game.initial_state())
    begin, positions = time.perf_counter(), 0
    while positions == 0 or time.perf_counter() < begin + seconds:
        evaluator.evaluate(observations)
        positions += size
        progress.advance(0)
    return positions, time.perf_counter() - begin


def _play(match: Match, seconds: float, progress: JobProgress) -> tuple[int, int, float]:
    begin, games = time.perf_counter(), 0
    before = match.moves_made
    while time.perf_counter() < begin + seconds:
        games += len(match.step())
        progress.advance(0)
    return games, match.moves_made - before, time.perf_counter() - begin
