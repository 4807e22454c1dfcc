"""The server behind the web page, over HTTP, on a free port: the rules are the oracle."""

import dataclasses
import json
import random
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.frontends import fake_engine
from helpers.frontends.web_client import (
    CHECKPOINT,
    PERSON,
    RANDOM,
    SECONDS,
    Served,
    Visitor,
    player_with,
    serving,
)
from helpers.games import TIC_TAC_TOE, actions_in
from helpers.paths import CHECKPOINTS
from helpers.players import ANY_SIZE, TINY, saved_player
from helpers.processes import until
from helpers.searches import UniformEvaluator

from alphazero.cli.main import EXIT_INTERRUPTED, main
from alphazero.errors import AlphaZeroError, RunError
from alphazero.frontends.web import server, session
from alphazero.frontends.web.catalog import Catalog
from alphazero.frontends.web.commands import COMMANDS
from alphazero.frontends.web.server import listen
from alphazero.games import make_game
from alphazero.games.game import ONGOING, Game, State, to_play
from alphazero.games.registry import read_game
from alphazero.games.results import describe_end, describe_margin
from alphazero.players.checkpoint_player import LEAVES_PER_BATCH
from alphazero.players.end_prediction import predict_end
from alphazero.players.registry import parse_player
from alphazero.players.specs import PlayerSpec
from alphazero.records.jsonl import read_line
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf import read_sgf
from alphazero.records.sgf_export import to_sgf
from alphazero.records.sgf_import import from_sgf


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving([player_with(UniformEvaluator(9))]) as running:
        yield running


def check_view(view: dict[str, Any], game: Game, state: State) -> None:
    """Compare what a page receives of a position with the rules."""
    rows, columns = game.observation_shape[1:]
    assert (view["rows"], view["columns"]) == (rows, columns)
    planes = game.observe(state)[:2].reshape(2, -1) > 0
    own = to_play(state)
    stones = [own + 1 if mine else 2 - own if theirs else 0 for mine, theirs in planes.T]
    assert [cell["stone"] for cell in view["board"]["cells"]] == stones
    legal = np.flatnonzero(game.legal_action_mask(state)).tolist()
    over = game.outcome(state) != ONGOING
    actions = [action for cell in view["board"]["cells"] for action in cell["actions"]]
    actions += view["offboard_moves"]
    assert sorted(move["action"] for move in actions) == ([] if over else legal)
    for move in actions:
        assert game.parse_action(state, move["name"]) == move["action"]
    assert view["over"] == over
    assert view["to_play"] == own
    turn = f"{game.side_names[own]} to move"
    assert view["status"] == (describe_end(game, state) if over else turn)
    assert view["board"]["field"].startswith("<svg")


@pytest.mark.parametrize("name", ["tic_tac_toe", "othello:size=4", "go:rows=5,columns=5"])
def test_two_people_play_whole_games_and_every_view_follows_the_rules(served, name: str):
    check_game(served, name, PERSON)


def test_a_person_plays_a_player_whose_answers_are_legal(served):
    check_game(served, "connect_four", {"player": "uct", "simulations": 30})


def check_game(served: Served, name: str, opponent: dict[str, Any]) -> None:
    """Play random moves to the end, or for 40 moves, and compare each view with the rules."""
    game, rng = served.manager.catalog.game(name), np.random.default_rng(1)
    with served.begin(name, PERSON, opponent) as page:
        state = game.initial_state()
        check_view(page.view, game, state)
        while game.outcome(state) == ONGOING and page.view["ply"] < 40:
            action = int(rng.choice(np.flatnonzero(game.legal_action_mask(state))))
            state = game.play(state, action)
            view = page.do("move", action=action)
            if opponent is not PERSON and game.outcome(state) == ONGOING:
                view = page.wait(lambda later, ply=int(state[0]): later["ply"] > ply)
                state = game.play(state, game.parse_action(state, view["moves"][-1]["name"]))
                assert "win rate" in view["moves"][-1]["comment"]
            check_view(view, game, state)
        assert page.view["ply"] == state[0] == len(page.view["moves"])
        if page.view["over"]:
            assert page.try_to("move", action=0)[0] == 400


def test_a_move_is_refused_while_the_other_side_thinks(served):
    with served.begin("tic_tac_toe", {"player": "uct", "seconds": 60}, PERSON) as page:
        page.wait(lambda view: view["thinking"])
        status, reply = page.try_to("move", action=0)
        assert status == 400
        assert "thinking" in reply["error"]
        view = page.do("pause", on=True)
        assert view["paused"]
        assert not view["thinking"]
        assert page.do("move", action=0)["ply"] == 1


