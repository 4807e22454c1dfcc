"""Self-play: the match loop with one player on both seats, exploring, and its games recorded.

An iteration ends when enough games have ended; the games then under way are carried over to the
next one, move by move, so that long games are not lost and the batch stays full. Their trees
are not: the network has changed.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from alphazero.config import Config
from alphazero.games.game import Game
from alphazero.players.match import GameRecord, Match, Pairing
from alphazero.players.player import PlayoutCap, SearchPlayer, Temperature
from alphazero.players.workers import Progress, run_jobs, shares
from alphazero.search.evaluator import Evaluator
from alphazero.search.mcts import RootNoise


class SelfPlay(NamedTuple):
    """What an iteration of self-play brought."""

    finished: list[GameRecord]
    unfinished: list[GameRecord]
    simulations: int
    evaluations: int


def play_games(
    game: Game,
    config: Config,
    evaluator: Evaluator,
    seed: Sequence[int],
    unfinished: Sequence[GameRecord] = (),
    workers: int = 1,
    show: Callable[[int], object] = bool,
) -> SelfPlay:
    """Play until `selfplay.games_per_iteration` games have ended, on `workers` cores.

    The same arguments give the same games: each worker has tables, a share of the games and a
    stream of random numbers of its own. `unfinished` are games carried over; `show` is called
    with the number of games that ended.
    """
    progress = Progress(show)
    games = config.selfplay.games_per_iteration
    tables = shares(config.selfplay.parallel_games, min(workers, games))
    targets = shares(games, len(tables))
    jobs = [
        functools.partial(
            _play_share,
            game,
            config,
            evaluator,
            np.random.default_rng([*seed, worker]),
            unfinished[worker :: len(targets)],
            tables[worker],
            target,
            progress,
        )
        for worker, target in enumerate(targets)
    ]
    parts = run_jobs(jobs, progress)
    return SelfPlay(
        [record for part in parts for record in part.finished],
        [record for part in parts for record in part.unfinished],
        sum(part.simulations for part in parts),
        sum(part.evaluations for part in parts),
    )


def _play_share(
    game: Game,
    config: Config,
    evaluator: Evaluator,
    rng: np.random.Generator,
    unfinished: Sequence[GameRecord],
    tables: int,
    target: int,
    progress: Progress,
) -> SelfPlay:
    """Play one worker's share: until `target` games have ended at its `tables`."""
    settings = config.selfplay
    player = SearchPlayer(
        game,
        evaluator,
        config.search,
        tables=tables,
        temperature=Temperature(
            settings.temperature, settings.temperature_moves, settings.final_temperature
        ),
        noise=RootNoise(settings.noise_fraction, settings.noise_alpha),
        cap=PlayoutCap(settings.full_share, settings.fast_simulations)
        if settings.full_share < 1
        else None,
        rng=rng,
    )
    match = Match(game, [player], tables, itertools.repeat(Pairing()))
    for table, record in enumerate(unfinished[:tables]):
        match.begin(table, record)
    match.fill()
    finished: list[GameRecord] = []
    while len(finished) < target:
        ended = match.step()
        finished += ended
        progress.done(len(ended))
    player.search.stop(np.arange(tables))  # what it still owes is not counted as done
    return SelfPlay(
        finished,
        [match.record(table) for table in match.playing],
        player.search.simulations,
        player.search.evaluations,
    )
