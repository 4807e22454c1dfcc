"""Measure how self-play scales with actors: on this machine's cores, and with actors that sleep.

python scripts/benchmark_actors.py configs/connect_four.yaml [section.key=value ...] [--seconds 60]
python scripts/benchmark_actors.py configs/connect_four.yaml --sleep 2,8,32,128,256 [--ray]

The first compares one process with Ray actors, on one and on two cores: games a second, and the
extra time of a game. The second measures how many actors one driver can serve: each actor sleeps
and then sends a recorded game, so only the driver computes. The ideal is the rate of a driver
without cost. With --ray the games travel through Ray, else within this process.
"""

import argparse
import asyncio
import dataclasses
import heapq
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

from alphazero.cli.main import run_and_report
from alphazero.config.loader import load_config
from alphazero.config.schema import Config, RayConfig
from alphazero.games import Game, make_game
from alphazero.network.backend import make_evaluator
from alphazero.network.checkpoint import Checkpoint, checkpoint_bytes
from alphazero.network.resnet import ResNet
from alphazero.records.game_record import NEVER_RESIGN
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.distributed.actor_pool import ActorPool
from alphazero.training.distributed.ray_cluster import LocalRay, open_actor_pool
from alphazero.training.play_backend import (
    LocalBackend,
    NetworkSnapshot,
    PlayBackend,
    SelfPlayRequest,
)
from alphazero.training.selfplay import play_games
from alphazero.training.selfplay_stats import SelfPlayStats
from alphazero.utils.machine import peak_megabytes
from alphazero.utils.progress import no_progress


class Rate(NamedTuple):
    """The throughput of a driver."""

    games: float
    """games a second"""
    cpu: float
    """CPU time of the driver, in cores"""


def untrained_network(game: Game, config: Config) -> NetworkSnapshot:
    """Return the untrained network of a run."""
    network = ResNet(game.observation_shape, game.num_actions, config.network, config.run.seed)
    name, options = config.game.name, dict(config.game.options)
    player = Checkpoint(name, options, config.network, network.state_dict(), 0, 0)
    evaluator = make_evaluator(network, config.inference)
    return NetworkSnapshot("first", evaluator, lambda: checkpoint_bytes(player, "first"))


def measure(backend: PlayBackend, network: NetworkSnapshot, seed: int, seconds: float) -> Rate:
    """Receive games for about `seconds`, after a first iteration that warms up.

    The network gets a new name in each iteration, so that it is sent again.
    """
    unfinished = backend.play(
        SelfPlayRequest(network, [seed, 0], NEVER_RESIGN, []), no_progress, bool
    ).unfinished
    begin, cpu, games, iteration = time.perf_counter(), time.process_time(), 0, 1
    while (spent := time.perf_counter() - begin) < seconds or iteration == 1:
        renamed = network._replace(name=f"{network.name}-{iteration}")
        request = SelfPlayRequest(renamed, [seed, iteration], NEVER_RESIGN, unfinished)
        played = backend.play(request, no_progress, bool)
        games, unfinished = games + len(played.finished), played.unfinished
        iteration += 1
    spent = time.perf_counter() - begin
    return Rate(games / spent, (time.process_time() - cpu) / spent)


def compare_cores(game: Game, config: Config, seconds: float) -> None:
    """Print the speed of one process, and of one actor per core."""
    network = untrained_network(game, config)
    print("cores  in process     actors    a game costs more   driver CPU")
    for cores in (1, 2):
        alone = measure(LocalBackend(game, config, cores), network, config.run.seed, seconds).games
        workers = RayConfig(actors=cores)
        selfplay = dataclasses.replace(config.selfplay, distributed=workers)
        pool = open_actor_pool(game, dataclasses.replace(config, selfplay=selfplay), 0)
        try:
            rate = measure(pool, network, config.run.seed, seconds)
        finally:
            pool.close()
        more = (cores / rate.games - cores / alone) * 1000
        print(
            f"{cores:5}  {alone:8.2f}/s {rate.games:8.2f}/s  {more:12.1f} ms     {rate.cpu:8.1%}",
            flush=True,
        )


