"""Runs commands of the program in this process, and reads what their README documents."""

import json
import re
from typing import Any

import pytest

from alphazero.cli.main import main
from helpers.paths import ROOT


def exit_code(*arguments: object) -> int:
    """Run a command; return its exit code, argparse's included."""
    try:
        return main([str(each) for each in arguments])
    except SystemExit as error:
        return int(error.code or 0)


def printed_by(capsys: pytest.CaptureFixture[str], *command: object, code: int = 0) -> str:
    """Run a command that ends with a code; return its standard output."""
    capsys.readouterr()
    assert exit_code(*command) == code
    return capsys.readouterr().out


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that was written to standard error."""
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("error: ")
    assert lines[0].isprintable()
    return lines[0]


def objects(
    capsys: pytest.CaptureFixture[str], *command: object, code: int = 0
) -> list[dict[str, Any]]:
    """Run a command with `--json`; return the objects on its lines."""
    lines = printed_by(capsys, *command, "--json", code=code).splitlines()
    assert all(line.isascii() for line in lines)

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return [json.loads(line, parse_constant=refuse) for line in lines]


def documented(command: str) -> str:
    """Return the README's table of the keys that a command prints with `--json`."""
    readme = (ROOT / "alphazero/cli/README.md").read_text(encoding="utf-8")
    return re.findall(rf"<!-- json {command} -->\n(.*?)<!-- end -->", readme, re.DOTALL)[0]


def documented_keys(command: str) -> set[str]:
    """Return the keys in the README's table of a command."""
    rows = documented(command).splitlines()[2:]
    return {key for row in rows for key in re.findall(r"`([\w]+)`", row.split(" | ")[0])}
