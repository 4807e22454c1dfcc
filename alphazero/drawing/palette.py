"""The colours of a game's board and stones, from what the game says it is made of.

A page may choose other colours by the names of the paints, as CSS custom properties.
"""

import functools
from dataclasses import dataclass
from typing import Final

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
