"""Other programs as players: they play whole matches, and their faults cost them games, no more."""

import queue
import shlex
import shutil
import sys
import threading
import time

import numpy as np
import pytest
from helpers.frontends.fake_engine import fake
from helpers.games import TIC_TAC_TOE
from helpers.processes import HANG

from alphazero.arena.match import play_schedule
from alphazero.arena.openings import paired_openings
from alphazero.cli import main as cli
from alphazero.errors import PlayerError
from alphazero.games.game import ONGOING, PLY
from alphazero.games.registry import make_game
from alphazero.players import program_player, program_process
from alphazero.players.base import Player
from alphazero.players.gomocup_player import GomocupPlayer
from alphazero.players.gtp_player import GtpPlayer
from alphazero.players.program_player import ProgramGame
from alphazero.players.program_process import GTP, UCI, ProgramProcess, read_command
from alphazero.players.registry import parse_player
from alphazero.players.sequential_player import RandomPlayer
from alphazero.players.uci_player import UciPlayer
from alphazero.records.game_record import GameRecord
from alphazero.records.jsonl import load_games
from alphazero.records.played_game import PlayedGame

BREAKTHROUGH = make_game("breakthrough", rows=5, columns=5)
GOMOKU = make_game("gomoku", rows=5, columns=5)
PROTOCOLS = {
    "gtp": (TIC_TAC_TOE, GtpPlayer),
    "uci": (BREAKTHROUGH, UciPlayer),
    "gomocup": (GOMOKU, GomocupPlayer),
}
GAMES = 6


def play_match(protocol: str, command: str, num_games: int = 2) -> list[GameRecord]:
    """Let the program meet a random player for `GAMES` games."""
    game, kind = PROTOCOLS[protocol]

    def make_players(num_games: int) -> list[Player]:
        rng = np.random.default_rng(1)
        return [kind(game, num_games, command), RandomPlayer(game, num_games, rng)]

    schedule = paired_openings(game, GAMES, 2, np.random.default_rng(0))
    return play_schedule(game, make_players, schedule, num_games)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_program_plays_a_match_by_the_rules_and_each_move_is_its_own(protocol: str):
    game, _ = PROTOCOLS[protocol]
    records = play_match(protocol, fake(protocol))
    assert len(records) == GAMES
    for record in records:
        assert not record.forfeit_reason
        assert not record.resigned
        state = game.initial_state()
        for ply, action in enumerate(map(int, record.actions)):
            if ply >= len(record.pairing.opening) and record.pairing.players[ply % 2] == 0:
                legal = np.flatnonzero(game.legal_action_mask(state)).tolist()
                names = {game.action_name(state, other): other for other in legal}
                assert action == (names[min(names)] if protocol == "uci" else legal[0])
            state = game.play(state, action)
        assert record.outcome == game.outcome(state) != ONGOING


