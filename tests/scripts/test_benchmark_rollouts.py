"""The script that measures rollouts: its yardstick can play, and it says what is missing."""

import runpy
import sys
from random import Random
from typing import Any

import pytest
from helpers.paths import ROOT

SCRIPT = ROOT / "scripts" / "benchmark_rollouts.py"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def run(monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    monkeypatch.setattr(sys, "argv", ["benchmark_rollouts.py", *options])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    return int(ended.value.code or 0)


def test_the_plain_search_wins_at_once_and_knows_the_centre(script: dict[str, Any]) -> None:
    board = script["Board"](3, 3, 2, False)  # two in a line: the first player's second stone wins
    root = script["plain_uct"](board, 2_000, Random(0))
    assert sum(child.visits for child in root.children.values()) == 2_000
    assert -root.total / root.visits > 0.7  # for the one who moves first

    board = script["Board"](3, 3, 3, False)
    root = script["plain_uct"](board, 3_000, Random(0))
    assert max(root.children, key=lambda cell: root.children[cell].visits) == 4


def test_stones_fall_and_lines_are_seen_in_plain_python(script: dict[str, Any]) -> None:
    board = script["Board"](6, 7, 4, True)
    cells, free = board.cells.copy(), board.first.copy()
    results = [
        board.play(cells, free, column, player)
        for column, player in ((3, 1), (4, -1), (3, 1), (4, -1), (3, 1), (4, -1), (3, 1))
    ]
    assert results == [0, 0, 0, 0, 0, 0, 1]
    assert [cells[row * 7 + 3] for row in range(6)] == [0, 0, 1, 1, 1, 1]


def test_without_openspiel_its_column_is_empty_and_the_rest_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    assert run(monkeypatch, "--simulations", "20", "--repeats", "1") == 0
    missing, header, _, *rows = capsys.readouterr().out.splitlines()
    assert missing.startswith("OpenSpiel is missing")
    assert "pip install open_spiel" in missing
    assert len(rows) == 8
    for place, row in enumerate(rows):
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        assert len(cells) == header.count("|") - 1
        assert cells[2] == cells[5] == ""
        in_plain_python = (1, 6) if place < 4 else ()
        assert all(float(cells[column].replace(",", "")) > 0 for column in (3, 4, *in_plain_python))


def test_no_threads_are_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--threads", "0") == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.endswith("argument --threads: expected a whole number from 1 on, got 0")
