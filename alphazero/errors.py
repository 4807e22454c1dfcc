"""What is told to people: one line that says what is wrong, where, and what would be right.

Everything raised because of input from outside derives from `AlphaZeroError`; the command line
prints its text and leaves with exit code 2. Anything else that is raised is a bug of ours.
"""


class AlphaZeroError(Exception):
    """A mistake in what came from outside: the text says where it is and how to mend it."""


class ConfigError(AlphaZeroError):
    """A configuration that cannot be used; one line for each thing that is wrong."""


class CheckpointError(AlphaZeroError):
    """A checkpoint that is missing, damaged, foreign or too new."""


class GameError(AlphaZeroError):
    """An unknown game, an option out of range, an illegal move or an unreadable diagram."""


class RunError(AlphaZeroError):
    """A run folder that cannot be used, or a training that had to stop."""
