"""Stones, symmetries, drawings and cell names of games on a rectangular board.

Cells are counted row by row from the top left. A cell holds 0 when empty, 1 for player 0's stone
and 2 for player 1's.
"""

import re
import string
from typing import NamedTuple

import numpy as np

from alphazero.errors import GameError
from alphazero.games.game import Game, Planes, State
from alphazero.utils.arrays import Int64Array
from alphazero.utils.jit import inline_kernel

SIGNS = ".XO"
"""Signs of an empty cell and of the stones of players 0 and 1; a piece -1 has the last."""

VERTEX_LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Column letters in Go, and in GTP where rows count from the bottom: without I."""


class CellNames(NamedTuple):
    """Names of the cells of a board: the letter of the column and the number of the row, b3."""

    rows: int
    columns: int
    letters: str = string.ascii_lowercase
    from_top: bool = True
    """whether row 1 is the top row"""
    padded: bool = False
    """whether a row number may begin with a zero, as in a01"""

    def number(self, row: int) -> int:
        """Return the number of a row that is counted from the top, from 0."""
        return row + 1 if self.from_top else self.rows - row

    def name(self, cell: int) -> str:
        row, column = divmod(cell, self.columns)
        return f"{self.letters[column]}{self.number(row)}"

    def read(self, text: str) -> int | None:
        """Return the cell of a name in upper or lower case; None if the board has no such cell."""
        match = re.fullmatch(r"([A-Za-z])([0-9]{1,2})", text.strip())
        if match is None or (match[2][0] == "0" and not self.padded):
            return None
        column = self.letters.lower().find(match[1].lower())
        if not (0 <= column < self.columns and 1 <= int(match[2]) <= self.rows):
            return None
        row = int(match[2]) - 1 if self.from_top else self.rows - int(match[2])
        return row * self.columns + column

    def parse(self, text: str, kind: str = "cell", others: str = "") -> int:
        """Return the cell of a name; raise GameError with the names and `others` accepted."""
        cell = self.read(text)
        if cell is None:
            first, last = f"{self.letters[0]}1", f"{self.letters[self.columns - 1]}{self.rows}"
            raise GameError(
                f"{text[:20]!r} is no {kind}; type a letter and a number, {first} to {last}{others}"
            )
        return cell

    def draw(self, cells: State, slant: int = 0) -> list[str]:
        """Draw a board with row numbers, and with column letters beside row 1.

        Each row is `slant` characters further to the right than the one above.
        """
        rows = [
            f"{' ' * slant * row}{self.number(row):2} {line}"
            for row, line in enumerate(draw(cells, self.rows, self.columns))
        ]
        letters = "   " + " ".join(self.letters[: self.columns])
        return [letters, *rows] if self.from_top else [*rows, letters]


@inline_kernel
def observe_stones(cells: State, columns: int, player: int, planes: Planes) -> None:
    """Write `player`'s stones to plane 0 and the opponent's to plane 1, over all cells."""
    for row in range(len(cells) // columns):
        for column in range(columns):
            stone = cells[row * columns + column]
            planes[0, row, column] = stone == player + 1
            planes[1, row, column] = stone == 2 - player


def board_symmetries(rows: int, columns: int) -> Int64Array:
    """Return the cell that each cell moves to, `int64 [K, rows * columns]`, identity first.

    K is 8 for a square board, else 4.
    """
    cells = np.arange(rows * columns).reshape(rows, columns)
    images = [cells, cells[::-1], cells[:, ::-1], cells[::-1, ::-1]]
    if rows == columns:
        images += [image.T for image in images]
    return np.array([np.argsort(image.ravel()) for image in images], np.int64)


def draw(cells: State, rows: int, columns: int) -> list[str]:
    """Draw a board, one line per row: `X` player 0, `O` player 1, `.` empty."""
    grid = cells.reshape(rows, columns)
    return [" ".join(SIGNS[stone] for stone in row) for row in grid]


def read_drawing(diagram: str, rows: int, columns: int) -> State:
    """Read the stones of a drawing, `int64 [rows * columns]`.

    A board line holds `columns` signs after an optional row label. Other lines are ignored. Raises
    GameError unless there are `rows` board lines in at most 100,000 characters.
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
            f"a diagram needs {rows} lines of {columns} signs X, O or . separated by spaces; "
            f"found {len(board)} such lines"
        )
    return np.array(board, np.int64).ravel()


def stones_to_ply(cells: State) -> int:
    """Return the number of moves played, if player 0 began and turns alternated.

    Raises GameError if that is impossible for these stones.
    """
    first, second = int((cells == 1).sum()), int((cells == 2).sum())
    if first - second not in (0, 1):
        raise GameError(
            f"X has {first} stones and O has {second}; X moves first and must have the same "
            "number or one more"
        )
    return first + second


def sign_of(game: Game, player: int) -> str:
    """Return the sign of a player's stones; the player's name if pieces of many kinds have none."""
    return game.side_names[player] if game.piece_kinds else SIGNS[player + 1]


def side_of(game: Game, player: int) -> str:
    """Return a player's name with the sign of its stones: `Black (X)`, or `X` alone."""
    name, sign = game.side_names[player], sign_of(game, player)
    return name if name == sign else f"{name} ({sign})"


def turn_line(ply: int) -> str:
    """Return the line that names the player to move, for boards whose stones do not show it."""
    return f"{SIGNS[1 + ply % 2]} to move after {ply} moves"


def read_turn(diagram: str) -> int:
    """Read the number of moves from the `turn_line` of a drawing.

    Raises GameError unless there is one such line and its player fits its number.
    """
    lines = re.findall(r"^([XO]) to move after ([0-9]{1,4}) moves$", diagram, re.MULTILINE)
    if len(lines) != 1:
        raise GameError(f"a diagram needs one line such as '{turn_line(0)}'; found {len(lines)}")
    sign, moves = lines[0][0], int(lines[0][1])
    if SIGNS[1 + moves % 2] != sign:
        raise GameError(f"after {moves} moves it is not {sign}'s turn: X moves first")
    return moves
