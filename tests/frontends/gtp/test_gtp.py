"""The Go Text Protocol, served: sessions as recorded, regression files, and whatever may come."""

import dataclasses
import math
import random
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import objects
from helpers.frontends.gtp_client import GtpTalk, SlowClock, regress
from helpers.paths import TESTS
from helpers.players import ANY_SIZE, TINY, saved_player
from helpers.processes import until

from alphazero.frontends import analyzer
from alphazero.frontends.gtp.commands import COMMANDS
from alphazero.frontends.gtp.protocol import GtpLine, format_reply, read_line
from alphazero.games import ONGOING, game_names, make_game
from alphazero.games.game import PLY, Mask, State
from alphazero.games.go.board import KOMI
from alphazero.games.mnk import Mnk
from alphazero.players.solver_players import MinimaxPlayer
from alphazero.records.gtp_notation import GtpNotation


def test_a_recorded_session_is_answered_as_it_was():
    text = (TESTS / "data" / "gtp_session.txt").read_text()
    blocks = [block.split("\n", 1) for block in text.strip().split("\n\n")]
    talk = GtpTalk("minimax:depth=9", "tic_tac_toe")
    for line, expected in blocks:
        reply = talk.ask(line)
        assert reply.endswith("\n\n")
        if line == "genmove black":  # which of equal moves is drawn by the seed
            assert re.fullmatch(r"= [ABC][123]\n\n", reply)
            talk.ask("undo")
            assert talk.ask("play black A3") == "=\n\n"
        else:
            assert reply.rstrip("\n") == expected, line


def test_the_commands_of_the_specification_are_listed():
    specification = """
        protocol_version name version known_command list_commands quit boardsize clear_board komi
        play genmove fixed_handicap place_free_handicap set_free_handicap loadsgf reg_genmove undo
        time_settings time_left final_score final_status_list showboard
    """
    words = GtpTalk("random", "tic_tac_toe").ask("list_commands")[2:].split()
    assert len(set(words)) == len(words)
    assert set(specification.split()) <= set(words)


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("  12  play\tblack D4 # here", GtpLine("12", "play", ["black", "D4"])),
        ("quit\r", GtpLine("", "quit", [])),
        ("\x07na\x00me", GtpLine("", "name", [])),
        ("12", GtpLine("12", "", [])),
        ("12play", GtpLine("", "12play", [])),
        ("# only a comment", None),
        (" \t ", None),
        ("", None),
    ],
)
def test_a_line_is_read_as_the_specification_says(line: str, read: GtpLine | None):
    assert read_line(line) == read


def test_an_answer_holds_no_empty_line_but_its_end():
    assert format_reply("3", "a\n\n\nb ") == "=3 a\nb\n\n"
    assert format_reply("3", "\na\nb") == "=3\na\nb\n\n"
    assert format_reply("3", "") == "=3\n\n"
    assert format_reply("3", "no", succeeded=False) == "?3 no\n\n"


@pytest.mark.parametrize("game", ["tic_tac_toe", "connect_four", "go", "othello"])
def test_regression_files_pass(game: str):
    player = "random" if game in ("go", "othello") else "solver"
    assert regress(TESTS / "regression" / f"{game}.tst", GtpTalk(player, game)) == []


@pytest.mark.parametrize("name", [name for name in game_names() if name != "mnk"])
def test_every_legal_move_is_found_by_its_name_in_every_game(name: str):
    game, rng = make_game(name), np.random.default_rng(2)
    vertices = GtpNotation(game)
    state = game.initial_state()
    while game.outcome(state) == ONGOING and state[PLY] < 12:
        legal = np.flatnonzero(game.legal_action_mask(state))
        names = [vertices.name(state, int(action)) for action in legal]
        assert len(set(names)) == len(names)
        for action, written in zip(legal, names, strict=True):
            assert vertices.action(state, written) == action
            assert vertices.action(state, written.swapcase()) == action
        state = game.play(state, int(rng.choice(legal)))


