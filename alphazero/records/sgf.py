"""Reading of games in SGF, the Smart Game Format, as programs and servers write it.

FF[4], https://www.red-bean.com/sgf/. A file is a collection of game trees. The main line of a tree
takes the first branch at every fork; other branches are its variations. A file is read as far as it
goes: what is left out of a game is listed in its `warnings`, and the moves end where the next one
cannot be read.

    game             GM   points                                 other moves
    Go               1    two letters, column and row, from the  [] passes, and [tt] up to 19 x 19
                          top left: dd
    Othello          2    dd, which is usual but not specified;  [] passes
                          d4 is read too
    m,n,k-games      4    dd
    Hex              11   d4, rows from the top; dd is read too  [swap-pieces] is our swap

A letter and a number, D16, is read in Go and m,n,k-games too, with rows from the bottom.

In Hex Black joins top and bottom, as here. After `swap-sides` a file names the players by the
exchanged colours. It is read as the same game with swapped pieces: the board is reflected and the
colours are changed back. HexGui up to 0.9 wrote `swap-pieces` for `swap-sides`. Little Golem leaves
GM out, and its first player moves as White, joins left and right, but is Black in PB and RE.

The property AZ is our own: the game with its options, as in `alphazero info`. Properties such as EV
and DT are kept as they are, by `sgf_export.TAGS`.
"""

import copy
import re
import string
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from alphazero.errors import GameError
from alphazero.games.game import Game
from alphazero.games.grid import VERTEX_LETTERS, CellNames
from alphazero.games.registry import name_of
from alphazero.records.sgf_text import BEGIN, TOKEN
from alphazero.utils.tables import count_of

SIZE_LIMIT: Final = 1 << 23
"""Maximum size of a file in bytes."""

COUNT_LIMIT: Final = 20_000
"""Maximum number of games in a file, and of nodes and of points set up in a game."""

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

PASS, SWAP = "pass", "swap-pieces"
"""Our games' names of moves without a cell."""

Node = dict[str, list[str]]
"""Properties and their values."""

LETTERS: Final = string.ascii_letters
"""Coordinates of a point: columns from the left, rows from the top."""

_NEXT_GAME = re.compile(r"\(\s*;\s*(?:GM|FF|SZ|CA|AP)\s*\[")
"""The beginning of a game rather than of a branch."""

_OLD_HEXGUI = re.compile(r"HexGui:0\.[0-9](?![0-9])")


class SgfVariation(NamedTuple):
    """Another line of a game."""

    before: int
    """number of the game's moves before it"""
    moves: list[tuple[int, int | str]]
    comments: list[str]
    stones: dict[int, int]
    """set up before its first move"""


@dataclass(frozen=True)
class SgfGame:
    """The main line of a game."""

    rows: int
    columns: int
    number: str
    """the property GM, as in `NUMBERS`"""
    header: Node
    """the properties up to the first move"""
    stones: dict[int, int] = field(default_factory=dict)
    """players by the cells of their stones before the first move"""
    moves: list[tuple[int, int | str]] = field(default_factory=list)
    """player and cell, counted row by row from the top left, or PASS or SWAP"""
    comments: list[str] = field(default_factory=list)
    """one per move; empty if there is none"""
    result: str = ""
    """as B+3.5 or W+R"""
    variations: list[SgfVariation] = field(default_factory=list)
    """those with a move"""
    remark: str = ""
    """the comments before the first move"""
    warnings: list[str] = field(default_factory=list)
    """what was not read, and why, each on one line"""

    def text(self, name: str) -> str:
        """Return the first value of a property of the header; empty without one."""
        return _first(self.header, name)


class MainLine(NamedTuple):
    """The nodes of a game's main line, its variations, and what was not read of it."""

    nodes: list[Node]
    warnings: list[str]
    variations: list[tuple[int, list[Node]]]
    """for each leaf beside the main line the number of nodes before the fork, and those after"""


def read_sgf(text: str) -> SgfGame:
    """Read the main line of a file's first game; raise GameError if it cannot be read."""
    return read_main_line(next(read_collection(text)))


