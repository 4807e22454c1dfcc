"""Draw the pictures of the READMEs again.

python scripts/readme_images.py series RUN [--moves "a1 b2"] [--networks 3] --save series.svg
python scripts/readme_images.py run RUN --save run.svg
python scripts/readme_images.py page PLAYER [--moves "a1 b2"] [--chromium PATH] --save page.png
python scripts/readme_images.py games PLAYER PLAYER ... [--plies 14] --save games.png

`series`: a position as seen by early, middle and late networks of a run. `run`: a run's curves.
`page`: the web page during an analysis. `games`: games of several players on a phone. Both need the
extras `serve` and `browser`.
"""

import argparse
import contextlib
import io
import math
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from PIL import Image

from alphazero.cli.argument_types import positive_number
from alphazero.cli.main import run_and_report
from alphazero.config.loader import load_config
from alphazero.diagnostics.run_history import STAGES, Curve, read_curves, step_checkpoints
from alphazero.drawing.board import position_title
from alphazero.drawing.canvas import Canvas
from alphazero.drawing.position import POLICY_COLOURS, draw_position
from alphazero.errors import RunError
from alphazero.notebook import Position
from alphazero.players.checkpoint_player import load_checkpoint_player
from alphazero.training.monitoring.metrics import METRICS
from alphazero.utils.files import check_writable, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH: Final = 8.27
HEAD: Final = 0.8
ROW: Final = 1.75
"""Heights of the title and of a row of charts: six rows fill the page."""
MARKED: Final = 8
"""Approximate number of markers on a curve."""
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

CHARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "the best player's Elo, by games against the anchors": ("anchors/elo",),
    "the best player's score against the anchors": ("anchors/<anchor>",),
    "optimal moves in solved positions": ("solved/<who>_optimal",),
    "the best player's Elo, by the gates": ("gate/rating",),
    "the challenger's Elo against the best, at the gate": ("gate/elo",),
    "loss and its parts": ("loss/",),
    "losses of the auxiliary heads": ("auxiliary/",),
    "entropy of the policies": ("selfplay/search_entropy",),
    "length of the games": ("selfplay/game_length",),
    "how games end for the first player": ("selfplay/first_player", "selfplay/draws"),
    "throughput of self-play, 1/s": ("speed/simulations", "speed/evaluations"),
    "time of an iteration, s": ("seconds/",),
}
"""How the names of the metrics of each chart begin, the most important chart first."""

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


def training_minutes(curves: Mapping[str, Curve]) -> dict[int, float]:
    """Return the minutes of training at the end of each iteration; empty without curves."""
    totals: dict[int, float] = {}
    for stage in STAGES:
        for iteration, seconds in curves.get(f"seconds/{stage}", {}).items():
            totals[iteration] = totals.get(iteration, 0.0) + seconds
    iterations = sorted(totals)
    sums = np.cumsum([totals[iteration] for iteration in iterations]) / 60
    return dict(zip(iterations, sums.tolist(), strict=True))


@contextlib.contextmanager
def figure_style() -> Iterator[None]:
    """Apply `STYLE` to figures made or saved in the block."""
    from matplotlib import style

    with style.context(["default", STYLE]):
        yield


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


def series(options: argparse.Namespace) -> None:
    """Draw a position as seen by networks of a run."""
    if options.save.suffix != ".svg":
        raise RunError(f"a series is an .svg file, got {printable(options.save)}")
    picture = draw_series(options.run, options.moves, options.networks)
    title = f"A position of {options.run.name} as its networks see it"
    options.save.write_text(picture.svg(title), encoding="utf-8")


def run(options: argparse.Namespace) -> None:
    """Draw the curves of a run."""
    with figure_style():
        undated = {"Date": None} if options.save.suffix == ".svg" else {}
        draw_run(options.run).savefig(options.save, dpi=200, metadata=undated)


def page(options: argparse.Namespace) -> None:
    """Take a screenshot of the web page in a headless browser, during a search."""
    with _serving([options.player], options.chromium) as (browser, address):
        size = {"width": 1280, "height": 800}
        tab = browser.new_page(viewport=size, reduced_motion="reduce")
        _start_analysis(tab, address, options.moves)
        _save([tab.screenshot()], options.save)


def games(options: argparse.Namespace) -> None:
    """Take a screenshot of each player's game on a phone, after some moves of its own."""
    with _serving(options.players, options.chromium) as (browser, address):
        shots = []
        for index in range(len(options.players)):
            theme = ("light", "dark")[index % 2]
            tab = browser.new_page(viewport={"width": 390, "height": 600}, color_scheme=theme)
            _play_alone(tab, address, index, options.plies)
            shots.append(tab.screenshot())
        _save(shots, options.save)


