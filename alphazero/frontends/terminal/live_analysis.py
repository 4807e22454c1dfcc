"""Live analysis: the table of candidates is redrawn in place until the search stops."""

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from alphazero.frontends.game_tree import SearchResult
from alphazero.frontends.terminal import views
from alphazero.frontends.terminal.screen import Screen
from alphazero.frontends.terminal.session import TerminalSession
from alphazero.frontends.terminal.strength import Budget

INTERVAL: Final = 0.2
"""Seconds between redraws."""

ENOUGH: Final = 1000
"""Simulations of an analysis without a terminal, which cannot be stopped."""


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
    def came(self) -> bool:
        """Whether to stop."""
        if self._enter and self.line is None:
            # Terminals deliver whole lines. `select` fails on Windows: there only Ctrl-C works.
            with contextlib.suppress(OSError, ValueError):
                descriptor = sys.stdin.fileno()
                if select.select([descriptor], [], [], 0)[0]:
                    self.line = os.read(descriptor, 4096).decode("utf-8", "replace").strip()
        return self._pressed or self.line is not None


class Analysis:
    """Searches for the user and prints the results."""

    def __init__(
        self, session: TerminalSession, screen: Screen, say: Callable[[str], None]
    ) -> None:
        self.session = session
        self.screen = screen
        self.say = say
        self._drawn = 0
        """Lines of the last drawing, which the next one overwrites."""

    def show(self, thought: SearchResult) -> None:
        """Print the candidates."""
        self.tell(self._draw(thought))

    def tell(self, text: str) -> None:
        """Print text over the drawing."""
        self.say((self.screen.over(self._drawn) if self._drawn else "") + text)
        self._drawn = 0

    def search(self, budget: Budget | None) -> SearchResult:
        """Search within `budget`, if any; Ctrl-C stops early."""
        with StopSignal(enter=False) as interruption:
            return self._search(budget, interruption) if budget else self.session.current_result()

    def run_until_stopped(self) -> str | None:
        """Search until Enter, Ctrl-C or, without a terminal, `ENOUGH` visits; return the input."""
        live = self.screen.live and sys.stdin is not None and sys.stdin.isatty()
        if live:
            self.session.hint_analyzer()
            self.say(self.screen.paint("  Enter ends the analysis.", "faint"))
        with StopSignal(enter=live) as interruption:
            thought = self._search(Budget() if live else Budget(ENOUGH), interruption)
        if interruption.line is not None and self._drawn:
            self._drawn += 1  # the cursor is a line lower after Enter
        self.show(thought)
        return interruption.line or None

    def _search(self, budget: Budget, interruption: StopSignal) -> SearchResult:
        next_time = time.monotonic() + INTERVAL

        def go_on() -> bool:
            nonlocal next_time
            if self.screen.live and time.monotonic() > next_time:
                if self.session.hint_analyzer().roots is not None:
                    self._draw_over(self.session.current_result())
                next_time = time.monotonic() + INTERVAL
            return not interruption.came

        return self.session.search(budget, go_on)

    def _draw_over(self, thought: SearchResult) -> None:
        text = self._draw(thought)
        self.tell(text)
        self._drawn = 1 + text.count("\n")

    def _draw(self, thought: SearchResult) -> str:
        session = self.session
        state = session.game_tree.state
        rows = max(1, min(8, self.screen.height - 4))
        table = views.candidates(self.screen, session.game, state, thought, rows)
        return f"{self.headline(thought)}\n{table}"

    def headline(self, thought: SearchResult) -> str:
        """Describe the position's value in a line cut to the screen width."""
        state, has_network = self.session.game_tree.state, self.session.has_network
        return views.headline(state, thought, has_network)[: self.screen.width]
