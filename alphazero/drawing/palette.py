"""The colours of a game's board and stones, and the shapes of its pieces.

The colours follow what the game says it is made of; a page may choose others by the names of the
paints, as CSS custom properties. The six silhouettes of pieces, drawn for this project, are SVG
paths: the centre of a cell is (0, 0), a path is filled and has an edge, and its open parts are
lines within the silhouette.
"""

import functools
from dataclasses import dataclass
from typing import Final, NamedTuple

from alphazero.drawing.canvas import Colour, Paint
from alphazero.games.game import BoardStyle, Game, Material

EDGE: Final = Paint((72, 66, 58), "board-edge")
LIGHT_EDGE: Final = Paint((243, 230, 204), "board-light-edge")
DARK_EDGE: Final = Paint((58, 53, 44), "board-dark-edge")
"""The edges of dark and of light pieces, which show on all cells."""
LABEL: Final = Paint((110, 110, 110), "board-ink")
MARK: Final = Paint((214, 51, 32), "board-mark")
DARK_MARK: Final = Paint((24, 24, 26), "board-mark")
"""The mark on stones of bright colours."""

LETTER: Final = Paint((34, 32, 30), "board-letter")

COLOURS: Final[dict[str, Colour]] = {
    "black": (34, 32, 30),
    "white": (255, 255, 255),
    "red": (212, 72, 59),
    "yellow": (245, 200, 66),
    "blue": (58, 113, 193),
    "green": (62, 142, 88),
}
"""Colours of stones by the names of sides, in lower case."""

LETTERS: Final = ("x", "o")
"""The names of sides whose stones are drawn as these letters."""


@dataclass(frozen=True)
class Palette:
    """The paints of a board."""

    field: Paint
    line: Paint
    hole: Paint
    """of a free cell of a rack or a heap"""
    stones: tuple[Paint, Paint]
    mark: Paint
    """of the last move"""
    looks: tuple[str, str]
    """how stones look: `LETTERS`, or one of `COLOURS` for each player"""


BOARDS: Final[dict[Material, tuple[Colour, Colour, Colour]]] = {
    Material.WOOD: ((233, 217, 186), (165, 142, 103), (213, 195, 161)),
    Material.FELT: ((108, 168, 122), (58, 105, 71), (87, 143, 101)),
    Material.PLASTIC: ((49, 99, 176), (31, 68, 128), (226, 233, 244)),
    Material.PAPER: ((250, 249, 245), (150, 150, 146), (240, 239, 235)),
}
"""Colours of the field, its lines and its holes."""

CHEQUERED: Final = (235, 207, 159), (125, 95, 52), (192, 146, 87)
"""Colours of light squares, of lines and of dark squares."""


@functools.lru_cache(maxsize=64)
def palette_of(game: Game) -> Palette:
    """Return a game's paints; boards of wood and those without a material share their names."""
    colours = CHEQUERED if game.board_style is BoardStyle.CHEQUERED else BOARDS[game.material]
    name = "board" if game.material is Material.WOOD else game.material.name.lower()
    name = "chequered" if colours is CHEQUERED else name
    field, line, hole = (
        Paint(colour, f"{name}-{part}")
        for colour, part in zip(colours, ("field", "line", "hole"), strict=True)
    )
    looks = looks_of(game)
    first = Paint(COLOURS.get(looks[0], COLOURS["black"]), "board-first")
    second = Paint(COLOURS.get(looks[1], COLOURS["white"]), "board-second")
    mark = MARK if looks == LETTERS or {*looks} == {"black", "white"} else DARK_MARK
    return Palette(field, line, hole, (first, second), mark, looks)


def looks_of(game: Game) -> tuple[str, str]:
    """Return how the stones of both sides look; black and white unless their names say it."""
    first, second = (name.lower() for name in game.side_names)
    are_looks = (first, second) == LETTERS or (first in COLOURS and second in COLOURS)
    return (first, second) if are_looks else ("black", "white")


# --- pieces --------------------------------------------------------------------------------------

SIZE: Final = 40
"""The width of a cell in the paths."""
PIECE_EDGE: Final = 1.6


class PieceShape(NamedTuple):
    """How pictures show a kind of piece: a path, or a disc with the letter if `path` is empty."""

    letter: str
    name: str
    path: str = ""


SHAPES: Final = (
    PieceShape("P", "pawn", "M-10 15c0-7 2-11 6.5-14a6.2 6.2 0 1 1 7 0c4.5 3 6.5 7 6.5 14z"),
    PieceShape(
        "N",
        "knight",
        "M-8 15C-8 7 0 6 0 0-3 3-5 3-7 5.5-9 7-12 5-11.5 2-10-3-6-6-6-10L-5.5-15-1-11.5"
        "C8-10 11 1 11 15zM-5-5l2-1",
    ),
    PieceShape(
        "B",
        "bishop",
        "M-11 15c0-3 2-4 6-4-6-6-5-14 5-21 10 7 11 15 5 21 4 0 6 1 6 4z"
        "M0-10a2.2 2.2 0 1 1 .1 0M-5 11H5M4-5L0 1",
    ),
    PieceShape(
        "R",
        "rook",
        "M-12 15v-4h3l2-14h-4v-10h5v4h3.5v-4h5v4h3.5v-4h5v10h-4l2 14h3v4zM-7-3H7M-9 11H9",
    ),
    PieceShape(
        "Q",
        "queen",
        "M-9 15L-10 7-14-7-7 0-7-11-2.5-2 0-13 2.5-2 7-11 7 0 14-7 10 7 9 15zM-10 7Q0 4 10 7",
    ),
    PieceShape(
        "K",
        "king",
        "M-9 15L-9.5 7C-17 1-13-9-6-7-3.5-6.3-2.2-5-1.5-4V-8.5H-5V-11.5H-1.5V-15H1.5V-11.5H5V-8.5"
        "H1.5V-4C2.2-5 3.5-6.3 6-7 13-9 17 1 9.5 7L9 15zM-9.5 7Q0 4 9.5 7M0 4V-4",
    ),
)


def shapes_of(game: Game) -> list[PieceShape]:
    """Return the shapes of a game's `piece_kinds`; a letter without one names its kind."""
    shapes = {shape.letter: shape for shape in SHAPES}
    return [shapes.get(kind, PieceShape(kind, kind)) for kind in game.piece_kinds]
