"""A pool of actors, here threads or puppets: overlap within bounds, and deaths that cost little."""

import itertools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers.games import TIC_TAC_TOE
from helpers.networks import needs_openvino
from helpers.processes import HANG, until
from helpers.runs.records import random_records
from helpers.runs.tiny_run import ITERATIONS, manifest_of, tiny_config, torn_files

from alphazero.arena.elo import match_result
from alphazero.config.loader import dump_config
from alphazero.config.schema import Config
from alphazero.errors import RunError
from alphazero.network.checkpoint import (
    Checkpoint,
    checkpoint_bytes,
    load_checkpoint,
    read_checkpoint,
)
from alphazero.network.inference import quantization
from alphazero.network.inference.openvino_evaluator import OpenVINOEvaluator
from alphazero.network.resnet import ResNet
from alphazero.records.game_record import GameRecord
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.distributed import actor_pool, training
from alphazero.training.distributed.actor import Actor
from alphazero.training.distributed.actor_pool import MAX_CONSECUTIVE_DEATHS, ActorPool
from alphazero.training.distributed.training import DistributedTraining
from alphazero.training.gate import GateResult
from alphazero.training.loop import resume, train
from alphazero.training.manifest import holds_run, player_name, run_folder
from alphazero.training.selfplay import SelfPlayStats
from alphazero.utils.arrays import Float32Array


class Death(Exception):
    """What the fakes raise for an actor that is no more."""


class Launcher:
    """A launcher whose actors are made by `make`; it records what it launched and shared."""

    def __init__(self, make: Callable[[int, int], Any]) -> None:
        self.make = make
        self.launched: list[tuple[int, int]] = []
        self.shared: list[bytes] = []
        self.closed = False

    def launch(self, number: int, incarnation: int) -> Any:
        self.launched.append((number, incarnation))
        return self.make(number, incarnation)

    def put(self, data: bytes) -> bytes:
        self.shared.append(data)
        return data

    def death_reason(self, error: BaseException) -> str | None:
        return str(error) if isinstance(error, Death) else None

    def close(self) -> None:
        self.closed = True


class ThreadActor:
    """A real actor in a thread; it dies, at its `dies_at`-th call, and stays dead."""

    def __init__(self, actor: Actor, dies_at: int = -1) -> None:
        self.actor, self.dies_at, self.calls = actor, dies_at, 0
        self.pool = ThreadPoolExecutor(1)

    def ask(self, method: str, *arguments: Any) -> Future[Any]:
        return self.pool.submit(self.call, method, arguments)

    def call(self, method: str, arguments: tuple[Any, ...]) -> Any:
        self.calls += 1
        if 0 <= self.dies_at < self.calls:
            raise Death(f"a brick at call {self.dies_at}")
        return getattr(self.actor, method)(*arguments)

    def stop(self) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)


class Puppet:
    """Answers at once, with `answer` or one game."""

    def __init__(self, answer: Callable[[str], Any] = lambda _: games_of(1)) -> None:
        self.answer = answer
        self.methods: list[str] = []

    def ask(self, method: str, *arguments: Any) -> Future[Any]:
        self.methods.append(method)
        future: Future[Any] = Future()
        try:
            answer = self.answer(method)
        except Exception as error:
            future.set_exception(error)
            return future
        if isinstance(answer, Future):
            return answer
        future.set_result(answer)
        return future

    def stop(self) -> None:
        pass


def games_of(number: int) -> tuple[bytes, dict[str, float]]:
    """Return the answer of an actor to `play`."""
    records = random_records(TIC_TAC_TOE, number)
    return GameBatch.of(TIC_TAC_TOE, records).to_bytes(), vars(SelfPlayStats(simulations=number))


def config_for(folder: Path, *overrides: str, workers: str = "{ray: {actors: 2}}") -> Config:
    settings = f"selfplay.distributed={workers}", "inference.backend=torch"  # the quicker to start
    return tiny_config(folder, *settings, *overrides)


def pool_of(config: Config, launcher: Launcher | Callable[..., Any]) -> ActorPool:
    """Return a pool with a launcher, or with the actors that a function makes."""
    launcher = launcher if isinstance(launcher, Launcher) else Launcher(launcher)
    assert config.selfplay.distributed is not None
    return ActorPool(TIC_TAC_TOE, config, config.selfplay.distributed, launcher)


