"""Measure how self-play scales with actors: on this machine's cores, and with actors that sleep.

python scripts/benchmark_actors.py configs/connect_four.yaml [section.key=value ...] [--seconds 60]
python scripts/benchmark_actors.py configs/connect_four.yaml --sleep 2,8,32,128,256 [--ray]

The first compares one process with Ray actors, on one and on two cores: games a second, and the
extra time of a game. The second measures how many actors one driver can serve: each actor only
sleeps and then sends a recorded game, so the driver alone computes. The ideal is the rate with a
driver that costs nothing. With --ray the games travel through Ray, else through this process.
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


class Rate(NamedTuple):
    """The rate at which a driver receives games."""

    games: float
    """games a second"""
    cpu: float
    """CPU time of the driver, in seconds of a core a second"""


def first_version(game: Game, config: Config) -> NetworkSnapshot:
    """Return the untrained network of a run."""
    network = ResNet(game.observation_shape, game.num_actions, config.network, config.run.seed)
    name, options = config.game.name, dict(config.game.options)
    player = Checkpoint(name, options, config.network, network.state_dict(), 0, 0)
    evaluator = make_evaluator(network, config.inference)
    return NetworkSnapshot("first", evaluator, lambda: checkpoint_bytes(player, "first"))


def measure(producer: PlayBackend, best: NetworkSnapshot, seed: int, seconds: float) -> Rate:
    """Receive games for about `seconds`, after a first iteration that warms up.

    Each iteration gives its network another name, because a known network would not be sent again.
    """
    unfinished = producer.play(
        SelfPlayRequest(best, [seed, 0], NEVER_RESIGN, []), bool, bool
    ).unfinished
    begin, cpu, games, turn = time.perf_counter(), time.process_time(), 0, 1
    while (spent := time.perf_counter() - begin) < seconds or turn == 1:
        version = best._replace(name=f"{best.name}-{turn}")
        orders = SelfPlayRequest(version, [seed, turn], NEVER_RESIGN, unfinished)
        played = producer.play(orders, bool, bool)
        games, unfinished, turn = games + len(played.finished), played.unfinished, turn + 1
    spent = time.perf_counter() - begin
    return Rate(games / spent, (time.process_time() - cpu) / spent)


def compare_cores(game: Game, config: Config, seconds: float) -> None:
    """Print how fast one process and as many actors as it has cores play."""
    best = first_version(game, config)
    print("cores  in process     actors    a game costs more   driver CPU")
    for cores in (1, 2):
        alone = measure(LocalBackend(game, config, cores), best, config.run.seed, seconds).games
        workers = RayConfig(actors=cores)
        selfplay = dataclasses.replace(config.selfplay, distributed=workers)
        pool = open_actor_pool(game, dataclasses.replace(config, selfplay=selfplay), 0)
        try:
            rate = measure(pool, best, config.run.seed, seconds)
        finally:
            pool.close()
        more = (cores / rate.games - cores / alone) * 1000
        print(
            f"{cores:5}  {alone:8.2f}/s {rate.games:8.2f}/s  {more:12.1f} ms     {rate.cpu:8.1%}",
            flush=True,
        )


class Sleepers:
    """A launcher whose actors sleep for a game and then send one, all in one thread."""

    def __init__(self, seconds: float, brought: Any) -> None:
        self.seconds, self.brought = seconds, brought
        self._due: list[tuple[float, int, Future[Any]]] = []
        self._news = threading.Condition()
        self._asked = 0
        threading.Thread(target=self._wake, daemon=True).start()

    def launch(self, number: int, incarnation: int) -> "Sleepers.Hand":  # noqa: ARG002
        """Start an actor."""
        return Sleepers.Hand(self)

    class Hand:
        """An actor that sleeps."""

        def __init__(self, sleepers: "Sleepers") -> None:
            self.sleepers, self.free = sleepers, 0.0

        def ask(self, method: str, *_: Any) -> Future[Any]:
            """Sleep after the sleeps of all earlier calls."""
            if method == "play":
                self.free = max(time.monotonic(), self.free) + self.sleepers.seconds
            return self.sleepers.at(self.free, method)

        def stop(self) -> None:
            """Do nothing: nothing runs."""

    def at(self, when: float, method: str) -> Future[Any]:
        """Return a result that arrives at `when`."""
        future: Future[Any] = Future()
        if method != "play":
            future.set_result(None)
            return future
        with self._news:
            self._asked += 1
            heapq.heappush(self._due, (when, self._asked, future))
            self._news.notify()
        return future

    def _wake(self) -> None:
        while True:
            with self._news:
                while not self._due or (wait := self._due[0][0] - time.monotonic()) > 0:
                    self._news.wait(wait if self._due else None)
                future = heapq.heappop(self._due)[2]
            future.set_result(self.brought)

    def put(self, data: bytes) -> bytes:
        """Return the bytes themselves."""
        return data

    def death_reason(self, error: BaseException) -> None:
        """Return None: no actor dies."""

    def close(self) -> None:
        """Do nothing: there are no resources."""


class Bed:
    """The sleeping actors when games travel through Ray: one process for all."""

    def __init__(self, seconds: float, brought: Any) -> None:
        self.seconds, self.brought = seconds, brought
        self.turns: dict[int, asyncio.Lock] = {}

    async def play(self, number: int) -> Any:
        """Sleep, one game after the other for each number; return the game."""
        async with self.turns.setdefault(number, asyncio.Lock()):
            await asyncio.sleep(self.seconds)
        return self.brought


class RaySleepers(Sleepers):
    """A launcher whose actors sleep in a process of Ray."""

    def __init__(self, seconds: float, brought: Any, actors: int) -> None:
        super().__init__(seconds, brought)
        self.local = LocalRay(1)
        import ray

        ray.init(address=self.local.address, log_to_driver=False)
        self.ray = ray
        options = {"num_cpus": 0, "max_concurrency": 4 * actors}
        self.bed = ray.remote(**options)(Bed).remote(seconds, brought)

    def launch(self, number: int, incarnation: int) -> Any:  # noqa: ARG002
        """Start an actor."""
        bed = self.bed

        class Hand(Sleepers.Hand):
            def ask(self, method: str, *_: Any) -> Future[Any]:
                if method != "play":
                    return self.sleepers.at(0, method)
                future: Future[Any] = bed.play.remote(number).future()
                return future

        return Hand(self)

    def close(self) -> None:
        """Stop Ray."""
        self.ray.shutdown()
        self.local.close()


def compare_sleepers(
    game: Game, config: Config, numbers: list[int], nap: float, seconds: float, through_ray: bool
) -> None:
    """Print how many games a driver receives from actors that sleep."""
    best = first_version(game, config)
    small = dataclasses.replace(config.selfplay, games_per_iteration=8, parallel_games=8)
    quick = dataclasses.replace(
        config, selfplay=small, search=dataclasses.replace(config.search, simulations=2)
    )
    record = play_games(game, quick, best.evaluator, [1]).finished[0]
    data = GameBatch.of(game, [record]).to_bytes()
    print(f"a game is {len(record.actions)} moves, {len(data):,} bytes; it takes {nap:g} s")
    print("actors       ideal    games/s   share   driver CPU   a game   peak memory")
    for actors in numbers:
        selfplay = dataclasses.replace(
            config.selfplay, games_per_iteration=4 * actors, distributed=RayConfig(actors=actors)
        )
        make: Callable[..., Sleepers] = Sleepers
        arguments: tuple[Any, ...] = (nap, (data, [0], vars(SelfPlayStats())))
        if through_ray:
            make, arguments = RaySleepers, (*arguments, actors)
        run = dataclasses.replace(config, selfplay=selfplay)
        assert selfplay.distributed is not None
        pool = ActorPool(game, run, selfplay.distributed, make(*arguments))
        try:
            rate = measure(pool, best, 0, seconds)
        finally:
            pool.close()
        ideal = actors / nap
        print(
            f"{actors:6} {ideal:9.1f}/s {rate.games:8.1f}/s {rate.games / ideal:7.1%} "
            f"{rate.cpu:12.1%} {rate.cpu / rate.games * 1000:5.2f} ms {peak_megabytes():9.0f} MiB",
            flush=True,
        )


def main() -> None:
    """Run the measurement that the arguments select."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("config", metavar="CONFIG", help="the YAML file of a run")
    parser.add_argument("overrides", nargs="*", metavar="section.key=value")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each measurement")
    parser.add_argument("--sleep", metavar="N,N", help="numbers of actors that sleep")
    parser.add_argument("--nap", type=float, default=0.5, help="seconds that one sleeps for a game")
    parser.add_argument("--ray", action="store_true", help="let their games travel through Ray")
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
