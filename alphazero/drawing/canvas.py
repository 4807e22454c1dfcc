"""A canvas for pictures of boards: smooth shapes and sharp texts, as pixels or SVG.

Pixels are for PNG files and TensorBoard, SVG is for pages and notebooks. Lengths are pixels, from
the top left, in SVG too.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from PIL import Image, ImageDraw, ImageFont

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
SUPERSAMPLING = 3
"""Shapes are drawn larger by this factor and shrunk, against jagged edges."""
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

    @property
    def pixel(self) -> tuple[int, int, int, int]:
        """The colour for Pillow."""
        return *self.colour, round(255 * self.opacity)

    def with_opacity(self, opacity: float) -> "Paint":
        return replace(self, opacity=opacity)


PAPER = Paint((255, 255, 255), "paper")
INK = Paint((30, 30, 30))


class Shape(NamedTuple):
    """A shape, for pixels and SVG."""

    draw: Callable[[ImageDraw.ImageDraw], None]
    tag: str
    numbers: dict[str, float | str]
    """attributes of the SVG element except colours"""
    fill: Paint | None
    stroke: Paint | None = None
    width: float = 1
    """of the stroke"""
    text: str = ""


@functools.cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Return Pillow's own font: pictures are the same on every machine."""
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont), "this Pillow was built without FreeType"
    return font


class Canvas:
    """Collects shapes and texts; the picture grows to fit them.

    Texts lie over shapes. In pixels they are drawn at their true size, after the shapes are shrunk.
    """

    def __init__(self, size: tuple[float, float] | None = None) -> None:
        """Start a picture; `size` is width and height, if fixed."""
        self._shapes: list[Shape] = []
        self._texts: list[Shape] = []
        self._size = size
        self._width, self._height = 0.0, 0.0

    def fill(self, box: Box, colour: Paint, edge: Paint | None = None, corner: float = 0) -> None:
        """Fill a rectangle with corners of radius `corner`, unless it has no width."""
        large, pixels = self._enlarge(box), _pixels(colour, edge)
        if large[0] <= large[2]:
            shape = Shape(
                lambda draw: draw.rounded_rectangle(large, SUPERSAMPLING * corner, *pixels),
                "rect",
                {**_rectangle(box, 0.5 if edge else 0), **({"rx": corner} if corner else {})},
                colour,
                edge,
            )
            self._shapes.append(shape)

    def frame(self, box: Box, colour: Paint, width: float = 3) -> None:
        """Draw a thick line along the inside of a rectangle."""
        large = self._enlarge(box)
        shape = Shape(
            lambda draw: draw.rectangle(large, None, colour.pixel, round(width * SUPERSAMPLING)),
            "rect",
            _rectangle(box, width / 2),
            None,
            colour,
            width,
        )
        self._shapes.append(shape)

    def disc(self, x: float, y: float, radius: float, colour: Paint, edge: Paint | None) -> None:
        """Draw a disc around (x, y), with a thin edge if one is given."""
        large = self._enlarge((x - radius, y - radius, x + radius, y + radius))
        pixels = _pixels(colour, edge)
        shape = Shape(
            lambda draw: draw.ellipse(large, *pixels),
            "circle",
            {"cx": x, "cy": y, "r": radius - (0.5 if edge else 0)},
            colour,
            edge,
        )
        self._shapes.append(shape)

    def ring(self, x: float, y: float, radius: float, colour: Paint, width: float = 2) -> None:
        """Draw a circle around (x, y); `radius` is that of its outer edge."""
        large = self._enlarge((x - radius, y - radius, x + radius, y + radius))
        shape = Shape(
            lambda draw: draw.ellipse(large, None, colour.pixel, round(width * SUPERSAMPLING)),
            "circle",
            {"cx": x, "cy": y, "r": radius - width / 2},
            None,
            colour,
            width,
        )
        self._shapes.append(shape)

    def polygon(self, points: Sequence[Point], colour: Paint, edge: Paint | None) -> None:
        """Fill the polygon of `points` (x, y), with a thin edge if one is given."""
        large, pixels = self._enlarge_points(points), _pixels(colour, edge)
        shape = Shape(
            lambda draw: draw.polygon(large, *pixels),
            "polygon",
            {"points": _path(points)},
            colour,
            edge,
        )
        self._shapes.append(shape)

    def line(self, points: Sequence[Point], colour: Paint, width: float = 1) -> None:
        large = self._enlarge_points(points)
        shape = Shape(
            lambda draw: draw.line(large, colour.pixel, round(width * SUPERSAMPLING), "curve"),
            "polyline",
            {"points": _path(points)},
            None,
            colour,
            width,
        )
        self._shapes.append(shape)

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
        numbers: dict[str, float | str] = {"x": x, "y": baseline, "font-size": size}
        if anchor[0] == "l":
            # Keep this width with any font.
            numbers |= {"textLength": width, "lengthAdjust": "spacingAndGlyphs"}
        else:
            numbers["text-anchor"] = {"m": "middle", "r": "end"}[anchor[0]]
        self._texts.append(
            Shape(
                lambda draw: draw.text((x, y), text, colour.pixel, font, anchor),
                "text",
                numbers,
                colour,
                text=text,
            )
        )
        return width

    def write_lines(self, x: float, y: float, lines: Sequence[str], colour: Paint) -> None:
        for index, text in enumerate(lines):
            self.write(x, y + LINE * index, text, 14, colour=colour)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height: as given, or those of the contents with a margin."""
        return self._size or (math.ceil(self._width) + MARGIN, math.ceil(self._height) + MARGIN)

    def to_image(self) -> Image.Image:
        width, height = map(round, self.size)
        image = Image.new("RGB", (width * SUPERSAMPLING, height * SUPERSAMPLING), PAPER.colour)
        draw = ImageDraw.Draw(image, "RGBA")
        for shape in self._shapes:
            shape.draw(draw)
        image = image.reduce(SUPERSAMPLING)
        draw = ImageDraw.Draw(image, "RGBA")
        for text in self._texts:
            text.draw(draw)
        return image

    def svg(self, title: str, dark: Mapping[str, Colour] | None = None) -> str:
        """Return the picture as an SVG element, with `title` for screen readers.

        Without `dark` the page sets the size and, by CSS custom properties, the named paints. With
        `dark` the picture has its own size and background, and `dark` has the colours of named
        paints in dark mode.
        """
        width, height = (_number(side) for side in self.size)
        attributes = [f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"']
        if dark is not None:
            attributes.append(f'width="{width}" height="{height}" class="alphazero"')
        attributes.append(f'role="img" font-family="{FONTS}"')
        lines = [f"<svg {' '.join(attributes)}>", f"<title>{escape(title)}</title>"]
        if dark is not None:
            rules = "".join(
                f".alphazero .fill-{name}{{fill:{Paint(colour).code}}}"
                f".alphazero .stroke-{name}{{stroke:{Paint(colour).code}}}"
                for name, colour in dark.items()
            )
            lines.append(f"<style>@media (prefers-color-scheme: dark){{{rules}}}</style>")
            lines.append(
                f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER.code}" '
                f'class="fill-{PAPER.name}"/>'
            )
        lines += [_element(shape, dark is None) for shape in [*self._shapes, *self._texts]]
        return "\n".join([*lines, "</svg>"])

    def reserve(self, right: float, bottom: float) -> None:
        """Make the picture reach to `right` and `bottom` at least."""
        self._width, self._height = max(self._width, right), max(self._height, bottom)

    def _enlarge(self, box: Box) -> Box:
        """Return a box's first and last pixels on the large image."""
        self.reserve(box[2], box[3])
        left, top, right, bottom = (SUPERSAMPLING * side for side in box)
        return left, top, right - 1, bottom - 1

    def _enlarge_points(self, points: Sequence[Point]) -> list[Point]:
        for x, y in points:
            self.reserve(x, y)
        return [(SUPERSAMPLING * x, SUPERSAMPLING * y) for x, y in points]


