"""Lines of a protocol, read by a thread of their own while the program works."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final

ROOM: Final = 1 << 20
"""Characters of the lines that are read ahead, about: more are left where they are."""

LINE_SIZE: Final = 100
"""What a line takes besides its characters, in characters."""

TOGETHER: Final = 0.2
"""Seconds within which lines are taken to have been sent together."""


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


LONGEST: Final = 1 << 16
"""Characters of a line, at most."""
