"""Positions of chess as texts."""

import re

import chess
import numpy as np
import pytest
from helpers.chess_games import CHESS, KIWIPETE, STARTS
from helpers.games import random_line

from alphazero.errors import GameError
from alphazero.games import ONGOING, make_game
from alphazero.games.chess.game import START
from alphazero.games.chess.rules import MAX_MOVES
from alphazero.games.game import OUTCOME, PLY


@pytest.mark.parametrize("fen", STARTS)
def test_a_position_is_written_as_it_was_read(fen: str):
    assert CHESS.write_fen(CHESS.read_fen(fen)) == fen
    for name, start in zip(("gardner", "los_alamos", "chess"), START.values(), strict=True):
        assert make_game(name).write_fen(make_game(name).initial_state()) == start


@pytest.mark.parametrize(
    ("fen", "whole"),
    [
        ("4k3/8/8/8/8/8/8/R3K3", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1"),
        ("4k3/8/8/8/8/8/8/R3K3 b", "4k3/8/8/8/8/8/8/R3K3 b - - 0 1"),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 7", "4k3/8/8/8/8/8/8/R3K3 w Q - 7 1"),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 7 0", "4k3/8/8/8/8/8/8/R3K3 w - - 7 1"),
        # far beyond the limit of moves
        ("4k3/8/8/8/8/8/8/R3K3 w - - 7 900", "4k3/8/8/8/8/8/8/R3K3 w - - 7 129"),
        # a right to take en passant that nobody has
        (
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        ),
        ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 9", "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 9"),
        ("  4k3/8/8/8/8/8/8/R3K3   w   Q  ", "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"),
    ],
)
def test_fields_may_be_missing_and_are_made_exact(fen: str, whole: str):
    assert CHESS.write_fen(CHESS.read_fen(fen)) == whole