def play(
    pool: ActorPool, network: bytes = b"first", calibration: Float32Array | None = None
) -> list[GameRecord]:
    """Return the games of one iteration."""
    return pool.play(network, bool, lambda: False, calibration=calibration).finished


def deaths(pool: ActorPool) -> int:
    """Return how many actors have been replaced."""
    return sum(slot.incarnation for slot in pool._slots)


def stop_of(pool: ActorPool, message: str) -> str:
    """Return the line with which playing ends; check that it matches `message`."""
    with pytest.raises(RunError, match=message) as caught:
        pool.play(b"first", bool, lambda: False)
    pool.close()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def train_with(
    monkeypatch: pytest.MonkeyPatch, config: Config, dies_at: dict[tuple[int, int], int]
) -> tuple[Path, list[Launcher]]:
    """Train with actors in threads that die as planned; return the run and the launcher."""
    launchers: list[Launcher] = []

    def open_pool(game: Any, config: Config, iteration: int) -> ActorPool:
        def make(number: int, incarnation: int) -> ThreadActor:
            actor = Actor(dump_config(config), [config.run.seed, iteration, number, incarnation], 1)
            return ThreadActor(actor, dies_at.get((number, incarnation), -1))

        launchers.append(Launcher(make))
        return pool_of(config, launchers[-1])

    monkeypatch.setattr(training, "open_actor_pool", open_pool)
    return train(config), launchers


# --- whole runs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("ahead", [0, 5])
def test_a_run_with_actors_reaches_its_end_within_its_bounds_and_goes_on_with_any_workers(
    tmp_path, monkeypatch, ahead: int
):
    monkeypatch.setattr(training, "MAX_STEPS_AHEAD", ahead)
    config = config_for(tmp_path, "budget.iterations=2")
    run, (launcher,) = train_with(monkeypatch, config, {})
    manifest = manifest_of(run)
    assert manifest["iteration"] == 2
    assert manifest["games"] == 2 * config.selfplay.games_per_iteration
    due = int(manifest["positions"] * 2.0 / 16)
    assert due <= manifest["step"] <= due + ahead
    assert not torn_files(run)
    assert launcher.closed
    assert len(set(launcher.shared)) == len(launcher.shared), "a network travelled twice"
    # Each second iteration holds a gate, whose games were saved when its result came.
    assert len(list((run / "games").glob("gate-*.txt"))) >= 1
    resume(run, ["budget.iterations=4"])
    after = manifest_of(run)
    assert after["iteration"] == 4
    due = int(after["positions"] * 2.0 / 16)
    assert due <= after["step"] <= due + ahead
    for more, workers in ((5, "null"), (6, "{ray: {actors: 2}}")):
        resume(run, [f"selfplay.distributed={workers}", f"budget.iterations={more}"])
        assert manifest_of(run)["iteration"] == more
    assert not torn_files(run)


@pytest.mark.parametrize("ratio", [0.5, 8.0])
def test_another_ratio_counts_for_the_games_that_come_after_it(tmp_path, monkeypatch, ratio: float):
    play, ahead = ActorPool.play, 5

    def late_play(pool: ActorPool, best: Any, show: Any, meanwhile: Any, *terms: Any) -> Any:
        for _ in range(30):
            meanwhile()
        return play(pool, best, show, meanwhile, *terms)

    monkeypatch.setattr(ActorPool, "play", late_play)
    monkeypatch.setattr(training, "MAX_STEPS_AHEAD", ahead)
    run, _ = train_with(monkeypatch, config_for(tmp_path, "budget.iterations=6"), {})
    before = manifest_of(run)
    resume(run, [f"replay.ratio={ratio}", "budget.iterations=18"])
    after = manifest_of(run)
    due = (after["positions"] - before["positions"]) * ratio / 16
    assert abs(after["step"] - before["step"] - due) <= ahead + 1
    assert due > 2 * ahead


