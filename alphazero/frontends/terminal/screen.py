"""The terminal's output, with colours where the stream supports them.

No information depends on them: pipes, NO_COLOR (no-color.org), `dumb` terminals and ASCII work.
"""

import os
import sys
from collections.abc import Iterable
from typing import Final, TextIO

from rich.console import Console, ConsoleDimensions

PLAYERS: Final = ("bold red", "bold cyan")
"""Styles of the players: red and cyan differ for people with red-green colour blindness."""

BLOCKS: Final = "▁▂▃▄▅▆▇█"
DIGITS: Final = "0123456789"
"""One character for a number in [0, 1], with and without block characters."""


class PlainConsole(Console):
    """A console that prints strings as they are, without markup, and never breaks lines."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Write to `stream`, by default standard output, with what it supports."""
        output = stream or sys.stdout
        dumb = output is None or os.environ.get("TERM", "dumb") == "dumb"
        live = not dumb and output.isatty()
        super().__init__(
            file=stream,
            color_system=None if os.environ.get("NO_COLOR") else "auto",
            no_color=False,
            force_terminal=live,
            force_interactive=live,
            force_jupyter=False,
            soft_wrap=True,
            markup=False,
            emoji=False,
            highlight=False,
        )

    @property  # type: ignore[misc]
    def size(self) -> ConsoleDimensions:
        """The terminal without its last column: some terminals break a line that fills it."""
        width, height = super().size
        return ConsoleDimensions(width - 1, height)

    def on_broken_pipe(self) -> None:
        """Raise the error, as `print` does; by default `rich` exits."""
        raise BrokenPipeError

    def sparkline(self, shares: Iterable[float | None]) -> str:
        """Return numbers in [0, 1] as a character each; a dot for unknown ones."""
        signs, unknown = (DIGITS, ".") if self.options.ascii_only else (BLOCKS, "·")
        return "".join(
            unknown if share is None else signs[min(int(share * len(signs)), len(signs) - 1)]
            for share in shares
        )
