"""Plots of the foundations' results by matplotlib, as the bytes of a PNG file.

matplotlib is imported only when a plot is drawn.
"""

import importlib.util
import io
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from alphazero.foundations.blackjack import HIT, LOWEST_SUM, STICK, TARGET, TEN, Policy, Table
from alphazero.foundations.boarding_pass import SIMULATIONS, Answer
from alphazero.foundations.common import FoundationsError
from alphazero.foundations.dynamic_programming import Solution
from alphazero.foundations.monte_carlo import Control, Prediction
from alphazero.foundations.queens import Search, widths

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORANGE, BLUE, GREEN, GREY = "#e69f00", "#56b4e9", "#009e73", "#787878"
"""Okabe and Ito, *Color Universal Design*, 2008: also distinct to colour-blind people."""
COLOURS, NAMES = {STICK: BLUE, HIT: ORANGE}, {STICK: "stick", HIT: "hit"}
"""By action."""
MARKS = ("o", "s", "^", "D", "v")
DOTS_PER_INCH = 110

DEALER = ["A", *map(str, range(2, TEN + 1))]
SUMS = range(LOWEST_SUM, TARGET + 1)
ACES = ((1, "usable ace"), (0, "no usable ace"))
"""Rows of the book's figures: index in a table, and name."""


def require_matplotlib() -> None:
    """Raise FoundationsError unless matplotlib is installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise FoundationsError(
            "pictures need matplotlib; install it with: pip install 'alphazero[plot]'"
        )


def _new_figure(width: float, height: float, title: str) -> "Figure":
    """Return an empty figure; `width` and `height` are in inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title, fontsize=14)
    return figure


def _png(figure: "Figure") -> bytes:
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=DOTS_PER_INCH)
    return data.getvalue()


def draw_prediction(predictions: Sequence[tuple[int, Prediction]], exact: Solution) -> bytes:
    """Draw values as surfaces, as figure 5.1 of the book: after some episodes, and exactly."""
    titles = [f"after {episodes:,} episodes" for episodes, _ in predictions]
    tables = [prediction.values for _, prediction in predictions]
    columns = [*zip(titles, tables, strict=True), ("exact, by dynamic programming", exact.values)]
    figure = _new_figure(4.1 * len(columns), 7.6, "Blackjack: what sticking on 20 and 21 is worth")
    for row, (usable, name) in enumerate(ACES):
        for column, (title, values) in enumerate(columns):
            number = row * len(columns) + column + 1
            axes: Any = figure.add_subplot(2, len(columns), number, projection="3d")
            _draw_surface(axes, values[usable])
            axes.set_title(f"{title}\n{name}", fontsize=10)
    return _png(figure)


def draw_control(learned: Control, exact: Solution, title: str) -> bytes:
    """Draw learned and exact policies, as in figure 5.2 of the book.

    A cross marks where the policies differ.
    """
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    figure = _new_figure(9, 9, title)
    for row, (usable, name) in enumerate(ACES):
        for side, (whose, policy) in enumerate(
            (("learned", learned.policy), ("exact", exact.policy))
        ):
            axes: Any = figure.add_subplot(2, 2, 2 * row + side + 1)
            _draw_policy(axes, policy[usable], exact.policy[usable])
            axes.set_title(f"{whose} policy, {name}", fontsize=10)
    cross = Line2D([], [], color="black", marker="x", linestyle="", label="not the exact action")
    colours = [Patch(color=COLOURS[action], label=name) for action, name in NAMES.items()]
    figure.legend(handles=[*colours, cross], loc="outside lower center", ncols=3)
    return _png(figure)


def _draw_surface(axes: Any, values: Table) -> None:
    dealer, total = np.meshgrid(range(1, TEN + 1), SUMS)
    axes.plot_surface(
        dealer, total, values, cmap="viridis", vmin=-1, vmax=1, edgecolor="#333333", linewidth=0.3
    )
    axes.set_zlim(-1, 1)
    axes.set_xticks(range(1, TEN + 1), DEALER, fontsize=7)
    axes.set_yticks(list(SUMS)[::3], list(SUMS)[::3], fontsize=7)
    axes.set_zticks([-1, 0, 1], ["-1", "0", "+1"], fontsize=7)
    axes.set_xlabel("dealer shows", fontsize=8, labelpad=-2)
    axes.set_ylabel("player's sum", fontsize=8, labelpad=-2)
    axes.view_init(elev=28, azim=-50)
    axes.set_box_aspect((1, 1, 0.7), zoom=1.02)
    axes.tick_params(pad=-2)


