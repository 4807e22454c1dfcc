"""Ctrl-C, held back where it would leave a lock locked.

Python raises `KeyboardInterrupt` between any two steps of the main thread, the taking of a lock
and the `try` that would give it back among them. Another thread that needs the lock then waits
for ever, and so does whoever waits for that thread.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

STOPS = (signal.SIGINT, signal.SIGTERM)
"""What asks a program to stop: Ctrl-C, and `kill`."""


@contextmanager
def defer_interrupts(act: Callable[[], object] = bool) -> Iterator[None]:
    """Hold Ctrl-C back until the block has ended; call `act` when it comes, so that it ends soon.

    A second one is raised at once. A signal that does not raise `KeyboardInterrupt` is left as it
    is, and a thread other than the main one hears of none.
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
