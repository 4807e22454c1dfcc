"""A chart: points with their intervals over an axis, as ratings over the time of training.

Lengths are pixels, from the top left.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from PIL import Image

from alphazero.players.canvas import COLOURS, GRID, INK, MARGIN, PAPER, Canvas

LEFT, TOP, WIDTH, HEIGHT = 76, 72, 560, 320
"""Where the axes lie."""
TICKS = 6
"""Marks on an axis, about."""
CLOSE = 17
"""Names nearer than this would overlap."""


class Point(NamedTuple):
    """A figure and its interval, over `x`."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class _Axis:
    """What an axis shows, from one end to the other, and where it lies."""

    first: float
    last: float
    step: float
    begin: int
    end: int

    @classmethod
    def over(cls, values: Sequence[float], begin: int, end: int) -> "_Axis":
        """Return an axis that holds `values`, its ends at multiples of a round step."""
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
        """Return where the marks lie and what they say."""
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

    `levels` are horizontal lines by their names: figures that do not change.
    """
    levels = levels or {}
    points = sorted(points)
    heights = [value for point in points for value in (point.low, point.high)]
    across = _Axis.over([0.0, *(point.x for point in points)], LEFT, LEFT + WIDTH)
    up = _Axis.over([*heights, *levels.values()], TOP + HEIGHT, TOP)
    canvas = Canvas()
    canvas.write(MARGIN, 14, title, 20)
    canvas.write(MARGIN, 40, y_label, 13)
    for y, text in up.ticks():
        canvas.line([(LEFT, y), (LEFT + WIDTH, y)], GRID)
        canvas.write(LEFT - 8, y, text, 13, "rm")
    for x, text in across.ticks():
        canvas.line([(x, TOP + HEIGHT), (x, TOP + HEIGHT + 5)], INK)
        canvas.write(x, TOP + HEIGHT + 9, text, 13, "ma")
    canvas.line([(LEFT, TOP), (LEFT, TOP + HEIGHT), (LEFT + WIDTH, TOP + HEIGHT)], INK)
    canvas.write(LEFT + WIDTH / 2, TOP + HEIGHT + 30, x_label, 14, "ma")
    canvas.line([(LEFT, TOP + HEIGHT + 46)] * 2, PAPER)  # room for the label
    free = float("inf")
    for name, value in sorted(levels.items(), key=lambda level: -level[1]):
        y = up.place(value)
        canvas.line([(LEFT, y), (LEFT + WIDTH, y)], COLOURS[2], 2)
        free = y if math.isinf(free) else max(y, free + CLOSE)
        canvas.write(LEFT + WIDTH + 8, free - 8, name, 13)
    centres = [(across.place(point.x), up.place(point.y)) for point in points]
    for (x, _), point in zip(centres, points, strict=True):
        low, high = up.place(point.low), up.place(point.high)
        canvas.line([(x, low), (x, high)], COLOURS[1], 2)
        for y in (low, high):
            canvas.line([(x - 5, y), (x + 5, y)], COLOURS[1], 2)
    canvas.line(centres, COLOURS[0], 2)
    for x, y in centres:
        canvas.disc(x, y, 4.5, COLOURS[0])
    return canvas.finish()
