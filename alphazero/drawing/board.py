"""The drawing of a board: field, stones, and names of rows and columns.

Every game is drawn from its `board_style`, its stones (planes 0 and 1 of `observe`), and the cells
and names of its moves. Most lengths are in cells, the distance between two neighbours' centres.

Cells are counted row by row.
"""

import functools
import itertools
import math
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphazero.drawing.canvas import Box, Canvas, Paint, Point
from alphazero.drawing.palette import (
    DARK_EDGE,
    EDGE,
    LABEL,
    LETTER,
    LETTERS,
    LIGHT_EDGE,
    PIECE_EDGE,
    SIZE,
    palette_of,
    shapes_of,
)
from alphazero.games.game import ONGOING, PLY, BoardStyle, Game, State, to_play
from alphazero.games.grid import VERTEX_LETTERS
from alphazero.games.pieces import PieceGame
from alphazero.games.registry import write_game
from alphazero.games.results import describe_result

CELL = float(SIZE)
"""The size of a cell in `field_svg`: paths of pieces fit without scaling."""
EDGE_WIDTH = 0.4
"""Width of two opposite coloured sides of a rhombus, in cells."""
LENGTHS = {
    BoardStyle.SQUARES: (0.4, 0.0),
    BoardStyle.CHEQUERED: (0.38, 0.0),
    BoardStyle.HOLES: (0.42, 0.14),
    BoardStyle.INTERSECTIONS: (0.47, 0.16),
    BoardStyle.HEXAGONS: (0.37, EDGE_WIDTH / 2),
    BoardStyle.PILE: (0.38, 0.14),
}
"""A stone's radius, and the distance from the outer cells to the field's edge, in cells."""
LABELS = 0.62
"""Width of the labels beside the field, in cells."""
LAST_MOVE = Paint((255, 213, 74), "board-last", 0.55)
"""The tint of the cells that the last move left and reached."""
CHIPS = 15
"""Chips per line of a heap, unless there are very many."""
ROW = math.sqrt(3) / 2
"""Distance between two rows of hexagons, in cells."""


@dataclass(frozen=True)
class Labels:
    """The names of rows and columns; empty unless the names of moves consist of them."""

    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    """from the top"""
    above: bool = False
    """whether the columns' names are above the board"""

    def name(self, row: int, column: int) -> str:
        return self.columns[column] + (self.rows[row] if self.rows else "")


@functools.lru_cache(maxsize=64)
def field_svg(game: Game, turned: bool = False) -> str:
    """Return a board without stones as an SVG element that fills its container.

    A page may choose the colours by CSS custom properties: --board-field, --board-line,
    --board-first and --board-second (the stones), --board-edge (of stones), --board-ink (labels),
    --board-mark (ring and frame). The field, lines and holes of boards that are not of wood are
    named after their material, those of chequered boards --chequered-field.
    """
    board = geometry_of(game, turned)
    canvas = Canvas((board.width, board.height))
    board.draw_field(canvas)
    return canvas.svg(position_title(game, game.initial_state()))


@functools.lru_cache(maxsize=64)
def geometry_of(game: Game, turned: bool = False) -> "BoardDrawing":
    """Return the board that `field_svg` draws, for the positions of its cells."""
    return BoardDrawing(game, turned=turned)


def position_title(game: Game, state: State) -> str:
    """Return one line: the game, the number of moves, and who is to move or has won."""
    outcome, moves = game.outcome(state), int(state[PLY])
    if outcome == ONGOING:
        status = f"{('first', 'second')[to_play(state)]} player to move"
    else:
        status = describe_result(outcome)
    return f"{write_game(game)} after {moves} move{'s' * (moves != 1)}, {status}"


