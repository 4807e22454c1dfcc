"""Time management: clocks, divided among the moves to come.

In GTP overtime is none, Canadian (`stones` moves per period) or byo-yomi (`periods` of one move).
*Specification of the Go Text Protocol, version 2, draft 2*, section 4.2; kgsGtp's documentation for
`kgs-time_settings`.
"""

from dataclasses import dataclass
from typing import Final

from alphazero.games.game import Game
from alphazero.games.pieces import PieceGame

MARGIN: Final = 0.1
"""Seconds reserved per move for communication."""

CAUTION: Final = 0.9
"""Fraction of the time of a move that is used."""

MIN_MOVES: Final = 10
"""Minimum number of moves to divide the main time by."""

MIN_SECONDS: Final = 0.01
"""Minimum seconds per move."""

PIECE_MOVES: Final = 30
"""Expected moves of a player that are to come in a game whose pieces move: our estimate."""


@dataclass(frozen=True)
class TimeSettings:
    """A time system, in seconds. Without a period, there is only main time."""

    main: float
    period: float = 0.0
    """duration of an overtime period"""
    stones: int = 0
    """moves per Canadian period"""
    periods: int = 0
    """number of byo-yomi periods, each renewed if its move is in time; 0 for Canadian"""


class Clock:
    """One player's remaining time."""

    def __init__(self, settings: TimeSettings) -> None:
        self.settings = settings
        self.left = settings.main
        self.stones = 0
        """Moves due in `left`, or byo-yomi periods left; 0 in main time."""
        if settings.main == 0 and settings.period:
            self._enter_overtime()

    def spend(self, seconds: float) -> None:
        """Subtract a move's time, until the next `time_left`."""
        settings = self.settings
        self.left -= seconds
        if not self.stones and self.left <= 0 and settings.period:
            overrun = self.left
            self._enter_overtime()
            self.left += overrun
        if self.stones and settings.periods:
            while self.left < 0 and self.stones > 1:
                self.stones -= 1
                self.left += settings.period
            self.left = settings.period
        elif self.stones:
            self.stones -= 1
            if self.stones == 0:
                self._enter_overtime()
        self.left = max(0.0, self.left)

    def budget(self, moves_left: int) -> float:
        """Return the seconds for the next move, with `moves_left` own moves to come."""
        settings, moves = self.settings, max(MIN_MOVES, moves_left)
        if not self.stones:
            # At least the time per move of overtime.
            seconds = max(self.left / moves, settings.period / max(1, settings.stones))
        else:
            seconds = self.left / (1 if settings.periods else self.stones)
        return time_to_use(seconds)

    def _enter_overtime(self) -> None:
        settings = self.settings
        self.left, self.stones = settings.period, settings.periods or max(1, settings.stones)


def time_to_use(seconds: float, margin: float = MARGIN) -> float:
    """Return how many of a move's `seconds` to search."""
    return max(MIN_SECONDS, CAUTION * seconds - margin)


def expected_moves(game: Game, ply: int) -> int:
    """Estimate a player's remaining moves.

    A game is assumed to fill 4/5 of the board: our estimate, between resigned Go games and Othello.
    """
    if isinstance(game, PieceGame):
        return PIECE_MOVES
    _, rows, columns = game.observation_shape
    return max(0, (4 * rows * columns // 5 - ply) // 2)
