"""Cells and stones in the Gomocup protocol.

A cell is `column,row`, from 0 at the top left. A position is `BOARD`, `10,9,2` lines and `DONE`.
"""

import itertools
import re
from typing import Final, NamedTuple

from alphazero.frontends.gtp.protocol import GtpError

BLOCKS: Final = ("BOARD", "SWAP2BOARD")
"""Commands followed by lines of stones up to DONE."""

OWN, OTHER = "1", "2"
"""Owners of stones in BOARD."""


def two_numbers(text: str, what: str) -> tuple[int, int]:
    """Parse two numbers separated by a comma.

    Raises:
        GtpError: for anything else.
    """
    found = re.fullmatch(r"([0-9]{1,4})\s*,\s*([0-9]{1,4})", text.strip(), re.ASCII)
    if not found:
        raise GtpError(f"expected {what}, as in 8,7, got {text.strip()[:20]!r}")
    return int(found[1]), int(found[2])


class Board(NamedTuple):
    """A board; cells are numbered row by row from the top left."""

    rows: int
    columns: int

    def read(self, text: str) -> int:
        """Parse a cell; return its number.

        Raises:
            GtpError: for a cell off the board.
        """
        column, row = two_numbers(text, "a column and a row")
        if column >= self.columns or row >= self.rows:
            last = self.write(self.rows * self.columns - 1)
            raise GtpError(f"{column},{row} is not on the board, which ends at {last}")
        return row * self.columns + column

    def write(self, cell: int) -> str:
        """Format a cell."""
        row, column = divmod(cell, self.columns)
        return f"{column},{row}"


class BoardBlock:
    """The stones between BOARD and DONE; the first error is reported at the end."""

    def __init__(self, word: str, board: Board) -> None:
        self.word = word
        """a word of `BLOCKS`"""
        self.board = board
        self._stones: dict[int, str] = {}
        """`OWN` or `OTHER` by cell, in input order"""
        self._fault = ""

    def read(self, line: str) -> None:
        """Read the line of a stone."""
        place, _, whose = line.rpartition(",")
        try:
            if whose.strip() not in (OWN, OTHER):
                raise GtpError(
                    "expected column,row,stone, where 1 is our stone and 2 the opponent's, "
                    f"got {line.strip()[:20]!r}"
                )
            cell = self.board.read(place)
            if cell in self._stones:
                raise GtpError(f"{self.board.write(cell)} has two stones")
            self._stones[cell] = whose.strip()
        except GtpError as error:
            self._fault = self._fault or str(error)

    def moves(self) -> list[int]:
        """Return moves that lead to these stones with our turn next; each side's moves in input
        order.

        Raises:
            GtpError: for malformed lines, and stone counts impossible before our move.
        """
        if self._fault:
            raise GtpError(self._fault)
        own, other = ([c for c, w in self._stones.items() if w == whose] for whose in (OWN, OTHER))
        if len(other) - len(own) not in (0, 1):
            raise GtpError(
                f"{len(own)} own stones and {len(other)} of the opponent's: before our move the "
                "opponent must have as many as we, or one more"
            )
        first, second = (own, other) if len(own) == len(other) else (other, own)
        pairs = itertools.zip_longest(first, second)
        return [cell for pair in pairs for cell in pair if cell is not None]
