"""SECURITY.md promises what tests hold: each test that it names is there."""

import re

from helpers.paths import ROOT

PROMISES = re.sub(
    r"<!--.*?-->", "", (ROOT / ".github/SECURITY.md").read_text(encoding="utf-8"), flags=re.DOTALL
)


def test_every_test_that_a_promise_names_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PROMISES)
    assert len(named) > 25
    for path, name in named:
        assert f"\ndef {name}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{name}"


def test_every_promise_names_a_test():
    promises = re.split(r"^- ", PROMISES, flags=re.MULTILINE)[1:]
    assert len(promises) > 12
    for promise in promises:
        assert "`tests/" in promise, promise


def test_the_command_of_the_long_tests_runs_all_slow_ones_that_are_promised():
    (command,) = re.findall(r"^    (pytest .*)$", PROMISES, flags=re.MULTILINE)
    assert command.startswith("pytest -m slow -rP ")
    for path in command.split()[4:]:
        assert "mark" in (ROOT / path).read_text(encoding="utf-8")
        assert "slow" in (ROOT / path).read_text(encoding="utf-8")
        assert f"`{path}::" in PROMISES
