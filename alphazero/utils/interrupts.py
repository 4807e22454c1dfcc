"""Deferred Ctrl-C, for code that an interrupt would leave with a locked lock.

Python raises `KeyboardInterrupt` between any two steps of the main thread, also between taking a
lock and the `try` that would release it. Other threads then wait for the lock for ever.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPS = (signal.SIGINT, signal.SIGTERM)
"""Signals that ask a program to stop: Ctrl-C, and `kill`."""


@contextmanager
def defer_interrupts(act: Callable[[], object] = bool) -> Iterator[None]:
    """Defer Ctrl-C to the end of the block; call `act` when it comes, so that the block ends soon.

    A second one is raised at once. A signal whose handler does not raise `KeyboardInterrupt` is not
    deferred, nor is any signal outside the main thread.
    """
    heard: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        if heard:
            signal.default_int_handler(number, frame)
        heard.append(number)
        act()

    ours = [
        number
        for number in STOPS
        if threading.current_thread() is threading.main_thread()
        and signal.getsignal(number) is signal.default_int_handler
    ]
    for number in ours:
        signal.signal(number, hear)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.default_int_handler)
    if heard:
        raise KeyboardInterrupt
