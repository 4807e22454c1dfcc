"""A position as a picture: a board for each policy and a bar for each value, side by side.

`action_cell` says where a move is marked, as an arrow from its `action_source` if it has one;
`action_name` names the moves of arrows and those without a cell.

Letters: A actions. Lengths are pixels, from the top left.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from alphazero.drawing.board import LAST_MOVE, BoardDrawing
from alphazero.drawing.canvas import COLOURS, INK, LINE, MARGIN, Canvas, Paint
from alphazero.drawing.palette import EDGE, LETTERS, Palette, palette_of
from alphazero.games.game import ONGOING, BoardStyle, Game, State, to_play

Sign = tuple[str, Paint, str]
"""A shape in the legend, its colour, and its meaning."""
Shares = npt.NDArray[np.floating]

POLICY_COLOURS = tuple(map(Paint, COLOURS))
"""Colours of the policies and values, in order."""
TEXT = Paint(INK.colour, "ink")
BAR = Paint((238, 236, 231), "bar")
DOT = Paint((120, 110, 95))

GAP = 26
TITLE, LEGEND, HEADING, TOP = 14, 46, 80, 106
"""Distances from the top; the boards begin at `TOP`."""
VALUE_WIDTH, VALUE_HEIGHT = 190, 52
LARGEST_BOARD = 340
"""A board's longer side, within the limits of a cell's size."""
SMALLEST_CELL, LARGEST_CELL = 24, 56
MAX_NAMED_MOVES = 4
"""Lines below a board, for moves without a cell or from one cell to another."""
VISIBLE = 0.005
"""Smaller shares are dots: they would round to 0 %."""


def board_at(game: Game, index: int) -> BoardDrawing:
    """Return the board of policy number `index`, from 0 at the left."""
    unit = BoardDrawing(game, cell=1)
    cell = int(LARGEST_BOARD / max(unit.width, unit.height))
    cell = min(max(cell, SMALLEST_CELL), LARGEST_CELL)
    return BoardDrawing(game, MARGIN + index * (unit.width * cell + GAP), TOP, cell)


def draw_position(
    game: Game,
    state: State,
    *,
    title: str,
    policies: Mapping[str, Shares],
    values: Mapping[str, float],
    last_cells: Sequence[int] = (),
    played: int | None = None,
    played_as: str = "played next",
    notes: Sequence[str] = (),
) -> Canvas:
    """Draw a position: a board for each policy, then a bar for each value.

    `policies` [A] by heading, 1 to `len(POLICY_COLOURS)`: shares that add up to 1 over the legal
    actions; others are ignored. `values` by name, in [-1, 1] for the player to move, in the colours
    of the policies. A single one of `last_cells` gets a ring, two a tint; the cells of action
    `played` a frame, which the legend calls `played_as`. `notes` are lines below.
    """
    player = to_play(state)
    highlighted_cells = () if played is None else game.move_cells(state, played)
    canvas = Canvas()
    canvas.write(MARGIN, TITLE, title, 20, colour=TEXT)
    signs, mark = _legend(game, state), palette_of(game).mark
    if last_cells:
        is_ring = len(last_cells) == 1
        signs.append(("ring", mark, "last move") if is_ring else ("square", LAST_MOVE, "last move"))
    if highlighted_cells:
        squares = game.board_style in (BoardStyle.SQUARES, BoardStyle.CHEQUERED)
        signs.append(("frame" if squares else "circle", mark, played_as))
    if not game.piece_kinds:  # their moves are arrows
        signs.append(("dot", DOT, "less than 0.5 %"))
    _draw_legend(canvas, signs)
    bottom = float(TOP + VALUE_HEIGHT * len(values) + LINE)
    for index, (heading, shares) in enumerate(policies.items()):
        board, colour = board_at(game, index), POLICY_COLOURS[index]
        canvas.fill((board.left, HEADING + 3, board.left + 12, HEADING + 15), colour, EDGE)
        canvas.write(board.left + 18, HEADING, heading, 15, colour=TEXT)
        board.draw_field(canvas)
        _draw_policy(canvas, board, state, shares, colour)
        board.draw_stones(canvas, state, last_cells)
        _draw_arrows(canvas, board, state, shares, colour)
        for cell in highlighted_cells:
            board.frame(canvas, cell)
        names, below = _named_moves(game, state, shares), board.top + board.height + 8
        canvas.write_lines(board.left, below, names, TEXT)
        bottom = max(bottom, below + 2 + LINE * len(names))
    left = board_at(game, len(policies)).left
    _draw_values(canvas, left, values, palette_of(game), player)
    canvas.write_lines(MARGIN, bottom, notes, TEXT)
    return canvas


def _draw_policy(
    canvas: Canvas, board: BoardDrawing, state: State, shares: Shares, colour: Paint
) -> None:
    """Draw each share of a legal move that puts a stone, in percent and as a tint."""
    game, cell_shares = board.game, dict[int, float]()
    for action in np.flatnonzero(game.legal_action_mask(state)).tolist():
        cells = game.move_cells(state, action)
        if len(cells) == 1:  # several actions may share a cell
            cell_shares[cells[0]] = cell_shares.get(cells[0], 0.0) + float(shares[action])
    size = min(max(round(0.38 * board.cell), 11), 18)
    for cell, share in cell_shares.items():
        if share >= VISIBLE:
            # The square root makes small shares visible; the number is exact.
            board.tint(canvas, cell, colour.with_opacity(min(share, 1.0) ** 0.5))
            canvas.write(*board.centres[cell], f"{100 * share:.0f}", size, "mm")
        else:
            canvas.disc(*board.centres[cell], max(1.5, 0.05 * board.cell), DOT, None)


def _draw_arrows(
    canvas: Canvas, board: BoardDrawing, state: State, shares: Shares, colour: Paint
) -> None:
    """Draw each legal move of a piece as an arrow, the stronger its share, the more opaque."""
    legal = np.flatnonzero(board.game.legal_action_mask(state))
    for action in legal[np.argsort(shares[legal])].tolist():
        cells = board.game.move_cells(state, action)
        if len(cells) == 2 and shares[action] >= VISIBLE:
            source, target = (board.centres[cell] for cell in cells)
            paint = colour.with_opacity(min(float(shares[action]), 1.0) ** 0.5)
            canvas.arrow(source, target, paint, 0.12 * board.cell)


def _draw_values(
    canvas: Canvas, left: float, values: Mapping[str, float], palette: Palette, player: int
) -> None:
    """Draw each value for `player` as a bar from the middle; -1 is at the left."""
    width = canvas.write(left, HEADING, "values, for ", 15, colour=TEXT)
    if palette.looks == LETTERS:
        canvas.write(left + width + 10, HEADING, palette.looks[player].upper(), 15, colour=TEXT)
    else:
        canvas.disc(left + width + 12, HEADING + 9, 8, palette.stones[player], EDGE)
    right, middle = left + VALUE_WIDTH, left + VALUE_WIDTH // 2
    for index, (name, value) in enumerate(values.items()):
        top, end = TOP + VALUE_HEIGHT * index, middle + value * VALUE_WIDTH / 2
        canvas.write(left, top, name, 15, colour=TEXT)
        canvas.write(right, top, f"{value:+z.2f}", 15, "ra", TEXT)
        canvas.fill((left, top + 22, right, top + 38), BAR)
        canvas.fill((min(middle, end), top + 23, max(middle, end), top + 37), POLICY_COLOURS[index])
        canvas.fill((middle - 1, top + 19, middle + 1, top + 41), TEXT)
    below = TOP + VALUE_HEIGHT * len(values) - 8
    for text, x, anchor in (("-1 loss", left, "la"), ("0", middle, "ma"), ("win +1", right, "ra")):
        canvas.write(x, below, text, 13, anchor, TEXT)


def _legend(game: Game, state: State) -> list[Sign]:
    palette, names = palette_of(game), ["first player", "second player"]
    if game.outcome(state) == ONGOING:
        names[to_play(state)] += ", to move"
    signs = palette.looks if palette.looks == LETTERS else ("disc", "disc")
    return list(zip(signs, palette.stones, names, strict=True))


def _draw_legend(canvas: Canvas, signs: Sequence[Sign]) -> None:
    x, y = float(MARGIN), LEGEND + 9
    for sign, colour, text in signs:
        if sign == "frame":
            canvas.frame((x, y - 8, x + 16, y + 8), colour)
        elif sign in ("ring", "circle"):
            canvas.ring(x + 8, y, 5 if sign == "ring" else 9, colour)
        elif sign in LETTERS:
            canvas.write(x + 8, y, sign.upper(), 17, "mm", TEXT)
        elif sign == "square":
            canvas.fill((x, y - 8, x + 16, y + 8), colour)
        elif sign == "disc":
            canvas.disc(x + 8, y, 8, colour, EDGE)
        else:
            canvas.disc(x + 8, y, 2, colour, None)
        x += 22 + canvas.write(x + 22, LEGEND, text, 14, colour=TEXT) + 18


def _named_moves(game: Game, state: State, shares: Shares) -> list[str]:
    """Return the likeliest legal actions whose shares no cell shows, with their shares."""
    legal = np.flatnonzero(game.legal_action_mask(state)).tolist()
    actions = [action for action in legal if len(game.move_cells(state, action)) != 1]
    actions.sort(key=lambda action: -shares[action])
    return [
        f"{game.action_name(state, action)}: {100 * shares[action]:.0f}"
        for action in actions[:MAX_NAMED_MOVES]
    ]
