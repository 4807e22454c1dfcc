"""The gate: the match that decides whether the challenger becomes the best."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from alphazero.arena.elo import MatchResult, match_result
from alphazero.arena.match import play_schedule
from alphazero.arena.openings import paired_openings
from alphazero.config.schema import Config, SearchConfig
from alphazero.games.game import Game
from alphazero.mcts.evaluator import Evaluator
from alphazero.mcts.network_search import NetworkSearch
from alphazero.network.inference.backend import num_threads
from alphazero.network.inference.batched_evaluator import rows_in_match
from alphazero.players.base import Player
from alphazero.players.search_player import SearchPlayer
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.utils.progress import Progress, no_progress


def make_player(
    game: Game, evaluator: Evaluator, search: SearchConfig, simulations: int | None, num_games: int
) -> SearchPlayer:
    """Return a player for gates and measurements: without noise and without temperature.

    `simulations` per move: 0 is the network alone, None as many as in self-play.
    """
    if simulations is not None:
        search = dataclasses.replace(search, simulations=simulations)
    rows = rows_in_match(num_games, evaluator)
    return SearchPlayer(NetworkSearch(game, evaluator, search, slots=num_games, rows=rows))


def play_gate(
    game: Game,
    config: Config,
    challenger: Evaluator,
    best: Evaluator,
    pairings: Sequence[Pairing],
    cores: int = 1,
    show: Progress = no_progress,
) -> list[GameRecord]:
    """Play gate games on `cores` cores; `challenger` is player 0 and `best` is player 1."""
    parallel_games = config.selfplay.parallel_games
    workers = num_threads(config, min(len(pairings), parallel_games), cores)

    def make_players(num_games: int) -> list[Player]:
        return [
            make_player(game, evaluator, config.search, None, num_games)
            for evaluator in (challenger, best)
        ]

    return play_schedule(game, make_players, pairings, parallel_games, workers, show)


def run_gate(
    game: Game,
    config: Config,
    challenger: Evaluator,
    best: Evaluator,
    seed: Sequence[int],
    cores: int = 1,
    show: Progress = no_progress,
) -> tuple[MatchResult, list[GameRecord]]:
    """Play the gate in this process; return as `decide_gate` does."""

    def play(pairings: Sequence[Pairing]) -> list[GameRecord]:
        return play_gate(game, config, challenger, best, pairings, cores, show)

    return decide_gate(game, config, seed, play)


def decide_gate(
    game: Game,
    config: Config,
    seed: Sequence[int],
    play: Callable[[Sequence[Pairing]], list[GameRecord]],
) -> tuple[MatchResult, list[GameRecord]]:
    """Play the `gate.games` games by `play`; return the challenger's result, and the games.

    There is no noise and no temperature: games differ by their random openings, each played twice
    with colours swapped.
    """
    settings = config.gate
    rng = np.random.default_rng(seed)
    records = play(paired_openings(game, settings.games, settings.opening_moves, rng))
    records.sort(key=lambda record: (record.pairing.pair_id, record.pairing.players))
    return match_result(records), records
