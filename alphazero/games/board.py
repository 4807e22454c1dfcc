"""What games on a rectangular board share: stones, symmetries and drawings.

Cells are counted row by row from the top left; a cell holds 0 when empty, 1 for player 0's
stone and 2 for player 1's.
"""

import numpy as np
import numpy.typing as npt

from alphazero.errors import GameError
from alphazero.games.game import Planes, State, Symmetries
from alphazero.jit import helper

SIGNS = ".XO"
"""How a cell is drawn: empty, player 0, player 1."""


@helper
def observe_stones(cells: State, columns: int, player: int, planes: Planes) -> None:
    """Mark `player`'s stones on plane 0 and the opponent's on plane 1; clear the rest of both."""
    for cell in range(len(cells)):
        row, column = cell // columns, cell % columns
        planes[0, row, column] = cells[cell] == player + 1
        planes[1, row, column] = cells[cell] == 2 - player


def board_symmetries(rows: int, columns: int) -> npt.NDArray[np.int64]:
    """Return the cell permutations of a board: 8 when it is square, else 4; identity first.

    Returns `int64 [K, rows * columns]`: the place that each cell moves to.
    """
    cells = np.arange(rows * columns).reshape(rows, columns)
    images = [cells, cells[::-1], cells[:, ::-1], cells[::-1, ::-1]]
    if rows == columns:
        images += [image.T for image in images]
    return np.array([np.argsort(image.ravel()) for image in images], np.int64)


def cell_symmetries(rows: int, columns: int) -> Symmetries:
    """Return the symmetries of a game whose actions are the cells of its board."""
    cells = board_symmetries(rows, columns)
    return Symmetries(actions=cells, cells=cells)


def draw(cells: State, rows: int, columns: int) -> list[str]:
    """Draw a board, one line a row: `X` player 0, `O` player 1, `.` empty."""
    grid = cells.reshape(rows, columns)
    return [" ".join(SIGNS[stone] for stone in row) for row in grid]


def read_drawing(diagram: str, rows: int, columns: int) -> State:
    """Read the stones of a drawing, `int64 [rows * columns]`; other lines are not looked at.

    A board line holds `columns` signs, after an optional row label.

    Raises:
        GameError: when there are not `rows` lines of `columns` signs.
    """
    if len(diagram) > 100_000:
        raise GameError("the diagram is longer than 100,000 characters")
    board = []
    for line in diagram.splitlines():
        signs = line.split()
        if signs and signs[0].isdigit():
            signs = signs[1:]
        if len(signs) == columns and all(len(sign) == 1 and sign in SIGNS for sign in signs):
            board.append([SIGNS.index(sign) for sign in signs])
    if len(board) != rows:
        raise GameError(
            f"a diagram needs {rows} lines of {columns} signs, each one of X O . and apart by "
            f"a space; found {len(board)} such lines"
        )
    return np.array(board, np.int64).ravel()


def stones_to_ply(cells: State) -> int:
    """Return the number of moves played on a board where player 0 began and turns alternated.

    Raises:
        GameError: when the stones cannot have come about that way.
    """
    first, second = int((cells == 1).sum()), int((cells == 2).sum())
    if first - second not in (0, 1):
        raise GameError(
            f"X has {first} stones and O has {second}: X moves first, so X has as many or one more"
        )
    return first + second