@contextlib.contextmanager
def _serving(players: Sequence[str], chromium: str) -> Iterator[tuple[Any, str]]:
    """Serve the page of some players; return a browser and the page's address."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-u", "-m", "alphazero", "serve", *players, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        words = (word for line in server.stdout for word in line.split())
        address = next(word for word in words if word.startswith("http")).rstrip("/")
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=chromium)
                yield browser, address
                browser.close()
        finally:
            server.terminate()


def _save(screenshots: Sequence[bytes], path: Path) -> None:
    """Write screenshots side by side, with few colours, which keeps the file small."""
    pictures = [Image.open(io.BytesIO(screenshot)).convert("RGB") for screenshot in screenshots]
    whole = Image.new("RGB", (sum(picture.width for picture in pictures), pictures[0].height))
    left = 0
    for picture in pictures:
        whole.paste(picture, (left, 0))
        left += picture.width
    whole.quantize(256, dither=Image.Dither.NONE).save(path, "PNG")


def _play_alone(tab: Any, address: str, index: int, plies: int) -> None:
    """Let a player play itself until `plies` moves are made, and show the last position."""
    player = tab.request.get(f"{address}/api/setup").json()["players"][index]
    sides = [{"player": player["name"], "simulations": 16}] * 2
    sessions = f"{address}/api/sessions"
    session = tab.request.post(sessions, data={"game": player["game"], "sides": sides}).json()["id"]
    tab.add_init_script(f"sessionStorage.setItem('alphazero-session', '{session}')")
    tab.goto(address)
    tab.wait_for_function(
        """(plies) => parseInt(document.querySelector("#ply").textContent) >= plies
            || !document.querySelector("#rematch").hidden""",
        arg=plies,
    )
    tab.locator("#pause").evaluate("(button) => button.click()")
    tab.wait_for_timeout(1000)  # stones come to rest
    tab.evaluate("scrollTo(0, 0)")


def _start_analysis(tab: Any, address: str, moves: str) -> None:
    """Open a game against the first player, play `moves`, and start an analysis."""
    player = tab.request.get(f"{address}/api/setup").json()["players"][0]
    level = {"level": 6} if player["levels"] else {}
    sides = [{"player": "person"}, {"player": player["name"], **level}]
    sessions = f"{address}/api/sessions"
    session = tab.request.post(sessions, data={"game": player["game"], "sides": sides}).json()["id"]
    tab.request.post(f"{sessions}/{session}/paste", data={"moves": moves})
    tab.add_init_script(f"sessionStorage.setItem('alphazero-session', '{session}')")
    tab.goto(address)
    for ply in range(len(moves.split()), 0, -1):  # give the graph each position's value
        here = "(ply) => parseInt(document.querySelector('#ply').textContent) === ply"
        tab.wait_for_function(here, arg=ply)
        tab.get_by_role("button", name="Hint").click()
        tab.locator("#search .move-table tbody tr").first.wait_for()
        tab.get_by_role("button", name="One move back").click()
    tab.get_by_role("button", name="Last position").click()
    tab.get_by_role("button", name="Analyze").click()
    tab.wait_for_function("""() => {
        const caption = document.querySelector("#caption").textContent;
        return parseInt(/([0-9,]+) simulations/.exec(caption)?.[1].replace(",", "")) >= 5000;
    }""")


def draw_series(run: Path, line: str, number: int = 3) -> Canvas:
    """Draw policies and values of a position by networks evenly spaced over a run.

    `line` has the moves, as `Game.from_moves` reads them; `number` is 1 to `len(POLICY_COLOURS)`.

    Raises RunError when the run's folder holds no checkpoints.
    """
    players = [load_checkpoint_player(path) for path in step_checkpoints(run, number)]
    if not players:
        raise RunError(f"{printable(run)} holds no step-*.safetensors; give the folder of a run")
    position = Position(players[0].game, line)
    policies, values = {}, {}
    for player in players:
        logits, outputs = player.evaluator.evaluate(position.game.observe(position.state)[None])
        mask = position.game.legal_action_mask(position.state)
        shares = np.where(mask, np.exp(logits[0] - logits[0].max()), 0)
        steps = player.checkpoint.step
        name = f"after {steps:,} steps" if steps else "untrained"
        policies[f"{name}, %"], values[name] = shares / shares.sum(), float(outputs[0])
    return draw_position(
        position.game,
        position.state,
        title=f"{position_title(position.game, position.state)}, as networks see it",
        policies=policies,
        values=values,
        last_cells=position.last_cells,
    )


class Drawing(NamedTuple):
    """A chart and a run's curves for it."""

    title: str
    unit: str
    curves: Mapping[str, Curve]
    """by legend"""
    intervals: tuple[Curve, Curve] | None
    """the lower and upper ends"""


