"""The random player."""

import numpy as np
from helpers.games import TIC_TAC_TOE

from alphazero.players.random_player import RandomPlayer

LAST_CELLS = """
    X O X
    O O X
    . X .
"""


def test_the_random_player_plays_every_legal_move_and_no_other():
    state = TIC_TAC_TOE.parse(LAST_CELLS)
    players = [RandomPlayer(TIC_TAC_TOE, 1, np.random.default_rng(seed)) for seed in (0, 0, 1)]
    first, same, other = ([player.choose(state) for _ in range(50)] for player in players)
    assert {*first} == {6, 8}
    assert first == same != other
