"""SGF: what is written is read back, here and by sgfmill; malformed text is refused in one line."""

import os
import random
import shutil
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from helpers.games import actions_in, random_actions
from helpers.matches import played_game

from alphazero.errors import GameError
from alphazero.frontends.game_tree import GameTree
from alphazero.frontends.review.reviewer import Reviewer
from alphazero.games import make_game
from alphazero.games.game import to_play
from alphazero.games.registry import read_game, write_game
from alphazero.players.registry import parse_player
from alphazero.records.game_files import load_played, save_played
from alphazero.records.played_game import PlayedGame
from alphazero.records.sgf import (
    COUNT_LIMIT,
    PASS,
    SIZE_LIMIT,
    SWAP,
    SgfGame,
    read_collection,
    read_main_line,
    read_sgf,
)
from alphazero.records.sgf_export import to_sgf
from alphazero.records.sgf_import import from_sgf, game_of, replay
from alphazero.records.sgf_text import decode


def actions_of(record: SgfGame) -> list[int]:
    _, steps = replay(game_of(record), record)
    return [action for step in steps for action in step]


# --- there and back ------------------------------------------------------------------------------


def test_our_own_property_may_be_missing():
    games = {"hex:size=6,swap=1": "a1 swap b2", "othello": "d3 c3 c4", "gomoku:rows=15": "h8 a15"}
    for spelling, moves in games.items():
        game = read_game(spelling)
        actions = actions_in(game, moves)
        text = to_sgf(played_game(game, actions))
        bare = text.replace(f"AZ[{write_game(game)}]", "")
        assert bare != text
        assert actions_of(read_sgf(bare)) == actions


def test_go_rules_are_written_by_the_names_that_other_programs_know():
    for rules, superko, suicide in (("Chinese", 1, 0), ("Tromp-Taylor", 1, 1), ("NZ", 2, 1)):
        game = make_game("go", superko=superko, suicide=suicide, komi_half_points=13)
        text = to_sgf(played_game(game, []))
        assert f"KM[6.5]RU[{rules}]" in text
        assert game_of(read_sgf(text.replace(f"AZ[{write_game(game)}]", ""))) == game
    assert "RU" not in to_sgf(played_game(make_game("go", superko=0), []))
    assert game_of(read_sgf("(;SZ[9])")) == make_game("go", komi_half_points=0)


def test_a_forced_wait_in_othello_may_be_left_out():
    game, rng, actions = make_game("othello", size=4), np.random.default_rng(0), list[int]()
    while 16 not in actions:
        actions = random_actions(game, rng)
    text = to_sgf(played_game(game, actions))
    assert actions_of(read_sgf(text.replace(";B[]", "").replace(";W[]", ""))) == actions


# --- Hex and Othello as others write them ---------------------------------------------------------


def test_hex_is_read_as_hexgui_and_little_golem_write_it():
    for moves in (";B[a3];W[swap-pieces];B[D11]", ";B[ac];W[swap];B[dk]"):
        record = read_sgf(f"(;FF[4]GM[11]SZ[11]{moves})")
        assert record.moves == [(0, 22), (1, SWAP), (0, 113)]
        assert game_of(record) == make_game("hex", size=11, swap=1)
    record = read_sgf("(;GM[11]SZ[5];B[a1];W[resign])")
    assert (record.moves, record.result) == ([(0, 0)], "B+R")


@pytest.mark.parametrize("word", ["swap-sides", "swap-pieces"])
def test_swapped_sides_are_the_same_game_with_the_winner_of_the_stones_on_the_board(word: str):
    """The stones are those of a game without a swap, where the players have changed colours."""
    plain, swapped = make_game("hex", size=4), make_game("hex", size=4, swap=1)
    root = "AP[HexGui:0.9.GIT]" if word == "swap-pieces" else "AP[HexGui:0.10]"
    outcomes = []
    for seed in range(20):
        actions = random_actions(plain, np.random.default_rng(seed))
        words = [f"{'abcd'[action % 4]}{action // 4 + 1}" for action in actions]
        moves = [f";{'BW'[ply % 2]}[{word}]" for ply, word in enumerate(words)]
        moves.insert(1, f";W[{word}]")
        record = read_sgf(f"(;GM[11]{root}SZ[4]RE[W+R]{''.join(moves)})")
        end = plain.play(plain.initial_state(), *actions)
        read = swapped.play(swapped.initial_state(), *actions_of(record))
        assert swapped.outcome(read) == -plain.outcome(end)
        assert to_play(read) == 1 - to_play(end)
        assert record.result == "B+R"
        outcomes.append(plain.outcome(end))
    assert set(outcomes) == {-1, 1}


