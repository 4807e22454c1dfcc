"""Nim against its closed form, and what is typed and drawn."""

import numpy as np
import pytest

from alphazero.games import make_game
from alphazero.games.nim import LEFT, Nim
from alphazero.solvers.exhaustive import solve_all_positions


@pytest.mark.parametrize(("heap", "most"), [(15, 3), (1, 1), (7, 1), (12, 5), (6, 6), (20, 4)])
def test_the_mover_loses_exactly_when_the_chips_are_a_multiple_of_most_plus_one(
    heap: int, most: int
):
    solution = solve_all_positions(Nim(heap, most))
    assert len(solution.states) >= heap
    for state, value, optimal in zip(
        solution.states, solution.values, solution.optimal, strict=True
    ):
        remainder = int(state[LEFT]) % (most + 1)
        assert value == (-1 if remainder == 0 else 1)
        if remainder:
            assert np.flatnonzero(optimal).tolist() == [remainder - 1]
        else:
            assert optimal.sum() == min(most, state[LEFT])


def test_chips_are_drawn_with_the_moves_counted():
    game = make_game("nim", heap=7)
    state = game.from_moves(["3", "1"])
    assert game.render(state) == "o o o . . . .\n3 left after 2 moves"
    assert game.parse(game.render(state))[:3].tolist() == [2, 2, -1]
