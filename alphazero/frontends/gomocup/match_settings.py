"""What a Gomocup manager says of a match in INFO lines, none of which is ever answered.

What is wrong with one, or cannot be obeyed, is told later, with the next answer.
"""

import re
from typing import Final

from alphazero.frontends.clock import Clock, TimeSettings
from alphazero.frontends.gtp.protocol import GtpError

ENDLESS: Final = 2_147_483_647
"""Milliseconds left of a match without a limit."""

SHARE: Final = 20
"""A move may take one part in so many of the time left: our own guess, half of it in 14 moves."""

RULES: Final = {1: "exactly five in a row", 2: "a continuous game", 4: "renju", 8: "caro"}
"""Rules that change the game, as bits. Without any, five or more in a row win."""


class MatchSettings:
    """Time in seconds, rules, and notes on what was not understood."""

    def __init__(self) -> None:
        self.turn: float | None = None
        """a move's time; 0: as little as possible; None: nobody has said"""
        self.match: float | None = None
        """the time of all our moves; None: no limit"""
        self.left: float | None = None
        """what is left of it"""
        self.rule = 0
        self._notes: dict[str, str] = {}

    def read(self, text: str) -> None:
        """Read what follows INFO; keys without a meaning here are passed over, as they shall be."""
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
            self.left = None if number >= ENDLESS else seconds
        elif key == "rule":
            self.rule = number
        elif number > 0:
            self._notes[key] = "INFO max_memory is not obeyed: the player takes what it needs"

    def check_rule(self) -> None:
        """Raise GtpError unless the rule is that of the game that is played here."""
        if self.rule:
            names = [name for bit, name in RULES.items() if self.rule & bit]
            meaning = f" ({' and '.join(names)})" if names else ""
            raise GtpError(
                f"rule {self.rule}{meaning} is not played here, only rule 0: "
                "five or more in a row win"
            )

    def clock(self) -> Clock | None:
        """Return a clock that shows the time of the next move; None where there is no limit."""
        limits = [self.turn, None if self.left is None else self.left / SHARE]
        known = [seconds for seconds in limits if seconds is not None]
        return Clock(TimeSettings(main=0.0, period=min(known), stones=1)) if known else None

    def spend(self, seconds: float) -> None:
        """Take note of a move's time, until `time_left` knows better."""
        if self.left is not None:
            self.left = max(0.0, self.left - seconds)

    def restart(self) -> None:
        """Begin another match with the same limits."""
        self.left = self.match

    def take_notes(self) -> list[str]:
        """Return what is to be told, each once."""
        notes, self._notes = list(self._notes.values()), {}
        return notes
