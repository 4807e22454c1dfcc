"""Hex: a player wins by joining their two sides of the board with a chain; there is no draw.

The board is a rhombus of hexagons: a cell touches its neighbours to the left, to the right, above,
below, above right and below left. Player 0 joins top and bottom, player 1 left and right.

An action is a cell, counted row by row from the top left. The option `swap` adds an action that is
legal only as the second move: player 1 takes over the first stone, which is reflected across the
main diagonal and changes its colour. This equals exchanging the players' colours, but each player
keeps colour and sides. OpenSpiel's `hex(swap=True)` does the same.

State after the header: size, swap, the stones, and for each stone the sides of its player that its
chain touches, so that a move which joins nothing new only checks its neighbours.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from alphazero.errors import GameError
from alphazero.games import grid
from alphazero.games.compiled_rules import UNKNOWN, RuleFunctions, Signature
from alphazero.games.game import (
    HEADER,
    LAST,
    ONGOING,
    OUTCOME,
    PLY,
    BoardStyle,
    Game,
    Mask,
    Owners,
    Planes,
    State,
    Symmetries,
    squash,
)
from alphazero.games.registry import register
from alphazero.utils.jit import kernel, shared_kernel

SIZE, SWAP, CELLS = HEADER, HEADER + 1, HEADER + 2

BEGIN, END = 1, 2
"""Flags of the sides that a chain touches: player 0's top and bottom, player 1's left and right."""

SWAP_NAME = "swap-pieces"
"""as in SGF, HexGui and MoHex; people may type `swap`"""


@shared_kernel
def neighbour(cell: int, size: int, direction: int) -> int:
    """Return the neighbour of `cell` in a direction, 0 to 5; -1 outside the board."""
    row = cell // size + (-1, -1, 0, 0, 1, 1)[direction]
    column = cell % size + (0, 1, -1, 1, -1, 0)[direction]
    inside = 0 <= row < size and 0 <= column < size
    return row * size + column if inside else -1


@shared_kernel
def sides_joined(stones: State, touched: State, size: int, cell: int, player: int) -> int:
    """Return the flags of the sides that a stone of `player` on `cell` touches with its chain."""
    line = cell // size if player == 0 else cell % size
    sides = BEGIN * (line == 0) | END * (line == size - 1)
    for direction in range(6):
        other = neighbour(cell, size, direction)
        if other >= 0 and stones[other] == player + 1:
            sides |= touched[other]
    return sides


@shared_kernel
def place_stone(state: State, cell: int, player: int) -> None:
    """Put a stone on an empty cell; write the outcome if the player's sides are joined."""
    size = state[SIZE]
    stones, touched = state[CELLS : CELLS + size * size], state[CELLS + size * size :]
    stones[cell] = player + 1
    sides = sides_joined(stones, touched, size, cell, player)
    touched[cell] = sides
    if sides == 0:
        return
    if sides == BEGIN | END:
        state[OUTCOME] = 1 - 2 * player
    # Flood-fill the new sides through the chain: each stone changes at most twice in a game.
    queue, count, done = np.empty(size * size, np.int64), 1, 0
    queue[0] = cell
    while done < count:
        for direction in range(6):
            other = neighbour(queue[done], size, direction)
            if other >= 0 and stones[other] == player + 1 and touched[other] != sides:
                touched[other] = sides
                queue[count] = other
                count += 1
        done += 1


@shared_kernel
def connection_distance(stones: State, size: int, player: int) -> int:
    """Return the number of stones that `player` still needs to join their sides.

    If the sides are cut off, it exceeds the number of cells. Sweeps in alternating directions
    propagate the distance from the first side until nothing changes.
    """
    area, far = size * size, 2 * size * size
    reached = np.full(area, far)
    changed, forward = True, True
    while changed:
        changed = False
        for index in range(area):
            cell = index if forward else area - 1 - index
            if stones[cell] == 2 - player:
                continue
            line = cell // size if player == 0 else cell % size
            nearest = 0 if line == 0 else far
            for direction in range(6):
                other = neighbour(cell, size, direction)
                if other >= 0:
                    nearest = min(nearest, reached[other])
            nearest += stones[cell] == 0
            if nearest < reached[cell]:
                reached[cell], changed = nearest, True
        forward = not forward
    least = far
    for place in range(size):
        end = area - size + place if player == 0 else place * size + size - 1
        least = min(least, reached[end])
    return least


@kernel(Signature.legal)
def legal(state: State, mask: Mask) -> int:
    """Mark the empty cells, and the swap as the second move; none when the game is over."""
    area, ongoing, count = state[SIZE] * state[SIZE], state[OUTCOME] == ONGOING, 0
    for cell in range(area):
        mask[cell] = ongoing and state[CELLS + cell] == 0
        count += mask[cell]
    if state[SWAP]:
        mask[area] = state[PLY] == 1
        count += mask[area]
    return count


@kernel(Signature.play)
def play(state: State, action: int) -> None:
    """Put a stone of the player to move on cell `action`, or take over the first stone."""
    size, cell = state[SIZE], action
    if action == size * size:
        first = 0
        while state[CELLS + first] == 0:
            first += 1
        state[CELLS + first] = state[CELLS + size * size + first] = 0
        cell = first % size * size + first // size
    place_stone(state, cell, state[PLY] % 2)
    state[PLY] += 1
    state[LAST] = action