# --- sgfmill, GNU Go ------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["gomoku:rows=7,columns=7", "go:rows=9,suicide=1", "othello"])
def test_sgfmill_reads_the_same_game(spelling: str):
    sgf: Any = pytest.importorskip("sgfmill.sgf")
    game = read_game(spelling)
    size = game.observation_shape[1]
    for seed in range(4):
        actions = random_actions(game, np.random.default_rng(seed))
        comments = tuple(f"{ply}: \\ ] [ é" for ply in range(len(actions)))
        text = to_sgf(played_game(game, actions, ("a]\\b", "c"), comments=comments))
        # sgfmill knows the moves of Go alone, which have the same form.
        record = sgf.Sgf_game.from_string(text.replace("GM[2]", "GM[1]").replace("GM[4]", "GM[1]"))
        assert record.get_size() == size
        assert record.get_player_name("b") == "a]\\b"
        if spelling.startswith("go:"):
            assert record.get_komi() == 7.5
        nodes = record.get_main_sequence()[1:]
        assert tuple(node.get("C") for node in nodes) == comments
        # sgfmill counts rows from the bottom.
        read = [
            (colour, size * size if at is None else (size - 1 - at[0]) * size + at[1])
            for colour, at in (node.get_move() for node in nodes)
        ]
        assert read == [("bw"[ply % 2], action) for ply, action in enumerate(actions)]


def test_sgfmill_writes_what_we_read():
    sgf: Any = pytest.importorskip("sgfmill.sgf")
    rng = random.Random(6)
    for size in (2, 9, 13, 19):
        game = sgf.Sgf_game(size=size)
        game.get_root().set("KM", 6.5)
        game.get_root().set("PW", "a\\ ] :b")
        game.get_root().set_setup_stones([(0, 0), (size - 1, 0)], [])
        moves, comments = [], []
        for _ in range(20):
            at = rng.choice([None, (rng.randrange(size), rng.randrange(size))])
            colour, comment = rng.choice("bw"), rng.choice(["", "a ] \\ b\nc"])
            node = game.extend_main_sequence()
            node.set_move(colour, at)
            if comment:
                node.set("C", comment)
            cell = PASS if at is None else (size - 1 - at[0]) * size + at[1]
            moves.append(("bw".index(colour), cell))
            comments.append(comment)
        record = read_sgf(game.serialise().decode())
        assert (record.rows, record.text("KM"), record.text("PW")) == (size, "6.5", "a\\ ] :b")
        assert record.stones == {0: 0, size * (size - 1): 0}
        assert (record.moves, record.comments) == (moves, comments)


GNU_GO = shutil.which("gnugo", path=f"/usr/games:{os.environ.get('PATH', '')}")


@pytest.mark.skipif(not GNU_GO, reason="no GNU Go")
def test_gnu_go_sees_the_same_board_in_what_we_write(tmp_path):
    game = read_game("go:rows=7,columns=7")
    for seed in range(3):
        actions = random_actions(game, np.random.default_rng(seed))[:60]
        path = tmp_path / f"{seed}.sgf"
        path.write_text(to_sgf(played_game(game, actions, comments=("a ] b",) * len(actions))))
        asked = f"loadsgf {path}\nlist_stones black\nlist_stones white\nquit\n"
        command = [str(GNU_GO), "--mode", "gtp"]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
        answers = [answer.removeprefix("=").split() for answer in done.stdout.split("\n\n")]
        pieces = game.pieces(game.play(game.initial_state(), *actions))
        for owner, stones in zip((1, -1), answers[1:3], strict=True):
            cells = np.argwhere(pieces == owner).tolist()
            assert set(stones) == {f"{'ABCDEFG'[column]}{7 - row}" for row, column in cells}
            assert stones


