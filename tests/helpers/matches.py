"""Plays matches and compares their records."""

from alphazero.arena.match import Match
from alphazero.records.game_record import GameRecord


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