def test_a_move_that_was_chosen_in_another_position_is_left_out(served):
    with served.begin("tic_tac_toe", PERSON, RANDOM) as page:
        page.do("move", action=4, ply=0)
        page.wait(lambda view: view["ply"] == 2)
        assert page.do("move", action=8, ply=0)["ply"] == 2


def test_moves_are_taken_back_made_again_and_branched(served):
    with served.begin("tic_tac_toe") as page:
        page.do("paste", moves="b2 a1; c3")
        assert page.do("undo")["ply"] == 2
        view = page.do("goto", ply=1)
        assert page.try_to("move", action=4)[0] == 400
        assert (view["ply"], len(view["moves"])) == (1, 3)
        view = page.do("move", action=0)
        assert [move["name"] for move in view["moves"]] == ["b2", "a3"]
        assert [move["branches"] for move in view["moves"]] == [1, 2]
        view = page.do("goto", ply=1)
        assert view["children"] == ["a1", "a3"]
        view = page.do("branch", ply=1, index=0)
        assert [move["name"] for move in view["moves"]] == ["b2", "a1", "c3"]
        assert view["ply"] == 2
        for request in ({"ply": 9, "index": 0}, {"ply": 0, "index": 1}, {"ply": 1, "index": 2}):
            assert page.try_to("branch", **request)[0] == 400
        assert page.try_to("goto", ply=4)[0] == 400


def test_undo_takes_back_the_answer_too_and_the_player_waits(served):
    with served.begin("tic_tac_toe", PERSON, RANDOM) as page:
        page.do("move", action=4)
        page.wait(lambda view: view["ply"] == 2)
        view = page.do("undo")
        assert (view["ply"], view["thinking"]) == (0, False)
        view = page.do("goto", ply=1)
        assert view["paused"]
        assert not view["thinking"]
        page.do("pause", on=False)
        assert page.wait(lambda view: view["ply"] == 2)["moves"][0]["name"] == "b2"


def test_a_player_thinks_on_after_a_look_back_and_in_a_new_game(served):
    slow = {"player": "uct", "seconds": 60}
    with served.begin("connect_four", PERSON, slow) as page:
        assert page.do("move", action=3)["thinking"]
        assert not page.do("goto", ply=0)["thinking"]
        view = page.do("goto", ply=1)
        assert (view["paused"], view["thinking"]) == (False, True)
        page.do("pause", on=True)
        assert not page.do("new", game="connect_four")["paused"]
        # It does not play on in moves that were pasted or taken back.
        page.do("paste", moves="4 4 4")
        page.do("goto", ply=1)
        view = page.do("goto", ply=3)
        assert (view["paused"], view["thinking"]) == (True, False)
        view = page.do("sides", sides=[PERSON, {"player": "uct", "simulations": 5}])
        assert (view["paused"], view["thinking"]) == (True, False), "nor at another strength"
    with served.begin("chess", PERSON, slow) as page:  # nor in a variation of a file
        page.do("load", text="1. e4 (1. d4 d5 2. c4) e5 2. Nf3 *")
        page.do("branch", ply=0, index=1)
        view = page.do("goto", ply=3)
        assert (view["paused"], view["thinking"]) == (True, False)


def test_moves_that_are_pasted_are_made_as_far_as_they_go(served):
    with served.begin("connect_four") as page:
        view = page.do("paste", moves="4444 2")
        assert (view["ply"], view["message"]) == (5, "")
        view = page.do("paste", moves="1 9 1")
        assert [move["name"] for move in view["moves"]] == list("444421")
        assert view["message"].startswith("the moves from here on are left out: move 2: '9' is no")
        assert page.do("undo")["message"] == ""
        status, reply = page.try_to("paste", moves="9 1")
        assert status == 400
        assert reply["error"].startswith("'9' is no")


def test_an_analysis_is_streamed_and_follows_the_position(served):
    with served.begin("connect_four") as page:
        view = page.do("analyze", on=True, player="uct")
        assert view["analyzing"]
        contents = [page.wait(bool, "search") for _ in range(2)]
        assert all(content["ply"] == 0 for content in contents)
        counts = [content["search"]["simulations"] for content in contents]
        assert counts == sorted(counts)
        candidates = contents[-1]["search"]["candidates"]
        assert len(candidates) == 7
        assert sum(move["share"] for move in candidates) == pytest.approx(1)
        page.do("move", action=3)
        # Where the tree has no room left, its end comes with the view.
        page.wait(lambda content: content["search"] and content["ply"] == 1, "view", "search")
        assert page.do("analyze", on=False)["thinking"] is False


