"""A run's figure and TensorBoard's page of it show the same charts, and what was measured."""

import io
import json
import math
import re
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from helpers.commands import OnlyLine
from helpers.runs.made_run import made_run
from helpers.runs.tiny_run import tiny_config
from matplotlib.figure import Figure
from PIL import Image

from alphazero.cli import main as cli
from alphazero.diagnostics.runs.run_figure import draw_run, find_drawings, plot_run
from alphazero.diagnostics.runs.run_history import read_curves
from alphazero.drawing.figures import LINES, to_bytes
from alphazero.errors import RunError
from alphazero.training.loop import resume, train
from alphazero.training.monitoring.dashboard import (
    DASHBOARD,
    interval_of,
    named,
    tensorboard_layout,
)
from alphazero.training.monitoring.metrics import METRICS
from alphazero.training.monitoring.tensorboard import Metrics, TensorBoardWriter

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
    from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
    from tensorboard.context import RequestContext
    from tensorboard.plugins.custom_scalar.custom_scalars_plugin import CustomScalarsPlugin

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch

GATES = [
    "the best player, gains at the gates added up",
    "the challenger against the best, at the gate",
]
ANCHORS = [
    "the best player, by games against the anchors",
    "the best player's score against the anchors",
    "optimal moves in solved positions",
]
AUXILIARY = "losses of the auxiliary heads"
ALWAYS = [
    panel.title
    for chapter in ("loss", "self-play", "speed")
    for panel in DASHBOARD[chapter]
    if panel.title != AUXILIARY
]
MEASURED = ["evaluation.interval=1", "evaluation.games=2", "evaluation.anchors=[random, 'uct:4']"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with anchors, interrupted once."""
    folder = tmp_path_factory.mktemp("runs")
    examined = [*MEASURED, "evaluation.solved_positions_per_stage=9"]
    train(tiny_config(folder, "budget.iterations=1", "gate.interval=1", *examined))
    return resume(folder / "tiny", ["budget.iterations=3"])


def panels(figure: Figure) -> dict[str, Any]:
    """Return the axes of a figure by their titles."""
    return {axes.get_title(loc="left"): axes for axes in figure.axes}


def drawn(axes: Any) -> list[list[tuple[float, float]]]:
    """Return the points of each line, as they lie in the axes."""
    return [list(zip(*map(list, line.get_data()), strict=True)) for line in axes.get_lines()]


def bars(axes: Any) -> list[list[tuple[float, float]]]:
    """Return both ends of each interval."""
    return [
        [(float(x), float(y)) for x, y in segment]
        for collection in axes.collections
        for segment in collection.get_segments()
    ]


# --- the table -----------------------------------------------------------------------------------


def test_the_dashboard_shows_curves_of_the_table_of_metrics_in_their_units() -> None:
    names = [name for panels in DASHBOARD.values() for panel in panels for name in panel.curves]
    assert len(names) == len(set(names))
    for panel in (panel for panels in DASHBOARD.values() for panel in panels):
        ends = [end for name in panel.curves for end in interval_of(name)]
        for name in [*panel.curves, *(ends if panel.interval else [])]:
            assert METRICS[name].kind == "curve"
            assert METRICS[name].unit in panel.unit, name
        assert len(panel.curves) == 1 or not panel.interval
        assert len(panel.curves) <= len(LINES)


def test_the_panels_have_titles_of_their_own() -> None:
    titles = [panel.title for panels in DASHBOARD.values() for panel in panels]
    assert len(titles) == len(set(titles))
    assert list(DASHBOARD) == ["strength", "loss", "self-play", "speed"]


def test_words_in_brackets_stand_for_what_was_measured() -> None:
    names = ["anchors/uct_9/score", "anchors/score", "anchors/a/b/score", "anchors/uct_9/scores"]
    assert named("anchors/<anchor>/score", "{anchor}!", names) == {"anchors/uct_9/score": "uct_9!"}
    found = named("solved/<who>_optimal/<stage>", "{who} {stage}", ["solved/search_optimal/end"])
    assert found == {"solved/search_optimal/end": "search end"}


# --- the figure ----------------------------------------------------------------------------------


def test_the_figure_shows_what_was_measured(run: Path) -> None:
    figure = panels(draw_run(run))
    assert list(figure) == [*ANCHORS, *GATES, *ALWAYS]
    names = ["loss/total", "loss/policy", "loss/value", "loss/l2"]
    curves = read_curves(run)
    assert drawn(figure["loss and its parts"]) == [list(curves[name].items()) for name in names]
    elo, low, high = (curves[f"anchors/elo{end}"] for end in ("", "_low", "_high"))
    assert set(elo) == {1, 2, 3}
    assert drawn(figure[ANCHORS[0]]) == [list(elo.items())]
    assert bars(figure[ANCHORS[0]]) == [[(i, low[i]), (i, high[i])] for i in elo]
    scores = [curves[f"anchors/{anchor}/score"] for anchor in ("random", "uct_4")]
    assert drawn(figure[ANCHORS[1]]) == [list(curve.items()) for curve in scores]
    assert len(drawn(figure[ANCHORS[2]])) == 6
    for axes in figure.values():
        assert axes.get_ylabel()
        assert axes.get_xlim() == figure[ANCHORS[0]].get_xlim()


def test_the_svg_can_be_read_and_is_the_same_each_time(run: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.svg", tmp_path / "b.SVG"
    assert [plot_run(run, [file]) for file in (first, second)] == [[first], [second]]
    assert first.read_bytes() == second.read_bytes()
    texts = re.findall(r"<text [^>]*>([^<]*)</text>", first.read_text())
    assert {"tiny", "iteration", "Elo, with 95 % interval", *ANCHORS, *GATES, *ALWAYS} <= set(texts)
    assert any(text.startswith("tic_tac_toe · 3 iterations · ") for text in texts)
    assert any(text.startswith("uct 4 ") for text in texts)
    sizes = re.findall(r"font(?:-size)?: ([\d.]+)px", first.read_text())
    assert sizes
    assert min(map(float, sizes)) >= 8


def test_curves_differ_without_colour(run: Path) -> None:
    for axes in draw_run(run).axes:
        looks = [(line.get_linestyle(), line.get_marker()) for line in axes.get_lines()]
        assert len(set(looks)) == len(looks)
    for part in zip(*LINES, strict=True):
        assert len(set(part)) == len(LINES)


def test_panels_without_curves_are_left_out(tmp_path: Path) -> None:
    elo = {"gate/elo": {2: 30.0}, "gate/elo_low": {2: -10.0}, "gate/elo_high": {2: 80.0}}
    loss = {"loss/total": {1: 2.0, 2: math.nan, 3: 1.0}, "loss/policy": {1: math.inf}}
    figure = panels(draw_run(made_run(tmp_path, elo | loss)))
    assert list(figure) == [GATES[1], "loss and its parts"]
    assert bars(figure[GATES[1]]) == [[(2, -10), (2, 80)]]
    assert drawn(figure["loss and its parts"]) == [[(1, 2), (3, 1)]]


def test_a_run_of_one_iteration_has_a_figure(tmp_path: Path) -> None:
    figure = draw_run(made_run(tmp_path, {"selfplay/game_length": {1: 7.0}}, "game.rows=3"))
    (axes,) = figure.axes
    assert drawn(axes) == [[(1, 7)]]
    title, facts = (text.get_text() for text in figure.texts)
    assert title == f"{tmp_path.name}\n"
    assert facts == "tic_tac_toe (rows 3) · 1 iteration · 0.0 minutes"


def test_any_name_of_a_run_and_of_an_opponent_can_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "a$b_1$ <&>"
    folder.mkdir()
    curves = {f"anchors/{name}/score": {1: 0.5} for name in ("_runs_best.safetensors", "random")}
    figure = draw_run(made_run(folder, curves))
    (axes,) = figure.axes
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {
        "runs\nbest.safetensors 0.500",
        "random 0.500",
    }
    assert b"a$b_1$ &lt;&amp;&gt;" in to_bytes(figure, ".svg")


def test_the_ends_of_an_interval_are_drawn_where_both_were_measured() -> None:
    curves = {"gate/elo": {1: 5.0, 2: 6.0}, "gate/elo_low": {1: 1.0, 2: -math.inf}}
    (drawing,) = find_drawings(curves | {"gate/elo_high": {1: 9.0, 2: 9.0}})
    assert drawing.intervals == ({1: 1.0}, {1: 9.0, 2: 9.0})


# --- the command ---------------------------------------------------------------------------------


def test_the_command_draws_both_kinds_into_the_runs_folder(run: Path, capsys: Capture) -> None:
    assert cli.main(["plot", str(run)]) == 0
    assert capsys.readouterr().out == f"drawn in {run / 'curves.png'} and {run / 'curves.svg'}\n"
    with Image.open(io.BytesIO((run / "curves.png").read_bytes())) as picture:
        assert picture.width == 1654
    assert (run / "curves.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("curves.pdf", "a figure is PNG or SVG; let its name end in .png or .svg"),
        ("curves", "a figure is PNG or SVG"),
        ("none/curves.svg", "no such file"),
    ],
)
def test_a_file_that_cannot_be_drawn_is_refused_in_one_line(
    run: Path, tmp_path: Path, name: str, message: str, only_line: OnlyLine
) -> None:
    line = only_line("plot", run, "--save", tmp_path / name)
    assert line.startswith("error: cannot ")
    assert message in line
    assert not list(tmp_path.iterdir())


def test_a_run_without_curves_is_one_line(tmp_path: Path) -> None:
    for folder in (
        tmp_path / "none",
        made_run(tmp_path, {}),
        made_run(tmp_path, {"replay/window": {1: 3.0}}),
    ):
        with pytest.raises(RunError, match=r"has no curves; give the folder of a run"):
            plot_run(folder)


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RunError, match=re.escape("pip install 'alphazero[plot]'")):
        plot_run(tmp_path)


# --- TensorBoard ---------------------------------------------------------------------------------


def shown(folder: Path) -> dict[str, dict[str, list[str]]]:
    """Return the curves of each chart of each chapter, as TensorBoard's own plugin reads them."""
    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(folder))
    multiplexer.Reload()
    provider = MultiplexerDataProvider(multiplexer, str(folder))
    context = SimpleNamespace(logdir="", data_provider=provider, plugin_name_to_instance={})
    layout = json.loads(CustomScalarsPlugin(context).layout_impl(RequestContext(), ""))
    return {
        chapter["title"]: {
            chart["title"]: chart["multiline"]["tag"]
            if "multiline" in chart
            else list(chart["margin"]["series"][0].values())
            for chart in chapter["chart"]
        }
        for chapter in layout["category"]
    }


