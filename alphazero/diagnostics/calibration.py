"""The speed and size of each part of a run, measured here with an untrained network."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from alphazero.arena.match import Match, play_schedule
from alphazero.arena.openings import paired_openings
from alphazero.config.schema import Config
from alphazero.diagnostics.benchmark import Benchmark, SelfPlayBenchmark, time_matches
from alphazero.games.game import Game
from alphazero.network.inference.backend import num_selfplay_threads, num_threads
from alphazero.players.base import Player
from alphazero.players.search_player import SearchPlayer
from alphazero.players.sequential_player import RandomPlayer
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.records.played_game import PlayedGame
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.training.evaluation import GAMES, PlayerEvaluation
from alphazero.training.gate import first_part, make_player
from alphazero.training.learning.learner import Learner
from alphazero.utils.jobs import split_evenly, threads_per_evaluation
from alphazero.utils.machine import peak_megabytes
from alphazero.utils.progress import Progress, no_progress

PARTS: Final = 3

SELF_PLAY, GATE, LEARNING = 0.5, 0.5, 0.5
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
    anchor_games: int
    """games against anchors in one measurement"""
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
    peak_megabytes: float
    """peak memory of this process in MiB: all of a run except a full window"""
    seconds: float


def _policy_memory(game: Game, config: Config, records: Sequence[GameRecord]) -> float:
    """Return the mean bytes of a move's search policy, if each legal action has a share."""
    games = [PlayedGame.of(game, record, ("", "")) for record in records]
    masks = [game.legal_action_mask(state) for each in games for state in each.states()[:-1]]
    shares = config.selfplay.full_search_probability * float(np.sum(masks)) / len(masks)
    policies = records[0].policies
    return shares * (policies.actions.itemsize + policies.shares.itemsize)


def calibrate(
    config: Config, cores: int, seconds: float, show: Progress = no_progress
) -> Calibration:
    """Measure for about `seconds`; `show` is called with 1 after each of the `PARTS`.

    Raises AlphaZeroError for a configuration that cannot be trained here.
    """
    begin = time.perf_counter()

    def allowed(share: float) -> float:
        return max(share * (seconds - (time.perf_counter() - begin)), MIN_SECONDS)

    workers = num_selfplay_threads(config, cores)
    bench = SelfPlayBenchmark(config, workers)
    game = bench.game
    self_play = bench.measure(allowed(SELF_PLAY))
    show(1)
    evaluation = PlayerEvaluation(game, config)
    rng = np.random.default_rng(config.run.seed)
    gate_simulations = _time_gate(config, bench, cores, allowed(GATE), rng)
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
    learner = Learner(bench.network, config.learner, config.inference)
    with threads_per_evaluation(min(cores, learner.useful_threads)):
        timed, seconds_timed = _time_step(config, learner, replay, allowed(LEARNING), rng)
    show(1)
    return Calibration(
        self_play=self_play,
        gate_simulations=gate_simulations,
        anchor_games=evaluation.games,
        solved_positions=evaluation.answers,
        step_seconds=seconds_timed * config.learner.batch_size / timed,
        step_positions=timed,
        random_length=moves / len(records),
        longest=game.max_moves,
        move_memory=replay.nbytes / moves + _policy_memory(game, config, records[:8]),
        peak_megabytes=peak_megabytes(),
        seconds=time.perf_counter() - begin,
    )


def _time_gate(
    config: Config, bench: SelfPlayBenchmark, cores: int, seconds: float, rng: np.random.Generator
) -> float:
    """Return the simulations a second of gates, as in the first part of one: of few games."""
    settings = config.gate
    games = min(first_part(settings.games or GAMES), config.selfplay.parallel_games)
    workers = num_threads(config, games, cores)
    openings = paired_openings(bench.game, 2 * games, settings.opening_moves, rng)
    matches = []
    for num_games in split_evenly(games, workers):
        players: list[Player] = [
            make_player(bench.game, bench.evaluator, config.search, None, num_games)
            for _ in range(2)
        ]
        matches.append(Match(bench.game, players, num_games, itertools.cycle(openings)))
        matches[-1].start_games()
    time_matches(matches, seconds / 4)  # compiles and warms up
    before = _simulations(matches)
    played = time_matches(matches, 3 * seconds / 4)
    return max(_simulations(matches) - before, 1) / played.seconds


def _simulations(matches: Sequence[Match]) -> int:
    players = [player for match in matches for player in match.players]
    return sum(player.search.simulations for player in players if isinstance(player, SearchPlayer))


def _time_step(
    config: Config, learner: Learner, replay: ReplayBuffer, seconds: float, rng: np.random.Generator
) -> tuple[int, float]:
    """Return a batch size and the median seconds of an optimizer step, sampling included.

    The size is the configured one unless a step on it might exceed `MAX_STEP_SECONDS`.
    """
    settings = config.learner

    def spend(size: int) -> float:
        begin = time.perf_counter()
        learner.train([replay.sample(size, rng, True, settings.search_value_weight)])
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