def test_a_search_without_a_planned_end_gives_most_visits_to_the_best_move():
    """An analysis, and a move with seconds, where a planned search shares visits by halving."""
    game = make_game("connect_four")
    player = player_with(UniformEvaluator(7), game, selection="gumbel_root", mcts_solver=False)
    side = {"player": "tic_tac_toe", "seconds": 1}  # the name of the file, not of the game
    with serving([player]) as running, running.begin("connect_four") as page:
        page.do("paste", moves="4 3 4 3 4 3")
        page.do("analyze", on=True)
        # Where the tree has no room left, its end comes with the view.
        is_long = lambda event: event["search"] and event["search"]["simulations"] >= 400  # noqa: E731
        search = page.wait(is_long, "view", "search")["search"]
        best = search["candidates"][0]
        assert best["name"] == "4"  # it completes the column
        assert best["share"] > 0.5
        assert best["visits"] == max(move["visits"] for move in search["candidates"])
        page.do("analyze", on=False)
        page.do("sides", sides=[side, PERSON])
        page.do("pause", on=False)
        page.wait(lambda view: view["ply"] == 7)
        view = page.do("goto", ply=6)
        assert view["moves"][6]["name"] == "4"
        assert view["search"]["candidates"][0]["share"] > 0.5


def test_a_search_stops_when_its_page_goes_away_and_goes_on_when_it_returns(served):
    page = served.begin("connect_four")
    page.do("analyze", on=True, player="uct")
    session = served.manager.sessions[page.id]
    until(lambda: session.goal is not None)
    pool = session._pool
    page.wait(bool, "search")
    page.leave()
    until(lambda: session.goal is None)
    until(lambda: not pool.is_busy)
    with Visitor(served, page.view) as again:
        assert again.wait(lambda view: view["thinking"])["analyzing"]


def test_pages_that_search_at_once_share_a_player_and_no_answer_depends_on_the_other():
    game = make_game("connect_four")
    evaluator = UniformEvaluator(7)
    with (
        serving([player_with(evaluator, game)]) as running,
        running.begin("connect_four") as one,
        running.begin("connect_four") as other,
    ):
        one.do("analyze", on=True)
        one.wait(bool, "search")
        other.do("analyze", on=True)
        other.wait(bool, "search")
        one.wait(bool, "search")
        assert len(running.manager._pools) == 1
        # A batch of another size may round otherwise.
        assert {*evaluator.rows} <= {1, LEAVES_PER_BATCH}


def test_a_player_that_fails_says_why_and_may_be_asked_again():
    sides = {"player": "broken"}, PERSON
    with serving([_Broken("broken")]) as running, running.begin("tic_tac_toe", *sides) as page:
        view = page.wait(lambda view: view["message"])
        assert view["message"] == "cannot be created"
        assert view["paused"]
        page.do("pause", on=False)
        assert page.wait(lambda view: view["message"])["message"] == "cannot be created"


def test_the_territory_that_a_network_fails_to_tell_is_asked_for_once():
    class Failing(UniformEvaluator):
        calls = 0

        def evaluate(self, *_: Any, **__: Any) -> Any:
            Failing.calls += 1
            raise AlphaZeroError("out of memory")

    with (
        serving([player_with(Failing(9))]) as running,
        running.begin("tic_tac_toe", PERSON, PERSON) as page,
    ):
        page.do("territory", on=True)
        assert page.wait(lambda view: view["message"])["message"] == "out of memory"
        page.do("move", action=4)
        assert page.wait(lambda view: view["ply"] == 1)["message"] == ""
        assert Failing.calls == 1


def test_texts_of_a_loaded_game_may_hold_anything(served):
    with served.begin("tic_tac_toe") as page:
        page.do("move", action=4)
        content = json.loads(page.saved("json")) | {"players": ["\ud800", "b"]}
        assert page.do("load", text=json.dumps(content))["ply"] == 1
        assert "PB[?]" in page.saved("sgf")


class _Broken(PlayerSpec):
    """A player spec whose player cannot be created."""

    def _create(self, *_: Any) -> Any:
        raise AlphaZeroError("cannot be created")


@pytest.mark.parametrize(("fault", "message"), [("", ""), ("resign", ""), ("illegal", "illegal")])
def test_another_program_plays_a_side(fault: str, message: str):
    command = f"gtp:{sys.executable} {fake_engine.__file__} gtp {fault} 2"
    with (
        serving([parse_player(command)]) as running,
        running.begin("tic_tac_toe", PERSON, {"player": command}) as page,
    ):
        page.do("move", action=4)
        assert page.wait(lambda view: view["ply"] == 2)["moves"][1]["name"] == "a3"
        page.do("move", action=8)
        view = page.wait(lambda view: view["ply"] == 4 or view["over"] or view["message"])
        assert (view["status"] == "O resigned: X wins") == (fault == "resign")
        assert view["resigned"] == (1 if fault == "resign" else None)
        assert message in view["message"]
        assert bool(view["message"]) == bool(message)


