"""GTP commands specific to Go: scores, handicaps and SGF.

Other games support what applies to them, and reply `not supported for this game` otherwise.
"""

from pathlib import Path
from typing import Final

from alphazero.errors import AlphaZeroError, GameError
from alphazero.frontends.gtp.engine import Engine, resized
from alphazero.frontends.gtp.protocol import GtpError, read_integer
from alphazero.games.game import ONGOING
from alphazero.games.registry import name_of
from alphazero.records.sgf import SIZE_LIMIT, read_sgf
from alphazero.records.sgf_export import margin_text, point_difference, result_of
from alphazero.records.sgf_import import replay
from alphazero.records.sgf_text import decode
from alphazero.utils.files import read_limited
from alphazero.utils.shared_files import MAX_WARNINGS, warn

OUT_OF_GAME: Final = "not supported for this game"


# --- scores --------------------------------------------------------------------------------------


def final_score(engine: Engine, _: list[str]) -> str:
    """Return the result: B+3.5 or W+12 with points, B+ or W+ without, 0 for a draw.

    Go is scored by area at any time, all stones alive (Tromp-Taylor); other games at their end.
    """
    game, state = engine.game, engine.state
    if engine.is_over:
        return result_of(game, state, game.outcome(state))
    points = point_difference(game, state) if name_of(game) == "go" else None
    if points is None:
        raise GtpError("cannot score: the game is not over")
    return margin_text(points)


def final_status_list(engine: Engine, arguments: list[str]) -> str:
    """List the stones of a status, by chain.

    Before the end of a game of Go, chains on cells that the network gives to the other colour are
    dead. All others are alive; none are in seki, where by area scoring the stones count as alive.
    """
    vertices, status = engine.vertices, arguments[0]
    if not vertices.has_cells:
        raise GtpError(OUT_OF_GAME)
    if status not in ("alive", "dead", "seki"):
        raise GtpError(f"invalid status {status[:20]!r}: expected alive, dead or seki")
    ownership = None
    if engine.game.stones_can_be_dead:
        ownership = engine.analyzer.predict_end(engine.state).ownership
    stones, lines = engine.game.pieces(engine.state).ravel().tolist(), []
    for chain in _chains(stones, vertices.columns):
        owner = stones[chain[0]]
        is_dead = ownership is not None and owner * float(ownership[chain].mean()) < 0
        if status == ("dead" if is_dead else "alive"):
            lines.append(" ".join(map(vertices.cells.name, chain)))
    return "\n".join(lines)


def _chains(stones: list[int], columns: int) -> list[list[int]]:
    """Return the cells of each chain of adjacent stones of one colour."""
    chains, left = [], [cell for cell, stone in enumerate(stones) if stone]
    while left:
        chain = [left[0]]
        for cell in chain:  # grows meanwhile
            row, column = divmod(cell, columns)
            left = [other for other in left if other not in chain]
            chain += [
                other
                for other in left
                if stones[other] == stones[cell]
                and abs(other // columns - row) + abs(other % columns - column) == 1
            ]
        chains.append(sorted(chain))
    return chains


# --- handicaps -----------------------------------------------------------------------------------


def handicap_points(rows: int, columns: int, stones: int) -> list[int]:
    """Return the cells of 2 to 9 fixed handicap stones.

    *Specification of the Go Text Protocol, version 2, draft 2*, section 4.1.1: the third line on
    boards up to 12, the fourth on larger ones; boards of side 7 or an even side have no middle
    line. Raise GtpError when the board does not take that number of stones.
    """
    maximum = _max_handicap(rows, columns)
    if not 2 <= stones <= maximum:
        raise GtpError(f"invalid handicap: 2 to {maximum} stones on this board")
    top, left = (2 if side <= 12 else 3 for side in (rows, columns))
    bottom, right = rows - 1 - top, columns - 1 - left
    middle, centre = rows // 2, columns // 2
    # Corners: lower left, upper right, upper left, lower right. Sides: left, right, low, high.
    points = [(bottom, left), (top, right), (top, left), (bottom, right)]
    sides = [(middle, left), (middle, right), (bottom, centre), (top, centre)]
    points = points[: min(stones, 4)] + sides[: max(0, (stones - 4) // 2 * 2)]
    points += [(middle, centre)] if stones in (5, 7, 9) else []
    return [row * columns + column for row, column in points]


def _max_handicap(rows: int, columns: int) -> int:
    if min(rows, columns) < 7:
        raise GtpError("invalid handicap: the board is too small")
    has_middle = rows % 2 == columns % 2 == 1 and min(rows, columns) > 7
    return 9 if has_middle else 4


def _go_board(engine: Engine) -> tuple[int, int]:
    """Return the rows and columns of a board of Go; raise GtpError for other games."""
    if name_of(engine.game) != "go":
        raise GtpError(OUT_OF_GAME)
    return engine.vertices.rows, engine.vertices.columns


def fixed_handicap(engine: Engine, arguments: list[str]) -> str:
    """Place handicap stones on the fixed points."""
    board = _go_board(engine)
    return _place(engine, handicap_points(*board, read_integer(arguments[0], "stones", 2)))


def place_free_handicap(engine: Engine, arguments: list[str]) -> str:
    """Place at most the given number of handicap stones, on the fixed points."""
    board, stones = _go_board(engine), read_integer(arguments[0], "stones", 2)
    return _place(engine, handicap_points(*board, min(stones, _max_handicap(*board))))


def set_free_handicap(engine: Engine, arguments: list[str]) -> None:
    """Place handicap stones on named points."""
    _go_board(engine)
    cells = []
    for text in arguments:
        cell = engine.vertices.cells.read(text)
        if cell is None:
            raise GtpError(f"invalid vertex {text[:20]!r}")
        cells.append(cell)
    _place(engine, cells)


def _place(engine: Engine, cells: list[int]) -> str:
    """Place stones of player 0 on an empty board, as one step; return their names."""
    if engine.steps:
        raise GtpError("board not empty")
    passing = engine.game.num_actions - 1
    step = tuple(action for cell in cells for action in (passing, cell))[1:]
    try:
        state = engine.game.play(engine.state, *step)
    except GameError:
        raise GtpError("invalid handicap: a stone twice, or without liberties") from None
    if engine.game.outcome(state) != ONGOING:
        raise GtpError("invalid handicap: these moves end the game")
    engine.make(step)
    return " ".join(map(engine.vertices.cells.name, cells))


# --- SGF -----------------------------------------------------------------------------------------


def loadsgf(engine: Engine, arguments: list[str]) -> None:
    """Load the main line of an SGF file, optionally only the moves before a given number.

    The board size is adopted if the player supports it; the komi is not. What is left out is
    written to the standard error.
    """
    *words, end = arguments
    has_number = bool(words) and end.isdecimal()  # a path may have spaces
    path = Path(" ".join(words if has_number else arguments))
    last = read_integer(end, "a move number", 1) - 1 if has_number else None
    try:
        record = read_sgf(decode(read_limited(path, SIZE_LIMIT)))
        game = resized(engine.by_rules(engine.game), record.rows, record.columns)
        game, steps = replay(game, record, last, engine.spec.plays)
        engine.begin(game)
    except AlphaZeroError as error:
        raise GtpError(f"cannot load file: {error}") from None
    for warning in record.warnings[:MAX_WARNINGS]:
        warn(f"loadsgf: {warning}")
    for step in steps if steps[0] else steps[1:]:  # one for each move, also if it is left out
        engine.make(step)
