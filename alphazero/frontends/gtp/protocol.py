"""GTP lines: parsing of commands and arguments, formatting of replies.

    7 play black D4          an optional number, a command, arguments
    =7                       the reply: `=`, or `?` and an error; an empty line ends it

*Specification of the Go Text Protocol, version 2, draft 2* (Farnebäck 2002), sections 2.4 to 2.6.
"""

import re
from typing import Final, NamedTuple

from alphazero.errors import AlphaZeroError
from alphazero.records.gtp_notation import COLOURS

LARGEST: Final = 10**9
"""Largest number accepted."""


class GtpError(AlphaZeroError):
    """A failed command; the text is the reply."""


class GtpLine(NamedTuple):
    """A parsed command line."""

    number: str
    """digits, repeated in the reply, or empty"""
    word: str
    arguments: list[str]


def read_line(line: str) -> GtpLine | None:
    """Parse a line; return None for a line without a command.

    Control characters are dropped, tabs are spaces, `#` starts a comment.
    """
    text = line.replace("\t", " ").partition("#")[0]
    text = "".join(letter for letter in text if letter.isprintable()).strip()
    match = re.fullmatch(r"([0-9]{1,18}(?= |$))? *(.*)", text)
    assert match, "anything matches"
    word, *arguments = match[2].split() or [""]
    return GtpLine(match[1] or "", word, arguments) if text else None


def format_reply(number: str, text: str, succeeded: bool = True) -> str:
    """Format a reply, ended by an empty line; other empty lines are dropped.

    A text that starts with a newline, such as a drawing, starts below the status sign.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    begin = "\n" if text.startswith("\n") else " " if lines else ""
    return f"{'=' if succeeded else '?'}{number}{begin}" + "\n".join(lines) + "\n\n"


def read_colour(text: str) -> int:
    """Return the player of a colour: 0 for black or b, 1 for white or w."""
    for player, colour in enumerate(COLOURS):
        if text.lower() in (colour, colour[0]):
            return player
    raise GtpError(f"invalid color {text[:20]!r}: expected black or white")


def read_integer(text: str, name: str, minimum: int = 0) -> int:
    """Parse an integer of at least `minimum`."""
    if not re.fullmatch(r"-?[0-9]{1,9}", text) or int(text) < minimum:
        raise GtpError(f"{name} must be an integer of at least {minimum}, got {text[:20]!r}")
    return int(text)


def read_number(text: str, name: str, minimum: float = 0.0) -> float:
    """Parse a decimal number from `minimum` to `LARGEST`."""
    if not re.fullmatch(r"-?([0-9]+\.?|[0-9]*\.[0-9]+)", text) or len(text) > 20:
        raise GtpError(f"{name} must be a number, got {text[:20]!r}")
    if not minimum <= float(text) <= LARGEST:
        raise GtpError(f"{name} must be {minimum:g} to {LARGEST:g}, got {text}")
    return float(text)
