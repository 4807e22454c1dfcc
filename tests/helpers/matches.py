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


def forfeits(records: list[GameRecord], message: str) -> list[GameRecord]:
    """Return the forfeited games: the first player has lost at least one, for `message`."""
    lost = [record for record in records if record.forfeit_reason]
    assert lost
    for record in lost:
        assert message in record.forfeit_reason, record.forfeit_reason
        assert record.outcome == (-1 if record.pairing.players[0] == 0 else 1)
    return lost
