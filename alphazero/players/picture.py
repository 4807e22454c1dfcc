"""A position as a picture: its stones, what is thought of its moves, and its values, side by side.

All of it comes from what every game tells about itself: stones are planes 0 and 1 of `observe`,
`action_cell` says where a move is marked, `action_name` names the moves that have no such cell.

Letters: A actions, H rows and W columns of the board. Lengths are pixels, from the top left.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from alphazero.games.game import Game, Planes, State, to_play

Colour = tuple[int, int, int]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""
Sign = tuple[str, Colour, str]
"""A shape in the legend, its colour, and what it means."""
Shares = npt.NDArray[np.floating]

STONES: tuple[Colour, Colour] = ((30, 30, 30), (255, 255, 255))
"""Player 0 is black, player 1 white."""
OPINIONS: tuple[Colour, ...] = ((230, 159, 0), (86, 180, 233), (120, 120, 120))
"""Who thinks so, by place: orange, sky blue, grey, which colour-blind people tell apart too
(Okabe & Ito, *Color Universal Design*, 2008). Black text can be read on each."""
PAPER: Colour = (255, 255, 255)
BOARD: Colour = (240, 240, 238)
GRID: Colour = (200, 200, 198)
EDGE: Colour = (70, 70, 70)
FAINT: Colour = (150, 150, 150)
INK: Colour = (30, 30, 30)

MARGIN, GAP = 16, 26
TITLE, LEGEND, HEADING, TOP = 14, 46, 80, 106
"""Where each of them begins, from the top; the boards at `TOP`."""
VALUE_WIDTH, VALUE_HEIGHT = 190, 52
LINE = 21
"""Height of a line of text below the boards."""
LARGEST_BOARD = 320
"""A board's longer side, as long as its cells are not smaller than `SMALLEST_CELL`."""
SMALLEST_CELL, LARGEST_CELL = 24, 56
ELSEWHERE = 4
"""Lines below a board, for moves that have no cell."""
VISIBLE = 0.005
"""A smaller share is a dot: it would be rounded to 0 %."""
FINENESS = 3
"""Shapes are drawn so many times larger and shrunk, which smooths their edges."""


@dataclass(frozen=True)
class Grid:
    """Where a board lies in the picture."""

    left: int
    cell: int
    """side of a cell"""
    rows: int
    columns: int

    def box(self, cell: int) -> Box:
        """Return the place of a cell, counted row by row."""
        left = self.left + cell % self.columns * self.cell
        top = TOP + cell // self.columns * self.cell
        return left, top, left + self.cell, top + self.cell

    def centre(self, cell: int) -> tuple[int, int]:
        """Return a cell's middle, from the left and from the top."""
        left, top, right, bottom = self.box(cell)
        return int(left + right) // 2, int(top + bottom) // 2

    @property
    def bottom(self) -> int:
        """Where the board ends."""
        return TOP + self.rows * self.cell


