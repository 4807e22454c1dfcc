"""Monte Carlo prediction and control: averages of the returns of episodes.

Sutton and Barto, *Reinforcement Learning: An Introduction*, 2nd edition (2018), chapter 5. No
model is needed, only episodes; here they are Blackjack's, without discounting.

Tables as in `blackjack.py`; action values have an axis [A = 2] before those of the states. There
may be 1 to 1,000,000,000 episodes.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from alphazero.foundations.blackjack import (
    LONGEST,
    NUM_STATES,
    SHAPE,
    Numbers,
    Policy,
    Table,
    play_episode,
    sticks_on,
)
from alphazero.foundations.common import (
    PIECE,
    Progress,
    check_epsilon,
    check_number,
    compiled,
    pieces,
)

MOST_EPISODES = 10**9


@dataclass(frozen=True)
class Prediction:
    """Estimated values of a policy."""

    values: Table
    """[2, 10, 10] mean return from each state"""
    visits: Numbers
    """[2, 10, 10] number of returns in each mean"""


@dataclass(frozen=True)
class Control:
    """A learned policy."""

    policy: Policy
    """[2, 10, 10] the action of the higher value"""
    action_values: npt.NDArray[np.float64]
    """[A, 2, 10, 10] mean return of each action in each state"""
    visits: Numbers
    """[A, 2, 10, 10] number of returns in each mean"""


@compiled
def average_returns(
    visited: Numbers,
    rewards: npt.NDArray[np.float64],
    length: int,
    first_visit: bool,
    visits: Numbers,
    values: npt.NDArray[np.float64],
) -> None:
    """Average an episode's returns into `values` and `visits`, by first or by every visit.

    `visited` and `rewards` hold an index into both tables and the following reward, for each of
    `length` steps. As on page 92 of the book: backwards through the episode, G ← G + R, and the
    mean moves by (G - mean) / N.
    """
    gain = 0.0
    for step in range(length - 1, -1, -1):
        gain += rewards[step]
        index = visited[step]
        again = False
        if first_visit:
            for earlier in range(step):
                again = again or visited[earlier] == index
        if not again:
            visits[index] += 1
            values[index] += (gain - values[index]) / visits[index]


@compiled
def _predict(
    episodes: int,
    policy: Numbers,
    first_visit: bool,
    rng: np.random.Generator,
    visits: Numbers,
    values: npt.NDArray[np.float64],
) -> None:
    """Average the returns of `episodes` episodes under `policy` [S] into two tables [S]."""
    states, actions = np.zeros(LONGEST, np.int64), np.zeros(LONGEST, np.int64)
    rewards = np.zeros(LONGEST)
    for _ in range(episodes):
        length, reward = play_episode(policy, 0.0, False, rng, states, actions)
        rewards[:length] = 0.0
        rewards[length - 1] = reward
        average_returns(states, rewards, length, first_visit, visits, values)


@compiled
def _control(
    episodes: int,
    epsilon: float,
    exploring_starts: bool,
    rng: np.random.Generator,
    policy: Numbers,
    visits: Numbers,
    values: npt.NDArray[np.float64],
) -> None:
    """Play `episodes` episodes, improving `policy` [S] after each; the tables are [A · S]."""
    states, actions = np.zeros(LONGEST, np.int64), np.zeros(LONGEST, np.int64)
    pairs, rewards = np.zeros(LONGEST, np.int64), np.zeros(LONGEST)
    for _ in range(episodes):
        length, reward = play_episode(policy, epsilon, exploring_starts, rng, states, actions)
        for step in range(length):
            pairs[step] = actions[step] * NUM_STATES + states[step]
            rewards[step] = 0.0
        rewards[length - 1] = reward
        average_returns(pairs, rewards, length, True, visits, values)
        for step in range(length):
            state = states[step]
            policy[state] = int(values[NUM_STATES + state] > values[state])


def predict(
    policy: Policy,
    episodes: int,
    rng: np.random.Generator,
    first_visit: bool = True,
    show: Progress | None = None,
) -> Prediction:
    """Estimate the values of `policy` by first-visit or every-visit Monte Carlo prediction.

    In Blackjack no state occurs twice in an episode, so both give the same numbers.
    """
    check_number("episodes", episodes, 1, MOST_EPISODES)
    visits, values = np.zeros(NUM_STATES, np.int64), np.zeros(NUM_STATES)
    for piece in pieces(episodes, PIECE, show):
        _predict(piece, policy.ravel(), first_visit, rng, visits, values)
    return Prediction(values.reshape(SHAPE), visits.reshape(SHAPE))


def learn_by_exploring_starts(
    episodes: int, rng: np.random.Generator, show: Progress | None = None
) -> Control:
    """Learn by Monte Carlo ES (page 99): random starts; the first policy sticks on 20 and 21."""
    return _learn(episodes, 0.0, True, rng, show)


def learn_by_soft_policies(
    episodes: int, epsilon: float, rng: np.random.Generator, show: Progress | None = None
) -> Control:
    """Learn to act by on-policy first-visit control (page 101), with exploration at every step.

    With probability `epsilon`, in [0, 1], the action is random, else the better one so far. The
    limit is `dynamic_programming.optimum(epsilon)`, the best policy that explores like this.
    """
    check_epsilon(epsilon)
    return _learn(episodes, epsilon, False, rng, show)


def _learn(
    episodes: int,
    epsilon: float,
    exploring_starts: bool,
    rng: np.random.Generator,
    show: Progress | None,
) -> Control:
    check_number("episodes", episodes, 1, MOST_EPISODES)
    policy = sticks_on(20).ravel()
    visits, values = np.zeros(2 * NUM_STATES, np.int64), np.zeros(2 * NUM_STATES)
    for piece in pieces(episodes, PIECE, show):
        _control(piece, float(epsilon), exploring_starts, rng, policy, visits, values)
    return Control(policy.reshape(SHAPE), values.reshape(2, *SHAPE), visits.reshape(2, *SHAPE))
