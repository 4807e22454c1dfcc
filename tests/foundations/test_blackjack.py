"""Blackjack: the compiled rules beside Gymnasium's, exact values beside a count of all hands."""

import functools
from typing import Any

import gymnasium
import numpy as np
import pytest

from alphazero.foundations import blackjack
from alphazero.foundations.blackjack import HIT, LONGEST, LOWEST_SUM, SHAPE, STICK, Policy
from alphazero.foundations.dynamic_programming import Solution, evaluate, optimum
from alphazero.utils.arrays import Float64Array

TWENTY = blackjack.sticks_on(20)
DECK = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]


def some_policy(seed: int) -> Policy:
    return np.random.default_rng(seed).integers(0, 2, SHAPE)


# --- the compiled rules beside Gymnasium's -------------------------------------------------------


class RiggedDeck:
    """Deals Gymnasium the cards that the compiled rules draw; suits and pictures matter to none."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def choice(self, options: list[Any]) -> Any:
        return options[int(self.rng.random() * len(options))] if options == DECK else options[0]


Visit = tuple[int, tuple[int, int, int]]
"""An action, and its state as an index into tables."""


def play_in_gymnasium(
    environment: "gymnasium.Env[Any, Any]", policy: Policy
) -> tuple[list[Visit], float]:
    """Play one episode, with hits below 12; return the choices, in order, and the final reward."""
    (total, shown, usable), _ = environment.reset()
    visits = []
    while True:
        action = HIT
        if total >= LOWEST_SUM:
            state = (int(usable), total - LOWEST_SUM, shown - 1)
            action = int(policy[state])
            visits.append((action, state))
        (total, shown, usable), reward, ended, _, _ = environment.step(action)
        if ended:
            return visits, float(reward)


@pytest.mark.parametrize("seed", range(3))
def test_card_by_card_the_rules_are_those_of_gymnasium(seed: int):
    policy = some_policy(seed)
    environment = gymnasium.make("Blackjack-v1", sab=True)
    environment.unwrapped.np_random = RiggedDeck(seed)  # type: ignore[assignment]
    rng = np.random.default_rng(seed)
    states, actions = np.zeros(LONGEST, np.int64), np.zeros(LONGEST, np.int64)
    seen: set[Any] = set()
    for _ in range(2_000):
        visits, reward = play_in_gymnasium(environment, policy)
        played = blackjack.play_episode(policy.ravel(), 0.0, False, rng, states, actions)
        assert played == (len(visits), reward)
        places = zip(*np.unravel_index(states[: len(visits)], SHAPE), strict=True)
        assert [*zip(actions[: len(visits)], places, strict=True)] == visits
        seen |= {reward, *(place[:2] for _, place in visits)}
    assert seen == {-1, 0, 1, *np.ndindex(SHAPE[:2])}


# --- the exact values beside a count of all hands ------------------------------------------------

Hand = tuple[int, ...]


@functools.cache
def read(hand: Hand) -> tuple[int, bool]:
    """Return a hand's points, and whether an ace counts as 11."""
    usable = 1 in hand and sum(hand) + 10 <= 21
    return sum(hand) + 10 * usable, usable


@functools.cache
def longer(hand: Hand) -> list[tuple[Hand, float]]:
    """Return the hand with each card of the deck, and its chance; equal hands are one."""
    return [
        (tuple(sorted((*hand, card))), DECK.count(card) / len(DECK)) for card in sorted(set(DECK))
    ]


@functools.cache
def dealer_results(hand: Hand) -> dict[tuple[int, bool], float]:
    """Return the chances of the dealer's points, 0 when bust, and of a natural among them."""
    points, _ = read(hand)
    if points >= 17:
        return {(points if points <= 21 else 0, points == 21 and len(hand) == 2): 1.0}
    chances: dict[tuple[int, bool], float] = {}
    for after, share in longer(hand):
        for result, chance in dealer_results(after).items():
            chances[result] = chances.get(result, 0.0) + chance * share
    return chances


def stick(hand: Hand, shown: int) -> float:
    points, _ = read(hand)
    natural = points == 21 and len(hand) == 2
    value = 0.0
    for (dealer, dealer_natural), chance in dealer_results((shown,)).items():
        wins = points > dealer or (natural and not dealer_natural)
        value += chance * (1 if wins else -(points < dealer))
    return value