class TwoStones(Mnk):
    """Puts a small or a big stone on a cell: two moves of one cell."""

    policy_planes = 2

    @property
    def num_actions(self) -> int:
        return 2 * self.rows * self.columns

    def legal_action_mask(self, state: State) -> Mask:
        small = super().legal_action_mask(state)
        return small | np.roll(small, len(small) // 2)

    def action_cell(self, state: State, action: int) -> int:
        return super().action_cell(state, action % (self.num_actions // 2))

    def action_name(self, state: State, action: int) -> str:
        big, cell = divmod(action, self.num_actions // 2)
        return super().action_name(state, cell) + "b" * big


def test_moves_that_share_a_cell_have_the_names_of_the_game():
    game = TwoStones()
    vertices, state = GtpNotation(game), game.initial_state()
    names = [vertices.name(state, action) for action in range(game.num_actions)]
    assert len(set(names)) == len(names)
    assert [vertices.action(state, name) for name in names] == list(range(len(names)))


def test_rows_count_as_the_game_counts_them_and_from_the_bottom_no_column_is_i():
    gomoku = GtpNotation(make_game("gomoku"))
    assert gomoku.cells.name(0) == "A15"
    assert gomoku.cells.name(8) == "J15"
    assert [gomoku.cells.read(name) for name in ("I15", "Q1", "A16", "A0", "pass")] == [None] * 5
    assert [gomoku.cells.read(gomoku.cells.name(cell)) for cell in range(225)] == list(range(225))
    othello = GtpNotation(make_game("othello"))
    assert othello.cells.number(0) == 1
    assert othello.cells.name(0) == "A1"
    # MoHex and HexGui call the ninth column of Hex I; Go has no such column.
    board = make_game("hex", size=11)
    assert GtpNotation(board).cells.name(8) == "I1"
    assert GtpNotation(board).action(board.initial_state(), "k11") == 120
    assert GtpNotation(make_game("go")).cells.name(8) == "J9"
    assert not GtpNotation(make_game("nim")).has_cells
    assert not GtpNotation(make_game("chess")).has_cells


def test_moves_of_pieces_are_named_by_both_cells_and_promotions_by_their_letter():
    talk = GtpTalk("random", "gardner")
    for line in ("play b A2A3", "play w b4a3", "play b b2b3", "play w a3a2", "play b b1c3"):
        assert talk.ask(line) == "=\n\n"
    assert talk.ask("play w a2a9") == "? invalid vertex 'a2a9'\n\n"
    assert talk.ask("play b c3b1") == "? illegal move: it is white's turn\n\n"
    assert talk.ask("play w a2b1n") == "? invalid vertex 'a2b1n'\n\n"
    assert talk.ask("play w b5c3") == "=\n\n"
    assert talk.ask("showboard").splitlines()[1].split() == ["5", "r", ".", "b", "q", "k"]
    assert talk.ask("final_status_list alive") == "? not supported for this game\n\n"
    assert re.fullmatch(r"= [a-e][1-5][a-e][1-5]q?\n\n", talk.ask("genmove b"))


def test_a_checkpoint_names_the_one_game_board_and_komi_that_it_plays(tmp_path):
    one_size = dataclasses.replace(TINY, heads="dense")
    talk = GtpTalk(str(saved_player(tmp_path / "go.safetensors", "go", one_size)), "go")
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[13];B[aa])")
    replies = {
        "boardsize 13": "? unacceptable size: this player plays on 9 x 9 only",
        "rectangular_boardsize 9 7": "? unacceptable size: this player plays on 9 x 9 only",
        f"loadsgf {path}": "? cannot load file: this player plays on 9 x 9 only",
        "komi 6.5": "? this player plays with komi 7.5 only",
        "boardsize 9": "=",
        "komi 7.5": "=",
    }
    for line, reply in replies.items():
        assert talk.ask(line) == f"{reply}\n\n"


def test_a_go_player_with_convolutional_heads_takes_any_board_and_prints_so_once(tmp_path, capsys):
    path = saved_player(tmp_path / "go.safetensors", "go", ANY_SIZE)
    talk = GtpTalk(str(path), "go")
    assert talk.ask("boardsize 9") == "=\n\n"
    assert not capsys.readouterr().err
    assert talk.ask("boardsize 5") == "=\n\n"
    output = capsys.readouterr().err
    assert output == f"{path} was trained on go, not on go:rows=5,columns=5\n"
    assert talk.ask("clear_board") == "=\n\n"
    assert re.fullmatch(r"= ([A-E][1-5]|pass|PASS)\n\n", talk.ask("genmove b"))
    assert talk.ask("komi 6.5") == "? this player plays with komi 7.5 only\n\n"
    assert talk.ask("boardsize 9") == talk.ask("play b j9") == "=\n\n"
    assert not capsys.readouterr().err


def test_a_go_player_that_sees_komi_plays_any_komi_and_handicap(tmp_path):
    path = saved_player(tmp_path / "go.safetensors", "go:rows=7,columns=7,features=1")
    talk = GtpTalk(str(path), "go:rows=7,columns=7,features=1")
    assert talk.ask("play b D4") == talk.ask("komi 5.5") == "=\n\n"
    assert talk.engine.state[KOMI] == 11
    assert talk.ask("final_score") == "= B+43.5\n\n"
    assert re.fullmatch(r"= ([A-G][1-7]|pass)\n\n", talk.ask("genmove w"))
    assert talk.ask("boardsize 9") == ("? unacceptable size: this player plays on 7 x 7 only\n\n")
    assert talk.ask("clear_board") == talk.ask("komi 0.5") == "=\n\n"
    assert talk.ask("fixed_handicap 2") == "= C3 E5\n\n"
    assert talk.engine.state[KOMI] == 1
    assert re.fullmatch(r"= ([A-G][1-7]|pass)\n\n", talk.ask("genmove w"))


def test_the_tree_follows_the_game_and_is_forgotten_with_what_is_taken_back():
    talk = GtpTalk("uct:400", "connect_four")
    for line in ("genmove b", "undo", "play b A1", "genmove w"):
        talk.ask(line)
    roots = talk.engine.analyzer.roots
    assert roots is not None
    assert roots.visits.sum() > 400  # some were there when the move was Black's
    for line in ("undo", "undo", "play b B1", "reg_genmove w"):
        talk.ask(line)
    roots = talk.engine.analyzer.roots
    assert roots is not None
    assert roots.visits.sum() == 400


INFO = r"info move [A-G][1-6] visits \d+ winrate {n} prior {n} lcb {n} order \d+ pv( [A-G][1-6])+"


@pytest.mark.parametrize(
    ("word", "number"),
    [("lz-analyze", r"\d{1,5}"), ("analyze", r"\d{1,5}"), ("kata-analyze", r"[01]\.\d{6}")],
)
def test_analysis_is_streamed_until_the_next_line_comes(word: str, number: str):
    def lines(talk: GtpTalk) -> Iterator[str]:
        yield f"7 {word} b 1"
        until(lambda: talk.output.count("\ninfo") >= 3)
        yield "8 name"

    output = GtpTalk("uct:50", "connect_four", lines).run()
    body, end, rest = output.partition("\n\n")
    assert (end, rest) == ("\n\n", "=8 alphazero\n\n")
    begin, *lines = body.split("\n")
    assert begin == "=7"
    assert len(lines) >= 3
    info = INFO.replace("{n}", number)
    if word.startswith("kata"):
        info = info.replace("winrate", rf"utility -?{number} winrate")
    for line in lines:
        assert re.fullmatch(rf"{info}( {info})*", line), line
        assert [int(n) for n in re.findall(r"order (\d+)", line)] == list(range(line.count("info")))
    visits = [sum(map(int, re.findall(r"visits (\d+)", line))) for line in lines]
    assert visits == sorted(visits)
    assert visits[-1] > 50  # an analysis goes on beyond a move's simulations


def test_analysis_reports_the_statistics_of_the_search():
    talk = GtpTalk("uct:500", "tic_tac_toe")
    for line in ("play b a1", "play w b2", "play b a2", "play w c3", "reg_genmove b"):
        talk.ask(line)
    reply = talk.ask("kata-analyze b minmoves 9")
    words = "move", "visits", "utility", "winrate", "prior", "lcb"
    infos = re.findall(" ".join(rf"{word} (\S+)" for word in words), reply)
    assert {info[0] for info in infos} == {"A3", "B1", "B3", "C1", "C2"}
    assert infos[0][0] == "A3"  # three in a column
    assert float(infos[0][2]) == float(infos[0][3]) == 1
    for _, visits, _, winrate, _, bound in infos:
        deviation = math.sqrt(float(winrate) * (1 - float(winrate)) / max(int(visits), 1))
        assert float(bound) == pytest.approx(max(float(winrate) - 1.96 * deviation, 0), abs=1e-3)
    assert any(0 < float(info[5]) < float(info[3]) for info in infos)
    roots = talk.engine.analyzer.roots
    assert roots is not None
    assert sum(int(info[1]) for info in infos) == roots.visits.sum()
    assert talk.ask("lz-analyze maxmoves 1").count("info") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("b 10 minmoves", "'minmoves' needs a value"),
        ("b 10 fly b", "not supported: 'fly'"),
        ("w 10", "illegal move: it is black's turn"),
        ("b interval x", "interval must be an integer"),
    ],
)
def test_a_request_that_is_not_understood_is_refused_with_a_message(arguments: str, message: str):
    talk = GtpTalk("uct:5", "tic_tac_toe")
    assert talk.ask(f"lz-analyze {arguments}").startswith(f"? {message}")
    assert talk.ask("lz-analyze b 1 ownership true").startswith("=\n")


GO_3X3 = "go:rows=3,columns=3,komi_half_points=1"


def go_player(path: Path, *heads: str) -> str:
    """Write an untrained player of Go with auxiliary heads."""
    network = dataclasses.replace(TINY, auxiliary=heads)
    return str(saved_player(path / f"{'_'.join(heads)}go.safetensors", GO_3X3, network))


def numbers_after(word: str, reply: str, count: int) -> list[float]:
    words = reply.split()
    return [float(number) for number in words[words.index(word) + 1 :][:count]]


def test_kata_analyze_has_score_and_ownership_for_the_player_to_move(tmp_path):
    talk = GtpTalk(go_player(tmp_path, "ownership", "margin"), GO_3X3)
    for line, player in (("play b a1", 1), ("play w b2", 0)):
        talk.ask(line)
        end = talk.engine.analyzer.predict_end(talk.engine.state)
        assert end.margin is not None
        assert end.ownership is not None
        sign = 1 if player == 0 else -1
        reply = talk.ask("kata-genmove_analyze " + "bw"[player] + " ownership true")
        talk.ask("undo")
        for info in reply[: reply.index("ownership")].split("info move ")[1:]:
            assert numbers_after("scoreLead", info, 1) == [round(sign * end.margin, 6)]
            assert numbers_after("scoreMean", info, 1) == [round(sign * end.margin, 6)]
            assert numbers_after("scoreStdev", info, 1) == [round(end.margin_spread or 0, 6)]
        assert numbers_after("ownership", reply, 9) == pytest.approx(sign * end.ownership, abs=1e-6)
    assert "ownership" not in talk.ask("kata-genmove_analyze b ownership false")
    assert "score" not in talk.ask("lz-genmove_analyze w ownership true")
    # Without a head its numbers are left out.
    for player in (go_player(tmp_path), "uct:30"):
        reply = GtpTalk(player, GO_3X3).ask("kata-genmove_analyze b ownership true")
        assert "info move" in reply
        assert "score" not in reply
        assert "ownership" not in reply


def test_before_the_end_the_network_says_which_stones_are_dead(tmp_path):
    talk = GtpTalk(go_player(tmp_path, "ownership"), GO_3X3)
    for line in ("play b a1", "play w c3", "play b a2", "play w c1"):
        talk.ask(line)
    end = talk.engine.analyzer.predict_end(talk.engine.state)
    assert end.ownership is not None
    chains = {"A2 A1": (1, [3, 6]), "C3": (-1, [2]), "C1": (-1, [8])}
    shares = {name: sign * end.ownership[cells].mean() for name, (sign, cells) in chains.items()}
    alive, dead = (
        set(talk.ask(f"final_status_list {status}")[2:].strip().splitlines())
        for status in ("alive", "dead")
    )
    assert dead == {name for name, share in shares.items() if share < 0}
    assert alive == chains.keys() - dead
    assert talk.ask("final_status_list seki") == "=\n\n"
    for line in ("play b pass", "play w pass"):
        talk.ask(line)
    assert talk.ask("final_status_list dead") == "=\n\n"
    assert len(talk.ask("final_status_list alive").split()) == 5


def test_players_without_a_tree_say_that_they_have_none():
    talk = GtpTalk("random", "tic_tac_toe")
    for line in ("lz-analyze", "kata-genmove_analyze b"):
        assert talk.ask(line).startswith("? not supported: this player does not search a tree")
    assert re.fullmatch(r"= [ABC][123]\n\n", talk.ask("genmove b"))


@pytest.mark.parametrize("word", ["genmove_analyze", "lz-genmove_analyze", "kata-genmove_analyze"])
def test_a_move_found_before_the_first_interval_is_reported_once(word: str):
    talk = GtpTalk("uct:60", "tic_tac_toe")
    begin, info, move = talk.ask(f"3 {word} b 100000").rstrip("\n").split("\n")
    assert begin == "=3"
    visits = [int(number) for number in re.findall(r"visits (\d+)", info)]
    assert sum(visits) == 60
    assert move == "play " + re.findall(r"info move (\S+) visits (\d+)", info)[0][0]
    assert talk.ask(f"{word} w 100000 maxmoves 2").count("info move") == 2


def test_a_player_that_ponders_thinks_while_nothing_is_asked_until_it_is_stopped():
    def lines(talk: GtpTalk) -> Iterator[str]:
        yield "genmove b"
        until(lambda: talk.engine.analyzer.search.simulations >= 2000)
        yield "name"

    talk = GtpTalk("uct:100", "connect_four", lines, ponder=True)
    assert talk.run().endswith("= alphazero\n\n")
    idle = GtpTalk("uct:100", "connect_four", ["genmove b", "name"])
    idle.run()
    assert idle.engine.analyzer.search.simulations == 100
    stopped = GtpTalk("uct:30", "connect_four", ["genmove b", "stop"], ponder=True)
    stopped.run()
    assert stopped.engine.own_move == -1


def test_a_level_does_not_ponder_for_its_strength_is_that_of_its_simulations():
    def lines(talk: GtpTalk) -> Iterator[str]:
        yield "genmove b"
        until(lambda: talk.output)
        time.sleep(0.3)
        yield "name"

    talk = GtpTalk("connect_four:level=9", "connect_four", lines, ponder=True)
    talk.run()
    analyzer = talk.engine.analyzer
    assert analyzer.search.simulations == analyzer.budget.simulations


@pytest.mark.parametrize(
    ("settings", "least", "most"),
    [
        ("time_settings 0 5 1", 3.0, 5.0),
        ("time_settings 60 0 0", 1.0, 10.0),
        ("time_settings 0 0 0", 0.0, 0.15),
        ("kgs-time_settings byoyomi 0 2 3", 1.0, 2.0),
        ("kgs-time_settings canadian 0 100 50", 1.0, 2.0),
        ("kgs-time_settings absolute 30", 0.5, 5.0),
        ("kgs-time_settings byoyomi 0 2.5 3", 1.5, 2.5),
        ("time_left b 3 2", 1.0, 1.5),
        ("time_left b 0 0", 0.0, 0.15),
    ],
)
def test_time_is_used_and_not_overstepped(settings: str, least: float, most: float, monkeypatch):
    clock = SlowClock()
    monkeypatch.setattr(analyzer, "time", clock)
    talk = GtpTalk("uct", "connect_four")
    assert talk.ask(settings) == "=\n\n"
    assert re.fullmatch(r"= [A-G]1\n\n", talk.ask("genmove b"))
    assert least <= clock.now <= most


def test_a_player_named_with_its_simulations_runs_them_with_and_without_a_clock():
    talk = GtpTalk("uct:30", "tic_tac_toe")
    for setting in ("time_settings 0 1 0", "kgs-time_settings none", "time_settings 1000 0 0"):
        talk.ask("clear_board")
        talk.ask(setting)
        before = talk.engine.analyzer.search.simulations
        talk.ask("genmove b")
        assert talk.engine.analyzer.search.simulations == before + 30


def test_komi_and_size_of_go_are_options_of_players_that_play_any():
    talk = GtpTalk("random", "go")
    for line in ("boardsize 7", "time_settings 60 0 0", "fixed_handicap 2", "time_left b 40 0"):
        assert talk.ask(line)[0] == "="
    assert talk.ask("komi 0") == "=\n\n"
    assert talk.ask("final_score") == "= B+49\n\n"
    assert talk.ask("komi 5.5") == "=\n\n"
    assert talk.ask("final_score") == "= B+43.5\n\n"
    assert talk.ask("komi 5.3").startswith("? komi must be a multiple of a half")
    # Moves, clocks and handicap stay.
    assert talk.ask("showboard").count("X") == 2
    assert talk.engine.clocks is not None
    assert talk.engine.clocks[0].left == 40
    assert talk.ask("rectangular_boardsize 7 5") == "=\n\n"
    assert talk.ask("play w G5") == "=\n\n"  # after a pass that nobody asked for
    assert talk.ask("showboard").count("O") == 1
    assert talk.ask("undo") == "=\n\n"
    assert talk.ask("undo") == "? cannot undo\n\n"
    assert GtpTalk("random", "hex").ask("get_komi") == "= 0\n\n"


@pytest.mark.parametrize(("player", "own"), [("minimax:depth=2", None), ("minimax:seconds=1", 1)])
def test_a_player_has_its_own_limits_again_without_a_clock(player: str, own: float | None):
    talk = GtpTalk(player, "tic_tac_toe")
    searching = talk.engine.analyzer.player
    assert isinstance(searching, MinimaxPlayer)
    talk.ask("time_settings 0 5 1")
    talk.ask("genmove b")
    assert searching.seconds not in (None, own)
    talk.ask("kgs-time_settings none")
    talk.ask("genmove w")
    assert searching.seconds == own


def test_games_are_loaded_from_sgf(tmp_path, capsys):
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[5]KM[0]AB[aa][bb];W[cc](;B[dd];W[])(;B[ee]))")
    talk = GtpTalk("random", "go")
    for command in (f"loadsgf {path} 3", f"loadsgf {path}"):
        assert talk.ask(command) == "=\n\n"
        board = talk.ask("showboard")
        assert (board.count("X"), board.count("O")) == (3, 1)
    assert len(talk.engine.steps) == 4  # the stones of the handicap, and three moves
    path.write_text("(;GM[11]SZ[5];B[a1])")
    assert "this is Hex (GM[11]), not go:" in talk.ask(f"loadsgf {path}")
    assert talk.ask("showboard") == board
    assert not capsys.readouterr().err


