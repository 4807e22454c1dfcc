"""A position as a picture: its stones, what is thought of its moves, and its values, side by side.

All of it comes from what every game tells about itself: stones are planes 0 and 1 of `observe`,
`action_cell` says where a move is marked, `action_name` names the moves that have no such cell.

Letters: A actions, H rows and W columns of the board. Lengths are pixels, from the top left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

from alphazero.games.game import Game, Planes, State, to_play
from alphazero.players.canvas import (
    COLOURS,
    FAINT,
    GRID,
    INK,
    LINE,
    MARGIN,
    Box,
    Canvas,
    Colour,
)

Sign = tuple[str, Colour, str]
"""A shape in the legend, its colour, and what it means."""
Shares = npt.NDArray[np.floating]

STONES: tuple[Colour, Colour] = ((30, 30, 30), (255, 255, 255))
"""Player 0 is black, player 1 white."""
OPINIONS = COLOURS
"""Who thinks so, by place."""
BOARD: Colour = (240, 240, 238)

GAP = 26
TITLE, LEGEND, HEADING, TOP = 14, 46, 80, 106
"""Where each of them begins, from the top; the boards at `TOP`."""
VALUE_WIDTH, VALUE_HEIGHT = 190, 52
LARGEST_BOARD = 320
"""A board's longer side, as long as its cells are not smaller than `SMALLEST_CELL`."""
SMALLEST_CELL, LARGEST_CELL = 24, 56
ELSEWHERE = 4
"""Lines below a board, for moves that have no cell."""
VISIBLE = 0.005
"""A smaller share is a dot: it would be rounded to 0 %."""


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
    canvas = Canvas()
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


def _draw_policy(
    canvas: Canvas, grid: Grid, game: Game, state: State, shares: Shares, colour: Colour
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
    canvas: Canvas, grid: Grid, planes: Planes, player: int, last_cell: int | None
) -> None:
    """Draw the stones of `planes` [C, H, W], as `player`, who is to move, sees them."""
    for plane, owner in ((0, player), (1, 1 - player)):
        for cell in np.flatnonzero(planes[plane].ravel()):
            centre = grid.centre(int(cell))
            canvas.disc(*centre, 0.4 * grid.cell, STONES[owner])
            if cell == last_cell:
                canvas.ring(*centre, 0.22 * grid.cell, STONES[1 - owner])


def _draw_values(canvas: Canvas, left: int, values: Mapping[str, float], player: int) -> None:
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


def _draw_legend(canvas: Canvas, signs: Sequence[Sign]) -> None:
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
