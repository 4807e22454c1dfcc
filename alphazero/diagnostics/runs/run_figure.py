"""The figure of a run on a page of A4; lengths are in inches, sizes of type in points."""

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from alphazero.config.loader import load_config
from alphazero.diagnostics.runs.run_history import Curve, read_curves, training_minutes
from alphazero.drawing.figures import (
    KINDS,
    LINES,
    PALE,
    SMALL,
    check_figures,
    check_replaceable_figure,
    figure_style,
    save_figure,
)
from alphazero.errors import RunError
from alphazero.training.monitoring.dashboard import DASHBOARD, Chart, interval_of, named
from alphazero.utils.files import printable
from alphazero.utils.printing import rounded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH: Final = 8.27
HEAD: Final = 0.8
ROW: Final = 1.75
"""Heights of the title and of a row of charts: six rows fill the page."""
MARKED: Final = 8
"""Approximate number of markers on a curve."""


class Drawing(NamedTuple):
    """A chart and a run's curves for it."""

    chart: Chart
    curves: Mapping[str, Curve]
    """by legend"""
    intervals: tuple[Curve, Curve] | None
    """the lower and upper ends"""


def plot_run(run: Path, files: Sequence[Path] | None = None) -> list[Path]:
    """Draw the figure of a run into `files`, or into its folder as PNG and SVG; return the files.

    Raises:
        RunError: when a file is neither PNG nor SVG, cannot be written or holds anything but a
            figure, matplotlib is missing, or the run has no curves.
        ConfigError: when the run's configuration cannot be read.
    """
    if files:
        check_figures(files)
    figure = draw_run(run)
    files = files or [run / f"curves{kind}" for kind in KINDS]
    for file in files:
        check_replaceable_figure(file)
        save_figure(file, figure)
    return list(files)


@figure_style()
def draw_run(run: Path) -> "Figure":
    """Return the figure of a run, without charts that have no curves; raise as `plot_run`."""
    curves = read_curves(run)
    drawings = find_drawings(curves)
    if not drawings:
        raise RunError(
            f"{printable(run / 'tensorboard')} has no curves; give the folder of a run that "
            "has ended an iteration"
        )
    rows = (len(drawings) + 1) // 2
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEAD + ROW * rows), layout="constrained")
    _write_title(figure, run, curves)
    grid = figure.add_gridspec(rows, 2)
    cells = [grid[row, column] for row in range(rows) for column in range(2)]
    if len(drawings) % 2:  # the first and most important chart takes a whole row
        cells[:2] = [grid[0, :]]
    for cell, drawing in zip(cells, drawings, strict=True):
        _draw_chart(figure.add_subplot(cell), drawing)
    _share_iterations(figure)
    return figure


def find_drawings(curves: Mapping[str, Curve]) -> list[Drawing]:
    """Return the charts with finite values, in the dashboard's order."""
    finite = {
        name: {iteration: value for iteration, value in curve.items() if math.isfinite(value)}
        for name, curve in curves.items()
    }
    drawn = {name: curve for name, curve in sorted(finite.items()) if curve}
    drawings = []
    for chart in (chart for charts in DASHBOARD.values() for chart in charts):
        found = {
            name: label
            for known, legend in chart.curves.items()
            for name, label in named(known, legend, drawn).items()
        }
        if found:
            ends = [drawn.get(end, {}) for end in interval_of(next(iter(found)))]
            intervals = (ends[0], ends[1]) if chart.interval else None
            drawings.append(Drawing(chart, {found[name]: drawn[name] for name in found}, intervals))
    return drawings


def _write_title(figure: "Figure", run: Path, curves: Mapping[str, Curve]) -> None:
    game = load_config(run / "config.yaml").game
    options = ", ".join(f"{name} {value}" for name, value in game.options.items())
    iterations = max((max(curve) for curve in curves.values()), default=0)
    steps = max(curves.get("learner/steps", {}).values(), default=None)
    hours = max(training_minutes(curves).values(), default=0) / 60
    facts = (
        game.name + (f" ({options})" if options else ""),
        f"{iterations:,} iteration{'s' * (iterations != 1)}",
        f"{hours:.1f} hours of training" if hours >= 0.95 else f"{hours * 60:.1f} minutes",
        *(["nothing learned yet"] if steps == 0 else []),
    )
    left = 0.1 / WIDTH
    name = printable(run.resolve().name)
    # The empty second line leaves room for the facts, in smaller type.
    figure.suptitle(f"{name}\n", x=left, ha="left", fontsize=14, fontweight="bold")
    below = 1 - 0.4 / figure.get_figheight()
    figure.text(left, below, " · ".join(facts), fontsize=SMALL + 1, va="center")


def _draw_chart(axes: Any, drawing: Drawing) -> None:
    chart = drawing.chart
    axes.set_title(chart.title)
    axes.set_ylabel(chart.unit)
    if drawing.intervals:
        low, high = drawing.intervals
        both = sorted(low.keys() & high.keys())
        ends = [low[each] for each in both], [high[each] for each in both]
        axes.vlines(both, *ends, color=PALE, linewidth=0.8)
    entries = []
    for number, (label, curve) in enumerate(drawing.curves.items()):
        colour, dashes, mark = LINES[number % len(LINES)]
        apart = math.ceil(len(curve) / MARKED)
        (line,) = axes.plot(
            list(curve),
            list(curve.values()),
            color=colour,
            linestyle=dashes,
            marker=mark,
            markevery=(number * apart // len(drawing.curves), apart),
        )
        last = curve[max(curve)]
        words = textwrap.fill(label.replace("_", " ").strip(), 18)
        entries.append((last, line, f"{words} {rounded(last)}"))
    values = [value for curve in drawing.curves.values() for value in curve.values()]
    if not drawing.intervals:
        fit_from_zero(axes, values, chart.unit)
    axes.yaxis.set_major_formatter("{x:,.9g}")
    _, lines, texts = zip(*sorted(entries, key=lambda entry: -entry[0]), strict=True)
    axes.legend(lines, texts, loc="center left", bbox_to_anchor=(1, 0.5))


def fit_from_zero(axes: Any, values: Sequence[float], unit: str) -> None:
    """Let the axis begin at 0, with a margin below it, unless a value is negative."""
    if min(values) >= 0:
        top = 1 if unit == "share" else 1.03 * max(values) or 1
        axes.set_ylim(-0.03 * top, 1.03 * top)


def _share_iterations(figure: "Figure") -> None:
    from matplotlib.ticker import MaxNLocator

    last = max(axes.get_xlim()[1] for axes in figure.axes)
    for axes in figure.axes:
        axes.set_xlim(0, last)
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    for axes in figure.axes[-2:]:
        axes.set_xlabel("iteration")
    figure.align_ylabels()
