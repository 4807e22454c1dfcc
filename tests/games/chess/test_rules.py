"""The rules of chess against python-chess; `test_pieces.py` has Fairy-Stockfish.

The counts of perft are known from many programs (chessprogramming.org/Perft_Results); those of the
small boards are Fairy-Stockfish's.
"""

from collections import Counter

import numpy as np
import pytest
from benchmark_rules import perft
from helpers.chess_games import (
    CHESS,
    KIWIPETE,
    MIDDLE_GAME,
    MIRRORED,
    PROMOTING,
    ROOKS_AND_PAWNS,
    action_of,
    outcome_of,
    random_game,
)

from alphazero.games import ONGOING, make_game
from alphazero.games.chess.game import START
from alphazero.games.chess.rules import OCCURRED, PASSANT, QUIET
from alphazero.games.game import OUTCOME

PERFT = {
    ("chess", START[8]): (20, 400, 8902, 197281, 4865609),
    ("chess", KIWIPETE): (48, 2039, 97862, 4085603, 193690690),
    ("chess", ROOKS_AND_PAWNS): (14, 191, 2812, 43238, 674624),
    ("chess", MIRRORED): (6, 264, 9467, 422333, 15833292),
    ("chess", PROMOTING): (44, 1486, 62379, 2103487, 89941194),
    ("chess", MIDDLE_GAME): (46, 2079, 89890, 3894594, 164075551),
    ("gardner", START[5]): (7, 53, 506, 4775, 52512),
    ("los_alamos", START[6]): (10, 100, 1212, 14332, 191846),
}


@pytest.mark.parametrize("depth", [1, 2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "fen"), PERFT)
def test_perft_counts_what_other_programs_count(name: str, fen: str, depth: int):
    game = make_game(name)
    assert perft(game, game.read_fen(fen), depth) == PERFT[name, fen][depth - 1]


SLOW = [pytest.param(range(20 + part, 10_000, 5), marks=pytest.mark.slow) for part in range(5)]


@pytest.mark.parametrize("games", [range(20), *SLOW])
def test_random_games_have_moves_results_and_texts_of_python_chess(games: range):
    """Slow games compare the texts, FEN and SAN, of every tenth position alone."""
    every = 10 if len(games) > 20 else 2
    results = Counter()
    for seed in games:
        for ply, (board, state, moves) in enumerate(random_game(seed)):
            assert state[OUTCOME] == outcome_of(board, state, moves), board.fen()
            actions = {action_of(board, move): move for move in moves}
            legal = np.flatnonzero(CHESS.legal_action_mask(state)).tolist()
            assert legal == (sorted(actions) if state[OUTCOME] == ONGOING else []), board.fen()
            if ply % every == 0:
                assert CHESS.write_fen(state) == board.fen(en_passant="legal")
            if ply % every == 0 and legal:
                action = legal[(seed + ply) % len(legal)]
                name = board.san(actions[action])
                assert CHESS.action_name(state, action) == name, board.fen()
                assert CHESS.parse_action(state, name) == action, board.fen()
        results[int(state[OUTCOME])] += 1
    print(results)
    assert len(games) < 1000 or len(results) == 3


# Ends of games.


@pytest.mark.parametrize(
    ("fen", "move", "outcome"),
    [
        ("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "Ra8#", 1),
        ("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "Ra7", 0),
        ("7k/8/6K1/8/8/8/8/R7 w - - 98 80", "Ra7", ONGOING),
        ("7k/7p/6K1/8/8/8/8/R7 w - - 99 80", "Kf5", 0),
        ("7k/8/5pK1/8/8/8/8/R7 b - - 99 80", "f5", ONGOING),
        ("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1", "Qf7", 0),  # stalemate
        ("k7/8/K7/8/8/7b/Q7/n7 w - - 98 1", "Qxa1", ONGOING),
        ("7k/8/7K/N7/3N4/8/B7/n7 w - - 96 1", "Nab3", ONGOING),
        ("8/8/4k3/8/8/4K3/4r3/8 w - - 0 1", "Kxe2", 0),
        ("8/8/4k3/4b3/8/4K3/4n3/8 w - - 0 1", "Kxe2", 0),
        ("8/8/8/k3b3/8/4K2B/4n3/8 w - - 0 1", "Kxe2", ONGOING),  # a light and a dark bishop
        ("8/8/4k3/4b3/8/4K1B1/4n3/8 w - - 0 1", "Kxe2", 0),
        ("8/8/4k3/4b3/8/4K3/4nN2/8 w - - 0 1", "Kxe2", ONGOING),  # mate is possible with help
        ("8/8/4k3/8/8/4KN2/4nN2/8 w - - 0 1", "Kxe2", ONGOING),
    ],
)
def test_a_game_ends_by_mate_before_all_draws_and_by_each_of_them(
    fen: str, move: str, outcome: int
):
    state = CHESS.read_fen(fen)
    assert CHESS.outcome(CHESS.play(state, CHESS.parse_action(state, move))) == outcome


def test_the_third_occurrence_of_a_position_ends_the_game_counted_from_the_first():
    state, seen = CHESS.initial_state(), []
    for move in 2 * ["Nf3", "Nf6", "Ng1", "Ng8"]:
        assert state[OUTCOME] == ONGOING
        state = CHESS.play(state, CHESS.parse_action(state, move))
        seen.append(int(state[OCCURRED]))
    assert seen == [0, 0, 0, 1, 1, 1, 1, 2]
    assert state[OUTCOME] == 0


@pytest.mark.parametrize(
    ("fen", "king", "is_same"),
    [
        ("4k3/8/8/8/3p4/8/4P3/4K3 w - - 0 1", "Kf8 Ke8", False),
        ("4k3/8/8/8/2p5/8/4P3/4K3 w - - 0 1", "Kf8 Ke8", True),  # no pawn stands beside
        ("3k4/8/8/8/3p4/8/4P3/3RK3 w - - 0 1", "Kc8 Kd8", True),  # the pawn is pinned
        ("8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1", "Ka5 Ka4", True),  # both pawns would leave the row
    ],
)
def test_a_position_occurs_again_unless_a_legal_capture_en_passant_is_lost(
    fen: str, king: str, is_same: bool
):
    away, back = king.split()
    state = CHESS.read_fen(fen)
    for move in ("e4", away, "Kf1", back, "Ke1"):
        assert state[OCCURRED] == 0
        state = CHESS.play(state, CHESS.parse_action(state, move))
        assert (state[PASSANT] >= 0) == (move == "e4" and not is_same)
    assert state[QUIET] == 4
    assert state[OCCURRED] == is_same
