"""Played games as SGF: saved from play, matches and self-play, stepped through, gone on with."""

import dataclasses
import io
import re

import numpy as np
import pytest
from helpers.frontends.terminal_client import FIRST, TerminalTalk
from helpers.games import actions_in, random_actions
from helpers.matches import played_game
from helpers.players import saved_player
from helpers.runs.tiny_run import tiny_config

from alphazero.cli.main import main
from alphazero.errors import GameError, PlayerError
from alphazero.frontends.game_tree import PERSON
from alphazero.games import ONGOING, make_game
from alphazero.games.registry import read_game
from alphazero.players.registry import parse_player
from alphazero.records.game_files import continued, load_first, load_played, save_played
from alphazero.records.jsonl import read_line
from alphazero.records.played_game import PlayedGame, Variation
from alphazero.records.sgf import read_collection, read_main_line, read_sgf
from alphazero.records.sgf_export import search_comment, to_sgf, value_in
from alphazero.records.sgf_import import from_sgf
from alphazero.training.loop import train

HEX = read_game("hex:size=3")

GAMES = [
    "gomoku:rows=7,columns=7",
    "mnk:rows=4,columns=6,length=4",
    "tic_tac_toe",
    "go:rows=5,columns=5,suicide=1",
    "go:rows=3,columns=6,superko=2,komi_half_points=-3",
    "othello",
    "othello:size=4",
    "hex:size=5",
    "hex:size=6,swap=1",
]


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "moves", "result"),
    [
        ("go:rows=3,columns=3,komi_half_points=1", "B2 pass pass", "B+8.5"),
        ("go:rows=3,columns=3", "pass pass", "W+7.5"),
        ("go:rows=3,columns=3,komi_half_points=0", "pass pass", "0"),
        ("hex:size=2", "a1 b1 a2", "B+"),
        ("tic_tac_toe", "a1 b1 c1 b2 a2 c2 b3 a3 c3", "0"),
    ],
)
def test_results_are_written_in_points_where_there_are_any(game: str, moves: str, result: str):
    rules = read_game(game)
    finished = played_game(rules, actions_in(rules, moves))
    assert finished.outcome != ONGOING
    assert read_sgf(to_sgf(finished)).result == result


def test_othello_is_won_by_the_discs_that_lie_there():
    game, rng, results = read_game("othello:size=4"), np.random.default_rng(4), set()
    for _ in range(20):
        finished = played_game(game, random_actions(game, rng))
        drawing = game.render(finished.states()[-1]).partition(" to move")[0][:-1]
        lead = drawing.count("X") - drawing.count("O")
        results.add(result := read_sgf(to_sgf(finished)).result)
        assert result == (f"{'B' if lead > 0 else 'W'}+{abs(lead)}" if lead else "0")
    assert len(results) > 3


def test_what_is_written_is_what_is_read_and_what_is_written_again(tmp_path):
    rng = np.random.default_rng(7)
    for spelling in GAMES:
        game = read_game(spelling)
        bare = played_game(game, random_actions(game, rng))
        assert "C[" not in to_sgf(bare)
        values = rng.uniform(-1, 1, len(bare.actions))
        comments = tuple(
            search_comment(game, state, action, value, rng.dirichlet([1] * game.num_actions))
            for state, action, value in zip(bare.states(), bare.actions, values, strict=False)
        )
        assert [value_in(comment) for comment in comments] == pytest.approx(values, abs=0.005)
        whole = dataclasses.replace(
            bare, players=("Añ: [x\\]", "network:a/b.safetensors"), opening=3, comments=comments
        )
        cut = dataclasses.replace(whole, actions=whole.actions[:4], comments=comments[:4])
        reason = "answered 'z9]', which is no move. Twice"
        games = [
            bare,
            whole,
            dataclasses.replace(cut, outcome=ONGOING),
            dataclasses.replace(cut, outcome=1, resigned=True),
            dataclasses.replace(cut, outcome=-1, forfeit_reason=reason),
        ]
        for played, result in zip(games, ("", "", "", "B+R", "W+F"), strict=True):
            text = to_sgf(played)
            assert from_sgf(read_sgf(text)) == played
            assert [player for player, _ in read_sgf(text).moves] == [
                ply % 2 for ply in range(len(played.actions))
            ]
            assert not result or read_sgf(text).result == result
            line = read_line(played.to_line().encode())
            assert line == dataclasses.replace(played, comments=())
        save_played(tmp_path / "a.sgf", games)
        assert load_played(tmp_path / "a.sgf") == games


