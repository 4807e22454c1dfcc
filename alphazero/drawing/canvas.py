"""A canvas for pictures of boards, as SVG; lengths are pixels, from the top left."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

from PIL import ImageFont

Colour = tuple[int, int, int]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
Point = tuple[float, float]

COLOURS: tuple[Colour, ...] = ((230, 159, 0), (86, 180, 233), (120, 120, 120))
"""Orange, sky blue and grey, also distinct to colour-blind people (Okabe & Ito, *Color Universal
Design*, 2008). Black text is legible on each."""

MARGIN = 16
LINE = 21
"""Height of a line of text."""
FONTS = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"
"""Fonts in SVG."""


@dataclass(frozen=True)
class Paint:
    """A colour with an opacity, and a name under which a page may choose another."""

    colour: Colour
    name: str = ""
    """CSS custom property, without the dashes"""
    opacity: float = 1.0

    @property
    def code(self) -> str:
        """The colour for CSS."""
        return "#" + "".join(f"{part:02x}" for part in self.colour)

    def with_opacity(self, opacity: float) -> "Paint":
        return replace(self, opacity=opacity)


PAPER = Paint((255, 255, 255), "paper")
INK = Paint((30, 30, 30))

DARK: dict[str, Colour] = {
    "paper": (24, 27, 31),
    "ink": (230, 230, 228),
    "bar": (58, 62, 68),
    "board-ink": (160, 164, 170),
    "board-field": (196, 174, 133),
    "board-line": (134, 111, 72),
    "board-edge": (165, 156, 144),
    "board-light-edge": (215, 201, 173),
    "chequered-field": (176, 148, 106),
    "chequered-hole": (122, 92, 58),
    "chequered-line": (84, 62, 36),
}
"""The colours of named paints in dark mode, of a picture without a page."""

Numbers = dict[str, float | str]
"""Attributes of an SVG element except colours."""


@functools.cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Return Pillow's own font, which measures texts: pictures are the same on every machine."""
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont), "this Pillow was built without FreeType"
    return font


