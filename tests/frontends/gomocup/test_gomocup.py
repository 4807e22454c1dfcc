"""The Gomocup protocol, served: sessions as written, matches with a referee, and random lines."""

import random
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from helpers.frontends.gtp_client import SlowClock
from helpers.paths import ROOT

from alphazero.cli import main as cli
from alphazero.config.schema import NetworkConfig
from alphazero.frontends import analyzer
from alphazero.frontends.gomocup.session import GomocupSession, engine_of
from alphazero.games import make_game
from alphazero.games.grid import stones_by_cell
from alphazero.network.checkpoint import Checkpoint, save_checkpoint
from alphazero.network.resnet import ResNet
from alphazero.players.registry import parse_player

CELL = re.compile(r"(\d+),(\d+)\n")


class GomocupTalk:
    """A session of a player; `output` is all that it wrote."""

    def __init__(self, player: str, *lines: str, given: Iterable[str] = ()) -> None:
        self.output = ""
        self.engine = engine_of(parse_player(player))
        self.session = GomocupSession(self.engine, given, self._say)
        for line in lines:
            assert self.ask(line) == ("" if line.startswith("INFO") else "OK\n"), line

    def ask(self, *lines: str) -> str:
        """Return the reply to some lines."""
        before = len(self.output)
        for line in lines:
            self.session.take(line)
        return self.output[before:]

    def move(self, *lines: str) -> tuple[int, int]:
        """Return the column and the row that lines are answered by."""
        reply = self.ask(*lines)
        found = CELL.fullmatch(reply)
        assert found, (lines, reply)
        return int(found[1]), int(found[2])

    def stones(self) -> list[int]:
        return stones_by_cell(self.engine.game, self.engine.position.state)

    def _say(self, text: str) -> None:
        self.output += text


RECORDED = """\
TURN 1,1            | ERROR no board: START must come first
RESTART             | ERROR no board: START must come first
START               | ERROR the board's size must be an integer of at least 0, got ''
START 4             | ERROR expected 5 to 25 columns and rows, got 4 and 4
START 26            | ERROR expected 5 to 25 columns and rows, got 26 and 26
START twenty        | ERROR the board's size must be an integer of at least 0, got 'twenty'
START 6             | OK
SUGGEST 1,1         | UNKNOWN 'SUGGEST'
DONE                | ERROR DONE without BOARD
INFO rule           |
INFO folder /tmp    |
INFO evaluate 3,3   |
INFO flavour salty  |
                    |
about               | MESSAGE INFO rule: expected a whole number, got ''
...                 | name="alphazero", version="0.1.0"
PLAY 0,1            | 0,1
PLAY 5,5            | 5,5
PLAY 0,1            | ERROR 0,1 is taken
TURN 6,0            | ERROR 6,0 is not on the board, which ends at 5,5
TURN 0,6            | ERROR 0,6 is not on the board, which ends at 5,5
TURN 1              | ERROR expected a column and a row, as in 8,7, got '1'
TURN -1,2           | ERROR expected a column and a row, as in 8,7, got '-1,2'
TURN 1,2,3          | ERROR expected a column and a row, as in 8,7, got '1,2,3'
BEGIN               | ERROR BEGIN needs an empty board; use TURN or BOARD for later moves
BEGIN now           | ERROR BEGIN takes no argument, got 'now'
TAKEBACK 0,1        | ERROR the last move is 5,5: take that back first
TAKEBACK 5,5        | OK
\ttakeback  0 , 1   | OK
TAKEBACK 0,1        | ERROR the board is empty: there is no move to take back
PLAY 0,0            | 0,0
RESTART             | OK
PLAY 0,0            | 0,0
RECTSTART 7,5       | OK
PLAY 6,4            | 6,4
PLAY 4,6            | ERROR 4,6 is not on the board, which ends at 6,4
SWAP2BOARD          |
1,1                 |
DONE                | UNKNOWN swap2 openings are not supported
BOARD               |
RESTART             | ERROR BOARD was not ended by DONE
...                 | OK
"""


def test_a_session_is_answered_as_it_is_written() -> None:
    talk = GomocupTalk("random")
    exchanges: list[tuple[str, str]] = []
    for row in RECORDED.splitlines():
        line, answer = (cell.strip() for cell in row.split("|"))
        answer = f"{answer}\n" if answer else ""
        if line == "...":
            line, answer = exchanges[-1][0], exchanges.pop()[1] + answer
        exchanges.append((line, answer))
    for line, answer in exchanges:
        assert talk.ask(line) == answer, line