def test_sides_change_and_only_players_of_the_game_are_allowed(served):
    with served.begin("connect_four") as page:
        status, reply = page.try_to("sides", sides=[{"player": "tic_tac_toe"}, PERSON])
        assert status == 400
        assert reply["error"] == "tic_tac_toe plays tic_tac_toe, not connect_four"
        for sides in ([PERSON], [PERSON, 3], [PERSON, {"player": "nobody"}], None, [PERSON] * 3):
            assert page.try_to("sides", sides=sides)[0] == 400
        for side in (
            {"player": "uct", "simulations": -1},
            {"player": "uct", "simulations": 0},
            {"player": "uct", "simulations": 10**9},
            {"player": "uct", "simulations": True},
            {"player": "uct", "seconds": 0},
            {"player": "uct", "seconds": 1e9},
            {"player": "uct", "seconds": 1, "simulations": 1},
            {"player": "random", "simulations": 5},
        ):
            assert page.try_to("sides", sides=[side, PERSON])[0] == 400, side
        page.do("sides", sides=[RANDOM, PERSON])
        assert page.wait(lambda view: view["ply"] == 1)["sides"][0]["player"] == "random"
        assert page.try_to("analyze", on=True, player="random")[0] == 400


def test_a_side_plays_at_a_level_for_people():
    with serving([parse_player(str(CHECKPOINTS / "tic_tac_toe.safetensors"))]) as running:
        players = running.ask("GET", "/api/setup")[1]["players"]
        (player,) = [player for player in players if player["levels"]]
        assert [level["number"] for level in player["levels"]] == [*range(1, 11)]
        weakest, strongest = ({"player": player["name"], "level": level} for level in (1, 10))
        for side, count in ((weakest, 8), (strongest, 3)):
            names = set()
            with running.begin("tic_tac_toe") as page:
                for _ in range(count):
                    page.do("new", sides=[PERSON, PERSON])
                    page.do("paste", moves="a3 a2 b3 b2")
                    page.do("sides", sides=[side, PERSON])
                    view = page.wait(lambda view: view["ply"] == 5)
                    names.add(view["moves"][4]["name"])
            # As they were rated, both are searched leaf by leaf.
            assert [most for _, _, most in running.manager._pools] == [384]
            # The weakest moves at random; the strongest wins at once.
            assert (names == {"c3"}) == (side is strongest)
        assert view["sides"][0] == {**strongest, "simulations": None, "seconds": None}
        assert "level 10" in page.saved("json")
        for side in (
            {**weakest, "level": 0},
            {**weakest, "level": 11},
            {**weakest, "simulations": 5},
            {"player": "random", "level": 1},
        ):
            assert page.try_to("sides", sides=[side, PERSON])[0] == 400, side


def test_a_person_resigns_there_only_and_takes_it_back(served):
    with served.begin("tic_tac_toe", RANDOM, PERSON) as page:
        (first,) = page.wait(lambda view: view["ply"] == 1)["moves"]
        view = page.do("resign")
        assert (view["over"], view["status"]) == (True, "O resigned: X wins")
        assert view["resigned"] == 1
        text = page.saved("json")
        played = read_line(text.encode())
        assert (played.resigned, played.outcome) == (True, 1)
        assert from_sgf(read_sgf(page.saved("sgf"))).resigned
        view = page.do("goto", ply=0)
        assert (view["over"], view["resigned"]) == (False, 1)
        assert page.saved("json") == text, "it ends the line, wherever one looks"
        page.do("resign")
        assert page.try_to("paste", moves="a1" if first["name"] == "b2" else "b2")[0] == 400
        page.do("undo")
        page.do("paste", moves="a1" if first["name"] == "b2" else "b2")
        assert not read_line(page.saved("json").encode()).resigned
        assert page.do("load", text=text)["status"] == "O resigned: X wins"
        assert page.do("undo")["over"] is False
        view = page.do("resign", player=0)
        assert (view["status"], view["resigned"]) == ("X resigned: O wins", 0)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("connect_four", ("json",)),
        ("hex:size=3,swap=1", ("json", "sgf")),
        ("gardner", ("json", "pgn")),
    ],
)
def test_what_is_saved_is_loaded_again(served, name: str, kinds: tuple[str, ...]):
    game, rng = served.manager.catalog.game(name), np.random.default_rng(3)
    with served.begin(name) as page:
        for _ in range(4):
            legal = [a["action"] for cell in page.view["board"]["cells"] for a in cell["actions"]]
            page.do("move", action=int(rng.choice(legal)))
        moves = [move["name"] for move in page.view["moves"]]
        page.do("goto", ply=2)
        for kind in kinds:
            text = page.saved(kind)
            with served.begin("nim") as other:
                view = other.do("load", text=text)
                assert served.manager.catalog.game(view["game"]) == game
                assert [move["name"] for move in view["moves"]] == moves
        if "sgf" not in kinds:
            status, reply = served.ask("GET", f"/api/sessions/{page.id}/save?format=sgf")
            assert (status, "SGF" in reply["error"]) == (400, True)
        assert page.try_to("load", text="neither")[0] == 400
        assert page.try_to("load", text='{"format": "alphazero-game"}')[0] == 400
        assert page.view["ply"] == 2


