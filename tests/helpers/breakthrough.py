"""Breakthrough (Dan Troyka, 2000): a game whose pieces move, for tests of what such games declare.

A piece moves one row forward, straight ahead or diagonally, and takes diagonally. Who reaches the
other side, or takes all pieces, wins. Action d * H * W + c moves the piece on cell c to the column
d - 1 further to the right. White begins, at the bottom.
"""

import string
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from alphazero.errors import GameError
from alphazero.games import grid, registry
from alphazero.games.compiled_rules import RuleFunctions, Signature
from alphazero.games.game import (
    HEADER,
    LAST,
    ONGOING,
    OUTCOME,
    PLY,
    BoardStyle,
    Game,
    Mask,
    Planes,
    State,
    Symmetries,
)
from alphazero.utils.jit import kernel, shared_kernel

ROWS, COLUMNS, CELLS = HEADER, HEADER + 1, HEADER + 2


@shared_kernel
def target_of(state: State, action: int) -> int:
    """Return the cell to which the player to move would go, or -1 beyond the board."""
    rows, columns = state[ROWS], state[COLUMNS]
    area = rows * columns
    cell, aside = action % area, action // area - 1
    row = cell // columns + (-1 if state[PLY] % 2 == 0 else 1)
    column = cell % columns + aside
    inside = 0 <= row < rows and 0 <= column < columns
    return row * columns + column if inside else -1


@kernel(Signature.legal)
def legal(state: State, mask: Mask) -> int:
    area, own, count = state[ROWS] * state[COLUMNS], state[PLY] % 2 + 1, 0
    for action in range(3 * area):
        target = target_of(state, action)
        mask[action] = (
            state[OUTCOME] == ONGOING
            and state[CELLS + action % area] == own
            and target >= 0
            and state[CELLS + target] != own
            and (action // area != 1 or state[CELLS + target] == 0)
        )
        count += mask[action]
    return count


@kernel(Signature.play)
def play(state: State, action: int) -> None:
    area, own, target = state[ROWS] * state[COLUMNS], state[PLY] % 2 + 1, target_of(state, action)
    state[CELLS + action % area] = 0
    state[CELLS + target] = own
    others = 0
    for cell in range(area):
        others += state[CELLS + cell] == 3 - own
    row = target // state[COLUMNS]
    if others == 0 or row == (0 if own == 1 else state[ROWS] - 1):
        state[OUTCOME] = 3 - 2 * own
    state[PLY] += 1
    state[LAST] = action


@kernel(Signature.observe)
def observe(state: State, planes: Planes) -> None:
    grid.observe_stones(state[CELLS:], state[COLUMNS], state[PLY] % 2, planes)
    planes[2] = 1 - state[PLY] % 2


@dataclass(frozen=True)
class Breakthrough(Game):
    """Breakthrough on `rows` x `columns`, with two rows of pieces for each side."""

    rows: int = 6
    columns: int = 6

    rule_functions = RuleFunctions(legal, play, observe)
    last_move_in_state_key = False
    policy_planes = 3

    def initial_state(self) -> State:
        cells = np.zeros((self.rows, self.columns), np.int64)
        cells[:2], cells[-2:] = 2, 1
        return np.array([0, ONGOING, -1, self.rows, self.columns, *cells.ravel()], np.int64)

    @property
    def num_actions(self) -> int:
        return 3 * self.rows * self.columns

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        return 3, self.rows, self.columns

    @property
    def max_moves(self) -> int:
        """Each move brings one of the pieces a row further."""
        return 4 * self.columns * self.rows

    def action_cell(self, state: State, action: int) -> int:
        return int(target_of(state, action))

    def action_source(self, state: State, action: int) -> int:
        return action % (self.rows * self.columns)

    @property
    def side_names(self) -> tuple[str, str]:
        return "White", "Black"

    @property
    def board_style(self) -> BoardStyle:
        return BoardStyle.CHEQUERED

    @property
    def _names(self) -> grid.CellNames:
        return grid.CellNames(self.rows, self.columns, string.ascii_lowercase, from_top=False)

    def symmetries(self) -> Symmetries:
        """Return the identity and the reflection that exchanges left and right."""
        cells = np.arange(self.rows * self.columns).reshape(self.rows, self.columns)
        mirrored = cells[:, ::-1].ravel()
        area = len(mirrored)
        images = np.concatenate([mirrored + (2 - plane) * area for plane in range(3)])
        return Symmetries(
            np.array([np.arange(3 * area), images]), np.array([cells.ravel(), mirrored])
        )

    def render(self, state: State) -> str:
        return "\n".join([*self._names.draw(state[CELLS:]), grid.turn_line(int(state[PLY]))])

    def parse(self, diagram: str) -> State:
        state = self.initial_state()
        state[CELLS:] = grid.read_drawing(diagram, self.rows, self.columns)
        state[PLY] = grid.read_turn(diagram)
        first, second = (
            state[CELLS:].reshape(self.rows, self.columns) == player for player in (1, 2)
        )
        if first[0].any() or not second.any():
            state[OUTCOME] = 1
        elif second[-1].any() or not first.any():
            state[OUTCOME] = -1
        return state

    def action_name(self, state: State, action: int) -> str:
        target = self.action_cell(state, action)
        takes = "x" if state[CELLS + target] else "-"
        source = self._names.name(self.action_source(state, action))
        return f"{source}{takes}{self._names.name(target)}"

    def parse_action(self, state: State, text: str) -> int:
        for action in np.flatnonzero(self.legal_unless_over(state)).tolist():
            if self.action_name(state, action) == text.strip().lower():
                return action
        raise GameError(f"{text[:20]!r} is no legal move; type one such as a2-a3")


@contextmanager
def breakthrough() -> Iterator[Game]:
    """Register the game while the block runs."""
    registry.register("breakthrough")(Breakthrough)
    try:
        yield Breakthrough()
    finally:
        del registry._registered["breakthrough"]