@pytest.mark.parametrize(
    ("result", "outcome"),
    [
        ("W+9", -1),  # of a position that Black won here: stones are dead that we take for alive
        ("B+9", 1),
        ("B+Resign", 1),
        ("W+R", -1),
        ("W+T", -1),
        ("W+Time", -1),
        ("W+F", -1),
        ("W+", -1),
        ("0", 0),
        ("Draw", 0),
        ("Void", 1),
        ("?", 1),
    ],
)
def test_names_and_result_of_another_program_are_written_as_they_were_read(
    result: str, outcome: int
):
    header = f"PB[Kim]PW[Lee 9p]RE[{result}]"
    for moves, end in ((";B[bb];W[];B[]", outcome), (";B[bb]", outcome)):
        played = from_sgf(read_sgf(f"(;SZ[3]KM[0]{header}{moves})"))
        expected = end if result not in ("Void", "?") or "[]" in moves else ONGOING
        assert (played.players, played.outcome) == (("Kim", "Lee 9p"), expected)
        assert header in to_sgf(played)
        assert from_sgf(read_sgf(to_sgf(played))) == played
        assert read_line(played.to_line().encode()) == played


def test_what_another_program_says_about_a_game_is_written_again():
    facts = "BR[9p]DT[2016-03-09]EV[a [b\\]]GC[two\nlines]PC[Seoul]RO[1]"
    played = from_sgf(read_sgf(f"(;SZ[3]KM[0]{facts}C[No\n\nhandicap.]AP[other];B[bb]C[good])"))
    written = to_sgf(played)
    assert f"C[No\nhandicap.]{facts}" in written
    assert "other" not in written
    assert from_sgf(read_sgf(written)) == played


def test_what_cannot_be_read_costs_only_itself_and_a_line(tmp_path, capsys):
    path = tmp_path / "games.sgf"
    games = ["(;SZ[3];B[aa]", "(;GM[3]SZ[3];B[aa])", "(;SZ[3];B[bb];W[bb])", "(;AZ[\x1b]SZ[3])"]
    path.write_text("\ufeff" + "\n".join(games) + "(;SZ[3];B[cc")
    assert [len(played.actions) for played in load_played(path)] == [1, 1, 0, 0]
    lines = capsys.readouterr().err.splitlines()
    for number, reason in (
        (1, "line 1: the last bracket is missing"),
        (3, "the moves from here on are left out: move 2, white B2: B2 is taken"),
        (4, "AZ is left out: unknown game '"),
        (5, "line 4: the end of a value is missing"),
        (2, "SGF: unknown game 3"),
    ):
        (line,) = [line for line in lines if f"{path}: game {number}: " in line]
        assert reason in line
        assert line.isprintable()
    assert len(lines) == 5
    path.write_text("")
    with pytest.raises(PlayerError, match=re.escape(f"{path}: SGF: no game in it")):
        load_played(path)


# --- comments ------------------------------------------------------------------------------------


def test_a_comment_has_the_win_rate_the_value_and_the_policy():
    state, policy = HEX.initial_state(), np.array([0, 0.25, 0, 0, 0.61, 0, 0, 0.138, 0.002])
    assert search_comment(HEX, state, 4, 0.42, policy) == (
        "win rate 71% (value +0.42), policy 61%; else b1 25%, b3 14%"
    )
    visits = np.array([0, 50, 0, 0, 122, 0, 0, 28, 0])
    assert search_comment(HEX, state, 1, -1.0, policy, visits) == (
        "win rate 0% (value -1.00), 50 of 200 visits; else b2 61%, b3 14%"
    )
    assert search_comment(HEX, state, 4, 0.0, 0 * policy) == "win rate 50% (value +0.00)"
    for comment in ("", "win rate 71%", "win rate 71% (value x)", "win rate 9% (value +9.99)"):
        assert value_in(comment) is None


