"""A pool of actors that play all the time: job assignment, and replacement of dead actors.

Nothing here depends on a cluster: actors come from an `ActorLauncher`, which is Ray's
(ray_cluster.py) or, in tests and simulations, starts threads. Actors send whole games. Each
network, with the positions that calibrate its int8, is put once where all actors fetch it.

A dispatcher thread assigns jobs and collects results. Each actor has up to `JOBS_PER_ACTOR` queued
jobs, so it never idles. No more self-play is assigned while `max_queued_games` games, beyond those
that the loop waits for, are finished or requested.
"""

import contextlib
import dataclasses
import functools
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol, TypeAlias

from alphazero.arena.elo import MatchResult
from alphazero.config.schema import Config, RayConfig
from alphazero.errors import AlphaZeroError, RunError
from alphazero.games.game import Game
from alphazero.mcts.evaluator import Evaluator
from alphazero.records.game_record import NEVER_RESIGN, GameRecord, Pairing
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.gate import decide_gate
from alphazero.training.selfplay import SelfPlayResult, SelfPlayStats
from alphazero.utils.arrays import Float32Array
from alphazero.utils.jobs import split_evenly
from alphazero.utils.progress import Progress, say

JOBS_PER_ACTOR = 2
"""Jobs of each actor: the one in progress and the next one."""

BATCHES_PER_ITERATION = 8
"""Least number of self-play jobs of each actor per iteration, if each then has a game per core."""

RESULTS_PER_SECOND = 200
"""Results of self-play a second above which jobs get more games, and an iteration fewer jobs: a
result costs the driver about 1 ms besides its games."""

MAX_CONSECUTIVE_DEATHS = 3
"""Deaths in one actor slot in a row, without a finished job in between, that stop the run."""

POLL_SECONDS = 0.5
"""Seconds after which a waiting thread checks for Ctrl-C, a failure or silent actors."""

ActorResult: TypeAlias = Future[Any]
GateResult: TypeAlias = tuple[MatchResult, list[GameRecord]]


class NetworkSnapshot(NamedTuple):
    """A network at one step: its name, its evaluator here, and its checkpoint for actors."""

    name: str
    evaluator: Evaluator
    read: Callable[[], bytes]
    calibration: Float32Array | None = None
    """Observations [B, C, H, W] that set its int8 ranges; None: it does not play in int8."""


class ActorHandle(Protocol):
    """One actor, as the pool calls it."""

    def ask(self, method: str, *arguments: Any) -> ActorResult:
        """Call a method of `Actor` (actor.py) after all earlier calls; return its future result."""
        ...

    def stop(self) -> None:
        """Stop the actor at once, whatever it is doing."""
        ...


class ActorLauncher(Protocol):
    """Starts actors and shares data with them."""

    def launch(self, number: int, incarnation: int) -> ActorHandle:
        """Start an actor; `incarnation` counts the earlier actors with the same number."""
        ...

    def put(self, data: bytes) -> Any:
        """Put bytes where all actors can fetch them; return a reference for `ask`."""
        ...

    def death_reason(self, error: BaseException) -> str | None:
        """Return why the actor died, or None when `error` does not mean its death."""
        ...

    def close(self) -> None:
        """Release all resources."""
        ...


@dataclass
class _ActorCall:
    """A call of an actor's method, and its future result."""

    method: str
    arguments: tuple[Any, ...]
    needs: tuple[str, ...] = ()
    """Names of the networks that it plays with."""
    games: int = 0
    """Games of self-play that it returns, at least."""
    done: ActorResult = field(default_factory=Future)


@dataclass
class _ActorSlot:
    """A numbered slot of the pool, which keeps its number when its actor is replaced."""

    number: int
    actor: ActorHandle
    incarnation: int = 0
    deaths: int = 0
    """In a row."""
    loaded: set[str] = field(default_factory=set)
    """Names of the networks that its actor has been sent."""
    jobs: list[_ActorCall] = field(default_factory=list)
    last_result_at: float = 0.0
    """Time of its last result, or of its first job after having none."""


