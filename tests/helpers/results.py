"""Match results made by hand."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from alphazero.records.game_record import GameRecord, Pairing

NONE = np.zeros(0, np.float32)


def record(seat: int, value: int, pair: int, actions: Sequence[int] = (0,)) -> GameRecord:
    """A game that player 0 played as `seat`, with result `value` (+1, 0, -1) from its own view."""
    outcome = value if seat == 0 else -value
    moves = np.array(actions, np.int32)
    return GameRecord(Pairing((seat, 1 - seat), (), pair), moves, NONE, NONE, NONE, outcome)


def match(*pairs: tuple[int, int]) -> list[GameRecord]:
    """Games in pairs: player 0's values moving first and moving second."""
    return [
        record(seat, value, number)
        for number, values in enumerate(pairs)
        for seat, value in enumerate(values)
    ]


def swapped(records: Sequence[GameRecord]) -> list[GameRecord]:
    """The same games with the two players' numbers exchanged."""
    return [
        dataclasses.replace(
            each, pairing=dataclasses.replace(each.pairing, players=each.pairing.players[::-1])
        )
        for each in records
    ]