def test_a_file_is_loaded_as_far_as_the_rules_of_its_player_allow(tmp_path, capsys):
    path, game = tmp_path / "game.sgf", "go:rows=5,columns=5"
    suicide = ";B[ba];W[ee];B[bb];W[ed];B[ac];W[aa];B[de];W[ab];B[dd]"
    path.write_bytes(f"(;SZ[5]PB[\u8868]{suicide})".encode("shift_jis"))
    checkpoint = str(saved_player(tmp_path / "a.safetensors", game))
    for player in "random", checkpoint:
        talk = GtpTalk(player, game)
        assert talk.ask(f"loadsgf {path}") == "=\n\n"
        loaded, moves = talk.engine.game, "B5 E1 B4 E2 A3 A5 D1 A4 D2"
        assert loaded.action_names(loaded.initial_state(), talk.engine.moves) == moves.split()
        error = capsys.readouterr().err
        assert "loadsgf: the rules forbid move 8, white A4: A4 is forb" in error
        assert re.fullmatch("= ([A-E][1-5]|PASS|pass)\n\n", talk.ask("genmove w"))


def test_the_rules_of_a_file_hold_for_its_game_alone(tmp_path):
    path = tmp_path / "my game.sgf"
    path.write_text("(;SZ[5];B[ba];W[ee];B[bb];W[ed];B[ac];W[aa];B[de];W[ab];B[dd])")
    talk, suicide = GtpTalk("random", "go:rows=5,columns=5"), ("b A4", "b B5", "w A5")
    assert talk.ask(f"loadsgf {path}") == "=\n\n"
    assert talk.ask(f"loadsgf {path} 3") == talk.ask(f"loadsgf {path}") == "=\n\n"
    assert talk.engine.game.suicide == 1
    plain = tmp_path / "plain.sgf"
    plain.write_text("(;SZ[5];B[cc])")
    for command in f"loadsgf {plain}", "clear_board", "boardsize 5":
        assert talk.ask(f"loadsgf {path}") == talk.ask(command) == "=\n\n"
        *_, last = [talk.ask(f"play {move}") for move in suicide]
        assert last.startswith("? illegal move")


