"""What the output can show: colours, a cursor that goes back, signs beyond ASCII; how wide it is.

Everything is also told without them: through a pipe, with NO_COLOR set (no-color.org), on a
terminal that is `dumb`, in an encoding that knows ASCII alone.
"""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TextIO

STYLES: Final = {
    "first": "1;31",  # red and cyan: told apart by people who confuse red and green
    "second": "1;36",
    "strong": "1",
    "faint": "2",
}
"""How each kind of text is painted: codes of ECMA-48, "select graphic rendition"."""

PLAYERS: Final = ("first", "second")
"""The styles of player 0 and player 1."""

BLOCKS: Final = "▁▂▃▄▅▆▇█"
DIGITS: Final = "0123456789"
"""A share from 0 to 1 as one sign, where blocks can be written and where they cannot."""


@dataclass(frozen=True)
class Screen:
    """What may be written; nothing special where nothing is said."""

    colours: bool = False
    live: bool = False
    """Whether a person looks on while something goes on, and lines can be written over."""
    blocks: bool = False
    """Whether blocks can be written."""

    @classmethod
    def of(cls, stream: TextIO | None) -> "Screen":
        """Find out what `stream` can show; None is one that is closed."""
        if stream is None:
            return cls()
        live = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        try:
            (BLOCKS + "·").encode(stream.encoding or "ascii")
            blocks = True
        except (UnicodeEncodeError, LookupError):
            blocks = False
        return cls(live and not os.environ.get("NO_COLOR"), live, blocks)

    @property
    def width(self) -> int:
        """Columns that a line may fill; the last stays free, so that no line is wrapped."""
        return shutil.get_terminal_size().columns - 1

    @property
    def height(self) -> int:
        """Rows."""
        return shutil.get_terminal_size().lines

    def paint(self, text: str, style: str) -> str:
        """Return the text in one of STYLES."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colours and text else text

    def bar(self, share: float, width: int) -> str:
        """Return a share from 0 to 1 as a bar, and spaces up to the width."""
        return (("█" if self.blocks else "#") * round(share * width)).ljust(width)

    def sparkline(self, shares: Iterable[float | None]) -> str:
        """Return shares from 0 to 1 as a sign each; a point where one is unknown."""
        signs = BLOCKS if self.blocks else DIGITS
        unknown = "·" if self.blocks else "."
        return "".join(
            unknown if share is None else signs[min(int(share * len(signs)), len(signs) - 1)]
            for share in shares
        )

    def over(self, lines: int) -> str:
        """Return what goes back so many lines and clears them."""
        return f"\r\x1b[{lines}A\x1b[J"
