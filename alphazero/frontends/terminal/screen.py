"""The terminal's output, with colours where the stream supports them.

No information depends on them: pipes, NO_COLOR (no-color.org), `dumb` terminals and ASCII work.
"""

import os
import shutil
import sys
from collections.abc import Iterable
from typing import Final, TextIO

PLAYERS: Final = ("1;31", "1;36")
"""Bold red and cyan, as ANSI codes: they differ for people with red-green colour blindness."""
BOLD, DIM = "1", "2"
ERASE_LINE: Final = "\x1b[1A\x1b[2K"
"""Erases the line above."""

BLOCKS: Final = "▁▂▃▄▅▆▇█"
DIGITS: Final = "0123456789"
"""One character for a number in [0, 1], with and without block characters."""


class Screen:
    """A stream of text, by default standard output, with what it supports."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        self.is_terminal = self.stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._has_colours = self.is_terminal and not os.environ.get("NO_COLOR")
        self._has_blocks = (self.stream.encoding or "").lower().startswith("utf")

    @property
    def size(self) -> tuple[int, int]:
        """Columns and lines; without the last column: some terminals break a line that fills it."""
        columns, lines = shutil.get_terminal_size()
        return columns - 1, lines

    def print(self, text: str, end: str = "\n") -> None:
        self.stream.write(text + end)
        self.stream.flush()

    def paint(self, text: str, style: str) -> str:
        """Return a text in a style, an ANSI code, where the stream has colours."""
        return f"\x1b[{style}m{text}\x1b[0m" if self._has_colours else text

    def sparkline(self, shares: Iterable[float | None]) -> str:
        """Return numbers in [0, 1] as a character each; a dot for unknown ones."""
        signs, unknown = (BLOCKS, "·") if self._has_blocks else (DIGITS, ".")
        return "".join(
            unknown if share is None else signs[min(int(share * len(signs)), len(signs) - 1)]
            for share in shares
        )