def test_each_move_after_the_end_can_be_undone(tmp_path):
    talk = GtpTalk("uct:5", "go:rows=5,columns=5")
    for command in "play b c3", "play w b2", "play b pass", "play w pass":
        talk.ask(command)
    assert talk.ask("genmove b") == "= pass\n\n"
    for analysis in "lz-genmove_analyze w 10", "kata-genmove_analyze b 10":
        assert talk.ask(analysis) == "= play pass\n\n"
    assert [len(talk.engine.steps), talk.ask("undo"), talk.ask("undo")] == [7, "=\n\n", "=\n\n"]
    assert (len(talk.engine.steps), talk.engine.is_over) == (5, True)
    path = tmp_path / "resumed.sgf"
    path.write_text("(;SZ[5];B[cc];W[bb];B[];W[];B[dd];W[])")
    assert talk.ask(f"loadsgf {path}") == "=\n\n"
    assert len(talk.engine.steps) == 6


PLAUSIBLE = f"""
    {" ".join(COMMANDS)}
    b w black white a1 b2 c3 d4 j9 t19 pass resign 0 1 2 3 5 9 19 26 -1 6.5 1e3 x
    byoyomi canadian absolute none alive dead
    interval maxmoves ownership true é # 999999999999999999999 . '
""".split()


