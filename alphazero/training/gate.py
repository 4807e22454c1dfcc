"""The gate: the match that decides whether the challenger becomes the best."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from alphazero.arena.bradley_terry import PairScore
from alphazero.arena.elo import MatchResult, Result, elo_difference, match_result, pair_scores
from alphazero.arena.match import play_schedule
from alphazero.arena.openings import paired_openings
from alphazero.config.schema import Config, GateConfig, SearchConfig
from alphazero.games.game import Game
from alphazero.mcts.evaluator import Evaluator
from alphazero.mcts.network_search import NetworkSearch
from alphazero.network.inference.backend import num_threads
from alphazero.network.inference.batched_evaluator import rows_in_match
from alphazero.players.base import Player
from alphazero.players.search_player import SearchPlayer
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.utils.arrays import BoolArray, Float64Array
from alphazero.utils.progress import Progress, no_progress

FIRST_PART = 0.4
"""Share of the games after which a gate can end. With the default 100 games it takes 40 to 86 of
them on average, and errs as rarely as with all (simulated: tests/training/test_gate.py)."""

MIN_FIRST = 16
"""Fewest games after which a gate can end."""

DEVIATIONS = 1.645
"""Standard deviations that leave 5 % on one side of a normal distribution: so rarely would the
other games change an early verdict."""


class GateResult(NamedTuple):
    """A gate that has ended."""

    match: MatchResult
    """the challenger's result"""
    records: list[GameRecord]
    accepted: bool
    gain: float
    """what the gate adds to the best player's Elo, an estimate without bias"""


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


def decide_gate(
    game: Game,
    config: Config,
    seed: Sequence[int],
    play: Callable[[Sequence[Pairing]], list[GameRecord]],
) -> GateResult:
    """Play the `gate.games` games by `play`, or only `FIRST_PART` of them if these decide.

    There is no noise and no temperature: games differ by their random openings, each played twice
    with colours swapped.
    """
    settings = config.gate
    rng = np.random.default_rng(seed)
    pairings = paired_openings(game, settings.games, settings.opening_moves, rng)
    first = first_part(settings.games)
    records: list[GameRecord] = []
    pairs: list[PairScore] = []
    gain = 0.0
    for part in filter(None, (pairings[:first], pairings[first:])):
        records += play(part)
        records.sort(key=lambda record: (record.pairing.pair_id, record.pairing.players))
        old, pairs = len(pairs), pair_scores(game, map(Result.of, records))
        share = len(records) / len(pairings)
        accepted, part_gain = judge(pairs, old, settings.threshold, share)
        gain += part_gain
        if accepted is not None:
            break
    games, gain = sum(pair.games for pair in pairs), min(max(gain, -0.5), 0.5)
    elo = elo_difference((games * (0.5 + gain) + 0.5) / (games + 1))
    return GateResult(match_result(game, records), records, bool(accepted), elo)


def first_part(games: int) -> int:
    """Return the number of games after which a gate of `games` can end."""
    first = 2 * round(FIRST_PART * games / 2)
    return first if first >= MIN_FIRST else games


def expected_games(settings: GateConfig, gates: int = 4000) -> float:
    """Return the mean number of games of simulated gates between equals, without draws."""
    first = first_part(settings.games)
    pairs = np.random.default_rng(0).multinomial(first // 2, [0.25, 0.5, 0.25], gates)
    scores, share = np.array([0, 0.5, 1]), first / max(settings.games, 1)
    ended, _ = _verdicts(2 * pairs.astype(np.float64), scores, settings.threshold, share)
    return first + (settings.games - first) * float(1 - ended.mean())


def judge(
    pairs: Sequence[PairScore], old: int, threshold: float, share: float
) -> tuple[bool | None, float]:
    """Return whether the gate accepts the challenger, player 0, and what that adds to the rating.

    After a `share` of the games the verdict may be None, to play on. The gain is what the pairs
    from index `old` on add, as a score above 1/2. Lucky challengers are accepted more often, so
    that their own scores say too much: 14 to 22 Elo a gate between equals. So a pair counts if the
    others alone accept the challenger, whatever the verdict is: its luck cannot influence that.
    (One Bradley-Terry fit of all gates would not help: it is the sum of the accepted differences,
    for a challenger meets nobody but the best.)
    """
    games = np.array([pair.games for pair in pairs])
    scores = np.array([pair.score for pair in pairs])
    ended, accepted = _verdicts(games[None], scores, threshold, share)
    left_out = games * (1 - np.eye(len(games))[old:])
    _, counted = _verdicts(left_out, scores, threshold, share)
    new = games[old:] / max(games[old:].sum(), 1)
    gain = float(new @ (counted * (scores[old:] - 0.5)))
    return bool(accepted[0]) if ended[0] else None, gain


def _verdicts(
    games: Float64Array, scores: Float64Array, threshold: float, share: float
) -> tuple[BoolArray, BoolArray]:
    """Return which of K gates end, and which of these accept; `games` [K, M] weigh `scores` [M].

    Before all games are played a gate ends if their score would probably lie on the same side of
    the threshold: if it is `DEVIATIONS` standard deviations away. The deviation is that of the
    difference between the scores of a sample and of its population.
    """
    total = np.maximum(games.sum(axis=1), 1e-9)
    means = games @ scores / total
    # Two virtual pairs, a quarter point off the mean, keep the variance positive.
    variances = (games @ scores**2 - total * means**2 + 4 * 0.25**2) / (total + 2)
    deviations = np.sqrt(variances * (1 - share) * 2 / total)
    ended = np.abs(means - threshold) >= DEVIATIONS * deviations
    return ended, ended & (means >= threshold - 1e-9)
