"""Charts: values with their intervals, over an axis such as time, or side by side.

Lengths are pixels, from the top left.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from PIL import Image

from alphazero.drawing.canvas import COLOURS, GRID, INK, LINE, MARGIN, PAPER, Canvas, Colour

LEFT, TOP, WIDTH, HEIGHT = 76, 72, 560, 320
"""Position and size of the axes."""
TICKS = 6
"""The approximate number of marks on an axis."""
CLOSE = 17
"""Names closer than this would overlap."""


class Point(NamedTuple):
    """A value and its interval, at `x`."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class _Axis:
    """The range of an axis, and its begin and end on the canvas."""

    first: float
    last: float
    step: float
    begin: int
    end: int

    @classmethod
    def over(cls, values: Sequence[float], begin: int, end: int) -> "_Axis":
        """Return an axis for `values`, with ends at multiples of a round step."""
        low, high = min(values), max(values)
        span = max(high - low, 1e-6 * max(abs(low), abs(high), 1e-3))
        power = 10.0 ** math.floor(math.log10(span / TICKS))
        step = power * next(each for each in (1, 2, 5, 10) if each * power * TICKS >= span)
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        return cls(first * step, max(last, first + 1) * step, step, begin, end)

    def place(self, value: float) -> float:
        share = (value - self.first) / (self.last - self.first)
        return self.begin + share * (self.end - self.begin)

    def ticks(self) -> list[tuple[float, str]]:
        """Return the positions of the marks and their texts."""
        number = round((self.last - self.first) / self.step)
        digits = max(0, -math.floor(math.log10(self.step) + 1e-9))
        values = [self.first + index * self.step for index in range(number + 1)]
        return [(self.place(value), f"{value:,.{digits}f}") for value in values]


def draw_chart(
    title: str,
    x_label: str,
    y_label: str,
    points: Sequence[Point],
    levels: Mapping[str, float] | None = None,
) -> Image.Image:
    """Return a picture of `points`, at least one, joined by a line, each with its interval.

    `levels` are horizontal lines by their names, for constant values.
    """
    levels = levels or {}
    points = sorted(points)
    heights = [value for point in points for value in (point.low, point.high)]
    across = _Axis.over([0.0, *(point.x for point in points)], LEFT, LEFT + WIDTH)
    up = _Axis.over([*heights, *levels.values()], TOP + HEIGHT, TOP)
    canvas = _axes(title, y_label, up, across.ticks())
    canvas.write(LEFT + WIDTH / 2, TOP + HEIGHT + 30, x_label, 14, "ma")
    canvas.line([(LEFT, TOP + HEIGHT + 46)] * 2, PAPER)  # space for the label
    free = float("inf")
    for name, value in sorted(levels.items(), key=lambda level: -level[1]):
        y = up.place(value)
        canvas.line([(LEFT, y), (LEFT + WIDTH, y)], COLOURS[2], 2)
        free = y if math.isinf(free) else max(y, free + CLOSE)
        canvas.write(LEFT + WIDTH + 8, free - 8, name, 13)
    centres = [(across.place(point.x), up.place(point.y)) for point in points]
    for (x, _), point in zip(centres, points, strict=True):
        _draw_interval(canvas, x, up.place(point.low), up.place(point.high))
    canvas.line(centres, COLOURS[0], 2)
    for x, y in centres:
        canvas.disc(x, y, 4.5, COLOURS[0])
    return canvas.to_image()


def draw_ranks(
    title: str,
    y_label: str,
    names: Sequence[str],
    series: Mapping[str, Mapping[int, Point]],
) -> Image.Image:
    """Return a picture of values side by side: above each of `names`, one per series.

    A series holds points by their index in `names`; at most two series can be distinguished.
    """
    heights = [y for points in series.values() for point in points.values() for y in point[1:]]
    up = _Axis.over([0.0, *heights], TOP + HEIGHT, TOP)
    room = WIDTH / len(names)
    ticks = [(LEFT + (index + 0.5) * room, "") for index in range(len(names))]
    canvas = _axes(title, y_label, up, ticks)
    for (x, _), name in zip(ticks, names, strict=True):
        for line, text in enumerate(textwrap.wrap(name, 11)):
            canvas.write(x, TOP + HEIGHT + 9 + 16 * line, text, 13, "ma")
    canvas.line([(LEFT, TOP + HEIGHT + 58)] * 2, PAPER)  # space for three lines
    beside = room / 6
    for number, (heading, points) in enumerate(series.items()):
        x, colour = LEFT + WIDTH + 20, COLOURS[number]
        canvas.disc(x, TOP + 10 + LINE * number, 4.5, colour)
        canvas.write(x + 12, TOP + 2 + LINE * number, heading, 13)
        for place, point in points.items():
            x = ticks[place][0] + beside * (2 * number - len(series) + 1)
            _draw_interval(canvas, x, up.place(point.low), up.place(point.high), colour)
            canvas.disc(x, up.place(point.y), 4.5, colour)
    return canvas.to_image()


def _axes(title: str, y_label: str, up: _Axis, ticks: Sequence[tuple[float, str]]) -> Canvas:
    """Begin a picture with its texts, its grid, and `ticks` along its bottom."""
    canvas = Canvas()
    canvas.write(MARGIN, 14, title, 20)
    canvas.write(MARGIN, 40, y_label, 13)
    for y, text in up.ticks():
        canvas.line([(LEFT, y), (LEFT + WIDTH, y)], GRID)
        canvas.write(LEFT - 8, y, text, 13, "rm")
    for x, text in ticks:
        canvas.line([(x, TOP + HEIGHT), (x, TOP + HEIGHT + 5)], INK)
        canvas.write(x, TOP + HEIGHT + 9, text, 13, "ma")
    canvas.line([(LEFT, TOP), (LEFT, TOP + HEIGHT), (LEFT + WIDTH, TOP + HEIGHT)], INK)
    return canvas


def _draw_interval(
    canvas: Canvas, x: float, low: float, high: float, colour: Colour = COLOURS[1]
) -> None:
    canvas.line([(x, low), (x, high)], colour, 2)
    for y in (low, high):
        canvas.line([(x - 5, y), (x + 5, y)], colour, 2)