def grid_of(game: Game, place: int) -> Grid:
    """Return where the board of the policy at `place`, from 0 at the left, lies."""
    _, rows, columns = game.observation_shape
    cell = min(max(LARGEST_BOARD // max(rows, columns), SMALLEST_CELL), LARGEST_CELL)
    return Grid(MARGIN + place * (columns * cell + GAP), cell, rows, columns)


def draw_position(
    game: Game,
    state: State,
    *,
    title: str,
    policies: Mapping[str, Shares],
    values: Mapping[str, float],
    last_cell: int | None = None,
    played: int | None = None,
    notes: Sequence[str] = (),
) -> Image.Image:
    """Return a picture of a position: a board for each policy, then a bar for each value.

    `policies` [A] by their headings, one to `len(OPINIONS)`: shares that add up to 1 over the
    legal actions; those of illegal ones are not looked at. `values` by their names, each from -1
    to 1 for the player to move, in the colours of the policies. `last_cell` gets a ring, the cell
    of action `played` a frame; `notes` are lines below.
    """
    player, planes = to_play(state), game.observe(state)
    framed = None if played is None else game.action_cell(state, played)
    canvas = _Canvas()
    canvas.write(MARGIN, TITLE, title, 20)
    _draw_legend(canvas, _legend(player, last_cell, framed))
    bottom = TOP + VALUE_HEIGHT * len(values) + LINE
    for place, (heading, shares) in enumerate(policies.items()):
        grid, colour = grid_of(game, place), OPINIONS[place]
        canvas.fill((grid.left, HEADING + 3, grid.left + 12, HEADING + 15), colour, GRID)
        canvas.write(grid.left + 18, HEADING, heading, 15)
        _draw_policy(canvas, grid, game, state, shares, colour)
        _draw_stones(canvas, grid, planes, player, last_cell)
        if framed is not None:
            canvas.frame(grid.box(framed))
        elsewhere = _elsewhere(game, state, shares)
        canvas.write_lines(grid.left, grid.bottom + 8, elsewhere)
        bottom = max(bottom, grid.bottom + 10 + LINE * len(elsewhere))
    _draw_values(canvas, grid_of(game, len(policies)).left, values, player)
    canvas.write_lines(MARGIN, bottom, notes)
    return canvas.finish()


@functools.cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Return Pillow's own font, so that pictures are alike wherever they are drawn."""
    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont), "this Pillow was built without FreeType"
    return font


class _Canvas:
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


def _draw_policy(
    canvas: _Canvas, grid: Grid, game: Game, state: State, shares: Shares, colour: Colour
) -> None:
    """Draw a board without its stones: each legal move's share in percent, and as a tint."""
    on_cells: dict[int, float] = {}
    for action in np.flatnonzero(game.legal_action_mask(state)):
        cell = game.action_cell(state, int(action))
        if cell is not None:  # several actions may be marked on one cell
            on_cells[cell] = on_cells.get(cell, 0.0) + float(shares[action])
    size = min(max(round(0.42 * grid.cell), 11), 18)
    for cell in range(grid.rows * grid.columns):
        share = on_cells.get(cell, 0.0)
        # The root lets small shares be seen; the number tells the truth.
        canvas.fill(grid.box(cell), _mixed(BOARD, colour, share**0.5), GRID)
        if share >= VISIBLE:
            canvas.write(*grid.centre(cell), f"{100 * share:.0f}", size, "mm")
        elif cell in on_cells:
            canvas.disc(*grid.centre(cell), 1.5, FAINT, FAINT)


def _draw_stones(
    canvas: _Canvas, grid: Grid, planes: Planes, player: int, last_cell: int | None
) -> None:
    """Draw the stones of `planes` [C, H, W], as `player`, who is to move, sees them."""
    for plane, owner in ((0, player), (1, 1 - player)):
        for cell in np.flatnonzero(planes[plane].ravel()):
            centre = grid.centre(int(cell))
            canvas.disc(*centre, 0.4 * grid.cell, STONES[owner])
            if cell == last_cell:
                canvas.ring(*centre, 0.22 * grid.cell, STONES[1 - owner])


def _draw_values(canvas: _Canvas, left: int, values: Mapping[str, float], player: int) -> None:
    """Draw a bar from the middle for each value, -1 at the left and 1 at the right."""
    width = canvas.write(left, HEADING, "values, for ", 15)
    canvas.disc(left + width + 8, HEADING + 9, 8, STONES[player])
    right, middle = left + VALUE_WIDTH, left + VALUE_WIDTH // 2
    for place, (name, value) in enumerate(values.items()):
        top, end = TOP + VALUE_HEIGHT * place, middle + value * VALUE_WIDTH / 2
        canvas.write(left, top, name, 15)
        canvas.write(right, top, f"{value:+.2f}", 15, "ra")
        canvas.fill((left, top + 22, right, top + 38), BOARD, GRID)
        canvas.fill((min(middle, end), top + 23, max(middle, end), top + 37), OPINIONS[place])
        canvas.fill((middle - 1, top + 19, middle + 1, top + 41), INK)
    below = TOP + VALUE_HEIGHT * len(values) - 8
    for text, x, anchor in (("-1 loss", left, "la"), ("0", middle, "ma"), ("win +1", right, "ra")):
        canvas.write(x, below, text, 13, anchor)


def _legend(player: int, last_cell: int | None, framed: int | None) -> list[Sign]:
    """Return what the signs on the board mean, where `player` is to move."""
    signs: list[Sign] = [
        ("disc", STONES[index], f"{name} player{', to move' * (player == index)}")
        for index, name in enumerate(("first", "second"))
    ]
    if last_cell is not None:
        signs.append(("ring", STONES[1 - player], "last move"))
    if framed is not None:
        signs.append(("frame", INK, "played next"))
    return [*signs, ("dot", FAINT, "less than 0.5 %")]


def _draw_legend(canvas: _Canvas, signs: Sequence[Sign]) -> None:
    """Draw signs and their meanings in a line."""
    x, y = float(MARGIN), LEGEND + 9
    for sign, colour, text in signs:
        if sign == "frame":
            canvas.frame((x, y - 8, x + 16, y + 8))
        elif sign == "dot":
            canvas.disc(x + 8, y, 1.5, colour, colour)
        else:
            canvas.disc(x + 8, y, 8, colour)
        if sign == "ring":
            canvas.ring(x + 8, y, 4.5, STONES[1 - STONES.index(colour)])
        x += 22 + canvas.write(x + 22, LEGEND, text, 14) + 18


def _elsewhere(game: Game, state: State, shares: Shares) -> list[str]:
    """Name the likeliest legal actions that have no cell, with their shares."""
    legal = np.flatnonzero(game.legal_action_mask(state))
    nowhere = [int(action) for action in legal if game.action_cell(state, int(action)) is None]
    nowhere.sort(key=lambda action: -shares[action])
    return [
        f"{game.action_name(state, action)}: {100 * shares[action]:.0f}"
        for action in nowhere[:ELSEWHERE]
    ]


def _mixed(one: Colour, other: Colour, share: float) -> Colour:
    """Return a colour between two, with `share` of the other."""
    red, green, blue = (round(a + share * (b - a)) for a, b in zip(one, other, strict=True))
    return red, green, blue
