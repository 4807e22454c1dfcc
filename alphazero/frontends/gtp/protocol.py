"""Lines of the Go Text Protocol: what is asked, what is answered, how arguments are read.

    7 play black D4          a number if the asker wants one, a word, arguments
    =7                       the answer: `=`, or `?` and what is wrong; an empty line ends it

*Specification of the Go Text Protocol, version 2, draft 2* (Farnebäck 2002), sections 2.4 to 2.6.
"""

import re
from typing import Final, NamedTuple

from alphazero.records.gtp_notation import COLOURS


class GtpError(Exception):
    """A command fails: the text is the answer. Never leaves the server."""


class GtpCommand(NamedTuple):
    """A line that asks for something."""

    number: str
    """digits, or empty: repeated in the answer"""
    word: str
    arguments: list[str]


def read_command(line: str) -> GtpCommand | None:
    """Return the command in a line, None where it holds none.

    Control characters are dropped, tabs are spaces, `#` begins a comment.
    """
    text = line.replace("\t", " ").partition("#")[0]
    text = "".join(letter for letter in text if letter.isprintable()).strip()
    found = re.fullmatch(r"([0-9]{1,18}(?= |$))? *(.*)", text)
    assert found, "anything matches"
    word, *arguments = found[2].split() or [""]
    return GtpCommand(found[1] or "", word, arguments) if text else None


def answer(command: GtpCommand, text: str, succeeded: bool = True) -> str:
    """Write an answer, with the two newlines that end it; no empty line is left inside.

    A text that begins with a newline begins below the sign, as drawings do.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    begin = "\n" if text.startswith("\n") else " " if lines else ""
    return f"{'=' if succeeded else '?'}{command.number}{begin}" + "\n".join(lines) + "\n\n"


def read_colour(text: str) -> int:
    """Return the player whose colour is named: black or b is 0, white or w is 1."""
    for player, colour in enumerate(COLOURS):
        if text.lower() in (colour, colour[0]):
            return player
    raise GtpError(f"invalid color {text[:20]!r}: expected black or white")


def read_integer(text: str, name: str, least: int = 0) -> int:
    """Read a whole number."""
    if not re.fullmatch(r"-?[0-9]{1,9}", text) or int(text) < least:
        raise GtpError(f"{name} must be a whole number from {least} on, got {text[:20]!r}")
    return int(text)


def read_number(text: str, name: str, least: float = 0.0) -> float:
    """Read a number, with or without a fraction."""
    if not re.fullmatch(r"-?([0-9]+\.?|[0-9]*\.[0-9]+)", text) or len(text) > 20:
        raise GtpError(f"{name} must be a number, got {text[:20]!r}")
    if not least <= float(text) <= LARGEST:
        raise GtpError(f"{name} must be {least:g} to {LARGEST:g}, got {text}")
    return float(text)


def expect(arguments: list[str], least: int, most: int | None = None, what: str = "") -> None:
    """Raise GtpError unless there are so many arguments."""
    if not least <= len(arguments) <= (least if most is None else most):
        raise GtpError(f"expected {what or 'no arguments'}, got {len(arguments)} arguments")


LARGEST: Final = 10**9
"""Numbers are at most so large."""
