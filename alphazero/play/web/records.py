"""What a run has recorded, as the page looks at it: games, and what was thought of their moves.

`play/` does not know `training/`, which reads runs: the command line brings the two together.

Letters: T moves of a game, A actions.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from alphazero.games.game import Game

SELFPLAY, GATE = "selfplay", "gate"
"""Kinds of games."""


@dataclass(frozen=True)
class Chapter:
    """The games of one kind that one iteration has left."""

    iteration: int
    kind: str
    """SELFPLAY or GATE"""
    games: int | None
    """how many there are; None: nobody has counted them yet"""


@dataclass(frozen=True)
class RecordedGame:
    """A game, and what the search found before each of its moves."""

    players: tuple[str, str]
    actions: tuple[int, ...]
    outcome: int
    resigned: bool
    policies: npt.NDArray[np.float32] | None
    """[T, A] the search policies; rows of zeros where none was kept. None: none was"""
    values: npt.NDArray[np.float32] | None
    """[T] the searches' values, for the player to move"""


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

    def chapters(self) -> list[Chapter]:
        """Return what there is, the newest iteration first."""

    def games(self, iteration: int, kind: str) -> list[RecordedGame]:
        """Return the games of an iteration."""
