"""How long to think: GTP's clocks, shared out among the moves that are still to come.

Three kinds of overtime are known: none, Canadian (so many stones in each period) and byo-yomi
(one move in each period, and so many periods). *Specification of the Go Text Protocol, version 2,
draft 2*, section 4.2; `kgs-time_settings` is that of the kgsGtp client's documentation.
"""

from dataclasses import dataclass
from typing import Final

MARGIN: Final = 0.1
"""Seconds kept back of every move for the way to the clock and back."""

CAUTION: Final = 0.9
"""The share of what a move may take that is planned."""

FEWEST: Final = 10
"""Moves that main time is shared out among, at least, however full the board is."""

LEAST: Final = 0.01
"""Seconds that are thought anyway, time or no time."""


@dataclass(frozen=True)
class TimeSettings:
    """A system of time. Without a period, main time is all there is."""

    main: float
    """seconds"""
    period: float = 0.0
    """seconds of overtime"""
    stones: int = 0
    """moves to be made in each period"""
    periods: int = 0
    """of byo-yomi, where a period that sufficed for its one move begins anew; 0: Canadian"""


class Clock:
    """What is left for one player."""

    def __init__(self, settings: TimeSettings) -> None:
        self.settings = settings
        self.left = settings.main
        self.stones = 0
        """Moves to be made in what is left; 0: it is main time. In byo-yomi, periods left."""
        if settings.main == 0 and settings.period:
            self._enter_overtime()

    def set(self, left: float, stones: int) -> None:
        """Believe what `time_left` says: seconds, and stones or periods, 0 in main time."""
        self.left, self.stones = left, stones

    def spend(self, seconds: float) -> None:
        """Take note of a move's time, until `time_left` knows better."""
        settings = self.settings
        self.left -= seconds
        if not self.stones and self.left <= 0 and settings.period:
            over = self.left
            self._enter_overtime()
            self.left += over
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
        """Return the seconds for the next move, when so many of one's own are still to come."""
        settings, moves = self.settings, max(FEWEST, moves_left)
        if not self.stones:
            # What a move gets in overtime it may have before as well.
            seconds = max(self.left / moves, settings.period / max(1, settings.stones))
        elif settings.periods:
            seconds = self.left
        else:
            seconds = self.left / self.stones
        return max(LEAST, CAUTION * seconds - MARGIN)

    def _enter_overtime(self) -> None:
        settings = self.settings
        self.left, self.stones = settings.period, settings.periods or max(1, settings.stones)


def expected_moves(cells: int, ply: int) -> int:
    """Guess how many moves one player has still to make on a board of so many cells.

    A game is taken to fill four fifths of its board: our own guess, between the length of
    resigned Go games and that of Othello.
    """
    return max(0, (4 * cells // 5 - ply) // 2)
