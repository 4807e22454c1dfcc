"""Breakthrough (Dan Troyka, 2000): pieces move forward, and take diagonally.

A piece moves one row forward, straight ahead or diagonally, to an empty cell, or takes an
opponent's piece diagonally. Who reaches the other side, or takes all pieces, wins.

State after the header: rows, columns, then the cells row by row as the player to move sees them,
so that own pieces move up: 1 own, -1 the opponent's, 0 empty. Action d * rows * columns + c moves
the piece on cell c one row up and d - 1 columns to the right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphazero.errors import GameError
from alphazero.games.compiled_rules import UNKNOWN, RuleFunctions, Signature
from alphazero.games.game import (
    HEADER,
    LAST,
    ONGOING,
    OUTCOME,
    PLY,
    Mask,
    Pieces,
    Planes,
    State,
    Symmetries,
    squash,
)
from alphazero.games.pieces import PieceGame
from alphazero.games.registry import register
from alphazero.utils.arrays import Int64Array
from alphazero.utils.jit import kernel, shared_kernel

ROWS, COLUMNS, CELLS = HEADER, HEADER + 1, HEADER + 2


@shared_kernel
def board_of(state: State) -> State:
    """Return the cells of a state, `int64 [rows, columns]`."""
    return state[CELLS:].reshape(state[ROWS], state[COLUMNS])


@kernel(Signature.legal)
def legal(state: State, mask: Mask) -> int:
    """Mark the moves of own pieces to cells that are empty or, diagonally, the opponent's."""
    board, count = board_of(state), 0
    rows, columns = board.shape
    mask[:] = False
    if state[OUTCOME] != ONGOING:
        return 0
    for row in range(1, rows):
        for column in range(columns):
            for direction in range(3):
                beside = column + direction - 1
                if board[row, column] == 1 and 0 <= beside < columns:
                    target = board[row - 1, beside]
                    if target == 0 or (target == -1 and direction != 1):
                        mask[(direction * rows + row) * columns + column] = True
                        count += 1
    return count


@kernel(Signature.play)
def play(state: State, action: int) -> None:
    """Move a piece; the first on the other side wins, as does taking the last piece."""
    board = board_of(state)
    direction, cell = divmod(action, board.size)
    row, column = divmod(cell, state[COLUMNS])
    board[row, column] = 0
    board[row - 1, column + direction - 1] = 1
    if row == 1 or not np.any(state[CELLS:] == -1):
        state[OUTCOME] = 1 - 2 * (state[PLY] % 2)
    for row in range((state[ROWS] + 1) // 2):
        for column in range(state[COLUMNS]):
            above, below = board[row, column], board[-1 - row, column]
            board[row, column], board[-1 - row, column] = -below, -above
    state[PLY] += 1
    state[LAST] = action


@kernel(Signature.observe)
def observe(state: State, planes: Planes) -> None:
    """Write own pieces and the opponent's."""
    board = board_of(state)
    for row in range(state[ROWS]):
        for column in range(state[COLUMNS]):
            planes[0, row, column] = board[row, column] == 1
            planes[1, row, column] = board[row, column] == -1


@kernel(Signature.wins_at_once)
def wins_at_once(state: State) -> int:
    """Return 1 if a piece stands before the last row; unknown if the opponent has one piece."""
    for column in range(state[COLUMNS]):
        if board_of(state)[1, column] == 1:
            return 1
    return UNKNOWN if np.sum(state[CELLS:] == -1) == 1 else 0


@kernel(Signature.heuristic)
def pieces_and_rows(state: State) -> int:
    """Compare the pieces, weighted by 4, and the rows that they have come forward."""
    board, total = board_of(state), 0
    for row in range(state[ROWS]):
        for column in range(state[COLUMNS]):
            piece = board[row, column]
            total += piece * (4 + (state[ROWS] - 1 - row if piece > 0 else row))
    return squash(total, 20)


@register("breakthrough")
@dataclass(frozen=True)
class Breakthrough(PieceGame):
    """Breakthrough on `rows` x `columns`, with two rows of pieces for each side."""

    rows: int = 8
    columns: int = 8

    rule_functions = RuleFunctions(legal, play, observe, pieces_and_rows, wins_at_once)
    policy_planes = 3
    piece_kinds = "P"

    def __post_init__(self) -> None:
        if not (4 <= self.rows <= 26 and 2 <= self.columns <= 26):
            size = f"{self.rows} x {self.columns}"
            raise GameError(f"the board must have 4 to 26 rows and 2 to 26 columns, got {size}")

    @property
    def uci_variant(self) -> str:
        """Other programs know 8 x 8 alone by its usual name."""
        name, size = "breakthrough", (self.rows, self.columns)
        return name if size == (8, 8) else f"{name}{self.rows}x{self.columns}"

    def initial_state(self) -> State:
        pieces = np.zeros((self.rows, self.columns), np.int8)
        pieces[:2], pieces[-2:] = -1, 1
        return self.set_up(pieces, 0, ())

    @property
    def num_actions(self) -> int:
        return 3 * self.rows * self.columns

    @property
    def most_legal(self) -> int:
        """Three moves for each of two rows of pieces."""
        return 6 * self.columns

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """Own pieces, opponent's pieces, as the player to move sees the board."""
        return 2, self.rows, self.columns

    @property
    def max_moves(self) -> int:
        """Each move brings a piece a row forward, and none but the last move the last row."""
        return 2 * self.columns * (2 * self.rows - 5) + 1

    def symmetries(self) -> Symmetries:
        """Return the identity and the reflection that exchanges left and right."""
        actions = np.arange(self.num_actions).reshape(3, self.rows, self.columns)
        images = [actions.ravel(), actions[::-1, :, ::-1].ravel()]
        cells = [actions[0].ravel(), actions[0, :, ::-1].ravel()]
        return Symmetries(np.array(images), np.array(cells))

    def key_images(self) -> Int64Array:
        """Return the cells and their reflection: a position can come after different plies."""
        images: Int64Array = CELLS + self.symmetries().cells
        return images

    def set_up(self, pieces: Pieces, ply: int, fields: Sequence[str]) -> State:  # noqa: ARG002
        board = pieces if ply % 2 == 0 else -pieces[::-1]
        own, other, row = board == 1, board == -1, np.arange(self.rows)[:, None]
        left = (own * (row - 1) + other * (self.rows - 2 - row)).sum()
        too_many = max(own.sum(), other.sum()) > 2 * self.columns
        if own[0].any() or not other.any() or too_many or ply + left + 1 > self.max_moves:
            raise GameError(f"no game leads to this position after {ply} moves")
        outcome = 2 * (ply % 2) - 1 if other[-1].any() or not own.any() else ONGOING
        return np.array([ply, outcome, -1, self.rows, self.columns, *board.ravel()], np.int64)

    def ends(self, action: int) -> tuple[int, int]:
        direction, cell = divmod(action, self.rows * self.columns)
        return cell, cell - self.columns + direction - 1
