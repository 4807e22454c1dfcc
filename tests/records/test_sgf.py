"""SGF: what is written is read back, here and by sgfmill; malformed text is refused in one line."""

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alphazero.errors import GameError
from alphazero.games import ONGOING, Game, make_game
from alphazero.games.game import to_play
from alphazero.games.registry import read_game, write_game
from alphazero.records.sgf import (
    COUNT_LIMIT,
    DEPTH_LIMIT,
    PASS,
    SIZE_LIMIT,
    SWAP,
    SgfGame,
    read_collection,
    read_sgf,
    write_sgf,
)
from alphazero.records.sgf_import import game_of, steps_of

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


def random_game(game: Game, seed: int) -> list[int]:
    """Return the actions of a random game; in Hex the swap comes often."""
    rng, state, actions = np.random.default_rng(seed), game.initial_state(), list[int]()
    while game.outcome(state) == ONGOING:
        legal = np.flatnonzero(game.legal_action_mask(state))
        swaps = game.options.get("swap") and len(actions) == 1 and rng.random() < 0.5
        actions.append(int(legal[-1]) if swaps else int(rng.choice(legal)))
        state = game.play(state, actions[-1])
    return actions


def actions_of(record: SgfGame, game: Game | None = None) -> list[int]:
    return [action for step in steps_of(game or game_of(record), record) for action in step]


# --- there and back ------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", GAMES)
def test_a_game_that_is_written_is_read_back(spelling: str) -> None:
    game, texts = read_game(spelling), []
    for seed in range(8):
        actions = random_game(game, seed)
        comments = [f"[{ply}\\]: é\n" * (ply % 3) for ply in range(len(actions))]
        names = ("a]\\b", "c")
        text = write_sgf(game, actions, result="B+", players=names, comments=comments)
        record = read_sgf(text)
        assert game_of(record) == game
        assert actions_of(record) == actions
        assert record.comments == comments
        assert (record.players, record.result) == (names, "B+")
        assert [player for player, _ in record.moves] == [ply % 2 for ply in range(len(actions))]
        texts.append(text)
    assert list(read_collection(" junk ".join(texts))) == list(map(read_sgf, texts))


def test_our_own_property_may_be_missing() -> None:
    for spelling, other in (("hex:size=6,swap=1", 6), ("othello", 1), ("gomoku:rows=15", 4)):
        game = read_game(spelling)
        actions = random_game(game, other)
        text = write_sgf(game, actions)
        bare = text.replace(f"AZ[{write_game(game)}]", "")
        assert bare != text
        assert actions_of(read_sgf(bare)) == actions


def test_go_rules_are_written_by_the_names_that_other_programs_know() -> None:
    for rules, superko, suicide in (("Chinese", 1, 0), ("Tromp-Taylor", 1, 1), ("NZ", 2, 1)):
        game = make_game("go", superko=superko, suicide=suicide, komi_half_points=13)
        text = write_sgf(game, [])
        assert f"KM[6.5]RU[{rules}]" in text
        assert game_of(read_sgf(text.replace(f"AZ[{write_game(game)}]", ""))) == game
    assert "RU" not in write_sgf(make_game("go", superko=0), [])
    assert game_of(read_sgf("(;SZ[9])")) == make_game("go", komi_half_points=0)


def test_suicide_is_written_as_the_point_where_it_happens() -> None:
    game = read_game("go:rows=2,columns=3,suicide=1")
    state = game.initial_state()
    actions = []
    for move in ("A1", "B1", "pass", "B2", "A2"):
        actions.append(game.parse_action(state, move))
        state = game.play(state, actions[-1])
    assert write_sgf(game, actions).endswith("\n;B[ab];W[bb];B[];W[ba];B[aa])\n")


def test_handicap_stones_are_set_up() -> None:
    game = read_game("go:rows=5,columns=5")
    record = read_sgf("(;SZ[5]AB[aa:ba][cc];W[dd])")
    actions = actions_of(record, game)
    assert actions == [0, 25, 1, 25, 12, 18]
    assert "HA[3]AB[aa][ba][cc]" in write_sgf(game, actions, setup=5)
    assert write_sgf(game, actions, setup=5).endswith("\n;W[dd])\n")


