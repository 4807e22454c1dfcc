"""Kept evaluations: read back as they were, for the same game and player alone."""

import json
from pathlib import Path

import pytest
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE

from alphazero.errors import PlayerError
from alphazero.frontends.review.judgement import Evaluation
from alphazero.frontends.review.review_file import ReviewFile, review_file
from alphazero.players.registry import parse_player
from alphazero.records.played_game import PlayedGame

PLAYED = PlayedGame(CONNECT_FOUR, ("A", "B"), (3, 3, 2), 2)
UCT = parse_player("uct:50")
EVALUATIONS = {
    0: Evaluation(0.25, best=(3,), line=(3, 3, 3), choices=7),
    3: Evaluation(-1.0, True, 12, best=(1, 4), line=(1, 4), choices=7),
}


def written(path: Path) -> Path:
    ReviewFile(path).save(PLAYED, UCT, EVALUATIONS)
    return path


def test_evaluations_are_read_back_as_they_were(tmp_path: Path) -> None:
    path = written(review_file(tmp_path / "games.sgf"))
    assert path == tmp_path / "games.review.jsonl"
    file = ReviewFile(path)
    assert file.load(PLAYED, UCT) == EVALUATIONS
    assert file.load(PLAYED, parse_player("uct:51")) == {}
    assert file.load(PlayedGame(CONNECT_FOUR, ("A", "B"), (3, 3), 2), UCT) == {}
    assert file.load(PlayedGame(TIC_TAC_TOE, ("A", "B"), (3,), 2), UCT) == {}
    # Another game is added, this one is replaced.
    other, end = PlayedGame(TIC_TAC_TOE, ("A", "B"), (0, 3, 1, 4, 2), 1), Evaluation(-1.0, True)
    file.save(other, UCT, {5: end})
    file.save(PLAYED, UCT, {3: EVALUATIONS[3]})
    again = ReviewFile(path)
    assert again.load(PLAYED, UCT) == {3: EVALUATIONS[3]}
    assert again.load(other, UCT) == {5: end}
    assert len(path.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("format", "other", "format: expected alphazero-review"),
        ("positions", {}, "unexpected dict"),
        ("positions", [3], "unexpected int"),
        ("ply", 4, "ply or end is out of range"),
        ("ply", -1, "ply or end is out of range"),
        ("ply", "0", "ply: expected int"),
        ("end", 43, "ply or end is out of range"),
        ("value", 1.5, "value: expected a number from -1 to 1"),
        ("value", True, "unexpected bool"),
        ("exact", 1, "exact: expected bool"),
        ("best", [], "needs a best move"),
        ("best", ["9"], "no column"),
        ("line", [], "needs a best move"),
        ("line", ["1"], "needs a best move"),
        ("line", ["4"] * 7, "full"),
    ],
)
def test_damage_is_refused_in_one_line(
    tmp_path: Path, key: str, value: object, message: str
) -> None:
    path = written(tmp_path / "x.review.jsonl")
    content = json.loads(path.read_text())
    (content if key in content else content["positions"][0])[key] = value
    path.write_text(json.dumps(content) + "\n")
    with pytest.raises(PlayerError) as caught:
        ReviewFile(path).load(PLAYED, UCT)
    assert "line 1: no review: " in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[]\n", b'{"a": NaN}', b"{}"])
def test_other_files_are_refused_in_one_line(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.review.jsonl"
    path.write_bytes(data)
    with pytest.raises(PlayerError, match=r"line 1: no review: .*; remove the file"):
        ReviewFile(path)