def read_collection(text: str) -> Iterator[MainLine]:
    """Yield the main line of every game of a file; raise GameError if there is none."""
    if len(text) > SIZE_LIMIT:
        raise GameError(f"SGF: longer than {SIZE_LIMIT:,} characters")
    begin, count, place, number = BEGIN.search(text), 0, 0, 1
    if not begin:
        raise GameError("SGF: no game in it; a game begins with '(;'")
    while begin and count < COUNT_LIMIT:
        count += 1
        number += text.count("\n", place, begin.start())
        place = begin.start()
        line, end = _main_line(text, place, number)
        begin = BEGIN.search(text, end)
        if begin and count == COUNT_LIMIT:
            line.warnings.append(f"what follows is left out: more than {COUNT_LIMIT:,} games")
        yield line


class _Tree:
    """A tree of nodes under reading: the path to the last node, and the lines that have ended."""

    def __init__(self) -> None:
        self.line = MainLine([], [], [])
        self.path: list[Node] = []
        self.forks: list[int] = []
        """lengths of the path at the brackets that are open"""
        self.count = 0
        self._shared: int | None = None
        """how many nodes of the path are of the main line, once that has ended"""
        self._room = COUNT_LIMIT
        """nodes that variations may still have"""
        self._has_grown = False

    @property
    def is_full(self) -> bool:
        return self.count > COUNT_LIMIT

    def open(self) -> None:
        self.forks.append(len(self.path))

    def add(self) -> None:
        self.count += 1
        if not self.is_full:
            self.path.append({})
            self._has_grown = True

    def close(self) -> str:
        """End a branch; return what is left out, or an empty text."""
        left_out, shared = "", self._shared
        if shared is None:
            self.line.nodes.extend(self.path or [{}])
            shared = len(self.path)
        elif self._has_grown and self._room:
            variation = shared, self.path[shared:]
            self._room = max(self._room - len(variation[1]), 0)
            if self._room:
                self.line.variations.append(variation)
            else:
                left_out = "the variations from here on are left out: they have too many nodes"
        del self.path[self.forks.pop() :]
        self._shared, self._has_grown = min(shared, len(self.path)), False
        return left_out

    def finished(self) -> MainLine:
        while self.forks:  # brackets that are missing
            self.close()
        return self.line


def _main_line(text: str, start: int, number: int) -> tuple[MainLine, int]:
    """Return the main line of the game at `start`, in line `number`, and the game's end.

    The main line ends at the first closing bracket.
    """

    def warn(words: str) -> None:
        line = number + text.count("\n", start, place)
        tree.line.warnings.extend([f"line {line}: {words}"] if words else [])

    tree, place, name, has_junk = _Tree(), start, "", False
    while tree.forks or not tree.count:
        match = TOKEN.match(text, place)
        if not match or (tree.forks and match[1] == "(" and _NEXT_GAME.match(text, match.start(1))):
            is_bracket = match or not text[place:].strip()
            warn(f"{'the last bracket' if is_bracket else 'the end of a value'} is missing")
            return tree.finished(), match.start() if match else len(text)
        place = match.end()
        sign, word, value, other = match.groups()
        if sign == "(":
            tree.open()
        elif sign == ")" and tree.forks:
            warn(tree.close())
        elif sign == ";" or not (sign or tree.path):
            tree.add()
            if tree.count == COUNT_LIMIT + 1:
                warn(f"what follows is left out: more than {COUNT_LIMIT:,} nodes")
        if tree.is_full:
            continue
        if word:
            # Before FF[4] names could have lower-case letters, which are ignored: Black is B.
            name = "".join(letter for letter in word if letter.isupper())
        elif sign:
            name = ""
        elif value is not None and name:
            tree.path[-1].setdefault(name, []).append(_unescaped(value))
        elif not has_junk:
            has_junk = True
            warn(f"{(other or value)[:20]!r} is left out: it is no property")
    return tree.finished(), place