def test_stones_of_both_colours_are_set_up_in_turn() -> None:
    record = read_sgf("(;GM[11]SZ[5]AB[a1][c3]AW[b2];W[d4])")
    assert actions_of(record) == [0, 6, 12, 18]
    game = read_game("go:rows=5,columns=5")
    text = write_sgf(game, [0, 6, 12, 18], setup=3)
    assert "AB[aa][cc]AW[bb]" in text
    assert "HA" not in text
    assert actions_of(read_sgf(text)) == [0, 6, 12, 18]


def test_a_move_out_of_turn_follows_a_pass_where_there_is_one() -> None:
    assert actions_of(read_sgf("(;SZ[5];W[aa];W[bb])")) == [25, 0, 25, 6]
    with pytest.raises(GameError, match="move 2, black b2: it is white's turn"):
        actions_of(read_sgf("(;GM[11]SZ[5];B[a1];B[b2])"))
    # Othello's forced wait may be left out.
    game = make_game("othello", size=4)
    seed = next(seed for seed in range(99) if 16 in random_game(game, seed))
    actions = random_game(game, seed)
    text = write_sgf(game, actions)
    assert actions_of(read_sgf(text.replace(";B[]", "").replace(";W[]", ""))) == actions


# --- Hex and Othello as others write them ---------------------------------------------------------


def test_othello_is_read_with_letters_or_numbers_and_its_first_four_discs() -> None:
    record = read_sgf("(;GM[2]SZ[8]AB[ed][de]AW[dd][ee];B[dc];W[C3];B[c4])")
    assert actions_of(record) == [19, 18, 26]
    assert game_of(record) == make_game("othello")


def test_hex_is_read_as_hexgui_and_little_golem_write_it() -> None:
    for moves in (";B[a3];W[swap-pieces];B[D11]", ";B[ac];W[swap];B[dk]"):
        record = read_sgf(f"(;FF[4]GM[11]SZ[11]{moves})")
        assert record.moves == [(0, 22), (1, SWAP), (0, 113)]
        assert game_of(record) == make_game("hex", size=11, swap=1)
    record = read_sgf("(;GM[11]SZ[5];B[a1];W[resign])")
    assert (record.moves, record.result) == ([(0, 0)], "B+R")


@pytest.mark.parametrize("word", ["swap-sides", "swap-pieces"])
def test_swapped_sides_are_the_same_game_with_the_winner_of_the_stones_on_the_board(
    word: str,
) -> None:
    """The stones are those of a game without a swap, where the players have changed colours."""
    plain, swapped = make_game("hex", size=4), make_game("hex", size=4, swap=1)
    root = "AP[HexGui:0.9.GIT]" if word == "swap-pieces" else "AP[HexGui:0.10]"
    outcomes = []
    for seed in range(20):
        actions = random_game(plain, seed)
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
def test_sgfmill_reads_the_same_game(spelling: str) -> None:
    sgf: Any = pytest.importorskip("sgfmill.sgf")
    game = read_game(spelling)
    size = game.observation_shape[1]
    for seed in range(4):
        actions = random_game(game, seed)
        comments = [f"{ply}: \\ ] [ é" for ply in range(len(actions))]
        names = ("a]\\b", "c")
        text = write_sgf(game, actions, players=names, comments=comments, remark="x]")
        # sgfmill knows the moves of Go alone, which have the same form.
        record = sgf.Sgf_game.from_string(text.replace("GM[2]", "GM[1]").replace("GM[4]", "GM[1]"))
        assert record.get_size() == size
        assert record.get_player_name("b") == "a]\\b"
        assert record.get_root().get("C") == "x]"
        if spelling.startswith("go:"):
            assert record.get_komi() == 7.5
        nodes = record.get_main_sequence()[1:]
        assert [node.get("C") for node in nodes] == comments
        # sgfmill counts rows from the bottom.
        read = [
            (colour, size * size if at is None else (size - 1 - at[0]) * size + at[1])
            for colour, at in (node.get_move() for node in nodes)
        ]
        assert read == [("bw"[ply % 2], action) for ply, action in enumerate(actions)]


