"""Errors for users: one line with the fault, its place and what would be right.

Every error caused by outside input derives from `AlphaZeroError`; the command line prints its text
and exits with code 2. Any other exception is a bug.
"""

import difflib
from collections.abc import Iterable


class AlphaZeroError(Exception):
    """Wrong outside input; the text says where it is and how to fix it."""


class ConfigError(AlphaZeroError):
    """An invalid configuration; the text has one line per fault."""


class CheckpointError(AlphaZeroError):
    """A checkpoint that is missing, damaged, foreign or of a newer format."""


class GameError(AlphaZeroError):
    """An unknown game, an option out of range, an illegal move or an invalid diagram."""


class PlayerError(AlphaZeroError):
    """An unknown or unsuitable player, or an invalid file of games."""


class RunError(AlphaZeroError):
    """An unusable run folder or file, or a training run that had to stop."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` with the nearest known word, or an empty text."""
    close = difflib.get_close_matches(word[:60], list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
