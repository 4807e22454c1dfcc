"""Games in a file: read as written, replayed, and refused in one line when they are none."""

import dataclasses
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.games import TIC_TAC_TOE, actions_in, random_actions
from helpers.matches import played_game

from alphazero.errors import AlphaZeroError, GameError, PlayerError, RunError
from alphazero.frontends.terminal.replay_viewer import PROMPT, replay
from alphazero.games import game_names, make_game
from alphazero.games.registry import read_game, write_game
from alphazero.records.game_files import holds_played, load_played, save_played
from alphazero.records.jsonl import BEGINNING, load_games, to_lines
from alphazero.records.played_game import PlayedGame
from alphazero.utils.shared_files import refuse

WON = "a1 a2 b1 b2 c1"
DRAWN = "a1 b1 c1 b2 a2 c2 b3 a3 c3"


def played(moves: str, **more: Any) -> PlayedGame:
    game, details = TIC_TAC_TOE, {"opening": 2, "pair": 5} | more
    return played_game(game, actions_in(game, moves), ("uct:5", "C:\\a b\n"), **details)


@pytest.fixture
def path(tmp_path) -> Path:
    """A file of three games."""
    path = tmp_path / "games.jsonl"
    games = [played(WON), played(DRAWN), played("a1", outcome=-1, resigned=True, opening=0)]
    path.write_bytes(to_lines(games))
    return path


def test_games_are_read_as_they_were_written(tmp_path):
    rng = np.random.default_rng(1)
    games = []
    for name in game_names():
        game = make_game(name)
        plain = played_game(game, random_actions(game, rng))
        games += [plain, dataclasses.replace(plain, player_hashes=("1a", ""), opening=3)]
    (tmp_path / "games").write_bytes(to_lines(games))
    assert load_games(tmp_path / "games") == games
    assert all(
        line.startswith(BEGINNING) for line in (tmp_path / "games").read_bytes().splitlines()
    )


def test_a_game_is_written_by_its_shortest_name():
    spellings = {
        "tic_tac_toe": make_game("mnk", rows=3, columns=3, length=3),
        "connect_four": make_game("connect_four"),
        "connect_four:columns=5,length=3": make_game("connect_four", columns=5, length=3),
        "gomoku:rows=8": make_game("mnk", rows=8, columns=15, length=5),
    }
    for text, game in spellings.items():
        assert write_game(game) == text
        assert read_game(text) == game


@pytest.mark.parametrize("option", ["rows", "rows=99999999999"])
def test_an_option_of_a_game_needs_a_number_of_few_digits(option: str):
    with pytest.raises(GameError, match=f"expected option=number, got '{option}'"):
        read_game(f"mnk:{option}")


def test_a_last_line_that_is_cut_off_costs_only_itself(path, capsys):
    games = load_games(path)
    path.write_bytes(path.read_bytes()[:-9] + played("a1").to_line().encode()[:40] * 30)
    assert load_games(path) == games[:2]
    assert capsys.readouterr().err.startswith(f"left out: {path}:3: not a game")


def test_a_file_of_games_is_recognised_by_its_beginning(path, tmp_path):
    assert holds_played(path)
    (tmp_path / "other").write_text('{"format": "another"}\n')
    for other in ("other", "missing", "nul\0", "a" * 300, "."):
        assert not holds_played(tmp_path / other)


# --- what is no game -----------------------------------------------------------------------------


