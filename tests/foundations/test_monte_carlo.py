"""Monte Carlo prediction and control: averages of episodes find what is exact."""

import numpy as np
import pytest

from alphazero.foundations import monte_carlo
from alphazero.foundations.blackjack import HIT, SHAPE, STICK, Policy, state_name, sticks_on
from alphazero.foundations.dynamic_programming import Solution, evaluate, optimum
from alphazero.utils.arrays import Float64Array, Int64Array

TWENTY = sticks_on(20)


def deviations(means: Float64Array, visits: Int64Array, exact: Float64Array) -> Float64Array:
    """Return by how many standard errors the means are away, of all that chance decides.

    A return is -1, 0 or 1, so that its variance is at most 1 - mean².
    """
    met = (visits > 0) & (exact > -1 + 1e-9)
    return (means - exact)[met] * np.sqrt(visits[met] / (1 - exact[met] ** 2))


def averages(
    visited: list[int], rewards: list[float], first_visit: bool
) -> tuple[list[int], list[float]]:
    visits, values = np.zeros(3, np.int64), np.zeros(3)
    steps = np.array(visited), np.array(rewards, np.float64)
    monte_carlo.average_returns(*steps, len(visited), first_visit, visits, values)
    return visits.tolist(), values.tolist()


def test_one_state_ten_times_is_ten_by_first_and_five_and_a_half_by_every_visit():
    # Exercise 5.5 of the book: an episode of ten steps, each with the reward 1.
    assert averages([1] * 10, [1] * 10, first_visit=True) == ([0, 1, 0], [0, 10, 0])
    assert averages([1] * 10, [1] * 10, first_visit=False) == ([0, 10, 0], [0, 5.5, 0])


def test_a_return_is_the_sum_of_all_rewards_that_follow():
    visited, rewards = [0, 2, 0, 1], [1.0, 10.0, 100.0, 1000.0]
    assert averages(visited, rewards, first_visit=True) == ([1, 1, 1], [1111, 1000, 1110])
    assert averages(visited, rewards, first_visit=False) == ([2, 1, 1], [1105.5, 1000, 1110])


def test_prediction_by_first_and_by_every_visit_agrees_and_finds_the_exact_values():
    first, every = (
        monte_carlo.predict(TWENTY, 1_000_000, np.random.default_rng(0), first_visit)
        for first_visit in (True, False)
    )
    # No state comes twice in an episode of Blackjack.
    assert (first.values == every.values).all()
    assert (first.visits == every.visits).all()
    exact = evaluate(TWENTY)
    away = deviations(first.values, first.visits, exact.values)
    assert np.abs(away).max() < 4
    assert np.mean(away**2) == pytest.approx(0.95, abs=0.25)
    assert_met_as_often(first, exact, 1_000_000)


def assert_met_as_often(found: monte_carlo.Prediction, exact: Solution, episodes: int) -> None:
    """Compare the visits of the 200 states with their chances, by Pearson's sum of squares."""
    expected = episodes * exact.chances * [*[1 / 13] * 9, 4 / 13]
    surprise = (found.visits - expected) ** 2 / expected
    assert surprise.sum() == pytest.approx(200, abs=4 * np.sqrt(2 * 200))


def names_of_differences(policy: Policy, exact: Policy) -> set[str]:
    return {state_name(state) for state in np.ndindex(SHAPE) if policy[state] != exact[state]}


def near_ties(exact: Solution, margin: float) -> set[str]:
    return {state_name(state) for state in np.ndindex(SHAPE) if exact.margins[state] < margin}


NEAR_TIES = {"hard 12 against 4", "hard 16 against 10"}
"""Where the better action gains less than 0.01, about as much as 10,000,000 episodes can tell."""


def test_exploring_starts_learn_the_optimum_but_for_near_ties():
    exact = optimum()
    assert near_ties(exact, 0.01) == NEAR_TIES
    learned = monte_carlo.learn_by_exploring_starts(10_000_000, np.random.default_rng(0))
    assert names_of_differences(learned.policy, exact.policy) <= NEAR_TIES
    assert evaluate(learned.policy).expected_return == pytest.approx(
        exact.expected_return, abs=2e-5
    )
    assert learned.visits.min() > 15_000
    # But for soft 21, which is a natural more often where episodes may start from it.
    rest = np.delete(learned.action_values - exact.action_values, -1, axis=2)
    assert np.abs(rest).max() < 0.03


SOFT_NEAR_TIES = {
    *("hard 12 against 2", "hard 12 against 3", "hard 12 against 4", "hard 15 against 10"),
    *("hard 16 against 8", "hard 16 against 9", "hard 16 against 10"),
    *("soft 18 against A", "soft 18 against 10"),
}
"""Where it gains less than 0.03 while a tenth of the actions are random: the worse action is then
seen twenty times more seldom."""


def test_soft_policies_learn_the_best_soft_policy_but_for_near_ties():
    exact = optimum(0.1)
    assert near_ties(exact, 0.03) == SOFT_NEAR_TIES
    learned = monte_carlo.learn_by_soft_policies(10_000_000, 0.1, np.random.default_rng(0))
    assert names_of_differences(learned.policy, exact.policy) <= SOFT_NEAR_TIES
    # Nor does it differ elsewhere from the best policy of all, which need not explore.
    assert names_of_differences(learned.policy, optimum().policy) <= SOFT_NEAR_TIES
    assert evaluate(learned.policy, 0.1).expected_return == pytest.approx(
        exact.expected_return, abs=2e-4
    )


def test_what_is_learned_at_random_is_what_random_play_is_worth():
    exact = optimum(1.0)
    learned = monte_carlo.learn_by_soft_policies(1_000_000, 1.0, np.random.default_rng(0))
    away = deviations(learned.action_values, learned.visits, exact.action_values)
    assert np.abs(away).max() < 4
    assert np.mean(away**2) == pytest.approx(0.95, abs=0.25)
    assert ((learned.action_values[HIT] > learned.action_values[STICK]) == learned.policy).all()


def test_without_exploring_nothing_but_the_first_policy_is_tried_where_it_seems_good():
    # The reason for exploring: hits on hard 21 are never made, and always lose.
    learned = monte_carlo.learn_by_soft_policies(50_000, 0.0, np.random.default_rng(0))
    assert (learned.visits[HIT, :, -1] == 0).all()
    assert (learned.visits[STICK, 0, -1] > 0).all()