@kernel(Signature.wins_at_once)
def wins_at_once(state: State) -> int:
    """Return 1 if a stone on some empty cell joins both sides, else 0; UNKNOWN before a swap."""
    size, player = state[SIZE], state[PLY] % 2
    if state[PLY] == 1 and state[SWAP]:
        return UNKNOWN
    if state[PLY] // 2 + 1 < size:
        return 0
    stones, touched = state[CELLS : CELLS + size * size], state[CELLS + size * size :]
    for cell in range(size * size):
        if stones[cell] == 0 and sides_joined(stones, touched, size, cell, player) == BEGIN | END:
            return 1
    return 0


@kernel(Signature.owners)
def owners(state: State, cells: Owners) -> None:
    """Give the cells of the chain that joins its player's sides to that player.

    All other cells are nobody's: stones that are not part of the chain decided nothing.
    """
    area = state[SIZE] * state[SIZE]
    for cell in range(area):
        joined = state[CELLS + area + cell] == BEGIN | END
        cells[cell] = 3 - 2 * state[CELLS + cell] if joined else 0


@kernel(Signature.observe)
def observe(state: State, planes: Planes) -> None:
    """Write own stones, the opponent's, and ones everywhere when player 0 is to move.

    The last plane tells whose sides are whose. With a reflection for player 1 both would have the
    same task, but every reader of the policy would have to reflect it back.
    """
    size, player = state[SIZE], state[PLY] % 2
    grid.observe_stones(state[CELLS : CELLS + size * size], size, player, planes)
    planes[2] = 1 - player


@kernel(Signature.heuristic)
def connection_heuristic(state: State) -> int:
    """Compare the stones that each side still needs, half a stone less for the player to move.

    The numbers are our own choice.
    """
    size, player = state[SIZE], state[PLY] % 2
    stones = state[CELLS : CELLS + size * size]
    own = connection_distance(stones, size, player)
    other = connection_distance(stones, size, 1 - player)
    return squash(2 * (other - own) + 1, 8)  # in half stones


@register("hex")
@dataclass(frozen=True)
class Hex(Game):
    """Hex on `size` x `size`; with `swap` 1 the second player may take over the first stone."""

    size: int = 11
    swap: int = 0

    rule_functions = RuleFunctions(legal, play, observe, connection_heuristic, wins_at_once, owners)
    last_move_in_state_key = False
    policy_planes = 1
    board_style = BoardStyle.HEXAGONS
    option_words: ClassVar = {"swap": ("off", "on")}
    side_names = "Red", "Blue"
    """The colours of the sides of the board that a player joins."""

    def __post_init__(self) -> None:
        if not 2 <= self.size <= 26:
            raise GameError(f"size must be 2 to 26, got {self.size}")
        if self.swap not in (0, 1):
            raise GameError(f"swap must be 0 (off) or 1 (on), got {self.swap}")

    def initial_state(self) -> State:
        state = np.zeros(CELLS + 2 * self._area, np.int64)
        state[OUTCOME], state[LAST] = ONGOING, -1
        state[SIZE], state[SWAP] = self.size, self.swap
        return state

    @property
    def num_actions(self) -> int:
        return self._area + self.swap

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """Own stones, opponent's stones, colour to move."""
        return 3, self.size, self.size

    @property
    def max_moves(self) -> int:
        return self._area + self.swap

    @property
    def _area(self) -> int:
        return self.size * self.size

    @property
    def _names(self) -> grid.CellNames:
        return grid.CellNames(self.size, self.size)

    def winning_cells(self, state: State) -> tuple[int, ...]:
        cells = np.zeros(self._area, np.int8)
        owners(state, cells)
        return tuple(np.flatnonzero(cells).tolist())

    def action_cell(self, state: State, action: int) -> int | None:  # noqa: ARG002
        return action if action < self._area else None

    def symmetries(self) -> Symmetries:
        """Return the identity and the half turn.

        Reflections across the diagonals exchange the players' sides, so they would have to exchange
        the colours too, but player 0 moves first.
        """
        actions = np.arange(self.num_actions)
        cells = actions[: self._area]
        turned = np.concatenate([cells[::-1], actions[self._area :]])
        return Symmetries(actions=np.array([actions, turned]), cells=np.array([cells, cells[::-1]]))

    def render(self, state: State) -> str:
        lines = self._names.draw(state[CELLS : CELLS + self._area], slant=1)
        return "\n".join([*lines, grid.turn_line(int(state[PLY]))])

    def parse(self, diagram: str) -> State:
        stones = grid.read_drawing(diagram, self.size, self.size)
        moves, state = grid.read_turn(diagram), self.initial_state()
        for cell in np.flatnonzero(stones).tolist():
            place_stone(state, cell, int(stones[cell]) - 1)
        first, second = int((stones == 1).sum()), int((stones == 2).sum())
        swapped = self.swap and moves >= 2 and first == (moves - 1) // 2
        if second != moves // 2 or not (swapped or first == (moves + 1) // 2):
            raise GameError(
                f"X has {first} stones and O has {second}: {moves} moves cannot have led there"
            )
        if state[OUTCOME] != ONGOING and state[OUTCOME] != 2 * (moves % 2) - 1:
            raise GameError("the diagram shows a chain of a player who did not move last")
        state[PLY] = moves
        return state

    def action_name(self, state: State, action: int) -> str:  # noqa: ARG002
        return SWAP_NAME if action == self._area else self._names.name(action)

    def parse_action(self, state: State, text: str) -> int:
        name = text.strip()
        swaps = bool(self.swap) and name.lower() in ("swap", SWAP_NAME)
        others = f", or {SWAP_NAME}" if self.swap else ""
        action = self._area if swaps else self._names.parse(text, others=others)
        if not self.legal_unless_over(state)[action]:
            reason = "can only be the second move" if swaps else "is taken"
            raise GameError(f"{name} {reason}; type an empty cell")
        return action
