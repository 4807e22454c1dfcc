"""A figure of several runs has a line for each run, distinguishable without colour."""

from pathlib import Path

import pytest
from helpers.commands import OnlyLine
from helpers.runs.made_run import made_run
from helpers.runs.tiny_run import tiny_config
from PIL import Image

from alphazero.cli import main as cli
from alphazero.config.loader import dump_config
from alphazero.diagnostics.runs.comparison import read_runs
from alphazero.diagnostics.runs.comparison_figure import draw_runs


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    folders = []
    for name, filters in (("small", 8), ("large", 16)):
        curves = {
            "selfplay/evaluations": {1: 100.0 * filters, 2: 200.0 * filters},
            "selfplay/positions": {1: 50.0, 2: 100.0},
            "seconds/play": {1: 3600.0, 2: 3600.0},
            "loss/total": {1: 2.0, 2: 1.0 + filters},
            "anchors/elo": {2: -50.0 + filters},
            "anchors/random/score": {2: 0.5},
        }
        folders.append(made_run(tmp_path / name, curves, f"network.filters={filters}"))
    return folders


def test_each_chart_has_a_line_for_each_run(runs: list[Path]) -> None:
    over = ["evaluations", "samples", "hours"]
    figure = draw_runs(read_runs(runs), ["anchors/elo", "loss/value", "loss/total"], over)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["anchors/elo", "", "", "loss/total", "", ""]
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == ["evaluations", "samples", "hours of training"] * 2
    drawn = [[line.get_xydata().tolist() for line in axes.get_lines()] for axes in figure.axes[3:]]
    assert drawn == [
        [[[800, 2], [1600, 9]], [[1600, 2], [3200, 17]]],
        [[[50, 2], [100, 9]], [[50, 2], [100, 17]]],
        [[[1, 2], [2, 9]], [[1, 2], [2, 17]]],
    ]
    assert figure.axes[0].get_ylim()[0] < -42
    for axes in figure.axes:
        looks = {(line.get_linestyle(), line.get_marker()) for line in axes.get_lines()}
        assert len(looks) == 2
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == [
        "small · 2 iterations · network.filters 8",
        "large · 2 iterations · network.filters 16",
    ]


def test_runs_without_a_curve_still_have_their_legend(runs: list[Path]) -> None:
    figure = draw_runs(read_runs(runs), ["loss/value"], ["iterations"])
    assert not figure.axes
    (legend,) = figure.legends
    looks = {(line.get_linestyle(), line.get_marker()) for line in legend.get_lines()}
    assert len(looks) == len(legend.get_texts()) == 2


def test_the_legend_stands_above_the_charts(runs: list[Path]) -> None:
    keys = ("search.c_puct", "selfplay.dirichlet_alpha", "replay.ratio", "learner.learning_rate")
    for number, run in enumerate(runs, 1):
        config = tiny_config(run, *(f"{key}={number}" for key in keys))
        (run / "config.yaml").write_text(dump_config(config))
    figure = draw_runs(read_runs(runs), ["anchors/elo", "loss/total"], ["iterations"])
    figure.draw_without_rendering()
    (legend,) = figure.legends
    tops = [axes.get_tightbbox().y1 for axes in figure.axes]
    assert any("\n" in text.get_text() for text in legend.get_texts())
    assert legend.get_window_extent().y0 >= max(tops)


def test_the_commands_draw_a_picture(runs: list[Path], tmp_path: Path) -> None:
    for command in ("plot", "compare"):
        path = tmp_path / f"{command}.png"
        assert cli.main([command, *map(str, runs), "--save", str(path)]) == 0
        with Image.open(path) as picture:
            assert picture.width == 1654
            assert len(picture.convert("RGB").getcolors(1 << 20)) > 20


def test_more_runs_than_lines_can_show_are_refused(
    runs: list[Path], tmp_path: Path, only_line: OnlyLine
) -> None:
    more = [made_run(tmp_path / f"run{i}", {"selfplay/evaluations": {1: 5.0}}) for i in range(5)]
    line = only_line("plot", *runs, *more, "--save", tmp_path / "all.png")
    assert "a figure shows 6 runs at most, and 7 are named" in line
    assert not (tmp_path / "all.png").exists()
