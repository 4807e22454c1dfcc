"""Chess, Gardner's minichess and Los Alamos chess: one set of rules on three boards.

Gardner's game (Martin Gardner, 1969) has 5 x 5 squares, and is a draw (Mhalla & Prost 2013,
arXiv:1307.7118). Los Alamos chess (Wells and Stein, 1956) has 6 x 6 and no bishops. On both pawns
move one step, and nobody castles.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from alphazero.errors import GameError
from alphazero.games.chess import notation, rules
from alphazero.games.chess.rules import (
    AUTOMATIC,
    CASTLING,
    DIAGONAL,
    KINGS,
    KNIGHTS,
    MAX_MOVES,
    MOST_MOVES,
    OCCURRED,
    OTHER,
    OWN,
    PASSANT,
    PAWNS,
    QUIET,
    SIZE,
    STATE_SIZE,
    STRAIGHT,
)
from alphazero.games.chess.tables import (
    ACTIONS,
    BISHOP,
    KINDS,
    KING,
    KNIGHT,
    PAWN,
    PROMOTIONS,
    QUEEN,
    ROOK,
    SIZES,
    Bits,
)
from alphazero.games.compiled_rules import RuleFunctions
from alphazero.games.game import HEADER, ONGOING, OUTCOME, Pieces, State, Symmetries, to_play
from alphazero.games.pieces import PieceGame
from alphazero.games.registry import register
from alphazero.utils.arrays import Int64Array

START: Final = {
    5: "rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1",
    6: "rnqknr/pppppp/6/6/PPPPPP/RNQKNR w - - 0 1",
    8: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
}

_LEGAL_MOVES: Final = {5: (128, 24), 6: (184, 32), 8: (218, 48)}
"""The most legal moves, and a usual number. 218 is known for chess (Nenad Petrovic, 1964); the
others are bounds: as many queens as pawns allow, each with its moves on an empty board."""

_IN_KIND: Final = {
    PAWN: (PAWNS,),
    KNIGHT: (KNIGHTS,),
    BISHOP: (DIAGONAL,),
    ROOK: (STRAIGHT,),
    QUEEN: (DIAGONAL, STRAIGHT),
    KING: (KINGS,),
}
"""The sets of the state to which a piece of each kind belongs."""

RIGHTS: Final = "KQkq"
_CORNERS: Final = {"K": (7, 7), "Q": (7, 0), "k": (0, 7), "q": (0, 0)}
"""Row and column of the rook of each right to castle."""


def _order(player: int) -> str:
    """Return the rights to castle in the order of the state's bits: own ones first."""
    return RIGHTS if player == 0 else RIGHTS.swapcase()


