"""With `--json` commands print objects, with the keys that the README of the folder lists."""

import shlex
import sys
from pathlib import Path

import pytest
from helpers.commands import documented, documented_keys, objects
from helpers.frontends import fake_gtp_engine
from helpers.players import saved_player
from helpers.runs.tiny_run import YAML

Capture = pytest.CaptureFixture[str]
FAST = ("--seconds", "0.2")


@pytest.fixture
def player(tmp_path: Path) -> Path:
    return saved_player(tmp_path / "player.safetensors")


def test_a_match_as_an_object(player: Path, capsys: Capture) -> None:
    (found,) = objects(capsys, "match", player, "random", "--games", 4, "--seed", 3)
    assert found.keys() == documented_keys("match")
    assert found["game"] == "tic_tac_toe"
    assert found["players"] == [str(player), "random"]
    assert found["wins"] + found["draws"] + found["losses"] == found["games"] == 4
    assert found["score"] == (found["wins"] + found["draws"] / 2) / 4
    assert found["elo_low"] <= found["elo"] <= found["elo_high"]
    assert (found["verdict"], found["forfeits"], found["seed"]) == (None, [], 3)


def test_the_verdict_of_a_sequential_test_and_forfeits_are_in_the_object(capsys: Capture) -> None:
    named = "random", "--game", "tic_tac_toe", "--games"
    (found,) = objects(capsys, "match", "uct:100", *named, 200, "--sprt", "0,100")
    assert found["verdict"] is True
    assert found["games"] < 200
    cheat = shlex.join([sys.executable, "-ISu", fake_gtp_engine.__file__, "illegal"])
    (found,) = objects(capsys, "match", f"gtp:{cheat}", *named, 2)
    assert [each["game"] for each in found["forfeits"]] == [1, 2]
    assert all(each["player"].startswith("gtp:") for each in found["forfeits"])
    assert all(f"`{key}`" in documented("match") for key in found["forfeits"][0])


def test_ratings_as_an_object(player: Path, capsys: Capture) -> None:
    (found,) = objects(capsys, "rate", player, "random", "--games", 2)
    assert found.keys() == documented_keys("rate")
    assert found["anchor"] == "random"
    assert {each["name"] for each in found["players"]} == {str(player), "random"}
    for each in found["players"]:
        assert all(f"`{key}`" in documented("rate") for key in each)
        assert each["elo"] == 0 or each["name"] != "random"
        assert each["minutes"] is None


def test_grades_get_a_line_each(player: Path, capsys: Capture) -> None:
    command = "grade", player, "--simulations", "0,2", "--min-accuracy", 1
    found = objects(capsys, *command, code=1)
    assert [each["simulations"] for each in found] == [0, 2]
    for each in found:
        assert each.keys() == documented_keys("grade")
        assert each["optimal"] / each["positions"] == each["share"] < 1


def test_a_checkpoint_as_an_object(player: Path, capsys: Capture) -> None:
    (found,) = objects(capsys, "info", player)
    assert found.keys() == documented_keys("info")
    assert (found["file"], found["steps"], found["rating"]) == (str(player), 12, 25.0)
    assert found["search"]["simulations"] == 8
    assert found["network"]["blocks"] == 1
    assert found["games"] is None


def test_a_benchmark_and_a_forecast_as_objects(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "tiny.yaml").write_text(YAML)
    (found,) = objects(capsys, "bench", tmp_path / "tiny.yaml", *FAST)
    assert found.keys() == documented_keys("bench")
    assert found["efficiency"] == pytest.approx(found["evaluations"] / found["network_only"])
    (found,) = objects(capsys, "plan", tmp_path / "tiny.yaml", *FAST)
    assert found.keys() == documented_keys("plan")
    assert list(found["games_are"]) == ["shorter", "as random", "longest"]
    for each in found["games_are"].values():
        assert all(f"`{key}`" in documented("plan") for key in each)
