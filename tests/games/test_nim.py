"""Nim against its closed form."""

import numpy as np
import pytest

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
