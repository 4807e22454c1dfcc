"""Archives of recorded games: those of a run, with its curves and progress, or those of a file.

A run is read by `diagnostics`, which front ends do not import; the command line connects them.
"""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from alphazero.errors import PlayerError
from alphazero.games.game import Game
from alphazero.games.results import WORDS, describe_result
from alphazero.records.game_files import load_played
from alphazero.records.game_record import GameRecord
from alphazero.records.played_game import PlayedGame
from alphazero.utils.files import printable

SELFPLAY, GATE, SAVED = "selfplay", "gate", "saved"
"""Kinds of recorded games."""

Record = GameRecord | PlayedGame
"""A game with or without search results."""


class Archive(Protocol):
    """The games of a run, which may still be training and delete old games, or of a file.

    Methods are thread-safe. They raise AlphaZeroError for missing or damaged games.
    """

    @property
    def name(self) -> str:
        """The run's name."""

    folder: Path
    """the run's folder, which is also the name of its best player, or the file"""

    @property
    def game(self) -> Game:
        """The game that was played."""

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

    def opening_games(self) -> Mapping[str, Sequence[PlayedGame]]:
        """Return the games whose openings are counted, in named groups."""


class SavedGames:
    """The games of a file, as one iteration of the kind `SAVED`.

    Raises:
        PlayerError: for an invalid game, or for different games.
        RunError: if the file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.folder, self.name = path, path.name
        self._games = load_played(path)
        self.game = self._games[0].game
        if not all(self.game.accepts(each.game) for each in self._games):
            raise PlayerError(f"{printable(path)} holds different games; openings are of one game")

    def stamps(self) -> tuple[Hashable, Hashable]:
        return None, None

    def status(self) -> dict[str, Any]:
        return {}

    def charts(self) -> list[dict[str, Any]]:
        return []

    def iterations(self) -> list[tuple[int, str]]:
        return [(0, SAVED)]

    def games(self, iteration: int, kind: str) -> list[Record]:
        del iteration, kind
        return list(self._games)

    def opening_games(self) -> dict[str, list[PlayedGame]]:
        return {self.name: self._games}


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