@pytest.mark.parametrize("count", ["four", "-1", "9" * 5000, "²", ""])
def test_a_comment_of_another_program_does_not_count_as_an_opening(count: str):
    text = f"(;GM[11]SZ[3]C[Moves drawn at random to open it: {count}.];B[a1])"
    assert from_sgf(read_sgf(text)).opening == 0


# --- the terminal --------------------------------------------------------------------------------


def test_games_are_saved_with_the_visits_of_the_players_search(tmp_path):
    path, player = tmp_path / "my game.sgf", parse_player("uct:simulations=100")
    words = f"save {path},b2,save,save {path},new,b2,undo,c2,quit".split(",")
    talk = TerminalTalk("tic_tac_toe", FIRST, words, player=player)
    talk.terminal.run(tmp_path / "all.sgf")
    assert "there is no move to save yet" in talk.text
    assert "expected a file, as in: save game.sgf" in talk.text
    assert f"saved 1 game in {path}" in talk.text
    (game,) = load_played(path)
    assert (game.players, game.outcome, len(game.actions)) == ((PERSON, player.name), ONGOING, 2)
    comment = re.fullmatch(
        r"win rate (\d+)% \(value ([+-].*)\), (\d+) of (\d+) visits; else .*", game.comments[1]
    )
    assert comment
    assert game.comments[0] == ""
    assert abs(float(comment[1]) / 100 - (1 + float(comment[2])) / 2) < 0.011
    assert 0 < int(comment[3]) <= int(comment[4])
    assert int(comment[4]) >= 100
    assert f"(win rate {comment[1]}%" in talk.text
    first, second = load_played(tmp_path / "all.sgf")
    assert [first, second] == talk.session.played()
    assert first.actions == game.actions
    assert [bool(comment) for comment in second.comments] == [False, True]
    assert second.moves()[0] == "c2"


def test_a_record_is_gone_on_with(tmp_path, monkeypatch, capsys, only_line):
    path, saved = tmp_path / "a.sgf", tmp_path / "b.sgf"
    begun = played_game(HEX, actions_in(HEX, "a1 b2 c1"), comments=("one", "", "three"))
    save_played(path, [begun])
    monkeypatch.setattr("sys.stdin", io.StringIO("b1\nquit\n"))
    command = ["play", "random", "--from", str(path), "--after", "2", "--save", str(saved)]
    assert main(command) == 0
    assert "X to move after 2 moves" in capsys.readouterr().out
    (after,) = load_played(saved)
    assert (after.game, after.moves()[:3]) == (HEX, ["a1", "b2", "b1"])
    assert after.comments[:3] == ("one", "", "")
    play = "play", "random"
    assert "; expected othello" in only_line(*play, "--from", path, "--game", "othello")
    line = only_line(*play, "--game", "connect_four", "--save", path)
    assert line.endswith("; a file that ends in .jsonl takes any game")


def test_a_record_is_gone_on_with_by_its_own_rules_if_the_player_plays_them(
    tmp_path, monkeypatch, capsys
):
    path, saved = tmp_path / "a.sgf", tmp_path / "b.sgf"
    path.write_text("(;GM[1]SZ[5]KM[5.5]RU[AGA]EV[Cup]C[so far];B[aa](;W[bb])(;W[cc]C[or]))")
    narrow = saved_player(tmp_path / "narrow.safetensors", "go:rows=5,columns=5")
    wide = saved_player(tmp_path / "wide.safetensors", "go:rows=5,columns=5,features=1")
    for player, komi, superko in ("random", 11, 2), (wide, 11, 2), (narrow, 15, 1):
        monkeypatch.setattr("sys.stdin", io.StringIO("D1\nquit\n"))
        assert main(["play", str(player), "--from", str(path), "--save", str(saved)]) == 0
        (played,) = load_played(saved)
        assert played.game.options["komi_half_points"] == komi
        assert played.game.options["superko"] == superko
        assert (dict(played.tags)["EV"], played.remark) == ("Cup", "so far")
        assert played.variations == (Variation(1, (12,), ("or",)),)
        changed = "goes on as go:rows=5,columns=5, which" in capsys.readouterr().err
        assert changed == (player == narrow)


