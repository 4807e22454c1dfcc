"""Stones, symmetries and drawings of games on a rectangular board.

Cells are counted row by row from the top left; a cell holds 0 when empty, 1 for player 0's
stone and 2 for player 1's.
"""

import re
import string

import numpy as np
import numpy.typing as npt

from alphazero.errors import GameError
from alphazero.games.game import Game, Planes, State, Symmetries, to_play
from alphazero.utils.jit import inline_kernel

SIGNS = ".XO"
"""Signs of a cell: empty, player 0, player 1."""

VERTEX_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Column letters in Go and its protocol, GTP: without I."""


@inline_kernel
def observe_stones(cells: State, columns: int, player: int, planes: Planes) -> None:
    """Write `player`'s stones to plane 0 and the opponent's to plane 1, over all cells."""
    for row in range(len(cells) // columns):
        for column in range(columns):
            stone = cells[row * columns + column]
            planes[0, row, column] = stone == player + 1
            planes[1, row, column] = stone == 2 - player


def board_symmetries(rows: int, columns: int) -> npt.NDArray[np.int64]:
    """Return the cell that each cell moves to, `int64 [K, rows * columns]`, identity first.

    K is 8 for a square board, else 4.
    """
    cells = np.arange(rows * columns).reshape(rows, columns)
    images = [cells, cells[::-1], cells[:, ::-1], cells[::-1, ::-1]]
    if rows == columns:
        images += [image.T for image in images]
    return np.array([np.argsort(image.ravel()) for image in images], np.int64)


def cell_symmetries(rows: int, columns: int) -> Symmetries:
    """Return the symmetries of a game with one action per cell."""
    cells = board_symmetries(rows, columns)
    return Symmetries(actions=cells, cells=cells)


def draw(cells: State, rows: int, columns: int) -> list[str]:
    """Draw a board, one line per row: `X` player 0, `O` player 1, `.` empty."""
    grid = cells.reshape(rows, columns)
    return [" ".join(SIGNS[stone] for stone in row) for row in grid]


def read_drawing(diagram: str, rows: int, columns: int) -> State:
    """Read the stones of a drawing, `int64 [rows * columns]`.

    A board line holds `columns` signs after an optional row label. Other lines are ignored.

    Raises:
        GameError: unless there are `rows` board lines in at most 100,000 characters.
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
    """Return the number of moves played, if player 0 began and turns alternated.

    Raises:
        GameError: if that is impossible for these stones.
    """
    first, second = int((cells == 1).sum()), int((cells == 2).sum())
    if first - second not in (0, 1):
        raise GameError(
            f"X has {first} stones and O has {second}: X moves first, so X has as many or one more"
        )
    return first + second


def stones_by_player(game: Game, state: State) -> npt.NDArray[np.bool_]:
    """Return the stones of player 0 and player 1, `bool [2, H * W]`, from planes 0 and 1."""
    planes = game.observe(state)[:2].reshape(2, -1) > 0
    return planes if to_play(state) == 0 else planes[::-1]


def letters(columns: int) -> str:
    """Return the line of column letters for a board with row numbers."""
    return "   " + " ".join(string.ascii_lowercase[:columns])


def turn_line(ply: int) -> str:
    """Return the line that says whose turn it is, for boards whose stones do not show it."""
    return f"{SIGNS[1 + ply % 2]} to move after {ply} moves"


def read_turn(diagram: str) -> int:
    """Read the number of moves from the `turn_line` of a drawing.

    Raises:
        GameError: unless there is one such line and its turn fits its number.
    """
    found = re.findall(r"^([XO]) to move after ([0-9]{1,4}) moves$", diagram, re.MULTILINE)
    if len(found) != 1:
        raise GameError(
            f"a diagram needs one line '{turn_line(0)}', with its own number; found {len(found)}"
        )
    sign, moves = found[0][0], int(found[0][1])
    if SIGNS[1 + moves % 2] != sign:
        raise GameError(f"after {moves} moves it is not {sign}'s turn: X moves first")
    return moves


def cell_name(row: int, column: int) -> str:
    """Return a cell's name: the letter of its column, the number of its row from the top: a1."""
    return f"{string.ascii_lowercase[column]}{row + 1}"


def read_cell(text: str, size: int) -> tuple[int, int] | None:
    """Read a name of `cell_name` in either case; None if the board has no such cell."""
    found = re.fullmatch(r"([a-z])([1-9][0-9]?)", text.lower(), re.ASCII)
    if not text.isascii() or found is None:
        return None
    row, column = int(found[2]) - 1, string.ascii_lowercase.index(found[1])
    return (row, column) if max(row, column) < size else None
