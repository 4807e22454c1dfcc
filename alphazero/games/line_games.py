"""Games won by a straight line of stones: Connect Four and m,n,k-games.

State after the header: rows, columns, length, then the cells, row by row from the top left.
"""

from dataclasses import dataclass

import numpy as np

from alphazero.errors import GameError
from alphazero.games import grid
from alphazero.games.compiled_rules import Signature
from alphazero.games.game import HEADER, LAST, ONGOING, OUTCOME, PLY, Game, State, squash
from alphazero.utils.jit import inline_kernel, kernel, shared_kernel

ROWS, COLUMNS, LENGTH, CELLS = HEADER, HEADER + 1, HEADER + 2, HEADER + 3


@shared_kernel
def completes_line(
    cells: State, rows: int, columns: int, cell: int, length: int, stone: int
) -> bool:
    """Whether `stone` on `cell` is in a line of `length` or more stones of its colour."""
    row, column = cell // columns, cell % columns
    for step in range(4):
        down, right = (0, 1, 1, 1)[step], (1, 0, 1, -1)[step]
        run = 1
        for sign in (-1, 1):
            r, c = row + sign * down, column + sign * right
            while 0 <= r < rows and 0 <= c < columns and cells[r * columns + c] == stone:
                run += 1
                r += sign * down
                c += sign * right
        if run >= length:
            return True
    return False


@inline_kernel
def place_stone(state: State, cell: int, action: int) -> None:
    """Put a stone of the player to move on `cell`; `action` is the last move."""
    rows, columns, cells = state[ROWS], state[COLUMNS], state[CELLS:]
    ply, length = state[PLY], state[LENGTH]
    player = ply % 2
    cells[cell] = player + 1
    state[PLY] = ply + 1
    state[LAST] = action
    # Before a line's last stone each player has placed `length` - 1 stones.
    if ply >= 2 * (length - 1) and completes_line(cells, rows, columns, cell, length, player + 1):
        state[OUTCOME] = 1 - 2 * player
    elif ply + 1 == rows * columns:
        state[OUTCOME] = 0


@inline_kernel
def wins_on(state: State, cell: int) -> bool:
    """Whether a stone of the player to move on the empty `cell` wins."""
    rows, columns, length, ply = state[ROWS], state[COLUMNS], state[LENGTH], state[PLY]
    return completes_line(state[CELLS:], rows, columns, cell, length, ply % 2 + 1)


@kernel(Signature.heuristic)
def open_lines(state: State) -> int:
    """Compare the lines that each side can still fill.

    A line with n stones of one side counts 4^min(n - 1, 10). The numbers are our own choice.
    """
    rows, columns, length = state[ROWS], state[COLUMNS], state[LENGTH]
    cells, player, difference = state[CELLS:], state[PLY] % 2, 0
    for step in range(4):
        down, right = (0, 1, 1, 1)[step], (1, 0, 1, -1)[step]
        reach = (length - 1) * right
        for row in range(rows - (length - 1) * down):
            for column in range(max(0, -reach), columns - max(0, reach)):
                own, other, cell = 0, 0, row * columns + column
                for _ in range(length):
                    own += cells[cell] == player + 1
                    other += cells[cell] == 2 - player
                    cell += down * columns + right
                if own > 0 and other == 0:
                    difference += 4 ** min(own - 1, 10)
                elif other > 0 and own == 0:
                    difference -= 4 ** min(other - 1, 10)
    return squash(difference, 100)


@dataclass(frozen=True)
class LineGame(Game):
    """A game on `rows` x `columns`, won by `length` or more in a line; a full board is a draw."""

    rows: int
    columns: int
    length: int

    last_move_in_state_key = False

    largest_side = 26

    def __post_init__(self) -> None:
        for side in ("rows", "columns"):
            if not 1 <= getattr(self, side) <= self.largest_side:
                raise GameError(
                    f"{side} must be 1 to {self.largest_side}, got {getattr(self, side)}"
                )
        longest = max(self.rows, self.columns)
        if not 2 <= self.length <= longest:
            raise GameError(
                f"length must be 2 to {longest}, the longer side of the board, got {self.length}"
            )

    def initial_state(self) -> State:
        state = np.zeros(CELLS + self.rows * self.columns, np.int64)
        state[OUTCOME], state[LAST] = ONGOING, -1
        state[ROWS], state[COLUMNS], state[LENGTH] = self.rows, self.columns, self.length
        return state

    @property
    def max_moves(self) -> int:
        return self.rows * self.columns

    def winning_cells(self, state: State) -> tuple[int, ...]:
        """Return the cells of all lines of `length` or more; only the winner has any."""
        return tuple(self._cells_in_lines(state[CELLS:]))

    def _cells_in_lines(self, cells: State) -> list[int]:
        """Return the cells of all lines of `length` or more, in order."""
        # Its Python source, because a page would wait for numba to compile a call from Python.
        is_in_line = completes_line.py_func  # type: ignore[attr-defined]
        return [
            cell
            for cell in np.flatnonzero(cells).tolist()
            if is_in_line(cells, self.rows, self.columns, cell, self.length, int(cells[cell]))
        ]

    def parse(self, diagram: str) -> State:
        state = self.initial_state()
        cells = state[CELLS:]
        cells[:] = grid.read_drawing(diagram, self.rows, self.columns)
        state[PLY] = grid.stones_to_ply(cells)
        winners = {int(cells[cell]) for cell in self._cells_in_lines(cells)}
        if winners:
            last_stone = 2 - int(state[PLY]) % 2
            if winners != {last_stone}:
                raise GameError("the diagram shows a line of a player who did not move last")
            state[OUTCOME] = 1 if last_stone == 1 else -1
        elif state[PLY] == self.max_moves:
            state[OUTCOME] = 0
        return state