class Canvas:
    """Collects shapes and texts, which lie over them; the picture grows to fit all."""

    def __init__(self, size: tuple[float, float] | None = None) -> None:
        """Start a picture, with a `size` for a page, which chooses the colours of named paints."""
        self._shapes: list[str] = []
        self._texts: list[str] = []
        self._size = size
        self._width, self._height = 0.0, 0.0

    def fill(self, box: Box, colour: Paint, edge: Paint | None = None, corner: float = 0) -> None:
        """Fill a rectangle with corners of radius `corner`, unless it has no width."""
        self._add_rectangle(box, colour, edge, 1, corner)

    def frame(self, box: Box, colour: Paint, width: float = 3) -> None:
        """Draw a thick line along the inside of a rectangle."""
        self._add_rectangle(box, None, colour, width)

    def disc(self, x: float, y: float, radius: float, colour: Paint, edge: Paint | None) -> None:
        """Draw a disc around (x, y); `edge` paints a thin edge."""
        self._add_circle((x, y), radius, colour, edge, 1)

    def ring(self, x: float, y: float, radius: float, colour: Paint, width: float = 2) -> None:
        """Draw a circle around (x, y); `radius` is that of its outer edge."""
        self._add_circle((x, y), radius, None, colour, width)

    def polygon(self, points: Sequence[Point], colour: Paint, edge: Paint | None) -> None:
        """Fill the polygon of `points` (x, y); `edge` paints a thin edge."""
        self._add("polygon", points, {"points": _path(points)}, colour, edge)

    def path(
        self, x: float, y: float, path: str, scale: float, colour: Paint, edge: Paint, width: float
    ) -> None:
        """Fill an SVG path around (x, y) and draw its edge; `width` is in units of the path."""
        place = " ".join(map(_number, (x, y)))
        numbers: Numbers = {"d": path, "transform": f"translate({place}) scale({_number(scale)})"}
        numbers |= {"stroke-linejoin": "round", "stroke-linecap": "round"}
        self._add("path", [(x, y)], numbers, colour, edge, width)

    def arrow(self, begin: Point, end: Point, colour: Paint, width: float) -> None:
        """Draw an arrow whose head is three times as wide as its line."""
        (x, y), length = end, math.dist(begin, end)
        u, v = ((x - begin[0]) / length * width, (y - begin[1]) / length * width)
        neck = x - 2.5 * u, y - 2.5 * v
        side = 1.5 * v, -1.5 * u
        head = [end, (neck[0] + side[0], neck[1] + side[1]), (neck[0] - side[0], neck[1] - side[1])]
        self.line([begin, neck], colour, width)
        self.polygon(head, colour, None)

    def line(self, points: Sequence[Point], colour: Paint, width: float = 1) -> None:
        self._add("polyline", points, {"points": _path(points)}, None, colour, width)

    def _add_rectangle(
        self, box: Box, fill: Paint | None, stroke: Paint | None, width: float, corner: float = 0
    ) -> None:
        (left, top, right, bottom), inset = box, width / 2 if stroke else 0
        numbers: Numbers = {"x": left + inset, "y": top + inset}
        numbers |= {"width": right - left - 2 * inset, "height": bottom - top - 2 * inset}
        numbers |= {"rx": corner} if corner else {}
        if left < right:
            self._add("rect", [(right, bottom)], numbers, fill, stroke, width)

    def _add_circle(
        self, centre: Point, radius: float, fill: Paint | None, stroke: Paint | None, width: float
    ) -> None:
        x, y = centre
        numbers: Numbers = {"cx": x, "cy": y, "r": radius - (width / 2 if stroke else 0)}
        self._add("circle", [(x + radius, y + radius)], numbers, fill, stroke, width)

    def _add(
        self,
        tag: str,
        points: Sequence[Point],
        numbers: Numbers,
        fill: Paint | None,
        stroke: Paint | None,
        width: float = 1,
    ) -> None:
        """Add a shape that reaches to `points`."""
        for x, y in points:
            self.reserve(x, y)
        self._shapes.append(self._element(tag, numbers, fill, stroke, width))

    def write(
        self, x: float, y: float, text: str, size: int, anchor: str = "la", colour: Paint = INK
    ) -> float:
        """Write a line of text and return its width.

        `anchor`, in Pillow's letters, is the point of the text at (x, y); default: upper left.
        """
        font = _font(size)
        width = font.getlength(text)
        ascent, descent = font.getmetrics()
        if anchor[0] == "l":
            self.reserve(x + width, y + 1.2 * size)
        baseline = y + {"a": ascent, "m": (ascent - descent) / 2, "s": 0}[anchor[1]]
        numbers: Numbers = {"x": x, "y": baseline, "font-size": size}
        if anchor[0] == "l":
            # Keep this width with any font.
            numbers |= {"textLength": width, "lengthAdjust": "spacingAndGlyphs"}
        else:
            numbers["text-anchor"] = {"m": "middle", "r": "end"}[anchor[0]]
        self._texts.append(self._element("text", numbers, colour, text=text))
        return width

    def write_lines(self, x: float, y: float, lines: Sequence[str], colour: Paint) -> None:
        for index, text in enumerate(lines):
            self.write(x, y + LINE * index, text, 14, colour=colour)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height: the fixed ones, else those of the contents with a margin."""
        return self._size or (math.ceil(self._width) + MARGIN, math.ceil(self._height) + MARGIN)

    def svg(self, title: str) -> str:
        """Return the picture as an SVG element, with `title` for screen readers.

        A picture without a page has its own size, background and colours, also in dark mode.
        """
        width, height = (_number(side) for side in self.size)
        attributes = [f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"']
        attributes.append(f'role="img" font-family="{FONTS}"')
        lines = [f"<title>{escape(title)}</title>"]
        if self._size is None:
            attributes.append(f'width="{width}" height="{height}" class="alphazero"')
            rules = "".join(
                f".alphazero .{use}-{name}{{{use}:{Paint(colour).code}}}"
                for name, colour in DARK.items()
                for use in ("fill", "stroke")
            )
            lines.append(f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>")
            lines.append(
                f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER.code}" '
                f'class="fill-{PAPER.name}"/>'
            )
        lines += [*self._shapes, *self._texts, "</svg>"]
        return "\n".join([f"<svg {' '.join(attributes)}>", *lines])

    def _element(
        self,
        tag: str,
        numbers: Numbers,
        fill: Paint | None,
        stroke: Paint | None = None,
        width: float = 1,
        text: str = "",
    ) -> str:
        """Return a shape as SVG; `width` is that of the stroke."""
        attributes: Numbers = {**numbers, **({} if fill else {"fill": "none"})}
        classes = []
        for use, paint in (("fill", fill), ("stroke", stroke)):
            if paint is None:
                continue
            attributes[use] = paint.code
            if paint.opacity < 1:
                attributes[f"{use}-opacity"] = paint.opacity
            if paint.name and self._size is None:
                classes.append(f"{use}-{paint.name}")
            elif paint.name:
                attributes[use] = f"var(--{paint.name}, {paint.code})"
        if stroke is not None and width != 1:
            attributes["stroke-width"] = width
        if classes:
            attributes["class"] = " ".join(classes)
        texts = (
            f"{name}={quoteattr(value if isinstance(value, str) else _number(value))}"
            for name, value in attributes.items()
        )
        start = f"<{tag} {' '.join(texts)}"
        return f"{start}>{escape(text)}</{tag}>" if text else f"{start}/>"

    def reserve(self, right: float, bottom: float) -> None:
        """Make the picture reach to `right` and `bottom` at least."""
        self._width, self._height = max(self._width, right), max(self._height, bottom)


def _number(number: float) -> str:
    return f"{round(number, 2):.10g}"


def _path(points: Sequence[Point]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
