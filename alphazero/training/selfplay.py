"""Self-play: the match loop with one player on both seats, exploring, and its games recorded.

An iteration ends when enough games have ended; the games then under way are carried over to the
next one, move by move, so that long games are not lost and the batch stays full. Their trees
are not: the network has changed.
"""

import functools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from alphazero.arena.match import Match
from alphazero.arena.openings import random_opening
from alphazero.config.schema import Config, SelfplayConfig
from alphazero.games.game import Game
from alphazero.mcts.evaluator import Evaluator
from alphazero.mcts.exploration import Exploration
from alphazero.mcts.network_search import NetworkSearch
from alphazero.players.search_player import PlayoutCap, SearchPlayer, TemperatureSchedule
from alphazero.records.game_record import NEVER_RESIGN, GameRecord, Pairing
from alphazero.training.selfplay_stats import SelfPlayStats
from alphazero.utils.jobs import Progress, run_jobs, split_evenly

IDLE_GAME_SHARE = 16
"""One table in so many finds no place in a batch: batches stay full while moves wait, and these
are made for several tables at once, a few batches apart."""


class SelfPlayResult(NamedTuple):
    """What an iteration of self-play brought."""

    finished: list[GameRecord]
    unfinished: list[GameRecord]
    work: "SelfPlayStats"
    evaluator: Evaluator
    """the network that played, which a gate may replace before its games are looked at"""
    seconds: float | None = None
    """the time in which these games came; None: that of the stage"""


def play_games(
    game: Game,
    config: Config,
    evaluator: Evaluator,
    seed: Sequence[int],
    unfinished: Sequence[GameRecord] = (),
    workers: int = 1,
    show: Callable[[int], object] = bool,
    resign_below: float = NEVER_RESIGN,
) -> SelfPlayResult:
    """Play until `selfplay.games_per_iteration` games have ended, on `workers` cores.

    The same arguments give the same games: each worker has tables, a share of the games and a
    stream of random numbers of its own. `unfinished` are games carried over; `show` is called
    with the number of games that ended. Where a game allows it, a player whose prospects are
    below `resign_below` resigns.
    """
    progress = Progress(show)
    games = config.selfplay.games_per_iteration
    tables = split_evenly(config.selfplay.parallel_games, min(workers, games))
    targets = split_evenly(games, len(tables))
    jobs = [
        functools.partial(
            _play_share,
            game,
            config,
            evaluator,
            resign_below,
            np.random.default_rng([*seed, worker]),
            unfinished[worker :: len(targets)],
            tables[worker],
            target,
            progress,
        )
        for worker, target in enumerate(targets)
    ]
    parts = run_jobs(jobs, progress)
    return SelfPlayResult(
        [record for part in parts for record in part.finished],
        [record for part in parts for record in part.unfinished],
        sum((part.work for part in parts), SelfPlayStats()),
        evaluator,
    )


class SelfPlayWorker:
    """The tables of one worker: games of self-play that go on from one call to the next."""

    def __init__(
        self,
        game: Game,
        config: Config,
        evaluator: Evaluator,
        rng: np.random.Generator,
        tables: int,
        unfinished: Sequence[GameRecord] = (),
        resign_below: float = NEVER_RESIGN,
    ) -> None:
        self._match, self._search = make_selfplay_match(
            game, config, evaluator, rng, tables, resign_below
        )
        self._tables = tables
        self._waiting = unfinished[tables:]
        self._seconds = 0.0
        begin = time.perf_counter()
        for table, record in enumerate(unfinished[:tables]):
            self._match.load(table, record)
        self._match.start_games()
        self._seconds += time.perf_counter() - begin

    def play(self, target: int, progress: Progress) -> list[GameRecord]:
        """Play until `target` more games have ended; return them, perhaps a few more."""
        begin = time.perf_counter()
        finished: list[GameRecord] = []
        while len(finished) < target:
            ended = self._match.step()
            finished += ended
            progress.advance(len(ended))
        self._seconds += time.perf_counter() - begin
        return finished

    def resign_below(self, threshold: float) -> None:
        """Let players whose prospects are below `threshold` resign, where a game allows it."""
        self._match.resign_below = threshold

    def leave(self) -> list[GameRecord]:
        """Stop playing; return the games under way, without their trees."""
        self._search.stop(np.arange(self._tables))  # what it still owes is not counted as done
        under_way = [self._match.record(table) for table in self._match.playing]
        return [*under_way, *self._waiting]

    @property
    def work(self) -> SelfPlayStats:
        """What has been done since the tables were laid."""
        work = SelfPlayStats()
        work.add(self._search)
        work.seconds_playing = self._seconds
        return work


