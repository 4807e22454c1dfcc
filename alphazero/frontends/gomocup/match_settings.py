"""Match settings from INFO lines, which get no answer: errors are part of the next answer."""

import re
from typing import Final

from alphazero.frontends.clock import Clock, TimeSettings
from alphazero.frontends.gtp.protocol import GtpError

UNLIMITED: Final = 2_147_483_647
"""The `time_left` value, in milliseconds, of a match without a limit."""

SHARE: Final = 20
"""Divisor of the time left for one move: our estimate; half the time is used in 14 moves."""

RULES: Final = {1: "exactly five in a row", 2: "a continuous game", 4: "renju", 8: "caro"}
"""Rule bits that change the game. Without any, five or more in a row win."""


class MatchSettings:
    """Time limits in seconds, rules, and pending notes on errors."""

    def __init__(self) -> None:
        self.turn: float | None = None
        """time per move; 0 for as little as possible; None if not given"""
        self.match: float | None = None
        """time of all our moves; None for no limit"""
        self.left: float | None = None
        """the rest of `match`"""
        self.rule = 0
        self._notes: dict[str, str] = {}

    def read(self, text: str) -> None:
        """Read the rest of an INFO line; unknown keys are ignored, as the protocol demands."""
        key, _, value = text.strip().partition(" ")
        if key.lower() not in ("timeout_turn", "timeout_match", "time_left", "rule", "max_memory"):
            return
        key, value = key.lower(), value.strip()
        if not re.fullmatch(r"-?[0-9]{1,18}", value, re.ASCII):
            self._notes[key] = f"INFO {key}: expected a whole number, got {value[:20]!r}"
            return
        self._notes.pop(key, None)
        number = int(value)
        seconds = max(0, number) / 1000
        if key == "timeout_turn":
            self.turn = seconds
        elif key == "timeout_match":
            self.match = self.left = seconds if number > 0 else None
        elif key == "time_left":
            self.left = None if number >= UNLIMITED else seconds
        elif key == "rule":
            self.rule = number
        elif number > 0:
            self._notes[key] = "INFO max_memory is ignored: memory is not limited"

    def check_rule(self) -> None:
        """Raise GtpError for rules other than this game's."""
        if self.rule:
            names = [name for bit, name in RULES.items() if self.rule & bit]
            meaning = f" ({' and '.join(names)})" if names else ""
            raise GtpError(
                f"rule {self.rule}{meaning} is not supported; expected rule 0: "
                "five or more in a row win"
            )

    def clock(self) -> Clock | None:
        """Return a clock with the time of the next move; None without limits."""
        limits = [self.turn, None if self.left is None else self.left / SHARE]
        known = [seconds for seconds in limits if seconds is not None]
        return Clock(TimeSettings(main=0.0, period=min(known), stones=1)) if known else None

    def spend(self, seconds: float) -> None:
        """Subtract a move's time, until the next `time_left`."""
        if self.left is not None:
            self.left = max(0.0, self.left - seconds)

    def restart(self) -> None:
        """Start another match with the same limits."""
        self.left = self.match

    def take_notes(self) -> list[str]:
        """Return the pending notes, each once."""
        notes, self._notes = list(self._notes.values()), {}
        return notes