def end_gates_first(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let a gate end before the next games are played; return the iterations that wait for one."""
    play_games, waiting = DistributedTraining.play_games, list[int]()

    def play_after_gate(run: DistributedTraining, *arguments: Any) -> Any:
        if run.pending_gate:
            run.pending_gate.result.result()
            waiting.append(run.run.state.iteration)
        return play_games(run, *arguments)

    monkeypatch.setattr(DistributedTraining, "play_games", play_after_gate)
    return waiting


def test_a_player_has_its_rating_when_its_gate_ends_in_a_later_iteration(tmp_path, monkeypatch):
    decide, later = DistributedTraining.decide, end_gates_first(monkeypatch)
    ratings: list[float | None] = []

    def watch(run: DistributedTraining, checkpoint: Checkpoint, *arguments: Any) -> GateResult:
        result = decide(run, checkpoint, *arguments)
        name = player_name(checkpoint.step)
        ratings.append(read_checkpoint((run.run.folder / name).read_bytes(), name).rating)
        return result

    monkeypatch.setattr(DistributedTraining, "decide", watch)
    config = config_for(tmp_path, "budget.iterations=6", "gate.interval=2", "gate.threshold=0.0")
    run, _ = train_with(monkeypatch, config, {})
    assert later
    assert None not in ratings
    assert load_checkpoint(run / "best.safetensors").rating == manifest_of(run)["rating"]
    assert not torn_files(run)


def test_each_gate_that_is_due_is_played_when_they_end_before_the_next(tmp_path, monkeypatch):
    begin, begun = DistributedTraining._begin_gate, list[int]()

    def watch(run: DistributedTraining, *arguments: Any) -> Any:
        begun.append(run.run.state.iteration)
        return begin(run, *arguments)

    monkeypatch.setattr(DistributedTraining, "_begin_gate", watch)
    end_gates_first(monkeypatch)
    config = config_for(tmp_path, "budget.iterations=6", "gate.interval=1")
    train_with(monkeypatch, config, {})
    assert begun[:4] == [1, 2, 3, 4]


def test_a_cluster_that_is_refused_leaves_no_run(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise RunError("no cluster")

    monkeypatch.setattr(training, "open_actor_pool", refuse)
    config = config_for(tmp_path)
    with pytest.raises(RunError, match="no cluster"):
        train(config)
    assert not holds_run(run_folder(config))


def test_actors_that_die_in_self_play_and_in_gates_do_not_stop_a_run(tmp_path, monkeypatch):
    deaths = {(0, 0): 2, (0, 1): 4, (1, 0): 3, (1, 1): 6}
    config = config_for(tmp_path, "gate.interval=1")
    run, (launcher,) = train_with(monkeypatch, config, deaths)
    assert manifest_of(run)["iteration"] == ITERATIONS
    assert {(0, 1), (1, 1)} <= set(launcher.launched)
    assert not torn_files(run)


# --- overlap and its bounds ----------------------------------------------------------------------


@pytest.mark.parametrize("iterations", [1, 3])
def test_actors_pause_once_as_many_games_wait_as_may(tmp_path, monkeypatch, iterations: int):
    monkeypatch.setattr(actor_pool, "QUEUED_ITERATIONS", iterations)
    # Puppets answer with one game: jobs of more, for answers that come fast, would be cut short.
    monkeypatch.setattr(actor_pool, "RESULTS_PER_SECOND", 1e9)
    workers = "{ray: {actors: 3}}"
    config = config_for(tmp_path, "selfplay.games_per_iteration=4", workers=workers)
    puppets = [Puppet() for _ in range(3)]
    pool = pool_of(config, lambda number, _: puppets[number])

    def requests() -> int:
        return sum(puppet.methods.count("play") for puppet in puppets)

    limit = 4 * iterations
    for _ in range(3):
        assert len(play(pool)) == 4
        limit += 4
        until(lambda limit=limit: requests() >= limit)  # type: ignore[misc]
    pool.close()
    assert requests() == limit


@pytest.mark.parametrize(("results_per_second", "later"), [(1e-6, 32), (1e6, 4)])
def test_jobs_get_more_games_when_results_come_too_fast(
    tmp_path, monkeypatch, results_per_second: float, later: int
):
    monkeypatch.setattr(actor_pool, "RESULTS_PER_SECOND", results_per_second)
    sizes: list[int] = []

    class Obedient(Puppet):
        """Returns as many games as a job has."""

        def ask(self, method: str, *arguments: Any) -> Future[Any]:
            if method == "play":
                sizes.append(arguments[2])
                self.answer = lambda _: games_of(sizes[-1])
            return super().ask(method, *arguments)

    pool = pool_of(config_for(tmp_path, "selfplay.games_per_iteration=64"), lambda *_: Obedient())
    for _ in range(3):
        assert len(play(pool)) == 64
    pool.close()
    assert set(sizes) == {4, later}


def test_the_learner_goes_on_until_it_may_not_and_then_waits(tmp_path):
    games: list[Future[Any]] = []

    def answer(_: str) -> Any:
        games.append(Future())
        return games[-1]

    pool = pool_of(config_for(tmp_path), lambda *_: Puppet(answer))
    calls = []

    def meanwhile() -> bool:
        calls.append(True)
        if len(calls) >= 4:  # only now do games come
            for game in [game for game in games if not game.done()]:
                game.set_result(games_of(1))
        return len(calls) < 4

    assert len(pool.play(b"first", bool, meanwhile).finished) == 6
    assert len(calls) >= 4
    pool.close()


# --- deaths --------------------------------------------------------------------------------------


def test_the_third_death_in_a_row_stops_the_run_with_the_last_words(tmp_path):
    def answer(_: str) -> Any:
        raise Death("out of memory")

    launcher = Launcher(lambda number, _: Puppet(answer) if number else Puppet())
    # The other actor may play few games, so that only the end of the run ends the waiting.
    pool = pool_of(config_for(tmp_path, "selfplay.games_per_iteration=100000"), launcher)
    count = f"{MAX_CONSECUTIVE_DEATHS} times in a row"
    stop_of(pool, f"actor 1 died {count} .* the last reason: out of memory")
    numbers = [number for number, _ in launcher.launched]
    assert numbers.count(1) == MAX_CONSECUTIVE_DEATHS


def test_actors_that_fall_silent_are_named_and_replaced(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(actor_pool, "MAX_SILENCE", 60)
    silent = Puppet(lambda _: Future())
    launcher = Launcher(lambda _, incarnation: Puppet() if incarnation else silent)
    pool, clock = pool_of(config_for(tmp_path), launcher), SimpleNamespace(seconds=0.0)
    pool._clock = lambda: clock.seconds
    waits = []

    def meanwhile() -> bool:
        until(lambda: all(slot.jobs for slot in pool._slots) or deaths(pool) > 0)
        waits.append(len(launcher.launched))
        clock.seconds = 60.0 if len(waits) < 4 else 61.0
        return False

    assert len(pool.play(b"first", bool, meanwhile).finished) == 6
    pool.close()
    assert waits[:4] == [2] * 4, "60 s are not more than 60 s"
    assert launcher.launched == [(0, 0), (1, 0), (0, 1), (1, 1)]
    output = capsys.readouterr().out
    for number in (0, 1):
        assert f"actor {number} died and is replaced: it has not answered for 60 s" in output


def test_an_actor_without_work_may_be_silent(tmp_path):
    pool = pool_of(config_for(tmp_path), Launcher(lambda *_: Puppet()))
    clock = SimpleNamespace(seconds=0.0)
    pool._clock = lambda: clock.seconds
    for _ in range(3):
        clock.seconds += 1e6
        play(pool)
        until(lambda: not any(slot.jobs for slot in pool._slots))
    pool.close()
    assert deaths(pool) == 0


def test_deaths_with_games_between_are_not_in_a_row(tmp_path):
    def make(_: int, incarnation: int) -> Puppet:
        calls = itertools.count()

        def answer(_: str) -> Any:
            if incarnation < 2 * MAX_CONSECUTIVE_DEATHS and next(calls):
                raise Death("again")
            return games_of(1)

        return Puppet(answer)

    workers = "{ray: {actors: 1}}"
    pool = pool_of(config_for(tmp_path, "selfplay.games_per_iteration=20", workers=workers), make)
    assert len(play(pool)) == 20
    pool.close()
    assert deaths(pool) == 2 * MAX_CONSECUTIVE_DEATHS


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (RunError("no numbers"), "^no numbers$"),
        (KeyError("bug"), r"^actor 0 failed in `play` with KeyError: 'bug'; .* resume it"),
        (ValueError("two\nlines"), r"with ValueError: two lines; "),
    ],
)
def test_an_error_that_an_actor_raises_stops_the_run_at_once_with_one_line(
    tmp_path, error: Exception, line: str
):
    def answer(_: str) -> Any:
        raise error

    launcher = Launcher(lambda *_: Puppet(answer))
    stop_of(pool_of(config_for(tmp_path), launcher), line)
    assert len(launcher.launched) == 2


def against_the_rules() -> bytes:
    """A game whose second move is on the cell of the first."""
    (game,) = random_records(TIC_TAC_TOE, 1)
    game.actions[1] = game.actions[0]
    return GameBatch.of(TIC_TAC_TOE, [game]).to_bytes()


WRONG_ANSWERS = {
    "a game against the rules": (against_the_rules(), vars(SelfPlayStats())),
    "text": "games",
    "too few": games_of(1)[:1],
    "no bytes": (5, *games_of(1)[1:]),
    "no work": (games_of(1)[0], 7),
    "unknown work": (games_of(1)[0], {"sleep": 1}),
    "work in letters": (games_of(1)[0], {"simulations": "1"}),
    "endless work": (games_of(1)[0], {"simulations": float("inf")}),
}


@pytest.mark.parametrize("wrong", WRONG_ANSWERS.values(), ids=WRONG_ANSWERS)
def test_an_answer_of_another_type_is_one_line(tmp_path, wrong: Any):
    stop_of(pool_of(config_for(tmp_path), lambda *_: Puppet(lambda _: wrong)), r"^an actor")


def test_a_gate_whose_actors_are_gone_ends_with_what_happened(tmp_path):
    def answer(method: str) -> Any:
        if method == "play_gate":
            raise Death("gone")
        return games_of(1)

    pool = pool_of(config_for(tmp_path), lambda *_: Puppet(answer))
    play(pool)
    future = pool.gate(b"new", b"first", [3], bool)
    with pytest.raises(RunError, match="died"):
        future.result(HANG)
    pool.close()


# --- one actor -----------------------------------------------------------------------------------


def network_bytes(seed: int, config: Config) -> bytes:
    network = ResNet(TIC_TAC_TOE.observation_shape, TIC_TAC_TOE.num_actions, config.network, seed)
    weights = network.state_dict()
    return checkpoint_bytes(Checkpoint("tic_tac_toe", {}, config.network, weights, 0, 0), "it")


def records_in(data: bytes) -> list[GameRecord]:
    return GameBatch.from_bytes(TIC_TAC_TOE, data, "it").records()


def test_games_under_way_go_on_when_the_network_changes(tmp_path):
    config = config_for(tmp_path)
    actor = Actor(dump_config(config), [1], 1)
    actor.play(network_bytes(1, config), -1.0, 3)
    before = [tuple(game.actions.tolist()) for game in actor._workers[0].leave()]
    assert any(before)
    data, _ = actor.play(network_bytes(2, config), -1.0, 1)
    games = records_in(data) + actor._workers[0].leave()
    after = [tuple(game.actions.tolist()) for game in games]
    for moves in before:
        assert any(longer[: len(moves)] == moves for longer in after), moves


def test_the_work_that_is_reported_adds_up_over_networks(tmp_path):
    config = config_for(tmp_path)
    actor = Actor(dump_config(config), [1], 1)
    reported = SelfPlayStats()
    for seed in (1, 1, 2, 2):
        _, work = actor.play(network_bytes(seed, config), -1.0, 2)
        reported += SelfPlayStats(**work)  # type: ignore[arg-type]
    assert reported.simulations == (actor._replaced + actor._workers[0].stats).simulations
    assert reported.evaluations > 0


def test_an_actor_searches_the_fraction_of_the_simulations_that_it_is_sent(tmp_path):
    config = config_for(tmp_path, "search.simulations=40")
    actor, network = Actor(dump_config(config), [1], 1), network_bytes(1, config)
    simulations = []
    for fraction in (0.25, 1.0):
        data, work = actor.play(network, -1.0, 20, b"", fraction)
        moves = sum(len(game.actions) for game in records_in(data))
        simulations.append(work["simulations"] / moves)
    assert simulations[0] < 15
    assert simulations[1] > 30


def test_every_core_of_an_actor_plays_also_when_few_games_are_asked_for(tmp_path):
    config = config_for(tmp_path)
    actor = Actor(dump_config(config), [1], 2)
    assert len(actor._games) == 2
    actor.play(network_bytes(1, config), -1.0, 1)
    assert all(worker.stats.simulations for worker in actor._workers)


def test_two_actors_of_one_run_play_different_games(tmp_path):
    config = config_for(tmp_path)
    seeds = ([5, 0, 0, 0], [5, 0, 0, 0], [5, 0, 1, 0], [5, 0, 0, 1], [5, 1, 0, 0])
    actors = [Actor(dump_config(config), seed, 1) for seed in seeds]
    network = network_bytes(1, config)
    games = [actor.play(network, -1.0, 4)[0] for actor in actors]
    assert games[0] == games[1]
    assert len(set(games)) == 4


@needs_openvino
def test_an_actor_quantizes_its_network_on_the_positions_that_it_receives(tmp_path):
    config = config_for(tmp_path, "inference.selfplay_precision=int8", "inference.backend=auto")
    actor, network = Actor(dump_config(config), [1], 1), network_bytes(1, config)

    def precision() -> str:
        evaluator = actor._workers[0]._search.evaluator
        assert isinstance(evaluator, OpenVINOEvaluator)
        return evaluator.precision

    positions = TIC_TAC_TOE.observe(TIC_TAC_TOE.initial_state())[None].tobytes()
    for calibration, expected in ((b"", "float32"), (positions, "int8 and float32")):
        data, _ = actor.play(network, -1.0, 2, calibration)
        assert precision() == expected
        assert len(records_in(data)) >= 2
    worker = actor._workers[0]
    actor.play(network, -1.0, 2, positions)
    assert actor._workers[0] is worker, "the trees stay"
    for wrong in (positions[:-1], np.full_like(np.frombuffer(positions, np.float32), np.nan)):
        with pytest.raises(RunError, match="an actor was sent"):
            actor.play(network_bytes(2, config), -1.0, 2, bytes(wrong))


def test_an_actor_without_openvino_plays_on_in_its_own_precision(tmp_path):
    config = config_for(tmp_path)
    positions = TIC_TAC_TOE.observe(TIC_TAC_TOE.initial_state())[None].tobytes()
    games = []
    for calibration in (b"", positions):
        actor = Actor(dump_config(config), [1], 1)
        games.append(actor.play(network_bytes(1, config), -1.0, 4, calibration)[0])
    assert games[0] == games[1]


def test_networks_and_calibration_positions_are_shared_once_for_all_actors(tmp_path):
    launcher = Launcher(lambda *_: Puppet())
    pool = pool_of(config_for(tmp_path, workers="{ray: {actors: 5}}"), launcher)
    calibrations = np.arange(4, dtype=np.float32)[:, None].repeat(18, 1).reshape(4, 2, 3, 3)
    for network, index in ((b"a", 0), (b"a", 1), (b"a", 2), (b"a", 0), (b"a", 2), (b"b", 3)):
        play(pool, network, calibrations[index, None] if index else None)
    play(pool, b"b")
    pool.close()
    one, two, three = (calibration.tobytes() for calibration in calibrations[1:])
    assert launcher.shared == [b"a", one, two, b"b", three]


@needs_openvino
def test_a_run_with_actors_plays_in_int8(tmp_path, monkeypatch):
    int8: list[bool] = []
    play = Actor.play

    def listen(self: Actor, *arguments: Any) -> Any:
        int8.append(bool(arguments[3]))
        return play(self, *arguments)

    monkeypatch.setattr(Actor, "play", listen)
    monkeypatch.setattr(quantization, "MAX_POLICY_ERROR", 1)
    monkeypatch.setattr(quantization, "MAX_VALUE_ERROR", 2)
    int8_settings = "inference.selfplay_precision=int8", "inference.backend=auto"
    config = config_for(tmp_path, *int8_settings, "budget.iterations=2")
    train_with(monkeypatch, config, {})
    assert not int8[0]
    assert any(int8)


def test_a_gate_of_actors_plays_every_opening_with_both_colours(tmp_path):
    config = config_for(tmp_path, "gate.games=10")
    pool = pool_of(config, lambda number, _: ThreadActor(Actor(dump_config(config), [number], 1)))
    versions = network_bytes(0, config), network_bytes(1, config)
    play(pool, versions[0])
    result = pool.gate(versions[1], versions[0], [3], bool).result(HANG)
    pool.close()
    assert [game.pairing.players for game in result.records] == [(0, 1), (1, 0)] * 5
    for one, two in zip(result.records[::2], result.records[1::2], strict=True):
        assert one.pairing.opening == two.pairing.opening
    assert result.match == match_result(TIC_TAC_TOE, result.records)
