"""Lines of the Go Text Protocol: what is asked, what is answered, how arguments are read.

    7 play black D4          a number if the asker wants one, a word, arguments
    =7                       the answer: `=`, or `?` and what is wrong; an empty line ends it

*Specification of the Go Text Protocol, version 2, draft 2* (Farnebäck 2002), sections 2.4 to 2.6.
"""

import contextlib
import os
import queue
import re
import threading
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from alphazero.players.vertices import COLOURS

LONGEST: Final = 1 << 16
"""Characters of a line, at most."""

LARGEST: Final = 10**9
"""Numbers are at most so large."""


class GtpError(Exception):
    """A command fails: the text is the answer. Never leaves the server."""


class Command(NamedTuple):
    """A line that asks for something."""

    number: str
    """digits, or empty: repeated in the answer"""
    word: str
    arguments: list[str]


def read_command(line: str) -> Command | None:
    """Return the command in a line, None where it holds none.

    Control characters are dropped, tabs are spaces, `#` begins a comment.
    """
    text = line.replace("\t", " ").partition("#")[0]
    text = "".join(letter for letter in text if letter.isprintable()).strip()
    found = re.fullmatch(r"([0-9]{1,18}(?= |$))? *(.*)", text)
    assert found, "anything matches"
    word, *arguments = found[2].split() or [""]
    return Command(found[1] or "", word, arguments) if text else None


def answer(command: Command, text: str, succeeded: bool = True) -> str:
    """Write an answer, with the two newlines that end it; no empty line is left inside.

    A text that begins with a newline begins below the sign, as drawings do.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    begin = "\n" if text.startswith("\n") else " " if lines else ""
    return f"{'=' if succeeded else '?'}{command.number}{begin}" + "\n".join(lines) + "\n\n"


class Lines:
    """The lines that come, read ahead by a thread, so that work can stop when there is a new one.

    None stands for the end, and is the last.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._queue: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._ahead: list[str | None] = []
        """The next line, if somebody has waited for it."""
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()

    def _read(self, lines: Iterable[str]) -> None:
        try:
            for line in lines:
                self._queue.put(line)
        except OSError:
            pass  # there is no input: that is its end
        finally:
            self._queue.put(None)

    def next(self) -> str | None:
        """Wait for the next line and return it."""
        return self._ahead.pop() if self._ahead else self._queue.get()

    def is_waiting(self, seconds: float = 0.0) -> bool:
        """Whether a line, or the end, is there, or comes within so many seconds."""
        if not self._ahead:
            with contextlib.suppress(queue.Empty):
                self._ahead.append(self._queue.get(timeout=seconds))
        return bool(self._ahead)

    @property
    def ahead(self) -> str | None:
        """The next line, which stays the next; None where none is there yet, or comes at all."""
        return self._ahead[-1] if self.is_waiting() else None


def lines_of(descriptor: int) -> Iterator[str]:
    """Yield the lines of an open file, cut at `LONGEST` characters, as soon as they are there.

    It is read without the buffer of `sys.stdin`, whose lock a waiting thread would hold for ever.
    """
    rest = b""
    while block := os.read(descriptor, LONGEST):
        *whole, rest = (rest + block).split(b"\n")
        yield from (line[: LONGEST + 1].decode("utf-8", "replace") for line in whole)
        rest = rest[: LONGEST + 1]
    if rest:
        yield rest.decode("utf-8", "replace")


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
