"""Ratings of a tournament beside the players of the page."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from helpers.frontends.web_client import CHECKPOINT

from alphazero.arena.bradley_terry import Ratings
from alphazero.arena.tournament import Standing, Tournament, save_standings, standings
from alphazero.errors import AlphaZeroError
from alphazero.frontends.web.catalog.catalog import Catalog
from alphazero.frontends.web.catalog.ratings import RatingTable, split_name
from alphazero.games import make_game
from alphazero.players.registry import parse_player


def test_levels_are_labelled_with_the_ratings_of_a_tournament(tmp_path: Path) -> None:
    game = make_game("tic_tac_toe")
    players = [
        parse_player(name) for name in ("random", "uct:simulations=100", "uct:simulations=9")
    ]
    tournament = Tournament(game, players, 4, folder=tmp_path / "games")
    tournament.play()
    rows, _ = standings(tournament, 0)
    save_standings(tmp_path / "table.csv", rows)
    setup = Catalog(ratings=RatingTable([tmp_path / "games"])).json()
    uct = next(player for player in setup["players"] if player["name"] == "uct")
    known = {each["label"]: each["by_game"] for each in uct["budgets"]}
    wanted = next(row for row in rows if row.name == "uct:simulations=100")
    assert known["100 simulations"]["tic_tac_toe"]["elo"] == pytest.approx(wanted.elo)
    assert known["100 simulations"]["tic_tac_toe"]["high"] == pytest.approx(wanted.elo_high)
    assert known["1,000 simulations"] == {}
    assert RatingTable([tmp_path / "table.csv"]).of(parse_player("uct"), 100) == ()  # no game named


def test_a_checkpoint_is_known_by_its_content_or_its_path(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text(
        f"player,elo,elo_low,elo_high\n{CHECKPOINT}:simulations=16,300,200,400\n"
        f"{CHECKPOINT},500,450,550.5\nother/{CHECKPOINT.name}:simulations=64,1,1,1\n"
    )
    setup = Catalog([parse_player(str(CHECKPOINT))], ratings=RatingTable([table])).json()
    levels = {level["simulations"]: level for level in setup["players"][0]["budgets"]}
    assert levels[16]["by_game"] == {"tic_tac_toe": {"elo": 300, "low": 200, "high": 400}}
    assert levels[100]["by_game"]["tic_tac_toe"]["high"] == 550.5  # as in training
    assert levels[64]["by_game"] == {}
    assert [split_name(name) for name in ("network:a/b", "uct", "c:/x:simulations=3")] == [
        ("a/b", "simulations=0"),
        ("uct", ""),
        ("c:/x", "simulations=3"),
    ]


def test_an_open_end_of_an_interval_is_null(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"{CHECKPOINT}:simulations=16"
    rows = [Standing(name, 90.0, -math.inf, math.inf, 2, 1, 0, 1)]
    save_standings(tmp_path / "table.csv", rows)
    specs = [parse_player("random"), parse_player(name)]
    Tournament(make_game("tic_tac_toe"), specs, 2, folder=tmp_path).play()
    ends = np.array([0, -math.inf]), np.array([0, math.inf])
    fitted = Ratings(np.array([0.0, 90.0]), *ends, 0.0, 0.0)
    monkeypatch.setattr("alphazero.frontends.web.catalog.ratings.fit", lambda *_: fitted)
    for path in (tmp_path / "table.csv", tmp_path):
        setup = Catalog([parse_player(str(CHECKPOINT))], ratings=RatingTable([path])).json()
        json.dumps(setup, allow_nan=False)
        levels = {level["simulations"]: level for level in setup["players"][0]["budgets"]}
        assert levels[16]["by_game"] == {"tic_tac_toe": {"elo": 90, "low": None, "high": None}}


@pytest.mark.parametrize(
    "text",
    [
        *("", "a,b\n1,2\n", "\0"),
        *(f"player,elo,elo_low,elo_high\nx,{row}\n" for row in ("1,nan,3", "inf,1,3", "1,inf,inf")),
    ],
)
def test_files_that_hold_no_ratings_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.csv").write_text(text)
    if text:
        with pytest.raises(AlphaZeroError, match="no ratings"):
            RatingTable([tmp_path / "x.csv"])
    with pytest.raises(AlphaZeroError):
        RatingTable([tmp_path])
