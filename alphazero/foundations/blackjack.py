"""Blackjack by Sutton and Barto's rules, compiled: millions of episodes a second.

Sutton and Barto, *Reinforcement Learning: An Introduction*, 2nd edition (2018), example 5.1. Cards
come from an infinite deck; the dealer shows one card and sticks on 17 or more; the player hits or
sticks; a natural, an ace and a ten at once, wins unless the dealer has one too. Rewards are +1, 0
and -1. The rules are those of Gymnasium's `Blackjack-v1` with `sab=True`: the same cards in the
same order give the same episode.

A state is a choice of the player: the player's sum from 12 to 21 (below 12 the player always
hits), the card that the dealer shows, and whether an ace counts as 11 (it is *usable*). Tables
over the states have the axes [usable ace 2, sum 10, dealer 10]: `table[1, 18 - 12, 9 - 1]` is a
soft 18 against a nine. Kernels see such a table flat, [S = 200].
"""

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from alphazero.foundations.common import compiled

STICK, HIT = 0, 1
"""The actions, numbered as in Gymnasium."""

LOWEST_SUM, TARGET, DEALER_STICKS, TEN, ACE = 12, 21, 17, 10, 1

SHAPE: Final = (2, TARGET - LOWEST_SUM + 1, TEN)
"""Axes of a table over the states: usable ace, sum, dealer."""

NUM_STATES: Final = 200

LONGEST: Final = 20
"""Choices in the longest episode: each sum from 12 to 21 once, hard and soft."""

Policy: TypeAlias = npt.NDArray[np.int64]
"""[2, 10, 10] the action in each state."""

Table: TypeAlias = npt.NDArray[np.float64]
"""[2, 10, 10] a number for each state."""

Numbers: TypeAlias = npt.NDArray[np.int64]


def sticks_on(least: int) -> Policy:
    """Return the policy that sticks on `least` and above, and hits below."""
    policy = np.full(SHAPE, HIT)
    policy[:, least - LOWEST_SUM :, :] = STICK
    return policy


def state_name(state: tuple[int, int, int]) -> str:
    """Return the name of a state, such as `soft 18 against 9` or `hard 16 against A`."""
    usable, total, dealer = state
    shown = "A" if dealer + 1 == ACE else str(dealer + 1)
    return f"{'soft' if usable else 'hard'} {total + LOWEST_SUM} against {shown}"


@compiled
def draw_card(rng: np.random.Generator) -> int:
    """Draw from an infinite deck: an ace is 1; ten, jack, queen and king are 10."""
    return min(int(rng.random() * 13) + 1, TEN)


@compiled
def add_card(points: int, usable: int, card: int) -> tuple[int, int]:
    """Return a hand's points and whether it has a usable ace, after adding `card`."""
    if card == ACE and points + 11 <= TARGET:
        return points + 11, 1
    points += card
    if points > TARGET and usable:
        return points - 10, 0
    return points, usable


@compiled
def play_dealer(points: int, usable: int, rng: np.random.Generator) -> int:
    """Let the dealer draw up to 17 or more; return the points, 0 for more than 21."""
    while points < DEALER_STICKS:
        points, usable = add_card(points, usable, draw_card(rng))
    return points if points <= TARGET else 0


@compiled
def play_episode(
    policy: Numbers,
    epsilon: float,
    exploring_start: bool,
    rng: np.random.Generator,
    states: Numbers,
    actions: Numbers,
) -> tuple[int, float]:
    """Play one episode; return the number of choices and the final reward.

    The player follows `policy` [S], but acts at random with probability `epsilon`. With
    `exploring_start` the first sum, usable ace and action are drawn uniformly; a soft 21 is then an
    ace and a ten. States and actions are written to `states` and `actions`, both [LONGEST].
    """
    shown, hidden = draw_card(rng), draw_card(rng)
    dealer, dealer_usable = add_card(0, 0, shown)
    dealer, dealer_usable = add_card(dealer, dealer_usable, hidden)
    if exploring_start:
        points = LOWEST_SUM + int(rng.random() * SHAPE[1])
        usable = int(rng.random() * 2)
        natural = usable == 1 and points == TARGET
    else:
        points, usable = add_card(0, 0, draw_card(rng))
        points, usable = add_card(points, usable, draw_card(rng))
        natural = points == TARGET
    length = 0
    while True:
        action = HIT
        if points >= LOWEST_SUM:
            state = (usable * SHAPE[1] + points - LOWEST_SUM) * SHAPE[2] + shown - 1
            action = policy[state]
            if (exploring_start and length == 0) or (epsilon > 0 and rng.random() < epsilon):
                action = int(rng.random() * 2)
            states[length], actions[length] = state, action
            length += 1
        if action == STICK:
            break
        points, usable = add_card(points, usable, draw_card(rng))
        natural = False
        if points > TARGET:
            return length, -1.0
    dealer_natural = dealer == TARGET
    dealer = play_dealer(dealer, dealer_usable, rng)
    if points > dealer or (natural and not dealer_natural):
        return length, 1.0
    return length, 0.0 if points == dealer else -1.0
