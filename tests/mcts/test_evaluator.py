"""Evaluators that show positions under symmetries of the game."""

import numpy as np
import pytest
from helpers.games import GAMES
from helpers.searches import HashedEvaluator, random_position

from alphazero.mcts.evaluator import SymmetricEvaluator


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four"])
def test_averaged_answers_move_with_the_board(name: str):
    game, rng = GAMES[name], np.random.default_rng(2)
    raw = HashedEvaluator(game)
    averaged = SymmetricEvaluator(game, raw)
    symmetries = game.symmetries()
    boards = np.array([game.observe(random_position(game, 3, rng)) for _ in range(5)])
    logits, values = averaged.evaluate(boards)
    assert raw.rows == [5 * len(symmetries.actions)], "all views are in one batch"
    images = []
    for actions, cells in zip(*symmetries, strict=True):
        turned = np.empty_like(boards)
        turned.reshape(5, -1, len(cells))[:, :, cells] = boards.reshape(5, -1, len(cells))
        images.append((raw.evaluate(turned)[0][:, actions], raw.evaluate(turned)[1]))
        turned_logits, turned_values = averaged.evaluate(turned)
        assert np.allclose(turned_logits[:, actions], logits, atol=1e-6)
        assert np.allclose(turned_values, values, atol=1e-6)
    assert np.allclose(logits, np.mean([logits for logits, _ in images], axis=0), atol=1e-6)
    assert np.allclose(values, np.mean([values for _, values in images], axis=0), atol=1e-6)


def test_random_symmetries_are_all_drawn():
    game = GAMES["tic_tac_toe"]
    raw, board = HashedEvaluator(game), game.observe(game.play(game.initial_state(), 1))[None]
    shown = SymmetricEvaluator(game, raw, np.random.default_rng(0))
    possible = set()
    for cells in game.symmetries().cells:
        turned = np.empty_like(board)
        turned.reshape(-1, 9)[:, cells] = board.reshape(-1, 9)
        possible.add(float(raw.evaluate(turned)[1][0]))
    drawn = {float(shown.evaluate(board)[1][0]) for _ in range(200)}
    assert drawn == possible
    assert len(possible) == 4, "a stone in the middle of an edge has four places"
