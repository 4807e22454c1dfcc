"""The speed and size of each part of a run, measured here with an untrained network."""

import functools
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from alphazero.arena.match import Match, play_schedule
from alphazero.arena.openings import paired_openings
from alphazero.config.schema import Config
from alphazero.diagnostics.benchmark import (
    Benchmark,
    Played,
    SelfPlayBenchmark,
    time_matches,
    time_network,
)
from alphazero.network.backend import num_selfplay_threads
from alphazero.network.inference import padded_size
from alphazero.players.base import Player, RandomPlayer
from alphazero.players.registry import PlayerSpec
from alphazero.players.search_player import SearchPlayer
from alphazero.records.game_record import Pairing
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.training.evaluation import OPENING_MOVES, Evaluation
from alphazero.training.gate import make_player
from alphazero.training.learning.learner import Learner
from alphazero.utils.jobs import split_evenly, threads_per_evaluation
from alphazero.utils.machine import peak_megabytes
from alphazero.utils.progress import Progress, no_progress

PARTS: Final = 4

SELF_PLAY, SIZES, MATCHES, LEARNING = 0.5, 0.3, 0.5, 0.5
"""Share of the remaining time that each part gets, in this order. So the time of compiling and
warming up shortens the later parts, and the total stays as requested."""

MIN_SECONDS: Final = 0.5
"""Seconds that each part gets at least."""

RANDOM_GAMES: Final = 64
"""Random games whose length is measured, to within a few percent."""

SMALL_BATCH, GROWTH = 32, 4
"""Positions of the first step, and the factor to those of the next one, up to a whole batch."""

PATIENCE: Final = 10.0
"""Longest step in seconds; the time of a batch that might take longer is extrapolated from a
smaller one."""

STEPS: Final = 5
"""Steps of the final batch that are timed, at least."""


@dataclass(frozen=True)
class Calibration:
    """The results. Only searched moves count as moves, not those of an opening."""

    self_play: Benchmark
    gate_simulations: float
    """simulations a second in matches without noise, as in the gate"""
    ladder_moves: float
    """moves a second against the `evaluation.anchors`; 0 without anchors"""
    ladder_games: int
    """games against anchors in one measurement"""
    ladder_between: int
    """games between anchors, which the first measurement adds"""
    solved_positions: int
    """positions in one measurement, without search and with it"""
    step_seconds: float
    """of an optimizer step on a whole batch"""
    step_positions: int
    """positions of the batch that was timed; `step_seconds` is in proportion to the whole batch"""
    random_length: float
    """mean number of moves of a random game"""
    longest: int
    """moves of the longest possible game"""
    move_memory: float
    """bytes of memory that a move takes in the replay window"""
    move_disk: float
    """bytes that it takes on disk, compressed"""
    player_bytes: int
    learner_bytes: int
    peak_megabytes: float
    """peak memory of this process in MiB: every part of a run but a full window"""
    by_batch: Mapping[int, float]
    """positions a second of the network alone, by the size of each thread's batch"""
    by_threads: Mapping[int, float]
    """the same, by the number of threads"""
    on_cpu: bool
    seconds: float


