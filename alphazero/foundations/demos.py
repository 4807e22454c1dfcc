"""Demos of the foundations: each shows a progress bar and returns a text."""

import functools
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NoReturn, TypeVar

import numpy as np
from tqdm import tqdm

from alphazero.foundations import monte_carlo
from alphazero.foundations.blackjack import (
    HIT,
    LOWEST_SUM,
    SHAPE,
    TARGET,
    Policy,
    state_name,
    sticks_on,
)
from alphazero.foundations.boarding_pass import (
    MOST_FLIGHTS,
    MOST_PASSENGERS,
    SIMULATIONS,
    Answer,
    compare,
)
from alphazero.foundations.common import check_epsilon, check_number
from alphazero.foundations.dynamic_programming import Solution, evaluate, optimum
from alphazero.foundations.monte_carlo import MOST_EPISODES, Control, Prediction
from alphazero.foundations.queens import MOST_QUEENS, search, widths

EPISODES = 10_000_000

Result = TypeVar("Result")


def blackjack_prediction(episodes: int = 500_000, seed: int = 0) -> str:
    """The value of the Blackjack policy that sticks on 20, by Monte Carlo and exactly."""
    _check_blackjack(episodes, seed)
    policy = sticks_on(20)
    with _bar(2 * episodes, "episode") as bar:

        def estimate(first_visit: bool) -> Prediction:
            rng = np.random.default_rng(seed)
            return monte_carlo.predict(policy, episodes, rng, first_visit, bar.update)

        monte_carlo.predict(policy, 1, np.random.default_rng(seed))  # compiles
        first, seconds = _timed(lambda: estimate(first_visit=True))
        every = estimate(first_visit=False)
    exact = evaluate(policy)
    visited = first.visits > 0
    # As if no game were drawn: with draws the standard errors are smaller.
    error = np.sqrt((1 - exact.values**2) / np.maximum(first.visits, 1))
    away = (np.abs(first.values - exact.values) / error)[visited]
    same = "the same" if (first.values == every.values).all() else "not the same"
    lines = [
        _speed(episodes, seconds),
        f"{visited.sum()} of {visited.size} states were visited; first-visit and every-visit "
        f"averages are {same}, since no state occurs twice in an episode",
        f"they differ from the exact values by at most {away.max():.1f} times sqrt((1 - v²) / "
        f"visits), a bound of the standard error, with a mean square of {np.mean(away**2):.2f}",
        f"soft 13 against 2: {first.values[1, 1, 1]:+.4f}, exactly {exact.values[1, 1, 1]:+.5f}"
        " (the book's example 5.4 has -0.27726)",
    ]
    return "\n".join(lines)


def blackjack_exploring_starts(episodes: int = EPISODES, seed: int = 0) -> str:
    """Blackjack learned by Monte Carlo control with exploring starts."""
    return _control_demo(monte_carlo.learn_by_exploring_starts, episodes, 0.0, seed)


def blackjack_epsilon_soft(episodes: int = EPISODES, epsilon: float = 0.1, seed: int = 0) -> str:
    """Blackjack learned by on-policy first-visit Monte Carlo control for soft policies."""
    check_epsilon(epsilon)
    learn = functools.partial(monte_carlo.learn_by_soft_policies, epsilon=epsilon)
    return _control_demo(learn, episodes, epsilon, seed)


def boarding_pass(passengers: int = 100_000, flights: int = 10_000, seed: int = 0) -> str:
    """The lost boarding pass: 1, 2, powers of ten and all passengers, by five methods."""
    check_number("passengers", passengers, 1, MOST_PASSENGERS)
    check_number("flights", flights, 1, MOST_FLIGHTS)
    check_number("seed", seed, 0, 2**63)
    smaller = [1, 2, *(10**power for power in range(1, 7))]
    sizes = [*(size for size in smaller if size < passengers), passengers]
    with _bar(len(SIMULATIONS) * len(sizes) * flights, "flight") as bar:
        answers = compare(sizes, flights, seed, bar.update)
    return boarding_table(answers, flights)


def queens(queens: int = 8) -> str:
    """Queens that do not attack each other, by a pruned depth-first search."""
    check_number("queens", queens, 1, MOST_QUEENS)
    with _bar(queens, "square") as bar:  # the squares of the first row
        tree, seconds = _timed(lambda: search(queens, show=bar.update))
    lines = [
        f"{len(tree.solutions):,} solutions, {sum(tree.visited):,} placements visited in "
        f"{seconds:.3f} s",
        "",
        f"{'placements of':24}" + "".join(f"{depth + 1:>12}" for depth in range(queens)),
    ]
    for name, counts in widths(queens, tree).items():
        cells = (f"{count:>12,}" if count < 10**8 else f"{count:>12.1e}" for count in counts)
        lines.append(f"{name:24}" + "".join(cells))
    for column in tree.solutions[0] if tree.solutions else ():
        lines.append("  " + " ".join("Q" if square == column else "." for square in range(queens)))
    return "\n".join(lines)