def test_a_position_and_a_game_in_pgn_are_loaded_and_a_link_names_the_position(served):
    fen = "4k3/7p/8/8/8/8/P7/4K3 b - - 3 20"
    with served.begin("nim") as page:
        view = page.do("load", text=fen)
        assert (view["game"], view["start"], view["ply"]) == ("chess", fen, 0)
        assert view["source"] is None  # no game of White's against Black's
        view = page.do("paste", moves="h5 a4 h4")
        assert [move["player"] for move in view["moves"]] == [1, 0, 1]
        assert [move["ply"] for move in view["moves"]] == [1, 2, 3]
        saved = page.saved("json")
        view = page.do("load", text="1. e4 {[%clk 0:01:00] best by test} (1. d4 d5) e5?! 2. Ke3 *")
        assert [move["name"] for move in view["moves"]] == ["e4", "e5"]
        assert [move["comment"] for move in view["moves"]] == ["best by test", "?!"]
        assert [move["branches"] for move in view["moves"]] == [2, 1]
        assert (view["start"], "move 3: 'Ke3' is not legal" in view["message"]) == ("", True)
        assert page.do("load", text=saved)["start"] == fen


def test_a_file_is_loaded_by_its_bytes_and_as_far_as_it_goes(served):
    with served.begin("nim") as page:
        data = "(;GM[3])(;SZ[9]PB[\u8868];B[ee];W[cc];B[ee])".encode("shift_jis")
        view = page.do("load", data=data.decode("latin-1"))
        assert [move["name"] for move in view["moves"]] == ["E5", "C7"]
        assert view["players"][0] == "\u8868"
        assert "move 3, black E5: E5 is taken" in view["message"]
        assert "game 1: SGF: unknown game 3" in view["message"]
        assert page.do("undo")["message"] == ""
        assert page.try_to("load", data="\u8868")[0] == 400


def test_a_text_is_a_game_in_a_format_or_else_moves_of_the_game_on_the_page(served):
    with served.begin("breakthrough") as page:
        view = page.do("load", text="1. a2a3 a7a6 2. b2b3 h7h6")
        assert (view["game"], view["ply"], view["message"]) == ("breakthrough", 4, "")
        view = page.do("load", data="; a remark\n1. e4 {[%eval 0.2]} e5 *\n\n1. d4 *\n")
        assert (view["ply"], view["message"]) == (2, "the first of 2 games")
        view = page.do("load", text="# positions\n4k3/7p/8/8/8/8/P7/4K3 b - - 3 20\n")
        assert (view["game"], view["ply"]) == ("chess", 0)
    with served.begin("hex:size=5,swap=1") as page:
        assert page.do("load", text="1. a3 2. b4")["ply"] == 2
        assert page.do("load", text="c1; c2")["ply"] == 4
        status, reply = page.try_to("load", text="1. c1")
        assert (status, "c1 is taken" in reply["error"]) == (400, True)
        assert page.do("load", text="1. Nf3 Nf6")["game"] == "chess"
        view = page.do("load", text="(;GM[1]SZ[5];B[aa](;W[bb])(;W[cc]))")
        assert [move["branches"] for move in view["moves"]] == [1, 2]


def test_a_loaded_game_keeps_names_result_and_values(served):
    text = (
        "(;GM[4]FF[4]CA[UTF-8]SZ[3]AZ[tic_tac_toe]PB[Ann]PW[Bob]RE[W+R]\n"
        ";B[aa];W[bb]C[win rate 25% (value -0.50)]\n"
        ";B[cc]C[win rate 90% (value +0.80)]\n)\n"
    )
    text = to_sgf(from_sgf(read_sgf(text)))
    with served.begin("nim") as page:
        view = page.do("load", text=text)
        assert view["start_value"] is None
        assert [move["value"] for move in view["moves"]] == [0.5, 0.8, -1]
        assert view["source"] == "Ann against Bob: 0-1 by resignation, 3 moves"
        assert page.saved("sgf") == text
        assert '"players": ["Ann", "Bob"]' in page.saved("json")
        page.do("undo")
        view = page.do("move", action=8 - 2)
        assert view["source"] is None
        assert "PB[Ann]PW[Bob]" in page.saved("sgf")
        assert view["players"] == ["Ann", "Bob"]


