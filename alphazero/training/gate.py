"""The gate: the match that decides whether the challenger becomes the best player."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from alphazero.config import Config, SearchConfig
from alphazero.games.game import Game
from alphazero.players.contest import contest
from alphazero.players.match import GameRecord, paired_openings
from alphazero.players.player import Player, SearchPlayer
from alphazero.players.ratings import MatchResult
from alphazero.players.sprt import Sprt
from alphazero.search.evaluator import Evaluator
from alphazero.search.mcts import Search


def seat(
    game: Game, evaluator: Evaluator, search: SearchConfig, simulations: int | None, tables: int
) -> SearchPlayer:
    """Return a player as it is measured: without noise and without temperature.

    It thinks for so many simulations, 0 for the bare network; None: as many as in self-play.
    """
    if simulations is not None:
        search = dataclasses.replace(search, simulations=simulations)
    return SearchPlayer(Search(game, evaluator, search, slots=tables))


def run_gate(
    game: Game,
    config: Config,
    challenger: Evaluator,
    best: Evaluator,
    seed: Sequence[int],
    workers: int = 1,
    show: Callable[[int], object] = bool,
) -> tuple[MatchResult, list[GameRecord]]:
    """Let `challenger` and `best` play `gate.games` games; return the challenger's result.

    Fewer with `gate.sprt`, when the test has its answer.

    No noise and no temperature: what makes games differ is their random openings, each played
    twice with colours swapped.
    """
    settings = config.gate

    def seat_players(tables: int) -> list[Player]:
        return [
            seat(game, evaluator, config.search, settings.simulations or None, tables)
            for evaluator in (challenger, best)
        ]

    rng = np.random.default_rng(seed)
    schedule = paired_openings(game, settings.games, settings.opening_moves, rng)
    error = settings.sprt_error
    sprt = Sprt(settings.sprt_elo0, settings.sprt_elo1, error, error) if settings.sprt else None
    tables = config.selfplay.parallel_games
    return contest(
        game, seat_players, schedule, tables=tables, workers=workers, sprt=sprt, show=show
    )
