"""Self-play: an exploring player plays both sides of many games, which are recorded.

An iteration ends when enough games have ended. The games then under way are carried over to the
next one, so that long games are not lost and the batch stays full. Their trees are dropped, since
the network may have changed.
"""

import functools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from alphazero.arena.match import Match
from alphazero.arena.openings import play_random_openings
from alphazero.config.schema import Config, SelfplayConfig
from alphazero.games.game import Game
from alphazero.mcts.evaluator import Evaluator
from alphazero.mcts.kernels.root import Exploration
from alphazero.mcts.network_search import NetworkSearch
from alphazero.network.inference.batched_evaluator import BatchedEvaluator, rows_in_selfplay
from alphazero.players.search_player import SearchPlayer
from alphazero.records.game_record import NEVER_RESIGN, GameRecord, Pairing
from alphazero.utils.arrays import Float32Array
from alphazero.utils.jobs import JobProgress, run_jobs, split_evenly
from alphazero.utils.progress import Progress, no_progress

if TYPE_CHECKING:
    from alphazero.network.inference.quantization import QuantizationError


@dataclass
class SelfPlayStats:
    """Counters of the searches, summed over the workers."""

    simulations: int = 0
    refused: int = 0
    """simulations that added no node because their tree was full"""
    evaluations: int = 0
    batch_capacity: int = 0
    """rows available in the batches"""
    cache_lookups: int = 0
    cache_found: int = 0
    """cache hits"""
    kept_visits: int = 0
    """visits that the roots of full searches had from the move before"""
    new_visits: int = 0
    """simulations of these searches"""
    seconds_evaluating: float = field(default=0.0, repr=False, compare=False)
    """wall-clock time inside the evaluator"""
    seconds_playing: float = field(default=0.0, repr=False, compare=False)
    """wall-clock time of playing, evaluation included; 0: not measured. These two times
    differ in every run, so comparisons ignore them."""

    def add(self, search: NetworkSearch) -> None:
        self.simulations += search.simulations
        slots = search.trees.slots
        self.refused += int(slots["refused"].sum())
        self.evaluations += search.evaluations
        self.batch_capacity += search.batches * search.rows
        cache_lookups, cache_found = search.cache_hits
        self.cache_lookups += cache_lookups
        self.cache_found += cache_found
        self.kept_visits += int(slots["kept_visits"].sum())
        self.new_visits += int(slots["new_visits"].sum())
        self.seconds_evaluating += search.seconds_evaluating

    def __add__(self, other: "SelfPlayStats") -> "SelfPlayStats":
        return SelfPlayStats(*(mine + vars(other)[name] for name, mine in vars(self).items()))

    def __sub__(self, earlier: "SelfPlayStats") -> "SelfPlayStats":
        return SelfPlayStats(*(mine - vars(earlier)[name] for name, mine in vars(self).items()))

    @property
    def cache_hits(self) -> float:
        return self.cache_found / max(self.cache_lookups, 1)

    @property
    def kept_share(self) -> float:
        """Visits kept from the move before, as a share of the root visits of full searches."""
        return self.kept_visits / max(self.kept_visits + self.new_visits, 1)

    @property
    def refused_share(self) -> float:
        return self.refused / max(self.simulations, 1)

    @property
    def batch_fill(self) -> float:
        """Share of the batches' rows that were used."""
        return self.evaluations / max(self.batch_capacity, 1)

    @property
    def network_share(self) -> float:
        """Share of the playing time that was spent inside the evaluator, 0 to 1."""
        return self.seconds_evaluating / self.seconds_playing if self.seconds_playing else 0.0


class SelfPlayNetwork(NamedTuple):
    """The best network as it plays in one iteration."""

    evaluator: BatchedEvaluator
    comparison: "QuantizationError | None" = None
    """int8 compared with the ordinary precision; None: not tried"""
    calibration: Float32Array | None = None
    """[B, C, H, W] observations that set the ranges of int8; None: not in int8"""


class SelfPlayResult(NamedTuple):
    """The games and counters of one iteration of self-play."""

    finished: list[GameRecord]
    unfinished: list[GameRecord]
    stats: SelfPlayStats
    seconds: float | None = None
    """the time in which these games were played; None: the time of the stage"""


def play_games(
    game: Game,
    config: Config,
    evaluator: Evaluator,
    seed: Sequence[int],
    unfinished: Sequence[GameRecord] = (),
    workers: int = 1,
    show: Progress = no_progress,
    resign_below: float = NEVER_RESIGN,
) -> SelfPlayResult:
    """Play until `selfplay.games_per_iteration` games have ended, on `workers` cores.

    The same arguments give the same games: each worker has its own games, its own target and its
    own stream of random numbers. `unfinished` are games carried over; those without a slot wait,
    and come first in the next call. `show` gets the number of newly finished games. Where a game
    allows it, a player whose best value is below `resign_below` resigns.
    """
    progress = JobProgress(show)
    games = config.selfplay.games_per_iteration
    slots = config.selfplay.parallel_games
    shares = split_evenly(slots, min(workers, games))
    targets = split_evenly(games, len(shares))

    def play_share(worker: int) -> SelfPlayResult:
        rng, own = np.random.default_rng([*seed, worker]), unfinished[worker : slots : len(targets)]
        share = SelfPlayWorker(game, config, evaluator, rng, shares[worker], own)
        finished = share.play(targets[worker], progress, resign_below)
        return SelfPlayResult(finished, share.leave(), share.stats)

    jobs = [functools.partial(play_share, worker) for worker in range(len(targets))]
    parts = run_jobs(jobs, progress)
    return SelfPlayResult(
        [record for part in parts for record in part.finished],
        [*unfinished[slots:], *(record for part in parts for record in part.unfinished)],
        sum((part.stats for part in parts), SelfPlayStats()),
    )


