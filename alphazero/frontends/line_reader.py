"""Protocol lines, read ahead by a thread while the program works."""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final

MAX_LENGTH: Final = 1 << 16
"""Maximum line length, in characters."""

MAX_LINES: Final = 100
"""Maximum number of lines that are read ahead."""

TOGETHER: Final = 0.2
"""Lines within this many seconds count as sent together."""


class Lines:
    """A read-ahead queue of lines, so that a search can stop when a new line arrives.

    None marks the end. Nothing is read after a line for which `is_last` holds.
    """

    def __init__(
        self, lines: Iterable[str], is_last: Callable[[str], bool] = lambda _: False
    ) -> None:
        self._queue: deque[tuple[str | None, float]] = deque()
        """Lines with their arrival times."""
        self._has_ended = False
        """Whether the last line or the end was read."""
        self._ended_during_search = False
        self.arrival = 0.0
        """When the line that `next` returned last arrived, by `time.monotonic()`."""
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
            self._changed.wait_for(lambda: len(self._queue) < MAX_LINES)
            self._queue.append((line, time.monotonic()))
            self._has_ended = has_ended
            self._changed.notify_all()

    def next(self) -> str | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue)
            line, self.arrival = self._queue.popleft()
            self._changed.notify_all()
        return line

    def is_waiting(self, seconds: float = 0.0) -> bool:
        """Whether a line or the end is available, or arrives within `seconds`."""
        with self._changed:
            return bool(self._changed.wait_for(lambda: self._queue, seconds))

    def ended_since(self, start: float) -> bool:
        """Whether the last line or the end arrived during a search that started at `start`.

        Lines sent in advance, as by a script that waits for all replies, do not count.
        """
        with self._changed:
            if self._has_ended and self._queue:
                self._ended_during_search |= self._queue[0][1] > start + TOGETHER
            return self._ended_during_search


def lines_of(descriptor: int) -> Iterator[str]:
    """Yield the lines of a file descriptor as they arrive, cut after `MAX_LENGTH` characters.

    The buffer of `sys.stdin` is not used, because a blocked thread would hold its lock forever.
    """
    rest = b""
    while block := os.read(descriptor, MAX_LENGTH):
        *lines, rest = (rest + block).split(b"\n")
        yield from (line[: MAX_LENGTH + 1].decode("utf-8", "replace") for line in lines)
        rest = rest[: MAX_LENGTH + 1]
    if rest:
        yield rest.decode("utf-8", "replace")
