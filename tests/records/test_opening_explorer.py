"""The opening explorer, against counts by hand and by plain search through the games."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import OnlyLine
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE
from helpers.runs.records import random_records
from helpers.runs.tiny_run import tiny_config

from alphazero.cli.main import main
from alphazero.errors import GameError
from alphazero.games import ONGOING
from alphazero.records.game_files import save_played
from alphazero.records.opening_explorer import explore, in_periods
from alphazero.records.played_game import PlayedGame
from alphazero.training.loop import train


def game_of(*actions: int, outcome: int = 1, opening: int = 0) -> PlayedGame:
    return PlayedGame(TIC_TAC_TOE, ("A", "B"), actions, outcome, opening=opening)


def test_symmetric_moves_and_games_are_counted_as_one() -> None:
    corners = [game_of(corner, 4, outcome=0) for corner in (0, 2, 6, 8)]
    found = explore(TIC_TAC_TOE, {"all": [*corners, game_of(4, 0), game_of(1, 4)]}, [])
    assert [(move.name, move.games) for move in found.moves] == [("a3", 4), ("b3", 1), ("b2", 1)]
    answers = explore(TIC_TAC_TOE, {"all": corners}, ["c1"])
    assert [(move.name, move.games) for move in answers.moves] == [("b2", 4)]


def test_points_are_those_of_the_player_who_moves() -> None:
    games = [game_of(4, 0, outcome=-1), game_of(4, 0, outcome=0), game_of(4, 0, outcome=ONGOING)]
    first = explore(TIC_TAC_TOE, {"all": games}, []).moves[0]
    second = explore(TIC_TAC_TOE, {"all": games}, ["b2"]).moves[0]
    assert (first.games, first.finished, first.score) == (3, 2, 0.25)
    assert second.score == 0.75
    assert explore(TIC_TAC_TOE, {"all": games[2:]}, []).moves[0].score is None


def test_moves_drawn_for_an_opening_are_not_counted() -> None:
    games = {"all": [game_of(4, 0, 8, opening=1)]}
    assert explore(TIC_TAC_TOE, games, []).moves == []
    assert [move.name for move in explore(TIC_TAC_TOE, games, ["b2"]).moves] == ["a3"]


def test_the_counts_are_those_of_a_plain_search() -> None:
    games = [
        PlayedGame.of(CONNECT_FOUR, each, ("A", "B")) for each in random_records(CONNECT_FOUR, 300)
    ]
    found = explore(CONNECT_FOUR, {"first": games[:100], "second": games[100:]}, ["2", "4"])
    expected = Counter(
        game.actions[2] if game.actions[0] == 1 else 6 - game.actions[2]
        for game in games
        if game.actions[:2] in ((1, 3), (5, 3))
    )
    assert {move.action: move.games for move in found.moves} == expected
    assert sum(found.counts) == expected.total() == sum(map(sum, [m.counts for m in found.moves]))
    names = [move.games for move in found.moves]
    assert names == sorted(names, reverse=True)


def test_an_illegal_line_is_refused() -> None:
    with pytest.raises(GameError, match="b2"):
        explore(TIC_TAC_TOE, {"all": []}, ["b2", "b2"])


@pytest.mark.parametrize(("most", "names"), [(2, ["iterations 3-5", "7-9"]), (9, None)])
def test_iterations_are_joined_into_periods(most: int, names: list[str] | None) -> None:
    games = {number: [game_of(number % 9)] for number in (9, 3, 5, 7)}
    found = in_periods(games, most)
    assert list(found) == (names or ["iterations 3", "5", "7", "9"])
    assert sum(map(len, found.values())) == 4
    assert in_periods({}, most) == {}


def test_the_command_reads_runs_and_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = train(tiny_config(tmp_path))
    capsys.readouterr()
    assert main(["openings", str(run)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("in the initial position: ")
    assert "iterations 1" in shown
    file = tmp_path / "games.jsonl"
    save_played(file, [game_of(4, 0, 8, outcome=ONGOING), game_of(4, 0, 3, 1, 5)])
    assert main(["openings", str(file), "b2"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "after b2: 2 games"


def test_mistakes_get_one_line(tmp_path: Path, only_line: OnlyLine) -> None:
    file, begun = tmp_path / "games.jsonl", game_of(4, 0, 8, outcome=ONGOING)
    save_played(file, [begun, PlayedGame(CONNECT_FOUR, ("A", "B"), (1,), ONGOING)])
    assert "different games" in only_line("openings", file)
    save_played(file, [begun])
    assert "z9" in only_line("openings", file, "b2", "z9")


def test_a_position_without_games_is_described(tmp_path: Path) -> None:
    assert str(explore(TIC_TAC_TOE, {"all": []}, [])) == "in the initial position: 0 games"
    assert np.sum(explore(TIC_TAC_TOE, {"all": []}, []).counts) == 0
