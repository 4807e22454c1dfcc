"""A match between two players, as in the gate and on the command line."""

import dataclasses
from collections.abc import Callable, Sequence

from alphazero.arena.elo import MatchResult, match_result
from alphazero.arena.match import DEFAULT_PARALLEL_GAMES, play_schedule
from alphazero.arena.sprt import Sprt
from alphazero.games.game import Game
from alphazero.players.base import Player
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.utils.progress import Progress, no_progress

MAX_SPRT_CHECKS = 8
"""Maximum number of times that a sequential test is evaluated."""

MIN_GAMES_BETWEEN_CHECKS = 16
"""Minimum number of games between two evaluations: fewer would leave batches half empty."""


def play_match(
    game: Game,
    make_players: Callable[[int], Sequence[Player]],
    schedule: Sequence[Pairing],
    *,
    parallel_games: int = DEFAULT_PARALLEL_GAMES,
    workers: int = 1,
    sprt: Sprt | None = None,
    show: Progress = no_progress,
) -> tuple[MatchResult, list[GameRecord]]:
    """Play the pairs of games of `schedule` between players 0 and 1; return result and records.

    `make_players(n)` creates the players for n games, anew for each worker and each part of the
    schedule. `show` receives the number of games that just ended; see also `play_until_decided`.
    """

    def play(pairings: Sequence[Pairing]) -> list[GameRecord]:
        return play_schedule(game, make_players, pairings, parallel_games, workers, show)

    return play_until_decided(play, schedule, sprt)


def play_until_decided(
    play: Callable[[Sequence[Pairing]], list[GameRecord]],
    schedule: Sequence[Pairing],
    sprt: Sprt | None = None,
) -> tuple[MatchResult, list[GameRecord]]:
    """Play the pairs of games of `schedule` by `play`; return result and records.

    With `sprt` the schedule is played in fixed parts, and stops after the part that decides the
    test: the verdict depends only on the games. Records are ordered as the schedule, pair by pair.
    """
    part = len(schedule)
    if sprt is not None:
        part = max(part // MAX_SPRT_CHECKS // 2 * 2, MIN_GAMES_BETWEEN_CHECKS)
    records: list[GameRecord] = []
    verdict = None
    for begin in range(0, len(schedule), part):
        records += play(schedule[begin : begin + part])
        verdict = sprt.verdict(records) if sprt else None
        if verdict is not None:
            break
    records.sort(key=lambda record: (record.pairing.pair_id, record.pairing.players))
    return dataclasses.replace(match_result(records), verdict=verdict), records
