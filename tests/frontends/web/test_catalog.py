"""The players that the page offers; those of runs are read anew for each game."""

import json
import os

import pytest
from helpers.frontends.web_client import CHECKPOINT, PERSON, serving
from helpers.players import ANY_SIZE, saved_player

from alphazero.errors import PlayerError
from alphazero.frontends.web.catalog import Catalog, Side
from alphazero.games import make_game
from alphazero.games.registry import read_game
from alphazero.players.budget import Budget
from alphazero.players.registry import parse_player


def test_players_of_one_name_are_shown_with_different_names(tmp_path):
    copy = tmp_path / CHECKPOINT.name
    copy.write_bytes(CHECKPOINT.read_bytes())
    catalog = Catalog([parse_player(str(CHECKPOINT)), parse_player(str(copy))])
    assert list(catalog.players)[:2] == ["tic_tac_toe", "tic_tac_toe (2)"]
    assert str(tmp_path) not in json.dumps(catalog.json())


def test_games_have_different_titles_and_those_and_players_that_are_named_come_first(tmp_path):
    path = saved_player(tmp_path / "go.safetensors", "go:rows=3,columns=3,features=1")
    specs = parse_player(str(path)), parse_player("uct:simulations=50")
    catalog = Catalog(specs, [read_game("go:rows=3,columns=3")])
    assert next(iter(catalog.games)) == "go:rows=3,columns=3"
    assert catalog.analysis_player(make_game("nim")).name == "uct:simulations=50"
    games = {game["title"]: game for game in catalog.json()["games"]}
    assert len(games) == len(catalog.games)
    assert {"Tic Tac Toe 3 x 3", "Go 3 x 3, komi 7.5", "Go 9 x 9, komi 7.5"} <= games.keys()
    words = {option["name"]: option["words"] for option in games["Go 9 x 9, komi 7.5"]["options"]}
    assert words.keys() == {"rows", "columns", "komi_half_points", "superko", "suicide", "moves"}
    assert words["superko"] == ("simple", "positional", "situational")
    assert words["rows"] is None


def test_games_that_a_network_plays_come_before_the_others(tmp_path):
    path = saved_player(tmp_path / "hex.safetensors", "hex:size=4,swap=1")
    games = list(Catalog([parse_player(str(path))]).games)
    assert games[:2] == ["hex:size=4,swap=1", "breakthrough"]
    assert "hex" in games


def test_a_player_that_sees_komi_is_offered_for_any_komi(tmp_path):
    path = saved_player(tmp_path / "go.safetensors", "go:rows=3,columns=3,features=1")
    catalog = Catalog([parse_player(str(path))])
    game = read_game("go:rows=3,columns=3,komi_half_points=5")
    assert catalog.player("go", game).spec.name == str(path)
    assert catalog.analysis_player(game).name == catalog.names_for(game)[0] == "go"
    assert "go" not in catalog.names_for(read_game("go"))
    with pytest.raises(PlayerError, match=r"go plays go:rows=3,columns=3,features=1, not go"):
        catalog.player("go", read_game("go"))


@pytest.mark.parametrize(
    ("options", "level", "budget"),
    [
        ("", 4, None),
        (":level=7", 7, None),
        (":simulations=5", None, Budget(5)),
        (":seconds=2", None, Budget(seconds=2)),
    ],
)
def test_a_player_plays_and_analyzes_as_the_command_line_says(
    options: str, level: int | None, budget: Budget | None
):
    player = Catalog([parse_player(f"{CHECKPOINT}{options}")]).players["tic_tac_toe"]
    side = Side(player, level=level) if budget is None else Side(player, budget)
    assert Side.usual(player) == side
    assert player.spec.saved is not None
    # Hints and reviews of a player at a level have the budget of training.
    assert player.default_budget == (budget or Budget(player.spec.saved.settings.simulations))


def test_a_new_game_is_played_by_the_newest_network_and_a_damaged_one_is_left(tmp_path):
    path = saved_player(tmp_path / "run.safetensors")
    with (
        serving([parse_player(str(path))]) as running,
        running.begin("tic_tac_toe", PERSON, {"player": "run"}) as page,
    ):
        session = running.manager.sessions[page.id]

        def replace_file(data: bytes) -> None:
            (tmp_path / "new").write_bytes(data)
            (tmp_path / "new").replace(path)

        before = path.read_bytes()
        first, analyst = session.sides[1].player, session.analysis_player
        assert first is not None
        assert first is analyst
        page.do("new")
        assert session.sides[1].player is first, "the file is the same"
        replace_file(CHECKPOINT.read_bytes())
        page.do("move", action=4)
        assert session.sides[1].player is first, "a game goes on with the network that began it"
        page.do("new")
        newest = session.sides[1].player
        assert newest is session.analysis_player is running.manager.catalog.players["run"]
        assert newest is not None
        assert newest.spec.player_hash == parse_player(str(CHECKPOINT)).player_hash
        page.do("move", action=4)
        assert not page.wait(lambda view: len(view["moves"]) == 2)["message"]
        replace_file(before)
        for sides in (None, [PERSON, {"player": "run"}]):  # a new window, or one that was restored
            body = {"game": "tic_tac_toe", "sides": sides}
            _, view = running.ask("POST", "/api/sessions", body)
            opened = running.manager.sessions[view["id"]]
            assert opened.sides[1].player is opened.analysis_player
            assert opened.analysis_player.spec.player_hash == first.spec.player_hash
        page.do("new")
        newest = session.sides[1].player
        replace_file(path.read_bytes()[:999])
        page.do("new")
        assert session.sides[1].player is newest
        path.unlink()
        os.mkfifo(path)  # which would block whoever opens it
        page.do("new")
        assert session.sides[1].player is newest


def test_a_player_that_is_read_anew_keeps_the_size_that_was_asked_for(tmp_path):
    path = saved_player(tmp_path / "any.safetensors", "mnk:rows=3,columns=3,length=3", ANY_SIZE)
    game = make_game("mnk", rows=4, columns=4, length=3)
    catalog = Catalog([parse_player(str(path)).for_game(game)])
    before = catalog.players["any"]
    os.utime(path, (1, 1))
    again = catalog.newest(before)
    assert again is not before
    assert again is catalog.newest(before) is catalog.players["any"]
    assert again.spec.game == before.spec.game == game
