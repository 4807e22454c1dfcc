"""Random games of our rules of chess beside python-chess, which chooses the moves."""

import random
from collections.abc import Iterator

import chess

from alphazero.games import ONGOING, make_game
from alphazero.games.chess import rules
from alphazero.games.chess.tables import ACTIONS
from alphazero.games.game import OUTCOME, PLY, State

CHESS = make_game("chess")

KIWIPETE = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
ROOKS_AND_PAWNS = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"
MIRRORED = "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1"
PROMOTING = "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8"
MIDDLE_GAME = "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10"
ENDGAME = "8/3k4/8/2BN4/8/4K3/5p2/8 b - - 3 70"
STARTS = chess.STARTING_FEN, KIWIPETE, ROOKS_AND_PAWNS, MIRRORED, PROMOTING, MIDDLE_GAME, ENDGAME

_sources, _targets, _promotions, _ = ACTIONS[8]
_numbers = {
    ends: action for action, ends in enumerate(zip(_sources, _targets, _promotions, strict=True))
}


def action_of(board: chess.Board, move: chess.Move) -> int:
    """Return our number of a move: squares as the mover sees them, 0 for a queen."""
    turn = 0 if board.turn else 56
    promotion = 0 if move.promotion == chess.QUEEN else move.promotion or 0
    return _numbers[move.from_square ^ turn, move.to_square ^ turn, promotion]


def outcome_of(board: chess.Board, state: State, moves: list[chess.Move]) -> int:
    """Return python-chess's result, with our limit of moves; `moves` are the legal ones."""
    if not moves and board.is_check():
        return -1 if board.turn else 1
    is_draw = (
        not moves
        or board.is_insufficient_material()
        or board.halfmove_clock >= 100
        or board.is_repetition(3)
        or state[PLY] >= rules.MAX_MOVES
    )
    return 0 if is_draw else ONGOING


def random_game(seed: int) -> Iterator[tuple[chess.Board, State, list[chess.Move]]]:
    """Yield the positions of a game, the same objects each time, and the legal moves."""
    dice = random.Random(seed)
    board = chess.Board(dice.choice(STARTS))
    state = CHESS.read_fen(board.fen())
    while True:
        moves = list(board.legal_moves)
        yield board, state, moves
        if state[OUTCOME] != ONGOING or not moves:
            break
        move = dice.choice(moves)
        action = action_of(board, move)
        board.push(move)
        rules.play(state, action)
