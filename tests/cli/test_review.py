"""The command `review`: its report, and the file that it saves."""

import re
from pathlib import Path

import pytest
from helpers.commands import exit_code, printed_by
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE, actions_in

from alphazero.frontends.review.judgement import Evaluation
from alphazero.frontends.review.reviewer import Reviewer
from alphazero.games.game import State
from alphazero.games.registry import read_game
from alphazero.records.game_files import load_played, save_played
from alphazero.records.played_game import PlayedGame

# O does not defend against the first row, X wins.
WON = tuple(actions_in(TIC_TAC_TOE, "a1 a2 b1 b3 c1"))
GAME = PlayedGame(TIC_TAC_TOE, ("Ann", "Bob"), WON, 1)


@pytest.fixture
def games(tmp_path) -> Path:
    save_played(tmp_path / "mine.sgf", [GAME, PlayedGame(TIC_TAC_TOE, ("C", "D"), (6, 2), 2)])
    return tmp_path / "mine.sgf"


def test_it_prints_chances_mistakes_and_accuracies(games, capsys):
    saved = games.with_name("reviewed.sgf")
    output = printed_by(capsys, "review", games, "uct:20", "--game", 1, "--save", saved)
    assert output.startswith("game 1, Ann against Bob: 1-0, 5 moves\n")
    # Solved: the first position is drawn; a2 loses, b3 loses at once.
    lines = [line.split() for line in output.splitlines()]
    assert ["1.", "X", "a1", "50", "%", "best"] in lines
    assert any(line[:7] == ["2.", "O", "a2", "100", "%", "??", "blunder:"] for line in lines)
    assert re.search(r"better was b2 \(b2 .*\), draws$", output, re.MULTILINE)
    assert "  6 of 6 positions exact" in output
    (ann,) = (line for line in lines if line[:2] == ["X", "Ann"])
    (bob,) = (line for line in lines if line[:2] == ["O", "Bob"])
    assert ann[-1] == "0"
    assert bob[-1] == "1"
    (read,) = load_played(saved)
    assert read.comments[1].startswith("win rate 50% (value +0.00), then 0%: blunder, better was")


def test_the_sides_of_a_game_of_pieces_have_their_names(tmp_path, capsys):
    path, game = tmp_path / "mini.jsonl", read_game("gardner")
    save_played(path, [PlayedGame(game, ("A", "B"), tuple(actions_in(game, "a3 bxa3")), 2)])
    lines = printed_by(capsys, "review", path, "uct:20").splitlines()
    assert any(line.startswith("    2. Black bxa3  ") for line in lines)
    assert any(line.startswith("  chance of White to win ") for line in lines)
    assert any(line.startswith("  White A ") for line in lines)


def test_without_a_player_the_shipped_one_of_the_game_reviews(games, tmp_path, capsys, only_line):
    assert "6 of 6 positions exact" in printed_by(capsys, "review", games, "--game", 1)
    game = read_game("nim")
    save_played(tmp_path / "nim.jsonl", [PlayedGame(game, ("A", "B"), (), 2)])
    assert "no shipped player plays nim; name one" in only_line("review", tmp_path / "nim.jsonl")


def test_every_game_is_reviewed_unless_one_is_named(games, capsys):
    output = printed_by(capsys, "review", games, "uct:20")
    assert "game 1, Ann" in output
    assert "game 2, C against D: unfinished, 2 moves" in output
    assert list(games.parent.iterdir()) == [games], "two reviews at once would disturb each other"


def test_ctrl_c_ends_the_searches_and_judges_the_moves_up_to_then(games, capsys, monkeypatch):
    original, evaluated = Reviewer.evaluate, list[int]()

    def evaluate(self: Reviewer, moves: tuple[int, ...], state: State, told: int) -> Evaluation:
        if len(evaluated) == 2:
            raise KeyboardInterrupt
        evaluated.append(len(moves))
        return original(self, moves, state, told=told)

    monkeypatch.setattr(Reviewer, "evaluate", evaluate)
    assert exit_code("review", games, "uct:20", "--game", 1) == 130
    captured = capsys.readouterr()
    assert "4 not searched yet" in captured.out
    assert captured.err.endswith("stopped\n")
    assert evaluated == [5, 4]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["uct:20", "--game", "9"], "there is no game 9; the file holds games 1 to 2"),
        (["uct:20", "--save", "x.txt"], "x.txt: a review needs a name that ends in .sgf"),
        (["uct:20", "--save", "no/x.sgf"], "cannot write"),
        (["random"], "random does not search, so it cannot review"),
        (["nobody"], "unknown player 'nobody'"),
        (["connect_four"], "plays connect_four, but the game asked for is tic_tac_toe"),
        (["uct:20", "--save", "mine.sgf"], "it would replace the games that are read from it; ch"),
    ],
)
def test_a_mistake_is_reported_in_one_line(
    games, monkeypatch, only_line, more: list[str], message: str
):
    monkeypatch.chdir(games.parent)
    before = games.read_bytes()
    assert message in only_line("review", games, *more)
    assert games.read_bytes() == before


def test_a_game_without_sgf_is_refused_before_it_is_searched(tmp_path, only_line):
    path = tmp_path / "four.jsonl"
    save_played(path, [PlayedGame(CONNECT_FOUR, ("A", "B"), (3, 3), 2)])
    line = only_line("review", path, "uct:20", "--save", tmp_path / "four.sgf")
    assert "SGF is possible for go" in line
