"""The interface of a game: compiled rules on a row of integers, and text input and output.

A state is one contiguous row `int64 [S]`. Its first three entries are the same in every game:

    state[PLY]         moves played so far; turns alternate strictly, so player ply % 2 is to move
    state[OUTCOME]     ONGOING, or the finished game's result for player 0: +1, 0, -1
    state[LAST]        the last action, -1 at the start

The game's own entries follow: its parameters, so that one compilation serves every board size, then
the board.

Shapes: S state size, A actions, K symmetries, [C, H, W] the observation.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum, auto
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from alphazero.errors import GameError
from alphazero.games.compiled_rules import (
    HEURISTIC_SCALE,
    RuleFunctions,
    gather_rules,
    no_margin,
    no_owners,
)
from alphazero.utils.arrays import BoolArray, Float32Array, Int8Array, Int64Array
from alphazero.utils.jit import inline_kernel, shared_kernel

State = Int64Array
Mask = BoolArray
Planes = Float32Array
Owners = Int8Array
Pieces = Int8Array

PLY, OUTCOME, LAST = 0, 1, 2
HEADER = 3
"""Number of entries before the game's own."""

ONGOING = 2

MOST_ACTIONS = 2**15 - 1
"""Actions of a game, at most, that a search tree can number."""


@shared_kernel
def value_of(outcome: int, player: int) -> int:
    """Convert an absolute outcome (for player 0) to a value relative to `player`.

    This is the only conversion: +1 if `player` won, -1 if the opponent won, 0 for a draw.
    """
    return outcome if player == 0 else -outcome


def value_signs(plies: Int64Array) -> Int64Array:
    """Return the factors by which `value_of` converts for the players to move after `plies`."""
    return np.where(plies % 2, value_of(1, 1), value_of(1, 0))


def win_rate(value: float) -> float:
    """Return the win rate, draws counted half, for a value in [-1, 1]."""
    return (1 + value) / 2


@inline_kernel
def squash(difference: int, scale: int) -> int:
    """Return d / (|d| + scale) of a win as a heuristic, which keeps the order of differences d."""
    share = abs(difference) * HEURISTIC_SCALE // (abs(difference) + scale)
    return share if difference > 0 else -share


class Symmetries(NamedTuple):
    """Symmetries as permutations: number k moves cell c to `cells[k, c]`, action a to
    `actions[k, a]`. The first is the identity.
    """

    actions: Int64Array
    """[K, A]"""
    cells: Int64Array
    """[K, H * W], cells counted row by row"""


class BoardStyle(Enum):
    """How pictures draw a game's board; cells are those of the observation."""

    SQUARES = auto()
    HOLES = auto()
    CHEQUERED = auto()
    INTERSECTIONS = auto()
    HEXAGONS = auto()
    """A rhombus, each row half a cell further to the right than the one above; top and bottom have
    player 0's colour, the other two sides player 1's."""
    PILE = auto()
    """Chips of neither player, in as many rows as needed."""


class Material(Enum):
    """What a game's board is made of: its colours in pictures."""

    WOOD = auto()
    FELT = auto()
    PLASTIC = auto()
    PAPER = auto()


