"""m,n,k-games: place a stone on any empty cell; k in a line win (tic-tac-toe is 3,3,3).

An action is a cell, counted row by row from the top left.
"""

from dataclasses import dataclass

from alphazero.errors import GameError
from alphazero.games import grid
from alphazero.games.compiled_rules import RuleFunctions, Signature
from alphazero.games.game import (
    LAST,
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
from alphazero.games.line_games import CELLS, COLUMNS, LineGame, open_lines, place_stone, wins_on
from alphazero.games.registry import register
from alphazero.utils.jit import kernel


@kernel(Signature.legal)
def legal(state: State, mask: Mask) -> int:
    """Mark the empty cells; none when the game is over."""
    count = 0
    for cell in range(len(state) - CELLS):
        mask[cell] = state[OUTCOME] == ONGOING and state[CELLS + cell] == 0
        count += mask[cell]
    return count


@kernel(Signature.play)
def play(state: State, action: int) -> None:
    """Put a stone of the player to move on cell `action`."""
    place_stone(state, action, action)


@kernel(Signature.observe)
def observe(state: State, planes: Planes) -> None:
    """Write own stones, the opponent's, the last move, and ones when player 0 is to move."""
    player, columns = state[PLY] % 2, state[COLUMNS]
    grid.observe_stones(state[CELLS:], columns, player, planes)
    planes[2] = 0
    if state[LAST] >= 0:
        planes[2, state[LAST] // columns, state[LAST] % columns] = 1
    planes[3] = 1 - player


@kernel(Signature.wins_at_once)
def wins_at_once(state: State) -> int:
    """Return 1 if a stone on some empty cell completes a line, else 0."""
    for cell in range(len(state) - CELLS):
        if state[CELLS + cell] == 0 and wins_on(state, cell):
            return 1
    return 0


@register("tic_tac_toe", rows=3, columns=3, length=3)
@register("gomoku", rows=15, columns=15, length=5)
@register("mnk")
@dataclass(frozen=True)
class Mnk(LineGame):
    """The m,n,k-game on `rows` (n) x `columns` (m), won by `length` (k) or more in a line."""

    rows: int = 3
    columns: int = 3
    length: int = 3

    rule_functions = RuleFunctions(legal, play, observe, open_lines, wins_at_once)
    policy_planes = 1

    @property
    def num_actions(self) -> int:
        return self.rows * self.columns

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """Own stones, opponent's stones, last move, colour to move."""
        return 4, self.rows, self.columns

    @property
    def board_style(self) -> BoardStyle:
        """Intersections if five or more in a row win, as in gomoku; else squares."""
        return BoardStyle.INTERSECTIONS if self.length >= 5 else BoardStyle.SQUARES

    @property
    def side_names(self) -> tuple[str, str]:
        return ("Black", "White") if self.length >= 5 else ("X", "O")

    @property
    def material(self) -> Material:
        return Material.WOOD if self.length >= 5 else Material.PAPER

    @property
    def _names(self) -> grid.CellNames:
        return grid.CellNames(self.rows, self.columns, from_top=False, padded=True)

    def action_cell(self, state: State, action: int) -> int:  # noqa: ARG002
        return action

    def symmetries(self) -> Symmetries:
        cells = grid.board_symmetries(self.rows, self.columns)
        return Symmetries(actions=cells, cells=cells)

    def render(self, state: State) -> str:
        return "\n".join(self._names.draw(state[CELLS:]))

    def action_name(self, state: State, action: int) -> str:  # noqa: ARG002
        return self._names.name(action)

    def parse_action(self, state: State, text: str) -> int:
        action = self._names.parse(text)
        if not self.legal_unless_over(state)[action]:
            reason = (
                "is taken; type an empty" if state[CELLS + action] else "is forbidden; type another"
            )
            raise GameError(f"{self.action_name(state, action)} {reason} cell")
        return action
