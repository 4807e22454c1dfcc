"""How fast self-play runs, beside the bare network on the same device in the same minute."""

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from alphazero.config import Config
from alphazero.games import Game, make_game
from alphazero.network.backend import make_evaluator
from alphazero.network.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.resnet import ResNet
from alphazero.players.match import Match
from alphazero.players.workers import Progress, run_jobs, shares
from alphazero.search.evaluator import Evaluator
from alphazero.training.metrics import peak_megabytes
from alphazero.training.selfplay import Work, seat_explorer

ROUNDS = 4
"""Self-play and the bare network take turns, because the speed of machines drifts."""


@dataclass(frozen=True)
class Benchmark:
    """Rates of self-play, a second, and of the bare network."""

    workers: int
    tables: int
    backend: str
    evaluations: float
    simulations: float
    moves: float
    games: float
    bare: float
    """positions a second of the network alone, in batches of the same size"""
    cache_hits: float
    batch_fill: float
    peak_megabytes: float

    @property
    def efficiency(self) -> float:
        """Evaluations a second in self-play, divided by what the bare network does."""
        return self.evaluations / self.bare

    def __str__(self) -> str:
        return "\n".join(
            [
                f"search efficiency   {self.efficiency:.3f}",
                f"evaluations/s       {self.evaluations:,.0f}",
                f"bare network/s      {self.bare:,.0f}",
                f"simulations/s       {self.simulations:,.0f}",
                f"moves/s             {self.moves:,.0f}",
                f"games/s             {self.games:,.1f}",
                f"cache hits          {self.cache_hits:.1%}",
                f"batch fill          {self.batch_fill:.1%}",
                f"parallel games      {self.tables}",
                f"workers             {self.workers}",
                f"backend             {self.backend}",
                f"peak memory         {self.peak_megabytes:,.0f} MiB",
            ]
        )


def benchmark(
    config: Config, seconds: float, workers: int, show: Callable[[int], object] = bool
) -> Benchmark:
    """Measure for about `seconds`, half of them self-play, half the bare network.

    The network is untrained: what it answers hardly matters for speed.
    """
    game = make_game(config.game.name, **config.game.options)
    network = ResNet(game.observation_shape, game.num_actions, config.network, config.run.seed)
    evaluator = make_evaluator(network, config.inference)
    if config.inference.selfplay_precision == "int8":
        assert isinstance(evaluator, OpenVINOEvaluator)  # resolve_backend has seen to it
        evaluator = evaluator.quantized(game.observe(game.initial_state())[None])
    tables = shares(config.selfplay.parallel_games, workers)
    halls = [
        seat_explorer(game, config, evaluator, np.random.default_rng([config.run.seed, each]), size)
        for each, size in enumerate(tables)
    ]
    for match, _ in halls:
        match.fill()
    length = seconds / (2 * ROUNDS)
    bare, games, moves = 0, 0, 0
    bare_time, time_played = 0.0, 0.0
    before = Work()
    for turn in range(ROUNDS + 1):
        if turn == 1:
            # The first turn compiles and warms up: it does not count.
            bare, games, moves, bare_time, time_played = 0, 0, 0, 0.0, 0.0
            for _, search in halls:
                before.add(search)
        progress = Progress()
        begin = time.perf_counter()
        bare += sum(
            run_jobs(
                [
                    functools.partial(_evaluate, game, evaluator, size, length, progress)
                    for size in tables
                ],
                progress,
            )
        )
        bare_time += time.perf_counter() - begin
        progress = Progress()
        begin = time.perf_counter()
        ended = run_jobs(
            [functools.partial(_play, match, length, progress) for match, _ in halls], progress
        )
        time_played += time.perf_counter() - begin
        games += sum(each[0] for each in ended)
        moves += sum(each[1] for each in ended)
        show(1)
    work = Work()
    for _, search in halls:
        work.add(search)
    work = work - before
    return Benchmark(
        workers=len(tables),
        tables=sum(tables),
        backend=f"{type(evaluator).__name__}, {evaluator.device}, {evaluator.precision}",
        evaluations=work.evaluations / time_played,
        simulations=work.simulations / time_played,
        moves=moves / time_played,
        games=games / time_played,
        bare=bare / bare_time,
        cache_hits=work.cache_hits,
        batch_fill=work.batch_fill,
        peak_megabytes=peak_megabytes(),
    )


def _evaluate(
    game: Game, evaluator: Evaluator, size: int, seconds: float, progress: Progress
) -> int:
    """Evaluate full batches for a while; return the number of positions."""
    observations = np.zeros((size, *game.observation_shape), np.float32)
    observations[:] = game.observe(game.initial_state())
    end, positions = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        evaluator.evaluate(observations)
        positions += size
        progress.done(0)
    return positions


def _play(match: Match, seconds: float, progress: Progress) -> tuple[int, int]:
    """Turn a match's wheel for a while; return the games that ended and the moves made."""
    end, games = time.perf_counter() + seconds, 0
    before = match.moves_made
    while time.perf_counter() < end:
        games += len(match.step())
        progress.done(0)
    return games, match.moves_made - before
