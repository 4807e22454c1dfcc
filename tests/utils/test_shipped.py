"""Configurations and players by name, in any folder."""

import tomllib
from pathlib import Path

import pytest
from helpers.commands import exit_code
from helpers.paths import ROOT

from alphazero.config.loader import load_config
from alphazero.network.checkpoint import find_checkpoint
from alphazero.utils.shipped import find_shipped, shipped_configs, shipped_players

ONLY_IN_THE_REPOSITORY = {
    "checkpoints/go_9x9_large.levels.json",
    "checkpoints/go_9x9_large.safetensors",
}
"""`integration/test_wheel.py` limits the wheel to 22 MB."""


def test_the_wheel_holds_every_configuration_and_player_but_the_larger_one_of_go():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included.pop("configs") == "alphazero/shipped/configs"
    files = [*shipped_players().values(), *(ROOT / "checkpoints").glob("*.levels.json")]
    names = {f"checkpoints/{path.name}" for path in files} - ONLY_IN_THE_REPOSITORY
    assert included == {name: f"alphazero/shipped/{name}" for name in names}
    assert {"connect_four", "go_9x9", "tic_tac_toe"} <= shipped_players().keys()
    assert {"connect_four", "go_9x9", "nim"} <= shipped_configs().keys()


def test_a_name_stands_for_its_file_unless_there_is_such_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shipped = {"one": tmp_path / "far" / "one.yaml"}
    assert find_shipped("one", shipped) == shipped["one"]
    assert find_shipped("two", shipped) == Path("two")
    Path("one").mkdir()
    assert find_shipped("one", shipped) == Path("one")


def test_names_work_in_an_empty_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert load_config("nim", ["run.seed=5"]).run.name == "nim"
    assert find_checkpoint(Path("hex_7x7")) == ROOT / "checkpoints" / "hex_7x7.safetensors"
    assert exit_code("config", "nim") == 0
    assert "name: nim" in capsys.readouterr().out
    assert exit_code("info", "hex_7x7") == 0
    assert "hex" in capsys.readouterr().out
    options = ("--games", "2", "--opening-moves", "0")
    assert exit_code("match", "tic_tac_toe:simulations=4", "random", *options) == 0
    assert capsys.readouterr().out.startswith("tic_tac_toe:simulations=4 against random")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["train", "nimm"], "nim"),
        (["train", "configs/nim.yaml"], "nim"),
        (["info", "hex_7x"], "hex_7x7"),
        (["info", "checkpoints/hex_7x7.safetensors"], "hex_7x7"),
        (["play", "go_9"], "go_9x9"),
    ],
)
def test_a_misspelt_name_is_answered_with_a_suggestion(
    arguments: list[str], name: str, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert exit_code(*arguments) == 2
    assert f"; did you mean '{name}'?" in capsys.readouterr().err


def test_players_are_listed_with_size_training_and_strength(capsys):
    assert exit_code("info") == 0
    lines = capsys.readouterr().out.splitlines()
    begin = lines.index("players")
    first = next(index for index in range(begin, len(lines)) if "tic_tac_toe " in lines[index])
    assert "3 blocks x 32 filters, 0.4 MB; 0.1 million evaluations" in lines[first]
    assert lines[first + 1].strip().endswith("13,306 of 13,306 positions optimal (100.00%)")
