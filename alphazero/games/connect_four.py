"""Connect Four: stones fall to the bottom of a column; four in a line win.

An action is a column, counted from 0 at the left.
"""

from dataclasses import dataclass

import numpy as np

from alphazero.errors import GameError
from alphazero.games import grid
from alphazero.games.compiled_rules import RuleFunctions, Signature
from alphazero.games.game import (
    ONGOING,
    OUTCOME,
    PLY,
    BoardStyle,
    Mask,
    Material,
    Planes,
    State,
    Symmetries,
)
from alphazero.games.line_games import (
    CELLS,
    COLUMNS,
    ROWS,
    LineGame,
    open_lines,
    place_stone,
    wins_on,
)
from alphazero.games.registry import register
from alphazero.utils.jit import inline_kernel, kernel


@kernel(Signature.legal)
def legal(state: State, mask: Mask) -> int:
    """Mark the columns that are not full; none when the game is over."""
    count = 0
    for column in range(state[COLUMNS]):
        mask[column] = state[OUTCOME] == ONGOING and state[CELLS + column] == 0
        count += mask[column]
    return count


@inline_kernel
def _landing_cell(state: State, column: int) -> int:
    """Return the lowest empty cell of `column`, or a negative number if it is full."""
    cell = (state[ROWS] - 1) * state[COLUMNS] + column
    while cell >= 0 and state[CELLS + cell] != 0:
        cell -= state[COLUMNS]
    return cell  # type: ignore[no-any-return]


@kernel(Signature.play)
def play(state: State, action: int) -> None:
    """Drop a stone of the player to move into column `action`."""
    place_stone(state, _landing_cell(state, action), action)


@kernel(Signature.observe)
def observe(state: State, planes: Planes) -> None:
    """Write own stones, the opponent's stones, and ones everywhere when player 0 is to move."""
    player = state[PLY] % 2
    grid.observe_stones(state[CELLS:], state[COLUMNS], player, planes)
    planes[2] = 1 - player


@kernel(Signature.wins_at_once)
def wins_at_once(state: State) -> int:
    """Return 1 if a stone in some column completes a line, else 0."""
    for column in range(state[COLUMNS]):
        cell = _landing_cell(state, column)
        if cell >= 0 and wins_on(state, cell):
            return 1
    return 0


@register("connect_four")
@dataclass(frozen=True)
class ConnectFour(LineGame):
    """Connect Four on `rows` x `columns`, won by `length` in a line."""

    rows: int = 6
    columns: int = 7
    length: int = 4

    rule_functions = RuleFunctions(legal, play, observe, open_lines, wins_at_once)
    board_style = BoardStyle.HOLES
    side_names = "Red", "Yellow"
    material = Material.PLASTIC

    @property
    def num_actions(self) -> int:
        return self.columns

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """Own stones, opponent's stones, colour to move."""
        return 3, self.rows, self.columns

    def action_cell(self, state: State, action: int) -> int:
        """Return the cell where the stone lands: the lowest empty cell of the column."""
        column = state[CELLS + action :: self.columns]
        return (int((column == 0).sum()) - 1) * self.columns + action

    def symmetries(self) -> Symmetries:
        columns = np.arange(self.columns)
        cells = np.arange(self.rows * self.columns).reshape(self.rows, self.columns)
        return Symmetries(
            actions=np.array([columns, columns[::-1]]),
            cells=np.array([cells.ravel(), cells[:, ::-1].ravel()]),
        )

    def render(self, state: State) -> str:
        lines = grid.draw(state[CELLS:], self.rows, self.columns)
        width = len(str(self.columns))
        lines = [" ".join(sign.rjust(width) for sign in line.split()) for line in lines]
        return "\n".join([*lines, " ".join(str(c + 1).rjust(width) for c in range(self.columns))])

    def parse(self, diagram: str) -> State:
        """Read a drawing of `render`; raise GameError for a stone above an empty cell too."""
        state = super().parse(diagram)
        grid = state[CELLS:].reshape(self.rows, self.columns)
        if ((grid[:-1] != 0) & (grid[1:] == 0)).any():
            raise GameError("a stone in the diagram has an empty cell below it")
        return state

    def action_name(self, state: State, action: int) -> str:  # noqa: ARG002
        return str(action + 1)

    def parse_action(self, state: State, text: str) -> int:
        name = text.strip()
        is_number = name.isascii() and name.isdigit() and len(name) < 5
        if not is_number or not 1 <= int(name) <= self.columns:
            raise GameError(f"{text[:20]!r} is no column; type a number from 1 to {self.columns}")
        mask, action = self.legal_unless_over(state), int(name) - 1
        if not mask[action]:
            free = ", ".join(str(column + 1) for column in np.flatnonzero(mask))
            raise GameError(f"column {int(name)} is full; free columns: {free}")
        return action
