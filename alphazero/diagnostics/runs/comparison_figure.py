"""Figures of several runs: a chart for each curve, and in it a line for each run."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from alphazero.diagnostics.runs.comparison import (
    SPENT,
    RunCurves,
    compared_curves,
    differing_keys,
    whole,
)
from alphazero.diagnostics.runs.run_figure import MARKED, ROW, WIDTH, fit_from_zero
from alphazero.drawing.figures import LINES, check_figures, figure_style, save_figure
from alphazero.errors import RunError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE: Final = 0.17
"""Height of a line of the legend, in inches."""
LEGEND_WIDTH: Final = 110
"""Characters in a line of the legend."""


def plot_runs(runs: Sequence[RunCurves], file: Path) -> None:
    """Draw every compared curve over the iterations into `file`; raise as `save_runs_figure`."""
    save_runs_figure(runs, list(compared_curves(runs)), ["iterations"], file)


def plot_comparison(runs: Sequence[RunCurves], file: Path) -> None:
    """Draw strength and loss over evaluations, samples and hours; raise as `save_runs_figure`."""
    names = [*compared_curves(runs, ["strength"]), "loss/total"]
    save_runs_figure(runs, names, ["evaluations", "samples", "hours"], file)


def save_runs_figure(
    runs: Sequence[RunCurves], names: Sequence[str], over: Sequence[str], file: Path
) -> None:
    """Draw a chart for each curve in `names` and each quantity in `over`, as of `SPENT`.

    Raises:
        RunError: when there are too many runs to tell apart, the file is neither PNG nor SVG or
            cannot be written, or matplotlib is missing.
    """
    check_figures([file])
    if len(runs) > len(LINES):
        raise RunError(
            f"a figure shows {len(LINES)} runs at most, and {len(runs)} are named; compare more "
            "of them in a table or as CSV"
        )
    save_figure(file, draw_runs(runs, names, over))


@figure_style()
def draw_runs(runs: Sequence[RunCurves], names: Sequence[str], over: Sequence[str]) -> "Figure":
    """Return the figure; raise RunError without matplotlib."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.lines import Line2D

    charts = compared_curves(runs)
    cells = [(name, each) for name in names if name in charts for each in over]
    columns = max(2, len(over))
    rows = -(-len(cells) // columns)
    legend = _legend(runs)
    head = 0.25 + LINE * sum(1 + text.count("\n") for text in legend)
    height = head + ROW * rows
    below = ConstrainedLayoutEngine(rect=(0, 0, 1, 1 - head / height))
    figure = Figure(figsize=(WIDTH, height), layout=below)
    for number, (name, each) in enumerate(cells, 1):
        axes = figure.add_subplot(rows, columns, number)
        _draw_curve(axes, runs, name, each, charts[name].unit)
        if each == over[0]:
            axes.set_title(name)
        axes.set_xlabel(SPENT[each] if each == "hours" else each)
        axes.set_ylabel(charts[name].unit.partition(",")[0].partition(";")[0])
    lines = [Line2D((), (), **_style(number)) for number in range(len(runs))]
    figure.legend(lines, legend, loc="upper left", bbox_to_anchor=(0.005, 1 - 0.05 / height))
    return figure


def _style(number: int) -> dict[str, Any]:
    """Return how matplotlib draws the curves of a run."""
    return dict(zip(("color", "linestyle", "marker"), LINES[number], strict=True))


def _draw_curve(axes: Any, runs: Sequence[RunCurves], name: str, over: str, unit: str) -> None:
    from matplotlib.ticker import MaxNLocator

    values: list[float] = []
    for number, run in enumerate(runs):
        points = run.points(name, over)
        x, y = zip(*points, strict=True) if points else ((), ())
        values += y
        axes.plot(x, y, **_style(number), markevery=max(1, len(points) // MARKED))
    if values:
        fit_from_zero(axes, values, unit)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.9g}")
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=over == "iterations"))
    axes.yaxis.set_major_formatter("{x:,.9g}")


def _legend(runs: Sequence[RunCurves]) -> list[str]:
    """Return each run's name, what it spent, and its values of the keys that differ."""
    keys = differing_keys(runs)
    texts = []
    for index, run in enumerate(runs):
        facts = [f"{key} {values[index]}" for key, values in keys.items()]
        spent = f"{whole(run.value('iterations'))} iterations"
        texts.append(textwrap.fill(" · ".join([run.name, spent, *facts]), LEGEND_WIDTH))
    return texts
