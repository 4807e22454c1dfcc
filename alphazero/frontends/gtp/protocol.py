"""Lines of the Go Text Protocol: what is asked, what is answered, how arguments are read.

    7 play black D4          a number if the asker wants one, a word, arguments
    =7                       the answer: `=`, or `?` and what is wrong; an empty line ends it

*Specification of the Go Text Protocol, version 2, draft 2* (Farnebäck 2002), sections 2.4 to 2.6.
"""

import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from alphazero.records.gtp_notation import COLOURS

LONGEST: Final = 1 << 16
"""Characters of a line, at most."""

LARGEST: Final = 10**9
"""Numbers are at most so large."""


ROOM: Final = 1 << 20
"""Characters of the lines that are read ahead, about: more are left where they are."""

LINE_SIZE: Final = 100
"""What a line takes besides its characters, in characters."""

TOGETHER: Final = 0.2
"""Seconds within which lines are taken to have been sent together."""


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

    None stands for the end, and is the last. What comes after a line that `is_last` is not read.
    """

    def __init__(
        self, lines: Iterable[str], is_last: Callable[[str], bool] = lambda _: False
    ) -> None:
        self._waiting: deque[tuple[str | None, float]] = deque()
        """Lines, and when they came."""
        self._size = 0
        """Their characters, and what else each takes."""
        self._has_ended = False
        """Whether the last line, or the end, has come."""
        self._asker_left = False
        """Whether it came in the middle of a thought."""
        self._changed = threading.Condition()
        threading.Thread(target=self._read, args=(lines, is_last), daemon=True).start()

    def _read(self, lines: Iterable[str], is_last: Callable[[str], bool]) -> None:
        try:
            for line in lines:
                self._put(line, is_last(line))
                if self._has_ended:
                    break
        except OSError:
            pass  # there is no input: that is its end
        finally:
            self._put(None, True)

    def _put(self, line: str | None, has_ended: bool) -> None:
        """Let a line wait, as soon as there is room."""
        with self._changed:
            self._changed.wait_for(lambda: self._size < ROOM)
            self._waiting.append((line, time.monotonic()))
            self._size += _size_of(line)
            self._has_ended = has_ended
            self._changed.notify_all()

    def next(self) -> str | None:
        """Wait for the next line and return it."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)
            line, _ = self._waiting.popleft()
            self._size -= _size_of(line)
            self._changed.notify_all()
        return line

    def is_waiting(self, seconds: float = 0.0) -> bool:
        """Whether a line, or the end, is there, or comes within so many seconds."""
        with self._changed:
            return bool(self._changed.wait_for(lambda: self._waiting, seconds))

    def has_left(self, began: float) -> bool:
        """Whether the last line, or the end, came in the middle of a thought that began then.

        What was sent in advance does not count: a script sends all its lines at once, and waits
        for the answers.
        """
        with self._changed:
            if self._has_ended and self._waiting:
                self._asker_left |= self._waiting[0][1] > began + TOGETHER
            return self._asker_left


def _size_of(line: str | None) -> int:
    return LINE_SIZE + len(line or "")


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
