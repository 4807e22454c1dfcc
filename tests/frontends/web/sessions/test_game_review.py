"""Reviews and levels over HTTP: what the view holds, and what is refused."""

from collections.abc import Iterator
from queue import Queue
from typing import Any

import numpy as np
import pytest
from helpers.frontends.web_client import SECONDS, Served, Visitor, serving
from helpers.players import saved_player

from alphazero.frontends.search_pool import SearchPool, SearchRequest, SearchResponse
from alphazero.frontends.web.sessions import session
from alphazero.games import make_game
from alphazero.players.levels import LevelSettings
from alphazero.players.registry import parse_player
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf import read_sgf
from alphazero.records.sgf_export import from_sgf
from alphazero.solvers.exhaustive import solve_all_positions

PERSON = {"player": "person"}
LOST = "a1 a2 b1 b3 c1"
"""O's a2 loses, and X takes the row."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    path = saved_player(tmp_path_factory.mktemp("players") / "some.safetensors")
    with serving([parse_player(str(path))]) as running:
        yield running


def review(visitor: Visitor) -> dict[str, Any]:
    """Review the game; return the view at the end."""
    visitor.do("review", on=True)
    return visitor.wait(
        lambda view: view["review"] and view["review"]["done"] == view["review"]["total"]
    )


def test_a_small_game_is_judged_as_exhaustive_minimax_does(served: Served) -> None:
    game = make_game("tic_tac_toe")
    solved = solve_all_positions(game)
    values = {
        state.tobytes(): int(value)
        for state, value in zip(solved.states, solved.values, strict=True)
    }
    with served.begin("tic_tac_toe", PERSON, PERSON) as visitor:
        visitor.do("paste", moves=LOST)
        view = review(visitor)
        _, text = served.ask("GET", f"/api/sessions/{visitor.id}/save?format=sgf")
    assert b"BM[2]C[win rate 50% (value +0.00), then 0%: blunder, better was b2" in text
    assert from_sgf(read_sgf(text.decode())).moves() == LOST.split()
    state = game.initial_state()
    for ply, move in enumerate(view["moves"]):
        before = values[state.tobytes()]
        state = game.play(state, game.parse_action(state, move["name"]))
        after = -values[state.tobytes()] if ply < 4 else 1
        assert move["review"]["before"] == 50 + 50 * before
        assert move["review"]["after"] == 50 + 50 * after
        assert (move["review"]["judgement"] == "blunder") == (after < before)
        assert move["value"] == (after if ply % 2 == 0 else -after)
    assert view["review"]["exact"] == 6
    assert not view["review"]["running"]
    (mistake,) = view["review"]["mistakes"]
    assert (mistake["ply"], mistake["name"]) == (2, "a2")
    assert mistake["review"]["better"] == {"name": "b2", "end": "draws"}
    assert view["review"]["counts"][1]["blunder"] == 1
    assert view["review"]["accuracies"][0] == pytest.approx(100, abs=0.001)


def test_the_moves_of_a_drawn_opening_are_not_judged(served: Served) -> None:
    game = make_game("tic_tac_toe")
    actions = tuple("abc".index(move[0]) + 3 * (3 - int(move[1])) for move in LOST.split())
    played = PlayedGame(game, ("one", "two"), actions, 1, opening=2)
    assert " ".join(played.moves()) == LOST
    with served.begin("tic_tac_toe", PERSON, PERSON) as visitor:
        visitor.do("load", text=played.to_line())
        view = review(visitor)
        judged = [move["review"] is not None for move in view["moves"]]
        assert judged == [False, False, True, True, True]
        assert view["review"]["mistakes"] == []
        assert view["review"]["counts"][1]["blunder"] == 0
        shown = visitor.do("goto", ply=2)
        assert shown["moves"][1]["name"] == "a2"
        assert shown["moves"][1]["review"] is None


def test_a_review_can_be_left_and_goes_on_where_it_was(served: Served) -> None:
    with served.begin("gomoku:rows=8,columns=8", PERSON, PERSON) as visitor:
        visitor.do("paste", moves="d4 e5 d5 e4 d6 e6 a1 b2")
        visitor.do("review", on=True)
        visitor.wait(lambda view: view["review"] and view["review"]["done"] >= 2)
        left = visitor.do("review", on=False)
        assert not left["review"]["running"]
        # Moving about changes nothing; another line has its own moves to review.
        moved = visitor.do("goto", ply=3)
        assert moved["review"]["done"] >= left["review"]["done"] >= 2
        known = [move["review"] for move in moved["moves"]]
        view = review(visitor)
        assert view["review"]["total"] == 9
        for before, after in zip(known, view["moves"], strict=True):
            assert before is None or before == after["review"]
        started = visitor.do("new", game="tic_tac_toe")
        assert started["review"] is None


def test_another_try_is_judged_and_the_game_stays(served: Served) -> None:
    with served.begin("tic_tac_toe", PERSON, {"player": "random"}) as visitor:
        visitor.do("paste", moves=LOST)
        review(visitor)
        for ply, name in ((2, "b2"), (3, "c3")):
            view = visitor.do("retry", ply=ply)
            assert (view["ply"], view["detour"]["kind"]) == (ply - 1, "retry")
            assert view["detour"]["attempt"] is None
            assert view["search"] is None, "it would tell the better move"
            action = make_game("tic_tac_toe").parse_action(
                make_game("tic_tac_toe").initial_state(), name
            )
            visitor.do("move", action=action)
            view = visitor.wait(
                lambda view: ((view["detour"] or {}).get("attempt") or {}).get("judgement")
            )
            attempt = view["detour"]["attempt"]
            assert attempt["name"] == name
            if ply == 2:
                assert (attempt["judgement"], attempt["after"]) == ("best", 50)
            assert view["ply"] == ply, "the other side does not answer a try"
            assert [each["name"] for each in view["review"]["mistakes"]] == ["a2"]
        view = visitor.do("return")
        assert [move["name"] for move in view["moves"]] == LOST.split()
        assert (view["ply"], view["detour"]) == (3, None)


def test_the_better_line_is_played_on_the_board(served: Served) -> None:
    with served.begin("tic_tac_toe", PERSON, PERSON) as visitor:
        visitor.do("paste", moves=LOST)
        review(visitor)
        view = visitor.do("better", ply=2)
        assert [move["name"] for move in view["moves"][:2]] == ["a1", "b2"]
        assert len(view["moves"]) > 4
        assert (view["ply"], view["detour"]["kind"]) == (2, "better")
        assert view["review"]["total"] == 6
        assert [move["name"] for move in visitor.do("return")["moves"]] == LOST.split()


def test_a_better_line_that_is_too_long_ends_where_the_page_shows_it(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "MAX_POSITIONS", 0)
    with served.begin("tic_tac_toe", PERSON, PERSON) as visitor:
        visitor.do("paste", moves=LOST)
        review(visitor)
        status, answer = visitor.try_to("better", ply=2)
        assert (status, "10 positions" in answer["error"]) == (400, True)
        known = served.manager.sessions[visitor.id]
        assert known._navigated_to is known.game_tree.current


@pytest.mark.parametrize(
    ("command", "body", "message"),
    [
        ("review", {}, "on: expected true or false"),
        ("retry", {"ply": 1}, "review the game first"),
        ("better", {"ply": 1}, "review the game first"),
        ("retry", {"ply": -1}, "ply: expected a whole number"),
        ("retry", {"ply": "1"}, "ply: expected a whole number"),
    ],
)
def test_a_wrong_command_is_refused(
    served: Served, command: str, body: dict[str, Any], message: str
) -> None:
    with served.begin("tic_tac_toe") as visitor:
        status, answer = visitor.try_to(command, **body)
    assert status == 400
    assert message in answer["error"]


def test_a_move_that_was_not_made_has_no_second_try(served: Served) -> None:
    with served.begin("tic_tac_toe", PERSON, PERSON) as visitor:
        visitor.do("paste", moves="a1")
        review(visitor)
        for ply in (0, 2):
            status, answer = visitor.try_to("retry", ply=ply)
            assert status == 400
            assert "the line has moves 1 to 1" in answer["error"]
        assert visitor.do("return")["ply"] == 1


def test_a_side_plays_at_a_level(served: Served) -> None:
    with served.begin("tic_tac_toe", PERSON, {"player": "some", "level": 2}) as visitor:
        assert visitor.view["sides"][1] == {
            "player": "some", "simulations": None, "seconds": None, "level": 2
        }  # fmt: skip
        visitor.do("move", action=4)
        visitor.wait(lambda view: view["ply"] == 2)
        _, text = served.ask("GET", f"/api/sessions/{visitor.id}/save?format=json")
        assert text["players"] == ["person", "some, level 2"]


@pytest.mark.parametrize(
    ("side", "message"),
    [
        ({"player": "some", "level": 0}, "level: expected a whole number from 1 to 10"),
        ({"player": "some", "level": 11}, "level: expected a whole number from 1 to 10"),
        ({"player": "some", "level": "2"}, "level: expected a whole number from 1 to 10"),
        ({"player": "some", "level": 2, "simulations": 5}, "give a level, simulations or seconds"),
        ({"player": "uct", "level": 2}, "uct has no levels; give simulations or seconds"),
    ],
)
def test_a_wrong_level_is_refused(served: Served, side: dict[str, Any], message: str) -> None:
    body = {"game": "tic_tac_toe", "sides": [PERSON, side]}
    status, answer = served.ask("POST", "/api/sessions", body)
    assert status == 400
    assert message in answer["error"]


def test_a_pool_draws_the_moves_of_a_level_for_its_request_alone() -> None:
    game, answers = make_game("tic_tac_toe"), Queue[SearchResponse]()
    pool, moves = SearchPool(parse_player("uct:30"), game, lambda call: call()), [0, 3, 1, 4]
    state = game.play(game.initial_state(), *moves)  # 2 wins at once
    played: list[int | None] = []
    try:
        for count in range(60):
            level = LevelSettings(30, random_moves=1.0) if count % 2 else None
            pool.submit(
                SearchRequest("a", moves, state, 30, None, lambda _: None, answers.put, level=level)
            )
            played.append(answers.get(timeout=SECONDS).action)
    finally:
        pool.close()
        pool.join(SECONDS)
    assert set(played[::2]) == {2}
    assert len(set(played[1::2])) >= 4
    assert set(played[1::2]) <= set(np.flatnonzero(game.legal_action_mask(state)).tolist())
