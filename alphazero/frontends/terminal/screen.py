"""Output capabilities: colours, cursor movement, block characters, size.

No information depends on them: pipes, NO_COLOR (no-color.org), `dumb` terminals and ASCII work.
"""

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TextIO

STYLES: Final = {
    "first": "1;31",  # red and cyan differ for people with red-green colour blindness
    "second": "1;36",
    "strong": "1",
    "faint": "2",
}
"""ECMA-48 "select graphic rendition" codes by style."""

PLAYERS: Final = ("first", "second")

BLOCKS: Final = "▁▂▃▄▅▆▇█"
DIGITS: Final = "0123456789"
"""One character for a number in [0, 1], with and without block characters."""


@dataclass(frozen=True)
class Screen:
    """Output capabilities; the default is plain text."""

    colours: bool = False
    live: bool = False
    """Whether the output is a terminal whose lines can be overwritten."""
    blocks: bool = False
    """Whether block characters can be encoded."""

    @classmethod
    def of(cls, stream: TextIO | None) -> "Screen":
        """Detect the capabilities of `stream`; None is a closed one."""
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
        """Usable columns; the last stays free, so that no line wraps."""
        return shutil.get_terminal_size().columns - 1

    @property
    def height(self) -> int:
        """Rows of the terminal."""
        return shutil.get_terminal_size().lines

    def paint(self, text: str, style: str) -> str:
        """Return the text in a style of `STYLES`."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colours and text else text

    def bar(self, share: float, width: int) -> str:
        """Return `share`, in [0, 1], as a bar padded to `width`."""
        return (("█" if self.blocks else "#") * round(share * width)).ljust(width)

    def sparkline(self, shares: Iterable[float | None]) -> str:
        """Return numbers in [0, 1] as a character each; a dot for unknown ones."""
        signs = BLOCKS if self.blocks else DIGITS
        unknown = "·" if self.blocks else "."
        return "".join(
            unknown if share is None else signs[min(int(share * len(signs)), len(signs) - 1)]
            for share in shares
        )

    def over(self, lines: int) -> str:
        """Return the escape codes that move `lines` up and clear to the end."""
        return f"\r\x1b[{lines}A\x1b[J"