class Sleepers:
    """A launcher whose actors sleep for a game's time and then send one, all in one thread."""

    def __init__(self, seconds: float, result: Any) -> None:
        self.seconds, self.result = seconds, result
        self._due: list[tuple[float, int, Future[Any]]] = []
        self._changed = threading.Condition()
        self._num_calls = 0
        threading.Thread(target=self._wake, daemon=True).start()

    def launch(self, number: int, incarnation: int) -> "Sleepers.Hand":  # noqa: ARG002
        return Sleepers.Hand(self)

    class Hand:
        """An actor that sleeps."""

        def __init__(self, sleepers: "Sleepers") -> None:
            self.sleepers, self.free = sleepers, 0.0

        def ask(self, method: str, *_: Any) -> Future[Any]:
            """Sleep, after all earlier calls."""
            if method == "play":
                self.free = max(time.monotonic(), self.free) + self.sleepers.seconds
            return self.sleepers.at(self.free, method)

        def stop(self) -> None:
            pass

    def at(self, when: float, method: str) -> Future[Any]:
        """Return a future result, due at `when`."""
        future: Future[Any] = Future()
        if method != "play":
            future.set_result(None)
            return future
        with self._changed:
            self._num_calls += 1
            heapq.heappush(self._due, (when, self._num_calls, future))
            self._changed.notify()
        return future

    def _wake(self) -> None:
        while True:
            with self._changed:
                while not self._due or (wait := self._due[0][0] - time.monotonic()) > 0:
                    self._changed.wait(wait if self._due else None)
                future = heapq.heappop(self._due)[2]
            future.set_result(self.result)

    def put(self, data: bytes) -> bytes:
        return data

    def death_reason(self, error: BaseException) -> None:
        pass

    def close(self) -> None:
        pass


class SleepingProcess:
    """The Ray process in which all actors sleep."""

    def __init__(self, seconds: float, result: Any) -> None:
        self.seconds, self.result = seconds, result
        self.locks: dict[int, asyncio.Lock] = {}

    async def play(self, number: int) -> Any:
        """Sleep after actor `number`'s earlier calls; return a game."""
        async with self.locks.setdefault(number, asyncio.Lock()):
            await asyncio.sleep(self.seconds)
        return self.result


class RaySleepers(Sleepers):
    """A launcher whose actors sleep in a Ray process."""

    def __init__(self, seconds: float, result: Any, actors: int) -> None:
        super().__init__(seconds, result)
        self.local = LocalRay(1)
        import ray

        ray.init(address=self.local.address, log_to_driver=False)
        self.ray = ray
        options = {"num_cpus": 0, "max_concurrency": 4 * actors}
        self.process = ray.remote(**options)(SleepingProcess).remote(seconds, result)

    def launch(self, number: int, incarnation: int) -> Any:  # noqa: ARG002
        process = self.process

        class Hand(Sleepers.Hand):
            def ask(self, method: str, *_: Any) -> Future[Any]:
                if method != "play":
                    return self.sleepers.at(0, method)
                future: Future[Any] = process.play.remote(number).future()
                return future

        return Hand(self)

    def close(self) -> None:
        self.ray.shutdown()
        self.local.close()


def compare_sleepers(
    game: Game, config: Config, numbers: list[int], nap: float, seconds: float, through_ray: bool
) -> None:
    """Print the games a second that a driver receives from sleeping actors."""
    network = untrained_network(game, config)
    small = dataclasses.replace(config.selfplay, games_per_iteration=8, parallel_games=8)
    quick = dataclasses.replace(
        config, selfplay=small, search=dataclasses.replace(config.search, simulations=2)
    )
    record = play_games(game, quick, network.evaluator, [1]).finished[0]
    data = GameBatch.of(game, [record]).to_bytes()
    print(f"a game is {len(record.actions)} moves, {len(data):,} bytes; it takes {nap:g} s")
    print("actors       ideal    games/s   share   driver CPU   a game   peak memory")
    for actors in numbers:
        selfplay = dataclasses.replace(
            config.selfplay, games_per_iteration=4 * actors, distributed=RayConfig(actors=actors)
        )
        make: Callable[..., Sleepers] = Sleepers
        arguments: tuple[Any, ...] = (nap, (data, vars(SelfPlayStats())))
        if through_ray:
            make, arguments = RaySleepers, (*arguments, actors)
        run = dataclasses.replace(config, selfplay=selfplay)
        assert selfplay.distributed is not None
        pool = ActorPool(game, run, selfplay.distributed, make(*arguments))
        try:
            rate = measure(pool, network, 0, seconds)
        finally:
            pool.close()
        ideal = actors / nap
        print(
            f"{actors:6} {ideal:9.1f}/s {rate.games:8.1f}/s {rate.games / ideal:7.1%} "
            f"{rate.cpu:12.1%} {rate.cpu / rate.games * 1000:5.2f} ms {peak_megabytes():9.0f} MiB",
            flush=True,
        )


def main() -> None:
    """Run the selected measurement."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("config", metavar="CONFIG", help="the YAML file of a run")
    parser.add_argument("overrides", nargs="*", metavar="section.key=value")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each measurement")
    parser.add_argument("--sleep", metavar="N,N", help="numbers of sleeping actors")
    parser.add_argument("--nap", type=float, default=0.5, help="seconds of sleep per game")
    parser.add_argument("--ray", action="store_true", help="send their games through Ray")
    options = parser.parse_intermixed_args()
    config = load_config(options.config, options.overrides)
    game = make_game(config.game.name, **config.game.options)
    if options.sleep:
        numbers = [int(each) for each in options.sleep.split(",")]
        compare_sleepers(game, config, numbers, options.nap, options.seconds, options.ray)
    else:
        compare_cores(game, config, options.seconds)


if __name__ == "__main__":
    sys.exit(run_and_report(main))
