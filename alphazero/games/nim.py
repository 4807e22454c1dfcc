"""Nim with one heap: take one or more chips; the player who takes the last one wins.

The player to move loses exactly when the number of chips left is a multiple of `most` + 1: after
any move the opponent can restore such a multiple (Bouton, *Nim, A Game with a Complete
Mathematical Theory*, 1901, for heaps without a bound).

State after the header: heap, most, the chips left. Action a takes a + 1 chips.
"""

import re
from dataclasses import dataclass

import numpy as np

from alphazero.errors import GameError
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
    Material,
    Pieces,
    Planes,
    State,
    Symmetries,
)
from alphazero.games.registry import register
from alphazero.utils.jit import kernel

MOST, LEFT = HEADER + 1, HEADER + 2

CHIP, GAP = "o", "."
"""Signs of a chip that is left and of one that was taken."""

LARGEST_HEAP = 1000


@kernel(Signature.legal)
def legal(state: State, mask: Mask) -> int:
    """Mark taking 1 to `most` chips, but no more than are left."""
    for action in range(state[MOST]):
        mask[action] = action < state[LEFT]
    return min(state[MOST], state[LEFT])  # type: ignore[no-any-return]


@kernel(Signature.play)
def play(state: State, action: int) -> None:
    """Take `action` + 1 chips; the last one wins."""
    state[LEFT] -= action + 1
    if state[LEFT] == 0:
        state[OUTCOME] = 1 - 2 * (state[PLY] % 2)
    state[PLY] += 1
    state[LAST] = action


@kernel(Signature.observe)
def observe(state: State, planes: Planes) -> None:
    """Write the chips left to both planes: they belong to both players."""
    for chip in range(state[HEADER]):
        planes[:, 0, chip] = chip < state[LEFT]


@register("nim")
@dataclass(frozen=True)
class Nim(Game):
    """A heap of `heap` chips; a move takes 1 to `most` of them."""

    heap: int = 15
    most: int = 3

    rule_functions = RuleFunctions(legal, play, observe)
    last_move_in_state_key = False
    board_style = BoardStyle.PILE
    side_names = "First", "Second"
    material = Material.FELT

    def __post_init__(self) -> None:
        if not 1 <= self.heap <= LARGEST_HEAP:
            raise GameError(f"heap must be 1 to {LARGEST_HEAP}, got {self.heap}")
        if not 1 <= self.most <= self.heap:
            raise GameError(f"most must be 1 to {self.heap}, the whole heap, got {self.most}")

    def initial_state(self) -> State:
        return np.array([0, ONGOING, -1, self.heap, self.most, self.heap], np.int64)

    @property
    def num_actions(self) -> int:
        return self.most

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """The chips left as own stones and as the opponent's, in one row."""
        return 2, 1, self.heap

    @property
    def max_moves(self) -> int:
        """The number of chips: a move takes at least one."""
        return self.heap

    def symmetries(self) -> Symmetries:
        return Symmetries(np.arange(self.most)[None], np.arange(self.heap)[None])

    def render(self, state: State) -> str:
        left, moves = int(state[LEFT]), int(state[PLY])
        row = " ".join([CHIP] * left + [GAP] * (self.heap - left))
        return f"{row}\n{left} left after {moves} moves"

    def parse(self, diagram: str) -> State:
        pattern = rf"([{CHIP}{GAP} ]+)\n([0-9]{{1,4}}) left after ([0-9]{{1,4}}) moves"
        match = re.fullmatch(pattern, diagram[: 2 * self.heap + 100].strip())
        left, moves = (int(match[2]), int(match[3])) if match else (0, 0)
        signs = match[1].split() if match else []
        if signs != [CHIP] * left + [GAP] * (self.heap - left):
            raise GameError(
                f"a diagram needs a line of {self.heap} signs separated by spaces, {CHIP} for each "
                f"chip left and {GAP} for each taken one, and the line 'N left after M moves'"
            )
        taken = self.heap - left
        if not moves <= taken <= moves * self.most:
            raise GameError(f"{moves} moves of 1 to {self.most} chips cannot have taken {taken}")
        state = self.initial_state()
        state[PLY], state[LEFT] = moves, left
        if left == 0:
            state[OUTCOME] = 2 * (moves % 2) - 1
        return state

    def pieces(self, state: State) -> Pieces:
        """Return the chips left, which belong to neither player, as player 0's."""
        chips: Pieces = (np.arange(self.heap) < state[LEFT])[None].astype(np.int8)
        return chips

    def action_name(self, state: State, action: int) -> str:  # noqa: ARG002
        return str(action + 1)

    def parse_action(self, state: State, text: str) -> int:
        name = text.strip()
        count = int(name) if name.isascii() and name.isdigit() and len(name) < 5 else 0
        if not 1 <= count <= self.most:
            raise GameError(f"{text[:20]!r} is no number of chips; type 1 to {self.most}")
        left = int(self.legal_unless_over(state).sum())
        if count > left:
            raise GameError(f"only {left} left; type 1 to {left}")
        return count - 1