def read_main_line(line: MainLine) -> SgfGame:
    """Read a main line; raise GameError if its board is larger than SGF has."""
    header: Node = {}
    for node in line.nodes:
        header = node | header
        if node.keys() & {"B", "W"}:
            break
    warnings = list(line.warnings)
    number = _first(header, "GM") or (HEX if _is_hex(header, line.nodes) else GO)
    if not re.fullmatch("[1-9][0-9]?", number):
        warnings.append(f"the game {number[:20]!r} (GM) is read as Go, which is 1")
        number = GO
    size_text = _first(header, "SZ")
    size = re.fullmatch(r"([1-9][0-9]?)(?:\s*[:x]\s*([1-9][0-9]?))?", size_text)
    side = int(size[1]) if size else {OTHELLO: 8, LINES: 15, HEX: 11}.get(number, 19)
    columns, rows = side, int(size[2] or side) if size else side
    if size_text and not size:
        warnings.append(f"the size {size_text[:20]!r} (SZ) is read as {side}")
    if max(columns, rows) > len(LETTERS):
        raise GameError(f"SGF: a board has up to {len(LETTERS)} rows and columns, got {size_text}")
    reader = _Reader(SgfGame(rows, columns, number, header, warnings=warnings))
    lines = defaultdict[int, list[list[Node]]](list)
    for fork, nodes in line.variations:
        lines[fork].append(nodes)
    for number_read, node in enumerate(line.nodes):
        reader.game.variations.extend(filter(None, map(reader.variation, lines[number_read])))
        try:
            reader.read(node)
        except GameError as error:
            warnings.append(f"the moves after move {len(reader.game.moves)} are left out: {error}")
            break
    game = reader.finished()
    same = [line for line in game.variations if line.stones == game.stones]
    if left_out := len(game.variations) - len(same):
        warnings.append(f"{count_of(left_out, 'variation')} left out, with other stones set up")
    return replace(game, variations=same)


def _is_hex(header: Node, nodes: list[Node]) -> bool:
    """Whether a game without GM is Hex, as Little Golem writes it."""
    moves = [value.lower() for node in nodes[1:4] for name in "BW" for value in node.get(name, ())]
    return _first(header, "EV").lower().startswith("hex") or any("swap" in move for move in moves)