class _Share(NamedTuple):
    finished: list[GameRecord]
    unfinished: list[GameRecord]
    work: SelfPlayStats


def _play_share(
    game: Game,
    config: Config,
    evaluator: Evaluator,
    resign_below: float,
    rng: np.random.Generator,
    unfinished: Sequence[GameRecord],
    tables: int,
    target: int,
    progress: Progress,
) -> _Share:
    """Play one worker's share: until `target` games have ended at its `tables`."""
    hall = SelfPlayWorker(game, config, evaluator, rng, tables, unfinished, resign_below)
    finished = hall.play(target, progress)
    return _Share(finished, hall.leave(), hall.work)


def make_selfplay_match(
    game: Game,
    config: Config,
    evaluator: Evaluator,
    rng: np.random.Generator,
    tables: int,
    resign_below: float = NEVER_RESIGN,
) -> tuple[Match, NetworkSearch]:
    """Return a match, without end, of one exploring player with itself, and its search."""
    settings, searching = config.selfplay, config.search
    if settings.plain_trees:
        searching = replace(searching, transpositions=False, value_weighting=0.0)
    search = NetworkSearch(
        game,
        evaluator,
        searching,
        slots=tables,
        rows=tables - tables // IDLE_GAME_SHARE,
        exploration=Exploration(
            settings.noise_fraction,
            settings.noise_alpha,
            settings.noise_shaped,
            settings.root_temperature,
            settings.forced_playouts,
        ),
        rng=rng,
    )
    player = SearchPlayer(
        search,
        temperature=TemperatureSchedule(
            settings.temperature, settings.temperature_moves, settings.final_temperature
        ),
        cap=PlayoutCap(settings.full_share, settings.fast_simulations)
        if settings.full_share < 1
        else None,
    )
    openings = _random_openings(settings, search, rng)
    schedule = _pairings(settings, openings, rng)
    return Match(game, [player], tables, schedule, resign_below), search


def _pairings(
    settings: SelfplayConfig, openings: Iterator[tuple[int, ...]], rng: np.random.Generator
) -> Iterator[Pairing]:
    """Yield games without end: some begin with random moves, in some players may resign."""
    while True:
        may_resign = False
        opening: tuple[int, ...] = ()
        if settings.resign_share:
            may_resign = bool(rng.random() < settings.resign_share)
        if settings.random_starts and rng.random() < settings.random_starts:
            opening = next(openings)
        yield Pairing(opening=opening, may_resign=may_resign)


def _random_openings(
    settings: SelfplayConfig, search: NetworkSearch, rng: np.random.Generator
) -> Iterator[tuple[int, ...]]:
    """Yield openings without end, each the most open of `random_start_choices` of its length.

    So many are drawn ahead as fill one batch of the search, a size that the network is compiled
    for anyway: it would be slow to answer about each game's few by themselves.
    """
    game, choices = search.game, settings.random_start_choices
    ahead = max(search.rows // choices, 1) if choices > 1 else 1
    first = game.initial_state()
    while True:
        openings = []
        for _ in range(ahead):
            moves = int(rng.integers(settings.random_start_moves + 1))
            openings.append([random_opening(game, moves, rng) for _ in range(choices)])
        chosen = np.zeros(ahead, np.int64)
        if choices > 1:
            states = [game.play(first, *each) for several in openings for each in several]
            values = search.evaluate_states(np.stack(states))
            chosen = np.abs(values).reshape(ahead, choices).argmin(axis=1)
        for several, choice in zip(openings, chosen, strict=True):
            yield several[choice]
