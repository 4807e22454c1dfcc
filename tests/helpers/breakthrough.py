"""Breakthrough (Dan Troyka, 2000) on 6 x 6: a game whose pieces move, for tests of the page.

A piece moves one row forward, straight ahead or diagonally, and takes diagonally. Who reaches the
other side, or takes all pieces, wins. Action d * 36 + c moves the piece on cell c to the column
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
from alphazero.games.game import HEADER as CELLS
from alphazero.games.game import LAST, ONGOING, OUTCOME, PLY, BoardStyle, Game, State, Symmetries
from alphazero.utils.jit import kernel, shared_kernel

SIDE, AREA = 6, 36
NAMES = grid.CellNames(SIDE, SIDE, string.ascii_lowercase, from_top=False)


@shared_kernel
def target_of(state, action):
    """Return the cell to which the player to move would go, or -1 beyond the board."""
    row = action % AREA // SIDE + (-1 if state[PLY] % 2 == 0 else 1)
    column = action % SIDE + action // AREA - 1
    return row * SIDE + column if 0 <= row < SIDE and 0 <= column < SIDE else -1


@kernel(Signature.legal)
def legal(state, mask):
    own, count = state[PLY] % 2 + 1, 0
    for action in range(3 * AREA):
        target = target_of(state, action)
        mask[action] = (
            state[OUTCOME] == ONGOING
            and state[CELLS + action % AREA] == own
            and target >= 0
            and state[CELLS + target] != own
            and (action // AREA != 1 or state[CELLS + target] == 0)
        )
        count += mask[action]
    return count


@kernel(Signature.play)
def play(state, action):
    own, target = state[PLY] % 2 + 1, target_of(state, action)
    state[CELLS + action % AREA] = 0
    state[CELLS + target] = own
    if target // SIDE == (0 if own == 1 else SIDE - 1) or not (state[CELLS:] == 3 - own).any():
        state[OUTCOME] = 3 - 2 * own
    state[PLY] += 1
    state[LAST] = action


@kernel(Signature.observe)
def observe(state, planes):
    grid.observe_stones(state[CELLS:], SIDE, state[PLY] % 2, planes)
    planes[2] = 1 - state[PLY] % 2


@dataclass(frozen=True)
class Breakthrough(Game):
    """The rules, with two rows of pieces for each side."""

    rule_functions = RuleFunctions(legal, play, observe)
    last_move_in_state_key = False
    num_actions = 3 * AREA
    observation_shape = (3, SIDE, SIDE)
    max_moves = 4 * AREA  # each move brings one of the pieces a row further
    side_names = ("White", "Black")
    board_style = BoardStyle.CHEQUERED

    def initial_state(self) -> State:
        cells = np.repeat([2, 0, 1], 2 * SIDE)
        return np.array([0, ONGOING, -1, *cells], np.int64)

    def action_cell(self, state: State, action: int) -> int:
        return int(target_of(state, action))

    def action_source(self, state: State, action: int) -> int:
        return action % AREA

    def symmetries(self) -> Symmetries:
        return Symmetries(np.arange(3 * AREA)[None], np.arange(AREA)[None])

    def render(self, state: State) -> str:
        return "\n".join([*NAMES.draw(state[CELLS:]), grid.turn_line(int(state[PLY]))])

    def parse(self, diagram: str) -> State:
        raise GameError("the page reads no drawings")

    def action_name(self, state: State, action: int) -> str:
        target = self.action_cell(state, action)
        takes = "x" if state[CELLS + target] else "-"
        return f"{NAMES.name(action % AREA)}{takes}{NAMES.name(target)}"

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
