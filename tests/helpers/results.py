"""Match results made by hand."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from alphazero.records.game_record import GameRecord, Pairing

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


def swapped(records: Sequence[GameRecord]) -> list[GameRecord]:
    """The same games with the two players' numbers exchanged."""
    return [
        dataclasses.replace(
            each, pairing=dataclasses.replace(each.pairing, players=each.pairing.players[::-1])
        )
        for each in records
    ]
