"""What a run has recorded, as the page looks at it: games, and what was thought of their moves.

`play/` does not know `training/`, which reads runs: the command line brings the two together.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from alphazero.games.game import ONGOING, Game
from alphazero.records.game_record import GameRecord
from alphazero.records.played_game import RESULTS, PlayedGame

SELFPLAY, GATE = "selfplay", "gate"
"""Kinds of games."""

Record = GameRecord | PlayedGame
"""A game with what the search found before each move, or without."""


class Archive(Protocol):
    """The games of a run, which may be training meanwhile: what is gone tomorrow is told then.

    Every method may be called from any thread, and raises AlphaZeroError, in one line, for what
    is not there or is damaged.
    """

    @property
    def name(self) -> str:
        """The run's name."""

    @property
    def game(self) -> Game:
        """The game that it learns."""

    def iterations(self) -> list[tuple[int, str]]:
        """Return each iteration that has games, and their kind; the newest first."""

    def games(self, iteration: int, kind: str) -> list[Record]:
        """Return the games of an iteration."""


@dataclass(frozen=True)
class Thoughts:
    """What a search found before the moves of a game: T moves, A actions."""

    policies: npt.NDArray[np.float32]
    """[T, A] rows of zeros where none was kept"""
    values: npt.NDArray[np.float32]
    """[T] for the player to move"""


def thoughts_of(record: Record) -> Thoughts | None:
    """Return what was recorded beside the moves, if anything was."""
    return Thoughts(record.policies, record.values) if isinstance(record, GameRecord) else None


def played_of(game: Game, record: Record) -> PlayedGame:
    """Return a game of self-play, or one from a file, as a game that was played."""
    if isinstance(record, PlayedGame):
        return record
    return PlayedGame.of(game, record, ("best", "best"))


def headline(record: Record) -> str:
    """Say in some words how a game went."""
    told = {1: "X wins", 0: "a draw", -1: "O wins", ONGOING: "unfinished"}[record.outcome]
    how = " by resignation" if record.resigned else ""
    return f"{told}{how} after {len(record.actions)} moves"


def result_of(record: Record) -> str:
    """Return 1-0, 0-1, 1/2-1/2, or * for a game that is not over."""
    return RESULTS[record.outcome]
