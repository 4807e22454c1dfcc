"""Moves chosen from the visits and values of roots, against numbers computed by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from alphazero.mcts.move_selection import sample_actions, temper
from alphazero.utils.arrays import Float32Array, Float64Array


def tempered(policies: Float32Array, temperature: float) -> Float64Array:
    """Return `policies` [n, A] at one temperature."""
    shares = np.empty(policies.shape)
    for policy, row in zip(policies.astype(np.float64), shares, strict=True):
        temper.py_func(policy, temperature, row)
    return shares


def test_tempered_policies_are_visits_to_the_power_of_one_over_the_temperature():
    visits = [[10, 0, 5, 85], [1, 1, 2, 0]]
    policies = np.array(visits, np.float32) / np.sum(visits, axis=1, keepdims=True)
    for temperature in (0.3, 0.5, 1.0, 2.0):
        for row, counts in enumerate(visits):
            powers = [count ** (1 / temperature) for count in counts]
            expected = [power / sum(powers) for power in powers]
            shares = tempered(policies, temperature)
            assert shares[row].tolist() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("temperature", [0.0, 1e-300, 1e-6, 1e-3])
def test_a_vanishing_temperature_is_safe(temperature: float):
    policies = np.array([[0.1, 0.0, 0.6, 0.3], [0.4, 0.4, 0.2, 0.0]], np.float32)
    shares = tempered(policies, temperature)
    assert np.allclose(shares, [[0, 0, 1, 0], [0.5, 0.5, 0, 0]])
    assert shares.sum(axis=1).tolist() == [1, 1]


def test_a_temperature_near_zero_still_separates_nearly_equal_visits():
    policies = np.array([[1000, 999]], np.float32) / 1999
    assert tempered(policies, 1e-5)[0].tolist() == pytest.approx([1, 0])


def test_actions_are_drawn_as_often_as_the_tempered_policy_says():
    draws, policy = 40_000, np.array([0.0, 0.5, 0.0, 0.3, 0.2, 0.0], np.float32)
    for temperature in (0.5, 1.0, 2.0):
        temperatures = np.full(draws, temperature)
        rows = np.tile(policy, (draws, 1))
        actions = sample_actions(rows, temperatures, np.random.default_rng(6))
        expected = tempered(policy[None], temperature)[0]
        counts = np.bincount(actions, minlength=6)
        assert (counts[policy == 0] == 0).all()
        error = 4 * np.sqrt(expected * (1 - expected) / draws)
        assert (abs(counts / draws - expected) <= error).all()


def test_temperature_zero_takes_the_first_of_the_most_visited():
    policies = np.array([[0.2, 0.4, 0.4], [0.5, 0.0, 0.5], [0.0, 0.0, 1.0]], np.float32)
    for seed in range(20):
        actions = sample_actions(policies, np.zeros(3), np.random.default_rng(seed))
        assert actions.tolist() == [1, 0, 2]


@pytest.mark.parametrize("number", [0.0, np.nextafter(1.0, 0.0)])
def test_not_even_the_extreme_draw_takes_an_action_of_no_probability(number: float):
    policies = np.random.default_rng(8).random((500, 7)).astype(np.float32)
    policies[:, [0, 3, 6]] = 0
    policies /= policies.sum(axis=1, keepdims=True)
    temperatures = np.linspace(0.05, 3, 500)
    generator: Any = SimpleNamespace(random=lambda size: np.full(size, number))
    actions = sample_actions(policies, temperatures, generator)
    assert (policies[np.arange(500), actions] > 0).all()