# --- what is served ------------------------------------------------------------------------------


def test_nothing_but_the_files_of_the_page_is_served(served):
    with served.open("GET", "/") as answer:
        assert answer.getheader("Content-Type") == "text/html; charset=utf-8"
        assert b"<html" in answer.read()
    files = server.page_files()
    for name in files:
        assert served.ask("GET", f"/static/{name}")[0] == 200
    assert sum(map(len, files.values())) < 105_000, "the page is small"
    for name in ("../server.py", "..%2fserver.py", "%2e%2e/x", "/etc/passwd", "x", ""):
        assert served.ask("GET", f"/static/{name}")[0] == 404


def test_a_malformed_request_is_refused_in_one_line(served):
    bodies = b"", b"{", b"[]", b"3", b"nul", b"\xff\xfe", b"[" * 100_000, b'{"game": 3}', b"{}"
    games = "mnk:rows=90,columns=90", "nim:heap=9999999999", "shogi", "go:rows=99", "x" * 200
    for body in (*bodies, *({"game": game} for game in games)):
        status, reply = served.ask("POST", "/api/sessions", body)
        assert status == 400, body
        assert re.fullmatch(r"[^\n]+", reply["error"])


def test_a_body_that_is_too_long_is_refused_unread(served):
    head = "POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for rest in (
        f"Content-Length: {1 << 40}\r\n\r\n".encode(),
        b"Transfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b"a" * 65536 + b"\r\n") * 20,
    ):
        with socket.create_connection(("127.0.0.1", served.port), SECONDS) as line:
            line.sendall(head.encode() + rest)
            assert line.recv(1000).startswith(b"HTTP/1.1 413")


def test_unknown_sessions_and_requests_are_not_found(served):
    with served.begin("tic_tac_toe") as page:
        for method, path in (
            ("GET", "/x"),
            ("GET", "/api/sessions/nobody/save"),
            ("GET", "/api/sessions/nobody/events"),
            ("POST", "/api/sessions/nobody/move"),
            ("POST", f"/api/sessions/{page.id}/explode"),
            ("GET", f"/api/sessions/{page.id[:-1]}/save"),
        ):
            assert served.ask(method, path, {} if method == "POST" else None)[0] == 404
        assert served.ask("POST", "/api/setup", {})[0] == 405


def test_no_field_of_any_request_is_trusted(served):
    words = " ".join(sorted(COMMANDS))
    values = [None, True, -1, 10**30, 1.5, "", "x" * 400, "../../etc/passwd", [], [[]], {}, "\0"]
    names = "action ply index moves text on player sides game"
    chance = random.Random(5)
    with served.begin("tic_tac_toe") as page:
        for _ in range(80):
            body = {name: chance.choice(values) for name in chance.sample(names.split(), 4)}
            status, reply = page.try_to(chance.choice(words.split()), **body)
            assert status in (200, 400), reply
            if status == 400:
                assert "\n" not in reply["error"]
                assert len(reply["error"]) < 1000
        assert page.do("new", game="tic_tac_toe", sides=[PERSON, PERSON])["ply"] == 0


def test_idle_sessions_make_way_for_new_ones_at_the_limit():
    body = {"game": "nim", "sides": [PERSON, PERSON]}
    with serving(sessions=2) as running:
        pages = [running.begin("nim"), running.begin("nim")]
        status, reply = running.ask("POST", "/api/sessions", body)
        assert (status, "2 sessions" in reply["error"]) == (429, True)
        pages[0].leave()
        until(lambda: not running.manager.sessions[pages[0].id].watchers)
        third = running.begin("nim")
        assert running.ask("GET", f"/api/sessions/{pages[0].id}/save")[0] == 404
        running.close_session(third.id)
        assert not list(third.events())[1:]
        third.leave()
        pages[1].leave()


def test_a_game_tree_has_a_maximum_size(served, monkeypatch):
    monkeypatch.setattr(session, "MAX_POSITIONS", 0)
    with served.begin("tic_tac_toe") as page:
        page.do("paste", moves="b2 a1 c3")
        page.do("goto", ply=0)
        status, reply = page.try_to("paste", moves="a1 b2 a2 a3 c1 b1 b3")
        assert (status, "10 positions" in reply["error"]) == (400, True)
        # The page shows the moves that had room.
        assert page.wait(lambda view: view["ply"] == 6)["moves"][-1]["name"] == "b1"
        page.do("goto", ply=0)
        assert page.try_to("move", action=8)[0] == 400
        assert page.do("move", action=4)["ply"] == 1  # an old position


