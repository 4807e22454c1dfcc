"""The same Monte Carlo methods in plain Python, on Gymnasium's `Blackjack-v1`.

The compiled rules of `blackjack.py` are checked against this loop.
"""

from typing import Any

import gymnasium
import numpy as np

from alphazero.foundations.blackjack import HIT, LOWEST_SUM, SHAPE, STICK, Policy, sticks_on
from alphazero.foundations.monte_carlo import Control, Prediction

Visit = tuple[int, tuple[int, int, int]]
"""An action, and its state as an index into tables."""


def make_environment() -> "gymnasium.Env[Any, Any]":
    """Return Blackjack by Sutton and Barto's rules."""
    return gymnasium.make("Blackjack-v1", sab=True)


def play_episode(
    environment: "gymnasium.Env[Any, Any]", policy: Policy, epsilon: float, rng: np.random.Generator
) -> tuple[list[Visit], float]:
    """Play one episode; return the choices, in order, and the final reward.

    The player follows `policy`, acts at random with probability `epsilon`, and hits below 12.
    """
    (total, shown, usable), _ = environment.reset()
    visits = []
    while True:
        action = HIT
        if total >= LOWEST_SUM:
            state = (int(usable), total - LOWEST_SUM, shown - 1)
            action = int(policy[state])
            if epsilon > 0 and rng.random() < epsilon:
                action = int(rng.integers(2))
            visits.append((action, state))
        (total, shown, usable), reward, ended, _, _ = environment.step(action)
        if ended:
            return visits, float(reward)


def predict(policy: Policy, episodes: int, seed: int) -> Prediction:
    """Estimate the values of `policy`, as `monte_carlo.predict` does."""
    learned = _learn(policy.copy(), episodes, 0.0, seed, False)
    visits = learned.visits.sum(axis=0)
    totals = (learned.visits * learned.action_values).sum(axis=0)
    return Prediction(totals / np.maximum(visits, 1), visits)


def learn_by_soft_policies(episodes: int, epsilon: float, seed: int) -> Control:
    """Learn to act, as `monte_carlo.learn_by_soft_policies` does."""
    return _learn(sticks_on(20), episodes, epsilon, seed, True)


def _learn(policy: Policy, episodes: int, epsilon: float, seed: int, improve: bool) -> Control:
    """Average the returns of state-action pairs; with `improve`, keep `policy` greedy."""
    environment = make_environment()
    environment.reset(seed=seed)
    rng = np.random.default_rng(seed)
    counts, values = np.zeros((2, *SHAPE), np.int64), np.zeros((2, *SHAPE))
    for _ in range(episodes):
        visits, reward = play_episode(environment, policy, epsilon, rng)
        for action, state in visits:  # no state occurs twice: each is a first visit
            pair = (action, *state)
            counts[pair] += 1
            values[pair] += (reward - values[pair]) / counts[pair]
            if improve:
                policy[state] = int(values[HIT][state] > values[STICK][state])
    environment.close()
    return Control(policy, values, counts)
