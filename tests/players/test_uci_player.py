"""A chess program as a player: what is sent to it, and what becomes of its faults."""

import shlex
import shutil
import sys

import numpy as np
import pytest
from helpers.matches import forfeits
from helpers.paths import TESTS
from helpers.processes import HANG

from alphazero.arena.match import play_schedule
from alphazero.arena.openings import paired_openings
from alphazero.cli import main as cli
from alphazero.errors import PlayerError
from alphazero.games.registry import make_game
from alphazero.players import program_process
from alphazero.players.base import Player
from alphazero.players.program_process import read_command
from alphazero.players.random_player import RandomPlayer
from alphazero.players.registry import parse_player
from alphazero.players.uci_player import UciPlayer
from alphazero.records.game_record import GameRecord

FAKE = TESTS / "helpers" / "frontends" / "fake_uci_engine.py"
GAME = make_game("breakthrough", rows=5, columns=5)
GAMES = 4


def fake(*arguments: object, settings: str = "nodes=5") -> str:
    """Return the command of the fake program."""
    return f"{shlex.join([sys.executable, '-ISu', str(FAKE), *map(str, arguments)])},{settings}"


def play_match(text: str, move_timeout: float = HANG, num_games: int = 2) -> list[GameRecord]:
    """Let the program meet a random player for `GAMES` games."""

    def make_players(num_games: int) -> list[Player]:
        rng = np.random.default_rng(1)
        return [UciPlayer(GAME, num_games, text, move_timeout), RandomPlayer(GAME, num_games, rng)]

    schedule = paired_openings(GAME, GAMES, 2, np.random.default_rng(0))
    return play_schedule(GAME, make_players, schedule, num_games)


def test_a_program_plays_a_match_by_the_rules_and_each_move_is_its_own():
    for record in play_match(fake()):
        assert not record.forfeit_reason
        state = GAME.initial_state()
        for ply, action in enumerate(map(int, record.actions)):
            if ply >= len(record.pairing.opening) and record.pairing.players[ply % 2] == 0:
                legal = np.flatnonzero(GAME.legal_action_mask(state))
                first = min(GAME.move_name(state, int(other)) for other in legal)
                assert GAME.move_name(state, action) == first
            state = GAME.play(state, action)
        assert record.outcome == GAME.outcome(state)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("crash", "the program ended (exit code 1), its last message: RuntimeError: out of cheese"),
        ("hang", "no reply to 'go nodes 5' within 3 s"),
        ("illegal", "illegal move 'bestmove a1a5 ponder a9a9'"),
        ("none", "illegal move 'bestmove (none)"),
        ("flood", "output exceeds its limits"),
    ],
)
def test_a_program_at_fault_loses_that_game_and_the_match_goes_on(fault, message, monkeypatch):
    if fault == "hang":
        monkeypatch.setattr(program_process, "EXIT_TIMEOUT", 0.1)
    records = play_match(fake(fault, 2), move_timeout=3.0 if fault == "hang" else HANG)
    assert len(records) == GAMES
    forfeits(records, message)


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
    player = UciPlayer(GAME, 1, fake(settings=f"Log File={log},nodes=7,movetime=50"))
    slot = np.array([0])
    player.reset(slot, GAME.initial_state()[None])
    state = GAME.initial_state()
    for name in ("a2a3", "b4a3"):
        action = GAME.parse_action(state, name)
        player.advance(slot, np.array([action]))
        state = GAME.play(state, action)
    ask(player)
    assert log.read_text().splitlines() == [
        *("isready", "ucinewgame", "position startpos moves a2a3 b4a3", "go nodes 7 movetime 50"),
        *("stop", "quit"),
    ]
    # A game that began in another position is sent as it stands; GTP could not.
    player = UciPlayer(GAME, 1, fake(settings=f"depth=1,Log File={log}"))
    line = np.array([46])  # b5b4, which no first move can be
    state = GAME.play(GAME.read_fen("1ppp1/5/1P3/5/PPPPP b"), *line)
    player.load_games(slot, state[None], [line])
    ask(player)
    assert "position fen 2pp1/1p3/1P3/5/PPPPP w - - 0 2" in log.read_text()


@pytest.mark.parametrize(
    ("text", "game", "message"),
    [
        (fake("other"), GAME, "does not know the game breakthrough"),
        (fake("mute"), GAME, "no reply to 'uci' within 0.5 s"),
        (fake(settings="nodes=5,Log Fil=x"), GAME, "no option 'Log Fil'; did you mean 'Log File'?"),
        (fake(), make_game("nim"), "games whose pieces move, such as chess, not nim"),
        (f"{shlex.join([sys.executable, '-ISc', 'print(1)'])},nodes=1", GAME, "exit code 0"),
    ],
)
def test_a_program_that_cannot_play_is_refused_in_one_line(text, game, message, monkeypatch):
    monkeypatch.setattr(program_process, "EXIT_TIMEOUT", 0.1)
    with pytest.raises(PlayerError) as caught:
        UciPlayer(game, 1, text, 0.5 if "mute" in text else HANG)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_commands_are_named_like_players_and_mistyped_ones_are_refused():
    spec = parse_player(f"uci:{fake()}", move_timeout=7)
    assert (spec.name, spec.move_timeout) == (f"uci:{fake()}", 7)  # type: ignore[attr-defined]
    assert read_command("a --b=1,2,nodes=3,Skill Level=4") == (
        "a --b=1,2",
        {"nodes": 3},
        {"Skill Level": "4"},
    )
    for text, message in {
        "uci:": "uci:COMMAND,nodes=N",
        "uci: ,nodes=1": "needs a command, as in 'uci:stockfish,nodes=1000'",
        "uci:python": "needs one of nodes, depth, movetime",
        "uci:python,nodes=x": "nodes needs a number of at least 1, got 'x'",
        "uci:no-such-program-x,nodes=1": "no program 'no-such-program-x'",
    }.items():
        with pytest.raises(PlayerError, match=message):
            parse_player(text)


def program(name: str) -> str | None:
    return shutil.which(name, path="/usr/games:/usr/bin")


@pytest.mark.parametrize("game", ["gardner", "los_alamos", "breakthrough", "chess"])
@pytest.mark.skipif(not program("fairy-stockfish"), reason="no fairy-stockfish")
def test_fairy_stockfish_plays_to_the_end_by_our_rules(game: str, capsys):
    command = ["match", f"uci:{program('fairy-stockfish')},nodes=50", "random", "--game", game]
    assert cli.main([*command, "--games", "4"]) == 0
    output = capsys.readouterr().out
    assert "4 won" in output
    assert "lost by" not in output
