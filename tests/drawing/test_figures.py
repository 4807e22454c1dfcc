"""Charts show each point with its interval and name their levels; files are PNG or SVG."""

import io
import itertools
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from alphazero.drawing.figures import (
    PALE,
    check_figures,
    figure_style,
    name_levels,
    plot_intervals,
    save_figure,
    to_bytes,
)
from alphazero.errors import RunError


def new_axes() -> Any:
    with figure_style():
        return Figure(figsize=(5, 3), layout="constrained").add_subplot()


def intervals_of(axes: Any) -> list[list[list[float]]]:
    (lines,) = axes.collections
    return [segment.tolist() for segment in lines.get_segments()]


def caps_of(axes: Any) -> list[tuple[float, float, str]]:
    return [(*line.get_xydata()[0].tolist(), line.get_marker()) for line in axes.get_lines()]


def test_an_interval_lies_between_its_ends() -> None:
    axes = new_axes()
    plot_intervals(axes, [0, 10], [(-180, -100, -20), (100, 150, 230)], PALE)
    assert intervals_of(axes) == [[[0, -180], [0, -20]], [[10, 100], [10, 230]]]
    assert sorted(caps_of(axes)) == [(0, -180, "_"), (0, -20, "_"), (10, 100, "_"), (10, 230, "_")]


def test_an_infinite_end_is_an_arrow_beyond_every_finite_number() -> None:
    axes = new_axes()
    points = [(-math.inf, -100, 50), (0, 300, math.inf), (-math.inf, 0, math.inf)]
    plot_intervals(axes, [1, 2, 3], points, PALE)
    arrows = {(x, mark): y for x, y, mark in caps_of(axes) if mark != "_"}
    assert arrows.keys() == {(1, "v"), (2, "^"), (3, "v"), (3, "^")}
    assert all(y < -100 if mark == "v" else y > 300 for (_, mark), y in arrows.items())
    assert (1, 50, "_") in caps_of(axes)
    assert (2, 0, "_") in caps_of(axes)


@pytest.mark.parametrize("value", [0.0, 5.0, -3e4])
def test_a_single_point_without_extent_can_be_drawn(value: float) -> None:
    axes = new_axes()
    plot_intervals(axes, [value], [(value, value, value)], PALE)
    assert caps_of(axes) == [(value, value, "_")] * 2
    assert to_bytes(axes.figure, ".png")


def test_levels_are_lines_whose_names_do_not_overlap() -> None:
    axes = new_axes()
    axes.plot([0, 1], [-200, 400])
    levels = {"low": -150.0} | {f"player {i}": 300.0 + i for i in range(4)}
    name_levels(axes, levels)
    assert {line.get_ydata()[0] for line in axes.get_lines()[1:]} == set(levels.values())
    axes.figure.draw_without_rendering()
    boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
    order = ["player 3", "player 2", "player 1", "player 0", "low"]
    for above, below in itertools.pairwise(order):
        assert boxes[above].y0 >= boxes[below].y1
    wanted = axes.transData.transform([(0, -150), (0, 303)])[:, 1]
    for name, y in zip(("low", "player 3"), wanted, strict=True):
        assert boxes[name].y0 < y < boxes[name].y1
        assert boxes[name].x0 > axes.get_window_extent().x1


def test_the_suffix_of_a_file_is_its_format(tmp_path: Path) -> None:
    axes = new_axes()
    axes.set_title("a $title$ with_any <text>")
    save_figure(tmp_path / "a.PNG", axes.figure)
    save_figure(tmp_path / "a.svg", axes.figure)
    with Image.open(io.BytesIO((tmp_path / "a.PNG").read_bytes())) as picture:
        assert picture.format == "PNG"
        assert picture.size == (1000, 600)
        assert np.asarray(picture.convert("L")).min() < 128
    assert "a $title$ with_any &lt;text&gt;" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_a_figure_is_replaced_and_any_other_file_is_not(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    check_figures([path])
    save_figure(path, new_axes().figure)
    check_figures([path])
    path.touch()
    check_figures([path])
    Image.new("RGB", (9, 9)).save(path, "PNG")
    with pytest.raises(RunError, match=f"{name}: the file holds no figure by matplotlib; remove"):
        check_figures([path])


@pytest.mark.parametrize("name", ["a.pdf", "a"])
def test_another_format_is_refused(name: str) -> None:
    with pytest.raises(RunError, match=f"cannot draw {name}: a figure is PNG or SVG"):
        check_figures([Path("a.png"), Path(name)])


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    check_figures([Path("a.png")])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for use in (lambda: check_figures([Path("a.png")]), new_axes):
        with pytest.raises(RunError, match=re.escape("pip install 'alphazero[plot]'")):
            use()
