"""Self-play: the match loop with one player on both seats, exploring, and its games recorded.

An iteration ends when enough games have ended; the games then under way are carried over to the
next one, move by move, so that long games are not lost and the batch stays full. Their trees
are not: the network has changed.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from alphazero.config import Config
from alphazero.games.game import Game
from alphazero.players.match import GameRecord, Match, Pairing
from alphazero.players.player import SearchPlayer, Temperature
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
    rng: np.random.Generator,
    unfinished: Sequence[GameRecord] = (),
    progress: Callable[[int], object] = bool,
) -> SelfPlay:
    """Play until `selfplay.games_per_iteration` games have ended.

    The same arguments give the same games. `unfinished` are those carried over; `progress` is
    called with the number of games that ended.
    """
    settings = config.selfplay
    player = SearchPlayer(
        game,
        evaluator,
        config.search,
        tables=settings.parallel_games,
        temperature=Temperature(
            settings.temperature, settings.temperature_moves, settings.final_temperature
        ),
        noise=RootNoise(settings.noise_fraction, settings.noise_alpha),
        rng=rng,
    )
    match = Match(game, [player], settings.parallel_games, itertools.repeat(Pairing()))
    for table, record in enumerate(unfinished[: settings.parallel_games]):
        match.begin(table, record)
    match.fill()
    finished: list[GameRecord] = []
    while len(finished) < settings.games_per_iteration:
        ended = match.step()
        finished += ended
        progress(len(ended))
    return SelfPlay(
        finished,
        [match.record(table) for table in match.playing],
        player.search.simulations,
        player.search.evaluations,
    )
