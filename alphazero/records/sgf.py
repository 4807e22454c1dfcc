"""Reading of main lines and writing of games in SGF, the Smart Game Format.

FF[4], https://www.red-bean.com/sgf/. A file is a collection of game trees. The main line of a tree
takes the first branch at every fork.

    game             GM   points                                 other moves
    Go               1    two letters, column and row, from the  [] passes, and [tt] up to 19 x 19
                          top left: dd
    Othello          2    dd, which is usual but not specified;  [] passes
                          d4 is read too
    m,n,k-games      4    dd
    Hex              11   d4, rows from the top; dd is read too  [swap-pieces] is our swap

In Hex Black joins top and bottom, as here. After `swap-sides` a file names the players by the
exchanged colours. It is read as the same game with swapped pieces: the board is reflected and the
colours are changed back. HexGui up to 0.9 wrote `swap-pieces` for `swap-sides`.

The property AZ is our own: the game with its options, as in `alphazero list`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from alphazero.errors import GameError
from alphazero.games.game import Game
from alphazero.games.grid import CellNames
from alphazero.games.registry import name_of, write_game

SIZE_LIMIT: Final = 1 << 23
"""Maximum size of a file in bytes."""

DEPTH_LIMIT: Final = 1000
"""Maximum depth of nested branches."""

COUNT_LIMIT: Final = 20_000
"""Maximum number of games in a file, and of nodes in a main line."""

GO, OTHELLO, LINES, HEX = "1", "2", "4", "11"
"""Values of the property GM."""

NUMBERS: Final = {
    "go": GO,
    "othello": OTHELLO,
    "gomoku": LINES,
    "mnk": LINES,
    "tic_tac_toe": LINES,
    "hex": HEX,
}
"""The property GM by our name of the game.

In all these games an action is a cell, counted row by row from the top left, or follows the last.
"""

PASS, SWAP = "pass", "swap"
"""Our games' names of moves without a cell."""

RULES: Final = {(1, 0): "Chinese", (1, 1): "Tromp-Taylor", (2, 0): "AGA", (2, 1): "NZ"}
"""The property RU of Go with the same ko and suicide rules, by our `superko` and `suicide`."""


class MoveNote(NamedTuple):
    """A review's notes on a move."""

    mark: str = ""
    """a property of the node, as BM[1] for a bad move"""
    variation: tuple[int, ...] = ()
    """a better line, starting instead of the move"""


NO_NOTE: Final = MoveNote()
NO_NOTES: Final[Mapping[int, MoveNote]] = {}

Node = dict[str, list[str]]
"""Properties and their values."""

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Coordinates of a point: columns from the left, rows from the top."""

_BEGIN = re.compile(r"\(\s*;")
_TOKEN = re.compile(r"\s*(?:([(;)])|([A-Za-z]+)|\[([^\\\]]*(?:\\.[^\\\]]*)*)\])", re.DOTALL)
_OLD_HEXGUI = re.compile(r"HexGui:0\.[0-9](?![0-9])")


@dataclass(frozen=True)
class SgfGame:
    """The main line of a game."""

    rows: int
    columns: int
    number: str
    """the property GM, as in `NUMBERS`"""
    komi: float | None = None
    black: list[int] = field(default_factory=list)
    """cells with black stones before the first move"""
    white: list[int] = field(default_factory=list)
    moves: list[tuple[int, int | str]] = field(default_factory=list)
    """player and cell, counted row by row from the top left, or PASS or SWAP"""
    comments: list[str] = field(default_factory=list)
    """one per move; empty if there is none"""
    players: tuple[str, str] = ("", "")
    """names of Black and White"""
    result: str = ""
    """as B+3.5 or W+R"""
    remark: str = ""
    """the comment on the whole game"""
    rules: str = ""
    spelling: str = ""
    """the game and its options, if we wrote the file"""


def read_sgf(text: str) -> SgfGame:
    """Read the main line of a file's first game; raise GameError for invalid SGF, with the line."""
    return next(read_collection(text))


def read_collection(text: str) -> Iterator[SgfGame]:
    """Read the main line of every game of a file, at least one; raise GameError as `read_sgf`."""
    if len(text) > SIZE_LIMIT:
        raise GameError(f"SGF: longer than {SIZE_LIMIT:,} characters")
    begin = _BEGIN.search(text)
    if not begin:
        raise GameError("SGF: no game in it; a game begins with '(;'")
    count = 0
    while begin:
        count += 1
        if count > COUNT_LIMIT:
            raise GameError(f"SGF: more than {COUNT_LIMIT:,} games")
        nodes, end = _main_line(text, begin.start())
        yield _game_of(nodes)
        begin = _BEGIN.search(text, end)


