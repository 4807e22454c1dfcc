"""Breakthrough (Dan Troyka, 2000): pieces move forward, and take diagonally.

A piece moves one row forward, straight ahead or diagonally, to an empty cell, or takes an
opponent's piece diagonally. Who reaches the other side, or takes all pieces, wins.

State after the header: rows, columns, then the cells row by row from the top: 0 empty, 1 White,
2 Black. Players see the board turned, so that they move up. Action d * rows * columns + c moves the
piece on the seen cell c one row up and d - 1 columns to the right.
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
    to_play,
)
from alphazero.games.pieces import PieceGame
from alphazero.games.registry import register
from alphazero.utils.jit import kernel, shared_kernel

ROWS, COLUMNS, CELLS = HEADER, HEADER + 1, HEADER + 2


@shared_kernel
def seen(state: State, row: int, column: int) -> int:
    """Return the index in the state of the cell that the player to move sees there."""
    from_top = row if state[PLY] % 2 == 0 else state[ROWS] - 1 - row
    return CELLS + from_top * state[COLUMNS] + column  # type: ignore[no-any-return]


@kernel(Signature.legal)
def legal(state: State, mask: Mask) -> int:
    """Mark the moves of own pieces to cells that are empty or, diagonally, the opponent's."""
    rows, columns, own, count = state[ROWS], state[COLUMNS], 1 + state[PLY] % 2, 0
    mask[:] = False
    if state[OUTCOME] != ONGOING:
        return 0
    for row in range(1, rows):
        for column in range(columns):
            if state[seen(state, row, column)] == own:
                for direction in range(3):
                    beside = column + direction - 1
                    if 0 <= beside < columns:
                        taken = state[seen(state, row - 1, beside)]
                        if taken == 0 or (taken != own and direction != 1):
                            mask[(direction * rows + row) * columns + column] = True
                            count += 1
    return count


@kernel(Signature.play)
def play(state: State, action: int) -> None:
    """Move a piece; the first on the other side wins, as does taking the last piece."""
    rows, columns, own = state[ROWS], state[COLUMNS], 1 + state[PLY] % 2
    direction, cell = divmod(action, rows * columns)
    row, column = divmod(cell, columns)
    state[seen(state, row, column)] = 0
    state[seen(state, row - 1, column + direction - 1)] = own
    if row == 1 or not np.any(state[CELLS:] == 3 - own):
        state[OUTCOME] = 3 - 2 * own
    state[PLY] += 1
    state[LAST] = action


@kernel(Signature.observe)
def observe(state: State, planes: Planes) -> None:
    """Write own pieces and the opponent's, turned so that own ones move up."""
    own = 1 + state[PLY] % 2
    for row in range(state[ROWS]):
        for column in range(state[COLUMNS]):
            stone = state[seen(state, row, column)]
            planes[0, row, column] = stone == own
            planes[1, row, column] = stone == 3 - own


@kernel(Signature.wins_at_once)
def wins_at_once(state: State) -> int:
    """Return 1 if a piece stands before the last row; unknown if the opponent has one piece."""
    own = 1 + state[PLY] % 2
    for column in range(state[COLUMNS]):
        if state[seen(state, 1, column)] == own:
            return 1
    return UNKNOWN if np.sum(state[CELLS:] == 3 - own) == 1 else 0


@kernel(Signature.heuristic)
def pieces_and_rows(state: State) -> int:
    """Compare the pieces, weighted by 4, and the rows that they have come forward."""
    own, total = 1 + state[PLY] % 2, 0
    for row in range(state[ROWS]):
        for column in range(state[COLUMNS]):
            stone = state[seen(state, row, column)]
            if stone == own:
                total += 4 + state[ROWS] - 1 - row
            elif stone:
                total -= 4 + row
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
    uci_variant = "breakthrough"

    def __post_init__(self) -> None:
        if not (4 <= self.rows <= 26 and 2 <= self.columns <= 26):
            size = f"{self.rows} x {self.columns}"
            raise GameError(f"the board must have 4 to 26 rows and 2 to 26 columns, got {size}")

    def initial_state(self) -> State:
        cells = np.zeros((self.rows, self.columns), np.int64)
        cells[:2], cells[-2:] = 2, 1
        return np.array([0, ONGOING, -1, self.rows, self.columns, *cells.ravel()], np.int64)

    @property
    def num_actions(self) -> int:
        return 3 * self.rows * self.columns

    @property
    def most_legal(self) -> int:
        """Three moves for each of two rows of pieces."""
        return 6 * self.columns

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        return 2, self.rows, self.columns

    @property
    def max_moves(self) -> int:
        """Each move brings a piece a row forward, and none but the last move the last row."""
        return 2 * self.columns * (2 * self.rows - 5) + 1

    def symmetries(self) -> Symmetries:
        """Return the identity and the reflection that exchanges left and right."""
        cells = np.arange(self.rows * self.columns).reshape(self.rows, self.columns)
        actions = np.arange(self.num_actions).reshape(3, self.rows, self.columns)
        images = [actions.ravel(), actions[::-1, :, ::-1].ravel()]
        return Symmetries(np.array(images), np.array([cells.ravel(), cells[:, ::-1].ravel()]))

    def set_up(self, pieces: Pieces, ply: int, fields: Sequence[str]) -> State:  # noqa: ARG002
        state, player = self.initial_state(), ply % 2
        state[PLY], state[CELLS:] = ply, np.where(pieces < 0, 2, pieces).ravel()
        arrived = [(pieces[0] > 0).any(), (pieces[-1] < 0).any()]
        won = [arrived[side] or not (pieces * (2 * side - 1) > 0).any() for side in (0, 1)]
        row = np.arange(self.rows)[:, None]
        left = ((pieces > 0) * (row - 1) + (pieces < 0) * (self.rows - 2 - row)).sum()
        too_many = any((pieces * sign > 0).sum() > 2 * self.columns for sign in (1, -1))
        if won[player] or too_many or ply + left + 1 > self.max_moves:
            raise GameError(f"no game leads to this position after {ply} moves")
        if won[1 - player]:
            state[OUTCOME] = 2 * player - 1
        return state

    def action_source(self, state: State, action: int) -> int:
        cell = action % (self.rows * self.columns)
        return self.turn_cell(cell, to_play(state))

    def action_cell(self, state: State, action: int) -> int:
        direction, cell = divmod(action, self.rows * self.columns)
        return self.turn_cell(cell - self.columns + direction - 1, to_play(state))