@pytest.mark.parametrize(
    ("player", "line", "endings", "answered"),
    [
        ("uct:seconds=900", "genmove b", ["quit"], "= [A-G]1\n\n=\n\n"),
        ("uct:seconds=900", "genmove b", ["8 quit # good night", "name"], "= [A-G]1\n\n=8\n\n"),
        ("uct:seconds=900", "genmove b", [], "= [A-G]1\n\n"),
        ("uct:seconds=900", "reg_genmove b", [], "= [A-G]1\n\n"),
        ("uct:seconds=900", "genmove_analyze b 9999", [], "=\n(info .*\n)+play [A-G]1\n\n"),
        ("minimax:seconds=900", "genmove b", [], r"\? stopped: .*\n\n"),
        (
            "uct:seconds=900",
            "genmove b",
            ["name", "genmove w", "name", "quit", "version"],
            "= [A-G]1\n\n= alphazero\n\n= [A-G][12]\n\n= alphazero\n\n=\n\n",
        ),
    ],
)
def test_leaving_during_a_search_ends_it_and_answers_the_lines_before(
    player: str, line: str, endings: list[str], answered: str
):
    def lines(_: GtpTalk) -> Iterator[str]:
        yield line
        time.sleep(0.6)
        yield from endings

    start = time.monotonic()
    output = GtpTalk(player, "connect_four", lines).run()
    assert time.monotonic() - start < 600
    assert re.fullmatch(answered, output), output


