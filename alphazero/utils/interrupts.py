"""Deferred Ctrl-C, for code that must not be interrupted while it holds a lock.

Python raises `KeyboardInterrupt` between any two steps of the main thread, even between acquiring a
lock and the `try` that would release it. Other threads then wait for the lock for ever.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from alphazero.utils.progress import do_nothing

STOPS = (signal.SIGINT, signal.SIGTERM)
"""Signals that stop a program: Ctrl-C and `kill`."""


@contextmanager
def defer_interrupts(act: Callable[[], object] = do_nothing) -> Iterator[None]:
    """Defer Ctrl-C to the end of the block; `act` is called at once and may end the block early.

    A second Ctrl-C is raised at once. Only signals whose handler raises `KeyboardInterrupt` are
    deferred, and only in the main thread.
    """
    received: list[int] = []

    def receive(number: int, frame: FrameType | None) -> None:
        if received:
            signal.default_int_handler(number, frame)
        received.append(number)
        act()

    ours = [
        number
        for number in STOPS
        if threading.current_thread() is threading.main_thread()
        and signal.getsignal(number) is signal.default_int_handler
    ]
    for number in ours:
        signal.signal(number, receive)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.default_int_handler)
    if received:
        raise KeyboardInterrupt