def calibrate(
    config: Config, cores: int, seconds: float, show: Progress = no_progress
) -> Calibration:
    """Measure for about `seconds`; `show` is called with 1 after each of the `PARTS`.

    Raises:
        AlphaZeroError: for a configuration that cannot be trained here.
    """
    begin = time.perf_counter()

    def allowed(share: float) -> float:
        return max(share * (seconds - (time.perf_counter() - begin)), MIN_SECONDS)

    workers = num_selfplay_threads(config.inference, cores, config.selfplay.parallel_games)
    bench = SelfPlayBenchmark(config, workers)
    game = bench.game
    self_play = bench.measure(allowed(SELF_PLAY))
    show(1)
    tables = bench.tables[0]
    sizes = sorted({padded_size(max(1, tables * 4**power // 16)) for power in range(5)})
    counts = sorted({1, *(2**power for power in range(1, 8) if 2**power < workers), workers})
    each = allowed(SIZES) / (len(sizes) + len(counts))
    by_batch = {size: _rate(bench, [size] * workers, each) for size in sizes}
    by_threads = {count: _rate(bench, [tables] * count, each) for count in counts}
    show(1)
    evaluation = Evaluation(game, config)
    rng = np.random.default_rng(config.run.seed)
    each = allowed(MATCHES) / 2
    quiet = _time_gate(config, bench, workers, each, rng)
    ladder = _time_ladder(config, bench, evaluation, workers, each, rng)
    show(1)
    records = play_schedule(
        game,
        lambda tables: [RandomPlayer(game, tables, rng)],
        [Pairing()] * RANDOM_GAMES,
        RANDOM_GAMES,
    )
    replay = ReplayBuffer(game, config.replay)
    replay.add(1, GameBatch.of(game, records))
    moves = sum(len(record.actions) for record in records)
    learner = Learner(bench.network, config.learner, config.inference.device)
    with threads_per_evaluation(min(cores, learner.useful_threads)):
        timed, seconds_timed = _time_step(config, learner, replay, allowed(LEARNING), rng)
    show(1)
    begun = [match.record(table) for match in bench.matches for table in match.playing]
    searched = GameBatch.of(game, begun)
    return Calibration(
        self_play=self_play,
        gate_simulations=quiet,
        ladder_moves=ladder,
        ladder_games=evaluation.anchors.games if evaluation.anchors else 0,
        ladder_between=evaluation.anchors.games_between if evaluation.anchors else 0,
        solved_positions=evaluation.examination.num_positions if evaluation.examination else 0,
        step_seconds=seconds_timed * config.learner.batch_size / timed,
        step_positions=timed,
        random_length=moves / len(records),
        longest=game.max_moves,
        move_memory=replay.nbytes / moves,
        move_disk=len(searched.to_bytes()) / max(len(searched.actions), 1),
        player_bytes=sum(each.nbytes for each in learner.player.state_dict().values()),
        learner_bytes=sum(each.nbytes for each in learner.state().values()),
        peak_megabytes=peak_megabytes(),
        by_batch=by_batch,
        by_threads=by_threads,
        on_cpu=bench.evaluator.device == "cpu",
        seconds=time.perf_counter() - begin,
    )


def _rate(bench: SelfPlayBenchmark, batches: Sequence[int], seconds: float) -> float:
    """Return the positions a second of the network alone, after a first batch for compiling."""
    time_network(bench.game, bench.explorer, batches, 0.0)
    positions, spent = time_network(bench.game, bench.explorer, batches, seconds)
    return positions / spent


def _time_gate(
    config: Config, bench: SelfPlayBenchmark, workers: int, seconds: float, rng: np.random.Generator
) -> float:
    settings = config.gate
    games = settings.games or config.evaluation.games

    def make_players(tables: int) -> list[Player]:
        simulations = settings.simulations or None
        return [
            make_player(bench.game, bench.evaluator, config.search, simulations, tables)
            for _ in range(2)
        ]

    matches = _seat(bench, make_players, games, settings.opening_moves, workers, rng)
    time_matches(matches, seconds / 4)  # compiles and warms up
    before = _simulations(matches)
    played = time_matches(matches, 3 * seconds / 4)
    return max(_simulations(matches) - before, 1) / played.seconds


def _simulations(matches: Sequence[Match]) -> int:
    players = [player for match in matches for player in match.players]
    return sum(player.search.simulations for player in players if isinstance(player, SearchPlayer))


def _time_ladder(
    config: Config,
    bench: SelfPlayBenchmark,
    evaluation: Evaluation,
    workers: int,
    seconds: float,
    rng: np.random.Generator,
) -> float:
    """Return the moves a second with as many moves against each anchor; 0 without anchors."""
    if not evaluation.anchors:
        return 0.0
    settings, anchors = config.evaluation, evaluation.anchors.anchors

    def make_opponents(anchor: PlayerSpec, tables: int) -> list[Player]:
        simulations = settings.simulations or None
        player = make_player(bench.game, bench.evaluator, config.search, simulations, tables)
        return [player, anchor.create(bench.game, tables, rng.spawn(1)[0])]

    spent, each = 0.0, seconds / len(anchors)
    for anchor in anchors:
        make_players = functools.partial(make_opponents, anchor)
        matches = _seat(bench, make_players, settings.games, OPENING_MOVES, workers, rng)
        played = Played()
        while played.moves < settings.games:
            # A short measurement may end before the first move, or just after many.
            played += time_matches(matches, each)
        for player in (player for match in matches for player in match.players):
            player.close()
        spent += played.seconds / played.moves
    return len(anchors) / spent


def _seat(
    bench: SelfPlayBenchmark,
    make_players: Callable[[int], Sequence[Player]],
    games: int,
    opening_moves: int,
    workers: int,
    rng: np.random.Generator,
) -> list[Match]:
    """Return one endless match per worker, with `games` games in progress in all."""
    openings = paired_openings(bench.game, 2 * games, opening_moves, rng)
    matches = [
        Match(bench.game, make_players(tables), tables, itertools.cycle(openings))
        for tables in split_evenly(games, workers)
    ]
    for match in matches:
        match.start_games()
    return matches


def _time_step(
    config: Config, learner: Learner, replay: ReplayBuffer, seconds: float, rng: np.random.Generator
) -> tuple[int, float]:
    """Return a batch's size, and the median seconds of drawing it and an optimizer step on it.

    The size is the configured one, unless a step on it might exceed `PATIENCE`.
    """
    settings = config.learner

    def spend(size: int) -> float:
        begin = time.perf_counter()
        learner.train(
            [replay.sample(size, rng, settings.augment_symmetries, settings.search_value_weight)]
        )
        return time.perf_counter() - begin

    size = min(SMALL_BATCH, settings.batch_size)
    spend(size)
    while size < settings.batch_size and GROWTH * spend(size) <= PATIENCE:
        size = min(GROWTH * size, settings.batch_size)
    spend(size)
    times: list[float] = []
    while len(times) < STEPS or sum(times) < seconds:
        times.append(spend(size))
    return size, float(np.median(times))