def test_a_step_that_is_held_up_does_not_wait_for_ever(monkeypatch):
    """As `queue.SimpleQueue.get` does when its time is over before it waits."""
    monkeypatch.setattr(program_player, "PAUSE", 1e-9)
    player = GtpPlayer(TIC_TAC_TOE, 1, fake("gtp"))
    player._waiting.append(0)

    def steps() -> None:
        for _ in range(5000):
            player._results.put((0, ProgramGame(TIC_TAC_TOE.initial_state()), None))
            player.step()
            player.step()

    thread = threading.Thread(target=steps, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    player.close()


def test_a_step_waits_only_for_a_move_that_is_asked_for():
    """Otherwise an opponent on a clock would lose most of its time."""
    waits: list[bool] = []

    class Watched(queue.Queue):  # type: ignore[type-arg]
        def get(self, block: bool = True, timeout: float | None = None) -> object:
            waits.append(block)
            return super().get(block, timeout)

    player, slots = GtpPlayer(TIC_TAC_TOE, 2, fake("gtp")), np.arange(2)
    player._results = Watched()
    player.reset(slots, TIC_TAC_TOE.initial_state()[None].repeat(2, 0))
    player.step()
    assert waits == [False]
    player.begin_moves(slots)
    answers = 0
    while answers < 2:
        player.step()
        answers += len(player.take_decisions().slots)
    assert all(waits[1:])
    player.step()
    assert not waits[-1]
    player.close()


def test_a_program_that_thinks_for_long_has_that_time_and_the_usual_patience(monkeypatch):
    monkeypatch.setattr(program_process, "EXIT_TIMEOUT", 0.1)
    monkeypatch.setattr(program_process, "REPLY_TIMEOUT", 3.0)
    records = play_match("uci", fake("uci", "hang", 2, settings="movetime=500"), GAMES)
    reasons = {record.forfeit_reason for record in records} - {""}
    assert reasons == {"no reply to 'go movetime 500' within 3.5 s"}


def test_a_program_that_does_not_reply_at_first_is_told_once(monkeypatch, capsys):
    monkeypatch.setattr(program_process, "EXIT_TIMEOUT", 0.1)
    monkeypatch.setattr(program_process, "FIRST_REPLY", 0.2)
    monkeypatch.setattr(program_process, "REPLY_TIMEOUT", 0.5)
    for _ in range(2):
        with pytest.raises(PlayerError, match="no reply to 'list_commands' within"):
            GtpPlayer(TIC_TAC_TOE, 1, "sleep 9")
    assert (
        capsys.readouterr().err
        == "still waiting for the first reply of sleep 9; does it speak gtp?\n"
    )
    monkeypatch.setattr(program_process, "FIRST_REPLY", 20.0)
    GtpPlayer(TIC_TAC_TOE, 1, fake("gtp")).close()
    with pytest.raises(PlayerError, match="ended"):
        GtpPlayer(TIC_TAC_TOE, 1, "true")
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("protocol", "fault", "message"),
    [
        ("gtp", "crash", "ended (exit code 1), its last message: RuntimeError: out of cheese"),
        ("gtp", "flood", "output exceeds its limits"),
        ("gtp", "illegal", "illegal move"),
        ("gtp", "gibberish", "illegal move 'a nice move"),
        ("gtp", "fail", "refuses 'genmove"),
        ("gtp", "refuse", "refuses 'play"),
        ("uci", "crash", "ended (exit code 1), its last message: RuntimeError: out of cheese"),
        ("uci", "flood", "output exceeds its limits"),
        ("uci", "hang", "no reply to 'go nodes 5' within 3 s"),
        ("uci", "illegal", "illegal move 'bestmove a1a5 ponder a9a9'"),
        ("uci", "none", "illegal move 'bestmove (none)"),
        ("gomocup", "crash", "its last message: RuntimeError: out of cheese"),
        ("gomocup", "illegal", "illegal move '5,0'"),
        ("gomocup", "fail", "refuses 'TURN "),
    ],
)
def test_a_program_at_fault_loses_that_game_and_the_match_goes_on(
    protocol: str, fault: str, message: str, monkeypatch
):
    game, _ = PROTOCOLS[protocol]
    if fault == "hang":
        monkeypatch.setattr(program_process, "EXIT_TIMEOUT", 0.1)
        monkeypatch.setattr(program_process, "REPLY_TIMEOUT", 3.0)
    # Each process misbehaves at its second move: some games end before it.
    records = play_match(protocol, fake(protocol, fault, 2), GAMES if fault == "hang" else 2)
    assert len(records) == GAMES
    assert any(record.forfeit_reason for record in records)
    for record in records:
        if record.forfeit_reason:
            assert message in record.forfeit_reason
            assert record.outcome == (-1 if record.pairing.players[0] == 0 else 1)
            assert not record.resigned
            assert "by adjudication" in PlayedGame.of(game, record, ("one", "other")).describe()
        else:
            state = game.play(game.initial_state(), *map(int, record.actions))
            assert record.outcome == game.outcome(state)


def test_a_program_that_resigns_has_lost_and_its_process_plays_on():
    records = play_match("gtp", fake("gtp", "resign"), num_games=1)
    resigned = [record for record in records if record.resigned]
    assert len(resigned) == 1
    assert resigned[0].outcome == (-1 if resigned[0].pairing.players[0] == 0 else 1)
    assert not resigned[0].forfeit_reason


ENDS = shlex.join([sys.executable, "-ISc", "print(1)"])


