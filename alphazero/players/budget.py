"""The budget of a move; importing this compiles nothing."""

import math
import re
from numbers import Integral, Real
from typing import NamedTuple

from alphazero.errors import PlayerError
from alphazero.utils.tables import count_of


class Budget(NamedTuple):
    """How long a move may take; the first limit reached ends it, and None is no limit."""

    simulations: int | None = None
    """0 is the network alone"""
    seconds: float | None = None

    @classmethod
    def read(cls, text: str) -> "Budget":
        """Parse `200` or `5s`; raise PlayerError for anything else."""
        if re.fullmatch("[0-9]{1,9}", text):
            return cls(simulations=int(text))
        if re.fullmatch(r"([0-9]{1,5}(\.[0-9]{0,3})?|\.[0-9]{1,3}) ?s", text):
            seconds = float(text.removesuffix("s"))
            if seconds > 0:
                return cls(seconds=seconds)
        raise PlayerError(
            f"expected simulations, as in 200, or seconds, as in 5s; got {text[:20]!r}"
        )

    def __str__(self) -> str:
        simulations = "" if self.simulations is None else count_of(self.simulations, "simulation")
        seconds = (
            "" if self.seconds is None else f"{self.seconds:g} second{'s' * (self.seconds != 1)}"
        )
        return " or ".join(filter(None, (simulations, seconds))) + " a move"


NO_LIMIT = Budget()


def budget_of(simulations: int | None = None, seconds: float | None = None) -> Budget | None:
    """Return the budget of limits that a user may leave out; None if both are.

    Raise PlayerError for numbers that are no limits.
    """
    if not (simulations is None or (isinstance(simulations, Integral) and simulations >= 0)):
        raise PlayerError(f"simulations must be a whole number, at least 0; got {simulations!r}")
    if not (seconds is None or (isinstance(seconds, Real) and 0 < seconds < math.inf)):
        raise PlayerError(f"seconds must be a number above 0; got {seconds!r}")
    if simulations is None and seconds is None:
        return None
    return Budget(None if simulations is None else int(simulations), seconds)
