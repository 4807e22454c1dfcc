"""Live analysis: the candidates are redrawn in place until the search stops."""

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.control import Control

from alphazero.frontends.terminal import views
from alphazero.frontends.terminal.screen import PlainConsole
from alphazero.frontends.terminal.session import TerminalSession
from alphazero.players.budget import Budget
from alphazero.players.position_search import SearchResult

INTERVAL: Final = 0.2
"""Seconds between redraws."""

ENOUGH: Final = 1000
"""Simulations of an analysis without a terminal, which cannot be stopped."""

View = Callable[[PlainConsole, TerminalSession, SearchResult], RenderableType]
"""Draws a search result."""


@dataclass
class CommandContext:
    """The objects that commands work on."""

    session: TerminalSession
    console: PlainConsole
    typed: str | None = None
    """Input typed during a command, to be read next."""


class StopSignal:
    """Context manager that catches Ctrl-C and, with `enter`, a typed line."""

    def __init__(self, enter: bool) -> None:
        self.line: str | None = None
        """The typed line."""
        self._enter = enter
        self._pressed = False
        self._former: Any = None

    def __enter__(self) -> "StopSignal":
        if threading.current_thread() is threading.main_thread():
            self._former = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(self, *_: object) -> None:
        if self._former is not None:
            signal.signal(signal.SIGINT, self._former)

    def _press(self, *_: object) -> None:
        self._pressed = True

    @property
    def is_set(self) -> bool:
        if self._enter and self.line is None:
            # Terminals deliver whole lines. `select` fails on Windows: there only Ctrl-C works.
            with contextlib.suppress(OSError, ValueError):
                descriptor = sys.stdin.fileno()
                if select.select([descriptor], [], [], 0)[0]:
                    self.line = os.read(descriptor, 4096).decode("utf-8", "replace").strip()
        return self._pressed or self.line is not None


def analyze(context: CommandContext) -> None:
    """Search until Enter, Ctrl-C or, without a terminal, `ENOUGH` visits."""
    live = context.console.is_terminal and sys.stdin is not None and sys.stdin.isatty()
    if live:
        context.session.hint_analyzer()  # raises before the next line is printed
        context.console.print("  Enter ends the analysis.", style="dim")
    search(context, Budget() if live else Budget(ENOUGH), enter=live)


def search(
    context: CommandContext,
    budget: Budget | None,
    view: View = views.candidates,
    enter: bool = False,
) -> None:
    """Search within `budget`, if any, and print a view of the result.

    Ctrl-C stops early; with `enter` a typed line does so, too, and is kept in `context.typed`.

    Raises:
        PlayerError: as `TerminalSession.hint_analyzer`.
    """
    console, session = context.console, context.session
    due = time.monotonic() + INTERVAL
    with StopSignal(enter) as stop, console.live() as live:

        def is_wanted() -> bool:
            nonlocal due
            if console.is_terminal and time.monotonic() > due:
                if session.hint_analyzer().roots is not None:
                    # The empty line is for the cursor.
                    drawing = views.candidates(console, session, session.current_result())
                    live.update(Group(drawing, ""), refresh=True)
                due = time.monotonic() + INTERVAL
            return not stop.is_set

        result = session.search(budget, is_wanted) if budget else session.current_result()
        if stop.line is not None and live.get_renderable():
            console.control(Control.move(0, -1))  # Enter has moved the cursor down
    console.print(view(console, session, result))
    context.typed = stop.line or None
