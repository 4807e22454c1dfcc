"""A pool of actors that play all the time: who does what next, and what happens when one dies.

The rules of a cluster without the cluster: actors are reached through a `ActorLauncher`, which is
Ray's (cluster.py) or, in tests and simulations, threads. Whole games travel, and each network, with
the positions to round it on, once to the place that all actors fetch it from.

One thread, the dispatcher's, hands out work and takes in what comes back. It keeps `JOBS_PER_ACTOR`
pieces of work with each actor, so that none waits for an answer. It hands out no more self-play
while `games_ahead` games, beyond those that the loop waits for, are finished or asked for.
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
from typing import Any, Protocol, TypeAlias

from tqdm import tqdm

from alphazero.config.schema import Config, RayConfig
from alphazero.errors import AlphaZeroError, RunError
from alphazero.games.game import Game
from alphazero.records.game_record import NEVER_RESIGN, GameRecord, Pairing
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.gate import decide_gate
from alphazero.training.play_backend import GateResult, NetworkSnapshot, SelfPlayRequest, Show
from alphazero.training.selfplay import SelfPlayResult
from alphazero.training.selfplay_stats import SelfPlayStats
from alphazero.utils.jobs import split_evenly

JOBS_PER_ACTOR = 2
"""Pieces of work with each actor: the one it does and the one it does next."""

BATCHES_PER_ITERATION = 8
"""Messages in which the actors together bring an iteration's games, at least, for each actor."""

MAX_CONSECUTIVE_DEATHS = 3
"""Deaths of one actor in a row, without a game between, that stop the run."""

POLL_SECONDS = 0.5
"""Seconds between two looks of a waiting learner for Ctrl-C."""

ActorResult: TypeAlias = Future[Any]


class ActorHandle(Protocol):
    """One actor, as the pool reaches it."""

    def ask(self, method: str, *arguments: Any) -> ActorResult:
        """Call a method of `Actor` (actor.py), after those asked before; return its answer."""
        ...

    def stop(self) -> None:
        """End the actor, whatever it is doing."""
        ...


class ActorLauncher(Protocol):
    """Where actors come from."""

    def launch(self, number: int, incarnation: int) -> ActorHandle:
        """Begin an actor; `incarnation` counts those that had the same number before it."""
        ...

    def put(self, data: bytes) -> Any:
        """Put bytes where all actors fetch them; return what stands for them in `ask`."""
        ...

    def death_reason(self, error: BaseException) -> str | None:
        """Return what is known of an actor's death, or None where `error` is none."""
        ...

    def close(self) -> None:
        """Let everything go."""
        ...


@dataclass
class _Job:
    """A piece of work: a call, and what is to be done with its answer."""

    method: str
    arguments: tuple[Any, ...]
    needs: tuple[str, ...] = ()
    """The networks that it plays with."""
    games: int = 0
    """Games of self-play that it brings, at least."""
    done: ActorResult = field(default_factory=Future)


@dataclass
class _ActorSlot:
    """The place of one actor, whoever has it."""

    number: int
    hand: ActorHandle
    incarnation: int = 0
    deaths: int = 0
    """In a row."""
    known: set[str] = field(default_factory=set)
    """Networks that it has been told."""
    jobs: list[_Job] = field(default_factory=list)
    heard_at: float = 0.0
    """When it last answered, or was given work after it had none."""