@pytest.mark.parametrize(
    ("kind", "command", "game", "message"),
    [
        (GtpPlayer, fake("gtp", "small"), TIC_TAC_TOE, "refuses 'boardsize 3': unacceptable size"),
        (GtpPlayer, fake("gtp", "mute"), TIC_TAC_TOE, "no reply to 'list_commands' within 0.5 s"),
        (GtpPlayer, ENDS, TIC_TAC_TOE, "the program ended (exit code 0)"),
        (UciPlayer, fake("uci", "other"), BREAKTHROUGH, "does not know the game breakthrough"),
        (UciPlayer, fake("uci", "mute"), BREAKTHROUGH, "no reply to 'uci' within 0.5 s"),
        (
            UciPlayer,
            fake("uci", settings="nodes=5,Log Fil=x"),
            BREAKTHROUGH,
            "no option 'Log Fil'; did you mean 'Log File'?",
        ),
        (UciPlayer, fake("uci"), TIC_TAC_TOE, "whose pieces move, such as chess, not tic_tac_toe"),
        (UciPlayer, f"{ENDS},nodes=1", BREAKTHROUGH, "exit code 0"),
        (GomocupPlayer, fake("gomocup", "small"), GOMOKU, "refuses 'START 5': ERROR too small"),
        (GomocupPlayer, fake("gomocup"), TIC_TAC_TOE, "plays gomoku on square boards, not tic_tac"),
        (GomocupPlayer, fake("gomocup", settings="max_node=5,rule=1"), GOMOKU, "which is rule 0"),
    ],
)
def test_a_program_that_cannot_play_is_refused_in_one_line_before_any_game(
    kind, command: str, game, message: str, monkeypatch
):
    monkeypatch.setattr(program_process, "EXIT_TIMEOUT", 0.1)
    if "mute" in command:
        monkeypatch.setattr(program_process, "REPLY_TIMEOUT", 0.5)
    with pytest.raises(PlayerError) as caught:
        kind(game, 1, command)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_process_is_left_when_a_player_is_closed_or_forgotten():
    programs = []
    for leave in ("close", "forget", "die"):
        player = GtpPlayer(TIC_TAC_TOE, 1, fake("gtp"))
        program = player._programs[0]
        assert program
        process = program._process
        assert process.poll() is None
        if leave == "die":
            process.kill()
        if leave == "close":
            player.close()
        del program, player
        programs.append(process)
    assert [process.poll() is None for process in programs] == [False] * 3


def test_a_program_that_ignores_quit_is_killed_with_what_it_started(monkeypatch):
    monkeypatch.setattr(program_process, "EXIT_TIMEOUT", 0.1)
    program = ProgramProcess(fake("gtp", "mute"), GTP)
    program.close()
    assert not program.is_running


def test_an_answer_is_read_whatever_stands_around_it():
    noisy = "print('loading...');print();print('=12 yes\\r');print(' and more');print();input()"
    program = ProgramProcess(shlex.join([sys.executable, "-ISuc", noisy]), GTP)
    assert program.ask("known_command x") == (True, "yes\nand more")
    program.send("end")
    with pytest.raises(PlayerError, match="ended"):
        program.ask("more")
    program.close()


def test_a_position_without_its_moves_is_refused():
    player = GtpPlayer(TIC_TAC_TOE, 1, fake("gtp"))
    later, set_up = TIC_TAC_TOE.from_moves(["b2"]), TIC_TAC_TOE.from_moves(["b2"])
    set_up[PLY] = 0
    for state in (later, set_up):
        with pytest.raises(PlayerError, match="from its first move, not a position alone"):
            player.choose(state)
    assert player.choose(TIC_TAC_TOE.initial_state()) == 0
    player.close()


def test_commands_are_named_like_players_and_mistyped_ones_are_refused():
    for name in (
        f"gtp:{fake('gtp', 'illegal', 3)}",
        f"uci:{fake('uci')}",
        f"gomocup:{fake('gomocup')}",
    ):
        spec = parse_player(name)
        assert spec.name == name
        assert spec.needs_core
        assert not spec.is_timed
    assert parse_player("uci:sh,nodes=9,movetime=9").is_timed
    assert parse_player("gomocup:sh,timeout_turn=9").is_timed
    assert read_command("a --b=1,2,nodes=3,Skill Level=4", UCI) == (
        "a --b=1,2",
        {"nodes": 3},
        {"Skill Level": "4"},
    )
    for text, message in {
        "gtp:": "needs a command",
        "gtp: ": "needs a command",
        "gtp:python 'x": "close the quotes",
        "uci:": "needs one of nodes, depth, movetime",
        "uci: ,nodes=1": "needs a command, as in 'uci:stockfish,nodes=1000'",
        "uci:python": "needs one of nodes, depth, movetime",
        "uci:python,nodes=x": "nodes needs a number of at least 1, got 'x'",
        "gomocup:python": "needs one of timeout_turn, max_node, max_depth",
    }.items():
        with pytest.raises(PlayerError, match=message):
            parse_player(text)