# --- the form ------------------------------------------------------------------------------------


def test_the_main_line_takes_the_first_branch_at_every_fork():
    record = read_sgf("junk ( ;SZ[3:2]C[a \\] (;B\\] ](;B[aa](;W[bb];B[])(;W[cb]))(;B[ca])) more")
    assert [line[:2] for line in record.variations] == [(0, [(0, 2)]), (1, [(1, 5)])]
    assert (record.rows, record.columns, record.number) == (2, 3, "1")
    assert record.moves == [(0, 0), (1, 4), (0, PASS)]


def test_small_letters_of_old_names_and_escaped_ends_of_lines_do_not_count():
    record = read_sgf("(;GaMe[1]SiZe[5];Black[aa]Comment[one \\\ntwo\\\\])")
    assert (record.moves, record.comments) == ([(0, 0)], ["one two\\"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no game in it; a game begins with '(;'"),
        ("hello", "no game in it"),
        ("(;" + "C[" + "x" * SIZE_LIMIT + "])", "longer than 8,388,608 characters"),
        ("(;SZ[60])", "up to 52 rows and columns, got 60"),
        ("(;GM[3])", "unknown game 3 (GM); known: 1 Go, 2 Othello, 4 gomoku, 11 Hex"),
        ("(;SZ[21])", "rows must be 1 to 19, got 21"),
        ("(;GM[11]SZ[5:6])", "Hex has a square board, not 5 x 6"),
        ("(;GM[2]SZ[10])", "size must be one of 4, 6, 8, got 10"),
        ("(;SZ[5]AB[ba][ab]AW[aa])", "set up (AB, AW): they capture each other"),
        ("(;SZ[2]AB[aa][ab][ba][bb])", "the stones cannot be set up (AB, AW): "),
    ],
)
def test_a_file_without_a_game_of_ours_is_refused_in_one_line(text: str, message: str):
    with pytest.raises(GameError) as error:
        actions_of(read_sgf(text))
    reason = str(error.value)
    assert message in reason
    assert "\n" not in reason
    assert len(reason) < 300


def loaded(text: str | bytes) -> tuple[PlayedGame, list[str]]:
    """Return a file's first game, and what was left out of it."""
    record = read_sgf(decode(text.encode() if isinstance(text, str) else text))
    return from_sgf(record), record.warnings


