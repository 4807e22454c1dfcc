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
from alphazero.network.inference.backend import num_selfplay_threads, num_threads
from alphazero.network.inference.batched_evaluator import padded_size
from alphazero.players.base import Player, RandomPlayer
from alphazero.players.registry import PlayerSpec
from alphazero.players.search_player import SearchPlayer
from alphazero.records.game_record import Pairing
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.training.evaluation import OPENING_MOVES, PlayerEvaluation
from alphazero.training.gate import make_player
from alphazero.training.learning.learner import Learner
from alphazero.utils.jobs import split_evenly, threads_per_evaluation
from alphazero.utils.machine import peak_megabytes
from alphazero.utils.progress import Progress, no_progress

PARTS: Final = 4

SELF_PLAY, SIZES, MATCHES, LEARNING = 0.5, 0.3, 0.5, 0.5
"""Share of the remaining time for each part, in this order. Compiling and warming up shorten the
later parts, so the total stays as requested."""

MIN_SECONDS: Final = 0.5
"""Least time of a part."""

NUM_RANDOM_GAMES: Final = 64
"""Enough random games to measure their length within a few percent."""

SMALL_BATCH, GROWTH = 32, 4
"""Positions of the first timed step, and the factor from step to step, up to a whole batch."""

MAX_STEP_SECONDS: Final = 10.0
"""Longest step in seconds; the time of a longer one is extrapolated from a smaller batch."""

TIMED_STEPS: Final = 5
"""Least number of timed steps of the final batch."""