def test_a_match_reports_which_games_were_adjudicated_and_saves_why(tmp_path, capsys):
    path = tmp_path / "games.jsonl"
    command = ["match", f"gtp:{fake('gtp', 'illegal')}", "random", "--game", "tic_tac_toe"]
    assert cli.main([*command, "--games", "2", "--save", str(path)]) == 0
    output = capsys.readouterr().out
    assert "0 won, 0 drawn, 2 lost" in output
    assert output.count("illegal move") == 2
    games = load_games(path)
    assert all("illegal move" in game.forfeit_reason for game in games)
    assert [PlayedGame.to_line(game) for game in games] == path.read_text().splitlines()
    assert cli.main(["replay", str(path)]) == 0
    assert "by adjudication (illegal move" in capsys.readouterr().out


def test_programs_in_several_games_think_side_by_side(tmp_path):
    waits_for_the_others = (
        "import os,pathlib,sys,time\n"
        f"here = pathlib.Path({str(tmp_path)!r})\n"
        "for line in sys.stdin:\n"
        "  if 'genmove' in line:\n"
        "    (here / str(os.getpid())).touch()\n"
        "    while len(list(here.iterdir())) < 4: time.sleep(0.01)\n"
        "  print('= A1\\n', flush=True)\n"
    )
    command = shlex.join([sys.executable, "-ISuc", waits_for_the_others])
    player = GtpPlayer(TIC_TAC_TOE, 4, command)
    slots = np.arange(4)
    player.reset(slots, np.tile(TIC_TAC_TOE.initial_state(), (4, 1)))
    player.begin_moves(slots)
    answers: set[int] = set()
    deadline = time.monotonic() + HANG
    while len(answers) < 4 and time.monotonic() < deadline:
        player.step()
        answers |= set(player.take_decisions().slots.tolist())
    assert answers == {0, 1, 2, 3}
    player.close()


def ask(player: UciPlayer) -> None:
    """Ask for a move, wait for it, and close the player."""
    player.begin_moves(np.array([0]))
    while not (len(player.take_decisions().slots) or player.forfeits()):
        player.step()
    player.close()


def test_a_program_is_sent_its_options_the_whole_game_and_the_limits_and_quits_after_its_move(
    tmp_path,
):
    log = tmp_path / "log"
    player = UciPlayer(BREAKTHROUGH, 1, fake("uci", settings=f"Log File={log},nodes=7,movetime=50"))
    slot = np.array([0])
    player.reset(slot, BREAKTHROUGH.initial_state()[None])
    state = BREAKTHROUGH.initial_state()
    for name in ("a2a3", "b4a3"):
        action = BREAKTHROUGH.parse_action(state, name)
        player.advance(slot, np.array([action]))
        state = BREAKTHROUGH.play(state, action)
    ask(player)
    assert log.read_text().splitlines() == [
        *("isready", "ucinewgame", "position startpos moves a2a3 b4a3", "go nodes 7 movetime 50"),
        *("stop", "quit"),
    ]
    # A game that began in another position is sent as it stands; GTP could not.
    player = UciPlayer(BREAKTHROUGH, 1, fake("uci", settings=f"depth=1,Log File={log}"))
    line = np.array([46])  # b5b4, which no first move can be
    state = BREAKTHROUGH.play(BREAKTHROUGH.read_fen("1ppp1/5/1P3/5/PPPPP b"), *line)
    player.load_games(slot, state[None], [line])
    ask(player)
    assert "position fen 2pp1/1p3/1P3/5/PPPPP w - - 0 2" in log.read_text()


FAIRY_STOCKFISH = shutil.which("fairy-stockfish", path="/usr/games:/usr/bin")


@pytest.mark.parametrize("game", ["gardner", "los_alamos", "breakthrough", "chess"])
@pytest.mark.skipif(not FAIRY_STOCKFISH, reason="no fairy-stockfish")
def test_fairy_stockfish_plays_to_the_end_by_our_rules(game: str, capsys):
    command = ["match", f"uci:{FAIRY_STOCKFISH},nodes=50", "random", "--game", game]
    assert cli.main([*command, "--games", "4"]) == 0
    output = capsys.readouterr().out
    assert "4 won" in output
    assert "lost by" not in output
