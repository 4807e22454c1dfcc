"""Progress reports of long work, and a call that does nothing."""

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[int], object]
"""Receives the number of units of work just done; a tqdm bar's `update` is one."""


def no_progress(_: int) -> None:
    """Ignore progress."""


def do_nothing() -> None:
    """Ignore a call."""
