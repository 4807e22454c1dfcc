"""Plays matches and compares their records, or makes records by hand."""

from collections.abc import Sequence

import numpy as np

from alphazero.arena.match import Match
from alphazero.records.game_record import GameRecord, Pairing


def play_all(match: Match) -> list[GameRecord]:
    """Play a match to the end of its schedule."""
    match.start_games()
    records = []
    while match.playing:
        records += match.step()
    return records


def as_text(record: GameRecord) -> tuple[object, ...]:
    """The content of a record, as values that can be compared."""
    return (
        record.pairing,
        record.actions.tolist(),
        *(array.tolist() for array in vars(record.policies).values()),
        record.values.tolist(),
        record.best_values.tolist(),
        record.outcome,
        record.resigned,
    )


NONE = np.zeros(0, np.float32)


def record(side: int, value: int, pair: int, actions: Sequence[int] = ()) -> GameRecord:
    """A game that player 0 played as `side` (0 moves first); `value`: its result, +1, 0 or -1.

    Without `actions`, which need not be legal, its moves are those of no other pair.
    """
    outcome = value if side == 0 else -value
    moves = np.array(actions or (pair,), np.int32)
    return GameRecord(Pairing((side, 1 - side), (), pair), moves, NONE, NONE, NONE, outcome)


def match(*pairs: tuple[int, int]) -> list[GameRecord]:
    """Games in pairs: player 0's values moving first and moving second."""
    return [
        record(side, value, number)
        for number, values in enumerate(pairs)
        for side, value in enumerate(values)
    ]
