"""Demos of the foundations: each has a name, a progress bar, a text and a picture."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeVar

import numpy as np

from alphazero.foundations import gymnasium_baseline, monte_carlo, plots
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

LOOP_EPISODES = 10_000
"""Episodes in Gymnasium's environment, to compare the speed: less than a second."""

BOOK_EPISODES = 10_000
"""Episodes of the left surfaces of figure 5.1 in the book."""

Result = TypeVar("Result")


class DemoResult(NamedTuple):
    """The result of a demo."""

    text: str
    picture: bytes
    """a PNG file"""


class Demo(Protocol):
    """A demo; it checks its settings when it is created."""

    unit: ClassVar[str]
    """unit of the progress bar"""

    @property
    def total(self) -> int:
        """Total of the progress bar."""

    def run(self, show: Progress) -> DemoResult:
        """Do the work; pass the amount of each piece to `show`."""


@dataclass(frozen=True)
class _Blackjack:
    """What the demos of Blackjack have in common."""

    episodes: int
    seed: int
    unit: ClassVar[str] = "episode"

    def __post_init__(self) -> None:
        check_number("episodes", self.episodes, 1, MOST_EPISODES)
        check_number("seed", self.seed, 0, 2**63)
        plots.require_matplotlib()
        gymnasium_baseline.make_environment().close()

    @property
    def total(self) -> int:
        return self.episodes + LOOP_EPISODES


@dataclass(frozen=True)
class BlackjackPrediction(_Blackjack):
    """The values of the policy that sticks on 20 and 21, by first and by every visit."""

    @property
    def total(self) -> int:
        return 2 * self.episodes + min(BOOK_EPISODES, self.episodes) + LOOP_EPISODES

    def run(self, show: Progress) -> DemoResult:
        policy, few = sticks_on(20), min(BOOK_EPISODES, self.episodes)

        def estimate(episodes: int, first_visit: bool = True) -> monte_carlo.Prediction:
            rng = np.random.default_rng(self.seed)
            return monte_carlo.predict(policy, episodes, rng, first_visit, show)

        early = estimate(few)  # compiles, too
        first, seconds = _timed(lambda: estimate(self.episodes))
        every = estimate(self.episodes, first_visit=False)
        _, slowly = _timed(
            lambda: gymnasium_baseline.predict(policy, LOOP_EPISODES, self.seed, show)
        )
        exact = evaluate(policy)
        visited = first.visits > 0
        error = np.sqrt((1 - exact.values**2) / np.maximum(first.visits, 1))
        away = (np.abs(first.values - exact.values) / error)[visited]
        same = "the same" if (first.values == every.values).all() else "not the same"
        lines = [
            _speeds(self.episodes, seconds, slowly),
            f"{visited.sum()} of {visited.size} states were visited; first-visit and every-visit "
            f"averages are {same}, since no state occurs twice in an episode",
            f"they differ from the exact values by at most {away.max():.1f} standard errors, with "
            f"a mean square of {np.mean(away**2):.2f}",
            f"soft 13 against 2: {first.values[1, 1, 1]:+.4f}, exactly {exact.values[1, 1, 1]:+.5f}"
            " (the book's example 5.4 has -0.27726)",
        ]
        shown = [(few, early), (self.episodes, first)]
        return DemoResult("\n".join(lines), plots.draw_prediction(shown, exact))


@dataclass(frozen=True)
class BlackjackExploringStarts(_Blackjack):
    """Monte Carlo control with exploring starts."""

    def run(self, show: Progress) -> DemoResult:
        def learn(episodes: int, show: Progress | None = None) -> Control:
            rng = np.random.default_rng(self.seed)
            return monte_carlo.learn_by_exploring_starts(episodes, rng, show)

        title = f"Blackjack: exploring starts, {self.episodes:,} episodes"
        return _compare_control(learn, self.episodes, 0.0, self.seed, title, show)


@dataclass(frozen=True)
class BlackjackEpsilonSoft(_Blackjack):
    """On-policy first-visit Monte Carlo control for soft policies."""

    epsilon: float

    def __post_init__(self) -> None:
        check_share("epsilon", self.epsilon)
        super().__post_init__()

    def run(self, show: Progress) -> DemoResult:
        def learn(episodes: int, show: Progress | None = None) -> Control:
            rng = np.random.default_rng(self.seed)
            return monte_carlo.learn_by_soft_policies(episodes, self.epsilon, rng, show)

        title = f"Blackjack: ε-soft policies, ε = {self.epsilon:g}, {self.episodes:,} episodes"
        return _compare_control(learn, self.episodes, self.epsilon, self.seed, title, show)


