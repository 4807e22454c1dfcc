"""Demos of the foundations: each has a name, a progress bar, a text and a picture."""

import time
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeVar

import numpy as np

from alphazero.foundations import monte_carlo, plots
from alphazero.foundations.blackjack import SHAPE, state_name, sticks_on
from alphazero.foundations.boarding_pass import (
    MOST_FLIGHTS,
    MOST_PASSENGERS,
    SIMULATIONS,
    Answer,
    compare,
)
from alphazero.foundations.common import Progress, check_number, check_share
from alphazero.foundations.dynamic_programming import Solution, evaluate, optimum
from alphazero.foundations.monte_carlo import MOST_EPISODES, Control
from alphazero.foundations.queens import MOST_QUEENS, search, widths

BOOK_EPISODES = 10_000
"""Episodes of the left surfaces of figure 5.1 in the book."""

Result = TypeVar("Result")


class DemoResult(NamedTuple):
    """The result of a demo."""

    text: str
    picture: bytes
    """a PNG file"""


class Demo(NamedTuple):
    """A demo whose settings have been checked."""

    unit: str
    total: int
    """of the progress bar"""
    run: Callable[[Progress], DemoResult]
    """does the work; passes the amount of each piece to its argument"""


def blackjack_prediction(episodes: int, seed: int) -> Demo:
    """The values of the policy that sticks on 20 and 21, by first and by every visit."""
    _check_blackjack(episodes, seed)
    policy, few = sticks_on(20), min(BOOK_EPISODES, episodes)

    def run(show: Progress) -> DemoResult:
        def estimate(number: int, first_visit: bool = True) -> monte_carlo.Prediction:
            return monte_carlo.predict(
                policy, number, np.random.default_rng(seed), first_visit, show
            )

        early = estimate(few)  # compiles, too
        first, seconds = _timed(lambda: estimate(episodes))
        every = estimate(episodes, first_visit=False)
        exact = evaluate(policy)
        visited = first.visits > 0
        error = np.sqrt((1 - exact.values**2) / np.maximum(first.visits, 1))
        away = (np.abs(first.values - exact.values) / error)[visited]
        same = "the same" if (first.values == every.values).all() else "not the same"
        lines = [
            _speed(episodes, seconds),
            f"{visited.sum()} of {visited.size} states were visited; first-visit and every-visit "
            f"averages are {same}, since no state occurs twice in an episode",
            f"they differ from the exact values by at most {away.max():.1f} standard errors, with "
            f"a mean square of {np.mean(away**2):.2f}",
            f"soft 13 against 2: {first.values[1, 1, 1]:+.4f}, exactly {exact.values[1, 1, 1]:+.5f}"
            " (the book's example 5.4 has -0.27726)",
        ]
        shown = [(few, early), (episodes, first)]
        return DemoResult("\n".join(lines), plots.draw_prediction(shown, exact))

    return Demo("episode", 2 * episodes + few, run)


def blackjack_exploring_starts(episodes: int, seed: int) -> Demo:
    """Monte Carlo control with exploring starts."""

    def learn(number: int, show: Progress | None = None) -> Control:
        rng = np.random.default_rng(seed)
        return monte_carlo.learn_by_exploring_starts(number, rng, show)

    title = f"Blackjack: exploring starts, {episodes:,} episodes"
    return _control_demo(learn, episodes, 0.0, seed, title)


def blackjack_epsilon_soft(episodes: int, seed: int, epsilon: float) -> Demo:
    """On-policy first-visit Monte Carlo control for soft policies."""
    check_share("epsilon", epsilon)

    def learn(number: int, show: Progress | None = None) -> Control:
        rng = np.random.default_rng(seed)
        return monte_carlo.learn_by_soft_policies(number, epsilon, rng, show)

    title = f"Blackjack: ε-soft policies, ε = {epsilon:g}, {episodes:,} episodes"
    return _control_demo(learn, episodes, epsilon, seed, title)


def boarding_pass(passengers: int, flights: int, seed: int) -> Demo:
    """The lost boarding pass, by five methods, for 1, 2, powers of ten and all `passengers`."""
    check_number("passengers", passengers, 1, MOST_PASSENGERS)
    check_number("flights", flights, 1, MOST_FLIGHTS)
    check_number("seed", seed, 0, 2**63)
    plots.require_matplotlib()
    smaller = [1, 2, *(10**power for power in range(1, 7))]
    sizes = [*(size for size in smaller if size < passengers), passengers]

    def run(show: Progress) -> DemoResult:
        answers = compare(sizes, flights, seed, show)
        return DemoResult(boarding_table(answers, flights), plots.draw_boarding(answers))

    return Demo("flight", len(SIMULATIONS) * len(sizes) * flights, run)


def queens(queens: int) -> Demo:
    """Queens that do not attack each other, by depth-first search."""
    check_number("queens", queens, 1, MOST_QUEENS)
    plots.require_matplotlib()

    def run(show: Progress) -> DemoResult:
        found, seconds = _timed(lambda: search(queens, show=show))
        lines = [
            f"{len(found.solutions):,} solutions, {sum(found.visited):,} placements visited in "
            f"{seconds:.3f} s",
            "",
            f"{'placements of':24}" + "".join(f"{depth + 1:>12}" for depth in range(queens)),
        ]
        for name, counts in widths(queens, found).items():
            cells = (f"{count:>12,}" if count < 10**8 else f"{count:>12.1e}" for count in counts)
            lines.append(f"{name:24}" + "".join(cells))
        return DemoResult("\n".join(lines), plots.draw_queens(found))

    return Demo("square", queens, run)  # the squares of the first row


DEMOS: Final[dict[str, Callable[..., Demo]]] = {
    "blackjack-prediction": blackjack_prediction,
    "blackjack-exploring-starts": blackjack_exploring_starts,
    "blackjack-epsilon-soft": blackjack_epsilon_soft,
    "boarding-pass": boarding_pass,
    "queens": queens,
}


def _check_blackjack(episodes: int, seed: int) -> None:
    check_number("episodes", episodes, 1, MOST_EPISODES)
    check_number("seed", seed, 0, 2**63)
    plots.require_matplotlib()


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    begin = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begin


def _speed(episodes: int, seconds: float) -> str:
    return f"{episodes:,} episodes in {seconds:.2f} s, {episodes / seconds:,.0f} a second"


def _control_demo(
    learn: Callable[..., Control], episodes: int, epsilon: float, seed: int, title: str
) -> Demo:
    """Learn, and compare the policy with the best one that explores as much."""
    _check_blackjack(episodes, seed)

    def run(show: Progress) -> DemoResult:
        learn(1)  # compiles
        learned, seconds = _timed(lambda: learn(episodes, show))
        exact, best = optimum(epsilon), optimum().expected_return
        gained = evaluate(learned.policy).expected_return
        lines = [
            _speed(episodes, seconds),
            _differences(learned, exact),
            f"an episode returns {gained:+.5f} by the learned policy, {best:+.5f} at best",
        ]
        if epsilon:
            lines.append(
                f"while exploring, at best {exact.expected_return:+.5f}; the policy that is best "
                f"then returns {evaluate(exact.policy).expected_return:+.5f} without exploring"
            )
        return DemoResult("\n".join(lines), plots.draw_control(learned, exact, title))

    return Demo("episode", episodes, run)


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
            *rows(lambda each: f"{each.probability:.4f}"),
            row("  standard error", (f"{item.error:.4f}" for item in first)),
            f"microseconds per flight, mean of {flights:,}, or for the exact answer",
            *rows(lambda each: f"{1e6 * each.seconds:.2f}"),
        ]
    )
