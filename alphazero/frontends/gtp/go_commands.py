"""GTP commands specific to Go: scores, handicaps and SGF.

Other games support what applies to them, and reply `not supported for this game` otherwise.
"""

from pathlib import Path
from typing import Final

from alphazero.errors import GameError, RunError
from alphazero.frontends.gtp.commands import MANY, ImmediateCommand
from alphazero.frontends.gtp.engine import Engine, resized
from alphazero.frontends.gtp.position import GtpPosition
from alphazero.frontends.gtp.protocol import GtpError, read_integer
from alphazero.games.game import ONGOING, value_of
from alphazero.games.grid import stones_by_cell
from alphazero.games.registry import name_of
from alphazero.records.sgf import SIZE_LIMIT, read_sgf, write_sgf
from alphazero.records.sgf_export import margin_text, point_difference, result_of
from alphazero.records.sgf_import import steps_of
from alphazero.utils.files import read_limited

OUT_OF_GAME: Final = "not supported for this game"


def _score(position: GtpPosition) -> str:
    """Return the result: B+3.5 or W+12 with points, B+ or W+ without, 0 for a draw.

    Go is scored by area at any time, all stones alive (Tromp-Taylor); other games at their end.
    """
    game, state = position.game, position.state
    outcome = game.outcome(state)
    if outcome != ONGOING:
        return result_of(game, state, outcome)
    points = point_difference(game, state) if name_of(game) == "go" else None
    if points is None:
        raise GtpError("cannot score: the game is not over")
    return margin_text(points)


def _final_status_list(engine: Engine, arguments: list[str]) -> str:
    """List the stones of a status, by chain.

    Before the end of a game of Go, chains on cells that the network gives to the other colour are
    dead. All others are alive; none are in seki, where by area scoring the stones count as alive.
    """
    position, status = engine.position, arguments[0]
    if not position.vertices.has_cells:
        raise GtpError(OUT_OF_GAME)
    if status not in ("alive", "dead", "seki"):
        raise GtpError(f"invalid status {status[:20]!r}: expected alive, dead or seki")
    ownership = None
    if engine.game.stones_can_be_dead:
        ownership = engine.analyzer.predict_end(position.state).ownership
    stones, lines = stones_by_cell(position.game, position.state), []
    for chain in _chains(stones, position.vertices.columns):
        owner = value_of(1, stones[chain[0]] - 1)
        is_dead = ownership is not None and owner * float(ownership[chain].mean()) < 0
        if status == ("dead" if is_dead else "alive"):
            lines.append(" ".join(map(position.vertices.cell_name, chain)))
    return "\n".join(lines)


def _chains(stones: list[int], columns: int) -> list[list[int]]:
    """Return the cells of each chain of adjacent stones of one colour."""
    seen: set[int] = set()
    chains = []
    for start, stone in enumerate(stones):
        if not stone or start in seen:
            continue
        chain = [start]
        seen.add(start)
        for cell in chain:  # grows meanwhile
            column = cell % columns
            near = [cell - columns, cell + columns]
            near += [cell - 1] * (column > 0) + [cell + 1] * (column < columns - 1)
            for other in near:
                if 0 <= other < len(stones) and stones[other] == stone and other not in seen:
                    seen.add(other)
                    chain.append(other)
        chains.append(sorted(chain))
    return chains


