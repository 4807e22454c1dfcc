"""The one line in which a command tells a mistake."""

import pytest


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that was written to standard error."""
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("error: ")
    assert lines[0].isprintable()
    return lines[0]
