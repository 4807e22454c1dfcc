"""Protocol lines, read ahead by a thread while the program works."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final

BUFFER_LIMIT: Final = 1 << 20
"""Approximate limit of the read-ahead buffer, in characters."""

LINE_OVERHEAD: Final = 100
"""Overhead of a buffered line, in characters."""

TOGETHER: Final = 0.2
"""Lines within this many seconds count as sent together."""


class Lines:
    """A read-ahead queue of lines, so that a search can stop when a new line arrives.

    None marks the end. Nothing is read after a line for which `is_last` holds.
    """

    def __init__(
        self, lines: Iterable[str], is_last: Callable[[str], bool] = lambda _: False
    ) -> None:
        self._waiting: deque[tuple[str | None, float]] = deque()
        """Lines with their arrival times."""
        self._size = 0
        """Characters of these lines, with overhead."""
        self._has_ended = False
        """Whether the last line or the end was read."""
        self._ended_during_search = False
        self._changed = threading.Condition()
        threading.Thread(target=self._read, args=(lines, is_last), daemon=True).start()

    def _read(self, lines: Iterable[str], is_last: Callable[[str], bool]) -> None:
        try:
            for line in lines:
                self._put(line, is_last(line))
                if self._has_ended:
                    break
        except OSError:
            pass  # no input counts as its end
        finally:
            self._put(None, True)

    def _put(self, line: str | None, has_ended: bool) -> None:
        """Append a line when there is capacity."""
        with self._changed:
            self._changed.wait_for(lambda: self._size < BUFFER_LIMIT)
            self._waiting.append((line, time.monotonic()))
            self._size += _size_of(line)
            self._has_ended = has_ended
            self._changed.notify_all()

    def next(self) -> str | None:
        """Wait for the next line."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting)
            line, _ = self._waiting.popleft()
            self._size -= _size_of(line)
            self._changed.notify_all()
        return line

    def is_waiting(self, seconds: float = 0.0) -> bool:
        """Whether a line or the end is available, or arrives within `seconds`."""
        with self._changed:
            return bool(self._changed.wait_for(lambda: self._waiting, seconds))

    def ended_since(self, began: float) -> bool:
        """Whether the last line or the end arrived during a search that started at `began`.

        Lines sent in advance, as by a script that waits for all replies, do not count.
        """
        with self._changed:
            if self._has_ended and self._waiting:
                self._ended_during_search |= self._waiting[0][1] > began + TOGETHER
            return self._ended_during_search


def _size_of(line: str | None) -> int:
    return LINE_OVERHEAD + len(line or "")


def lines_of(descriptor: int) -> Iterator[str]:
    """Yield the lines of a file descriptor as they arrive, cut at `LONGEST` characters.

    The buffer of `sys.stdin` is not used, because a blocked thread would hold its lock forever.
    """
    rest = b""
    while block := os.read(descriptor, LONGEST):
        *whole, rest = (rest + block).split(b"\n")
        yield from (line[: LONGEST + 1].decode("utf-8", "replace") for line in whole)
        rest = rest[: LONGEST + 1]
    if rest:
        yield rest.decode("utf-8", "replace")


LONGEST: Final = 1 << 16
"""Maximum line length, in characters."""
