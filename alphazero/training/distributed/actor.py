"""An actor: a process that plays for a run on another core or computer.

It exchanges only texts, numbers and bytes (YAML, checkpoints, positions, recorded games), which
the receiver verifies. It does not depend on Ray (see ray_cluster.py).
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import TypeAlias

import numpy as np
import torch

from alphazero.config.loader import parse_config
from alphazero.errors import RunError
from alphazero.games.registry import make_game
from alphazero.network.checkpoint import read_checkpoint
from alphazero.network.inference.backend import make_evaluator, num_selfplay_threads
from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.records.game_record import Pairing
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.gate import play_gate
from alphazero.training.selfplay import SelfPlayStats, SelfPlayWorker, with_simulations
from alphazero.utils.arrays import Float32Array
from alphazero.utils.jobs import JobProgress, run_jobs, split_evenly

PlainPairing: TypeAlias = tuple[tuple[int, int], tuple[int, ...], int]
"""Players, opening and `pair_id` of a `Pairing`."""


class Actor:
    """Plays games of one run on `cores` cores; `config` is YAML, `seed` is of this actor only."""

    def __init__(self, config: str, seed: Sequence[int], cores: int) -> None:
        torch.set_num_threads(1)
        self._config = parse_config(config, "the run's configuration")
        self._game = make_game(self._config.game.name, **self._config.game.options)
        self._cores = cores
        workers = num_selfplay_threads(self._config, cores)
        self._games = split_evenly(self._config.selfplay.parallel_games, workers)
        self._rngs = [np.random.default_rng([*seed, worker]) for worker in range(len(self._games))]
        self._workers: list[SelfPlayWorker] = []
        self._playing: tuple[BatchedEvaluator, bool, float] | None = None
        """The network in self-play, whether it plays in int8, and its fraction of simulations."""
        self._evaluator = lru_cache(2)(self._load)
        self._reported = SelfPlayStats()
        self._replaced = SelfPlayStats()
        """Statistics of the self-play workers that have been replaced."""

    def play(
        self,
        network: bytes,
        resign_below: float,
        games: int,
        calibration: bytes = b"",
        simulations_fraction: float = 1.0,
    ) -> tuple[bytes, Mapping[str, float]]:
        """Play until at least `games` more games have ended; return them and the new statistics.

        `network` is a checkpoint. Games under way continue in the next call; their trees are
        dropped when the network, its precision or the simulations of a move change. With
        `calibration`, observations float32 [B, C, H, W], an OpenVINO network plays in int8,
        quantized with the first calibration it was sent with.

        Raises:
            RunError: when an argument is not what it should be.
        """
        playing = self._evaluator(network), bool(calibration), simulations_fraction
        if playing != self._playing:
            self._switch_network(playing[0], calibration, simulations_fraction)
            self._playing = playing
        progress = JobProgress()
        targets = split_evenly(max(games, len(self._workers)), len(self._workers))
        jobs = [
            partial(worker.play, target, progress, resign_below)
            for worker, target in zip(self._workers, targets, strict=True)
        ]
        records = [record for job in run_jobs(jobs, progress) for record in job]
        total = sum((worker.stats for worker in self._workers), self._replaced)
        stats, self._reported = total - self._reported, total
        return GameBatch.of(self._game, records).to_bytes(), vars(stats)

    def play_gate(self, challenger: bytes, best: bytes, pairings: Sequence[PlainPairing]) -> bytes:
        """Play gate games; return them in the order of their `pair_id` and players."""
        records = play_gate(
            self._game,
            self._config,
            self._evaluator(challenger),
            self._evaluator(best),
            [Pairing(*pairing) for pairing in pairings],
            self._cores,
        )
        records.sort(key=lambda record: (record.pairing.pair_id, record.pairing.players))
        return GameBatch.of(self._game, records).to_bytes()

    def _load(self, checkpoint: bytes) -> BatchedEvaluator:
        network = read_checkpoint(checkpoint, "a checkpoint, as received").network()
        return make_evaluator(network, self._config.inference)

    def _switch_network(
        self, evaluator: BatchedEvaluator, calibration: bytes, fraction: float
    ) -> None:
        """Continue all games with another network and `fraction` of the simulations."""
        under_way = [worker.leave() for worker in self._workers] or [[] for _ in self._games]
        self._replaced = sum((worker.stats for worker in self._workers), self._replaced)
        if calibration:
            observations = _read_observations(calibration, self._game.observation_shape)
            if evaluator.computes_int8:
                evaluator = evaluator.quantized(observations)
        config = with_simulations(self._config, fraction)
        self._workers = [
            SelfPlayWorker(self._game, config, evaluator, rng, games, unfinished)
            for rng, games, unfinished in zip(self._rngs, self._games, under_way, strict=True)
        ]


def _read_observations(data: bytes, shape: tuple[int, int, int]) -> Float32Array:
    """Return observations [B, *shape], B above 0, from bytes; RunError if they are not valid."""
    if not data or len(data) % (4 * math.prod(shape)):
        raise RunError(f"an actor was sent {len(data):,} bytes, which are no observations {shape}")
    observations = np.frombuffer(data, np.float32).reshape(-1, *shape).copy()
    if not np.isfinite(observations).all():
        raise RunError("an actor was sent observations with NaN or infinity")
    return observations