def changed(**changes: Any) -> Callable[[dict[str, Any]], object]:
    return lambda content: content.update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed(format="other"), "its format is not alphazero-game"),
        (changed(game="shogi"), "unknown game 'shogi'"),
        (changed(game=["tic_tac_toe"]), "game: expected str"),
        (changed(game="mnk:rows=999999"), "rows"),
        (changed(moves=["a1", "a1"]), "move 2: "),
        (changed(moves=["z9"]), "move 1: "),
        (changed(moves="a1"), "moves: expected list"),
        (changed(moves=[1]), "moves: expected texts"),
        (changed(moves=[*WON.split(), "c3"]), "move 6 comes after the end of the game"),
        (changed(moves=["a1", "a2"]), "the moves do not lead to the result 1-0"),
        (changed(result="2-0"), "result: expected one of 1-0, 1/2-1/2, 0-1"),
        (changed(resigned=True), "the moves do not lead to the result"),
        (changed(resigned=1), "resigned: expected bool"),
        (changed(players=["A"]), "players: expected two, got 1"),
        (changed(opening=9), "opening: expected 0 to 5 moves, got 9"),
        (changed(opening=-1), "opening: expected 0 to 5 moves, got -1"),
        (changed(pair=1.5), "pair: expected int"),
        (changed(pair=-1), "pair: must be at least 0, got -1"),
        (lambda content: content.pop("moves"), "lacks 'moves'"),
        (b"[]", "unexpected list"),
        (b"{", "expected a JSON object"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff\xfe", "expected a JSON object"),
        (b" " * 9 + b"x" * (1 << 20), "longer than 1,048,576 bytes"),
    ],
)
def test_a_line_that_is_no_game_is_named_and_costs_only_itself(
    path, change: Callable[[dict[str, Any]], object] | bytes, message: str
):
    line = change if isinstance(change, bytes) else b""
    if not isinstance(change, bytes):
        content = json.loads(played(WON).to_line())
        change(content)
        line = json.dumps(content).encode()
    sound, warnings = played(WON), list[str]()
    path.write_bytes(b"\xef\xbb\xbf" + sound.to_line().encode() + b"\r\n\n" + line + b"\n")
    assert holds_played(path)
    assert load_games(path, warnings.append) == [sound]
    (warning,) = warnings
    assert warning.startswith(f"left out: {path}:3: ")
    assert message in warning
    assert "\n" not in warning
    with pytest.raises(RunError, match=r":3: "):
        load_games(path, refuse)
    path.write_bytes(line)
    with pytest.raises(PlayerError, match=r":1: "):
        load_games(path, refuse)


@pytest.mark.parametrize("name", ["games.jsonl", "games.sgf"])
def test_random_damage_never_escapes_as_another_error(name: str, tmp_path):
    source, path, refused = random.Random(1), tmp_path / name, 0
    save_played(path, [played(WON, comments=("x",) * 5), played("a1", outcome=-1, resigned=True)])
    data = path.read_bytes()
    for _ in range(400):
        damaged = bytearray(data)
        for _ in range(source.randint(1, 4)):
            damaged[source.randrange(len(data))] = source.randrange(256)
        path.write_bytes(damaged[: source.randint(1, 2 * len(data))])
        message = ""
        try:
            load_played(path, refuse)
        except AlphaZeroError as error:
            message = str(error)
        refused += bool(message)
        assert message.isprintable()
        assert len(message) < 600
    assert refused > 200


# --- replayed ------------------------------------------------------------------------------------


def replayed(path: Path, chosen: int | None = None, typed: str | None = None) -> list[str]:
    """What is shown; `typed` are the lines typed at the prompts, between spaces."""
    printed: list[str] = []
    words = iter(typed.split(",")) if typed is not None else iter(())

    def read(prompt: str) -> str:
        assert prompt == PROMPT
        return next(words)

    replay(load_games(path), chosen, None if typed is None else read, printed.append)
    assert next(words, None) is None, "every word was asked for"
    return printed


def test_all_games_are_replayed_at_once(path):
    printed = replayed(path)
    heads = [line for line in printed if line.startswith("game ")]
    assert heads == [
        "game 1 of 3, uct:5 against 'C:\\\\a b\\n': 1-0, 5 moves",
        "game 2 of 3, uct:5 against 'C:\\\\a b\\n': 1/2-1/2, 9 moves",
        "game 3 of 3, uct:5 against 'C:\\\\a b\\n': 0-1 by resignation, 1 move",
    ]
    moves = [line for line in printed if line[0].isdigit()]
    assert moves[0] == "1. X uct:5: a1 (opening)"
    assert moves[4] == "5. X uct:5: c1"
    assert printed[-1] == "\n" + TIC_TAC_TOE.render(TIC_TAC_TOE.from_moves(["a1"])) + "\n"


def test_a_replay_goes_on_at_each_line_that_is_typed(path):
    def heads(*arguments: Any) -> list[str]:
        return [line[:6] for line in replayed(path, *arguments) if line.startswith("game ")]

    assert heads(None, ",n,q") == ["game 1", "game 2"]
    assert heads(None, "n,n,,") == ["game 1", "game 2", "game 3"]
    assert heads(2, "quit") == ["game 2"]
    assert heads(3) == ["game 3"]
    assert len([line for line in replayed(path, 1, ",,q") if "." in line[:2]]) == 2
    for number in (0, 4):
        with pytest.raises(PlayerError, match="the file holds games 1 to 3"):
            replayed(path, number)


def test_a_game_keeps_its_number_when_one_before_it_cannot_be_read(path):
    first, _, *others = path.read_text().splitlines(keepends=True)
    path.write_text("".join([first, "{}\n", *others]))
    assert replayed(path, 3)[0].startswith("game 3 of 3, ")
    with pytest.raises(PlayerError, match="game 2 cannot be read"):
        replayed(path, 2)
