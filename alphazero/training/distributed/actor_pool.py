"""A pool of actors that play all the time: job assignment, and replacement of dead actors.

Nothing here depends on a cluster: actors come from an `ActorLauncher`, which is Ray's
(ray_cluster.py) or, in tests and simulations, starts threads. Actors send whole games. Each
network, with the positions that calibrate its int8, is put once where all actors fetch it.

A dispatcher thread assigns jobs and collects results. Each actor has up to `JOBS_PER_ACTOR` queued
jobs, so it never idles. No more self-play is assigned while the games of `QUEUED_ITERATIONS`
iterations, beyond those that the loop waits for, are finished or requested.
"""

import contextlib
import dataclasses
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from queue import Empty, Queue
from typing import Any, Protocol, TypeAlias

from alphazero.config.schema import Config, RayConfig
from alphazero.errors import AlphaZeroError, RunError
from alphazero.games.game import Game
from alphazero.records.game_record import NEVER_RESIGN, GameRecord, Pairing
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.gate import GateResult, decide_gate
from alphazero.training.selfplay import SelfPlayResult, SelfPlayStats
from alphazero.utils.arrays import Float32Array
from alphazero.utils.jobs import split_evenly
from alphazero.utils.progress import Progress, say

JOBS_PER_ACTOR = 2
"""Jobs of each actor: the one in progress and the next one."""

QUEUED_ITERATIONS = 2
"""Iterations whose games may wait for the learner: AGZ's stages ran in parallel without a bound,
but the games of a slow learner would be those of networks long surpassed."""

BATCHES_PER_ITERATION = 8
"""Least number of self-play jobs of each actor per iteration, if each then has a game per core."""

RESULTS_PER_SECOND = 200
"""Results of self-play a second above which jobs get more games, and an iteration fewer jobs: a
result costs the driver about 1 ms besides its games."""

MAX_SILENCE = 3600.0
"""Seconds without a result after which an actor that has work is replaced: many times a job's."""

MAX_CONSECUTIVE_DEATHS = 3
"""Deaths in one actor slot in a row, without a finished job in between, that stop the run."""

POLL_SECONDS = 0.5
"""Seconds after which a waiting thread checks for Ctrl-C, a failure or silent actors."""

RESUME = "the last saved iteration is whole, resume it afterwards"

ActorResult: TypeAlias = Future[Any]


class ActorHandle(Protocol):
    """One actor, as the pool calls it."""

    def ask(self, method: str, *arguments: Any) -> ActorResult:
        """Call a method of `Actor` (actor.py) after all earlier calls; return its future result."""

    def stop(self) -> None:
        """Stop the actor at once, whatever it is doing."""


class ActorLauncher(Protocol):
    """Starts actors and shares data with them."""

    def launch(self, number: int, incarnation: int) -> ActorHandle:
        """Start an actor; `incarnation` counts the earlier actors with the same number."""

    def put(self, data: bytes) -> Any:
        """Put bytes where all actors can fetch them; return a reference for `ask`."""

    def death_reason(self, error: BaseException) -> str | None:
        """Return why the actor died, or None when `error` does not mean its death."""

    def close(self) -> None:
        """Release all resources."""


@dataclass
class _ActorCall:
    """A call of an actor's method, and its future result."""

    method: str
    arguments: tuple[Any, ...]
    games: int = 0
    """Games of self-play that it returns, at least."""
    result: ActorResult = field(default_factory=Future)


@dataclass
class _ActorSlot:
    """A numbered slot of the pool, which keeps its number when its actor is replaced."""

    number: int
    actor: ActorHandle
    incarnation: int = 0
    deaths: int = 0
    """In a row."""
    jobs: list[_ActorCall] = field(default_factory=list)
    last_result_at: float = 0.0
    """Time of its last result, or of its first job after having none."""