def test_the_board_of_the_tournaments_is_played_on() -> None:
    talk = GomocupTalk("uct:20", "START 20")
    column, row = talk.move("BEGIN")
    assert max(column, row) < 20
    talk.move(f"TURN {19 - column},{19 - row}")
    assert sorted(talk.stones())[-3:] == [1, 1, 2]
    assert len(talk.stones()) == 400


def test_a_column_comes_before_its_row_and_both_are_counted_from_the_top_left() -> None:
    talk = GomocupTalk("random", "RECTSTART 8,6")
    talk.ask("PLAY 7,0", "PLAY 2,5")
    board = np.array(talk.stones()).reshape(6, 8)
    assert board[0, 7] == 1
    assert board[5, 2] == 2
    assert np.count_nonzero(board) == 2


def test_a_board_is_laid_out_whoever_began_and_a_won_move_is_found() -> None:
    four = [f"{column},3,{{}}" for column in range(4)]
    others = ["0,0,{}", "2,1,{}", "4,4,{}", "5,0,{}"]
    for extra in ([], ["5,5,{}"]):  # with as many stones we began, with one less we did not
        talk = GomocupTalk("minimax:depth=1", "START 7")
        lines = [line.format(1) for line in four] + [line.format(2) for line in others + extra]
        assert talk.move("BOARD", *lines, "DONE") == (4, 3)
        assert talk.engine.position.is_over
        assert talk.ask("TURN 6,6") == "ERROR the game is over: there is no move to make\n"
        assert talk.ask("TAKEBACK 4,3") == "OK\n"
        assert talk.ask("PLAY 6,6") == "6,6\n"


def test_the_stones_of_a_board_come_in_any_order_and_replace_those_before() -> None:
    talk = GomocupTalk("random", "START 9")
    talk.ask("PLAY 8,8")
    stones = [(0, 0, 1), (1, 0, 1), (2, 0, 1), (5, 5, 2), (6, 5, 2), (7, 5, 2)]
    random.Random(1).shuffle(stones)
    column, row = talk.move("BOARD", *(f"{x}, {y}, {whose}" for x, y, whose in stones), "DONE")
    expected = np.zeros((9, 9), int)
    for x, y, whose in stones:
        expected[y, x] = whose
    expected[row, column] = 1
    assert talk.stones() == expected.ravel().tolist()


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("0,0,1", "1 own stones and 0 of the opponent's"),
        ("0,0,2 1,1,2", "0 own stones and 2 of the opponent's"),
        ("0,0,2 0,0,1", "0,0 has two stones"),
        ("0,0,3", "expected column,row,stone, where"),
        ("0,0", "expected column,row,stone, where"),
        (
            "hello 0,0,9",
            "expected column,row,stone, where 1 is our stone and 2 the opponent's, got 'HE",
        ),
        ("0,7,2", "0,7 is not on the board"),
        ("0,0,2 1,0,2 2,0,2 3,0,2 4,0,2 0,1,1 1,1,1 2,1,1 3,1,1", "the game is over"),
        ("0,0,2 1,0,2 2,0,2 3,0,2 4,0,2 0,1,1 2,1,1 4,1,1 6,1,1 6,3,1", "the game is over"),
    ],
)
def test_stones_that_no_game_has_are_refused_and_the_board_stays(lines: str, says: str) -> None:
    talk = GomocupTalk("random", "START 7")
    talk.ask("PLAY 3,3")
    before = talk.stones()
    assert talk.ask("BOARD", *lines.split()) == ""
    reply = talk.ask("DONE")
    assert reply.startswith(f"ERROR {says}")
    assert reply.count("\n") == 1
    assert talk.stones() == before


def test_an_empty_board_is_begun_on() -> None:
    talk = GomocupTalk("random", "START 5")
    talk.move("BOARD", "DONE")
    assert sum(talk.stones()) == 1


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (1, "exactly five in a row"),
        (4, "renju"),
        (3, "exactly five in a row and a continuous game"),
    ],
)
def test_rules_that_are_not_played_are_refused_until_they_are_taken_back(
    rule: int, name: str
) -> None:
    talk = GomocupTalk("random", "START 8")
    assert talk.ask(f"INFO rule {rule}") == ""
    for lines in (["BEGIN"], ["TURN 1,1"], ["BOARD", "DONE"]):
        reply = talk.ask(*lines)
        assert reply.startswith(f"ERROR rule {rule} ({name}) is not supported")
    assert sum(talk.stones()) == 0
    assert talk.ask("INFO rule 0") == ""
    talk.move("BEGIN")