class ActorPool:
    """Actors that play while the loop learns."""

    def __init__(
        self,
        game: Game,
        config: Config,
        settings: RayConfig,
        launcher: ActorLauncher,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._game, self._config, self._settings = game, config, settings
        self._launcher, self._clock = launcher, clock
        games = config.selfplay.games_per_iteration
        self._limit = settings.max_queued_games or 2 * games
        games = max(games // (BATCHES_PER_ITERATION * settings.actors), settings.cpus_per_actor)
        self._most_job_games = max(1, self._limit // (JOBS_PER_ACTOR * settings.actors))
        self._job_games = self._least_job_games = min(games, self._most_job_games)
        self._inbox: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._condition = threading.Condition()
        """Guards the state that both threads access: finished games, statistics and failure."""
        self._finished: deque[GameRecord] = deque()
        self._stats = SelfPlayStats()
        self._failure: BaseException | None = None
        self._wanted = 0
        """Games that the loop waits for."""
        self._taken_at = time.monotonic()
        self._best = self._challenger = ""
        self._calibration: Any = b""
        """Reference to the positions that calibrate the best network; empty: it is not in int8."""
        self._resign_below = NEVER_RESIGN
        self._simulations_fraction = 1.0
        self._references: dict[str, Any] = {}
        self._gate_jobs: deque[_ActorCall] = deque()
        self.deaths = 0
        self._slots = [
            _ActorSlot(number, launcher.launch(number, 0)) for number in range(settings.actors)
        ]
        self._dispatcher = threading.Thread(target=self._dispatch, name="dispatcher", daemon=True)
        self._dispatcher.start()

    # --- called by the loop's thread --------------------------------------------------------------

    def play(
        self,
        best: NetworkSnapshot,
        show: Progress,
        meanwhile: Callable[[], bool],
        resign_below: float = NEVER_RESIGN,
        simulations_fraction: float = 1.0,
    ) -> SelfPlayResult:
        """Set the network for self-play; return an iteration's games when they have arrived.

        While games are missing, `meanwhile` is called; once it returns False, the pool only waits.

        Raises:
            AlphaZeroError: when actors die in a row, or one reports that the run cannot continue.
        """
        shown, wanted = 0, self._config.selfplay.games_per_iteration
        with self._condition:
            self._wanted = wanted
        data = None if best.name in self._references else best.read()
        calibration = b"" if best.calibration is None else best.calibration.tobytes()
        terms = resign_below, simulations_fraction
        self._inbox.put(functools.partial(self._set_network, best.name, data, calibration, *terms))
        while True:
            with self._condition:
                if self._failure is not None:
                    raise self._failure
                here = min(len(self._finished), wanted)
                if here == wanted:
                    games = [self._finished.popleft() for _ in range(wanted)]
                    stats, self._stats = self._stats, SelfPlayStats()
                    self._wanted = 0
                    break
            show(here - shown)
            shown = here
            if not meanwhile():
                with self._condition:
                    if len(self._finished) < wanted and self._failure is None:
                        self._condition.wait(POLL_SECONDS)
        show(wanted - shown)
        now = time.monotonic()
        seconds, self._taken_at = now - self._taken_at, now
        per_result = int(wanted / (RESULTS_PER_SECOND * max(seconds, 0.001)))
        self._job_games = max(self._least_job_games, min(per_result, self._most_job_games))
        return SelfPlayResult(games, [], stats, best.evaluator, seconds)

    def gate(
        self,
        challenger: NetworkSnapshot,
        best: NetworkSnapshot,
        seed: Sequence[int],
        show: Progress,
    ) -> Future[GateResult]:
        """Start a gate on the actors, beside self-play; return its future result."""
        result: Future[GateResult] = Future()
        data = challenger.read()
        self._inbox.put(functools.partial(self._add_challenger, challenger.name, data))

        def play(pairings: Sequence[Pairing]) -> list[GameRecord]:
            return self._play_pairings(challenger.name, best.name, pairings, show)

        def decide() -> None:
            try:
                result.set_result(decide_gate(self._game, self._config, seed, play))
            except BaseException as error:
                result.set_exception(error)

        threading.Thread(target=decide, name="gate", daemon=True).start()
        return result

    def close(self) -> None:
        """Stop all actors; games under way are lost."""
        self._inbox.put(None)
        self._dispatcher.join()
        for slot in self._slots:
            slot.actor.stop()
        self._launcher.close()

    def _play_pairings(
        self, challenger: str, best: str, pairings: Sequence[Pairing], show: Progress
    ) -> list[GameRecord]:
        ordered = sorted(pairings, key=lambda each: (each.pair_id, each.players))
        parts, jobs, begin = [], [], 0
        for size in split_evenly(len(ordered), self._settings.actors):
            part = ordered[begin : begin + size]
            begin += size
            plain = [(each.players, each.opening, each.pair_id) for each in part]
            jobs.append(_ActorCall("play_gate", (challenger, best, plain), (challenger, best)))
            parts.append(part)
        for job in jobs:
            self._inbox.put(functools.partial(self._gate_jobs.append, job))
        records: list[GameRecord] = []
        for part, job in zip(parts, jobs, strict=True):
            games = self._verified(self._wait_for(job))
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
                return job.done.result(POLL_SECONDS)
            except TimeoutError:
                if self._failure is not None:
                    raise self._failure from None

    def _verified(self, data: bytes) -> list[GameRecord]:
        return GameBatch.from_bytes(self._game, data, "an actor").records()

    def _parse_play_result(self, result: Any) -> tuple[list[GameRecord], SelfPlayStats]:
        """Return the games and statistics of an `Actor.play`; raise RunError for anything else."""
        try:
            data, counters = result
            stats, records = SelfPlayStats(**counters), self._verified(data)
            fits = all(0 <= each < math.inf for each in vars(stats).values())
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise RunError("an actor sent something other than games and their counters")
        return records, stats

    # --- run by the dispatcher's thread ----------------------------------------------------------

    def _dispatch(self) -> None:
        """Handle the inbox in order, replace silent actors, and assign jobs."""
        while self._failure is None:
            try:
                with contextlib.suppress(Empty):
                    command = self._inbox.get(timeout=POLL_SECONDS)
                    if command is None:
                        break
                    command()
                self._replace_silent()
                self._assign_jobs()
            except BaseException as error:
                self._fail(error)
        self._fail(RunError("the actors have been shut down"))

    def _fail(self, error: BaseException) -> None:
        with self._condition:
            self._failure = self._failure or error
            self._condition.notify_all()
        for job in self._unfinished_jobs():
            if not job.done.done():
                job.done.set_exception(error)

    def _unfinished_jobs(self) -> list[_ActorCall]:
        return [job for slot in self._slots for job in slot.jobs] + list(self._gate_jobs)

    def _put(self, name: str, data: bytes) -> None:
        if name not in self._references:
            self._references[name] = self._launcher.put(data)

    def _add_challenger(self, challenger: str, data: bytes) -> None:
        """Share the network of a challenger, which may become the best."""
        self._put(challenger, data)
        self._challenger = challenger
        self._drop_unused()

    def _set_network(
        self,
        best: str,
        data: bytes | None,
        calibration: bytes,
        resign_below: float,
        simulations_fraction: float,
    ) -> None:
        """Set how self-play goes on; a network keeps its first calibration."""
        if data is not None:
            self._put(best, data)
        if best != self._best or not calibration:
            self._calibration = b""
        if calibration and not self._calibration:
            self._calibration = self._launcher.put(calibration)
        self._best, self._resign_below = best, resign_below
        self._simulations_fraction = simulations_fraction
        self._drop_unused()

    def _drop_unused(self) -> None:
        """Release networks that no player or job needs."""
        needed = {self._best, self._challenger}
        needed.update(*(job.needs for job in self._unfinished_jobs()))
        self._references = {name: each for name, each in self._references.items() if name in needed}

    def _assign_jobs(self) -> None:
        """Give every actor its next jobs, gates first, within the limits."""
        capacity, games = self._limit - self._queued_games(), self._job_games
        for slot in self._slots:
            while len(slot.jobs) < JOBS_PER_ACTOR:
                if self._gate_jobs:
                    self._assign(slot, self._gate_jobs.popleft())
                elif self._best and games <= capacity:
                    terms = self._resign_below, games, self._calibration, self._simulations_fraction
                    call = _ActorCall("play", (self._best, *terms), (self._best,), games)
                    self._assign(slot, call)
                    capacity -= games
                else:
                    return

    def _queued_games(self) -> int:
        """Return the number of finished or requested games that the loop does not wait for."""
        requested = sum(job.games for slot in self._slots for job in slot.jobs)
        with self._condition:
            return len(self._finished) + requested - self._wanted

    def _assign(self, slot: _ActorSlot, job: _ActorCall) -> None:
        """Give an actor a job, after the networks that it lacks."""
        keep = {self._best, self._challenger, *job.needs}
        for name in job.needs:
            if name not in slot.loaded:
                arguments = name, self._references[name], sorted(keep)
                self._start(slot, _ActorCall("load_network", arguments))
                slot.loaded = (slot.loaded & keep) | {name}
        if not slot.jobs:
            slot.last_result_at = self._clock()
        slot.jobs.append(job)
        self._start(slot, job)

    def _start(self, slot: _ActorSlot, job: _ActorCall) -> None:
        """Call the job's method; the inbox receives the handling of its result."""
        incarnation = slot.incarnation

        def enqueue(result: ActorResult) -> None:
            self._inbox.put(functools.partial(self._handle_result, slot, incarnation, job, result))

        slot.actor.ask(job.method, *job.arguments).add_done_callback(enqueue)

    def _handle_result(
        self, slot: _ActorSlot, incarnation: int, job: _ActorCall, result: ActorResult
    ) -> None:
        """Handle the result of a job, or the death of its actor."""
        if incarnation != slot.incarnation:
            return  # from an actor that has been replaced
        slot.last_result_at = self._clock()
        error = result.exception()
        if error is not None:
            reason = self._launcher.death_reason(error)
            if reason is None:
                if isinstance(error, AlphaZeroError):
                    raise error
                said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
                raise RunError(
                    f"actor {slot.number} failed in `{job.method}` with {said}; the last saved "
                    "iteration is whole, resume it afterwards"
                ) from error
            self._replace(slot, reason)
            return
        if job.method == "load_network":
            return
        slot.jobs.remove(job)
        slot.deaths = 0
        if job.method == "play":
            records, stats = self._parse_play_result(result.result())
            with self._condition:
                self._finished.extend(records)
                self._stats += stats
                self._condition.notify_all()
        job.done.set_result(result.result())

    def _replace_silent(self) -> None:
        limit, now = self._settings.time_limit, self._clock()
        for slot in self._slots:
            if slot.jobs and now - slot.last_result_at > limit:
                self._replace(
                    slot,
                    f"it has not answered for {limit:,} s; if a job takes that long, "
                    "raise selfplay.distributed.ray.time_limit",
                )

    def _replace(self, slot: _ActorSlot, reason: str) -> None:
        """Replace a dead actor; its games are lost. RunError at the third death in a row."""
        self.deaths += 1
        slot.deaths += 1
        slot.incarnation += 1
        if slot.deaths == MAX_CONSECUTIVE_DEATHS:
            raise RunError(
                f"actor {slot.number} died {MAX_CONSECUTIVE_DEATHS} times in a row without "
                f"finishing a job; the last reason: {reason}; the last saved iteration is whole, "
                "resume it afterwards"
            )
        say(f"actor {slot.number} died and is replaced: {reason}")
        slot.actor.stop()
        for job in slot.jobs:
            if job.method == "play_gate":
                self._gate_jobs.appendleft(job)
        slot.jobs, slot.loaded = [], set()
        slot.actor = self._launcher.launch(slot.number, slot.incarnation)
