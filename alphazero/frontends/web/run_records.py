"""Recorded games of a run, with their search results, as the page shows them.

Front ends do not import `training`, which reads runs; the command line connects them.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from alphazero.games.game import ONGOING, Game
from alphazero.records.game_record import GameRecord
from alphazero.records.played_game import RESULTS, PlayedGame

SELFPLAY, GATE = "selfplay", "gate"

Record = GameRecord | PlayedGame
"""A game with or without search results."""


class Archive(Protocol):
    """The games of a run, which may be in training: deleted games raise an error when accessed.

    Methods are thread-safe. They raise AlphaZeroError, in one line, for missing or damaged games.
    """

    @property
    def name(self) -> str:
        """The run's name."""

    @property
    def game(self) -> Game:
        """The run's game."""

    def iterations(self) -> list[tuple[int, str]]:
        """Return the iterations with games and their kind, newest first."""

    def games(self, iteration: int, kind: str) -> list[Record]:
        """Return the games of an iteration."""


@dataclass(frozen=True)
class Thoughts:
    """Search results of the moves of a game: T moves, A actions."""

    policies: npt.NDArray[np.float32]
    """[T, A]; rows of zeros where no policy was kept"""
    values: npt.NDArray[np.float32]
    """[T] for the player to move"""


def thoughts_of(record: Record) -> Thoughts | None:
    """Return the recorded search results, if any."""
    return Thoughts(record.policies, record.values) if isinstance(record, GameRecord) else None


def played_of(game: Game, record: Record) -> PlayedGame:
    """Return a record as a `PlayedGame`."""
    if isinstance(record, PlayedGame):
        return record
    return PlayedGame.of(game, record, ("best", "best"))


def headline(record: Record) -> str:
    """Describe the result in a few words."""
    told = {1: "X wins", 0: "a draw", -1: "O wins", ONGOING: "unfinished"}[record.outcome]
    how = " by resignation" if record.resigned else ""
    return f"{told}{how} after {len(record.actions)} moves"


def result_of(record: Record) -> str:
    """Return 1-0, 0-1, 1/2-1/2, or * for an unfinished game."""
    return RESULTS[record.outcome]
