"""Go by the rules of Tromp and Taylor, https://tromp.github.io/go.html.

Black is player 0. A chain without liberties is removed, the opponent's before one's own. Two passes
in a row or the limit of moves end the game; then the larger area wins, with komi added to White's.
An action is a point, counted row by row from the top left, or the pass, which is the last action.
Suicide, which Tromp and Taylor allow, is an option here. `rules.py` has the rules as kernels,
`board.py` the board and its state.

Superko compares keys of 64 bits. Two positions with the same key by chance only make a legal move
illegal: with 722 moves on 19 x 19 and a check of every legal move, once in 10^11 games.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from alphazero.errors import GameError
from alphazero.games import grid
from alphazero.games.compiled_rules import RuleFunctions
from alphazero.games.game import (
    LAST,
    ONGOING,
    OUTCOME,
    PLY,
    BoardStyle,
    Game,
    State,
    Symmetries,
    to_play,
)
from alphazero.games.go.board import (
    EMPTY,
    FIRST_KEY,
    HISTORY,
    LONGEST_SIDE,
    SIMPLE,
    SITUATIONAL,
    WALL,
)
from alphazero.games.go.features import NUM_PLANES, observe_features
from alphazero.games.go.rules import (
    from_stones,
    lead,
    legal,
    margin,
    observe,
    owners,
    play,
    set_ko,
    stones_of,
    wins_at_once,
    without_history,
)
from alphazero.games.registry import register

STATUS = (
    r"^(?P<moves>[0-9]{1,4}) moves, (?:(?P<over>over)|(?P<turn>[XO]) to play)"
    r"(?P<passed>, [XO] passed)?(?:, ko at (?P<ko>[A-Z0-9 ]+))?[:;]"
)
"""The status line below a diagram."""

MOST_MOVES = 5000


@register("go")
@dataclass(frozen=True)
class Go(Game):
    """Go on `rows` x `columns`.

    `komi_half_points` is White's compensation for moving second, in half points: 15 is a komi of
    7.5. `superko` is 0 for simple ko (forbids the position before the opponent's move), 1 for
    positional superko (forbids every earlier position), 2 for situational superko (forbids every
    earlier position with the same player to move). `suicide` 1 allows suicide. The game is over
    after `moves` moves; 0 means twice the board's points: 722 on 19 x 19, as in AlphaGo Zero
    (Methods, "Self-play"). `features` 0 shows the network AlphaGo Zero's planes; 1 shows liberties,
    points forbidden by ko, the last moves, unconditional life, komi and the moves left, see
    `features.py`.
    """

    rows: int = 9
    columns: int = 9
    komi_half_points: int = 15
    superko: int = 1
    suicide: int = 0
    moves: int = 0
    features: int = 0

    history_in_state = True
    policy_planes = 1
    observation_options = ("features",)
    marginal_options = "superko", "suicide", "moves"
    option_words: ClassVar = {
        "superko": ("simple", "positional", "situational"),
        "suicide": ("forbidden", "allowed"),
    }
    side_names = "Black", "White"
    stones_can_be_dead = True
    board_style = BoardStyle.INTERSECTIONS

    @property
    def rule_functions(self) -> RuleFunctions:  # type: ignore[override]
        """The compiled rules; `features` decides which planes are observed."""
        sees = observe_features if self.features else observe
        return RuleFunctions(legal, play, sees, lead, wins_at_once, owners, margin)

    def __post_init__(self) -> None:
        for option, least, most, unit in (
            ("rows", 1, LONGEST_SIDE, ""),
            ("columns", 1, LONGEST_SIDE, ""),
            ("komi_half_points", -1000, 1000, ""),
            ("superko", SIMPLE, SITUATIONAL, " (0 simple, 1 positional, 2 situational)"),
            ("suicide", 0, 1, " (0 forbidden, 1 allowed)"),
            ("moves", 0, MOST_MOVES, " (0: twice the board's points)"),
            ("features", 0, 1, " (0: AlphaGo Zero's planes, 1: liberties, ko, life, komi)"),
        ):
            if not least <= getattr(self, option) <= most:
                raise GameError(
                    f"{option} must be {least} to {most}{unit}, got {getattr(self, option)}"
                )

    def initial_state(self) -> State:
        header = [0, ONGOING, -1, *self.state_options.values(), FIRST_KEY, 0, 0]
        points = np.zeros((self.rows + 2, self.columns + 1, 4), np.int64)
        points[:, :, 0] = WALL
        inner = points[1:-1, 1:, 0]
        inner[:] = EMPTY + 4
        for edge in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
            inner[edge] -= 1
        words = (points[:, :, 0].size + 63) // 64
        sets = np.zeros((2 + 2 * HISTORY) * words, np.int64)
        # A power of two; a quarter stays free even if every move brings a new position.
        places = 1 << (4 * (self.max_moves + 2) // 3).bit_length() if self.superko else 0
        seen = np.zeros(places, np.int64)
        if places:
            seen[FIRST_KEY % places] = FIRST_KEY
        return np.concatenate([header, points.ravel(), sets, seen])

    @property
    def variable_options(self) -> tuple[str, ...]:
        return ("komi_half_points",) if self.features else ()

    @property
    def pass_action(self) -> int:
        return self.rows * self.columns

    @property
    def num_actions(self) -> int:
        return self.pass_action + 1

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """With features 0 AlphaGo Zero's: own stones and opponent's stones in each of the last 8
        positions, the newest first, and the colour to move; with features 1 those of
        alphazero/games/go/features.py.
        """
        return NUM_PLANES if self.features else 2 * HISTORY + 1, self.rows, self.columns

    @property
    def max_moves(self) -> int:
        return self.moves or 2 * self.rows * self.columns

    @property
    def komi(self) -> float:
        """White's compensation for moving second, in points."""
        return self.komi_half_points / 2

    @property
    def one_sided(self) -> bool:
        """Whether komi decides the game: it is more than half the board."""
        return abs(self.komi_half_points) > self.rows * self.columns

    def points(self, state: State) -> tuple[float, float]:
        """Return Black's area, and White's with komi."""
        cells = np.zeros(self.rows * self.columns, np.int8)
        self.rule_functions.owners.call_at_once(state, cells)
        return float((cells > 0).sum()), float((cells < 0).sum()) + self.komi

    def action_cell(self, state: State, action: int) -> int | None:
        """Return the point; None for the pass and for suicide, which leaves no stone."""
        if action == self.pass_action:
            return None
        after = state.copy()
        self.rule_functions.play.call_at_once(after, action)
        return action if stones_of(after)[action] else None

    def symmetries(self) -> Symmetries:
        """Return the board's symmetries: 8 if square, else 4; the pass stays itself."""
        cells = grid.board_symmetries(self.rows, self.columns)
        passing = np.full((len(cells), 1), self.pass_action)
        return Symmetries(np.concatenate([cells, passing], axis=1), cells)

    def render(self, state: State) -> str:
        return "\n".join([*self._names.draw(stones_of(state)), self._status(state)])

    def _status(self, state: State) -> str:
        """Return the player to move or the winner, and what the stones do not show."""
        moves, player = f"{state[PLY]} moves", to_play(state)
        if state[OUTCOME] != ONGOING:
            points = margin(state)
            won = f"{'X' if points > 0 else 'O'} wins by {abs(points):g}" if points else "a draw"
            return f"{moves}, over: {won}; komi {self.komi:g}"
        status = f"{moves}, {'XO'[player]} to play"
        if state[LAST] == self.pass_action:
            status += f", {'OX'[player]} passed"
        free = self.legal_action_mask(without_history(state))
        ko = np.flatnonzero(free & ~self.legal_action_mask(state)).tolist()
        if ko:
            status += ", ko at " + " ".join(self.action_name(state, action) for action in ko)
        return f"{status}; komi {self.komi:g}"

    def parse(self, diagram: str) -> State:
        """Read a drawing of `render`; without its status line X is to move first.

        Earlier positions stay unknown, except those behind the ko points of the status line.
        """
        stones = grid.read_drawing(diagram, self.rows, self.columns)
        status = re.search(STATUS, diagram, re.MULTILINE)
        if not status and "moves" in diagram:
            raise GameError("the line below a diagram must be like '12 moves, X to play;'")
        moves = int(status["moves"]) if status else 0
        if moves > self.max_moves:
            raise GameError(f"the game is over after {self.max_moves} moves, not {moves}")
        if status and status["turn"] and status["turn"] != "XO"[moves % 2]:
            raise GameError(f"after {moves} moves it is {'XO'[moves % 2]}'s turn")
        state = from_stones(self.initial_state(), stones, moves)
        if status and (status["over"] or status["passed"]):
            state[LAST] = self.pass_action
        if moves == self.max_moves or (status and status["over"]):
            state[OUTCOME] = np.sign(margin(state))
        elif status and status["ko"]:
            self._forbid(state, status["ko"].split())
        return state

    def _forbid(self, state: State, names: list[str]) -> None:
        actions = [self._parse_point(name) for name in names[: state[PLY]]]
        if not self.legal_action_mask(state)[actions].all():
            raise GameError("the diagram names a ko where no stone may be placed anyway")
        set_ko(state, actions)
        if self.legal_action_mask(state)[actions].any():
            raise GameError("the diagram names more points than simple ko can forbid")

    def action_name(self, state: State, action: int) -> str:  # noqa: ARG002
        return "pass" if action == self.pass_action else self._names.name(action)

    @property
    def _names(self) -> grid.CellNames:
        return grid.CellNames(self.rows, self.columns, grid.VERTEX_LETTERS, False, padded=True)

    def _parse_point(self, text: str) -> int:
        return self._names.parse(text, "point", ", or pass")

    def parse_action(self, state: State, text: str) -> int:
        action = self.pass_action if text.strip().lower() == "pass" else self._parse_point(text)
        if not self.legal_unless_over(state)[action]:
            name = self.action_name(state, action)
            if stones_of(state)[action]:
                raise GameError(f"{name} is taken; type an empty point")
            if self.legal_action_mask(without_history(state))[action]:
                raise GameError(f"{name} is forbidden by ko: it repeats an earlier position")
            raise GameError(f"{name} is forbidden: the stone would have no liberty")
        return action
