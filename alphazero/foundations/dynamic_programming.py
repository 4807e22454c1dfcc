"""Blackjack solved exactly by dynamic programming, as a reference for Monte Carlo.

No hand returns to a state: a sum only grows, and an ace that stops being usable stays so. So one
pass backwards, from hard 21 down to 12 and then from soft 21 down to 12, gives every value, as
Sutton and Barto's equations 4.5 and 4.10 do after many sweeps (*Reinforcement Learning*, 2nd
edition, 2018). One pass forwards gives the frequencies.

Tables as in `blackjack.py`; action values have an axis [A = 2] before those of the states.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from alphazero.foundations.blackjack import (
    ACE,
    DEALER_STICKS,
    HIT,
    LOWEST_SUM,
    SHAPE,
    STICK,
    TARGET,
    TEN,
    Policy,
    Table,
    add_card,
)
from alphazero.foundations.common import check_epsilon

CHANCES: Final = {card: (4 if card == TEN else 1) / 13 for card in range(ACE, TEN + 1)}
"""Probability of each card, from an infinite deck."""

NATURAL: Final = 2 * CHANCES[ACE] * CHANCES[TEN]
"""Probability of an ace and a ten as the first two cards."""

BACKWARDS: Final = [
    (usable, total) for usable in (0, 1) for total in range(TARGET, LOWEST_SUM - 1, -1)
]
"""Usable ace and sum of every state, each after its successors by a hit."""


@dataclass(frozen=True)
class Solution:
    """The exact value of a policy.

    Soft 21 does not distinguish a natural from another 21: its values are averages over both,
    weighted by frequency.
    """

    policy: Policy
    """[2, 10, 10]"""
    values: Table
    """[2, 10, 10] expected return"""
    action_values: npt.NDArray[np.float64]
    """[A, 2, 10, 10] expected return after the action"""
    chances: Table
    """[2, 10, 10] probability that an episode visits the state, given the dealer's card"""
    expected_return: float
    """of an episode, before the deal"""

    @property
    def margins(self) -> Table:
        """[2, 10, 10] the gain of the better action over the other."""
        margins: Table = np.abs(self.action_values[HIT] - self.action_values[STICK])
        return margins


def evaluate(policy: Policy, epsilon: float = 0.0) -> Solution:
    """Return the value of a policy that acts at random with probability `epsilon` in [0, 1]."""
    return _solve(policy, epsilon)


def optimum(epsilon: float = 0.0) -> Solution:
    """Return the best policy that must act at random with probability `epsilon` in [0, 1].

    Ties go to sticking.
    """
    return _solve(None, epsilon)


def _solve(fixed_policy: Policy | None, epsilon: float) -> Solution:
    """Evaluate a policy; None: find the best one."""
    check_epsilon(epsilon)
    policy = np.zeros(SHAPE, np.int64) if fixed_policy is None else fixed_policy.copy()
    values, action_values = np.zeros(SHAPE), np.zeros((2, *SHAPE))
    sticks, natural_sticks = _stick_values()
    for usable, total in BACKWARDS:
        state = usable, total - LOWEST_SUM
        stick, hit = action_values[STICK], action_values[HIT]
        stick[state] = sticks[total - LOWEST_SUM]
        for chance, after in _after_hit(total, usable):
            hit[state] += chance * (-1.0 if after is None else values[after])
        if fixed_policy is None:
            policy[state] = hit[state] > stick[state]
        chosen = np.where(policy[state] == HIT, hit[state], stick[state])
        values[state] = (1 - epsilon) * chosen + epsilon * (stick[state] + hit[state]) / 2
    first = _first_chances()
    chances, hits = first.copy(), (1 - epsilon) * (policy == HIT) + epsilon / 2
    for usable, total in reversed(BACKWARDS):
        state = usable, total - LOWEST_SUM
        for chance, after in _after_hit(total, usable):
            if after is not None:
                chances[after] += chance * hits[state] * chances[state]
    # So far a natural counts as any other 21: add its extra gain.
    soft = 1, TARGET - LOWEST_SUM
    gains = NATURAL * (natural_sticks - sticks[TARGET - LOWEST_SUM])
    of_each_card = (first * values).sum(axis=(0, 1)) + (1 - hits[soft]) * gains
    action_values[STICK][soft] += gains / chances[soft]
    values[soft] += (1 - hits[soft]) * gains / chances[soft]
    expected_return = float(of_each_card @ list(CHANCES.values()))
    return Solution(policy, values, action_values, chances, expected_return)


def _after_hit(points: int, usable: int) -> Iterator[tuple[float, tuple[int, int] | None]]:
    """Yield the probability of each card and the state it leads to, None for more than 21."""
    for card, chance in CHANCES.items():
        total, still_usable = add_card(points, usable, card)
        yield chance, None if total > TARGET else (still_usable, total - LOWEST_SUM)


def _first_chances() -> Table:
    """Return the probabilities [2, 10, 10] of the first state, after hits up to 12 or more."""
    chances = np.zeros(SHAPE)

    def deal(points: int, usable: int, cards: int, chance: float) -> None:
        if cards >= 2 and points >= LOWEST_SUM:
            chances[usable, points - LOWEST_SUM] += chance
            return
        for card, share in CHANCES.items():
            deal(*add_card(points, usable, card), cards + 1, chance * share)

    deal(0, 0, 0, 1.0)
    return chances


def _stick_values() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the values of sticking: [sum 10, dealer 10] in general, [dealer 10] on a natural."""
    ends, naturals = np.zeros((TARGET + 1, TEN)), np.zeros(TEN)

    def draw(points: int, usable: int, cards: int, chance: float, shown: int) -> None:
        if points >= DEALER_STICKS:
            ends[points if points <= TARGET else 0, shown - 1] += chance
            naturals[shown - 1] += chance * (cards == 2 and points == TARGET)
            return
        for card, share in CHANCES.items():
            draw(*add_card(points, usable, card), cards + 1, chance * share, shown)

    for shown in CHANCES:
        draw(*add_card(0, 0, shown), 1, 1.0, shown)
    below = np.cumsum(ends, axis=0) - ends
    above = 1 - below - ends
    return (below - above)[LOWEST_SUM:], 1 - naturals
