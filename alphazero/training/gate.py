"""The gate: the match that decides whether the challenger becomes the best player."""

import dataclasses
from collections.abc import Callable

import numpy as np

from alphazero.config import Config
from alphazero.games.game import Game
from alphazero.players.match import GameRecord, Match, paired_openings, play_out
from alphazero.players.player import SearchPlayer
from alphazero.players.ratings import MatchResult, judge
from alphazero.search.evaluator import Evaluator


def run_gate(
    game: Game,
    config: Config,
    challenger: Evaluator,
    best: Evaluator,
    rng: np.random.Generator,
    progress: Callable[[int], object] = bool,
) -> tuple[MatchResult, list[GameRecord]]:
    """Let `challenger` and `best` play `gate.games` games; return the challenger's result.

    No noise and no temperature: what makes games differ is their random openings, each played
    twice with colours swapped.
    """
    settings = config.gate
    search = config.search
    if settings.simulations:
        search = dataclasses.replace(search, simulations=settings.simulations)
    tables = min(settings.games, config.selfplay.parallel_games)
    players = [
        SearchPlayer(game, evaluator, search, name=name, tables=tables)
        for name, evaluator in (("challenger", challenger), ("best", best))
    ]
    schedule = paired_openings(game, settings.games, settings.opening_moves, rng)
    records = []
    for record in play_out(Match(game, players, tables, iter(schedule))):
        records.append(record)
        progress(1)
    return judge(records), records
