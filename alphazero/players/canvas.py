"""A canvas for pictures: smooth shapes, sharp texts, as large as what is drawn needs.

Lengths are pixels, from the top left.
"""

import functools
import io
from collections.abc import Callable, Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from alphazero.files import write_atomic

Colour = tuple[int, int, int]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

COLOURS: tuple[Colour, ...] = ((230, 159, 0), (86, 180, 233), (120, 120, 120))
"""Orange, sky blue, grey, which colour-blind people tell apart too (Okabe & Ito, *Color Universal
Design*, 2008). Black text can be read on each."""
PAPER: Colour = (255, 255, 255)
GRID: Colour = (200, 200, 198)
EDGE: Colour = (70, 70, 70)
FAINT: Colour = (150, 150, 150)
INK: Colour = (30, 30, 30)

MARGIN = 16
LINE = 21
"""Height of a line of text."""
FINENESS = 3
"""Shapes are drawn so many times larger and shrunk, which smooths their edges."""


@functools.cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Return Pillow's own font, so that pictures are alike wherever they are drawn."""
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont), "this Pillow was built without FreeType"
    return font


class Canvas:
    """Collects shapes and texts; the picture becomes as large as they need.

    Shapes are drawn large and shrunk; then texts over them, at their true size, which is sharper.
    """

    def __init__(self) -> None:
        self._shapes: list[Callable[[ImageDraw.ImageDraw], None]] = []
        self._texts: list[Callable[[ImageDraw.ImageDraw], None]] = []
        self._width, self._height = 0.0, 0.0

    def fill(self, box: Box, colour: Colour, edge: Colour | None = None) -> None:
        """Fill a rectangle; one without breadth, like the bar of a draw, is not there."""
        large, width = self._enlarge(box), FINENESS if edge else 0
        if large[0] <= large[2]:
            self._shapes.append(lambda draw: draw.rectangle(large, colour, edge, width))

    def frame(self, box: Box) -> None:
        """Draw a thick line along the inside of a rectangle."""
        large = self._enlarge(box)
        self._shapes.append(lambda draw: draw.rectangle(large, None, INK, 3 * FINENESS))

    def disc(self, x: float, y: float, radius: float, colour: Colour, edge: Colour = EDGE) -> None:
        """Draw a disc around (x, y) with a thin edge."""
        large = self._enlarge((x - radius, y - radius, x + radius, y + radius))
        self._shapes.append(lambda draw: draw.ellipse(large, colour, edge, FINENESS))

    def ring(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """Draw a circle around (x, y)."""
        large = self._enlarge((x - radius, y - radius, x + radius, y + radius))
        self._shapes.append(lambda draw: draw.ellipse(large, None, colour, 2 * FINENESS))

    def line(self, points: Sequence[tuple[float, float]], colour: Colour, width: int = 1) -> None:
        """Draw a line through points (x, y)."""
        for x, y in points:
            self._grow(x, y)
        large = [(FINENESS * x, FINENESS * y) for x, y in points]
        self._shapes.append(lambda draw: draw.line(large, colour, width * FINENESS, "curve"))

    def write(self, x: float, y: float, text: str, size: int, anchor: str = "la") -> float:
        """Write a line and return its width; `anchor`, in Pillow's letters: what (x, y) is of it.

        By itself the upper left corner.
        """
        font = _font(size)
        width = font.getlength(text)
        if anchor[0] == "l":
            self._grow(x + width, y + 1.2 * size)
        self._texts.append(lambda draw: draw.text((x, y), text, INK, font, anchor))
        return width

    def write_lines(self, x: float, y: float, lines: Sequence[str]) -> None:
        """Write lines one below the other."""
        for index, text in enumerate(lines):
            self.write(x, y + LINE * index, text, 14)

    def finish(self) -> Image.Image:
        """Return the picture."""
        width, height = round(self._width) + MARGIN, round(self._height) + MARGIN
        image = Image.new("RGB", (width * FINENESS, height * FINENESS), PAPER)
        draw = ImageDraw.Draw(image)
        for shape in self._shapes:
            shape(draw)
        image = image.reduce(FINENESS)
        draw = ImageDraw.Draw(image)
        for text in self._texts:
            text(draw)
        return image

    def _enlarge(self, box: Box) -> Box:
        """Return where a box begins and where its last pixels are on the large image."""
        self._grow(box[2], box[3])
        left, top, right, bottom = (FINENESS * side for side in box)
        return left, top, right - 1, bottom - 1

    def _grow(self, right: float, bottom: float) -> None:
        self._width, self._height = max(self._width, right), max(self._height, bottom)


def save_picture(path: Path, picture: Image.Image) -> None:
    """Write a picture as a PNG file.

    Raises:
        RunError: when it cannot be written.
    """
    data = io.BytesIO()
    picture.save(data, "PNG")
    write_atomic(path, data.getvalue())