@pytest.mark.parametrize(
    ("text", "moves", "warning"),
    [
        # the form
        ("(;SZ[5];B[aa]", "A5", "line 1: the last bracket is missing"),
        ("(;SZ[5];B[aa];\nW[b", "A5", "line 2: the end of a value is missing"),
        ("(;SZ[5]PB[a]];B[aa])", "A5", "line 1: ']' is left out: it is no property"),
        ("(;[aa]SZ[5];B[aa])", "A5", "line 1: 'aa' is left out: it is no property"),
        ("(\nSZ[5]\nPB[x]\n;B[aa];W[bb])", "A5 B4", ""),
        ("(;SZ[5];B[aa]" + ";" * COUNT_LIMIT + ";W[bb])", "A5", "more than 20,000 nodes"),
        # properties
        ("(;SZ[5]AP[a]AP[b];B[aa])", "A5", ""),
        ("(;SZ[5]AB[aa]AB[bb]AB[cc];W[dd])", "A5 pass B4 pass C3 D2", ""),
        ("(;SZ[5];B[aa]B[bb])", "A5", "B['bb'] is left out: a second move in a node"),
        ("(;SZ[5];W[aa]B[bb])", "pass A5 B4", ""),
        ("(;SZ[many];B[aa])", "A19", "the size 'many' (SZ) is read as 19"),
        ("(;SZ[5:00];B[aa])", "A19", "the size '5:00' (SZ) is read as 19"),
        ("(;GM[\n]SZ[5];B[aa])", "A5", ""),
        ("(;GM[go]SZ[5];B[aa])", "A5", "the game 'go' (GM) is read as Go"),
        ("(;AZ[hex]SZ[5];B[aa])", "A5", "AZ[hex] is left out: it contradicts GM[1]"),
        ("(;AZ[nim]SZ[5];B[aa])", "A5", "AZ is left out: SGF is possible for"),
        ("(;AZ[shogi]SZ[5];B[aa])", "A5", "AZ is left out: unknown game 'shogi'"),
        # moves
        ("(;SZ[5];B[aa];W[ff];B[bb])", "A5", "left out: 'ff' is no point on a board of 5 x 5"),
        ("(;GM[11]SZ[5];B[f1])", "", "'f1' is no point on a board of 5 x 5, whose last"),
        ("(;GM[11]SZ[5];B[a0])", "", "'a0' is no point"),
        ("(;SZ[5];B[a1];W[D4];B[Pass])", "A1 D4 pass", ""),
        ("(;GM[4]SZ[5];B[a1])", "a1", ""),
        ("(;SZ[5];B[aa];W[aa];B[bb])", "A5", "here on are left out: move 2, white A5: A5 is taken"),
        ("(;GM[4]SZ[5];B[])", "", "move 1, black pass: gomoku"),
        (
            "(;GM[11];B[a1];W[a2];B[swap-pieces])",
            "a1 a2",
            "black swap-pieces: swap-pieces can only be",
        ),
        ("(;GM[2];B[aa])", "", "move 1, black a1: a1 encloses nothing"),
        ("(;GM[2]SZ[8]AB[ed][de]AW[dd][ee];B[dc];W[C3];B[c4])", "d3 c3 c4", ""),
        ("(;SZ[5];W[aa];W[bb])", "pass A5 pass B4", ""),
        ("(;GM[11]SZ[5];B[a1];B[b2])", "a1", "move 2, black b2: it is white's turn"),
        # set-up
        ("(;SZ[5]AB[aa:zz]AB[bb])", "B4", "a point of AB is left out: 'zz' is no point"),
        ("(;SZ[5]AB[aa:cc][aa]AE[ab:cc];W[ee])", "A5 pass B5 pass C5 E1", ""),
        ("(;GM[11]SZ[5]AB[a1][c3]AW[b2];W[d4])", "a1 b2 c3 d4", ""),
        ("(;SZ[5];B[aa];AB[bb];W[cc])", "A5", "after move 1 are left out: the board changes"),
        ("(;SZ[5]AB[bb]AW[cc]PL[W])", "B4 C3 pass", ""),
        ("(;SZ[5]PL[white];B[aa])", "A5", ""),
        ("(;GM[11]SZ[5]AB[a1]PL[B])", "a1", "PL is left out: it is white's turn"),
        # passes
        ("(;SZ[5];B[aa];W[];B[];W[])", "A5 pass pass", "move 4 is left out: a pass after the end"),
        (
            "(;SZ[5];B[aa];W[bb];B[];W[];B[cc];W[];B[])",
            "A5 B4 C3 pass pass",
            "the passes before move 5 are left out, for the game goes on",
        ),
        ("(;SZ[5];B[];B[aa])", "A5", "the passes before move 2 are left out"),
        ("(;SZ[5];B[];W[];B[];W[aa])", "pass A5", "move 3 is left out: a pass after the end"),
        ("(;SZ[5];B[aa];W[];W[])", "A5 pass pass", ""),
    ],
)
def test_a_file_is_read_as_far_as_it_goes(text: str, moves: str, warning: str):
    played, warnings = loaded(text)
    assert " ".join(played.moves()) == moves
    assert warning in "\n".join(warnings)
    assert bool(warnings) == bool(warning)