def test_sgfmill_writes_what_we_read() -> None:
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
        assert (record.rows, record.komi, record.players) == (size, 6.5, ("", "a\\ ] :b"))
        assert sorted(record.black) == [0, size * (size - 1)]
        assert (record.moves, record.comments) == (moves, comments)


GNU_GO = shutil.which("gnugo", path=f"/usr/games:{os.environ.get('PATH', '')}")


@pytest.mark.skipif(not GNU_GO, reason="no GNU Go")
def test_gnu_go_sees_the_same_board_in_what_we_write(tmp_path: Path) -> None:
    game = read_game("go:rows=7,columns=7")
    for seed in range(3):
        actions = random_game(game, seed)[:60]
        path = tmp_path / f"{seed}.sgf"
        path.write_text(write_sgf(game, actions, comments=["a ] b"] * 60))
        asked = f"loadsgf {path}\nlist_stones black\nlist_stones white\nquit\n"
        command = [str(GNU_GO), "--mode", "gtp"]
        done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
        answers = [answer.removeprefix("=").split() for answer in done.stdout.split("\n\n")]
        drawing = game.render(game.play(game.initial_state(), *actions)).splitlines()[:7]
        for sign, stones in zip("XO", answers[1:3], strict=True):
            ours = {
                f"{'ABCDEFG'[column]}{7 - row}"
                for row, line in enumerate(drawing)
                for column, cell in enumerate(line.split()[1:])
                if cell == sign
            }
            assert set(stones) == ours
            assert ours


# --- the form ------------------------------------------------------------------------------------


def test_the_main_line_takes_the_first_branch_at_every_fork() -> None:
    record = read_sgf("junk ( ;SZ[3:2]C[a \\] (;B\\] ](;B[aa](;W[bb];B[])(;W[cb]))(;B[ca])) more")
    assert (record.rows, record.columns, record.number) == (2, 3, "1")
    assert record.moves == [(0, 0), (1, 4), (0, PASS)]