class _Reader:
    """Reads stones, moves and comments, node by node."""

    def __init__(self, game: SgfGame) -> None:
        self.game = game
        self.rows, self.columns, self.number = game.rows, game.columns, game.number
        self.old_hexgui = bool(_OLD_HEXGUI.match(game.text("AP")))
        self.remarks: list[str] = []
        self.points = 0
        """number of points and rectangles that were set up"""
        self.result = ""
        """of a game that ends with a resignation or forfeit as a move"""
        self.white_begins = False
        """whether the first player of Hex moves as White"""
        self.sides_swapped = False
        """whether the file has exchanged the names of the players' colours"""

    def read(self, node: Node) -> None:
        moves, comments = self.game.moves, self.game.comments
        for name, values in node.items():
            if name in ("AB", "AW", "AE"):
                if moves:
                    raise GameError(f"the board changes without a move ({name})")
                self._set_up(name, values)
            elif name in ("B", "W"):
                for text in values[:1]:
                    self._move("BW".index(name), text.strip())
                if values[1:]:
                    warning = f"{name}[{values[1][:10]!r}] is left out: a second move in a node"
                    self.game.warnings.append(warning)
        for text in node.get("C", ()):
            if not moves:
                self.remarks.append(text)
            else:
                comments[-1] += ("\n" if comments[-1] else "") + text

    def variation(self, nodes: list[Node]) -> SgfVariation | None:
        """Read nodes that replace the next ones, as far as it goes; None if they hold no move."""
        game, before = self.game, len(self.game.moves)
        other = copy.copy(self)
        other.remarks = []
        other.game = replace(
            game,
            stones={**game.stones},
            moves=[*game.moves],
            comments=[*game.comments],
            warnings=[],
        )
        try:
            for node in nodes:
                other.read(node)
        except GameError as error:
            game.warnings.append(f"a variation ends early: {error}")
        moves, comments = other.game.moves[before:], other.game.comments[before:]
        return SgfVariation(before, moves, comments, other.game.stones) if moves else None

    def finished(self) -> SgfGame:
        result = self.game.text("RE")
        if self.sides_swapped and result[1:2] in ("+", ""):
            result = {"B": "W", "W": "B"}.get(result[:1], result[:1]) + result[1:]
        remark = "\n".join(self.remarks).strip()
        return replace(self.game, result=self.result or result, remark=remark)

    def _set_up(self, name: str, values: list[str]) -> None:
        stones = self.game.stones
        reason = ""
        for text in values:
            self.points += 1
            if self.points > COUNT_LIMIT:
                raise GameError(f"more than {COUNT_LIMIT:,} points are set up")
            try:
                cells = self._cells(text)
            except GameError as error:
                reason = reason or f"a point of {name} is left out: {error}"
                continue
            for cell in cells:
                if name == "AE":
                    stones.pop(cell, None)
                else:
                    stones[cell] = "BW".index(name[1])
        self.game.warnings.extend([reason] if reason else [])

    def _move(self, player: int, text: str) -> None:
        game, word = self.game, text.lower()
        if self.number == HEX and not (game.moves or game.stones):
            self.white_begins = player == 1
        if word in ("resign", "forfeit"):
            loser = player ^ self.white_begins ^ self.sides_swapped
            self.result = f"{'WB'[loser]}+{word[0].upper()}"
            return
        move: int | str
        swaps_sides = word == "swap-sides" or (word == "swap-pieces" and self.old_hexgui)
        if self.number == HEX and (swaps_sides or word in ("swap", SWAP)):
            move = SWAP
        elif word in ("", PASS) or (word == "tt" and max(self.rows, self.columns) <= 19):
            move = PASS
        else:
            move = self._cell(text)
        if self.sides_swapped ^ self.white_begins:
            player = 1 - player
            if isinstance(move, int):
                move = move % self.columns * self.columns + move // self.columns
        self.sides_swapped ^= self.number == HEX and swaps_sides
        game.moves.append((player, move))
        game.comments.append("")

    def _cell(self, text: str) -> int:
        from_top = self.number in (OTHELLO, HEX)
        letters = VERTEX_LETTERS if self.number == GO else string.ascii_lowercase
        cell = CellNames(self.rows, self.columns, letters, from_top, padded=True).read(text)
        if cell is not None:
            return cell
        point = text.lower() if from_top else text
        column, row = (LETTERS.find(letter) for letter in (point if len(point) == 2 else "??"))
        if not (0 <= column < self.columns and 0 <= row < self.rows):
            last = write_move(self.rows * self.columns - 1, self.rows, self.columns, self.number)
            raise GameError(
                f"{text[:10]!r} is no point on a board of {self.columns} x {self.rows}, whose last "
                f"point is {last}"
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


def number_of(game: Game) -> str:
    """Return the property GM of a game; raise GameError if it has none here."""
    name = name_of(game)
    if name not in NUMBERS:
        raise GameError(f"SGF is possible for {', '.join(NUMBERS)}, not for {name}")
    return NUMBERS[name]


def write_move(action: int, rows: int, columns: int, number: str) -> str:
    """Write a move; the action after the last cell is the swap in Hex, else the pass."""
    if action >= rows * columns:
        return SWAP if number == HEX else ""
    row, column = divmod(action, columns)
    return f"{LETTERS[column]}{row + 1}" if number == HEX else LETTERS[column] + LETTERS[row]


def _first(node: Node, name: str) -> str:
    return node.get(name, [""])[0].strip()


def _unescaped(text: str) -> str:
    """Return text without escapes; an escaped line break disappears."""
    return re.sub(r"\\(\r\n|\n\r|.)", lambda match: match[1].strip("\r\n"), text, flags=re.DOTALL)