@pytest.mark.parametrize(
    ("fen", "error"),
    [
        ("4k3/8/8/8/8/8/8/R3KK2 w - - 0 1", "White has 2 kings; expected one"),
        ("8/8/8/8/8/8/8/R3K3 w - - 0 1", "Black has 0 kings; expected one"),
        ("4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "a pawn stands on the first or the last row"),
        ("4k3/8/8/8/8/8/8/p3K3 w - - 0 1", "a pawn stands on the first or the last row"),
        ("4k3/8/8/8/8/8/8/4K3 w Q - 0 1", "right to castle Q has no king and rook at home"),
        ("r4k2/8/8/8/8/8/8/4K3 w q - 0 1", "right to castle q has no king and rook at home"),
        ("4k3/8/8/8/8/8/8/4K3 w KK - 0 1", "rights to castle are 'KK'; expected e.g. KQkq"),
        ("4k3/8/8/8/8/8/8/4K3 w HA - 0 1", "rights to castle are 'HA'"),
        ("4k3/8/8/8/8/8/8/4K2r b - - 0 1", "the side that is not to move is in check"),
        ("8/8/8/3kK3/8/8/8/8 w - - 0 1", "the side that is not to move is in check"),
        ("4k3/8/8/8/8/8/8 w - - 0 1", "the FEN has 7 rows; expected 8"),
        ("4k3/8/8/8/9/8/8/4K3 w - - 0 1", "row 4 of the FEN has 9 cells; it has 8"),
        ("4k3/8/8/8/8/7/8/4K3 w - - 0 1", "row 3 of the FEN has 7 cells; it has 8"),
        ("4k3/8/8/8/8/8/8/3XK3 w - - 0 1", "row 1 of the FEN has 'X'; pieces are P, N, B, R, Q, K"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", "'x' to move; expected w or b"),
        ("4k3/8/8/8/8/8/8/4K3 w - e3 0 1", "no pawn can have passed 'e3'"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", "no pawn can have passed 'e6'"),
        ("4k3/8/8/8/8/8/8/4K3 w - zz 0 1", "no pawn can have passed 'zz'"),
        ("4k3/8/4K3/3Pp3/8/8/8/8 w - e6 0 2", "have passed 'e6' only over empty squares"),
        ("4k3/4n3/8/3Pp3/8/8/8/4K3 w - e6 0 2", "have passed 'e6' only over empty squares"),
        ("4k3/8/8/8/3Pp3/8/3B4/4K3 b - d3 0 2", "have passed 'd3' only over empty squares"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 1001 1", "'1001' moves without a capture or a pawn move"),
        ("4k3/8/8/8/8/8/8/4K3 w - - x 1", "'x' moves without"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 -1", "ends with '-1'; expected the number of the move"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 2", "is no FEN: expected 1 to 6 fields"),
        ("", "is no FEN: expected 1 to 6 fields"),
        (
            "rnbqkbnr/8/QQQQQQQQ/8/QQQQQQQQ/8/Q7/RNBQKBNR w",
            "White has 25 pieces; at most 16 can be",
        ),
        ("4k3/pppppppp/pppp4/8/8/8/8/4K3 b", "Black has 12 pawns and 0 promoted pieces; at most 8"),
        ("4k3/8/8/8/8/QQQQQQQ1/PPP5/4K3 w", "White has 3 pawns and 6 promoted pieces; at most 8"),
        (
            "2Q1QQ2/Q6Q/1Q3Q2/3Q4/Q5QK/Q1Q1Q3/7k/1Q3Q2 w",
            "White has 0 pawns and 14 promoted pieces; at most 8 together can be",
        ),
        ("99999999999999999999/8/8/8/8/8/8/8 w", "row 8 of the FEN has 99 cells"),
    ],
)
def test_a_fen_that_is_no_position_is_refused_in_one_line(fen: str, error: str):
    with pytest.raises(GameError, match=re.escape(error)) as caught:
        CHESS.read_fen(fen)
    assert "\n" not in str(caught.value)


def test_small_boards_have_no_castling_and_no_double_step():
    gardner = make_game("gardner")
    for fields in ("KQ -", "- c3"):
        with pytest.raises(GameError, match=r"right to castle K|no pawn can have passed"):
            gardner.read_fen(f"rnbqk/ppppp/5/PPPPP/RNBQK w {fields} 0 1")


def test_a_position_that_is_over_when_it_is_set_up_has_its_outcome():
    for fen, outcome in (
        ("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1", 1),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 0),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 100 90", 0),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 149 90", 0),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 99 90", ONGOING),
        (f"4k3/8/8/8/8/8/P7/4K3 w - - 0 {1 + MAX_MOVES // 2}", 0),
    ):
        assert CHESS.read_fen(fen)[OUTCOME] == outcome


def test_without_automatic_draws_a_game_goes_on_until_nobody_can_mate():
    """As python-chess does, which has such draws on demand."""
    game = make_game("chess", automatic_draws=0)
    state, board = game.initial_state(), chess.Board()
    for name in ["g1f3", "g8f6", "f3g1", "f6g8"] * 140:
        state = game.play(state, game.parse_action(state, name))
        board.push_uci(name)
        legal = np.flatnonzero(game.legal_action_mask(state)).tolist()
        assert {game.move_name(state, action) for action in legal} == {
            move.uci() for move in board.legal_moves
        }
    assert (state[PLY], state[OUTCOME]) == (560, ONGOING)
    assert game.write_fen(state) == board.fen()
    assert game.observe(state).max() == 1, "the network sees no more quiet moves than it knows"
    for fen, outcome in (
        ("4k3/8/8/8/8/8/8/R3K3 w - - 149 90", ONGOING),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", 0),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 0),
        (f"4k3/8/8/8/8/8/P7/4K3 w - - 0 {1 + game.max_moves // 2}", 0),
    ):
        assert game.read_fen(fen)[OUTCOME] == outcome


def test_pieces_and_checks_are_those_of_the_board_whoever_moves():
    state = CHESS.read_fen("4k3/8/8/8/8/8/4q3/4K2R w K - 0 1")
    assert CHESS.attacked_cells(state) == (60,)
    assert CHESS.pieces(state)[7].tolist() == [0, 0, 0, 0, 6, 0, 0, 4]
    state = CHESS.play(state, CHESS.parse_action(state, "Kxe2"))
    assert state[PLY] == 1
    assert CHESS.attacked_cells(state) == ()
    assert CHESS.pieces(state)[6, 4] == 6
    assert CHESS.pieces(state)[0, 4] == -6


def test_a_drawing_has_the_fen_and_what_occurred_before():
    state = CHESS.from_moves(["Nf3", "Nf6", "Ng1", "Ng8"])
    drawing = CHESS.render(state)
    assert drawing.splitlines()[0] == " 8 r n b q k b n r"
    assert drawing.splitlines()[-1] == "occurred 1 times before"
    assert (CHESS.observe(CHESS.parse(drawing)) == CHESS.observe(state)).all()
    assert CHESS.write_fen(CHESS.parse(KIWIPETE)) == KIWIPETE
    with pytest.raises(GameError, match="no line with FEN"):
        CHESS.parse(200 * "a board\n")


@pytest.mark.parametrize("name", ["gardner", "los_alamos", "chess"])
def test_left_and_right_may_be_exchanged(name: str):
    """As texts: a FEN with its rows reversed has the same moves, with their letters exchanged.

    Rights to castle stay as they are, short or long, and the king's move is exchanged like others.
    """
    game = make_game(name)
    actions, cells = game.symmetries()
    letters = "abcdefgh"[: game.observation_shape[2]]
    exchanged = str.maketrans(letters, letters[::-1])
    castlings = 0
    for seed in range(5):
        for state, _ in random_line(game, np.random.default_rng(seed))[:-1]:
            placement, turn, _, passed, *rest = game.write_fen(state).split()
            rows = "/".join(row[::-1] for row in placement.split("/"))
            image = game.read_fen(" ".join([rows, turn, "-", passed.translate(exchanged), *rest]))
            legal = set(np.flatnonzero(game.legal_action_mask(state)).tolist())
            castling = {move for move in legal if game.action_name(state, move).startswith("O-O")}
            castlings += len(castling)
            for move in legal:
                ends = game.move_name(state, move)[:4].translate(exchanged)
                assert game.move_name(image, int(actions[1][move]))[:4] == ends
            moves = np.flatnonzero(game.legal_action_mask(image))
            assert {*moves.tolist()} == {int(actions[1][move]) for move in legal - castling}
            planes, seen = game.observe(image), game.observe(state)
            planes[15:19] = seen[15:19]  # the rights to castle
            planes[12] = seen[12]  # whether the position occurred before
            assert (planes == seen.reshape(len(seen), -1)[:, cells[1]].reshape(seen.shape)).all()
    assert len(actions) == 2
    assert castlings > 0 or name != "chess"
