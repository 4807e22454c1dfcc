"""A run on the page: its recorded games with their search results, its curves and its progress.

Front ends do not import `training`, which reads runs; the command line connects them.
"""

from collections.abc import Hashable
from pathlib import Path
from typing import Any, Protocol

from alphazero.games.game import Game
from alphazero.games.results import WORDS, describe_result
from alphazero.records.game_record import GameRecord
from alphazero.records.played_game import PlayedGame

SELFPLAY, GATE = "selfplay", "gate"

Record = GameRecord | PlayedGame
"""A game with or without search results."""


class Archive(Protocol):
    """The games of a run, which may still be training and delete old games.

    Methods are thread-safe. They raise AlphaZeroError for missing or damaged games.
    """

    @property
    def name(self) -> str:
        """The run's name."""

    folder: Path
    """the run's folder, which is also the name of its best player"""

    @property
    def game(self) -> Game:
        """The run's game."""

    def stamps(self) -> tuple[Hashable, Hashable]:
        """Return two values that change with each iteration, and with the best player."""

    def status(self) -> dict[str, Any]:
        """Return how far the run is: `iteration`, `games`, `positions`, `best_step` and more."""

    def charts(self) -> list[dict[str, Any]]:
        """Return the run's charts: `title`, `unit`, `curves` and `intervals`."""

    def iterations(self) -> list[tuple[int, str]]:
        """Return the iterations with games and their kind, newest first."""

    def games(self, iteration: int, kind: str) -> list[Record]:
        """Return the games of an iteration."""


def to_played_game(game: Game, record: Record) -> PlayedGame:
    """Return a record as a `PlayedGame`."""
    if isinstance(record, PlayedGame):
        return record
    return PlayedGame.of(game, record, ("best", "best"))


def headline(game: Game, record: Record) -> str:
    """Describe the result in a few words."""
    first, second = game.side_names
    words = WORDS | {1: f"{first} wins", -1: f"{second} wins"}
    result = describe_result(record.outcome, record.resigned, words=words)
    return f"{result} after {len(record.actions)} moves"
