"""The equations of selection and backup, against numbers computed by hand."""

import math
from typing import Any

import numpy as np
import pytest
from helpers.reference.gumbel import halving

from alphazero.mcts.kernels.equations import (
    considered_visits,
    first_play_value,
    mixed_value,
    puct,
    puct_constant,
    sigma,
    ucb1,
    ucb1_width,
    visit_weight,
)

# Two visited actions of priors 0.2 and 0.3, 4 visits, Q of 1 and -0.5; the node's value 0.1.
MIXED = (0.1 + 4 * (0.2 - 0.15) / 0.5) / 5


@pytest.mark.parametrize(
    ("equation", "arguments", "expected"),
    [
        (puct, (0.5, 0.2, 3, 16, 1.25), 0.5 + 1.25 * 0.2 * 4 / 4),
        (puct, (-0.25, 0.9, 0, 0, 4.0), -0.25),
        (puct, (0.0, 0.5, 1, 9, 2.0), 1.5),
        (puct_constant, (10_000, 1.25, 0.0), 1.25),
        (puct_constant, (19651, 1.25, 19652.0), 1.25 + math.log(2)),
        (puct_constant, (59, 1.0, 20.0), 1.0 + math.log(4)),
        (first_play_value, (0.2, 1.0, 3, False, 0.25), 0),
        (first_play_value, (0.2, 1.0, 3, True, 0.25), (0.2 + 1.0) / 4 - 0.25),
        (first_play_value, (-0.6, 0.0, 0, True, 0.0), -0.6),
        (visit_weight, (0.7, 0.0), 1),
        (visit_weight, (0.0, 2.0), 1),
        (visit_weight, (0.5, 2.0), 0.5),
        (visit_weight, (2.0, 2.0), 0.2),
        (sigma, (0.5, 10, 1.0), 60 * 0.75),
        (sigma, (-1.0, 10, 1.0), 0),
        (mixed_value, (0.1, 4, 0.5, 0.05), MIXED),
        (mixed_value, (0.1, 0, 0.0, 0.0), 0.1),
    ],
)
def test_the_equations_have_the_values_computed_by_hand(
    equation: Any, arguments: tuple[float, ...], expected: float
):
    assert equation.py_func(*arguments) == pytest.approx(expected)


def test_ucb1_is_the_equation_of_the_survey_and_twice_the_constant_suits_values():
    rng = np.random.default_rng(0)
    c_p = math.sqrt(0.5)
    for _ in range(50):
        visits = rng.integers(1, 50, 5)
        wins = np.array([rng.integers(0, count + 1) for count in visits])
        total = int(visits.sum()) + 1
        rewards = wins / visits + c_p * np.sqrt(2 * np.log(total) / visits)
        width = ucb1_width.py_func(total, 2 * c_p)
        scores = [
            ucb1.py_func(2 * won - count, count, width)
            for won, count in zip(wins.tolist(), visits.tolist(), strict=True)
        ]
        assert np.allclose(scores, 2 * rewards - 1)


@pytest.mark.parametrize("actions", [1, 2, 3, 4, 7, 16, 100])
@pytest.mark.parametrize("simulations", [1, 2, 16, 50, 97, 800])
def test_halving_gives_each_phase_its_share(actions: int, simulations: int):
    turns = [considered_visits.py_func(index, simulations, actions) for index in range(simulations)]
    assert turns == halving(actions, simulations)
