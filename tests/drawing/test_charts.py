"""A chart shows each point at its height, with its interval, and names its levels."""

import io
from pathlib import Path

import numpy as np
import pytest
from helpers.pictures import heights
from PIL import Image

from alphazero.drawing.canvas import save_picture
from alphazero.drawing.charts import HEIGHT, LEFT, TOP, WIDTH, Point, _Axis, draw_chart

POINTS = [Point(0, -100, -180, -20), Point(10, 150, 100, 230), Point(20, 310, 240, 400)]


def test_points_and_intervals_lie_at_their_values() -> None:
    picture = draw_chart("a title", "minutes", "Elo", POINTS)
    up = _Axis.over([value for point in POINTS for value in point[2:]], TOP + HEIGHT, TOP)
    assert (up.first, up.last) == (-200, 400)
    for point in POINTS:
        x = round(LEFT + WIDTH * point.x / 20)
        found = heights(picture, 0, x)
        assert found
        assert abs(np.mean(found) - up.place(point.y)) <= 3
        if point.x not in (0, 20):
            bar = heights(picture, 1, x)
            assert abs(bar[0] - up.place(point.high)) <= 2
            assert abs(bar[-1] - up.place(point.low)) <= 2


def test_the_order_of_the_points_does_not_matter() -> None:
    one, other = draw_chart("t", "x", "y", POINTS), draw_chart("t", "x", "y", POINTS[::-1])
    assert one.tobytes() == other.tobytes()


def test_levels_are_lines_with_names_that_do_not_overlap() -> None:
    plain = draw_chart("t", "x", "y", POINTS)
    one = draw_chart("t", "x", "y", POINTS, {"random": -150.0})
    assert heights(one, 2, LEFT + WIDTH // 4)
    assert one.width > plain.width
    close = draw_chart("t", "x", "y", POINTS, {f"player {i}": 300.0 + i for i in range(4)})
    right = np.asarray(close)[:, LEFT + WIDTH + 4 :].min(axis=(1, 2)) < 128
    assert right.sum() > 30, "four lines of text, one below the other"


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0, 50], ["0", "10", "20", "30", "40", "50"]),
        ([-120, 333], ["-200", "-100", "0", "100", "200", "300", "400"]),
        ([0, 0.011], ["0.000", "0.002", "0.004", "0.006", "0.008", "0.010", "0.012"]),
        ([0, 9000], ["0", "2,000", "4,000", "6,000", "8,000", "10,000"]),
    ],
)
def test_marks_are_round_numbers_around_the_values(values: list[float], ticks: list[str]) -> None:
    axis = _Axis.over(values, 100, 700)
    assert [text.replace("-0", "0") if text == "-0" else text for _, text in axis.ticks()] == ticks
    assert [axis.ticks()[0][0], axis.ticks()[-1][0]] == pytest.approx([100, 700])


@pytest.mark.parametrize("value", [0.0, 5.0, -3e4])
def test_a_single_point_has_its_picture(value: float) -> None:
    draw_chart("t", "x", "y", [Point(value, value, value, value)])


def test_a_picture_is_written_as_png(tmp_path: Path) -> None:
    picture = draw_chart("t", "x", "y", POINTS)
    save_picture(tmp_path / "a.png", picture)
    data = (tmp_path / "a.png").read_bytes()
    assert Image.open(io.BytesIO(data)).tobytes() == picture.tobytes()
