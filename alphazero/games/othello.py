"""Othello: a disc must enclose opponent's discs in a line, which change their colour.

An action is a cell, counted row by row from the top left; the last action is the pass, which is
legal only if no cell is. The game is over when neither player can place a disc; more discs win.

State after the header: size, then the discs of player 0 and of player 1 as 64-bit sets, where bit c
is cell c. A shift moves all discs of a player at once, which makes the rules about twenty times as
fast as following each line.
"""

from dataclasses import dataclass

import numpy as np

from alphazero.errors import GameError
from alphazero.games import grid
from alphazero.games.compiled_rules import RuleFunctions, Signature
from alphazero.games.game import (
    HEADER,
    LAST,
    ONGOING,
    OUTCOME,
    PLY,
    Game,
    Mask,
    Material,
    Owners,
    Planes,
    State,
    Symmetries,
    squash,
)
from alphazero.games.registry import register
from alphazero.utils.bits import count_bits
from alphazero.utils.jit import inline_kernel, kernel, shared_kernel

SIZE, DISCS = HEADER, HEADER + 1

SIZES = (4, 6, 8)
PASS = "pass"

Bits = np.uint64
"""A set of cells. Kernels combine it only with its own type, else numba converts to floats."""

ONE, ALL = Bits(1), Bits(2**64 - 1)


@shared_kernel
def board_bits(size: int) -> Bits:
    """Return all cells."""
    return ALL >> Bits(64 - size * size)


@shared_kernel
def inner_columns(size: int) -> Bits:
    """Return all cells except those of the first and the last column."""
    first = board_bits(size) // ((ONE << Bits(size)) - ONE)
    return board_bits(size) & ~(first | first << Bits(size - 1))


@inline_kernel
def _runs(start: Bits, other: Bits, inner: Bits, size: int, axis: int) -> tuple[Bits, Bits, Bits]:
    """Return the step of an axis, and the runs of the `other`'s discs beside `start`, both ways.

    A disc enclosed across columns is an `inner` one, so that no run wraps around to the other side.
    """
    step, through = Bits((1, size - 1, size + 1, size)[axis]), other if axis == 3 else inner
    forth, back = through & start << step, through & start >> step
    for _ in range(size - 3):
        forth |= through & forth << step
        back |= through & back >> step
    return step, forth, back


@shared_kernel
def placeable(own: Bits, other: Bits, size: int) -> Bits:
    """Return the empty cells behind runs of `other` discs that begin beside `own` ones."""
    inner, found = other & inner_columns(size), Bits(0)
    for axis in range(4):
        step, forth, back = _runs(own, other, inner, size, axis)
        found |= forth << step | back >> step
    return found & board_bits(size) & ~(own | other)


@shared_kernel
def enclosed(own: Bits, other: Bits, size: int, disc: Bits) -> Bits:
    """Return the `other` discs between a new `disc` and `own` discs."""
    inner, turned = other & inner_columns(size), Bits(0)
    for axis in range(4):
        step, forth, back = _runs(disc, other, inner, size, axis)
        if forth << step & own:
            turned |= forth
        if back >> step & own:
            turned |= back
    return turned


@shared_kernel
def settle(state: State) -> None:
    """Write the outcome if neither player can place a disc."""
    first, second, size = Bits(state[DISCS]), Bits(state[DISCS + 1]), state[SIZE]
    if not placeable(first, second, size) and not placeable(second, first, size):
        difference = count_bits(first) - count_bits(second)
        state[OUTCOME] = np.sign(difference)


@kernel(Signature.legal)
def legal(state: State, mask: Mask) -> int:
    """Mark the cells where a disc can be placed, else the pass; none when the game is over."""
    player, size, count = state[PLY] % 2, state[SIZE], 0
    cells, ongoing = Bits(0), state[OUTCOME] == ONGOING
    if ongoing:
        cells = placeable(Bits(state[DISCS + player]), Bits(state[DISCS + 1 - player]), size)
    for cell in range(size * size):
        mask[cell] = cells >> Bits(cell) & ONE
        count += mask[cell]
    mask[size * size] = ongoing and count == 0
    return int(count + mask[size * size])


@kernel(Signature.play)
def play(state: State, action: int) -> None:
    """Place a disc and turn the enclosed discs over, or pass."""
    player, size = state[PLY] % 2, state[SIZE]
    if action < size * size:
        own, other = Bits(state[DISCS + player]), Bits(state[DISCS + 1 - player])
        disc = ONE << Bits(action)
        turned = enclosed(own, other, size, disc)
        state[DISCS + player] = np.int64(own | turned | disc)
        state[DISCS + 1 - player] = np.int64(other & ~turned)
    state[PLY] += 1
    state[LAST] = action
    settle(state)


@kernel(Signature.owners)
def owners(state: State, cells: Owners) -> None:
    """Give each cell to the colour of its disc."""
    for cell in range(state[SIZE] * state[SIZE]):
        place = Bits(cell)
        first, second = Bits(state[DISCS]) >> place & ONE, Bits(state[DISCS + 1]) >> place & ONE
        cells[cell] = np.int8(first) - np.int8(second)


@kernel(Signature.margin)
def margin(state: State) -> float:
    """Return player 0's discs minus player 1's."""
    return float(count_bits(Bits(state[DISCS])) - count_bits(Bits(state[DISCS + 1])))


@kernel(Signature.observe)
def observe(state: State, planes: Planes) -> None:
    """Write own discs, the opponent's discs, and the cells where a disc can be placed.

    No plane has the colour to move: the value for the player to move does not depend on it.
    """
    player, size = state[PLY] % 2, state[SIZE]
    own, other = Bits(state[DISCS + player]), Bits(state[DISCS + 1 - player])
    free = placeable(own, other, size)
    for row in range(size):
        for column in range(size):
            place = Bits(row * size + column)
            planes[0, row, column] = own >> place & ONE
            planes[1, row, column] = other >> place & ONE
            planes[2, row, column] = free >> place & ONE


