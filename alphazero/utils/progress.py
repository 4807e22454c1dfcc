"""Progress of long work: bars, lines above them, events for programs, and what stops it."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

if TYPE_CHECKING:
    from tqdm import tqdm

Progress: TypeAlias = Callable[[int], object]
"""Receives the number of units of work just done; a tqdm bar's `update` is one."""

Observer: TypeAlias = Callable[[dict[str, Any]], object]
"""Receives an event as a dict: its kind as `event`, and its fields.

What it returns of the event `iteration`, a dict of numbers by name, is drawn beside the curves.
"""


HANGUP = getattr(signal, "SIGHUP", None)  # Windows has none
STOPS = (signal.SIGINT, signal.SIGTERM, *([HANGUP] if HANGUP else []))
"""Signals that stop a program: Ctrl-C, `kill`, and the end of its terminal."""


def interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    """Raise KeyboardInterrupt, as a handler of `STOPS`.

    After `kill` or the end of a terminal, which may be told several times, no further hang-up
    disturbs the program while it saves its work.
    """
    if HANGUP and number != signal.SIGINT:
        signal.signal(HANGUP, signal.SIG_IGN)
    raise KeyboardInterrupt


def do_nothing(*_: object) -> None:
    """Ignore progress, an event or a call."""


no_progress = no_observer = do_nothing


@contextmanager
def defer_interrupts(act: Callable[[], object] = do_nothing) -> Iterator[None]:
    """Defer Ctrl-C to the end of the block; `act` is called at once and may end the block early.

    For a block that holds a lock: Python raises `KeyboardInterrupt` even between acquiring the lock
    and the `try` that would release it, and other threads would wait for ever. And for one that
    calls LLVM, which loses what its callbacks raise. A second Ctrl-C is raised at once. Only
    signals whose handler raises `KeyboardInterrupt` are deferred, and only in the main thread.
    """
    received: list[int] = []

    def receive(number: int, frame: FrameType | None) -> None:
        if not received:
            received.append(number)
            act()
        elif number != HANGUP:
            interrupt(number, frame)

    ours = {
        number: handler
        for number in STOPS
        if threading.current_thread() is threading.main_thread()
        and (handler := signal.getsignal(number)) in (interrupt, signal.default_int_handler)
    }
    for number in ours:
        signal.signal(number, receive)
    try:
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
    if received:
        interrupt(received[0], None)


class _Bars:
    hidden = False
    """Whether bars are invisible on a terminal too."""


def progress_bar(total: int, unit: str, **options: Any) -> "tqdm[Any]":
    """Return a tqdm bar with `options` on standard error, invisible where that is no terminal."""
    from tqdm import tqdm

    hidden = _Bars.hidden or None  # None: tqdm asks whether there is a terminal
    return tqdm(total=total, unit=unit, leave=False, disable=hidden, **options)


def shows_bars() -> bool:
    """Whether bars are visible."""
    return not _Bars.hidden and sys.stderr is not None and sys.stderr.isatty()


def passing_line(text: str, elsewhere: str) -> "tqdm[Any] | None":
    """Show `text` on a terminal until the bar returned is closed; print another one `elsewhere`."""
    from tqdm import tqdm

    if shows_bars():
        return tqdm(desc=text, bar_format="{desc}", leave=False)
    if elsewhere and not _Bars.hidden:
        print(elsewhere, file=sys.stderr, flush=True)
    return None


@contextmanager
def without_bars() -> Iterator[None]:
    """Hide all bars in the block."""
    before, _Bars.hidden = _Bars.hidden, True
    try:
        yield
    finally:
        _Bars.hidden = before


def say(text: str) -> None:
    """Print a line on standard output, above the bar if one is shown."""
    from tqdm import tqdm

    tqdm.write(text, file=sys.stdout)
