"""Reviews in SGF, read by sgfmill and by our own reader."""

import pytest
from helpers.games import actions_in
from sgfmill import sgf

from alphazero.frontends.game_tree import GameTree
from alphazero.frontends.review.annotation import annotated
from alphazero.frontends.review.judgement import Evaluation, review_moves
from alphazero.games.registry import read_game
from alphazero.records.game_files import load_played
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf_export import to_sgf

GO = read_game("go:rows=9,columns=9")


MOVES = tuple(actions_in(GO, "E5 C3 A1 G7"))
LINES = {"E5 C3": 0.0, "G7 C3": 0.0, "D3 G7": 0.4, "G3": 0.0, "F5": 0.1}
EVALUATIONS = [
    Evaluation(value, best=line[:1], line=line, choices=9)
    for line, value in ((tuple(actions_in(GO, names)), value) for names, value in LINES.items())
]
PLAYED = PlayedGame(GO, ("A", "B"), MOVES, 2, comments=("", "a \\ bold ] move", "", ""))
TEXT = to_sgf(annotated(PLAYED, EVALUATIONS, review_moves(MOVES, EVALUATIONS)))


def test_another_reader_finds_comments_marks_and_better_lines():
    game = sgf.Sgf_game.from_string(TEXT)
    nodes = game.get_main_sequence()
    assert [node.get_move() for node in nodes[1:]] == [
        ("b", (4, 4)), ("w", (2, 2)), ("b", (0, 0)), ("w", (6, 6))
    ]  # fmt: skip
    assert nodes[1].get("C") == "win rate 50% (value +0.00), best"
    # White's chance falls from 50 to 30 %, then Black's from 70 to 50 %.
    assert nodes[2].get("BM") == 2
    assert nodes[2].get("C") == (
        "win rate 50% (value +0.00), then 30%: blunder, better was G7 (G7 C3) // a \\ bold ] move"
    )
    assert nodes[3].get("C").endswith("then 50%: blunder, better was D3 (D3 G7)")
    assert nodes[4].has_property("DO")
    better = nodes[1][1]
    assert better.get_move() == ("w", (6, 6))
    assert better[0].get_move() == ("b", (2, 2))
    assert [len(node) for node in nodes] == [1, 2, 2, 2, 0]


def test_it_is_read_back_and_written_again_as_it_was(tmp_path):
    path = tmp_path / "reviewed.sgf"
    path.write_text(TEXT)
    (played,) = load_played(path)
    assert played.actions == MOVES
    assert played.comments[1].startswith("win rate 50% (value +0.00), then 30%: blunder")
    tree = GameTree.of(played)
    values = [tree.value(node) for node in tree.line[:-1]]
    assert values == pytest.approx([0.0, 0.0, 0.4, 0.0])
    again = to_sgf(annotated(played, EVALUATIONS, review_moves(MOVES, EVALUATIONS)))
    assert again.partition("RE[")[0] == TEXT.partition("RE[")[0]
    assert again.splitlines()[-8:] == TEXT.splitlines()[-8:]
