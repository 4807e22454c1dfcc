"""Tables line up as text, come back from CSV, and replace only a table of their own kind."""

import csv

import pytest

from alphazero.errors import RunError
from alphazero.utils.tables import align, check_csv, markdown_table, save_csv


def test_columns_line_up():
    assert align([("", "a", "run b"), ("loss", "1.5", "12"), ("elo", "-", "")]) == (
        "        a  run b\nloss  1.5     12\nelo     -"
    )


def test_a_table_in_markdown_has_a_head_a_rule_and_its_rows():
    assert markdown_table(("a", "b"), [("1", ""), ("x | y", "||")]).splitlines() == [
        "| a | b |",
        "| --- | --- |",
        "| 1 |  |",
        "| x &#124; y | &#124;&#124; |",
    ]
    assert markdown_table(["a"], []) == "| a |\n| --- |"


def test_a_table_comes_back_from_its_file(tmp_path):
    path = tmp_path / "a.csv"
    save_csv(path, ["run", "a key"], [["one, two", "[1, 2]"], ['"', 3.0], ["x", 0.1 + 0.2]])
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["run", "a key"], ["one, two", "[1, 2]"], ['"', "3"], ["x", repr(0.1 + 0.2)]]


def test_only_a_table_with_the_same_first_column_is_replaced(tmp_path):
    path = tmp_path / "a.csv"
    check_csv(path, "run")
    path.write_text("")
    check_csv(path, "run")
    save_csv(path, ["run", "x"], [])
    check_csv(path, "run")
    for first in ("ru", "player"):
        with pytest.raises(RunError, match=r"a\.csv: the file holds no such table; remove it"):
            check_csv(path, first)
    assert path.read_text() == "run,x\n"