@pytest.mark.parametrize(
    ("number", "komi", "is_clear"),
    [
        ("6.5", 6.5, True),
        ("375", 7.5, True),
        ("650", 6.5, True),
        ("3.75", 7.5, True),
        ("-275", -5.5, True),
        ("6,5", 6.5, True),
        ("7.50", 7.5, True),
        ("黒6目半", 6.5, True),
        ("0", 0, True),
        ("", 0, True),
        ("much", 0, False),
        ("6.3", 6.5, False),
        ("3 3/4", 3, False),
        ("65000", 0, False),
    ],
)
def test_komi_is_understood_as_servers_write_it(number: str, komi: float, is_clear: bool):
    for name in ("KM", "KO"):
        played, warnings = loaded(f"(;SZ[9]{name}[{number}];B[aa])")
        assert played.game.options["komi_half_points"] == 2 * komi
        assert warnings == [] if is_clear else f"is read as {komi:g}" in warnings[0]


@pytest.mark.parametrize(
    ("names", "superko", "suicide"),
    [
        ("chinese Chinese-OGS CN Area 中国规则", 1, 0),
        ("Tromp-Taylor tromp;taylor TT Goe ING", 1, 1),
        ("NZ nz New;Zealand new-zealand NewZealand", 2, 1),
        ("AGA aga;rules BGA French", 2, 0),
        ('koSITUATIONALscoreAREAtaxNONEsui1 {"ko":"SITUATIONAL","suicide":true}', 2, 1),
    ],
)
def test_rules_are_known_by_any_spelling(names: str, superko: int, suicide: int):
    for name in names.split():
        played, warnings = loaded(f"(;SZ[9]RU[{name.replace(';', ' ')}];B[aa])")
        options = played.game.options
        assert (options["superko"], options["suicide"]) == (superko, suicide)
        assert not warnings
    assert "are read as Chinese ones" in loaded("(;SZ[9]RU[my own];B[aa])")[1][0]


@pytest.mark.parametrize(
    ("rules", "superko"),
    [
        *[(name, 1) for name in ("Japanese rules", "JP", "Korean", "日本ルール", "territory")],
        ("koSIMPLEscoreTERRITORYtaxSEKIsui0", 0),
        ('{"ko":"SIMPLE","scoring":"TERRITORY","suicide":false}', 0),
    ],
)
def test_rules_that_count_territory_are_replaced_with_a_warning(rules: str, superko: int):
    text = f"(;SZ[5]RU[{rules}];B[aa])"
    played, warnings = loaded(text)
    assert played.game.options["superko"] == superko
    expected = [f"the rules {rules[:20]!r} count territory; area is counted here"]
    assert warnings == expected
    record = read_sgf(text)  # in a game of other rules, as by GTP's loadsgf
    replay(played.game, record)
    assert record.warnings == expected
    assert not loaded(f"(;GM[2]RU[{rules}];B[d3])")[1]


def test_a_move_that_the_rules_forbid_is_replayed_under_lenient_ones():
    suicide = ";B[ba];W[ee];B[bb];W[ed];B[ac];W[aa];B[de];W[ab];B[dd]"
    played, warnings = loaded(f"(;SZ[5]RU[New Zealand]{suicide})")
    assert (len(played.actions), warnings) == (9, [])
    lenient, warnings = loaded(f"(;SZ[5]RU[Chinese]{suicide})")
    assert lenient.actions == played.actions
    assert "the rules forbid move 8, white A4: A4 is forbidden: the stone would" in warnings[0]
    # Without a pass, a game of 30 moves is longer than our limit of 18, and repeats positions.
    game, rng = read_game("go:rows=3,columns=3,superko=0,suicide=1,moves=99"), random.Random(2)
    state, actions = game.initial_state(), list[int]()
    for _ in range(30):
        actions.append(rng.choice(np.flatnonzero(game.legal_action_mask(state)[:-1]).tolist()))
        state = game.play(state, actions[-1])
    text = to_sgf(played_game(game, actions)).replace(f"AZ[{write_game(game)}]", "")
    played, warnings = loaded(text.replace("RU", "XX"))
    assert (list(played.actions), len(warnings)) == (actions, 1)


