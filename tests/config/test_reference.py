"""The reference of the configuration agrees with its schema, its table and the shipped files."""

import pytest
from helpers.paths import CONFIGS

from alphazero.cli.main import main
from alphazero.config.loader import load_config, parse_config
from alphazero.config.reference import describe_keys, find_keys, keys_table

SHIPPED = sorted(CONFIGS.glob("*.yaml"))


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["config", *map(str, words)]) == 0
    return capsys.readouterr().out


def test_the_table_of_keys_is_the_one_of_the_readme():
    text = (CONFIGS / "README.md").read_text(encoding="utf-8")
    assert f"<!-- keys -->\n{keys_table()}\n<!-- end -->" in text


def test_a_key_is_found_by_its_name_and_its_section(capsys):
    for name in ("search.mcts_solver", "mcts_solver"):
        assert [row.name for row in find_keys(name)] == ["search.mcts_solver"]
    assert {row.section for row in find_keys("gate")} == {"gate"}
    text = printed(capsys, "search.c_puct")
    for part in ("exploration constant", "default: 1.4", "range: at least 0", "pb_c_init"):
        assert part in text
    assert printed(capsys).count("default: ") == len(describe_keys())


def test_a_mistyped_key_is_one_line(only_line):
    line = "error: no key or section 'search.cpuct'; did you mean 'search.c_puct'?"
    assert only_line("config", "search.cpuct") == line
    assert only_line("config", "search.c_puct", SHIPPED[0])
    assert only_line("config", "search.c_puct=3")


def test_a_file_is_shown_with_every_default_and_loads_to_the_same(capsys):
    for path in SHIPPED:
        assert parse_config(printed(capsys, path)) == load_config(path)
    changed = parse_config(printed(capsys, path, "search.c_puct=3"))
    assert changed == load_config(path, ["search.c_puct=3"])