def test_a_record_is_gone_on_with_by_the_rules_that_are_asked_for(tmp_path):
    path = tmp_path / "a.sgf"
    path.write_text("(;GM[1]SZ[5]KM[6.5];B[aa];W[];B[bb])")
    go = read_game("go:rows=5,columns=5")
    played = load_first(path, None)
    begun = continued(path, played, None, go)
    assert (begun.game, begun.actions) == (go, (0, 25, 6))
    assert continued(path, played, 1, played.game).game.options["komi_half_points"] == 13
    for game, message in (
        (HEX, "a game of go:.*; expected hex:size=3"),
        (make_game("go"), "; expected go$"),
        (
            read_game("go:rows=5,columns=5,moves=1"),
            "move 2 is not legal in .*; continue after move 1 at the latest",
        ),
    ):
        with pytest.raises(PlayerError, match=message):
            continued(path, played, None, game)
    with pytest.raises(PlayerError, match="has 3 moves; continue after move 3 at the latest"):
        continued(path, played, 4, played.game)


# --- matches, self-play, show --------------------------------------------------------------------


def test_a_game_from_a_position_that_was_set_up_is_not_written_as_another_one(tmp_path, only_line):
    game = make_game("gomoku", rows=7, columns=7)
    start = game.render(game.from_moves(["d4", "d5"]))
    played = PlayedGame(game, ("a", "b"), (16,), ONGOING, start=start)
    with pytest.raises(GameError, match="set-up position"):
        to_sgf(played)
    path, saved = tmp_path / "a.jsonl", tmp_path / "a.sgf"
    path.write_text(played.to_line() + "\n")
    refused = "a game from a set-up position is not written as SGF; a file that ends in .jsonl"
    assert refused in only_line("play", "random", "--from", path, "--save", saved)
    assert refused in only_line("review", path, "uct:5", "--save", saved)


def test_a_match_is_saved_as_sgf_and_shown_step_by_step(tmp_path, capsys, monkeypatch):
    path = tmp_path / "games.sgf"
    game = ["--game", "hex:size=3", "--games", "2", "--opening-moves", "1"]
    assert main(["match", "uct:simulations=30", "random", *game, "--save", str(path)]) == 0
    assert path.read_text().count("C[Moves drawn at random to open it: 1.\n") == 2
    first, second = load_played(path)
    assert first.players == second.players[::-1]
    for played in (first, second):
        searched = [
            ply > 0 and played.players[ply % 2].startswith("uct")
            for ply in range(len(played.actions))
        ]
        assert [bool(comment) for comment in played.comments] == searched
    capsys.readouterr()
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["replay", str(path), "--game", "2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("game 2 of 2, random against uct:simulations=30: ")
    assert f"2. Blue (O) uct:simulations=30: {second.moves()[1]}  win rate " in out


@pytest.mark.integration
def test_self_play_and_the_gate_leave_their_games_as_sgf_with_search_comments(tmp_path):
    folder = train(tiny_config(tmp_path, "budget.iterations=2", "gate.opening_moves=1"))
    for name, players in (("selfplay", {"best"}), ("gate", {"best", "challenger"})):
        path = folder / "games" / f"{name}-000002.sgf"
        (game,) = load_played(path)
        assert set(game.players) == players
        assert any("policy" in comment for comment in game.comments)
        text = path.with_suffix(".txt").read_text()
        assert " ".join(game.moves()) in text
        (record,) = read_collection(path.read_text())
        assert read_main_line(record).text("AZ") == "tic_tac_toe"
    assert not game.comments[0], "the opening's moves are random"


def test_a_comment_cannot_command_the_terminal(tmp_path, capsys):
    path = tmp_path / "a.sgf"
    path.write_text("(;GM[11]SZ[3]PB[\x1b[2J\\]];B[a1]C[a\n\x1b[31mb\tc])")
    assert main(["replay", str(path)]) == 0
    out = capsys.readouterr().out
    assert "against white: unfinished, 1 move\n" in out
    assert "1. Red (X) '\\x1b[2J]': a1  a\n  [31mb c\n" in out
    assert "\x1b" not in out
