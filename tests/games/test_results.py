"""Results in the words of each game, against numbers that were counted by hand."""

import pytest

from alphazero.games.registry import read_game
from alphazero.games.results import describe_end, describe_points, title_of

SMALL_GO = "go:rows=3,columns=3,komi_half_points=1"

ENDS = [
    ("tic_tac_toe", "b2 a1 c2 a2 c1 a3", "O wins", ""),
    ("tic_tac_toe", "b2 a3 c1 a1 a2 c2 b3 b1 c3", "A draw", ""),
    ("connect_four", "4343434", "Red wins", ""),
    # Black's stones on b1 and a2 and the point a1; White's on b2 and c2, and half a point.
    (SMALL_GO, "b1 b2 a2 c2 pass pass", "Black wins by 0.5", "3 to 2.5"),
]


@pytest.mark.parametrize(("name", "moves", "result", "points"), ENDS)
def test_a_result_is_described_in_the_words_of_the_games_players(
    name: str, moves: str, result: str, points: str
):
    game = read_game(name)
    state = game.from_moves(moves)
    assert describe_end(game, state) == result
    assert describe_points(game, state) == (f" ({points})" if points else "")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("connect_four", "Connect Four 6 x 7"),
        ("connect_four:columns=8,length=5", "Connect Four 6 x 8, length 5"),
        ("go:rows=7,columns=7,komi_half_points=9", "Go 7 x 7, komi 4.5"),
        ("go:features=1", "Go 9 x 9, komi 7.5"),
        ("hex:size=5,swap=1", "Hex 5 x 5, swap on"),
        ("nim:heap=20", "Nim, heap 20"),
    ],
)
def test_a_game_is_titled_with_what_a_player_needs_to_know(name: str, title: str):
    assert title_of(read_game(name)) == title


def test_points_are_counted_before_the_end_too():
    game = read_game("othello")
    assert game.points(game.initial_state()) == (2, 2)
    assert game.points(game.from_moves("d3")) == (4, 1)