def _pixels(colour: Paint, edge: Paint | None) -> tuple[Any, Any, int]:
    """Return Pillow's colours inside and of a thin edge, and the edge's width."""
    return colour.pixel, edge and edge.pixel, SUPERSAMPLING if edge else 0


def _number(number: float) -> str:
    return f"{round(number, 2):.10g}"


def _path(points: Sequence[Point]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _rectangle(box: Box, inset: float) -> dict[str, float | str]:
    """Return the attributes of a rectangle with a line of width `2 * inset` along its inside."""
    left, top, right, bottom = box
    return {
        "x": left + inset,
        "y": top + inset,
        "width": right - left - 2 * inset,
        "height": bottom - top - 2 * inset,
    }


def _element(shape: Shape, by_page: bool) -> str:
    """Return a shape as SVG; `by_page`: the page chooses named paints."""
    written = [
        f"{name}={quoteattr(value if isinstance(value, str) else _number(value))}"
        for name, value in shape.numbers.items()
    ]
    classes = []
    for use, paint in (("fill", shape.fill), ("stroke", shape.stroke)):
        if paint is None:
            if use == "fill":
                written.append('fill="none"')
            continue
        named = by_page and paint.name
        written.append(
            f'{use}="var(--{paint.name}, {paint.code})"' if named else f'{use}="{paint.code}"'
        )
        if paint.opacity < 1:
            written.append(f'{use}-opacity="{_number(paint.opacity)}"')
        if paint.name and not by_page:
            classes.append(f"{use}-{paint.name}")
    if shape.stroke is not None and shape.width != 1:
        written.append(f'stroke-width="{_number(shape.width)}"')
    if classes:
        written.append(f'class="{" ".join(classes)}"')
    start = f"<{shape.tag} {' '.join(written)}"
    return f"{start}>{escape(shape.text)}</{shape.tag}>" if shape.text else f"{start}/>"
