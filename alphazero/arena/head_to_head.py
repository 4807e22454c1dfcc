"""A match of two players, as the gate, the ratings and the command line play it."""

import dataclasses
from collections.abc import Callable, Sequence

from alphazero.arena.elo import MatchResult, match_result
from alphazero.arena.match import DEFAULT_PARALLEL_GAMES, play_schedule
from alphazero.arena.sprt import Sprt
from alphazero.games.game import Game
from alphazero.players.base import Player
from alphazero.records.game_record import GameRecord, Pairing

MAX_SPRT_CHECKS = 8
"""How often a sequential test looks at the games so far, at most."""

FEWEST = 16
"""Games between two of its looks, at least: fewer would leave the evaluator's batches empty."""


def play_match(
    game: Game,
    seat_players: Callable[[int], Sequence[Player]],
    schedule: Sequence[Pairing],
    *,
    tables: int = DEFAULT_PARALLEL_GAMES,
    workers: int = 1,
    sprt: Sprt | None = None,
    show: Callable[[int], object] = bool,
) -> tuple[MatchResult, list[GameRecord]]:
    """Let players 0 and 1 play the pairs of games of `schedule`; return what came of it.

    `seat_players` makes them for so many tables, anew for each worker and each part of the
    schedule. `show` is called with the number of games that ended. The rest is as in
    `play_until_decided`.
    """

    def play(pairings: Sequence[Pairing]) -> list[GameRecord]:
        return play_schedule(game, seat_players, pairings, tables, workers, show)

    return play_until_decided(play, schedule, sprt)


def play_until_decided(
    play: Callable[[Sequence[Pairing]], list[GameRecord]],
    schedule: Sequence[Pairing],
    sprt: Sprt | None = None,
) -> tuple[MatchResult, list[GameRecord]]:
    """Let `play` play the pairs of games of `schedule`; return what came of it.

    With `sprt` the schedule is played in parts, in its order, and ends with the part that answers
    the test: so the answer depends on nothing but the games. The records come in the schedule's
    order, pair by pair.
    """
    part = len(schedule) if sprt is None else max(len(schedule) // MAX_SPRT_CHECKS // 2 * 2, FEWEST)
    records: list[GameRecord] = []
    verdict = None
    for begin in range(0, len(schedule), part):
        records += play(schedule[begin : begin + part])
        verdict = sprt.verdict(records) if sprt else None
        if verdict is not None:
            break
    records.sort(key=lambda record: (record.pairing.pair_id, record.pairing.players))
    return dataclasses.replace(match_result(records), verdict=verdict), records
