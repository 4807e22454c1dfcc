"""GTP commands specific to Go: scores, handicaps and SGF.

Other games support what applies to them, and reply `not supported for this game` otherwise.
"""

from pathlib import Path

from alphazero.errors import GameError, RunError
from alphazero.frontends.game_options import resized
from alphazero.frontends.gtp.engine import Engine, Handler
from alphazero.frontends.gtp.position import GtpPosition
from alphazero.frontends.gtp.protocol import GtpError, expect, read_integer
from alphazero.games.game import ONGOING, value_of
from alphazero.games.go.game import Go
from alphazero.games.grid import stones_by_cell
from alphazero.games.registry import name_of
from alphazero.records.sgf import SIZE_LIMIT, read_sgf, write_sgf
from alphazero.records.sgf_export import margin_text, point_difference, result_of
from alphazero.records.sgf_import import steps_of
from alphazero.utils.files import read_limited

OUT_OF_GAME = "not supported for this game"


def _final_score(engine: Engine, arguments: list[str]) -> str:
    """Return the result: B+3.5 or W+12 with points, B+ or W+ without, 0 for a draw.

    Go is scored by area at any time, all stones alive (Tromp-Taylor); other games at their end.
    """
    expect(arguments, 0)
    return _score(engine.position)


def _score(position: GtpPosition) -> str:
    game, state = position.game, position.state
    outcome = game.outcome(state)
    if outcome == ONGOING:
        points = point_difference(game, state) if isinstance(game, Go) else None
        if points is None:
            raise GtpError("cannot score: the game is not over")
        return margin_text(points)
    return result_of(game, state, outcome)


def _final_status_list(engine: Engine, arguments: list[str]) -> str:
    """List the stones of a status, by chain.

    Before the end of a game of Go, chains on cells that the network gives to the other colour are
    dead. All others are alive; none are in seki, where by area scoring the stones count as alive.
    """
    expect(arguments, 1, what="alive, dead or seki")
    if not engine.position.vertices.has_cells:
        raise GtpError(OUT_OF_GAME)
    if arguments[0] not in ("alive", "dead", "seki"):
        raise GtpError(f"invalid status {arguments[0][:20]!r}: expected alive, dead or seki")
    name = engine.position.vertices.cell_name
    chains = _chains_by_status(engine)[arguments[0]]
    return "\n".join(" ".join(map(name, chain)) for chain in chains)


def _chains_by_status(engine: Engine) -> dict[str, list[list[int]]]:
    position, chains = engine.position, _chains(engine.position)
    ownership = None
    if engine.game.stones_can_be_dead:
        ownership = engine.analyzer.predict_end(position.state).ownership
    if ownership is None:
        return {"alive": chains, "dead": [], "seki": []}
    stones = stones_by_cell(position.game, position.state)
    dead = [
        chain
        for chain in chains
        if value_of(1, stones[chain[0]] - 1) * float(ownership[chain].mean()) < 0
    ]
    return {"alive": [each for each in chains if each not in dead], "dead": dead, "seki": []}