def write_sgf(
    game: Game,
    actions: Sequence[int],
    *,
    setup: int = 0,
    result: str = "",
    players: tuple[str, str] = ("", ""),
    comments: Sequence[str] = (),
    remark: str = "",
    notes: Mapping[int, MoveNote] = NO_NOTES,
) -> str:
    """Return a game as SGF; raise GameError if it cannot be written as SGF.

    `comments` are by move, `notes` by the index of a move, `remark` is on the whole game. The first
    `setup` moves are written as setup stones, without passes.
    """
    number, (_, rows, columns) = number_of(game), game.observation_shape
    size = str(columns) if rows == columns else f"{columns}:{rows}"
    root = f";GM[{number}]FF[4]CA[UTF-8]SZ[{size}]AZ[{write_game(game)}]"
    if number == GO:
        rules = RULES.get((game.options["superko"], game.options["suicide"]))
        root += f"KM[{game.options['komi_half_points'] / 2:g}]" + (f"RU[{rules}]" if rules else "")
    for key, value in (("PB", players[0]), ("PW", players[1]), ("RE", result), ("C", remark)):
        root += f"{key}[{_escaped(value)}]" if value else ""
    moves = [_write_move(action, rows, columns, number) for action in actions]
    stones = [[move for move in moves[player:setup:2] if move] for player in (0, 1)]
    if len(stones[0]) > 1 and not stones[1]:
        root += f"HA[{len(stones[0])}]"
    for key, points in zip(("AB", "AW"), stones, strict=True):
        root += key + "".join(f"[{point}]" for point in points) if points else ""
    rest, ends = "", ""
    for ply in range(setup, len(moves)):
        comment = comments[ply] if ply < len(comments) else ""
        note = notes.get(ply, NO_NOTE)
        if note.variation:
            # The main line is the first branch; the others follow where it ends.
            rest += "("
            line = (_write_move(action, rows, columns, number) for action in note.variation)
            names = "".join(f";{'BW'[at % 2]}[{move}]" for at, move in enumerate(line, ply))
            ends = f")\n({names})" + ends
        rest += f";{'BW'[ply % 2]}[{moves[ply]}]{note.mark}"
        rest += f"C[{_escaped(comment)}]\n" if comment else ""
    return f"({root}\n{rest}{ends})\n"


def number_of(game: Game) -> str:
    """Return the property GM of a game; raise GameError if it has none here."""
    name = name_of(game)
    if name not in NUMBERS:
        raise GameError(f"SGF is possible for {', '.join(NUMBERS)}, not for {name}")
    return NUMBERS[name]


def _main_line(text: str, place: int) -> tuple[list[Node], int]:
    """Return the nodes of the main line of the game at `place`, and the game's end.

    The main line ends at the first closing bracket; other branches are only scanned for brackets.
    """
    nodes: list[Node] = []
    name, depth, on_main_line = "", 0, True
    while depth or not nodes:
        match = _TOKEN.match(text, place)
        if not match:
            got = repr(text[place : place + 20]) if text[place:].strip() else "the end of the file"
            raise GameError(f"{_where(text, place)}: expected ( ) ; or a property, got {got}")
        place = match.end()
        sign, word, value = match.groups()
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if depth > DEPTH_LIMIT:
            raise GameError(f"{_where(text, place)}: more than {DEPTH_LIMIT:,} branches deep")
        on_main_line &= sign != ")"
        if not on_main_line:
            continue
        if sign == ";":
            nodes.append({})
            if len(nodes) > COUNT_LIMIT:
                raise GameError(f"{_where(text, place)}: more than {COUNT_LIMIT:,} nodes")
        if word:
            # Before FF[4] names could have lower-case letters, which are ignored: Black is B.
            name = "".join(letter for letter in word if letter.isupper())
            if name in nodes[-1]:
                raise GameError(
                    f"{_where(text, place)}: property {name[:10]} appears twice in a node"
                )
        elif sign:
            name = ""
        elif not name:
            raise GameError(f"{_where(text, place)}: a value without a property: {value[:20]!r}")
        else:
            nodes[-1].setdefault(name, []).append(_unescaped(value))
    return nodes, place


def _where(text: str, place: int) -> str:
    return f"SGF: line {text.count(chr(10), 0, place) + 1}"


def _game_of(nodes: list[Node]) -> SgfGame:
    root = nodes[0]
    number = _first(root, "GM", GO)
    if not re.fullmatch("[1-9][0-9]?", number):
        raise GameError(f"SGF: GM must be a game's number, such as 1 for Go, got {number[:20]!r}")
    size_text = _first(root, "SZ", {OTHELLO: "8", LINES: "15", HEX: "11"}.get(number, "19"))
    size = re.fullmatch(r"([0-9]{1,2})(?::([0-9]{1,2}))?", size_text)
    if not size or not int(size[1]) or (size[2] and not int(size[2])):
        raise GameError(f"SGF: SZ must be a board's size, such as 9 or 9:7, got {size_text[:20]!r}")
    columns, rows = int(size[1]), int(size[2] or size[1])
    if max(columns, rows) > len(_LETTERS):
        raise GameError(f"SGF: a board has up to {len(_LETTERS)} rows and columns, got {size_text}")
    komi = _first(root, "KM")
    if komi and not re.fullmatch(r"-?[0-9]{1,4}(\.[0-9]{0,6})?", komi):
        raise GameError(f"SGF: KM must be a number, got {komi[:20]!r}")
    reader = _Reader(rows, columns, number, bool(_OLD_HEXGUI.match(_first(root, "AP"))))
    for node in nodes:
        reader.read(node)
    return SgfGame(
        rows,
        columns,
        number,
        float(komi) if komi else None,
        reader.black,
        reader.white,
        reader.moves,
        reader.comments,
        (_first(root, "PB"), _first(root, "PW")),
        reader.result or reader.with_our_colours(_first(root, "RE")),
        _first(root, "C"),
        _first(root, "RU"),
        _first(root, "AZ"),
    )


