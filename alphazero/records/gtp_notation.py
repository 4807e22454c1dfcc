"""Moves and colours in the notation of the Go Text Protocol, for any game on a board of cells.

A vertex is a letter for the column and a number for the row: D4. Go and most games count rows from
the bottom, and no column is called I. Games whose own notation counts from the top, such as Othello
and Hex, do so in GTP too, and there I is the ninth column, as in MoHex and HexGui.
A move without a cell has the game's name for it, such as pass, and so has every move where there
are more moves than cells; the move of a piece has the names of the two cells that it leaves and
reaches, e2e4, as in UCI.

*Specification of the Go Text Protocol, version 2, draft 2* (Farnebäck 2002), section 2.11.
"""

import re
import string
from collections.abc import Sequence
from typing import Final

import numpy as np

from alphazero.errors import GameError
from alphazero.games.game import ONGOING, Game, State, to_play
from alphazero.games.grid import VERTEX_LETTERS, CellNames
from alphazero.games.pieces import PieceGame

COLOURS: Final = ("black", "white")
"""Colours of players 0 and 1."""

PASS: Final = "pass"
RESIGN: Final = "resign"


class GtpNotation:
    """The names of one game's moves; raises GameError if GTP has too few letters for the board."""

    def __init__(self, game: Game) -> None:
        self.game = game
        _, self.rows, self.columns = game.observation_shape
        if max(self.rows, self.columns) > len(VERTEX_LETTERS):
            raise GameError(
                f"GTP has boards up to {len(VERTEX_LETTERS)} x {len(VERTEX_LETTERS)}, "
                f"not {self.rows} x {self.columns}"
            )
        self._cells_name_moves = game.num_actions <= self.rows * self.columns + 1
        state = game.initial_state()
        cells = [
            (cell, game.action_name(state, action))
            for action in np.flatnonzero(game.legal_action_mask(state)).tolist()
            if (cell := self._cell_of(state, action)) is not None
        ]
        self.has_cells = bool(cells)
        """whether any move has one cell"""
        from_top = _count_from_top(cells, self.rows, self.columns)
        letters = string.ascii_uppercase if from_top else VERTEX_LETTERS
        self.cells = CellNames(self.rows, self.columns, letters, from_top)

    def name(self, state: State, action: int) -> str:
        cell = self._cell_of(state, action)
        if cell is not None:
            return self.cells.name(cell)
        if isinstance(self.game, PieceGame):
            return self.game.move_name(state, action)
        return self.game.action_name(state, action)

    def names(self, state: State, actions: list[int]) -> list[str]:
        """Return the names of successive moves from `state`."""
        names = []
        for action in actions:
            names.append(self.name(state, action))
            state = self.game.play(state, action)
        return names

    def action(self, state: State, text: str) -> int | None:
        """Return the legal action with this name, in upper or lower case; None if there is none."""
        game, name, cell = self.game, text.strip().lower(), self.cells.read(text)
        legal = game.legal_action_mask(state)
        is_action = cell is not None and game.policy_planes == 1 and legal[cell]
        if cell is not None and is_action and self._cell_of(state, cell) == cell:
            return cell  # without a look at all others
        for action in np.flatnonzero(legal).tolist():
            own = self._cell_of(state, action)
            if own == cell and own is not None:
                return int(action)
            if own is None and self.name(state, action).lower() == name:
                return int(action)
        return None

    def _cell_of(self, state: State, action: int) -> int | None:
        """Return the cell that alone names a move; None without, and for the two of a piece."""
        if not self._cells_name_moves or self.game.action_source(state, action) is not None:
            return None
        return self.game.action_cell(state, action)


def _count_from_top(cells: list[tuple[int, str]], rows: int, columns: int) -> bool:
    """Whether a game's own names of cells count rows from the top."""
    for cell, name in cells:
        number = re.fullmatch(r"[A-Za-z]([0-9]+)", name)
        row = cell // columns
        if number and row + 1 != rows - row:
            return int(number[1]) == row + 1
    return False


def last_passes(steps: Sequence[tuple[int, ...]], passing: int | None) -> int:
    """Return how many of the last steps hold nothing but the pass, the action `passing`.

    Empty steps, of passes that were left out, count if they are not all.
    """
    count = 0
    while count < len(steps) and all(action == passing for action in steps[-1 - count]):
        count += 1
    return count if any(steps[len(steps) - count :]) else 0


def pass_before(game: Game, state: State, player: int) -> tuple[int, ...]:
    """Return the actions before the player's turn: none, or the other side's pass.

    Turns alternate strictly here, but not in GTP and SGF. Raise GameError if the game is over, has
    no pass, or the pass would end it.
    """
    if game.outcome(state) != ONGOING:
        raise GameError("the game is over")
    if player == to_play(state):
        return ()
    passing = game.num_actions - 1
    if game.action_name(state, passing) != PASS or not game.legal_action_mask(state)[passing]:
        raise GameError(f"it is {COLOURS[1 - player]}'s turn")
    if game.outcome(game.play(state, passing)) != ONGOING:
        raise GameError(f"{COLOURS[1 - player]} would have to pass, which ends the game")
    return (passing,)
