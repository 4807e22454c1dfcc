"""SGF: what is written is read back, here and by sgfmill; what is malformed is told in a line."""

import random

import numpy as np
import pytest

from alphazero.errors import GameError
from alphazero.games import ONGOING, make_game
from alphazero.games.game import State
from alphazero.players.sgf import SgfGame, read_sgf, write_sgf

GOMOKU = make_game("gomoku", rows=7, columns=7)


def random_game(seed: int) -> list[tuple[State, int]]:
    """Return the moves of a random game, each with the position before it."""
    rng, state, moves = np.random.default_rng(seed), GOMOKU.initial_state(), []
    while GOMOKU.outcome(state) == ONGOING:
        action = int(rng.choice(np.flatnonzero(GOMOKU.legal_action_mask(state))))
        moves.append((state, action))
        state = GOMOKU.play(state, action)
    return moves


def test_a_game_that_is_written_is_read_back() -> None:
    moves = random_game(1)
    record = read_sgf(write_sgf(GOMOKU, "gomoku", moves, result="B+", players=("a]\\b", "c")))
    assert (record.rows, record.columns, record.number) == (7, 7, "4")
    assert [cell for _, cell in record.moves] == [action for _, action in moves]
    assert [player for player, _ in record.moves] == [ply % 2 for ply in range(len(moves))]


def test_sgfmill_reads_the_same_game() -> None:
    sgf = pytest.importorskip("sgfmill.sgf")
    moves = random_game(2)
    text = write_sgf(GOMOKU, "gomoku", moves, players=("a]\\b", "c")).replace("GM[4]", "GM[1]")
    game = sgf.Sgf_game.from_string(text)
    assert game.get_size() == 7
    assert game.get_player_name("b") == "a]\\b"
    read = [node.get_move() for node in game.get_main_sequence()[1:]]
    # sgfmill counts rows from the bottom.
    assert [(colour, (6 - row) * 7 + column) for colour, (row, column) in read] == [
        ("bw"[ply % 2], action) for ply, (_, action) in enumerate(moves)
    ]


def test_sgfmill_writes_what_we_read() -> None:
    sgf = pytest.importorskip("sgfmill.sgf")
    game = sgf.Sgf_game(size=13)
    game.get_root().set("KM", 6.5)
    game.get_root().set_setup_stones([(0, 0), (12, 0)], [])
    for colour, move in (("w", (5, 5)), ("b", None), ("w", (1, 2))):
        game.extend_main_sequence().set_move(colour, move)
    record = read_sgf(game.serialise().decode())
    assert (record.rows, record.komi) == (13, 6.5)
    assert sorted(record.black) == [0, 156]
    assert record.moves == [(1, 7 * 13 + 5), (0, None), (1, 11 * 13 + 2)]


def test_the_main_line_takes_the_first_branch_at_every_fork() -> None:
    record = read_sgf("junk (;SZ[3:2]C[a \\] (;B\\] ](;B[aa](;W[bb];B[])(;W[cb]))(;B[ca])) more")
    assert record == SgfGame(2, 3, "1", None, [], [], [(0, 0), (1, 4), (0, None)])


def test_a_rectangle_of_stones_is_all_its_points() -> None:
    assert read_sgf("(;SZ[5]AB[bb:cd]AW[ee])").black == [6, 7, 11, 12, 16, 17]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no game in it"),
        ("hello", "no game in it"),
        ("(;B[aa]", "expected"),
        ("(;B[aa", "expected"),
        ("(;[aa])", "value without a property"),
        ("(;B[aa]B[bb])", "stands twice"),
        ("(;SZ[0])", "SZ is a board's size"),
        ("(;SZ[many])", "SZ is a board's size"),
        ("(;KM[much])", "KM is a number"),
        ("(;SZ[5];B[ff])", "'ff' is no point"),
        ("(;SZ[5];B[a])", "'a' is no point"),
        ("(;SZ[5]AB[aa:zz])", "'zz' is no point"),
        ("(;SZ[5];B[aa];AB[bb])", "after the first move"),
        ("(;SZ[5]AE[aa])", "taken off"),
        ("(;" + "C[" + "x" * (1 << 20) + "])", "longer than"),
    ],
)
def test_a_malformed_file_is_told_in_one_line(text: str, said: str) -> None:
    with pytest.raises(GameError) as caught:
        read_sgf(text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_whatever_is_read_is_a_game_or_a_mistake_that_is_told() -> None:
    rng = random.Random(3)
    sound = "(;GM[1]SZ[5]KM[6.5]AB[aa][bb];W[cc](;B[dd]C[x\\]];W[])(;B[ee]))"
    told = sound_still = 0
    for _ in range(3000):
        letters = list(sound)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(letters))
            letters[place : place + rng.randint(0, 2)] = rng.choice("()[];:\\ABWtz0 \né")
        try:
            record = read_sgf("".join(letters))
            cells = record.rows * record.columns
            assert all(cell is None or 0 <= cell < cells for _, cell in record.moves)
        except GameError as error:
            told += len(str(error).splitlines()) == 1
        else:
            sound_still += 1
    assert told + sound_still == 3000
    assert min(told, sound_still) > 300


def test_games_without_a_number_are_not_written() -> None:
    with pytest.raises(GameError, match="not for connect_four"):
        write_sgf(make_game("connect_four"), "connect_four", [])