NAMES = {
    "shift_jis": "井山裕太 表ソ",
    "euc_jp": "いやま ゆうた",
    "gb18030": "古力 黑嘳",
    "euc_kr": "이세돌 박정환",
    "big5": "許功蓋 周俊勳",
    "cp1252": "René Müller Ågren",
    "utf-8": "柯洁 이세돌 é",
    "utf-8-sig": "é",
    "utf-16": "柯洁 é",
}
"""Names by encoding; some have a backslash or a bracket as a second byte."""


@pytest.mark.parametrize("encoding", NAMES)
def test_names_are_read_in_any_encoding_and_kept_on_saving(encoding: str, tmp_path):
    sgf: Any = pytest.importorskip("sgfmill.sgf")
    path, name = tmp_path / "a.sgf", NAMES[encoding]
    for declared in (f"CA[{encoding}]", "", "CA[zip]", "CA[no such]"):
        text = f"(;{declared}SZ[9]PB[{name}]PW[{name}];B[ee]C[{name}];W[cc]RE[x])"
        path.write_bytes(text.encode(encoding))
        (played,) = load_played(path)
        assert (played.players, played.moves()) == ((name, name), ["E5", "C7"])
        assert played.comments == (name, "")
        save_played(path, [played])
        assert load_played(path) == [played]
        if declared == f"CA[{encoding}]" and encoding in ("euc_jp", "euc_kr", "cp1252", "utf-8"):
            assert sgf.Sgf_game.from_bytes(path.read_bytes()).get_player_name("b") == name


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("koi8-r", "Иван Щукин"), ("windows-1251", "Иван Щукин"), ("iso-8859-2", "Łukasz Żółć")],
)
def test_an_encoding_that_is_not_guessed_is_read_by_its_name(encoding: str, name: str):
    played, _ = loaded(f"(;CA[{encoding}]SZ[9]PB[{name}];B[ee])".encode(encoding))
    assert played.players[0] == name


def test_a_name_that_ends_within_a_character_costs_no_move():
    for text in (
        b"(;CA[GBK]SZ[9]PB[\xcd\xf5\xcd];B[ee];W[cc])",
        b"(;SZ[9]PB[\xe6\xb3\xa8\xe5\x86\x8c\xe7];B[ee];W[cc])",
    ):
        assert loaded(text)[0].moves() == ["E5", "C7"]
    assert loaded(text)[0].players[0] == "注册\ufffd"


def test_an_encoding_is_guessed_from_the_first_text_that_is_not_ascii():
    text = f"(;SZ[9]C[{'plain ' * 20_000}]PB[R\xe9ti];B[ee])"
    assert loaded(text.encode("cp1252"))[0].players[0] == "R\xe9ti"


VARIATIONS = """(;GM[1]SZ[9]AB[gc][cg];W[ee]C[all]
  (;B[eg];W[ge](;B[ce]C[main])(;B[cc]C[left];W[gg](;B[aa])(;B[bb])))
  (;W[dd]C[twice])
  (;C[no move])
  (;B[ee];W[ff]))"""


def test_variations_are_read_and_written_again():
    played, warnings = loaded(VARIATIONS)
    assert warnings == ["a variation ends early: E5 is taken; type an empty point"]
    names = [
        played.game.action_names(played.states()[line.ply], line.actions)
        for line in played.variations
    ]
    # White twice: Black passes.
    assert names == [["pass", "D6"], ["C7", "G3", "A9"], ["C7", "G3", "B8"]]
    assert [line.ply for line in played.variations] == [4, 6, 6]
    assert played.variations[1].comments == ("left", "", "")
    written = to_sgf(played)
    assert loaded(written) == (played, [])
    assert GameTree.of(played).size == 1 + len(played.actions) + 4 + 2