def handicap_points(rows: int, columns: int, stones: int) -> list[int]:
    """Return the cells of 2 to 9 fixed handicap stones.

    *Specification of the Go Text Protocol, version 2, draft 2*, section 4.1.1: the third line on
    boards up to 12, the fourth on larger ones; boards of side 7 or an even side have no middle
    line.

    Raises:
        GtpError: when the board does not take that number of stones.
    """
    if min(rows, columns) < 7:
        raise GtpError("invalid handicap: the board is too small")
    has_middle = rows % 2 == columns % 2 == 1 and min(rows, columns) > 7
    if not 2 <= stones <= (9 if has_middle else 4):
        raise GtpError(f"invalid handicap: 2 to {9 if has_middle else 4} stones on this board")
    top, left = (2 if side <= 12 else 3 for side in (rows, columns))
    bottom, right = rows - 1 - top, columns - 1 - left
    middle, centre = rows // 2, columns // 2
    # Corners: lower left, upper right, lower right, upper left. Sides: left, right, low, high.
    points = [(bottom, left), (top, right), (bottom, right), (top, left)]
    sides = [(middle, left), (middle, right), (bottom, centre), (top, centre)]
    points = points[: min(stones, 4)] + sides[: max(0, (stones - 4) // 2 * 2)]
    points += [(middle, centre)] if stones in (5, 7, 9) else []
    return [row * columns + column for row, column in points]


def _handicap_vertices(engine: Engine) -> tuple[int, int]:
    """Return the rows and columns of a board of Go; raise GtpError for other games."""
    if name_of(engine.game) != "go":
        raise GtpError(OUT_OF_GAME)
    return engine.position.vertices.rows, engine.position.vertices.columns


def _fixed_handicap(engine: Engine, arguments: list[str]) -> str:
    board = _handicap_vertices(engine)
    return _place(engine, handicap_points(*board, read_integer(arguments[0], "stones", 2)))


def _place_free_handicap(engine: Engine, arguments: list[str]) -> str:
    """Place at most the given number of handicap stones, on the fixed points."""
    board, stones = _handicap_vertices(engine), read_integer(arguments[0], "stones", 2)
    for fewer in range(min(stones, 9), 2, -1):
        try:
            return _place(engine, handicap_points(*board, fewer))
        except GtpError:
            continue
    return _place(engine, handicap_points(*board, 2))


def _set_free_handicap(engine: Engine, arguments: list[str]) -> str:
    _handicap_vertices(engine)
    cells = []
    for text in arguments:
        cell = engine.position.vertices.cell(text)
        if cell is None:
            raise GtpError(f"invalid vertex {text[:20]!r}")
        cells.append(cell)
    _place(engine, cells)
    return ""


def _place(engine: Engine, cells: list[int]) -> str:
    """Place handicap stones; return their names."""
    engine.position.place(cells)
    engine.handicap = len(engine.position.moves)
    return " ".join(map(engine.position.vertices.cell_name, cells))


def _loadsgf(engine: Engine, arguments: list[str]) -> str:
    """Load the main line of an SGF file, optionally only the moves before a given number.

    The board size is adopted if the player supports it; the komi is not.
    """
    last = read_integer(arguments[1], "a move number", 1) - 1 if len(arguments) == 2 else None
    try:
        record = read_sgf(read_limited(Path(arguments[0]), SIZE_LIMIT).decode("utf-8", "replace"))
        game = resized(engine.game, record.rows, record.columns)
        steps = steps_of(game, record, last)
        engine.begin(game)
    except (GameError, RunError, GtpError) as error:
        raise GtpError(f"cannot load file: {error}") from None
    for step in filter(None, steps):
        engine.position.make(step)
    engine.handicap = len(steps[0])
    return ""


def _printsgf(engine: Engine, _: list[str]) -> str:
    """Return the game as SGF; for safety, no file is written."""
    position = engine.position
    result = _score(position) if position.is_over else ""
    try:
        return write_sgf(engine.game, position.moves, setup=engine.handicap, result=result)
    except GameError:
        raise GtpError(OUT_OF_GAME) from None


COMMANDS: Final = {
    "final_score": ImmediateCommand(lambda engine, _: _score(engine.position)),
    "final_status_list": ImmediateCommand(_final_status_list, 1, "alive, dead or seki"),
    "fixed_handicap": ImmediateCommand(_fixed_handicap, 1, "a number of stones"),
    "place_free_handicap": ImmediateCommand(_place_free_handicap, 1, "a number of stones"),
    "set_free_handicap": ImmediateCommand(_set_free_handicap, 2, "at least two vertices", MANY),
    "loadsgf": ImmediateCommand(_loadsgf, 1, "a file and optionally a move number", 2),
    "printsgf": ImmediateCommand(_printsgf),
}
