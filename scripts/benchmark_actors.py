"""Measure how many actors one driver can serve, with actors that sleep.

python scripts/benchmark_actors.py configs/connect_four.yaml --sleep 2,8,32,128,256 [--ray]

Each actor sleeps while it would play, and then sends recorded games, so only the driver computes.
The ideal is the rate of a driver without cost; below it, actors are idle. With --ray the games
travel through Ray, else within this process.
"""

import argparse
import asyncio
import dataclasses
import functools
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from itertools import cycle, islice
from typing import Any, NamedTuple

from alphazero.cli.argument_types import positive_numbers, seconds
from alphazero.cli.main import run_and_report
from alphazero.config.loader import load_config
from alphazero.config.schema import Config, RayConfig
from alphazero.games import Game, make_game
from alphazero.network.checkpoint import Checkpoint, checkpoint_bytes
from alphazero.network.inference.backend import make_evaluator
from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.network.resnet import ResNet
from alphazero.records.game_record import GameRecord
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.distributed.actor_pool import ActorPool
from alphazero.training.distributed.ray_cluster import LocalRay
from alphazero.training.selfplay import SelfPlayStats, play_games
from alphazero.utils.machine import peak_megabytes
from alphazero.utils.progress import no_progress

GAMES_PER_ACTOR = 64
"""Games of each sleeping actor in an iteration: AlphaGo Zero's 25,000 are those of 390 actors."""


class Rate(NamedTuple):
    """The throughput of a driver."""

    games: float
    """games a second"""
    cpu: float
    """CPU time of the driver, in cores"""


def untrained_network(game: Game, config: Config) -> tuple[bytes, BatchedEvaluator]:
    """Return the untrained network of a run, and its evaluator."""
    network = ResNet.of(game, config.network, config.run.seed)
    name, options = config.game.name, dict(config.game.options)
    player = Checkpoint(name, options, config.network, network.state_dict(), 0, 0)
    evaluator = make_evaluator(network, config.inference)
    return checkpoint_bytes(player, "first"), evaluator


def measure(pool: ActorPool, network: bytes, seconds: float) -> Rate:
    """Receive games for about `seconds`, after a first iteration that warms up.

    The network differs in each iteration, so that it is sent again.
    """
    pool.play(network, no_progress, bool)
    begin, cpu, games, iteration = time.perf_counter(), time.process_time(), 0, 1
    while time.perf_counter() - begin < seconds or iteration == 1:
        other = network + bytes([iteration % 256])
        games += len(pool.play(other, no_progress, bool).finished)
        iteration += 1
    spent = time.perf_counter() - begin
    return Rate(games / spent, (time.process_time() - cpu) / spent)


class SleepingActors:
    """All actors of a simulation; each sleeps `nap` seconds a game, and sends recorded games."""

    def __init__(self, nap: float, game: Game, records: list[GameRecord]) -> None:
        self.nap, self.game, self.records = nap, game, records
        self.awake: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.results: dict[int, tuple[bytes, dict[str, float]]] = {}

    async def ask(self, number: int, method: str, *arguments: Any) -> Any:  # noqa: ARG002
        """Return the result of a call of actor `number`, which plays after its earlier calls."""
        games = arguments[2]
        async with self.awake[number]:
            await asyncio.sleep(games * self.nap)
        return self.play(games)

    def play(self, games: int) -> tuple[bytes, dict[str, float]]:
        """Return what an actor sends."""
        if games not in self.results:
            batch = GameBatch.of(self.game, list(islice(cycle(self.records), games)))
            self.results[games] = batch.to_bytes(), vars(SelfPlayStats())
        return self.results[games]


class SleepingActor(NamedTuple):
    """One of the sleeping actors; an `ActorHandle`."""

    ask: Callable[..., Future[Any]]

    def stop(self) -> None:
        pass


class Sleepers:
    """A launcher whose actors sleep in a thread of this process."""

    def __init__(self, *work: Any) -> None:
        self.actors, self.loop = SleepingActors(*work), asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def ask(self, *call: Any) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(self.actors.ask(*call), self.loop)

    def launch(self, number: int, incarnation: int) -> SleepingActor:  # noqa: ARG002
        return SleepingActor(functools.partial(self.ask, number))

    def put(self, data: bytes) -> Any:
        return data

    def death_reason(self, error: BaseException) -> None:
        pass

    def close(self) -> None:
        pass


class RaySleepers(Sleepers):
    """A launcher whose actors sleep in a Ray process."""

    def __init__(self, number: int, *work: Any) -> None:
        self.local = LocalRay(1)
        import ray

        ray.init(address=self.local.address, log_to_driver=False)
        self.ray = ray
        options = {"num_cpus": 0, "max_concurrency": 4 * number}
        self.process = ray.remote(**options)(SleepingActors).remote(*work)

    def ask(self, *call: Any) -> Future[Any]:
        future: Future[Any] = self.process.ask.remote(*call).future()
        return future

    def put(self, data: bytes) -> Any:
        return self.ray.put(data)

    def close(self) -> None:
        self.ray.shutdown()
        self.local.close()


def compare_sleepers(
    game: Game, config: Config, numbers: list[int], nap: float, seconds: float, through_ray: bool
) -> None:
    """Print the games a second that a driver receives from sleeping actors."""
    network, evaluator = untrained_network(game, config)
    few = dataclasses.replace(
        config.selfplay, games_per_iteration=64, parallel_games=64, random_opening_probability=0.0
    )
    small = dataclasses.replace(config, selfplay=few)
    records = play_games(game, small, evaluator, [1]).finished
    moves = sum(len(record.actions) for record in records) / len(records)
    size = len(SleepingActors(nap, game, records).play(len(records))[0]) / len(records)
    print(f"a game is {moves:.0f} moves, {size:,.0f} bytes; it takes {nap:g} s")
    print("actors       ideal    games/s    idle   driver CPU   a game   peak memory")
    for actors in numbers:
        selfplay = dataclasses.replace(
            config.selfplay,
            games_per_iteration=GAMES_PER_ACTOR * actors,
            distributed=RayConfig(actors=actors),
        )
        work = nap, game, records
        launcher = RaySleepers(actors, *work) if through_ray else Sleepers(*work)
        run = dataclasses.replace(config, selfplay=selfplay)
        assert selfplay.distributed is not None
        pool = ActorPool(game, run, selfplay.distributed, launcher)
        try:
            rate = measure(pool, network, seconds)
        finally:
            pool.close()
        ideal = actors / nap
        print(
            f"{actors:6} {ideal:9.1f}/s {rate.games:8.1f}/s {1 - rate.games / ideal:7.1%} "
            f"{rate.cpu:12.1%} {rate.cpu / rate.games * 1000:5.2f} ms {peak_megabytes():9.0f} MiB",
            flush=True,
        )


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("config", metavar="CONFIG", help="the YAML file of a run")
    parser.add_argument("overrides", nargs="*", metavar="section.key=value")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each measurement")
    parser.add_argument(
        "--sleep", type=positive_numbers, default=[32, 128], metavar="N,N", help="numbers of actors"
    )
    parser.add_argument("--nap", type=seconds, default=0.03, help="seconds of sleep per game")
    parser.add_argument("--ray", action="store_true", help="send their games through Ray")
    options = parser.parse_intermixed_args()
    config = load_config(options.config, options.overrides)
    game = make_game(config.game.name, **config.game.options)
    compare_sleepers(game, config, options.sleep, options.nap, options.seconds, options.ray)


if __name__ == "__main__":
    sys.exit(run_and_report(main))