class BoardDrawing:
    """A board at a place in a picture; `turned` by half a turn, as the second side sees it."""

    def __init__(
        self,
        game: Game,
        left: float = 0,
        top: float = 0,
        cell: float = CELL,
        *,
        turned: bool = False,
    ) -> None:
        self.game, self.board_style, self.cell = game, game.board_style, cell
        self.palette, (radius, self._padding) = palette_of(game), LENGTHS[game.board_style]
        self.left, self.top = left, top
        _, self.rows, self.columns = game.observation_shape
        if self.board_style is BoardStyle.PILE:
            chips = self.rows * self.columns
            self.columns = min(chips, max(CHIPS, math.ceil(math.sqrt(2 * chips))))
            self.rows = math.ceil(chips / self.columns)
        self.labels = labels_of(game)
        gap = 0.06 * cell
        left_gutter = LABELS * cell if self.labels.rows else gap
        label_height = LABELS * cell if self.labels.columns else gap
        field_width, field_height = self._field_size()
        field_left = left + left_gutter
        field_top = top + (label_height if self.labels.above else gap)
        self.field: Box = field_left, field_top, field_left + field_width, field_top + field_height
        """the rectangle around the cells"""
        self.width = left_gutter + field_width + gap
        self.height = label_height + field_height + gap
        self.radius = radius * cell
        """of a stone"""
        self.centres = tuple(self._centres())
        """the centre (x, y) of each cell, row by row"""
        if turned:
            self.centres = self.centres[::-1]
        self.is_light = sum(self.palette.stones[0].colour) > sum(self.palette.stones[1].colour)
        """whether the first player's stones are the lighter ones"""

    def draw(self, canvas: Canvas, state: State, last_cells: Sequence[int] = ()) -> None:
        self.draw_field(canvas)
        self.draw_stones(canvas, state, last_cells)

    def draw_field(self, canvas: Canvas) -> None:
        canvas.reserve(self.left + self.width, self.top + self.height)
        if self.board_style is BoardStyle.HEXAGONS:
            self._draw_sides(canvas)
        else:
            corner = 0 if self.board_style is BoardStyle.CHEQUERED else 0.1 * self.cell
            canvas.fill(self.field, self.palette.field, self.palette.line, corner)
        if self.board_style is BoardStyle.SQUARES:
            self._draw_lines(canvas, 0.5)
        elif self.board_style is BoardStyle.CHEQUERED:
            # The square on the left of the nearest row is dark, as for chess.
            for cell in range(len(self.centres)):
                if (self.rows - 1 - cell // self.columns + cell % self.columns) % 2 == 0:
                    self.tint(canvas, cell, self.palette.hole)
        elif self.board_style is BoardStyle.INTERSECTIONS:
            self._draw_lines(canvas, 0.0)
            for cell in _stars(self.rows, self.columns):
                canvas.disc(*self.centres[cell], 0.085 * self.cell, self.palette.line, None)
        else:
            hexagons = self.board_style is BoardStyle.HEXAGONS
            paint = self.palette.field if hexagons else self.palette.hole
            for cell in range(len(self.centres)):
                self.tint(canvas, cell, paint)
        self._draw_labels(canvas)

    def tint(self, canvas: Canvas, cell: int, paint: Paint) -> None:
        x, y = self.centres[cell]
        if self.board_style is BoardStyle.HEXAGONS:
            canvas.polygon(self._corners(cell), paint, self.palette.line)
        elif self.board_style in (BoardStyle.SQUARES, BoardStyle.CHEQUERED):
            half = self.cell / 2 - 0.5
            canvas.fill((x - half, y - half, x + half, y + half), paint)
        else:
            if self.board_style is BoardStyle.INTERSECTIONS:  # no lines behind a text
                canvas.disc(x, y, self.radius, self.palette.field, None)
            canvas.disc(x, y, self.radius, paint, None)

    def draw_stones(self, canvas: Canvas, state: State, last_cells: Sequence[int] = ()) -> None:
        """Draw the stones; a cell with both players' gets a chip.

        The cell where a stone was put has a ring; the cells of a move of a piece, and of a piece
        that is attacked, are tinted.
        """
        if len(last_cells) > 1:
            for cell in last_cells:
                self.tint(canvas, cell, LAST_MOVE)
        for cell in self.game.attacked_cells(state):
            self.tint(canvas, cell, self.palette.mark.with_opacity(0.6))
        pieces = self.game.pieces(state).ravel().tolist()
        shapes = shapes_of(self.game)
        for cell in np.flatnonzero(pieces).tolist():
            (x, y), radius, second = self.centres[cell], self.radius, pieces[cell] < 0
            shape = shapes[abs(pieces[cell]) - 1] if shapes else None
            if self.board_style is BoardStyle.PILE:
                canvas.disc(x, y, radius, self.palette.line, EDGE)
            elif shape and shape.path:
                edge = DARK_EDGE if second != self.is_light else LIGHT_EDGE
                stone, scale = self.palette.stones[int(second)], self.cell / SIZE
                canvas.path(x, y, shape.path, scale, stone, edge, PIECE_EDGE)
            elif shape or self.palette.looks != LETTERS:
                canvas.disc(x, y, radius, self.palette.stones[int(second)], EDGE)
                if shape:
                    ink = self.palette.stones[int(not second)]
                    canvas.write(x, y, shape.letter, round(1.2 * radius), "mm", ink)
            elif second:
                canvas.ring(x, y, 0.8 * radius, LETTER, 0.2 * radius)
            else:
                for arm in (-0.68 * radius, 0.68 * radius):
                    low, high = y - 0.68 * radius, y + 0.68 * radius
                    canvas.line([(x - arm, low), (x + arm, high)], LETTER, 0.2 * radius)
        if len(last_cells) == 1:
            # Inside a disc, around a letter.
            share = 1.15 if self.palette.looks == LETTERS else 0.5
            width = max(0.06 * self.cell, 1.5)
            centre = self.centres[last_cells[0]]
            canvas.ring(*centre, share * self.radius, self.palette.mark, width)

    def frame(self, canvas: Canvas, cell: int) -> None:
        x, y = self.centres[cell]
        width = max(0.07 * self.cell, 2.0)
        if self.board_style in (BoardStyle.SQUARES, BoardStyle.CHEQUERED):
            half = self.cell / 2
            canvas.frame((x - half, y - half, x + half, y + half), self.palette.mark, width)
        else:
            canvas.ring(x, y, self.radius + width / 2, self.palette.mark, width)

    def _field_size(self) -> Point:
        around, wide, high = 2 * self._padding, float(self.columns), float(self.rows)
        if self.board_style is BoardStyle.HEXAGONS:
            wide, high = wide + (self.rows - 1) / 2, (self.rows - 1) * ROW + 2 / math.sqrt(3)
        return (wide + around) * self.cell, (high + around) * self.cell

    def _centres(self) -> Iterator[Point]:
        _, rows, columns = self.game.observation_shape
        padding = self._padding
        for index in range(rows * columns):
            row, column = divmod(index, self.columns)
            x, y = padding + column + 0.5, padding + row + 0.5
            if self.board_style is BoardStyle.HEXAGONS:
                x, y = x + row / 2, padding + 1 / math.sqrt(3) + row * ROW
            yield self.field[0] + x * self.cell, self.field[1] + y * self.cell

    def _corners(self, cell: int) -> list[Point]:
        """Return the corners of a hexagon, clockwise from the upper left."""
        (x, y), half, tall = self.centres[cell], self.cell / 2, self.cell / math.sqrt(3)
        around = (-1, -0.5), (0, -1), (1, -0.5), (1, 0.5), (0, 1), (-1, 0.5)
        return [(x + right * half, y + down * tall) for right, down in around]

    def _draw_lines(self, canvas: Canvas, beyond: float) -> None:
        """Draw lines through the centres or, with `beyond` above 0, between squares."""
        (left, top), (right, bottom) = min(self.centres), max(self.centres)
        # The field has its own edge: no lines there.
        shift, inner = beyond * self.cell, int(beyond > 0)
        for row in range(self.rows - inner):
            y = top + row * self.cell + shift
            canvas.line([(left - shift, y), (right + shift, y)], self.palette.line)
        for column in range(self.columns - inner):
            x = left + column * self.cell + shift
            canvas.line([(x, top - shift), (x, bottom + shift)], self.palette.line)

    def _draw_sides(self, canvas: Canvas) -> None:
        """Draw the players' sides of a rhombus along the outer edges of its cells."""
        corners = [self._corners(cell) for cell in range(self.rows * self.columns)]
        # Clockwise, from the upper left corner; neighbours share corners.
        columns = self.columns
        upper = [point for hexagon in corners[:columns] for point in hexagon[:2]]
        right = [point for hexagon in corners[columns - 1 :: columns] for point in hexagon[2:4]]
        lower = [point for hexagon in corners[: -columns - 1 : -1] for point in hexagon[4:6]][:-1]
        left = [point for hexagon in corners[::columns][::-1] for point in (hexagon[5], hexagon[0])]
        # The two sharp corners each share an edge: each player has half of it.
        sharp, other = _middle(upper[-1], right[0]), _middle(lower[-1], left[0])
        outline = [*upper, sharp, *right, *lower, other, *left, upper[1]]
        width, (first, second) = EDGE_WIDTH * self.cell, self.palette.stones
        # The cells lie over the inner half of the lines.
        canvas.line(outline, EDGE, width + 2)
        canvas.line(outline, first, width)
        for side in ([sharp, *right], [other, *left]):
            canvas.line(side, second, width)

    def _draw_labels(self, canvas: Canvas) -> None:
        size = max(round(0.36 * self.cell), 9)
        slanted = self.board_style is BoardStyle.HEXAGONS
        field_left, top, _, bottom = self.field
        for row, text in enumerate(self.labels.rows):
            x, y = self.centres[row * self.columns]
            edge = x - 0.65 * self.cell if slanted else field_left
            canvas.write(edge - 0.3 * self.cell, y, text, size, "mm", LABEL)
        for column, text in enumerate(self.labels.columns):
            x, _ = self.centres[column]
            x -= 0.25 * self.cell if slanted else 0
            y = top - 0.28 * self.cell if self.labels.above else bottom + 0.32 * self.cell
            canvas.write(x, y, text, size, "mm", LABEL)


@functools.lru_cache(maxsize=64)
def labels_of(game: Game) -> Labels:
    """Return the names of rows and columns, from the names of the initial moves.

    A move's name is the column's letter and the row's number, counted from the bottom or the top,
    or the column's number alone; a piece's move begins with the cell that it leaves. Other names
    give no labels.
    """
    _, rows, columns = game.observation_shape
    state, names = game.initial_state(), list[tuple[tuple[int, ...], str]]()
    for action in np.flatnonzero(game.legal_action_mask(state)).tolist():
        if cells := game.move_cells(state, action):
            write = game.move_name if isinstance(game, PieceGame) else game.action_name
            names.append((cells, write(state, action)))
    for labels in _labellings(rows, columns):
        if names and all(_is_named(labels, cells, columns, name) for cells, name in names):
            return labels
    return Labels()


def _is_named(labels: Labels, cells: tuple[int, ...], columns: int, name: str) -> bool:
    """Whether a move is named after its cell or, if it moves a piece, after both of its cells."""
    words = [labels.name(*divmod(cell, columns)) for cell in cells]
    return name == words[0] if len(words) == 1 else name.startswith(words[0]) and words[1] in name


def empty_board(game: Game, turned: bool = False) -> dict[str, Any]:
    """Return an empty board as JSON for a page: its picture, its size, its cells, row by row.

    `shapes` has the letter, the name and the path of each kind of piece.
    """
    board, labels = geometry_of(game, turned), cell_labels(game)
    return {
        "field": field_svg(game, turned),
        "shapes": [shape._asdict() for shape in shapes_of(game)],
        "width": board.width,
        "height": board.height,
        "radius": board.radius,
        "cells": [
            {"x": x, "y": y, "label": label}
            for (x, y), label in zip(board.centres, labels, strict=True)
        ],
    }


@functools.lru_cache(maxsize=64)
def cell_labels(game: Game) -> tuple[str, ...]:
    """Return a name for each cell, row by row: as its move, or `column 1, row 1` from below."""
    _, rows, columns = game.observation_shape
    names = labels_of(game)
    return tuple(
        names.name(row, column) if names.rows else f"column {column + 1}, row {rows - row}"
        for row in range(rows)
        for column in range(columns)
    )


def _labellings(rows: int, columns: int) -> Iterator[Labels]:
    upwards = tuple(str(row + 1) for row in range(rows))
    for letters in (string.ascii_lowercase, VERTEX_LETTERS, string.ascii_uppercase):
        if columns <= len(letters):
            names = tuple(letters[:columns])
            yield Labels(names, upwards[::-1])
            yield Labels(names, upwards, above=True)
    yield Labels(tuple(str(column + 1) for column in range(columns)))


def _stars(rows: int, columns: int) -> Iterator[int]:
    def lines_of(side: int) -> set[int]:
        inset = 3 if side >= 13 else 2
        return {inset, side - 1 - inset} | ({side // 2} if side % 2 else set())

    if min(rows, columns) < 9:
        return
    for row, column in itertools.product(sorted(lines_of(rows)), sorted(lines_of(columns))):
        middles = (row == rows // 2) + (column == columns // 2)
        if middles != 1 or min(rows, columns) >= 17:  # no side stars on smaller boards
            yield row * columns + column


def _middle(one: Point, other: Point) -> Point:
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2