def test_six_in_a_row_win_as_five_do() -> None:
    talk = GomocupTalk("random", "START 8")
    stones = [f"{column},3,2" for column in (0, 1, 2, 4, 5)]
    stones += [f"{column},{row},1" for column, row in ((0, 0), (2, 0), (4, 0), (6, 0))]
    talk.move("BOARD", *stones, "DONE")
    assert not talk.stones()[3 * 8 + 3]  # the answer, which the seed draws, lies elsewhere
    assert talk.ask("TURN 3,3") == "ERROR the game is over: there is no move to make\n"
    assert talk.engine.position.is_over


def saved_player(path: Path, size: int) -> Path:
    """Write an untrained player of gomoku."""
    game = make_game("gomoku", rows=size, columns=size)
    config = NetworkConfig(blocks=1, filters=4, policy_filters=2, value_filters=1, value_hidden=4)
    weights = ResNet(game.observation_shape, game.num_actions, config, seed=3).state_dict()
    options = {"rows": size, "columns": size}
    details = {"search": {"simulations": 8}}
    save_checkpoint(path, Checkpoint("gomoku", options, config, weights, 1, 1, 0.0, details))
    return path


def test_a_checkpoint_plays_on_its_own_board_and_no_other(tmp_path: Path) -> None:
    talk = GomocupTalk(str(saved_player(tmp_path / "player.safetensors", 7)))
    refused = "ERROR this player plays on 7 x 7 only\n"
    assert talk.ask("START 20") == refused
    assert talk.ask("RECTSTART 7,6") == refused
    assert talk.ask("BEGIN").startswith("ERROR no board:")
    assert talk.ask("START 7") == "OK\n"
    talk.move("BEGIN")