class ActorPool:
    """Actors that play while the loop learns."""

    def __init__(
        self, game: Game, config: Config, settings: RayConfig, launcher: ActorLauncher
    ) -> None:
        self._game, self._config, self._launcher = game, config, launcher
        self._clock = time.monotonic
        games, actors = config.selfplay.games_per_iteration, settings.actors
        self._limit = QUEUED_ITERATIONS * games
        games = max(games // (BATCHES_PER_ITERATION * actors), settings.cpus_per_actor)
        self._max_job_games = max(1, self._limit // (JOBS_PER_ACTOR * actors))
        self._job_games = self._min_job_games = min(games, self._max_job_games)
        self._inbox: Queue[tuple[_ActorSlot, int, _ActorCall, ActorResult] | None]
        self._inbox = Queue()
        """Results of actors for the dispatcher; None wakes it."""
        self._condition = threading.Condition()
        """Guards all that follows."""
        self._finished: deque[GameRecord] = deque()
        self._stats = SelfPlayStats()
        self._failure: BaseException | None = None
        self._demand = 0
        """Games that the loop waits for."""
        self._last_play = time.monotonic()
        self._networks: dict[bytes, Any] = {}
        """References to the last two networks by checkpoint; each is shared once."""
        self._best: Any = None
        """Reference to the network in self-play."""
        self._calibration: Any = b""
        """Reference to the positions that calibrate the best network; empty: it is not in int8."""
        self._resign_below, self._simulations_fraction = NEVER_RESIGN, 1.0
        self._gate_jobs: deque[_ActorCall] = deque()
        self._slots = [_ActorSlot(number, launcher.launch(number, 0)) for number in range(actors)]
        self._dispatcher = threading.Thread(target=self._dispatch, name="dispatcher", daemon=True)
        self._gates = ThreadPoolExecutor(1, "gate")
        self._dispatcher.start()

    def play(
        self,
        best: bytes,
        show: Progress,
        meanwhile: Callable[[], bool],
        resign_below: float = NEVER_RESIGN,
        simulations_fraction: float = 1.0,
        calibration: Float32Array | None = None,
    ) -> SelfPlayResult:
        """Set the network for self-play; return an iteration's games when they have arrived.

        `best` is a checkpoint; with `calibration`, observations [B, C, H, W], it plays in int8.
        While games are missing, `meanwhile` is called; once it returns False, the pool only waits.

        Raises:
            AlphaZeroError: when actors die in a row, or one reports that the run cannot continue.
        """
        shown, demand = 0, self._config.selfplay.games_per_iteration
        with self._condition:
            network = self._share(best)
            if network != self._best or calibration is None:
                self._calibration = b""
            self._best, self._demand = network, demand
            if calibration is not None and not self._calibration:
                self._calibration = self._launcher.put(calibration.tobytes())
            self._resign_below, self._simulations_fraction = resign_below, simulations_fraction
        self._inbox.put(None)
        while True:
            with self._condition:
                if self._failure is not None:
                    raise self._failure
                count = min(len(self._finished), demand)
                if count == demand:
                    games = [self._finished.popleft() for _ in range(demand)]
                    stats, self._stats, self._demand = self._stats, SelfPlayStats(), 0
            show(count - shown)
            shown = count
            if count == demand:
                break
            if not meanwhile():
                with self._condition:
                    if len(self._finished) < demand and self._failure is None:
                        self._condition.wait(POLL_SECONDS)
        now = time.monotonic()
        seconds, self._last_play = now - self._last_play, now
        games_per_result = int(demand / (RESULTS_PER_SECOND * max(seconds, 0.001)))
        self._job_games = max(self._min_job_games, min(games_per_result, self._max_job_games))
        return SelfPlayResult(games, [], stats, seconds)

    def gate(
        self, challenger: bytes, best: bytes, seed: Sequence[int], show: Progress
    ) -> Future[GateResult]:
        """Start a gate of two checkpoints, beside self-play; return its future result."""
        with self._condition:
            networks = self._share(challenger), self._share(best)

        def play(pairings: Sequence[Pairing]) -> list[GameRecord]:
            return self._play_pairings(networks, pairings, show)

        return self._gates.submit(decide_gate, self._game, self._config, seed, play)

    def close(self) -> None:
        """Stop all actors; games under way are lost."""
        self._fail(RunError("the actors have been shut down"))
        self._dispatcher.join()
        self._gates.shutdown(wait=False)
        for slot in self._slots:
            slot.actor.stop()
        self._launcher.close()

    def _share(self, network: bytes) -> Any:
        """Return the reference to a checkpoint."""
        reference = self._networks.pop(network, None) or self._launcher.put(network)
        self._networks = dict([*self._networks.items()][-1:]) | {network: reference}
        return reference

    def _play_pairings(
        self, networks: tuple[Any, ...], pairings: Sequence[Pairing], show: Progress
    ) -> list[GameRecord]:
        rest = iter(sorted(pairings, key=lambda pairing: (pairing.pair_id, pairing.players)))
        jobs = []
        for size in split_evenly(len(pairings), len(self._slots)):
            part = list(islice(rest, size))
            plain = [(pairing.players, pairing.opening, pairing.pair_id) for pairing in part]
            jobs.append((part, _ActorCall("play_gate", (*networks, plain))))
        with self._condition:
            self._gate_jobs.extend(job for _, job in jobs)
        self._inbox.put(None)
        records: list[GameRecord] = []
        for part, job in jobs:
            games = self._read_games(self._wait_for(job))
            if len(games) != len(part):
                raise RunError(f"an actor was asked for {len(part)} games and sent {len(games)}")
            for pairing, record in zip(part, games, strict=True):
                if tuple(record.actions[: len(pairing.opening)].tolist()) != pairing.opening:
                    raise RunError("an actor sent a game with another opening than requested")
                records.append(dataclasses.replace(record, pairing=pairing))
            show(len(part))
        return records

    def _wait_for(self, job: _ActorCall) -> Any:
        """Return the result of a job; raise the pool's failure if there will be none."""
        while True:
            try:
                return job.result.result(POLL_SECONDS)
            except TimeoutError:
                if self._failure is not None:
                    raise self._failure from None

    def _read_games(self, data: bytes) -> list[GameRecord]:
        return GameBatch.from_bytes(self._game, data, "an actor").records()

    def _read_play(self, result: Any) -> tuple[list[GameRecord], SelfPlayStats]:
        """Return the games and statistics of an `Actor.play`; raise RunError for anything else."""
        try:
            data, counters = result
            stats, records = SelfPlayStats(**counters), self._read_games(data)
            if all(0 <= count < math.inf for count in vars(stats).values()):
                return records, stats
        except (TypeError, ValueError):
            pass
        raise RunError("an actor sent something other than games and their counters")

    def _dispatch(self) -> None:
        """Handle the inbox in order, replace silent actors, and assign jobs, until a failure."""
        while self._failure is None:
            result = None
            with contextlib.suppress(Empty):
                result = self._inbox.get(timeout=POLL_SECONDS)
            try:
                with self._condition:
                    if result is not None:
                        self._handle_result(*result)
                    self._replace_silent()
                    self._assign_jobs()
            except BaseException as error:
                self._fail(error)

    def _fail(self, error: BaseException) -> None:
        with self._condition:
            self._failure = self._failure or error
            self._condition.notify_all()
        self._inbox.put(None)

    def _assign_jobs(self) -> None:
        """Give every actor its next jobs, gates first, within the limits."""
        games = self._job_games
        requested = sum(job.games for slot in self._slots for job in slot.jobs)
        capacity = self._limit + self._demand - len(self._finished) - requested
        for slot in self._slots:
            while len(slot.jobs) < JOBS_PER_ACTOR:
                if self._gate_jobs:
                    self._assign(slot, self._gate_jobs.popleft())
                elif self._best is not None and games <= capacity:
                    terms = self._resign_below, games, self._calibration, self._simulations_fraction
                    self._assign(slot, _ActorCall("play", (self._best, *terms), games))
                    capacity -= games
                else:
                    return

    def _assign(self, slot: _ActorSlot, job: _ActorCall) -> None:
        """Give an actor a job; the inbox receives its result."""
        if not slot.jobs:
            slot.last_result_at = self._clock()
        slot.jobs.append(job)
        place = slot, slot.incarnation, job
        result = slot.actor.ask(job.method, *job.arguments)
        result.add_done_callback(lambda result: self._inbox.put((*place, result)))

    def _handle_result(
        self, slot: _ActorSlot, incarnation: int, job: _ActorCall, result: ActorResult
    ) -> None:
        if incarnation != slot.incarnation:
            return  # from an actor that has been replaced
        slot.last_result_at = self._clock()
        error = result.exception()
        if error is not None:
            reason = self._launcher.death_reason(error)
            if reason is not None:
                self._replace(slot, reason)
                return
            if isinstance(error, AlphaZeroError):
                raise error
            text = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            place = f"actor {slot.number} failed in `{job.method}`"
            raise RunError(f"{place} with {text}; {RESUME}") from error
        slot.jobs.remove(job)
        slot.deaths = 0
        if job.method == "play":
            records, stats = self._read_play(result.result())
            self._finished.extend(records)
            self._stats += stats
            self._condition.notify_all()
        job.result.set_result(result.result())

    def _replace_silent(self) -> None:
        for slot in self._slots:
            if slot.jobs and self._clock() - slot.last_result_at > MAX_SILENCE:
                self._replace(
                    slot,
                    f"it has not answered for {MAX_SILENCE:,.0f} s; if a job takes that long, "
                    "lower selfplay.games_per_iteration",
                )

    def _replace(self, slot: _ActorSlot, reason: str) -> None:
        """Replace a dead actor; its games are lost. RunError at the third death in a row."""
        slot.deaths += 1
        slot.incarnation += 1
        if slot.deaths == MAX_CONSECUTIVE_DEATHS:
            raise RunError(
                f"actor {slot.number} died {MAX_CONSECUTIVE_DEATHS} times in a row without "
                f"finishing a job; the last reason: {reason}; {RESUME}"
            )
        say(f"actor {slot.number} died and is replaced: {reason}")
        slot.actor.stop()
        self._gate_jobs.extendleft(job for job in slot.jobs if job.method == "play_gate")
        slot.jobs = []
        slot.actor = self._launcher.launch(slot.number, slot.incarnation)
