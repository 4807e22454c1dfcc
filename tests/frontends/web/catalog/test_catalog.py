"""The players that the page offers."""

import json
from pathlib import Path

import pytest
from helpers.frontends.web_client import CHECKPOINT
from helpers.players import saved_player

from alphazero.errors import PlayerError
from alphazero.frontends.web.catalog.catalog import Catalog
from alphazero.games import make_game
from alphazero.games.registry import read_game
from alphazero.players.registry import parse_player


def test_players_of_one_name_are_shown_with_different_names(tmp_path: Path) -> None:
    copy = tmp_path / CHECKPOINT.name
    copy.write_bytes(CHECKPOINT.read_bytes())
    catalog = Catalog([parse_player(str(CHECKPOINT)), parse_player(str(copy))])
    assert list(catalog.players)[:2] == ["tic_tac_toe", "tic_tac_toe (2)"]
    assert str(tmp_path) not in json.dumps(catalog.json())


def test_a_player_that_sees_komi_is_offered_for_any_komi(tmp_path: Path) -> None:
    path = saved_player(tmp_path / "go.safetensors", "go:rows=3,columns=3,features=1")
    catalog = Catalog([parse_player(str(path))])
    player = catalog.json()["players"][0]
    assert player["free_options"] == ["features", "komi_half_points"]
    game = read_game("go:rows=3,columns=3,komi_half_points=5")
    assert catalog.player("go", game).spec.name == str(path)
    assert catalog.analysis_player(game).name == "go"
    with pytest.raises(PlayerError, match=r"go plays go:rows=3,columns=3,features=1, not go"):
        catalog.player("go", read_game("go"))


def test_a_player_at_a_level_gives_hints_by_the_budget_of_training() -> None:
    catalog = Catalog([parse_player(f"{CHECKPOINT}:level=1")])
    player = catalog.analysis_player(make_game("tic_tac_toe"))
    assert player.default_budget.label == "100 simulations, as in training"
    assert player.json()["own_level"] == 1