@pytest.mark.parametrize(
    ("lines", "least", "most"),
    [
        ("INFO timeout_turn 5000", 3.0, 5.0),
        ("INFO timeout_turn 0", 0.0, 0.15),
        ("INFO timeout_match 60000", 1.0, 4.0),
        ("INFO timeout_match 60000|INFO time_left 20000", 0.5, 1.0),
        ("INFO time_left -3", 0.0, 0.15),
        ("INFO time_left 20000|INFO timeout_turn 100000", 0.5, 1.0),
        ("INFO time_left 2147483647|INFO timeout_turn 3000", 2.0, 3.0),
        ("INFO timeout_match 0|INFO timeout_turn 3000", 2.0, 3.0),
        ("INFO timeout_turn 3000|INFO timeout_turn soon", 2.0, 3.0),
    ],
)
def test_time_is_used_and_not_overstepped(
    lines: str, least: float, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = GomocupTalk("uct", "START 6")
    clock = SlowClock()
    monkeypatch.setattr(analyzer, "time", clock)
    assert talk.ask(*lines.split("|")) == ""
    assert CELL.search(talk.ask("BEGIN"))
    assert least <= clock.now <= most


def test_a_match_s_time_shrinks_by_our_own_moves_until_the_manager_says_what_is_left() -> None:
    talk = GomocupTalk("uct:20", "START 6", "INFO timeout_match 60000")
    talk.session.settings.spend(20)
    talk.move("BEGIN")
    left = talk.session.settings.left
    assert left is not None
    assert 0 < left < 40
    talk.ask("INFO time_left 50000")
    assert talk.session.settings.left == 50
    talk.ask("RESTART")
    assert talk.session.settings.left == 60


def test_without_limits_a_move_has_its_simulations() -> None:
    talk = GomocupTalk("uct:30", "START 6")
    talk.move("BEGIN")
    assert talk.engine.analyzer.search.simulations == 30


@pytest.mark.parametrize("ending", [["END"], ["end", "ABOUT"], []])
def test_a_manager_that_wants_the_end_or_is_gone_does_not_wait_for_the_search(
    ending: list[str],
) -> None:
    def lines() -> Iterator[str]:
        yield from ["START 6", "INFO timeout_turn 60000", "BEGIN"]
        time.sleep(0.5)
        yield from ending

    talk = GomocupTalk("uct", given=lines())
    began = time.monotonic()
    talk.session.run()
    assert time.monotonic() - began < 30
    assert re.fullmatch(r"OK\n\d,\d\n", talk.output)


def referee(talks: list[GomocupTalk], size: int) -> int:
    """Let two sessions play a match; return the winner, -1 for a draw. Rules are counted here."""
    stones: dict[tuple[int, int], int] = {}
    for talk in talks:
        assert talk.ask(f"START {size}") == "OK\n"
    cell = talks[0].move("BEGIN")
    for ply in range(size * size):
        player, (x, y) = ply % 2, cell
        assert 0 <= x < size
        assert 0 <= y < size
        assert cell not in stones
        stones[cell] = player
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            line = [stones.get((x + i * right, y + i * down)) == player for i in range(-4, 5)]
            if any(all(line[i : i + 5]) for i in range(5)):
                return player
        if len(stones) < size * size:
            cell = talks[1 - player].move(f"TURN {x},{y}")
    return -1


def test_whole_matches_are_played_by_the_rules_and_the_better_player_wins() -> None:
    strong, weak = GomocupTalk("minimax:depth=2"), GomocupTalk("random")
    assert referee([strong, weak], 7) == 0
    assert referee([weak, strong], 7) == 1
    results = {referee([weak, GomocupTalk("random")], 5) for _ in range(20)}
    assert -1 in results


ANSWERED = ["START", "RECTSTART", "RESTART", "BEGIN", "TURN", "PLAY", "TAKEBACK", "ABOUT", "DONE"]
"""What is answered anywhere."""

KEYS = "timeout_turn timeout_match time_left max_memory game_type rule evaluate folder"
PLACES = "0,0 1,1 2,2 3,4 5,5 6,6 19,19 1,2,1 3,3,2 0,0,3 , é ' 0 1 2 3 5 6 7 20 -1 99999999999"
WORDS = [*ANSWERED, "BOARD", "SWAP2BOARD", "INFO", "SUGGEST", *KEYS.split(), *PLACES.split()]

SOUND = "BEGIN|TURN 1,1|TURN 3,3|TURN 4,2|RESTART|START 5|START 6|RECTSTART 6,5|BOARD|1,2,1|2,3,2"
SOUND += "|4,4,2|DONE|TAKEBACK 1,1|PLAY 0,3|ABOUT|INFO rule 0|INFO timeout_turn 0|INFO time_left 9"


def test_every_line_is_answered_as_its_kind_wants_it_whatever_it_is() -> None:
    rng = random.Random(20_000)
    talks = [GomocupTalk("uct:2"), GomocupTalk("random")]
    inside = [False, False]
    answered = moves = 0
    for _ in range(20_000):
        if rng.random() < 0.6:
            line = rng.choice(SOUND.split("|"))
        else:
            line = " ".join(rng.choices(WORDS, k=rng.randint(1, 3)))
        if rng.random() < 0.2:
            letters = list(line)
            for _ in range(rng.randint(1, 3)):
                place = rng.randrange(len(letters) + 1)
                letters[place : place + rng.randint(0, 2)] = rng.choice(
                    ["", ",", " ", "\t", "9", "-", "é", "\x1b", "b", chr(rng.randrange(0x3000))]
                )
            line = "".join(letters).replace("\n", " ")
        word = (line.split() or [""])[0].upper()
        if word == "END":
            continue
        number = rng.randrange(2)
        reply = talks[number].ask(line)
        assert reply.isascii()
        if word in ("BOARD", "SWAP2BOARD"):
            inside[number] = "takes no argument" not in reply
            assert inside[number] or reply
        elif word in ANSWERED:
            inside[number] = False
            assert reply, line
        else:
            assert bool(reply) == (word not in ("", "INFO") and not inside[number]), (line, reply)
        if reply:
            answered += 1
            *notes, answer = reply.removesuffix("\n").split("\n")
            for note in notes:
                assert re.fullmatch(r"MESSAGE INFO .+|ERROR \w+ was not ended by DONE", note), reply
            assert re.fullmatch(r'OK|\d+,\d+|(ERROR|UNKNOWN) .+|name=".+', answer), (line, reply)
            moves += CELL.fullmatch(f"{answer}\n") is not None
    assert answered > 10_000
    assert moves > 1_000


def test_a_line_too_long_ends_nothing_badly() -> None:
    talk = GomocupTalk(
        "random", given=["x" * 100_000, "START " + "9" * 100_000, "START 5", "BEGIN"]
    )
    talk.session.run()
    assert re.fullmatch(r"UNKNOWN 'X{20}'\nERROR the board's size .*\nOK\n\d,\d\n", talk.output)


@pytest.mark.integration
def test_a_process_of_its_own_is_a_brain() -> None:
    code = "import sys; from alphazero.cli.main import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, *shlex.split("gomocup random")],
        input="START 20\r\nINFO timeout_turn 1000\r\nBEGIN\r\nEND\r\nABOUT\r\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert re.fullmatch(r"OK\n\d+,\d+\n", done.stdout)
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.parametrize("player", ["checkpoints/tic_tac_toe.safetensors", "human"])
def test_a_player_of_another_game_is_refused_in_one_line(
    player: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert cli.main(["gomocup", player]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
