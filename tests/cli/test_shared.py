"""With `--json` commands print objects, with the keys that the README of the folder lists."""

import shlex
import sys
from pathlib import Path

import pytest
from helpers.commands import documented, documented_keys, objects
from helpers.frontends import fake_engine
from helpers.players import saved_player
from helpers.runs.tiny_run import YAML

FAST = ("--seconds", "0.2")


@pytest.fixture
def player(tmp_path) -> Path:
    return saved_player(tmp_path / "player.safetensors")


def test_a_match_as_an_object(player, capsys):
    (result,) = objects(capsys, "match", player, "random", "--games", 4, "--seed", 3)
    assert result.keys() == documented_keys("match")
    assert result["game"] == "tic_tac_toe"
    assert result["players"] == [str(player), "random"]
    assert result["wins"] + result["draws"] + result["losses"] == result["games"] == 4
    assert result["score"] == (result["wins"] + result["draws"] / 2) / 4
    assert result["elo_low"] <= result["elo"] <= result["elo_high"]
    assert (result["forfeits"], result["seed"]) == ([], 3)


def test_forfeits_are_in_the_object(capsys):
    options = "random", "--game", "tic_tac_toe", "--games"
    cheat = shlex.join([sys.executable, "-ISu", fake_engine.__file__, "gtp", "illegal"])
    (result,) = objects(capsys, "match", f"gtp:{cheat}", *options, 2)
    assert [forfeit["game"] for forfeit in result["forfeits"]] == [1, 2]
    assert all(forfeit["player"].startswith("gtp:") for forfeit in result["forfeits"])
    assert all(f"`{key}`" in documented("match") for key in result["forfeits"][0])


def test_ratings_as_an_object(player, capsys):
    (result,) = objects(capsys, "rate", "random", player, "--games", 2)
    assert result.keys() == documented_keys("rate")
    assert result["anchor"] == "random"
    assert {row["name"] for row in result["players"]} == {str(player), "random"}
    for row in result["players"]:
        assert all(f"`{key}`" in documented("rate") for key in row)
        assert row["elo"] == 0 or row["name"] != "random"


def test_grades_get_a_line_each(tmp_path, capsys):
    player = saved_player(tmp_path / "player.safetensors", "nim")
    command = "grade", player, "--simulations", "0,2", "--min-accuracy", 1
    grades = objects(capsys, *command, code=1)
    assert [grade["simulations"] for grade in grades] == [0, 2]
    for grade in grades:
        assert grade.keys() == documented_keys("grade")
        assert grade["optimal"] / grade["positions"] == grade["share"] < 1


def test_a_checkpoint_as_an_object(player, capsys):
    (result,) = objects(capsys, "info", player)
    assert result.keys() == documented_keys("info")
    assert (result["file"], result["steps"], result["rating"]) == (str(player), 12, 25.0)
    assert result["search"]["simulations"] == 8
    assert result["network"]["blocks"] == 1
    assert result["games"] is None


def test_a_benchmark_and_a_forecast_as_objects(tmp_path, capsys):
    (tmp_path / "tiny.yaml").write_text(YAML)
    (result,) = objects(capsys, "bench", tmp_path / "tiny.yaml", *FAST)
    assert result.keys() == documented_keys("bench")
    assert result["efficiency"] == pytest.approx(result["evaluations"] / result["network_only"])
    (result,) = objects(capsys, "plan", tmp_path / "tiny.yaml", *FAST)
    assert result.keys() == documented_keys("plan")
    assert list(result["games_are"]) == ["shorter", "as random", "longest"]
    for forecast in result["games_are"].values():
        assert all(f"`{key}`" in documented("plan") for key in forecast)