def find_drawings(curves: Mapping[str, Curve]) -> list[Drawing]:
    """Return `CHARTS` with the finite values of their curves, without those that have none.

    A legend is what the metric's `<words>` stand for, or the last part of its name.
    """
    finite = {
        name: {iteration: value for iteration, value in curve.items() if math.isfinite(value)}
        for name, curve in sorted(curves.items())
    }
    drawings = []
    for title, beginnings in CHARTS.items():
        shown: dict[str, str] = {}
        units: dict[str, None] = {}
        for known, metric in METRICS.items():
            if known.startswith(beginnings) and not known.endswith(("_low", "_high")):
                words = re.compile(re.sub("<[a-z]+>", "([^/]+)", known))
                for name in filter(finite.get, finite):
                    if match := words.fullmatch(name):
                        shown[name] = " ".join(match.groups()) or name.split("/")[-1]
                        units[metric.unit] = None
        if shown:
            ends = [finite.get(f"{next(iter(shown))}_{end}", {}) for end in ("low", "high")]
            by_legend = {legend: finite[name] for name, legend in shown.items()}
            unit, intervals = ", ".join(filter(None, units)), (ends[0], ends[1])
            drawings.append(Drawing(title, unit, by_legend, intervals if all(ends) else None))
    return drawings


@figure_style()
def draw_run(run: Path) -> "Figure":
    """Return the figure of a run, but for charts without curves; raise RunError if it has none."""
    curves = read_curves(run)
    drawings = find_drawings(curves)
    if not drawings:
        raise RunError(
            f"{printable(run)} has no curves; give the folder of a run that has ended an iteration"
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


def _rounded(value: float) -> str:
    """Return a number with three significant digits, or all of its whole part."""
    digits = 2 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:,.{max(0, digits)}f}"


def _draw_chart(axes: Any, drawing: Drawing) -> None:
    axes.set_title(drawing.title)
    axes.set_ylabel(drawing.unit)
    if drawing.intervals:
        low, high = drawing.intervals
        both = sorted(low.keys() & high.keys())
        ends = [low[level] for level in both], [high[level] for level in both]
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
        entries.append((last, line, f"{words} {_rounded(last)}"))
    values = [value for curve in drawing.curves.values() for value in curve.values()]
    if not drawing.intervals:
        fit_from_zero(axes, values, drawing.unit)
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


def main() -> None:
    """Draw the selected picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parts = parser.add_subparsers(required=True, metavar="PICTURE")

    part = parts.add_parser("series", help="a position as seen by networks of a run")
    part.add_argument("run", type=Path, metavar="RUN", help="a run's folder with step-* files")
    part.add_argument("--moves", default="", help="that lead to the position")
    numbers = range(1, len(POLICY_COLOURS) + 1)
    part.add_argument("--networks", type=positive_number, choices=numbers, default=3)
    part.set_defaults(draw=series)

    part = parts.add_parser("run", help="a run's curves")
    part.add_argument("run", type=Path, metavar="RUN", help="its folder")
    part.set_defaults(draw=run)

    part = parts.add_parser("page", help="the web page")
    part.add_argument("player", metavar="PLAYER", help="a checkpoint")
    part.add_argument("--moves", default="", help="that lead to the position")
    part.add_argument("--chromium", default=shutil.which("chromium"), metavar="PATH")
    part.set_defaults(draw=page)

    part = parts.add_parser("games", help="games of several players on a phone")
    part.add_argument("players", nargs="+", metavar="PLAYER", help="checkpoints")
    part.add_argument("--plies", type=positive_number, default=14, help="moves of each game")
    part.add_argument("--chromium", default=shutil.which("chromium"), metavar="PATH")
    part.set_defaults(draw=games)

    for part in parts.choices.values():
        part.add_argument("--save", type=Path, required=True, metavar="FILE", help=".svg or .png")
    options = parser.parse_args()
    if options.save.suffix not in (".svg", ".png"):
        parser.error(f"--save must end in .svg or .png, got {options.save}")
    check_writable(options.save)
    options.draw(options)


if __name__ == "__main__":
    sys.exit(run_and_report(main))