def test_the_server_stops_at_once_though_pages_listen_and_players_think():
    with serving() as running:
        page = running.begin("connect_four", {"player": "uct", "seconds": 500}, PERSON)
        page.wait(lambda view: view["thinking"])
        pools = list(running.manager._pools.values())
    list(page.events())  # ends
    page.leave()
    assert all(pool._thread is None or not pool._thread.is_alive() for pool in pools)


@pytest.mark.parametrize("heads", [("ownership", "margin"), ("margin",), ()])
def test_the_end_is_predicted_for_player_0_by_the_network_and_at_last_known_by_the_rules(
    tmp_path, heads: tuple[str, ...]
):
    name = "go:rows=3,columns=3,komi_half_points=1"
    network = dataclasses.replace(TINY, auxiliary=heads)
    spec = parse_player(str(saved_player(tmp_path / "go.safetensors", name, network)))
    game = read_game(name)
    with serving([spec]) as running, running.begin(name) as page:
        page.do("move", action=0)
        page.do("hint")
        view = page.wait(lambda view: view["hint"])
        own = predict_end(game, game.play(game.initial_state(), 0), spec.create(game))
        end = view["search"]["end"]
        assert view["has_territory"]
        assert view["end"] is None
        assert (end is None) == (not heads)
        if own.margin is not None:
            assert end["margin"] == describe_margin(game, own.margin)
            shares = None if own.ownership is None else pytest.approx(own.ownership, abs=1e-3)
            assert end["ownership"] == shares
        # Where no search was, the network is asked while the page shows territory.
        page.do("territory", on=True)
        page.do("move", action=4)
        view = page.wait(lambda view: view["ply"] == 2 and view["search"])
        assert view["search"]["simulations"] == 0
        assert (view["search"]["end"] is None) == (not heads)
        over = page.do("paste", moves="pass pass")
        assert over["over"]
        # Each owns its stone; the other cells touch both.
        assert over["end"]["margin"] == "White by 0.5"
        assert over["end"]["ownership"] == [1, 0, 0, 0, -1, 0, 0, 0, 0]
        assert page.do("new", game="tic_tac_toe")["has_territory"] is False


# --- reviews ------------------------------------------------------------------------------------


LOST = "a1 a2 b1 b3 c1"
"""O's a2 loses, and X takes the row."""


def review(visitor: Visitor) -> dict[str, Any]:
    """Review the game; return the view at the end."""
    visitor.do("review", on=True)
    return visitor.wait(
        lambda view: view["review"] and view["review"]["done"] == view["review"]["total"]
    )


def test_a_resignation_counts_more_than_a_review(served):
    with served.begin("tic_tac_toe", PERSON, PERSON) as visitor:
        visitor.do("paste", moves="a1 a2")  # X would win
        visitor.do("resign")
        view = review(visitor)
    assert view["status"] == "X resigned: O wins"
    assert (view["value"], view["moves"][-1]["value"]) == (-1, -1)


def test_a_review_judges_the_moves_after_the_opening_and_is_saved_in_sgf(served):
    actions = tuple(actions_in(TIC_TAC_TOE, LOST))
    played = PlayedGame(TIC_TAC_TOE, ("one", "two"), actions, 1, opening=1)
    with served.begin("tic_tac_toe", PERSON, PERSON) as visitor:
        visitor.do("load", text=played.to_line())
        view = review(visitor)
        text = visitor.saved("sgf")
    assert "BM[2]C[win rate 50% (value +0.00), then 0%: blunder, better was b2" in text
    assert from_sgf(read_sgf(text)).moves() == LOST.split()
    first, *moves = view["moves"]
    assert first["review"] is None
    # O's a2 gives the draw away, and the rest is won for X.
    assert [move["review"]["before"] for move in moves] == [50, 100, 0, 100]
    assert [move["review"]["after"] for move in moves] == [0, 100, 0, 100]
    assert [move["value"] for move in view["moves"]] == [0, 1, 1, 1, 1]
    assert view["review"]["exact"] == 6
    assert not view["review"]["running"]
    (mistake,) = [move for move in moves if move["review"]["better"]]
    assert (mistake["ply"], mistake["name"]) == (2, "a2")
    assert mistake["review"]["better"] == {"name": "b2", "end": "draws"}
    assert view["review"]["accuracies"][0] == pytest.approx(100, abs=0.001)