@dataclass(frozen=True)
class Calibration:
    """The results; moves are searched moves, without those of an opening."""

    self_play: Benchmark
    gate_simulations: float
    """simulations a second in matches without noise, as in the gate"""
    anchor_moves: float
    """moves a second against the `evaluation.anchors`; 0 without anchors"""
    anchor_games: int
    """games against anchors in one measurement"""
    games_between_anchors: int
    """in the first measurement alone"""
    solved_positions: int
    """positions in one measurement, without search and with it"""
    step_seconds: float
    """of an optimizer step on a whole batch"""
    step_positions: int
    """positions of the timed batch; `step_seconds` is scaled to the whole batch"""
    random_length: float
    """mean number of moves of a random game"""
    longest: int
    """moves of the longest possible game"""
    move_memory: float
    """bytes of a move in the replay window"""
    move_disk: float
    """bytes of a move on disk, compressed"""
    player_bytes: int
    learner_bytes: int
    peak_megabytes: float
    """peak memory of this process in MiB: all of a run except a full window"""
    by_batch: Mapping[int, float]
    """positions a second of the network alone, by batch size"""
    by_threads: Mapping[int, float]
    """positions a second of the network alone, by number of threads"""
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

    workers = num_selfplay_threads(config, cores)
    bench = SelfPlayBenchmark(config, workers)
    game = bench.game
    self_play = bench.measure(allowed(SELF_PLAY))
    show(1)
    num_games = bench.games_per_worker[0]
    sizes = sorted({padded_size(max(1, num_games * 4**power // 16)) for power in range(5)})
    counts = sorted({1, *(2**power for power in range(1, 8) if 2**power < workers), workers})
    each = allowed(SIZES) / (len(sizes) + len(counts))
    by_batch = {size: _rate(bench, [size] * workers, each) for size in sizes}
    by_threads = {count: _rate(bench, [num_games] * count, each) for count in counts}
    show(1)
    evaluation = PlayerEvaluation(game, config)
    rng = np.random.default_rng(config.run.seed)
    each = allowed(MATCHES) / 2
    gate_simulations = _time_gate(config, bench, cores, each, rng)
    anchor_moves = _time_anchors(config, bench, evaluation, workers, each, rng)
    show(1)
    records = play_schedule(
        game,
        lambda num_games: [RandomPlayer(game, num_games, rng)],
        [Pairing()] * NUM_RANDOM_GAMES,
        NUM_RANDOM_GAMES,
    )
    replay = ReplayBuffer(game, config.replay, config.network.auxiliary)
    replay.add(1, GameBatch.of(game, records))
    moves = sum(len(record.actions) for record in records)
    learner = Learner(bench.network, config.learner, config.inference.device)
    with threads_per_evaluation(min(cores, learner.useful_threads)):
        timed, seconds_timed = _time_step(config, learner, replay, allowed(LEARNING), rng)
    show(1)
    unfinished = [match.record(index) for match in bench.matches for index in match.playing]
    searched = GameBatch.of(game, unfinished)
    return Calibration(
        self_play=self_play,
        gate_simulations=gate_simulations,
        anchor_moves=anchor_moves,
        anchor_games=evaluation.anchors.games if evaluation.anchors else 0,
        games_between_anchors=evaluation.anchors.games_between if evaluation.anchors else 0,
        solved_positions=evaluation.solved_positions.num_positions
        if evaluation.solved_positions
        else 0,
        step_seconds=seconds_timed * config.learner.batch_size / timed,
        step_positions=timed,
        random_length=moves / len(records),
        longest=game.max_moves,
        move_memory=replay.nbytes / moves,
        move_disk=len(searched.to_bytes()) / max(len(searched.actions), 1),
        player_bytes=sum(each.nbytes for each in learner.ema_network.state_dict().values()),
        learner_bytes=sum(each.nbytes for each in learner.state().values()),
        peak_megabytes=peak_megabytes(),
        by_batch=by_batch,
        by_threads=by_threads,
        on_cpu=bench.evaluator.device == "cpu",
        seconds=time.perf_counter() - begin,
    )


def _rate(bench: SelfPlayBenchmark, batches: Sequence[int], seconds: float) -> float:
    """Return the positions a second of the network alone, after a first batch that compiles."""
    time_network(bench.game, bench.selfplay_evaluator, batches, 0.0)
    positions, spent = time_network(bench.game, bench.selfplay_evaluator, batches, seconds)
    return positions / spent


def _time_gate(
    config: Config, bench: SelfPlayBenchmark, cores: int, seconds: float, rng: np.random.Generator
) -> float:
    settings = config.gate
    games = settings.games or config.evaluation.games
    workers = num_threads(config, games, cores)

    def make_players(num_games: int) -> list[Player]:
        simulations = settings.simulations or None
        return [
            make_player(bench.game, bench.evaluator, config.search, simulations, num_games)
            for _ in range(2)
        ]

    matches = _start_matches(bench, make_players, games, settings.opening_moves, workers, rng)
    time_matches(matches, seconds / 4)  # compiles and warms up
    before = _simulations(matches)
    played = time_matches(matches, 3 * seconds / 4)
    return max(_simulations(matches) - before, 1) / played.seconds


def _simulations(matches: Sequence[Match]) -> int:
    players = [player for match in matches for player in match.players]
    return sum(player.search.simulations for player in players if isinstance(player, SearchPlayer))


def _time_anchors(
    config: Config,
    bench: SelfPlayBenchmark,
    evaluation: PlayerEvaluation,
    workers: int,
    seconds: float,
    rng: np.random.Generator,
) -> float:
    """Return the moves a second with as many moves against each anchor; 0 without anchors."""
    if not evaluation.anchors:
        return 0.0
    settings, anchors = config.evaluation, evaluation.anchors.anchors

    def make_opponents(anchor: PlayerSpec, num_games: int) -> list[Player]:
        simulations = settings.simulations or None
        player = make_player(bench.game, bench.evaluator, config.search, simulations, num_games)
        return [player, anchor.create(bench.game, num_games, rng.spawn(1)[0])]

    spent, each = 0.0, seconds / len(anchors)
    for anchor in anchors:
        make_players = functools.partial(make_opponents, anchor)
        matches = _start_matches(bench, make_players, settings.games, OPENING_MOVES, workers, rng)
        played = Played()
        while played.moves < settings.games:
            # A short measurement may end before the first move or just after many.
            played += time_matches(matches, each)
        for player in (player for match in matches for player in match.players):
            player.close()
        spent += played.seconds / played.moves
    return len(anchors) / spent


def _start_matches(
    bench: SelfPlayBenchmark,
    make_players: Callable[[int], Sequence[Player]],
    games: int,
    opening_moves: int,
    workers: int,
    rng: np.random.Generator,
) -> list[Match]:
    """Return one endless match per worker, with `games` games in progress in total."""
    openings = paired_openings(bench.game, 2 * games, opening_moves, rng)
    matches = [
        Match(bench.game, make_players(num_games), num_games, itertools.cycle(openings))
        for num_games in split_evenly(games, workers)
    ]
    for match in matches:
        match.start_games()
    return matches


def _time_step(
    config: Config, learner: Learner, replay: ReplayBuffer, seconds: float, rng: np.random.Generator
) -> tuple[int, float]:
    """Return a batch size and the median seconds of an optimizer step, sampling included.

    The size is the configured one unless a step on it might exceed `MAX_STEP_SECONDS`.
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
    while size < settings.batch_size and GROWTH * spend(size) <= MAX_STEP_SECONDS:
        size = min(GROWTH * size, settings.batch_size)
    spend(size)
    times: list[float] = []
    while len(times) < TIMED_STEPS or sum(times) < seconds:
        times.append(spend(size))
    return size, float(np.median(times))