class _Reader:
    """Collects stones, moves and comments, node by node."""

    def __init__(self, rows: int, columns: int, number: str, old_hexgui: bool) -> None:
        self.rows, self.columns, self.number = rows, columns, number
        self.old_hexgui = old_hexgui
        self.black: list[int] = []
        self.white: list[int] = []
        self.moves: list[tuple[int, int | str]] = []
        self.comments: list[str] = []
        self.result = ""
        """of a Hex game that ends with a resignation or forfeit as a move"""
        self.sides_swapped = False
        """whether the file has exchanged the names of the players' colours"""

    def read(self, node: Node) -> None:
        for name, stones in (("AB", self.black), ("AW", self.white)):
            if node.get(name) and self.moves:
                raise GameError(
                    "SGF: stones are set up after the first move; only moves may follow"
                )
            for text in node.get(name, ()):
                stones.extend(self._cells(text))
                if len(stones) > self.rows * self.columns:
                    raise GameError(f"SGF: more stones are set up ({name}) than there are points")
        if "AE" in node:
            raise GameError("SGF: stones are removed (AE); only moves can be read")
        for player, name in enumerate("BW"):
            if name in node:
                self._move(player, node[name][0].strip())
        if self.moves and "C" in node:
            self.comments[-1] = node["C"][0]

    def with_our_colours(self, result: str) -> str:
        """Return a result with the colours that the players have here."""
        if self.sides_swapped and result[1:2] == "+":
            return {"B": "W", "W": "B"}.get(result[0], result[0]) + result[1:]
        return result

    def _move(self, player: int, text: str) -> None:
        word = text.lower()
        if self.number == HEX and word in ("resign", "forfeit"):
            self.result = self.with_our_colours(f"{'WB'[player]}+{word[0].upper()}")
            return
        move: int | str
        swaps_sides = word == "swap-sides" or (word == "swap-pieces" and self.old_hexgui)
        if self.number == HEX and (swaps_sides or word in ("swap-pieces", SWAP)):
            move = SWAP
        elif not text or (text == "tt" and max(self.rows, self.columns) <= 19):
            move = PASS
        else:
            move = self._cell(text)
        if self.sides_swapped:
            player = 1 - player
            if isinstance(move, int):
                move = move % self.columns * self.columns + move // self.columns
        self.sides_swapped ^= self.number == HEX and swaps_sides
        self.moves.append((player, move))
        self.comments.append("")

    def _cell(self, text: str) -> int:
        if self.number in (OTHELLO, HEX):
            text = text.lower()
            cell = CellNames(self.rows, self.columns, padded=True).read(text)
            if cell is not None:
                return cell
        column, row = (_LETTERS.find(letter) for letter in (text if len(text) == 2 else "??"))
        if not (0 <= column < self.columns and 0 <= row < self.rows):
            last = _write_move(self.rows * self.columns - 1, self.rows, self.columns, self.number)
            raise GameError(
                f"SGF: {text[:10]!r} is no point on a board of {self.columns} x {self.rows}, "
                f"whose last point is {last}"
            )
        return row * self.columns + column

    def _cells(self, text: str) -> list[int]:
        """Read a point, or a rectangle of points, `aa:cc`."""
        first, colon, last = text.partition(":")
        begin = self._cell(first.strip())
        end = self._cell(last.strip()) if colon else begin
        return [
            row * self.columns + column
            for row in range(begin // self.columns, end // self.columns + 1)
            for column in range(begin % self.columns, end % self.columns + 1)
        ]


def _first(node: Node, name: str, default: str = "") -> str:
    return node.get(name, [default])[0].strip()


def _write_move(action: int, rows: int, columns: int, number: str) -> str:
    """Write a move; the action after the last cell is the swap in Hex, else the pass."""
    if action >= rows * columns:
        return "swap-pieces" if number == HEX else ""
    row, column = divmod(action, columns)
    return f"{_LETTERS[column]}{row + 1}" if number == HEX else _LETTERS[column] + _LETTERS[row]


def _escaped(text: str) -> str:
    return re.sub(r"([\\\]])", r"\\\1", text)


def _unescaped(text: str) -> str:
    """Return text without escapes; an escaped line break disappears."""
    return re.sub(r"\\(\r\n|\n\r|.)", lambda match: match[1].strip("\r\n"), text, flags=re.DOTALL)
