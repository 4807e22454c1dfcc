"""Runs are compared by what was measured, at the end and at equal evaluations."""

import csv
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.commands import OnlyLine
from helpers.runs.made_run import made_run

from alphazero.cli import main as cli
from alphazero.diagnostics.runs.comparison import (
    compared_curves,
    describe,
    differing_keys,
    read_runs,
)
from alphazero.errors import RunError


def curve(last: int, value: Callable[[int], float], every: int = 1) -> dict[int, float]:
    return {iteration: value(iteration) for iteration in range(every, last + 1, every)}


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """A run of 4 iterations, 100 evaluations each, and one of 6, 150 each."""
    folders = []
    for name, last, each, filters in (("short", 4, 100, 8), ("long", 6, 150, 16)):
        curves = {
            "selfplay/evaluations": curve(last, lambda i, each=each: each * i),
            "selfplay/positions": curve(last, lambda i: 10.0 * i),
            "seconds/play": curve(last, lambda _: 60.0),
            "seconds/learn": curve(last, lambda _: 30.0),
            "loss/total": curve(last, lambda i: 3 - i / 8),
            "anchors/elo": curve(last, lambda i, each=each: i * each, every=2),
            "gate/elo": {2: math.inf},
        }
        overrides = [f"network.filters={filters}", f"run.name={name}", "run.trackers=[]"]
        folders.append(made_run(tmp_path / name, curves, *overrides))
    return folders


def cells(table: str) -> dict[str, list[list[str]]]:
    """Return the rows of a table by their first cell, in order."""
    rows: dict[str, list[list[str]]] = {}
    for line in table.splitlines():
        first, *others = [cell.strip() for cell in line.split("  ") if cell.strip()] or [""]
        rows.setdefault(first, []).append(others)
    return rows


def test_the_table_has_last_values_and_values_at_equal_evaluations(runs: list[Path]) -> None:
    table = cells(describe(read_runs(runs)))
    assert table["short"] == [["long"]]
    assert table["network.filters"] == [["8", "16"]]
    assert [name for name in table if name.startswith("run.")] == []
    assert table["iterations"] == [["4", "6"], ["4", "2"]]
    assert table["evaluations"] == [["400", "900"], ["400", "300"]]
    assert table["samples"] == [["40", "60"], ["40", "20"]]
    assert table["hours"] == [["0.100", "0.150"], ["0.100", "0.0500"]]
    assert table["loss/total"] == [["2.50", "2.25"], ["2.50", "2.75"]]
    assert table["anchors/elo"] == [["400", "900"], ["400", "300"]]
    assert "at 400 evaluations" in table
    assert "gate/elo" not in table, "it was never finite"
    assert "seconds/play" not in table


def test_equal_runs_have_no_second_part(runs: list[Path], tmp_path: Path) -> None:
    again = tmp_path / "elsewhere" / "short"
    again.parent.mkdir()
    again.symlink_to(runs[0], target_is_directory=True)
    with pytest.raises(RunError, match="elsewhere/short is named twice"):
        read_runs([runs[0], again])
    again.unlink()
    runs[0].rename(again)
    made_run(runs[0], {"selfplay/evaluations": {1: 400.0}}, "network.filters=8")
    table = describe(read_runs([again, runs[0]]))
    assert "no key differs" in table
    assert "at 400 evaluations" not in table
    head = table.splitlines()[0].split()
    assert head == [str(again), str(runs[0])], "runs of one name are listed by their paths"


def test_points_lie_at_what_was_spent_until_then(runs: list[Path]) -> None:
    _, long = read_runs(runs)
    assert long.points("anchors/elo", "iterations") == [(2, 300), (4, 600), (6, 900)]
    assert long.points("anchors/elo", "evaluations") == [(300, 300), (600, 600), (900, 900)]
    assert long.points("anchors/elo", "samples") == [(20, 300), (40, 600), (60, 900)]
    hours = [x for x, _ in long.points("anchors/elo", "hours")]
    assert hours == pytest.approx([0.05, 0.1, 0.15])
    assert long.points("loss/value", "hours") == []
    assert long.value("anchors/elo", 599) == 300
    assert long.value("anchors/elo", 100) is None
    assert list(compared_curves([long])) == ["anchors/elo", "loss/total"]


def test_the_csv_has_a_row_for_each_iteration(runs: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    assert cli.main(["compare", *map(str, runs), "--save", str(path)]) == 0
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["run"], row["iterations"]) for row in rows] == [
        *(("short", str(i)) for i in range(1, 5)),
        *(("long", str(i)) for i in range(1, 7)),
    ]
    assert [row["network.filters"] for row in rows] == ["8"] * 4 + ["16"] * 6
    assert [row["anchors/elo"] for row in rows[4:]] == ["", "300", "", "600", "", "900"]
    assert float(rows[-1]["loss/total"]) == 2.25
    assert float(rows[-1]["hours"]) == pytest.approx(0.15)
    assert differing_keys(read_runs(runs)) == {"network.filters": ["8", "16"]}


def test_a_folder_without_curves_is_one_line(
    runs: list[Path], tmp_path: Path, only_line: OnlyLine
) -> None:
    line = only_line("compare", runs[0], tmp_path)
    assert f"{tmp_path / 'tensorboard'} has no curves" in line