@register("gardner", size=5)
@register("los_alamos", size=6)
@register("chess")
@dataclass(frozen=True)
class Chess(PieceGame):
    """Chess on 8 x 8, Gardner's on 5 x 5, Los Alamos chess on 6 x 6.

    Draws: stalemate, fifty moves without a capture or a pawn move, the third occurrence of a
    position, too few pieces for a mate, and `MAX_MOVES`. With `automatic_draws` 0 fifty moves and
    the third occurrence are no draws, as in games where nobody claimed them, and the limit is
    `MOST_MOVES`.
    """

    size: int = 8
    automatic_draws: int = 1

    rule_functions = RuleFunctions(
        rules.legal, rules.play, rules.observe, rules.material_and_mobility, rules.wins_at_once
    )
    history_in_state = True
    marginal_options = ("automatic_draws",)
    option_words: ClassVar = {"automatic_draws": ("no", "yes")}
    piece_kinds = KINDS

    def __post_init__(self) -> None:
        if self.size not in SIZES:
            raise GameError(f"size must be one of {', '.join(map(str, SIZES))}, got {self.size}")
        if self.automatic_draws not in (0, 1):
            raise GameError(f"automatic_draws must be 0 or 1, got {self.automatic_draws}")

    @property
    def uci_variant(self) -> str:
        return {5: "gardner", 6: "losalamos", 8: "chess"}[self.size]

    def initial_state(self) -> State:
        return self.read_fen(START[self.size])

    @property
    def num_actions(self) -> int:
        return len(ACTIONS[self.size].sources)

    @property
    def policy_planes(self) -> int:  # type: ignore[override]
        """73 on 8 x 8."""
        return 8 * (self.size - 1) + 8 + 3 * len(PROMOTIONS[self.size])

    @property
    def policy_index(self) -> Int64Array:
        return np.array(ACTIONS[self.size].places, np.int64)

    @property
    def most_legal(self) -> int:
        return _LEGAL_MOVES[self.size][0]

    @property
    def edges_per_node(self) -> int:
        return _LEGAL_MOVES[self.size][1]

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """Own pieces by kind (P, N, B, R, Q, K), opponent's pieces by kind, whether the position
        occurred before, the quiet moves as a share of the limit, ones; on 8 x 8 also four rights to
        castle and the cell to capture on en passant; as the player to move sees the board.
        """
        return 20 if self.size == 8 else 15, self.size, self.size

    @property
    def max_moves(self) -> int:
        return MAX_MOVES if self.automatic_draws else MOST_MOVES

    def symmetries(self) -> Symmetries:
        """Return the identity and the reflection of left and right.

        It changes the initial position, but later in a game pieces stand on both sides, and what a
        network learns of one helps on the other. The rules let nobody castle in an image, but
        observations and actions are as if one could: a right is to castle short, or long, wherever
        the king stands, and the action is the king's move.
        """
        cells = np.arange(self.size * self.size).reshape(self.size, self.size)
        sources, targets, promotions, _ = ACTIONS[self.size]
        moves = zip(sources, targets, promotions, strict=True)
        numbers = {move: number for number, move in enumerate(moves)}
        reflected = [
            numbers[self._reflect(source), self._reflect(target), promotion]
            for source, target, promotion in numbers
        ]
        return Symmetries(
            np.array([range(self.num_actions), reflected]),
            np.array([cells.ravel(), cells[:, ::-1].ravel()]),
        )

    def _reflect(self, square: int) -> int:
        return square - 2 * (square % 8) + self.size - 1

    def initial_image(self, symmetry: int) -> State:
        """Return the initial position or its reflection, without the rights to castle."""
        placement, turn, _, *fields = START[self.size].split()
        rows = [row[::-1] if symmetry else row for row in placement.split("/")]
        return self.read_fen(" ".join(["/".join(rows), turn, "-", *fields]))

    # --- positions -------------------------------------------------------------------------------

    def fen_fields(self, state: State) -> tuple[str, str, str]:
        rights, passed, order = int(state[CASTLING]), int(state[PASSANT]), _order(to_play(state))
        castling = "".join(sign for sign in RIGHTS if rights >> order.index(sign) & 1)
        target = "-" if passed < 0 else self.names.name(self._cell(passed, to_play(state)))
        return castling or "-", target, str(int(state[QUIET]))

    def set_up(self, pieces: Pieces, ply: int, fields: Sequence[str]) -> State:
        (castling, passed, quiet), player = fields, ply % 2
        for sign, side in ((1, "White"), (-1, "Black")):
            if (kings := int((pieces == sign * KING).sum())) != 1:
                raise GameError(f"{side} has {kings} kings; expected one")
            self._check_counts(pieces * sign, side)
        if (np.abs(pieces[[0, -1]]) == PAWN).any():
            raise GameError("a pawn stands on the first or the last row")
        if not re.fullmatch("-|K?Q?k?q?", castling):
            raise GameError(f"the FEN's rights to castle are {castling[:20]!r}; expected e.g. KQkq")
        for right in castling.strip("-"):
            row, column = _CORNERS[right]
            sign = 1 if right.isupper() else -1
            home = (pieces[row, 4], pieces[row, column]) if self.size == 8 else ()
            if home != (sign * KING, sign * ROOK):
                raise GameError(f"the FEN's right to castle {right} has no king and rook at home")
        if not re.fullmatch("[0-9]{1,3}", quiet):
            counted = f"{quiet[:10]!r} moves without a capture or a pawn move"
            raise GameError(f"the FEN has {counted}; expected a number")
        seen = pieces if player == 0 else -pieces[::-1]
        state = np.zeros(STATE_SIZE, np.int64)
        state[:HEADER] = ply, ONGOING, -1
        state[SIZE], state[AUTOMATIC] = self.size, self.automatic_draws
        for row, column in zip(*seen.nonzero(), strict=True):
            piece, square = int(seen[row, column]), 8 * (self.size - 1 - int(row)) + int(column)
            for index in (OWN if piece > 0 else OTHER, *_IN_KIND[abs(piece)]):
                state[index : index + 1].view(Bits)[:] |= Bits(1) << Bits(square)
        order = _order(player)
        state[CASTLING] = sum(1 << order.index(right) for right in castling.strip("-"))
        state[PASSANT], state[QUIET] = self._passed(state, passed, player), int(quiet)
        if rules.begin(state):
            raise GameError("the side that is not to move is in check")
        return state

    def _check_counts(self, pieces: Pieces, side: str) -> None:
        """Raise GameError for more pieces of a side than pawns and promotions can give.

        `most_legal` rests on it.
        """
        if (count := int((pieces > 0).sum())) > 2 * self.size:
            raise GameError(f"{side} has {count} pieces; at most {2 * self.size} can be")
        placement, pawns = START[self.size].split()[0], int((pieces == PAWN).sum())
        promoted = sum(
            max(0, int((pieces == kind).sum()) - placement.count(letter))
            for kind, letter in enumerate(KINDS, 1)
            if kind != PAWN
        )
        if pawns + promoted > self.size:
            raise GameError(
                f"{side} has {pawns} pawns and {promoted} promoted pieces; at most {self.size} "
                "together can be"
            )

    def _passed(self, state: State, target: str, player: int) -> int:
        """Return the square that a pawn has passed, or -1."""
        if target == "-":
            return -1
        cell = self.names.read(target)
        square = -1 if cell is None else self._square(cell, player)
        pawns, pieces = int(state[OTHER] & state[PAWNS]), int(state[OWN] | state[OTHER])
        if self.size != 8 or square // 8 != 5 or not pawns >> (square - 8) & 1:
            raise GameError(f"no pawn can have passed {target[:10]!r}")
        if (pieces >> square | pieces >> (square + 8)) & 1:
            raise GameError(f"a pawn can have passed {target[:10]!r} only over empty squares")
        return square

    def _cell(self, square: int, player: int) -> int:
        """Return the cell of a square that `player` sees, and so `_square` of a cell."""
        rank, file = divmod(square, 8)
        return self.turn_cell((self.size - 1 - rank) * self.size + file, player)

    def _square(self, cell: int, player: int) -> int:
        row, column = divmod(self.turn_cell(cell, player), self.size)
        return 8 * (self.size - 1 - row) + column

    # --- moves -----------------------------------------------------------------------------------

    def ends(self, action: int) -> tuple[int, int]:
        actions = ACTIONS[self.size]
        return self._cell(actions.sources[action], 0), self._cell(actions.targets[action], 0)

    def attacked_cells(self, state: State) -> tuple[int, ...]:
        """Return the cell of a king in check."""
        if not rules.checks(state):
            return ()
        king = KING if to_play(state) == 0 else -KING
        return (int((self.pieces(state) == king).argmax()),)

    def move_name(self, state: State, action: int) -> str:
        return notation.write_uci(state, action)

    def action_name(self, state: State, action: int) -> str:
        """Return a legal move in algebraic notation."""
        return notation.write_san(
            state, action, np.flatnonzero(self.legal_action_mask(state)).tolist()
        )

    def parse_action(self, state: State, text: str) -> int:
        """Read a move in algebraic notation, or as UCI writes it."""
        legal = np.flatnonzero(self.legal_unless_over(state)).tolist()
        return notation.read_move(state, text, legal)

    # --- drawings --------------------------------------------------------------------------------

    def render(self, state: State) -> str:
        """Add to the drawing how often the position occurred before, if it did."""
        before = int(state[OCCURRED])
        return super().render(state) + (f"\noccurred {before} times before" if before else "")

    def parse(self, diagram: str) -> State:
        state = super().parse(diagram)
        if occurred := re.search(r"^occurred ([12]) times before$", diagram, re.MULTILINE):
            state[OCCURRED] = int(occurred[1])
            if state[OCCURRED] == 2 and state[OUTCOME] == ONGOING and self.automatic_draws:
                state[OUTCOME] = 0
        return state