def test_small_letters_of_old_names_and_escaped_ends_of_lines_do_not_count() -> None:
    record = read_sgf("(;GaMe[1]SiZe[5];Black[aa]Comment[one \\\ntwo\\\\])")
    assert (record.moves, record.comments) == ([(0, 0)], ["one two\\"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no game in it; a game begins with '(;'"),
        ("hello", "no game in it"),
        ("(;B[aa]", "line 1: expected ( ) ; or a property, got the end of the file"),
        ("(;\nB[aa\n", "line 2: expected"),
        ("(;[aa])", "line 1: a value without a property"),
        ("(;B[aa]B[bb])", "appears twice"),
        ("(;SZ[0])", "SZ must be a board's size, such as 9 or 9:7, got '0'"),
        ("(;SZ[5:00])", "SZ must be a board's size"),
        ("(;SZ[many])", "SZ must be a board's size"),
        ("(;SZ[60])", "up to 52 rows and columns, got 60"),
        ("(;KM[much])", "KM must be a number"),
        ("(;SZ[5];B[ff])", "'ff' is no point on a board of 5 x 5, whose last point is ee"),
        ("(;SZ[5];B[a])", "'a' is no point"),
        ("(;SZ[5];B[a1])", "'a1' is no point"),
        ("(;GM[11]SZ[5];B[f1])", "'f1' is no point on a board of 5 x 5, whose last point is e5"),
        ("(;GM[11]SZ[5];B[a0])", "'a0' is no point"),
        ("(;SZ[5]AB[aa:zz])", "'zz' is no point"),
        ("(;SZ[5];B[aa];AB[bb])", "after the first move"),
        ("(;SZ[5]AE[aa])", "are removed"),
        ("(;" + "C[" + "x" * SIZE_LIMIT + "])", "longer than 8,388,608 characters"),
        ("(;" * (DEPTH_LIMIT + 1) + ")" * (DEPTH_LIMIT + 1), "more than 1,000 branches deep"),
        ("(;" + ";" * COUNT_LIMIT + ")", "line 1: more than 20,000 nodes"),
        ("(;SZ[3]AB[aa:cc][aa:cc])", "more stones are set up (AB) than there are points"),
        ("(;GM[\n])", "GM must be a game's number, such as 1 for Go, got ''"),
        ("(;GM[3])", "unknown game 3 (GM); known: 1 Go, 2 Othello, 4 gomoku, 11 Hex"),
        ("(;SZ[21])", "rows must be 1 to 19, got 21"),
        ("(;KM[6.3])", "a multiple of 0.5, got 6.3"),
        ("(;GM[11]SZ[5:6])", "Hex has a square board, not 5 x 6"),
        ("(;GM[2]SZ[10])", "size must be one of 4, 6, 8, got 10"),
        ("(;GM[11]SZ[5]AZ[go])", "AZ[go] contradicts GM[11] and the board of 5 x 5"),
        ("(;GM[4]SZ[5]AZ[gomoku:rows=5])", "AZ[gomoku:rows=5] contradicts"),
        ("(;AZ[nim])", "SGF is possible for"),
        ("(;AZ[chess])", "unknown game 'chess'"),
        ("(;SZ[5];B[aa];W[aa])", "move 2, white A5: A5 is taken; type an empty point"),
        ("(;SZ[5];B[];W[];B[aa])", "move 3, black A5: the game is over"),
        ("(;SZ[5];B[];B[aa])", "move 2, black A5: white would have to pass, which ends the game"),
        ("(;GM[4];B[])", "move 1, black pass: gomoku has no such move"),
        ("(;GM[11];B[a1];W[a2];B[swap-pieces])", "move 3, black swap: swap can only be"),
        ("(;GM[2];B[aa])", "move 1, black a1: a1 encloses nothing"),
        ("(;SZ[5]AB[ba][ab]AW[aa])", "set up (AB, AW): they capture each other"),
        ("(;SZ[2]AB[aa][ab][ba][bb])", "the stones cannot be set up (AB, AW): "),
        ("(;SZ[2]AB[aa][ba]AW[ab][bb])", "the stones cannot be set up (AB, AW): "),
    ],
)
def test_a_malformed_file_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(GameError) as caught:
        actions_of(read_sgf(text))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_whatever_is_read_is_a_game_or_a_reported_mistake() -> None:
    rng = random.Random(3)
    sound = [
        "(;GM[1]SZ[5]KM[6.5]AB[aa][bb];W[cc](;B[dd]C[x\\]];W[])(;B[ee]))",
        "(;GM[2]SZ[4]AB[cb][bc]AW[bb][cc];B[ba]C[1];W[a1](;B[ab])(;B[]))",
        "(;GM[4]SZ[6:5]PB[a]PW[b]RE[B+];B[aa];W[bb];B[fe])(;GM[1]SZ[3];B[aa])",
        "(;GM[11]AP[HexGui:0.9]SZ[4]AZ[hex:size=4,swap=1];B[a2];W[swap-pieces];B[d4])",
    ]
    refused = sound_still = 0
    for turn in range(4000):
        letters = list(sound[turn % 4])
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(letters))
            letters[place : place + rng.randint(0, 2)] = rng.choice("()[];:\\ABWtz019 \né")
        try:
            for record in read_collection("".join(letters)):
                game = game_of(record)
                game.play(game.initial_state(), *actions_of(record, game))
        except GameError as error:
            refused += len(str(error).splitlines()) == 1
        else:
            sound_still += 1
    assert refused + sound_still == 4000
    assert min(refused, sound_still) > 400


def test_deep_and_long_files_are_read_without_recursion() -> None:
    many = 3 * sys.getrecursionlimit()
    text = "(;SZ[5]" + "(;B[])" * many + "C[" + "\\]" * many + "])"
    assert read_sgf(text).moves == [(0, PASS)]
    assert len(list(read_collection("(;SZ[5])" * many))) == many
    with pytest.raises(GameError, match="more than 20,000 games"):
        list(read_collection("(;)" * (COUNT_LIMIT + 1)))
