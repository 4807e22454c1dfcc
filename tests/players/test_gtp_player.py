"""Another program as a player: it plays whole matches, and its faults cost it games, no more."""

import shlex
import sys
import time

import numpy as np
import pytest
from helpers.games import TIC_TAC_TOE
from helpers.matches import forfeits
from helpers.paths import TESTS
from helpers.processes import HANG

from alphazero.arena.match import play_schedule
from alphazero.arena.openings import paired_openings
from alphazero.cli import main as cli
from alphazero.errors import PlayerError
from alphazero.games.game import ONGOING
from alphazero.players import program_process
from alphazero.players.base import Player
from alphazero.players.gtp_player import GtpPlayer
from alphazero.players.program_process import GTP, ProgramProcess
from alphazero.players.random_player import RandomPlayer
from alphazero.players.registry import parse_player
from alphazero.records.game_record import GameRecord
from alphazero.records.jsonl import load_games
from alphazero.records.played_game import PlayedGame

FAKE = TESTS / "helpers" / "frontends" / "fake_gtp_engine.py"
GAMES = 6


def fake(*arguments: object) -> str:
    """Return the command of the fake program."""
    return shlex.join([sys.executable, "-ISu", str(FAKE), *map(str, arguments)])


def play_match(command: str, move_timeout: float = HANG, num_games: int = 2) -> list[GameRecord]:
    """Let the program meet a random player for `GAMES` games."""

    def make_players(num_games: int) -> list[Player]:
        rng = np.random.default_rng(1)
        return [
            GtpPlayer(TIC_TAC_TOE, num_games, command, move_timeout),
            RandomPlayer(TIC_TAC_TOE, num_games, rng),
        ]

    schedule = paired_openings(TIC_TAC_TOE, GAMES, 2, np.random.default_rng(0))
    return play_schedule(TIC_TAC_TOE, make_players, schedule, num_games)


def test_a_program_plays_a_match_by_the_rules_and_each_move_is_its_own():
    records = play_match(fake())
    assert len(records) == GAMES
    for record in records:
        assert not record.forfeit_reason
        assert not record.resigned
        state = TIC_TAC_TOE.initial_state()
        for ply, action in enumerate(map(int, record.actions)):
            thought = ply >= len(record.pairing.opening)
            if thought and record.pairing.players[ply % 2] == 0:
                assert action == np.flatnonzero(TIC_TAC_TOE.legal_action_mask(state))[0]
            state = TIC_TAC_TOE.play(state, action)
        assert record.outcome == TIC_TAC_TOE.outcome(state) != ONGOING


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("crash", "the program ended (exit code 1), its last message: RuntimeError: out of cheese"),
        ("hang", "' within 3 s"),
        ("illegal", "illegal move"),
        ("gibberish", "illegal move 'a nice move"),
        ("fail", "refuses 'genmove"),
        ("refuse", "refuses 'play"),
        ("flood", "output exceeds its limits"),
    ],
)
def test_a_program_at_fault_loses_that_game_and_the_match_goes_on(
    fault: str, message: str, monkeypatch
):
    if fault == "hang":
        monkeypatch.setattr(program_process, "EXIT_TIMEOUT", 0.1)
    # Each process misbehaves at its second move: some games end before it.
    records = play_match(fake(fault, 2), move_timeout=3.0 if fault == "hang" else HANG)
    assert len(records) == GAMES
    for record in forfeits(records, message):
        assert not record.resigned
        played = PlayedGame.of(TIC_TAC_TOE, record, ("one", "other"))
        assert "by adjudication" in played.describe()
    for record in records:
        if not record.forfeit_reason:
            state = TIC_TAC_TOE.play(TIC_TAC_TOE.initial_state(), *map(int, record.actions))
            assert record.outcome == TIC_TAC_TOE.outcome(state)


def test_a_program_that_resigns_has_lost_and_its_process_plays_on():
    records = play_match(fake("resign"), num_games=1)
    resigned = [record for record in records if record.resigned]
    assert len(resigned) == 1
    assert resigned[0].outcome == (-1 if resigned[0].pairing.players[0] == 0 else 1)
    assert not resigned[0].forfeit_reason


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (fake("small"), "refuses 'boardsize 3': unacceptable size"),
        (fake("mute"), "no reply to 'list_commands' within 0.5 s"),
        (shlex.join([sys.executable, "-ISc", "print(1)"]), "the program ended (exit code 0)"),
    ],
)
def test_a_program_that_cannot_play_is_refused_in_one_line_before_any_game(
    command: str, message: str, monkeypatch
):
    if "mute" in command:
        monkeypatch.setattr(program_process, "EXIT_TIMEOUT", 0.1)
    with pytest.raises(PlayerError) as caught:
        play_match(command, move_timeout=0.5 if "mute" in command else HANG)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_process_is_left_when_a_player_is_closed_or_forgotten():
    programs = []
    for leave in ("close", "forget", "die"):
        player = GtpPlayer(TIC_TAC_TOE, 1, fake())
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
    program = ProgramProcess(fake("mute"), GTP, HANG)
    program.close()
    assert not program.is_running


def test_an_answer_is_read_whatever_stands_around_it():
    noisy = "print('loading...');print();print('=12 yes\\r');print(' and more');print();input()"
    program = ProgramProcess(shlex.join([sys.executable, "-ISuc", noisy]), GTP, HANG)
    assert program.ask("known_command x") == (True, "yes\nand more")
    program.send("end")
    with pytest.raises(PlayerError, match="ended"):
        program.ask("more")
    program.close()


def test_a_position_without_its_moves_is_refused():
    player = GtpPlayer(TIC_TAC_TOE, 1, fake())
    with pytest.raises(PlayerError, match="from its first move"):
        player.choose(TIC_TAC_TOE.from_moves(["b2"]))
    assert player.choose(TIC_TAC_TOE.initial_state()) == 0
    player.close()


def test_commands_are_named_like_players_and_mistyped_ones_are_refused():
    spec = parse_player(f"gtp:{fake('illegal', 3)}", move_timeout=7)
    assert spec.name == f"gtp:{fake('illegal', 3)}"
    assert spec.is_timed
    assert spec.move_timeout == 7  # type: ignore[attr-defined]
    for text, message in {
        "gtp:": "gtp:COMMAND",
        "gtp: ": "needs a command",
        "gtp:no-such-program-x --mode gtp": "no program 'no-such-program-x'",
        "gtp:python 'x": "close the quotes",
    }.items():
        with pytest.raises(PlayerError, match=message):
            parse_player(text)


def test_a_match_reports_which_games_were_adjudicated_and_saves_why(tmp_path, capsys):
    path = tmp_path / "games.jsonl"
    command = ["match", f"gtp:{fake('illegal')}", "random", "--game", "tic_tac_toe"]
    assert cli.main([*command, "--games", "2", "--save", str(path), "--move-timeout", "20"]) == 0
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