@kernel(Signature.heuristic)
def corners_and_mobility(state: State) -> int:
    """Compare corners, weighted by 8, and the numbers of cells where each side can play.

    The numbers are our own choice.
    """
    player, size = state[PLY] % 2, state[SIZE]
    own, other = Bits(state[DISCS + player]), Bits(state[DISCS + 1 - player])
    ends = ONE | ONE << Bits(size - 1)
    corners = ends | ends << Bits(size * (size - 1))
    held = count_bits(own & corners) - count_bits(other & corners)
    moves = count_bits(placeable(own, other, size)) - count_bits(placeable(other, own, size))
    return squash(8 * held + moves, 20)


def _bits_of(cells: State) -> State:
    """Return the discs on `cells` as the entries of a state, `int64 [2]`."""
    values = ONE << np.arange(len(cells), dtype=Bits)
    return np.array([values[cells == disc].sum() for disc in (1, 2)], Bits).view(np.int64)


@register("othello")
@dataclass(frozen=True)
class Othello(Game):
    """Othello on `size` x `size`; player 0 has the black discs."""

    size: int = 8

    rule_functions = RuleFunctions(
        legal, play, observe, corners_and_mobility, owners=owners, margin=margin
    )
    last_move_in_state_key = False
    policy_planes = 1
    side_names = "Black", "White"
    material = Material.FELT

    def __post_init__(self) -> None:
        if self.size not in SIZES:
            raise GameError(f"size must be one of {', '.join(map(str, SIZES))}, got {self.size}")

    def initial_state(self) -> State:
        """Return the four middle discs: on 8 x 8 black on d5 and e4, white on d4 and e5."""
        cells = np.zeros(self._area, np.int64)
        cells[self._middle()] = 2, 1, 1, 2
        return np.array([0, ONGOING, -1, self.size, *_bits_of(cells)], np.int64)

    def points(self, state: State) -> tuple[float, float]:
        first, second = state[DISCS:].view(Bits).tolist()
        return float(first.bit_count()), float(second.bit_count())

    @property
    def num_actions(self) -> int:
        return self._area + 1

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """Own discs, opponent's discs, cells where a disc can be placed."""
        return 3, self.size, self.size

    @property
    def max_moves(self) -> int:
        """One move per cell except the first four, and a pass before each except the first.

        Two passes never follow each other, and the last move is never a pass.
        """
        return 2 * (self._area - 4) - 1

    @property
    def _area(self) -> int:
        return self.size * self.size

    def _middle(self) -> State:
        corner = (self.size // 2 - 1) * (self.size + 1)
        return np.array([corner, corner + 1, corner + self.size, corner + self.size + 1])

    def _cells(self, state: State) -> State:
        """Return 0, 1 or 2 for each cell: empty, player 0's disc, player 1's."""
        places = np.arange(self._area, dtype=Bits)
        discs = (state[DISCS:].view(Bits)[:, None] >> places & ONE).astype(np.int64)
        cells: State = discs[0] + 2 * discs[1]
        return cells

    @property
    def _names(self) -> grid.CellNames:
        return grid.CellNames(self.size, self.size)

    def action_cell(self, state: State, action: int) -> int | None:  # noqa: ARG002
        return action if action < self._area else None

    def symmetries(self) -> Symmetries:
        """Return the eight symmetries of the square.

        Four of them exchange the colours in the middle, so no game reaches the images. An image has
        the value of its position, and a network that learns images learns more from few games.
        """
        cells = grid.board_symmetries(self.size, self.size)
        passes = np.full((len(cells), 1), self._area)
        return Symmetries(actions=np.hstack([cells, passes]), cells=cells)

    def initial_image(self, symmetry: int) -> State:
        state = self.initial_state()
        image = np.empty(self._area, np.int64)
        image[self.symmetries().cells[symmetry]] = self._cells(state)
        state[DISCS:] = _bits_of(image)
        return state

    def render(self, state: State) -> str:
        return "\n".join([*self._names.draw(self._cells(state)), grid.turn_line(int(state[PLY]))])

    def parse(self, diagram: str) -> State:
        cells = grid.read_drawing(diagram, self.size, self.size)
        moves, discs = grid.read_turn(diagram), int((cells != 0).sum()) - 4
        if not cells[self._middle()].all():
            raise GameError("the diagram has an empty cell among the four in the middle")
        if not discs <= moves <= 2 * discs:
            raise GameError(
                f"{moves} moves cannot have added {discs} discs: two passes never follow each other"
            )
        state = self.initial_state()
        state[PLY], state[DISCS:] = moves, _bits_of(cells)
        settle(state)
        return state

    def action_name(self, state: State, action: int) -> str:  # noqa: ARG002
        return PASS if action == self._area else self._names.name(action)

    def parse_action(self, state: State, text: str) -> int:
        name = text.strip()
        passes = name.lower() == PASS
        action = self._area if passes else self._names.parse(text, others=f", or {PASS}")
        mask = self.legal_unless_over(state)
        if mask[self._area] and not passes:
            raise GameError(f"no disc can be placed; type {PASS}")
        if not mask[action]:
            legal_names = (self.action_name(state, int(cell)) for cell in np.flatnonzero(mask))
            fault = "a disc can be placed" if passes else f"{name} encloses nothing"
            raise GameError(f"{fault}; type one of {' '.join(legal_names)}")
        return action
