"""What is told to people: one line that says what is wrong, where, and what would be right.

Everything raised because of input from outside derives from `AlphaZeroError`; the command line
prints its text and leaves with exit code 2. Anything else that is raised is a bug of ours.
"""

import difflib
from collections.abc import Iterable


class AlphaZeroError(Exception):
    """A mistake in what came from outside: the text says where it is and how to mend it."""


class ConfigError(AlphaZeroError):
    """A configuration that cannot be used; one line for each thing that is wrong."""


class CheckpointError(AlphaZeroError):
    """A checkpoint that is missing, damaged, foreign or too new."""


class GameError(AlphaZeroError):
    """An unknown game, an option out of range, an illegal move or an unreadable diagram."""


class PlayerError(AlphaZeroError):
    """A player that is not known or cannot sit there, or a file of games that is none."""


class RunError(AlphaZeroError):
    """A run folder that cannot be used, or a training that had to stop."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` with the nearest known word, or nothing."""
    close = difflib.get_close_matches(word[:60], list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
