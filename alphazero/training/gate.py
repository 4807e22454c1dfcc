"""The gate: the match that decides whether the challenger becomes the best player."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from alphazero.config import Config
from alphazero.games.game import Game
from alphazero.players.match import GameRecord, paired_openings, play_schedule
from alphazero.players.player import Player, SearchPlayer
from alphazero.players.ratings import MatchResult, judge
from alphazero.search.evaluator import Evaluator
from alphazero.search.mcts import Search


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

    No noise and no temperature: what makes games differ is their random openings, each played
    twice with colours swapped.
    """
    settings = config.gate
    search = config.search
    if settings.simulations:
        search = dataclasses.replace(search, simulations=settings.simulations)

    def seat_players(tables: int) -> list[Player]:
        return [
            SearchPlayer(Search(game, evaluator, search, slots=tables))
            for evaluator in (challenger, best)
        ]

    rng = np.random.default_rng(seed)
    schedule = paired_openings(game, settings.games, settings.opening_moves, rng)
    tables = config.selfplay.parallel_games
    records = play_schedule(game, seat_players, schedule, tables, workers, show)
    return judge(records), records