def test_tensorboard_shows_the_panels_of_the_figure_with_their_curves(run: Path) -> None:
    assert len(list((run / "tensorboard").iterdir())) == 2, "the run was interrupted"
    story = shown(run)
    assert list(story) == list(DASHBOARD)
    charts = {title: tags for charts in story.values() for title, tags in charts.items()}
    figure = panels(draw_run(run))
    assert list(charts) == list(figure)
    known = [name.replace("<", "").replace(">", "") for name in METRICS]
    for title, tags in charts.items():
        if title in (ANCHORS[0], GATES[1]):
            assert tags[1:] == list(interval_of(tags[0]))
            assert set(tags) <= METRICS.keys()
        else:
            found = [[name for name in known if re.match(tag, name)] for tag in tags]
            assert [len(names) for names in found] == [1] * len(tags), title


def test_tensorboard_gets_no_charts_for_what_a_run_never_measures(tmp_path: Path) -> None:
    def charts(*overrides: str) -> list[str]:
        story = tensorboard_layout(tiny_config(tmp_path, *overrides))
        return [title for charts in story.values() for title in charts]

    assert charts() == [*GATES, *ALWAYS]
    assert charts("gate.games=0") == ALWAYS
    assert charts(*MEASURED) == [*ANCHORS[:2], *GATES, *ALWAYS]
    assert set(charts("network.auxiliary=[short_term_value]")) == {*GATES, *ALWAYS, AUXILIARY}


def test_tensorboard_takes_the_layout_of_the_last_time_a_run_went_on(tmp_path: Path) -> None:
    for iteration, name in ((0, "loss/total"), (1, "loss/value")):
        with TensorBoardWriter(
            tmp_path, iteration, {"loss": {"a chart": ["Multiline", [name]]}}
        ) as curves:
            curves.write(iteration + 1, Metrics({"loss/total": 1.0}))
    assert shown(tmp_path) == {"loss": {"a chart": ["loss/value"]}}