def test_a_script_that_is_sent_at_once_gets_whole_searches():
    start = time.monotonic()
    GtpTalk("uct:seconds=1", "connect_four", ["genmove b", "quit"]).run()
    assert time.monotonic() - start >= 1


def test_every_line_is_answered_once_whatever_it_is():
    rng = random.Random(20_000)
    talks = [GtpTalk("uct:2", "mnk:rows=4,columns=4,length=3"), GtpTalk("random", "tic_tac_toe")]
    sound = "play b a1,play w b2,genmove w,genmove b,undo,clear_board,showboard,time_left b 0 1"
    sound += ",boardsize 3,boardsize 4,lz-analyze 5,kata-genmove_analyze"
    answered = 0
    for _ in range(8_000):
        if rng.random() < 0.3:
            line = rng.choice(sound.split(","))
        else:
            line = " ".join(rng.choices(PLAUSIBLE, k=rng.randint(1, 4)))
        if rng.random() < 0.3:
            letters = list(line)
            for _ in range(rng.randint(1, 3)):
                place = rng.randrange(len(letters) + 1)
                letters[place : place + rng.randint(0, 2)] = rng.choice(
                    ["", "#", " ", "\t", "9", "-", "é", "\x1b", "b", chr(rng.randrange(0x3000))]
                )
            line = "".join(letters).replace("\n", " ")
        if rng.random() < 0.2:
            line = f"{rng.randrange(10**6)} {line}"
        reply = talks[rng.random() < 0.5].ask(line)
        command = read_line(line)
        if command is None:
            assert reply == ""
        else:
            answered += 1
            assert re.match(rf"[=?]{command.number}(\s|$)", reply), (line, reply)
            assert reply.endswith("\n\n"), (line, reply)
            assert reply.count("\n\n") == 1, (line, reply)
    assert answered > 6_000