DEMOS: Final[dict[str, Callable[..., str]]] = {
    demo.__name__.replace("_", "-"): demo
    for demo in (
        blackjack_prediction,
        blackjack_exploring_starts,
        blackjack_epsilon_soft,
        boarding_pass,
        queens,
    )
}


def _bar(total: int, unit: str) -> "tqdm[NoReturn]":
    return tqdm(total=total, unit=unit, unit_scale=True, disable=None)


def _check_blackjack(episodes: int, seed: int) -> None:
    check_number("episodes", episodes, 1, MOST_EPISODES)
    check_number("seed", seed, 0, 2**63)


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    begin = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begin


def _speed(episodes: int, seconds: float) -> str:
    return f"{episodes:,} episodes in {seconds:.2f} s, {episodes / seconds:,.0f} a second"


def _control_demo(learn: Callable[..., Control], episodes: int, epsilon: float, seed: int) -> str:
    """Learn, and compare the policy with the best one that explores as much."""
    _check_blackjack(episodes, seed)
    with _bar(episodes, "episode") as bar:
        learn(1, rng=np.random.default_rng(seed))  # compiles
        rng = np.random.default_rng(seed)
        learned, seconds = _timed(lambda: learn(episodes, rng=rng, show=bar.update))
    exact, best = optimum(epsilon), optimum().expected_return
    gain = evaluate(learned.policy).expected_return
    lines = [
        _speed(episodes, seconds),
        _differences(learned, exact),
        f"an episode returns {gain:+.5f} by the learned policy, {best:+.5f} at best",
    ]
    if epsilon:
        lines.append(
            f"while exploring, at best {exact.expected_return:+.5f}; the policy that is best "
            f"then returns {evaluate(exact.policy).expected_return:+.5f} without exploring"
        )
    return "\n".join([*lines, *_draw_policy(learned.policy)])


def _differences(learned: Control, exact: Solution) -> str:
    """Return a line with the states where the policies differ, and the loss in each."""
    states = [state for state in np.ndindex(SHAPE) if learned.policy[state] != exact.policy[state]]
    if not states:
        return "the learned policy is the exact one in every state"
    states.sort(key=lambda state: float(exact.margins[state]))
    named = ", ".join(
        f"{state_name(state)} (by {exact.margins[state]:.4f})" for state in states[:8]
    )
    more = f" and {len(states) - 8} more" if len(states) > 8 else ""
    return (
        f"the learned policy is the exact one in {exact.policy.size - len(states)} of "
        f"{exact.policy.size} states; elsewhere the other action is better: {named}{more}"
    )


def _draw_policy(policy: Policy) -> Iterator[str]:
    """Yield the lines of a policy's tables, as in figure 5.2 of the book."""
    for usable, name in ((1, "usable ace"), (0, "no usable ace")):
        yield f"{name}, where the player hits (H); the dealer shows A to 10"
        for total in range(TARGET, LOWEST_SUM - 1, -1):
            actions = policy[usable, total - LOWEST_SUM]
            yield f"  {total}  " + " ".join("H" if action == HIT else "." for action in actions)


def boarding_table(answers: list[Answer], flights: int) -> str:
    """Return a table of probabilities and one of times."""
    methods = dict.fromkeys(answer.method for answer in answers)

    def row(name: str, cells: Iterable[str]) -> str:
        return f"{name:24}" + "".join(f"{cell:>11}" for cell in cells)

    def rows(cell: Callable[[Answer], str]) -> list[str]:
        return [
            row(f"  {method}", (cell(answer) for answer in answers if answer.method == method))
            for method in methods
        ]

    first = [answer for answer in answers if answer.method == answers[0].method]
    return "\n".join(
        [
            row("passengers", (f"{item.passengers:,}" for item in first)),
            "probability that the last one gets the own seat",
            *rows(lambda answer: f"{answer.probability:.4f}"),
            row("  standard error", (f"{item.error:.4f}" for item in first)),
            f"microseconds per flight, mean of {flights:,}, or for the exact answer",
            *rows(lambda answer: f"{1e6 * answer.seconds:.2f}"),
        ]
    )
