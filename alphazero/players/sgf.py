"""Games of Go and gomoku as SGF: the main line read, a game written.

SGF FF[4], https://www.red-bean.com/sgf/. Points are two letters, column and row from the top
left. A file is a tree of games: what is read of it is the first one's main line, which takes the
first branch at every fork.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from alphazero.errors import GameError
from alphazero.games.game import Game, State

SIZE_LIMIT: Final = 1 << 20
"""Bytes of a file, at most."""

NUMBERS: Final = {"go": "1", "gomoku": "4", "mnk": "4"}
"""The property GM of the games that are known, by our name."""

Node = dict[str, list[str]]
"""Properties and their values."""

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Of a point: columns from the left, rows from the top."""

_TOKEN = re.compile(r"\s*(?:([(;)])|([A-Za-z]+)|\[((?:[^\\\]]|\\.)*)\])", re.DOTALL)


@dataclass(frozen=True)
class SgfGame:
    """The main line of a file."""

    rows: int
    columns: int
    number: str
    """of the game, as `NUMBERS` has them"""
    komi: float | None
    black: list[int] = field(default_factory=list)
    """cells that hold black stones before the first move"""
    white: list[int] = field(default_factory=list)
    moves: list[tuple[int, int | None]] = field(default_factory=list)
    """player, and cell counted row by row from the top left; None: a pass"""


def read_sgf(text: str) -> SgfGame:
    """Read the main line of a file.

    Raises:
        GameError: for what is no SGF, naming the place.
    """
    nodes = _main_line(text)
    root = nodes[0]
    size = re.fullmatch(r"([0-9]{1,2})(?::([0-9]{1,2}))?", _first(root, "SZ", "19"))
    if not size or not int(size[1]) or size[2] == "0":
        raise GameError(f"SGF: SZ is a board's size, got {_first(root, 'SZ')[:20]!r}")
    columns, rows = int(size[1]), int(size[2] or size[1])
    told = _first(root, "KM")
    if told and not re.fullmatch(r"-?[0-9]{1,4}(\.[0-9]{0,6})?", told):
        raise GameError(f"SGF: KM is a number, got {told[:20]!r}")
    game = SgfGame(rows, columns, _first(root, "GM", "1"), float(told) if told else None)
    for node in nodes:
        for name, stones in (("AB", game.black), ("AW", game.white)):
            if node.get(name) and game.moves:
                raise GameError("SGF: stones are set up after the first move; only moves can be")
            stones += [
                cell for text in node.get(name, ()) for cell in _read_cells(text, rows, columns)
            ]
        if "AE" in node:
            raise GameError("SGF: stones are taken off (AE); only moves can be read")
        for player, name in enumerate("BW"):
            if name in node:
                where = node[name][0]
                passes = not where or (where == "tt" and max(rows, columns) <= 19)
                cell = None if passes else _read_cell(where, rows, columns)
                game.moves.append((player, cell))
    return game


def write_sgf(
    game: Game,
    name: str,
    moves: Sequence[tuple[State, int]],
    *,
    first_move: int = 0,
    result: str = "",
    players: tuple[str, str] = ("", ""),
) -> str:
    """Write a game, called `name` in the registry, as each move with the position before it.

    `first_move` is the number of moves that are told as stones set up, their passes left out.

    Raises:
        GameError: for a game that has no number here.
    """
    if name not in NUMBERS:
        raise GameError(f"SGF is written for {', '.join(NUMBERS)}, not for {name}")
    _, rows, columns = game.observation_shape
    size = str(columns) if rows == columns else f"{columns}:{rows}"
    komi = getattr(game, "komi", None)
    root = f";GM[{NUMBERS[name]}]FF[4]CA[UTF-8]SZ[{size}]"
    root += "" if komi is None else f"KM[{komi:g}]"
    for key, value in (("PB", players[0]), ("PW", players[1]), ("RE", result)):
        root += f"{key}[{_escaped(value)}]" if value else ""
    points = []
    for state, action in moves:
        cell = game.action_cell(state, action)
        points.append("" if cell is None else _write_cell(cell, columns))
    stones = [point for point in points[:first_move] if point]
    if stones:
        root += f"HA[{len(stones)}]AB" + "".join(f"[{point}]" for point in stones)
    rest = "".join(
        f";{'BW'[ply % 2]}[{point}]" for ply, point in enumerate(points) if ply >= first_move
    )
    return f"({root}\n{rest})\n"


def _main_line(text: str) -> list[Node]:
    """Return the nodes of the first game's main line, which ends where the first branch does."""
    nodes: list[Node] = []
    name = ""
    for sign, word, value in _tokens(text):
        if sign == ")":
            return nodes
        if sign == ";":
            nodes.append({})
        if word:
            name = "".join(letter for letter in word if letter.isupper())
            if name in nodes[-1]:
                raise GameError(f"SGF: property {name[:10]} stands twice in a node")
        elif sign:
            name = ""
        elif not name:
            raise GameError(f"SGF: a value without a property: {value[:20]!r}")
        else:
            nodes[-1].setdefault(name, []).append(re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL))
    raise AssertionError("a file that does not end its game is told by _tokens")


def _tokens(text: str) -> list[tuple[str, str, str]]:
    """Return the first game as brackets and semicolons, names of properties, and values."""
    if len(text) > SIZE_LIMIT:
        raise GameError(f"SGF: longer than {SIZE_LIMIT:,} characters")
    tokens: list[tuple[str, str, str]] = []
    place, depth = text.find("(;"), 0
    if place < 0:
        raise GameError("SGF: no game in it; one begins with '(;'")
    while depth or not tokens:
        found = _TOKEN.match(text, place)
        if not found:
            raise GameError(f"SGF: expected ( ) ; or a property, got {text[place : place + 20]!r}")
        place = found.end()
        tokens.append((found[1] or "", found[2] or "", found[3] or ""))
        depth += {"(": 1, ")": -1}.get(tokens[-1][0], 0)
    return tokens


def _first(node: Node, name: str, default: str = "") -> str:
    return node.get(name, [default])[0].strip()


def _read_cell(text: str, rows: int, columns: int) -> int:
    """Read a point."""
    places = [_LETTERS.find(letter) for letter in text]
    if len(places) != 2 or not (0 <= places[0] < columns and 0 <= places[1] < rows):
        raise GameError(f"SGF: {text[:10]!r} is no point on a board of {columns} x {rows}")
    return places[1] * columns + places[0]


def _read_cells(text: str, rows: int, columns: int) -> list[int]:
    """Read a point, or a rectangle of points, `aa:cc`."""
    first, colon, last = text.partition(":")
    begin = _read_cell(first, rows, columns)
    end = _read_cell(last, rows, columns) if colon else begin
    return [
        row * columns + column
        for row in range(begin // columns, end // columns + 1)
        for column in range(begin % columns, end % columns + 1)
    ]


def _write_cell(cell: int, columns: int) -> str:
    return _LETTERS[cell % columns] + _LETTERS[cell // columns]


def _escaped(text: str) -> str:
    return re.sub(r"([\\\]])", r"\\\1", text)