@dataclass(frozen=True)
class Game(ABC):
    """The rules of one game; a subclass's dataclass fields are its options."""

    rule_functions: ClassVar[RuleFunctions]

    observation_options: ClassVar[tuple[str, ...]] = ()
    """The options that change nothing but the observation; the state does not hold them."""

    marginal_options: ClassVar[tuple[str, ...]] = ()
    """Options that matter in few positions: a network plays by all values, not only its own."""

    option_words: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """What the values 0, 1, ... of an option mean, for titles and the page."""

    last_move_in_state_key: ClassVar[bool] = True
    """Whether the rest of a game can depend on the last move, such as a pass in Go.

    If not, positions that differ in nothing else are one for searches and solvers.
    """

    history_in_state: ClassVar[bool] = False
    """Whether states hold earlier positions, so that other move orders lead to other states.

    The search of such a game is always a tree.
    """

    policy_planes: ClassVar[int] = 0
    """The number of planes over the cells into which the first actions divide.

    Action a < policy_planes * H * W is plane a // (H * W), cell a % (H * W), counted row by row.
    The others have no cell, such as a pass. With 0, the default, no action has one: the game then
    has a dense policy head, whatever `network.heads` is. A game whose actions are fewer than
    the places says by `policy_index` where each is.
    """

    piece_kinds: ClassVar[str] = ""
    """The letters of the kinds of pieces; none where all pieces are alike, such as stones."""

    is_turned: ClassVar[bool] = False
    """Whether players see the board turned, so that their pieces move up.

    For player 1 the rows of the observation come in the opposite order, and the actions are those
    of what is seen.
    """

    @property
    def one_sided(self) -> bool:
        """Whether one player hardly ever wins random games: else the contract check objects."""
        return False

    @functools.cached_property
    def rules(self) -> Any:
        """The compiled rules, as kernels take them."""
        return gather_rules(*self.rule_functions)

    @property
    def has_owners(self) -> bool:
        return self.rule_functions.owners is not no_owners

    @property
    def has_margin(self) -> bool:
        return self.rule_functions.margin is not no_margin

    def __getstate__(self) -> dict[str, int]:
        """Pickle only the options: compiled rules cannot be pickled."""
        return self.options

    @abstractmethod
    def initial_state(self) -> State:
        """Return the initial state, `int64 [S]`."""

    @property
    @abstractmethod
    def num_actions(self) -> int:
        """The number of actions A, legal or not."""

    @property
    def most_legal(self) -> int:
        """The most legal actions L of any position: the room of a root, by default A."""
        return self.num_actions

    @property
    def edges_per_node(self) -> int:
        """The room in search trees for the legal actions of a node: a usual number, at most L."""
        return self.most_legal

    @property
    @abstractmethod
    def observation_shape(self) -> tuple[int, int, int]:
        """The shape [C, H, W] of the observation."""

    @property
    @abstractmethod
    def max_moves(self) -> int:
        """The maximum number of moves of a game."""

    @property
    def policy_index(self) -> Int64Array | None:
        """Where each action lies among `policy_planes` * H * W places, `int64 [A]`.

        None, the default, where the first actions fill the planes.
        """
        return None

    def pieces(self, state: State) -> Pieces:
        """Return the pieces, `int8 [H, W]` from the top: k of player 0, -k of player 1, 0 empty.

        k - 1 is the place of the kind in `piece_kinds`. By default the stones of planes 0 and 1.
        """
        own, other = (self.observe(state)[:2] > 0).astype(np.int8)
        stones: Pieces = (own - other) * value_of(1, to_play(state))
        return stones

    def piece_sign(self, piece: int) -> str:
        """Return the letter of one of `pieces`, a capital for player 0, or a dot."""
        letter = self.piece_kinds[abs(piece) - 1] if piece else "."
        return letter if piece > 0 else letter.lower()

    @abstractmethod
    def symmetries(self) -> Symmetries:
        """Return all symmetries of the game."""

    def initial_image(self, symmetry: int) -> State:  # noqa: ARG002
        """Return the image of the initial state under a symmetry: by default the state itself.

        Where the rules know no image of some moves, as of castling, it is a state without them, for
        symmetry 0, too: `check` compares games from there.
        """
        return self.initial_state()

    def key_images(self) -> Int64Array:
        """Return the entries of a state that tell positions apart, `int64 [K, E]`.

        Row k has them in the order of image k; images of a position have the same value. Without
        the ply only whose turn it is counts.
        """
        entries = np.arange(self.state_size)[None]
        return entries if self.last_move_in_state_key else np.delete(entries, LAST, axis=1)

    @abstractmethod
    def render(self, state: State) -> str:
        """Draw the position as text."""

    @abstractmethod
    def parse(self, diagram: str) -> State:
        """Read a drawing of `render`; raise GameError if it is invalid.

        What a drawing does not show stays unknown, such as the last move.
        """

    @abstractmethod
    def action_name(self, state: State, action: int) -> str:
        """Write an action in the game's own notation."""

    @abstractmethod
    def parse_action(self, state: State, text: str) -> int:
        """Read a legal action in the game's notation; raise GameError for any other text."""

    def action_cell(self, state: State, action: int) -> int | None:  # noqa: ARG002
        """Return the cell where a legal action puts a stone of the mover; None, as for a pass.

        Pictures mark the cell, or name the action beside the board.
        """
        return None

    def action_source(self, state: State, action: int) -> int | None:  # noqa: ARG002
        """Return the cell of the stone that an action moves to its `action_cell`; None without."""
        return None

    def move_cells(self, state: State, action: int) -> tuple[int, ...]:
        """Return the cells that a legal action leaves and reaches, as far as it has them."""
        cells = self.action_source(state, action), self.action_cell(state, action)
        return tuple(cell for cell in cells if cell is not None)

    def attacked_cells(self, state: State) -> tuple[int, ...]:  # noqa: ARG002
        """Return the cells of pieces that must be defended at once, as a king in check."""
        return ()

    def winning_cells(self, state: State) -> tuple[int, ...]:  # noqa: ARG002
        """Return the cells of the line or chain that won a finished game; none by default."""
        return ()

    def points(self, state: State) -> tuple[float, float] | None:  # noqa: ARG002
        """Return the points of player 0 and 1, also of an unfinished game; None without points.

        In the end their difference is the margin.
        """
        return None

    @property
    def side_names(self) -> tuple[str, str]:
        """What people call player 0 and player 1.

        Pictures draw stones of a side named as a colour in that colour, and marks for X and O.
        """
        return "X", "O"

    @property
    def stones_can_be_dead(self) -> bool:
        """Whether stones can stay on cells that the other side owns in the end, as in Go."""
        return False

    @property
    def material(self) -> Material:
        return Material.WOOD

    @property
    def board_style(self) -> BoardStyle:
        """How pictures draw the board: stones from planes 0 and 1, labels from action names."""
        return BoardStyle.SQUARES

    @property
    def state_size(self) -> int:
        """The length S of a state."""
        return len(self.initial_state())

    @property
    def options(self) -> dict[str, int]:
        """The game's parameters by name, as `make_game` takes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def state_options(self) -> dict[str, int]:
        """The options that follow the state's header: all but `observation_options`."""
        hidden = self.observation_options
        return {name: value for name, value in self.options.items() if name not in hidden}

    @functools.cached_property
    def _fixed_entries(self) -> tuple[int, Int64Array, Int64Array]:
        """The length of a state; where it holds options that never vary, and their values."""
        names = [*self.state_options]
        fixed = [name for name in names if name not in self.variable_options]
        places = np.array([HEADER + names.index(name) for name in fixed], np.int64)
        return self.state_size, places, np.array([self.options[name] for name in fixed], np.int64)

    def check_state(self, state: State) -> None:
        """Raise GameError unless `state` is one of this game, by its form and the options in it."""
        size, places, values = self._fixed_entries
        is_array = isinstance(state, np.ndarray)
        is_row = is_array and state.dtype == np.int64 and state.shape == (size,)
        if not (is_row and np.array_equal(state[places], values)):
            given = f"{state.dtype} {list(state.shape)}" if is_array else repr(state)
            raise GameError(
                f"expected a state of {self}, int64 [{size}] with its options, as initial_state() "
                f"returns; got {given:.60}"
            )

    @property
    def variable_options(self) -> tuple[str, ...]:
        """The options in which games of one network may differ, such as komi.

        They change nothing but the initial state, and the observation shows them.
        """
        return ()

    @property
    def variable_values(self) -> tuple[int, ...]:
        """The values of `variable_options`."""
        return tuple(getattr(self, option) for option in self.variable_options)

    def variant(self, values: Sequence[int]) -> Self:
        """Return the game with other `values` of `variable_options`; with none, the game itself.

        Raises GameError for a value out of its range.
        """
        if not values or tuple(values) == self.variable_values:
            return self
        return replace(self, **dict(zip(self.variable_options, values, strict=True)))

    def accepts(self, game: Game) -> bool:
        """Whether a network trained on this game can play `game`.

        `game` may differ in `observation_options`, since each player observes by its own rules, in
        `marginal_options`, and in this game's `variable_options`.
        """
        if type(game) is not type(self):
            return False
        free = (*self.observation_options, *self.marginal_options, *self.variable_options)
        return replace(game, **{option: getattr(self, option) for option in free}) == self

    def legal_action_mask(self, state: State) -> Mask:
        """Return the legal actions, `bool [A]`."""
        self.check_state(state)
        mask = np.zeros(self.num_actions, np.bool_)
        self.rule_functions.legal.call_at_once(state.copy(), mask)
        return mask

    def legal_unless_over(self, state: State) -> Mask:
        """Return the legal actions, `bool [A]`; raise GameError if the game is over."""
        mask = self.legal_action_mask(state)
        if not mask.any():
            raise GameError("the game is over")
        return mask

    def play(self, state: State, *actions: int | np.integer[Any]) -> State:
        """Return the position after `actions`; raise GameError at the first illegal one."""
        self.check_state(state)
        state, mask = state.copy(), np.zeros(self.num_actions, np.bool_)
        for action in actions:
            if not isinstance(action, Integral):
                raise GameError(
                    f"an action is a number, got {action!r:.40}; parse_action reads names"
                )
            self.rule_functions.legal.call_at_once(state, mask)
            if not 0 <= action < len(mask) or not mask[action]:
                raise GameError(f"action {action} is not legal here")
            self.rule_functions.play.call_at_once(state, action)
        return state

    def outcome(self, state: State) -> int:
        """Return ONGOING, or the result for player 0: +1, 0, -1."""
        self.check_state(state)
        return int(state[OUTCOME])

    def margin(self, state: State) -> float:
        """Return by how much player 0 won the finished game `state`; 0 without the rule."""
        self.check_state(state)
        return float(self.rule_functions.margin.call_at_once(state.copy()))

    def observe(self, state: State) -> Planes:
        """Return the observation of the player to move, `float32 [C, H, W]`."""
        self.check_state(state)
        planes = np.zeros(self.observation_shape, np.float32)
        self.rule_functions.observe.call_at_once(state.copy(), planes)
        return planes

    def from_moves(self, moves: str | Sequence[str]) -> State:
        """Return the position after moves in the game's notation: names, or a text of them."""
        state = self.initial_state()
        for move in self.split_moves(moves):
            state = self.play(state, self.parse_action(state, move))
        return state

    def action_names(self, state: State, actions: Iterable[int]) -> list[str]:
        """Return the names of successive moves from `state`; raise GameError if one is illegal."""
        names = []
        for action in map(int, actions):
            names.append(self.action_name(state, action))
            state = self.play(state, action)
        return names

    def split_moves(self, line: str | Sequence[str]) -> list[str]:
        """Split a text into names of moves at spaces; names stay as they are.

        Spaces are optional if the name of every first move has one character. Raises GameError for
        anything else, such as actions.
        """
        if not isinstance(line, str):
            if not (isinstance(line, Sequence) and all(isinstance(move, str) for move in line)):
                raise GameError(
                    f"expected names of moves, got {line!r:.60}; Game.play takes actions"
                )
            return list(line)
        state = self.initial_state()
        first = np.flatnonzero(self.legal_action_mask(state)).tolist()
        short = all(len(self.action_name(state, action)) == 1 for action in first)
        return list("".join(line.split())) if short else line.split()


def seen_by_other(state: State) -> State:
    """Return a copy in which the other player is to move, at a ply that a game can have."""
    other = state.copy()
    other[PLY] += 1 if other[PLY] == 0 else -1
    return other


def to_play(state: State) -> int:
    """Return whose turn it is, 0 or 1; also defined for a finished game."""
    return int(state[PLY]) % 2