@dataclass(frozen=True)
class BoardingPass:
    """The lost boarding pass, by five methods."""

    passengers: int
    flights: int
    seed: int
    unit: ClassVar[str] = "flight"

    def __post_init__(self) -> None:
        check_number("passengers", self.passengers, 1, MOST_PASSENGERS)
        check_number("flights", self.flights, 1, MOST_FLIGHTS)
        check_number("seed", self.seed, 0, 2**63)
        plots.require_matplotlib()

    @property
    def sizes(self) -> list[int]:
        """Numbers of passengers: 1, 2, powers of ten, and `passengers`."""
        smaller = [1, 2, *(10**power for power in range(1, 7))]
        return [*(size for size in smaller if size < self.passengers), self.passengers]

    @property
    def total(self) -> int:
        return len(SIMULATIONS) * len(self.sizes) * self.flights

    def run(self, show: Progress) -> DemoResult:
        answers = compare(self.sizes, self.flights, self.seed, show)
        return DemoResult(boarding_table(answers, self.flights), plots.draw_boarding(answers))


@dataclass(frozen=True)
class Queens:
    """Queens that do not attack each other, by depth-first search."""

    queens: int
    unit: ClassVar[str] = "square"

    def __post_init__(self) -> None:
        check_number("queens", self.queens, 1, MOST_QUEENS)
        plots.require_matplotlib()

    @property
    def total(self) -> int:
        return self.queens  # squares of the first row

    def run(self, show: Progress) -> DemoResult:
        found, seconds = _timed(lambda: search(self.queens, show=show))
        lines = [
            f"{len(found.solutions):,} solutions, {sum(found.visited):,} placements visited in "
            f"{seconds:.3f} s",
            "",
            f"{'placements of':24}" + "".join(f"{depth + 1:>12}" for depth in range(self.queens)),
        ]
        for name, counts in widths(self.queens, found).items():
            cells = (f"{count:>12,}" if count < 10**8 else f"{count:>12.1e}" for count in counts)
            lines.append(f"{name:24}" + "".join(cells))
        return DemoResult("\n".join(lines), plots.draw_queens(found))


DEMOS: Final[dict[str, Callable[..., Demo]]] = {
    "blackjack-prediction": BlackjackPrediction,
    "blackjack-exploring-starts": BlackjackExploringStarts,
    "blackjack-epsilon-soft": BlackjackEpsilonSoft,
    "boarding-pass": BoardingPass,
    "queens": Queens,
}
"""Demo classes by name."""


def make_demo(name: str, settings: dict[str, Any]) -> Demo:
    """Create the demo called `name` from those of the settings that it has a field for."""
    demo = DEMOS[name]
    fields = demo.__dataclass_fields__  # type: ignore[attr-defined]
    return demo(**{key: value for key, value in settings.items() if key in fields})


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    begin = time.perf_counter()
    result = work()
    return result, time.perf_counter() - begin


def _speeds(episodes: int, seconds: float, slowly: float) -> str:
    return (
        f"{episodes:,} episodes in {seconds:.2f} s, {episodes / seconds:,.0f} a second; a Python "
        f"loop around Gymnasium's Blackjack-v1: {LOOP_EPISODES / slowly:,.0f} a second"
    )


def _compare_control(
    learn: Callable[..., Control],
    episodes: int,
    epsilon: float,
    seed: int,
    title: str,
    show: Progress,
) -> DemoResult:
    """Learn, and compare the policy with the best one that explores as much."""
    learn(1)  # compiles
    learned, seconds = _timed(lambda: learn(episodes, show))
    _, slowly = _timed(
        lambda: gymnasium_baseline.learn_by_soft_policies(LOOP_EPISODES, epsilon, seed, show)
    )
    exact = optimum(epsilon)
    lines = [_speeds(episodes, seconds, slowly), _differences(learned, exact)]
    best = optimum().expected_return
    gained = evaluate(learned.policy).expected_return
    lines.append(f"an episode returns {gained:+.5f} by the learned policy, {best:+.5f} at best")
    if epsilon:
        lines.append(
            f"while exploring, at best {exact.expected_return:+.5f}; the policy that is best then "
            f"returns {evaluate(exact.policy).expected_return:+.5f} without exploring"
        )
    return DemoResult("\n".join(lines), plots.draw_control(learned, exact, title))


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
    sizes = list(dict.fromkeys(answer.passengers for answer in answers))
    methods = list(dict.fromkeys(answer.method for answer in answers))
    found = {(answer.method, answer.passengers): answer for answer in answers}
    head = "".join(f"{size:>11,}" for size in sizes)
    lines = [f"{'passengers':24}{head}", "probability that the last one gets the own seat"]
    for method in methods:
        row = "".join(f"{found[method, size].probability:11.4f}" for size in sizes)
        lines.append(f"  {method:22}{row}")
    lines.append(
        f"  {'standard error':22}"
        + "".join(f"{found[methods[0], size].error:11.4f}" for size in sizes)
    )
    lines.append(f"microseconds per flight, mean of {flights:,}, or for the exact answer")
    for method in methods:
        row = "".join(f"{1e6 * found[method, size].seconds:11.2f}" for size in sizes)
        lines.append(f"  {method:22}{row}")
    return "\n".join(lines)