@pytest.mark.parametrize(
    ("text", "warning", "stones"),
    [
        (
            "(;GM[1]SZ[9](;AB[cc]B[dd])(;AB[ee]B[ff];W[gg]))",
            "1 variation left out, with other stones",
            1,
        ),
        (
            "(;GM[1]SZ[9](;AB[cc];B[dd])(;B[ff])(;B[gg]))",
            "2 variations left out, with other stones",
            1,
        ),
        ("(;GM[1]SZ[9](;B[dd])(;AB[ee];B[ff]))", "1 variation left out, with other stones", 0),
        ("(;GM[1]SZ[9](;C[none])(;B[cc];W[bb]))", "1 variation left out, where the main line", 0),
        (
            "(;GM[1]SZ[9];B[dd](;C[end])(;W[cc];B[bb]))",
            "1 variation left out, where the main line",
            0,
        ),
    ],
)
def test_a_variation_that_cannot_be_one_of_the_main_line_is_told(text, warning: str, stones: int):
    played, (line,) = loaded(text)
    assert (played.setup, played.variations) == (stones, ())
    assert warning in line


def test_variations_of_another_reader_are_the_same():
    sgf: Any = pytest.importorskip("sgfmill.sgf")

    def lines(node: Any, moves: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        colour, at = node.get_move()
        moves = (*moves, ("bw".index(colour), 81 if at is None else 9 * (8 - at[0]) + at[1]))
        return (
            [moves] if not len(node) else [line for child in node for line in lines(child, moves)]
        )

    rng = random.Random(4)

    def branch(cells: list[int], ply: int) -> str:
        text = ""
        while cells:
            text += f";{'BW'[ply % 2]}[{'abcdefghi'[cells[0] % 9]}{'abcdefghi'[cells[0] // 9]}]"
            cells, ply = cells[1:], ply + 1
            if cells and rng.random() < 0.3:
                shuffled = [rng.sample(cells, rng.randint(1, len(cells))) for _ in range(2)]
                return text + "".join(f"({branch(part, ply)})" for part in shuffled)
        return text

    for _ in range(50):
        text = f"(;SZ[9]{branch(rng.sample(range(81), 6), 0)})"
        (first,) = sgf.Sgf_game.from_string(text).get_root()
        record = read_sgf(text)
        read = [
            record.moves,
            *(record.moves[: one.before] + one.moves for one in record.variations),
        ]
        assert sorted(map(tuple, read)) == sorted(lines(first))


def test_stones_that_were_set_up_are_written_as_such():
    played, warnings = loaded("(;SZ[9]HA[2]AB[gc][cg]KM[0.5]RU[Japanese];W[ee]C[a];B[])")
    assert (played.setup, played.unchosen, played.moves()[3]) == (3, 3, "E5")
    assert "count territory" in warnings[0]
    written = to_sgf(played)
    assert "HA[2]AB[gc][cg]PL[W]KM[0.5]RU[Japanese]" in written
    assert "result of the mover's search" not in written, "a person's comment has no values"
    assert loaded(written)[0] == played
    alone, _ = loaded("(;GM[11]SZ[5]AB[a1][c3]AW[b2])")
    assert "AB[a1][c3]AW[b2]PL[W]" in to_sgf(alone)
    assert loaded(to_sgf(alone))[0] == alone


def test_a_result_that_the_rules_do_not_give_is_kept_and_said():
    """The white stone is dead, as servers leave it: by area it divides Black's corner."""
    text = "(;SZ[5]KM[20.5]{}AB[aa:ea][ac:ec]AW[cb];W[];B[])"
    for result, value in ("B+1.5", 1), ("W+3.5", -1):
        played, warnings = loaded(text.format(f"RE[{result}]"))
        assert (played.outcome, played.sgf_result) == (value, "B+1.5" if value > 0 else result)
        told = "the result B+1.5 is kept; by the rules here the game ended with W+"
        assert any(told in warning for warning in warnings) == (value > 0)
        tree = GameTree.of(played)
        assert (tree.outcome, tree.value(tree.current)) == (value, value)
        reviewer = Reviewer(parse_player("uct:10"), played.game)
        end = reviewer.evaluate(played.actions, played.states()[-1], told=played.outcome)
        assert end.value == value * (1 if to_play(played.states()[-1]) == 0 else -1)


def test_every_comment_is_kept():
    text = "(;SZ[5]C[a]C[b];C[c];B[aa]C[d]C[e];C[f];W[];B[]C[g];W[]C[h])"
    record = read_sgf(text)
    assert record.remark == "a\nb\nc"
    assert record.comments == ["d\ne\nf", "", "g", "h"]
    assert from_sgf(record).comments == ("d\ne\nf", "", "g\nh")


def test_a_comment_keeps_its_lines():
    comment = "one\ttwo\r\n\r\nthree\\\nfour"
    played = from_sgf(read_sgf(f"(;SZ[5];B[aa]C[{comment}](;W[bb])(;W[cc]C[a\nb]))"))
    assert played.comments == ("one two\nthreefour", "")
    assert played.variations[0].comments == ("a\nb",)
    assert from_sgf(read_sgf(to_sgf(played))) == played


def test_little_golem_lets_white_begin_and_leaves_the_game_out():
    game = make_game("hex", size=5, swap=1)
    for seed in range(8):
        actions = random_actions(make_game("hex", size=5), np.random.default_rng(seed))[:-1]
        cells = [divmod(action, 5) for action in actions]
        moves = [
            f";{'WB'[ply % 2]}[{'abcde'[row]}{'abcde'[column]}]"
            for ply, (row, column) in enumerate(cells)
        ]
        text = f"(;FF[4]EV[hex.mc.1]PB[A]PW[B]SZ[5]RE[B]{''.join(moves)};B[resign])"
        played, warnings = loaded(text)
        assert (played.game, list(played.actions), warnings) == (game, actions, [])
        assert (played.players, played.outcome, played.resigned) == (("A", "B"), 1, True)
    swapped, _ = loaded("(;FF[4]EV[null]SZ[5];W[ba];B[swap])")
    assert swapped.moves() == ["a2", "swap-pieces"]


def test_whatever_is_read_is_a_game_or_a_reported_mistake():
    rng = random.Random(3)
    sound = [
        "(;GM[1]SZ[5]KM[6.5]AB[aa][bb];W[cc](;B[dd]C[x\\]];W[])(;B[ee]))",
        "(;GM[2]SZ[4]AB[cb][bc]AW[bb][cc];B[ba]C[1];W[a1](;B[ab])(;B[]))",
        "(;GM[4]SZ[6:5]PB[a]PW[b]RE[B+];B[aa];W[bb];B[fe])(;GM[1]SZ[3];B[aa])",
        "(;GM[11]AP[HexGui:0.9]SZ[4]AZ[hex:size=4,swap=1];B[a2];W[swap-pieces];B[d4])",
    ]
    counts = {"refused": 0, "with warnings": 0, "sound": 0}
    for turn in range(1500):
        letters = list(sound[turn % 4])
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(letters))
            letters[place : place + rng.randint(0, 2)] = rng.choice("()[];:\\ABWtz019 \né\xff")
        data = "".join(letters).encode(rng.choice(["utf-8", "latin-1"]))
        try:
            for line in read_collection(decode(data)):
                record = read_main_line(line)
                played = from_sgf(record)
                played.game.play(played.game.initial_state(), *played.actions)
        except GameError as error:
            counts["refused"] += len(str(error).splitlines()) == 1
        else:
            assert all(warning.isprintable() for warning in record.warnings)
            counts["with warnings" if record.warnings else "sound"] += 1
    assert sum(counts.values()) == 1500
    assert min(counts.values()) > 40


def test_deep_and_long_files_are_read_without_recursion():
    many = 3 * sys.getrecursionlimit()
    assert read_sgf("(;B[]" * many + ")" * many).moves == [(0, PASS)] * many
    text = "(;SZ[5]" + "(;B[])" * many + "C[" + "\\]" * many + "])"
    assert read_sgf(text).moves == [(0, PASS)]
    assert len(list(read_collection("(;SZ[5])" * many))) == many
    *_, last = read_collection("(;)" * (COUNT_LIMIT + 1))
    assert "more than 20,000 games" in last.warnings[0]
    set_up = read_sgf("(;SZ[9]AB" + "[aa:ii]" * (COUNT_LIMIT + 1) + ";B[aa])")
    assert "more than 20,000 points are set up" in set_up.warnings[0]
