"""Six silhouettes of pieces, drawn for this project, as SVG paths.

The centre of a cell is (0, 0), and a cell is 40 wide. A path is filled and has an edge; its open
parts are lines within the silhouette.
"""

from typing import Final, NamedTuple

from alphazero.games.game import Game

SIZE: Final = 40
"""The width of a cell in the paths."""
EDGE_WIDTH: Final = 1.6


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