def test_a_line_too_long_or_the_end_of_all_lines_ends_nothing_badly():
    talk = GtpTalk("random", "tic_tac_toe", ["x" * 100_000, "1" * 50, "name"])
    assert talk.run() == (
        "? line too long: at most 65,536 characters\n\n? unknown command\n\n= alphazero\n\n"
    )


def play_games(capsys: pytest.CaptureFixture[str], command: str, game: str, games: int = 2) -> None:
    """Let a program and a random player meet, and see that no game is adjudicated."""
    options = "--game", game, "--games", games
    (result,) = objects(capsys, "match", f"gtp:{command}", "random", *options)
    assert (result["games"], result["forfeits"]) == (games, [])


@pytest.mark.integration
def test_our_client_plays_our_server(capsys):
    command = f"{sys.executable} -m alphazero gtp uct:simulations=20 --game connect_four"
    play_games(capsys, command, "connect_four")


def program(name: str) -> str | None:
    return shutil.which(name, path="/usr/games:/usr/bin")


@pytest.mark.skipif(not program("gnugo"), reason="no GNU Go")
def test_gnu_go_plays_to_the_end_by_our_rules(capsys):
    options = "--mode gtp --level 0 --chinese-rules --positional-superko --capture-all-dead"
    play_games(capsys, f"{program('gnugo')} {options}", "go:rows=5,columns=5")


@pytest.mark.skipif(not program("gtp-rhino"), reason="no rhino")
def test_gtp_rhino_plays_to_the_end_by_our_rules(capsys):
    play_games(capsys, f"{program('gtp-rhino')} --level 1", "othello", games=6)