def with_simulations(config: Config, fraction: float) -> Config:
    """Return a configuration whose full and fast searches have `fraction` of their simulations."""
    searching, settings = config.search, config.selfplay
    full, fast = (
        max(round(fraction * count), 1)
        for count in (searching.simulations, settings.fast_simulations)
    )
    return replace(
        config,
        search=replace(searching, simulations=full),
        selfplay=replace(settings, fast_simulations=fast),
    )


class SelfPlayWorker:
    """The games of one worker, which continue from one call to the next."""

    def __init__(
        self,
        game: Game,
        config: Config,
        evaluator: Evaluator,
        rng: np.random.Generator,
        num_games: int,
        unfinished: Sequence[GameRecord] = (),
    ) -> None:
        self._match, self._search = make_selfplay_match(game, config, evaluator, rng, num_games)
        begin = time.perf_counter()
        if unfinished:
            self._match.load(dict(enumerate(unfinished)))
        self._match.start_games()
        self._seconds = time.perf_counter() - begin

    def play(self, target: int, progress: JobProgress, resign_below: float) -> list[GameRecord]:
        """Play until at least `target` more games have ended; return them."""
        begin = time.perf_counter()
        self._match.set_resignation(resign_below)
        finished: list[GameRecord] = []
        while len(finished) < target:
            ended = self._match.step()
            finished += ended
            progress.advance(len(ended))
        self._seconds += time.perf_counter() - begin
        return finished

    def leave(self) -> list[GameRecord]:
        """Return the games under way, without their trees."""
        return [self._match.record(slot) for slot in self._match.playing]

    @property
    def stats(self) -> SelfPlayStats:
        """The counters since this worker was created."""
        stats = SelfPlayStats()
        stats.add(self._search)
        stats.seconds_playing = self._seconds
        return stats


def make_selfplay_match(
    game: Game, config: Config, evaluator: Evaluator, rng: np.random.Generator, num_games: int
) -> tuple[Match, NetworkSearch]:
    """Return an endless match of one exploring player against itself, and its search."""
    settings, kinds = config.selfplay, Exploration.__annotations__.items()
    exploration = Exploration(**{name: kind(getattr(settings, name)) for name, kind in kinds})
    fast = min(exploration.fast_simulations, config.search.simulations)
    exploration = exploration._replace(fast_simulations=fast)
    search = NetworkSearch(
        game,
        evaluator,
        config.search.in_selfplay(),
        slots=num_games,
        rows=rows_in_selfplay(num_games),
        exploration=exploration,
        rng=rng,
    )
    player = SearchPlayer(search)
    schedule = _pairings(game, settings, _random_openings(settings, search, rng), rng)
    return Match(game, [player], num_games, schedule), search


def _pairings(
    game: Game, settings: SelfplayConfig, openings: Iterator[Pairing], rng: np.random.Generator
) -> Iterator[Pairing]:
    resigning, opened = settings.resign_enabled_fraction, settings.random_opening_probability
    while True:
        may_resign = bool(resigning and rng.random() < resigning)
        if opened and rng.random() < opened:
            drawn = next(openings)
            yield replace(drawn, may_resign=True) if may_resign else drawn
        else:
            yield Pairing(may_resign=may_resign, options=_draw_options(game, settings, rng))


def _draw_options(
    game: Game, settings: SelfplayConfig, rng: np.random.Generator
) -> tuple[int, ...]:
    """Return random values of the game's variable options; empty if none varies."""
    ranges = settings.varied_options
    if not ranges:
        return ()
    return tuple(
        int(rng.integers(ranges[option][0], ranges[option][1] + 1)) if option in ranges else value
        for option, value in zip(game.variable_options, game.variable_values, strict=True)
    )


def _random_openings(
    settings: SelfplayConfig, search: NetworkSearch, rng: np.random.Generator
) -> Iterator[Pairing]:
    """Yield openings without end, each the most open of `random_opening_candidates` of its length.

    The most open one has the network's value nearest 0. Enough are drawn ahead to fill one batch of
    the search: the network is compiled for this batch size, and small batches would be slow.
    """
    game, choices = search.game, settings.random_opening_candidates
    ahead = max(search.rows // choices, 1)
    while True:
        options = [_draw_options(game, settings, rng) for _ in range(ahead)]
        first = np.tile(game.initial_state(), (ahead, 1))
        if settings.varied_options:
            first[:] = [game.variant(values).initial_state() for values in options]
        moves = rng.integers(settings.random_opening_max_moves + 1, size=ahead)
        openings, states = play_random_openings(
            game, first.repeat(choices, axis=0), moves.repeat(choices), rng
        )
        chosen = np.zeros(ahead, np.int64)
        if choices > 1:
            values = search.evaluate_states(states)
            chosen = np.abs(values).reshape(ahead, choices).argmin(axis=1)
        for group, choice in enumerate(chosen.tolist()):
            yield Pairing(opening=openings[group * choices + choice], options=options[group])
