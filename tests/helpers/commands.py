"""Runs commands of the program in this process."""

from collections.abc import Callable

import pytest

from alphazero.cli.main import main

OnlyLine = Callable[..., str]
"""The type of the fixture `only_line`."""


def exit_code(*arguments: object) -> int:
    """Run a command; return its exit code, argparse's included."""
    try:
        return main([str(each) for each in arguments])
    except SystemExit as error:
        return int(error.code or 0)


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that was written to standard error."""
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("error: ")
    assert lines[0].isprintable()
    return lines[0]
