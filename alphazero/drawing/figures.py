"""The style of charts by matplotlib, and figure files; sizes of type are in points.

matplotlib comes with the extra `plot` and is imported only when a figure is made.
"""

import contextlib
import importlib.util
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from alphazero.errors import RunError
from alphazero.utils.files import check_replaceable, printable, read_start, write_atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS: Final = (".png", ".svg")

DOTS_PER_INCH: Final = 200
SMALL: Final = 8
"""No text is smaller."""

LINES: Final = (
    ("#0072b2", "-", "o"),
    ("#d55e00", "--", "s"),
    ("#000000", ":", "^"),
    ("#009e73", "-.", "D"),
    ("#cc79a7", (0, (6, 1, 1, 1, 1, 1)), "v"),
    ("#56b4e9", (0, (3, 1)), "x"),
)
"""Colour, dashes and marker of each curve of a chart. Each of the three alone distinguishes the
curves, so grey print works too. The colours are of Okabe & Ito, *Color Universal Design*, 2008."""
PALE: Final = "#9a9a9a"
"""Colour of intervals and of lines for comparison."""

NAME_HEIGHT: Final = 0.055
"""Least distance between names at the right of a chart, as a share of the axes' height."""

STYLE: Final = {
    "font.size": SMALL,
    "axes.titlesize": SMALL + 1,
    "axes.labelsize": SMALL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.2,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.handletextpad": 0.5,
    "text.parse_math": False,  # a name may have any character
    "svg.fonttype": "none",  # text stays text: searchable, and readable by tests
    "svg.hashsalt": "alphazero",  # the same ids inside the file every time
}


def check_figures(files: Sequence[Path]) -> None:
    """Check, before long work, that figures can be drawn into these files.

    Raises:
        RunError: when a file is neither PNG nor SVG, cannot be written or holds anything but a
            figure, or matplotlib is missing.
    """
    for file in files:
        if file.suffix.lower() not in KINDS:
            raise RunError(
                f"cannot draw {printable(file)}: a figure is PNG or SVG; let its name end in "
                f"{' or '.join(KINDS)}"
            )
    require_matplotlib()
    for file in files:
        check_replaceable_figure(file)


def check_replaceable_figure(file: Path) -> None:
    """Raise RunError if no file can be written, or `file` holds anything but a figure."""
    # matplotlib writes its address into every figure, before the picture itself.
    check_replaceable(file, "figure by matplotlib", lambda: b"matplotlib.org" in read_start(file))


def require_matplotlib() -> None:
    """Raise RunError unless matplotlib is installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise RunError("a figure needs matplotlib; install it with: pip install 'alphazero[plot]'")


@contextlib.contextmanager
def figure_style() -> Iterator[None]:
    """Apply `STYLE` to figures made or saved in the block; raise RunError without matplotlib."""
    require_matplotlib()
    from matplotlib import style

    with style.context(["default", STYLE]):
        yield


def to_bytes(figure: "Figure", kind: str) -> bytes:
    """Return a figure as a file's content, equal for equal figures; `kind` is one of `KINDS`."""
    data = io.BytesIO()
    undated = {"Date": None} if kind == ".svg" else {}
    with figure_style():
        figure.savefig(data, format=kind[1:], dpi=DOTS_PER_INCH, metadata=undated)
    return data.getvalue()


def save_figure(path: Path, figure: "Figure") -> None:
    """Write a figure as PNG or SVG, by the file's suffix; raise RunError if that fails."""
    write_atomic(path, to_bytes(figure, path.suffix.lower()))


def plot_intervals(
    axes: Any, x: Sequence[float], points: Sequence[tuple[float, float, float]], color: str
) -> None:
    """Plot the interval of each point (low, value, high) at its x; an arrow is an infinite end."""
    finite = [number for point in points for number in point if math.isfinite(number)]
    beyond = 0.05 * (max(finite) - min(finite)) or 1.0
    bottom, top = min(finite) - beyond, max(finite) + beyond
    lows, _, highs = np.clip(np.array(points, float).T, bottom, top)
    axes.vlines(x, lows, highs, color=color)
    for ends, limit, arrow in ((lows, bottom, "v"), (highs, top, "^")):
        for place, end in zip(x, ends, strict=True):
            axes.plot(place, end, arrow if end == limit else "_", color=color, markersize=5)


def name_levels(axes: Any, levels: Mapping[str, float]) -> None:
    """Draw a horizontal line at each level, with its name at the right; to be called last."""
    for level in levels.values():
        axes.axhline(level, color=PALE, zorder=1)
    bottom, top = axes.get_ylim()
    height = math.inf
    for name, level in sorted(levels.items(), key=lambda each: -each[1]):
        height = min((level - bottom) / (top - bottom), height - NAME_HEIGHT)
        axes.text(1.01, height, name, va="center", transform=axes.transAxes)