def _draw_policy(axes: Any, policy: Policy, exact: Policy) -> None:
    """Draw actions [sum 10, dealer 10] as a map, with a cross on each that is not exact."""
    from matplotlib.colors import ListedColormap

    extent = (0.5, TEN + 0.5, LOWEST_SUM - 0.5, TARGET + 0.5)
    axes.imshow(
        policy,
        ListedColormap([COLOURS[STICK], COLOURS[HIT]]),
        vmin=0,
        vmax=1,
        origin="lower",
        extent=extent,
    )
    axes.set_xticks(range(1, TEN + 1), DEALER, fontsize=8)
    axes.set_yticks(list(SUMS), list(SUMS), fontsize=8)
    axes.set_xticks(np.arange(1.5, TEN), minor=True)
    axes.set_yticks(np.arange(LOWEST_SUM + 0.5, TARGET), minor=True)
    axes.grid(which="minor", color="white", linewidth=0.6)
    axes.tick_params(which="both", length=0)
    axes.set_xlabel("dealer shows", fontsize=9)
    axes.set_ylabel("player's sum", fontsize=9)
    sums, cards = np.nonzero(policy != exact)
    axes.plot(cards + 1, sums + LOWEST_SUM, "x", color="black", markersize=9, markeredgewidth=2)


def _add_grid_and_legend(axes: Any) -> None:
    axes.grid(color="#dddddd")
    axes.set_axisbelow(True)
    axes.legend(fontsize=9)


def draw_boarding(answers: Sequence[Answer]) -> bytes:
    """Draw the simulated probabilities with two standard errors, and every method's time."""
    figure = _new_figure(
        12.5, 5, "The lost boarding pass: does the last passenger get the own seat?"
    )
    chances: Any = figure.add_subplot(1, 2, 1)
    times: Any = figure.add_subplot(1, 2, 2)
    methods = list(dict.fromkeys(answer.method for answer in answers))
    for index, method in enumerate(methods):
        rows = [answer for answer in answers if answer.method == method]
        sizes = np.array([row.passengers for row in rows])
        colour = (ORANGE, BLUE, GREEN, GREY, "black")[index]
        if method in SIMULATIONS:
            chances.errorbar(
                sizes * 1.12 ** (index - 1),  # side by side, so that no bar hides another
                [row.probability for row in rows],
                [2 * row.error for row in rows],
                fmt=MARKS[index],
                color=colour,
                capsize=3,
                label=method,
            )
        elif method == "recurrence":
            values = [row.probability for row in rows]
            chances.plot(sizes, values, "_", color="black", markersize=28, label="exact", zorder=1)
        times.plot(
            sizes,
            [row.seconds * 1e6 for row in rows],
            f"{MARKS[index]}-",
            color=colour,
            label=method,
        )
    for axes in (chances, times):
        axes.set_xscale("log")
        axes.set_xlabel("passengers")
        _add_grid_and_legend(axes)
    chances.set_ylabel("probability, and two standard errors")
    times.set_yscale("log")
    times.set_ylabel("microseconds per flight, or for the exact answer")
    return _png(figure)


def draw_queens(tree: Search) -> bytes:
    """Draw the width of the tree of placements at each depth, and the first solution."""
    queens = len(tree.visited)
    figure = _new_figure(12.5, 5, f"{queens} queens: constraints narrow the tree")
    axes: Any
    axes, board = figure.subplots(1, 2, width_ratios=[1.5, 1])
    depths = range(1, queens + 1)
    colours = (GREY, ORANGE, BLUE, GREEN)
    for index, (name, counts) in enumerate(widths(queens, tree).items()):
        some = [count or math.nan for count in counts]  # a logarithmic axis has no 0
        axes.plot(depths, some, f"{MARKS[index]}-", color=colours[index], label=name)
    axes.set_yscale("log")
    axes.set_xticks(depths)
    axes.set_xlabel("queens placed")
    axes.set_ylabel("placements")
    _add_grid_and_legend(axes)
    _draw_board(board, queens, tree.solutions)
    return _png(figure)


def _draw_board(axes: Any, queens: int, solutions: Sequence[Sequence[int]]) -> None:
    squares = np.add.outer(np.arange(queens), np.arange(queens)) % 2
    axes.imshow(squares, cmap="Greys", vmin=0, vmax=4)
    axes.set_xticks([])
    axes.set_yticks([])
    size = 200 / queens
    for row, column in enumerate(solutions[0] if solutions else ()):
        axes.text(column, row, "♛", ha="center", va="center_baseline", fontsize=size)
    count = f"1 of {len(solutions)} solutions" if solutions else "no solution"
    axes.set_title(count, fontsize=11)
