"""Plays matches and compares their records, or makes records and played games by hand."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from alphazero.arena.match import Match
from alphazero.games import Game
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.records.played_game import PlayedGame


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


def record(side: int, value: int, pair: int, actions: Sequence[int] = ()) -> GameRecord:
    """A game that player 0 played as `side` (0 moves first); `value`: its result, +1, 0 or -1.

    Without `actions`, which need not be legal, its moves are those of no other pair.
    """
    moves, outcome = np.array(actions or (pair,), np.int32), value if side == 0 else -value
    blank = GameRecord.opening(Pairing((side, 1 - side), (), pair))
    return dataclasses.replace(blank, actions=moves, outcome=outcome)


def match(*pairs: tuple[int, int]) -> list[GameRecord]:
    """Games in pairs: player 0's values moving first and moving second."""
    return [
        record(side, value, number)
        for number, values in enumerate(pairs)
        for side, value in enumerate(values)
    ]


def played_game(
    game: Game, actions: Sequence[int], names: tuple[str, str] = ("A", "B"), **details: Any
) -> PlayedGame:
    """A game of these moves, with the outcome that they lead to unless `details` have another."""
    outcome = game.outcome(game.play(game.initial_state(), *actions))
    return PlayedGame(game, names, tuple(actions), **({"outcome": outcome} | details))
