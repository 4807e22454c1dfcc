"""Names of moves; random games in test_rules.py compare them with python-chess's."""

import re

import chess
import numpy as np
import pytest
from helpers.chess_games import CHESS, KIWIPETE, MIRRORED

from alphazero.errors import GameError
from alphazero.games import make_game

QUEENS = "8/8/7k/8/Q2Q4/8/8/Q3K3 w - - 0 1"
"""Three queens that reach d1."""
KNIGHTS = "4k3/8/8/8/2N3N1/8/8/4K3 w - - 0 1"
BISHOPS = "4k3/8/8/1NB5/8/8/8/2B1K3 w - - 0 1"
"""Two bishops and a knight on b5 that reach a3."""
PROMOTES = "3n4/4P2k/8/8/8/8/8/4K3 w - - 0 1"
PASSES = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"


@pytest.mark.parametrize(
    ("fen", "texts", "uci"),
    [
        (KIWIPETE, "O-O 0-0 o-o e1g1 O-O+", "e1g1"),
        (KIWIPETE, "O-O-O 0-0-0 e1c1", "e1c1"),
        (KIWIPETE, "Qxf6 Qf6 Q:f6 Qf3xf6 Qf3-f6 Q3xf6 Qfxf6 f3f6 F3F6 Qxf6!? Qxf6+", "f3f6"),
        (KIWIPETE, "Kd1 Ke1d1 e1d1", "e1d1"),
        (MIRRORED, "d4 d2-d4 d2d4", "d2d4"),
        (QUEENS, "Qdd1 Qd4d1", "d4d1"),
        (QUEENS, "Q1d1 Qa1d1", "a1d1"),
        (QUEENS, "Qa4d1 Qa4-d1", "a4d1"),
        (KNIGHTS, "Nce5 Nc4e5", "c4e5"),
        (BISHOPS, "B5a3 Bc5a3 c5a3 C5A3", "c5a3"),
        (BISHOPS, "b5a3 B5A3 Na3 Nb5a3", "b5a3"),
        (PROMOTES, "exd8=N exd8N exd8(N) ed8N e7xd8=N exd8=N# e7d8n e7d8N", "e7d8n"),
        (PROMOTES, "exd8=Q exd8 ed8Q e7d8q exd8=Q++ exd8=Q!!", "e7d8q"),
        (PASSES, "exd6 exd6e.p. exd6 ed6 e5d6", "e5d6"),
    ],
)
def test_a_move_is_read_as_people_and_programs_write_it(fen: str, texts: str, uci: str):
    state = CHESS.read_fen(fen)
    for text in texts.split():
        assert CHESS.move_name(state, CHESS.parse_action(state, text)) == uci, text


@pytest.mark.parametrize(
    ("fen", "text", "error"),
    [
        (QUEENS, "Qd1", "'Qd1' fits 3 moves: Q1d1 and Qa4d1 and Qdd1"),
        (KNIGHTS, "Ne5", "'Ne5' fits 2 moves: Nce5 and Nge5"),
        (KIWIPETE, "Ke3", "'Ke3' is not legal here; type a legal move, such as "),
        (KIWIPETE, "exd8=K", "'exd8=K' is no move; type one such as "),
        (KIWIPETE, "e1g1q", "'e1g1q' is no move"),
        (KIWIPETE, "Kg1", "'Kg1' is not legal here"),
        (KIWIPETE, "bxg4", "'bxg4' is not legal"),
        (KIWIPETE, "", "'' is no move"),
        (KIWIPETE, "\N{WHITE CHESS KNIGHT}f3", "is no move"),
        (KIWIPETE, 5000 * "!" + "x", "'!!!!!!!!!!!!!!!!!!!!' is no move"),
        (KIWIPETE, 40 * "O-", "'O-O-O-O-O-O-O-O-O-O-' is no move"),
        (PROMOTES, "e8=P", "'e8=P' is no move"),
        (PASSES, "e8", "'e8' is not legal here"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "Kg8", "the game is over"),
    ],
)
def test_a_name_that_fits_no_move_or_several_is_refused_in_one_line(
    fen: str, text: str, error: str
):
    state = CHESS.read_fen(fen)
    with pytest.raises(GameError, match=re.escape(error)) as caught:
        CHESS.parse_action(state, text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("fen", [KIWIPETE, MIRRORED, QUEENS, KNIGHTS, BISHOPS, PROMOTES, PASSES])
def test_every_legal_move_has_the_name_that_python_chess_gives_it(fen: str):
    state, board = CHESS.read_fen(fen), chess.Board(fen)
    legal = np.flatnonzero(CHESS.legal_action_mask(state)).tolist()
    names = {CHESS.move_name(state, action): CHESS.action_name(state, action) for action in legal}
    assert names == {move.uci(): board.san(move) for move in board.legal_moves}


def test_names_on_small_boards_have_their_rows_and_pieces():
    gardner, los_alamos = make_game("gardner"), make_game("los_alamos")
    state = gardner.from_moves(["b3"])
    assert gardner.move_name(state, gardner.parse_action(state, "cxb3")) == "c4b3"
    state = los_alamos.read_fen("4k1/P5/6/6/6/K5 w - - 0 1")
    legal = np.flatnonzero(los_alamos.legal_action_mask(state)).tolist()
    names = [los_alamos.action_name(state, action) for action in legal]
    assert sorted(names) == ["Ka2", "Kb1", "Kb2", "a6=N", "a6=Q+", "a6=R+"]
    for name in ("h6", "a8", "Kh5"):  # beyond the board
        with pytest.raises(GameError, match="is not legal here"):
            gardner.parse_action(gardner.from_moves(["b3"]), name)
    with pytest.raises(GameError, match="'a6=B' is not legal here"):
        los_alamos.parse_action(state, "a6=B")