def test_a_hint_ends_where_a_review_has_another_result(served):
    with served.begin("gomoku:rows=8,columns=8") as visitor:
        visitor.do("paste", moves="d4")
        visitor.do("hint")
        view = visitor.wait(lambda view: view["hint"])
        assert view["search"]["per_second"] == 0, "no search runs"
        visitor.do("review", on=True)
        view = visitor.wait(lambda view: view["review"]["done"] == 1)
        assert not view["hint"]


def test_a_review_can_be_left_and_goes_on_where_it_was(served):
    with served.begin("gomoku:rows=8,columns=8", PERSON, PERSON) as visitor:
        visitor.do("paste", moves="d4 e5 d5 e4 d6 e6 a1 b2")
        visitor.do("review", on=True)
        visitor.wait(lambda view: view["review"] and view["review"]["done"] >= 2)
        left = visitor.do("review", on=False)
        assert not left["review"]["running"]
        # Moving about changes nothing; another line has its own moves to review.
        moved = visitor.do("goto", ply=3)
        assert moved["review"]["done"] >= left["review"]["done"] >= 2
        reviews = [move["review"] for move in moved["moves"]]
        view = review(visitor)
        assert view["review"]["total"] == 9
        for before, after in zip(reviews, view["moves"], strict=True):
            assert before is None or before == after["review"]
        started = visitor.do("new", game="tic_tac_toe")
        assert started["review"] is None


# --- the command ---------------------------------------------------------------------------------


def test_the_command_says_where_it_is_and_ends_by_a_signal(tmp_path):
    command = [sys.executable, "-m", "alphazero", "serve", "random", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as program:
        assert program.stdout is not None
        assert program.stdout.readline().startswith("players: random, uct, ")
        address = re.search(r"http://127\.0\.0\.1:\d+/", program.stdout.readline())
        assert address is not None
        with urllib.request.urlopen(address[0], timeout=SECONDS) as answer:
            assert answer.status == 200
        program.send_signal(signal.SIGTERM)
        assert program.wait(SECONDS) == EXIT_INTERRUPTED


@pytest.mark.parametrize("named", [False, True])
def test_a_file_of_the_folder_that_is_no_player_is_left_out_with_one_line(
    named: bool, tmp_path, monkeypatch, capsys
):
    offered: list[str] = []
    monkeypatch.setattr(server, "serve", lambda catalog, *_, **__: offered.extend(catalog.players))
    monkeypatch.chdir(tmp_path)
    Path("checkpoints").mkdir()
    data = CHECKPOINT.read_bytes()
    Path("checkpoints/a.safetensors").write_bytes(data[:5000])
    Path("checkpoints/b.safetensors").write_bytes(data)
    words = sorted(map(str, Path("checkpoints").iterdir())) if named else []
    assert main(["serve", *words]) == (2 if named else 0)  # who names a file wants it
    output = capsys.readouterr().err
    assert output.startswith("error: " if named else "left out: ")
    assert "checkpoints/a.safetensors" in output
    assert output.count("\n") == 1
    assert offered[:2] == ([] if named else ["b", "random"])


def test_without_players_the_page_opens_with_a_game_that_most_people_know(tmp_path, monkeypatch):
    offered: list[str] = []
    monkeypatch.setattr(server, "serve", lambda catalog, *_, **__: offered.extend(catalog.players))
    monkeypatch.chdir(tmp_path)
    assert main(["serve"]) == 0
    assert offered[:2] == ["connect_four", "breakthrough_5x5"]


def test_players_are_served_on_the_board_asked_for(tmp_path, monkeypatch, capsys):
    path = str(saved_player(tmp_path / "any_size.safetensors", "hex:size=4", ANY_SIZE))
    served: list[Catalog] = []
    monkeypatch.setattr(server, "serve", lambda catalog, *_, **__: served.append(catalog))
    assert main(["serve", path, "random", "--game", "hex:size=5"]) == 0
    assert "was trained on hex:size=4, not on hex:size=5" in capsys.readouterr().err
    game = make_game("hex", size=5)
    assert served[0].games["hex:size=5"] == game
    assert served[0].player("any_size", game).spec.game == game
    assert main(["serve", path, "--game", "othello"]) == 2
    assert "but the game asked for is othello" in capsys.readouterr().err


def test_without_the_extra_the_command_names_it(monkeypatch, only_line):
    for name in [name for name in sys.modules if name.startswith("alphazero.frontends.web.server")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    message = "error: uvicorn is not installed; pip install 'alphazero[serve]'"
    assert only_line("serve", "random") == message


def test_a_taken_port_ends_the_command_with_one_line(only_line):
    with serving() as running:
        output = only_line("serve", "random", "--port", running.port)
    assert output.startswith("error: cannot listen on 127.0.0.1")
    with pytest.raises(RunError, match="cannot listen on"):
        listen("no such host", 0)