def _chains(position: GtpPosition) -> list[list[int]]:
    """Return the cells of each chain of adjacent stones of one colour."""
    stones, columns = stones_by_cell(position.game, position.state), position.vertices.columns
    seen: set[int] = set()
    chains = []
    for start, stone in enumerate(stones):
        if not stone or start in seen:
            continue
        chain, fringe = [], [start]
        seen.add(start)
        while fringe:
            cell = fringe.pop()
            chain.append(cell)
            column = cell % columns
            near = [cell - columns, cell + columns]
            near += [cell - 1] * (column > 0) + [cell + 1] * (column < columns - 1)
            for other in near:
                if 0 <= other < len(stones) and stones[other] == stone and other not in seen:
                    seen.add(other)
                    fringe.append(other)
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
    edges = [2 if side <= 12 else 3 for side in (rows, columns)]
    top, left = edges
    bottom, right = rows - 1 - top, columns - 1 - left
    middle, centre = rows // 2, columns // 2
    # Corners: lower left, upper right, lower right, upper left. Sides: left, right, low, high.
    points = [(bottom, left), (top, right), (bottom, right), (top, left)]
    sides = [(middle, left), (middle, right), (bottom, centre), (top, centre)]
    chosen = points[: min(stones, 4)] + sides[: max(0, (stones - 4) // 2 * 2)]
    chosen += [(middle, centre)] if stones in (5, 7, 9) else []
    return [row * columns + column for row, column in chosen]


def _fixed_handicap(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 1, what="a number of stones")
    vertices = engine.position.vertices
    _require_go(engine)
    stones = read_integer(arguments[0], "stones", 2)
    return _place_handicap(engine, handicap_points(vertices.rows, vertices.columns, stones))


def _place_free_handicap(engine: Engine, arguments: list[str]) -> str:
    """Place at most the given number of handicap stones, on the fixed points."""
    expect(arguments, 1, what="a number of stones")
    _require_go(engine)
    vertices = engine.position.vertices
    stones = read_integer(arguments[0], "stones", 2)
    for fewer in range(min(stones, 9), 1, -1):
        try:
            return _place_handicap(engine, handicap_points(vertices.rows, vertices.columns, fewer))
        except GtpError as error:
            refusal = error
    raise refusal


def _set_free_handicap(engine: Engine, arguments: list[str]) -> str:
    _require_go(engine)
    vertices = engine.position.vertices
    expect(arguments, 2, vertices.rows * vertices.columns - 1, "at least two vertices")
    cells = [vertices.cell(text) for text in arguments]
    if None in cells:
        wrong = arguments[cells.index(None)]
        raise GtpError(f"invalid vertex {wrong[:20]!r}")
    _place_handicap(engine, [cell for cell in cells if cell is not None])
    return ""


def _require_go(engine: Engine) -> None:
    if name_of(engine.game) != "go":
        raise GtpError(OUT_OF_GAME)


def _place_handicap(engine: Engine, cells: list[int]) -> str:
    """Place handicap stones; return their names."""
    engine.position.place(cells)
    engine.handicap = len(engine.position.moves)
    return " ".join(map(engine.position.vertices.cell_name, cells))


def _loadsgf(engine: Engine, arguments: list[str]) -> str:
    """Load the main line of an SGF file, optionally only the moves before a given number.

    The board size is adopted if the player supports it; the komi is not.
    """
    expect(arguments, 1, 2, "a file and optionally a move number")
    last = read_integer(arguments[1], "a move number", 1) - 1 if len(arguments) == 2 else None
    try:
        record = read_sgf(read_limited(Path(arguments[0]), SIZE_LIMIT).decode("utf-8", "replace"))
        game = resized(engine.game, record.rows, record.columns)
        steps = steps_of(game, record, last)
        engine.begin(game)
    except (GameError, RunError, GtpError) as error:
        raise GtpError(f"cannot load file: {error}") from None
    for step in steps:
        if step:
            engine.position.make(step)
    engine.handicap = len(steps[0])
    return ""


def _printsgf(engine: Engine, arguments: list[str]) -> str:
    """Return the game as SGF; for safety, no file is written."""
    expect(arguments, 0)
    position = engine.position
    result = _score(position) if position.is_over else ""
    try:
        return write_sgf(engine.game, position.moves, setup=engine.handicap, result=result)
    except GameError:
        raise GtpError(OUT_OF_GAME) from None


COMMANDS: dict[str, Handler] = {
    "final_score": _final_score,
    "final_status_list": _final_status_list,
    "fixed_handicap": _fixed_handicap,
    "place_free_handicap": _place_free_handicap,
    "set_free_handicap": _set_free_handicap,
    "loadsgf": _loadsgf,
    "printsgf": _printsgf,
}
