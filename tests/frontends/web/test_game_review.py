"""Reviews and levels over HTTP: what the view holds, and what is refused."""

from collections.abc import Iterator
from typing import Any

import pytest
from helpers.frontends.web_client import PERSON, Served, Visitor, serving
from helpers.players import saved_player

from alphazero.games import make_game
from alphazero.players.registry import parse_player
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf import read_sgf
from alphazero.records.sgf_import import from_sgf

LOST = "a1 a2 b1 b3 c1"
"""O's a2 loses, and X takes the row."""


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[Served]:
    path = saved_player(tmp_path_factory.mktemp("players") / "some.safetensors")
    with serving([parse_player(str(path))]) as running:
        yield running


def review(visitor: Visitor) -> dict[str, Any]:
    """Review the game; return the view at the end."""
    visitor.do("review", on=True)
    return visitor.wait(
        lambda view: view["review"] and view["review"]["done"] == view["review"]["total"]
    )


def test_a_review_judges_the_moves_and_is_saved_in_sgf(served):
    with served.begin("tic_tac_toe", PERSON, PERSON) as visitor:
        visitor.do("paste", moves=LOST)
        view = review(visitor)
        text = visitor.saved("sgf")
    assert "BM[2]C[win rate 50% (value +0.00), then 0%: blunder, better was b2" in text
    assert from_sgf(read_sgf(text)).moves() == LOST.split()
    # O's a2 gives the draw away, and the rest is won for X.
    assert [move["review"]["before"] for move in view["moves"]] == [50, 50, 100, 0, 100]
    assert [move["review"]["after"] for move in view["moves"]] == [50, 0, 100, 0, 100]
    assert [move["value"] for move in view["moves"]] == [0, 1, 1, 1, 1]
    assert view["review"]["exact"] == 6
    assert not view["review"]["running"]
    (mistake,) = [move for move in view["moves"] if move["review"]["better"]]
    assert (mistake["ply"], mistake["name"]) == (2, "a2")
    assert mistake["review"]["better"] == {"name": "b2", "end": "draws"}
    assert view["review"]["accuracies"][0] == pytest.approx(100, abs=0.001)


def test_the_moves_of_a_drawn_opening_are_not_judged(served):
    game = make_game("tic_tac_toe")
    actions = tuple("abc".index(move[0]) + 3 * (3 - int(move[1])) for move in LOST.split())
    played = PlayedGame(game, ("one", "two"), actions, 1, opening=2)
    assert " ".join(played.moves()) == LOST
    with served.begin("tic_tac_toe", PERSON, PERSON) as visitor:
        visitor.do("load", text=played.to_line())
        view = review(visitor)
        are_judged = [move["review"] is not None for move in view["moves"]]
        assert are_judged == [False, False, True, True, True]


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