class ActorPool:
    """Actors that play while the loop learns; a `Producer`."""

    def __init__(
        self,
        game: Game,
        config: Config,
        settings: RayConfig,
        launcher: ActorLauncher,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._game, self._config, self._settings = game, config, settings
        self._hiring, self._clock = launcher, clock
        each = config.selfplay.games_per_iteration
        self._limit = settings.games_ahead or 2 * each
        piece = max(each // (BATCHES_PER_ITERATION * settings.actors), settings.cpus_per_actor)
        self._piece = max(1, min(piece, self._limit // (JOBS_PER_ACTOR * settings.actors)))
        self._inbox: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._news = threading.Condition()
        """Guards what both threads see: the games that wait, the work done, and the failure."""
        self._waiting: deque[GameRecord] = deque()
        self._work = SelfPlayStats()
        self._failure: BaseException | None = None
        self._wanted = 0
        """GameBatch that the loop waits for."""
        self._taken_at = time.monotonic()
        self._best = self._challenger = ""
        self._calibration: Any = b""
        """What stands for the positions on which the best is rounded; empty: it is not."""
        self._resign_below = NEVER_RESIGN
        self._shared: dict[str, Any] = {}
        self._gate_jobs: deque[_Job] = deque()
        self.deaths = 0
        """Actors that died so far."""
        self._places = [
            _ActorSlot(number, launcher.launch(number, 0)) for number in range(settings.actors)
        ]
        self._foreman = threading.Thread(target=self._supervise, name="dispatcher", daemon=True)
        self._foreman.start()

    # --- what the loop's thread calls -------------------------------------------------------------

    def play(
        self, orders: SelfPlayRequest, show: Show, meanwhile: Callable[[], bool]
    ) -> SelfPlayResult:
        """Tell the actors who is the best, and return the games of an iteration once they are here.

        Raises:
            AlphaZeroError: when actors die in a row, or one says that the run cannot go on.
        """
        shown, wanted = 0, self._config.selfplay.games_per_iteration
        with self._news:
            self._wanted = wanted
        best = orders.best
        data = None if best.name in self._shared else best.read()
        rounded = b"" if best.calibration is None else best.calibration.tobytes()
        follow = functools.partial(self._follow, best.name, data, rounded, orders.resign_below)
        self._inbox.put(follow)
        while True:
            with self._news:
                if self._failure is not None:
                    raise self._failure
                here = min(len(self._waiting), wanted)
                if here == wanted:
                    games = [self._waiting.popleft() for _ in range(wanted)]
                    work, self._work = self._work, SelfPlayStats()
                    self._wanted = 0
                    break
            show(here - shown)
            shown = here
            if not meanwhile():
                with self._news:
                    if len(self._waiting) < wanted and self._failure is None:
                        self._news.wait(POLL_SECONDS)
        show(wanted - shown)
        now = time.monotonic()
        seconds, self._taken_at = now - self._taken_at, now
        return SelfPlayResult(games, list(orders.unfinished), work, best.evaluator, seconds)

    def gate(
        self, challenger: NetworkSnapshot, best: NetworkSnapshot, seed: Sequence[int], show: Show
    ) -> Future[GateResult]:
        """Let the actors play a gate beside their self-play; the result comes later."""
        result: Future[GateResult] = Future()
        data = challenger.read()
        self._inbox.put(functools.partial(self._challenge, challenger.name, data))

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
        """Send everybody home; games under way are lost."""
        self._inbox.put(None)
        self._foreman.join()
        for place in self._places:
            place.hand.stop()
        self._hiring.close()

    def _play_pairings(
        self, challenger: str, best: str, pairings: Sequence[Pairing], show: Show
    ) -> list[GameRecord]:
        """Share out games of a gate among the actors and wait for them."""
        ordered = sorted(pairings, key=lambda each: (each.pair_id, each.players))
        parts, jobs, begin = [], [], 0
        for size in split_evenly(len(ordered), self._settings.actors):
            part = ordered[begin : begin + size]
            begin += size
            plain = [(each.players, each.opening, each.pair_id) for each in part]
            jobs.append(_Job("play_gate", (challenger, best, plain), (challenger, best)))
            parts.append(part)
        for job in jobs:
            self._inbox.put(functools.partial(self._gate_jobs.append, job))
        records: list[GameRecord] = []
        for part, job in zip(parts, jobs, strict=True):
            games = self._verified(self._wait_for(job))
            if len(games) != len(part):
                raise RunError(f"an actor was asked for {len(part)} games, brought {len(games)}")
            for pairing, record in zip(part, games, strict=True):
                if tuple(record.actions[: len(pairing.opening)].tolist()) != pairing.opening:
                    raise RunError("an actor brought a game with another opening than asked for")
                records.append(dataclasses.replace(record, pairing=pairing))
            show(len(part))
        return records

    def _wait_for(self, job: _Job) -> Any:
        """Return the answer to a job; raise what happened when there will be none."""
        while True:
            try:
                return job.done.result(POLL_SECONDS)
            except TimeoutError:
                if self._failure is not None:
                    raise self._failure from None

    def _verified(self, data: bytes) -> list[GameRecord]:
        """Return the games that an actor sent, if they are games by the rules."""
        return GameBatch.from_bytes(self._game, data, "an actor").records()

    def _brought(self, answer: Any) -> tuple[list[GameRecord], SelfPlayStats]:
        """Return the games and the work that `Actor.play` answered with.

        Raises:
            RunError: when the answer is something else.
        """
        try:
            data, told = answer
            work, records = SelfPlayStats(**told), self._verified(data)
            fits = all(0 <= each < math.inf for each in vars(work).values())
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise RunError("an actor brought something else than games and the work done")
        return records, work

    # --- what the dispatcher's thread does
    # -----------------------------------------------------------

    def _supervise(self) -> None:
        """Do what comes into the inbox, one thing after the other, and hand out work."""
        while self._failure is None:
            try:
                with contextlib.suppress(Empty):
                    act = self._inbox.get(timeout=POLL_SECONDS)
                    if act is None:
                        break
                    act()
                self._replace_silent()
                self._hand_out()
            except BaseException as error:
                self._fail(error)
        self._fail(RunError("the actors have been sent home"))

    def _fail(self, error: BaseException) -> None:
        """Let whoever waits for actors know that nothing more will come."""
        with self._news:
            self._failure = self._failure or error
            self._news.notify_all()
        jobs = [job for place in self._places for job in place.jobs] + list(self._gate_jobs)
        for job in jobs:
            if not job.done.done():
                job.done.set_exception(error)

    def _share(self, name: str, data: bytes) -> None:
        """Put a network where all actors fetch it: once, however many they are."""
        if name not in self._shared:
            self._shared[name] = self._hiring.put(data)

    def _challenge(self, challenger: str, data: bytes) -> None:
        """Be ready for a gate of `challenger`, which may become the best."""
        self._share(challenger, data)
        self._challenger = challenger
        self._forget()

    def _follow(
        self, best: str, data: bytes | None, calibration: bytes, resign_below: float
    ) -> None:
        """From now on let `best` explore; rounded, and but once, as long as that is wanted."""
        if data is not None:
            self._share(best, data)
        if best != self._best or not calibration:
            self._calibration = b""
        if calibration and not self._calibration:
            self._calibration = self._hiring.put(calibration)
        self._best, self._resign_below = best, resign_below
        self._forget()

    def _forget(self) -> None:
        """Let networks go that nobody plays with any more."""
        jobs = [job for place in self._places for job in place.jobs] + list(self._gate_jobs)
        wanted = {self._best, self._challenger, *(each for job in jobs for each in job.needs)}
        self._shared = {name: each for name, each in self._shared.items() if name in wanted}

    def _hand_out(self) -> None:
        """Give every actor its next pieces of work, gates first, as far as there is room."""
        for place in self._places:
            while len(place.jobs) < JOBS_PER_ACTOR:
                if self._gate_jobs:
                    self._give(place, self._gate_jobs.popleft())
                elif self._best and self._ahead() + self._piece <= self._limit:
                    arguments = self._best, self._resign_below, self._piece, self._calibration
                    self._give(place, _Job("play", arguments, (self._best,), self._piece))
                else:
                    break

    def _ahead(self) -> int:
        """Return how many games are finished or asked for and the loop does not wait for."""
        asked = sum(job.games for place in self._places for job in place.jobs)
        with self._news:
            return len(self._waiting) + asked - self._wanted

    def _give(self, place: _ActorSlot, job: _Job) -> None:
        """Ask an actor to do a job, and before it tell it the networks that it lacks."""
        keep = {self._best, self._challenger, *job.needs}
        for name in job.needs:
            if name not in place.known:
                told = place.hand.ask("load_network", name, self._shared[name], sorted(keep))
                self._watch(place, _Job("load_network", ()), told)
                place.known = (place.known & keep) | {name}
        if not place.jobs:
            place.heard_at = self._clock()
        place.jobs.append(job)
        self._watch(place, job, place.hand.ask(job.method, *job.arguments))

    def _watch(self, place: _ActorSlot, job: _Job, answer: ActorResult) -> None:
        """Let the answer come into the inbox."""
        incarnation = place.incarnation

        def arrive(answered: ActorResult) -> None:
            self._inbox.put(functools.partial(self._take_in, place, incarnation, job, answered))

        answer.add_done_callback(arrive)

    def _take_in(self, place: _ActorSlot, incarnation: int, job: _Job, answer: ActorResult) -> None:
        """Take in an answer; or find out that an actor is dead."""
        if incarnation != place.incarnation:
            return  # of one that is dead: its work has been given to others
        place.heard_at = self._clock()
        error = answer.exception()
        if error is not None:
            words = self._hiring.death_reason(error)
            if words is None:
                if isinstance(error, AlphaZeroError):
                    raise error
                said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
                raise RunError(
                    f"actor {place.number} failed in `{job.method}` with {said}; the last saved "
                    "iteration is whole, resume it afterwards"
                ) from error
            self._replace(place, words)
            return
        if job.method == "load_network":
            return
        place.jobs.remove(job)
        place.deaths = 0
        if job.method == "play":
            records, work = self._brought(answer.result())
            with self._news:
                self._waiting.extend(records)
                self._work += work
                self._news.notify_all()
        job.done.set_result(answer.result())

    def _replace_silent(self) -> None:
        """Replace actors that have work and have not answered for `time_limit` seconds."""
        limit, now = self._settings.time_limit, self._clock()
        for place in self._places:
            if place.jobs and now - place.heard_at > limit:
                self._replace(
                    place,
                    f"it has not answered for {limit:,} s; where a piece of work takes that long, "
                    "raise selfplay.workers.ray.time_limit",
                )

    def _replace(self, place: _ActorSlot, words: str) -> None:
        """Hire another actor in the place of a dead one; its games under way are lost.

        Raises:
            RunError: when it was the third death in a row there.
        """
        self.deaths += 1
        place.deaths += 1
        place.incarnation += 1
        if place.deaths == MAX_CONSECUTIVE_DEATHS:
            raise RunError(
                f"actor {place.number} died {MAX_CONSECUTIVE_DEATHS} times in a row without "
                "bringing a game; its "
                f"last words: {words}; the last saved iteration is whole, resume it afterwards"
            )
        tqdm.write(f"actor {place.number} died and is replaced: {words}")
        place.hand.stop()
        for job in place.jobs:
            if job.method == "play_gate":
                self._gate_jobs.appendleft(job)
        place.jobs, place.known = [], set()
        place.hand = self._hiring.launch(place.number, place.incarnation)
