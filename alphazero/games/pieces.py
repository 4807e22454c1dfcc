"""Games whose pieces move: positions as text, drawings, and the names of moves.

White, player 0, begins at the bottom and moves up. Cells are counted row by row from the top left,
as in every game; but what a player sees is turned, so that own pieces always move up: for player 1
the rows of the observation and of the actions' cells come in the opposite order.

Positions are written in Forsyth-Edwards notation, FEN: the rows from the top, digits for empty
cells, capitals for White; then who is to move, `w` or `b`, the fields of the game's own, and the
number of the move (Edwards, *Portable Game Notation Specification*, 1994, section 16.1).
"""

import re
import string
from abc import abstractmethod
from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np

from alphazero.errors import GameError
from alphazero.games import grid
from alphazero.games.game import PLY, BoardStyle, Game, Pieces, State, to_play
from alphazero.games.registry import name_of

FEN_FIELDS = 6
PASTED = 1000
"""A text without a line of FEN that is longer is no position."""


class PieceGame(Game):
    """A game whose every action moves a piece from one cell to another."""

    is_turned = True
    last_move_in_state_key = False
    side_names = "White", "Black"
    board_style = BoardStyle.CHEQUERED

    def __init_subclass__(cls) -> None:
        if not cls.piece_kinds:
            raise TypeError(f"{cls.__name__} needs piece_kinds, the letters of its pieces: 'PN'")

    def pieces(self, state: State) -> Pieces:
        """Return the pieces from the first planes of the observation: own ones by kind, others."""
        kinds = 1 + np.arange(len(self.piece_kinds))
        weights = np.concatenate([kinds, -kinds])[:, None, None]
        seen = (self.observe(state)[: len(weights)] * weights).sum(0).astype(np.int8)
        turned: Pieces = seen if to_play(state) == 0 else -seen[::-1]
        return turned

    @property
    def uci_variant(self) -> str:
        """The name of the game for other programs, as in UCI's option UCI_Variant."""
        return name_of(self)

    @abstractmethod
    def set_up(self, pieces: Pieces, ply: int, fields: Sequence[str]) -> State:
        """Return the position after `ply` moves, with its outcome; raise GameError if none is so.

        `fields` are the third to the fifth of a FEN, by default "-", "-" and "0".
        """

    @abstractmethod
    def ends(self, action: int) -> tuple[int, int]:
        """Return the cells that an action leaves and reaches, as the mover sees them."""

    def action_source(self, state: State, action: int) -> int:
        return self.turn_cell(self.ends(action)[0], to_play(state))

    def action_cell(self, state: State, action: int) -> int:
        return self.turn_cell(self.ends(action)[1], to_play(state))

    def fen_fields(self, state: State) -> tuple[str, str, str]:  # noqa: ARG002
        """Return the third to the fifth field of a FEN."""
        return "-", "-", "0"

    def turn_cell(self, cell: int, player: int) -> int:
        """Return where `player` sees a cell, which is also the cell that it sees there."""
        _, rows, columns = self.observation_shape
        return cell if player == 0 else (rows - 1 - cell // columns) * columns + cell % columns

    @property
    def names(self) -> grid.CellNames:
        _, rows, columns = self.observation_shape
        return grid.CellNames(rows, columns, string.ascii_lowercase, from_top=False)

    def write_fen(self, state: State) -> str:
        rows = []
        for row in self.pieces(state).tolist():
            signs = "".join(self.piece_sign(piece) for piece in row)
            rows.append(re.sub(r"\.+", lambda empty: str(len(empty[0])), signs))
        turn, number = "wb"[to_play(state)], 1 + int(state[PLY]) // 2
        return " ".join(["/".join(rows), turn, *self.fen_fields(state), str(number)])

    def read_fen(self, text: str) -> State:
        """Read a FEN, also without its last fields; raise GameError that says what is wrong.

        After more moves than a game may have, the position gets half of them, with room for others;
        after exactly as many it is over.
        """
        fields = text.split()
        if not 1 <= len(fields) <= FEN_FIELDS:
            raise GameError(f"{text[:60]!r} is no FEN: expected 1 to {FEN_FIELDS} fields")
        placement, turn, *rest = [*fields, *("w", "-", "-", "0", "1")[len(fields) - 1 :]]
        if turn not in ("w", "b"):
            raise GameError(f"the FEN has {turn[:10]!r} to move; expected w or b")
        if not re.fullmatch("[0-9]{1,4}", rest[-1]):
            raise GameError(f"the FEN ends with {rest[-1][:10]!r}; expected the number of the move")
        player = "wb".index(turn)
        ply = 2 * max(int(rest[-1]) - 1, 0) + player
        if ply > self.max_moves:
            ply = self.max_moves // 4 * 2 + player
        return self.set_up(self._read_placement(placement), ply, rest[:-1])

    def _read_placement(self, text: str) -> Pieces:
        _, rows, columns = self.observation_shape
        lines = text.split("/")
        if len(lines) != rows:
            raise GameError(f"the FEN has {len(lines)} rows; expected {rows}")
        pieces = np.zeros((rows, columns), np.int8)
        for row, line in enumerate(lines):
            signs = re.sub("[0-9]+", lambda digits: "." * min(int(digits[0]), 99), line)
            number = rows - row
            if len(signs) != columns:
                raise GameError(f"row {number} of the FEN has {len(signs)} cells; it has {columns}")
            for column, sign in enumerate(signs):
                kind = 1 + self.piece_kinds.find(sign.upper())
                if sign != "." and not kind:
                    kinds = ", ".join(self.piece_kinds)
                    raise GameError(f"row {number} of the FEN has {sign!r}; pieces are {kinds}")
                pieces[row, column] = 0 if sign == "." else kind if sign.isupper() else -kind
        return pieces

    def render(self, state: State) -> str:
        """Draw the board, capitals for White, and the FEN."""
        signs = [[self.piece_sign(piece) for piece in row] for row in self.pieces(state).tolist()]
        lines = [f"{self.names.number(row):2} {' '.join(line)}" for row, line in enumerate(signs)]
        letters = "   " + " ".join(self.names.letters[: self.names.columns])
        return "\n".join([*lines, letters, f"FEN: {self.write_fen(state)}"])

    def parse(self, diagram: str) -> State:
        """Read the FEN of a drawing, or a FEN alone."""
        lines = re.findall(r"^FEN: (.*)$", diagram, re.MULTILINE)
        if not lines and len(diagram) > PASTED:
            raise GameError("the text has no line with FEN: and a position")
        return self.read_fen(lines[0] if lines else diagram)

    def move_name(self, state: State, action: int) -> str:
        """Return the cells that an action leaves and reaches, as UCI writes moves: e2e4."""
        ends = self.action_source(state, action), self.action_cell(state, action)
        return "".join(map(self.names.name, ends))

    def action_name(self, state: State, action: int) -> str:
        return self.move_name(state, action)

    def parse_action(self, state: State, text: str) -> int:
        legal = np.flatnonzero(self.legal_unless_over(state)).tolist()
        names = {self.move_name(state, action): action for action in legal}
        # Only between two cells: x is a column, too.
        name = re.sub("(?<=[0-9])[-x ]+(?=[a-z][0-9])", "", text.strip().lower())
        if name not in names:
            example = get_close_matches(name[:20], names, 1, cutoff=0)[0]
            raise GameError(f"{text.strip()[:20]!r} is no legal move; type one such as {example}")
        return names[name]
