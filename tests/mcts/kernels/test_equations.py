"""The equations of selection and backup, against numbers computed by hand."""

import math

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


def test_puct_adds_exploration_to_the_action_value() -> None:
    assert puct.py_func(0.5, 0.2, 3, 16, 1.25) == pytest.approx(0.5 + 1.25 * 0.2 * 4 / 4)
    assert puct.py_func(-0.25, 0.9, 0, 0, 4.0) == -0.25
    assert puct.py_func(0.0, 0.5, 1, 9, 2.0) == pytest.approx(1.5)


def test_the_exploration_constant_grows_with_the_logarithm_of_the_visits() -> None:
    assert puct_constant.py_func(10_000, 1.25, 0.0) == 1.25
    assert puct_constant.py_func(19651, 1.25, 19652.0) == pytest.approx(1.25 + math.log(2))
    assert puct_constant.py_func(59, 1.0, 20.0) == pytest.approx(1.0 + math.log(4))


def test_an_unvisited_action_is_worth_zero_or_the_mean_below_its_node_less_a_reduction() -> None:
    assert first_play_value.py_func(0.2, 1.0, 3, False, 0.25) == 0
    assert first_play_value.py_func(0.2, 1.0, 3, True, 0.25) == pytest.approx(
        (0.2 + 1.0) / 4 - 0.25
    )
    assert first_play_value.py_func(-0.6, 0.0, 0, True, 0.0) == pytest.approx(-0.6)


def test_ucb1_is_the_equation_of_the_survey_and_twice_the_constant_suits_values() -> None:
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


def test_a_worse_move_counts_less_the_worse_it_is() -> None:
    assert visit_weight.py_func(0.7, 0.0) == 1
    assert visit_weight.py_func(0.0, 2.0) == 1
    assert visit_weight.py_func(0.5, 2.0) == 0.5
    assert visit_weight.py_func(2.0, 2.0) == 0.2


@pytest.mark.parametrize("actions", [2, 3, 4, 7, 16, 100])
@pytest.mark.parametrize("simulations", [1, 2, 16, 50, 97, 800])
def test_halving_gives_each_phase_its_share(actions: int, simulations: int) -> None:
    turns = [considered_visits.py_func(each, simulations, actions) for each in range(simulations)]
    assert turns == halving(actions, simulations)


def test_a_single_action_is_always_the_one_considered() -> None:
    assert [considered_visits.py_func(each, 9, 1) for each in range(9)] == list(range(9))


def test_the_equations_have_the_values_computed_by_hand() -> None:
    assert sigma.py_func(0.5, 10, 50.0, 1.0) == pytest.approx(60 * 0.75)
    assert sigma.py_func(-1.0, 10, 50.0, 1.0) == 0
    # Two visited actions of priors 0.2 and 0.3, 4 visits, Q of 1 and -0.5; the node's value 0.1.
    mixed = (0.1 + 4 * (0.2 - 0.15) / 0.5) / 5
    assert mixed_value.py_func(0.1, 4, 0.5, 0.05) == pytest.approx(mixed)
    assert mixed_value.py_func(0.1, 0, 0.0, 0.0) == 0.1