class Plain:
    """A policy's worth, or the best one's where none is given, hand by hand."""

    def __init__(self, policy: Policy | None, epsilon: float) -> None:
        self.policy, self.epsilon = policy, epsilon
        self.both = functools.cache(self._both)

    def _both(self, hand: Hand, shown: int) -> tuple[float, float]:
        """Return what sticking and hitting are worth."""
        hit = sum(
            share * (-1.0 if read(after)[0] > 21 else self.value(after, shown))
            for after, share in longer(hand)
        )
        return stick(hand, shown), hit

    def action(self, hand: Hand, shown: int) -> int:
        points, usable = read(hand)
        if self.policy is not None:
            return int(self.policy[int(usable), points - 12, shown - 1])
        values = self.both(hand, shown)
        return HIT if values[HIT] > values[STICK] else STICK

    def value(self, hand: Hand, shown: int) -> float:
        values = self.both(hand, shown)
        if len(hand) < 2 or read(hand)[0] < 12:
            return values[HIT]
        chosen = values[self.action(hand, shown)]
        return (1 - self.epsilon) * chosen + self.epsilon * sum(values) / 2

    def solution(self) -> tuple[Float64Array, ...]:
        """Return chances, values and action values by state, weighted over the hands."""
        chances, values, actions = np.zeros(SHAPE), np.zeros(SHAPE), np.zeros((2, *SHAPE))
        for shown in range(1, 11):
            hands: dict[Hand, float] = {(): 1.0}
            while hands:
                after: dict[Hand, float] = {}
                for hand, chance in hands.items():
                    points, usable = read(hand)
                    hits = 1.0
                    if len(hand) >= 2 and points >= 12:
                        state = int(usable), points - 12, shown - 1
                        chances[state] += chance
                        values[state] += chance * self.value(hand, shown)
                        for action, value in enumerate(self.both(hand, shown)):
                            actions[action][state] += chance * value
                        hits = (1 - self.epsilon) * self.action(hand, shown) + self.epsilon / 2
                    for drawn, share in longer(hand) if hits else ():
                        if read(drawn)[0] <= 21:
                            after[drawn] = after.get(drawn, 0.0) + chance * hits * share
                hands = after
        return chances, values / chances, actions / chances

    def expected_return(self) -> float:
        return sum(self.value((), shown) for shown in DECK) / 13


def assert_exact(solution: Solution, plain: Plain) -> None:
    chances, values, action_values = plain.solution()
    np.testing.assert_allclose(solution.chances, chances, atol=1e-12)
    np.testing.assert_allclose(solution.values, values, atol=1e-12)
    np.testing.assert_allclose(solution.action_values, action_values, atol=1e-12)
    assert solution.expected_return == pytest.approx(plain.expected_return(), abs=1e-12)


@pytest.mark.parametrize(("policy", "epsilon"), [(TWENTY, 0.0), (some_policy(7) | TWENTY, 0.3)])
def test_a_policy_is_worth_what_a_count_of_all_hands_says(policy: Policy, epsilon: float):
    assert_exact(evaluate(policy, epsilon), Plain(policy, epsilon))


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_the_optimum_is_what_the_best_play_of_every_hand_gives(epsilon: float):
    # Hands of the same state differ in nothing that the best play would need to know.
    assert_exact(optimum(epsilon), Plain(None, epsilon))


def thresholds(policy: Policy, usable: int) -> list[int]:
    """Return the lowest sum on which a policy sticks, for each dealer's card, ace first."""
    lowest = [int(np.flatnonzero(column == STICK)[0]) for column in policy[usable].T]
    for column, sum_ in zip(policy[usable].T, lowest, strict=True):
        assert (column[sum_:] == STICK).all()
    return [sum_ + 12 for sum_ in lowest]


def test_the_optimum_is_the_published_one():
    # Figure 5.2 of Sutton and Barto: Thorp's basic strategy but for the notch at the soft ace.
    policy = optimum().policy
    assert thresholds(policy, usable=1) == [19, 18, 18, 18, 18, 18, 18, 18, 19, 19]
    assert thresholds(policy, usable=0) == [17, 13, 13, 12, 12, 12, 17, 17, 17, 17]


def test_the_value_of_example_5_4_is_the_published_one():
    # The mean of a hundred million episodes, whose standard error is below 0.0001.
    assert evaluate(TWENTY).values[1, 13 - 12, 2 - 1] == pytest.approx(-0.27726, abs=0.0002)
