"""The search and the network as GoGui draws them on its board.

`gogui-analyze_commands` lists a line `type/label/command` for each. A `dboard` holds numbers, drawn
as black squares if positive and white ones if negative; an `sboard` holds texts, a `cboard` holds
colours; `gfx` is a list of drawing commands (GoGui, *Analyze Commands*).
"""

from collections.abc import Callable
from typing import Final

from alphazero.frontends.game_tree import SearchResult
from alphazero.frontends.gtp.engine import Engine, Handler
from alphazero.frontends.gtp.protocol import GtpError, expect
from alphazero.frontends.katago.report import ownership
from alphazero.games.game import to_play, value_of, win_rate
from alphazero.players.candidates import Candidate
from alphazero.records.gtp_notation import COLOURS

MAX_MOVES: Final = 10
"""Maximum moves labelled by `alphazero-gfx`."""


def _map(write: Callable[[Candidate], str], nothing: str = '""') -> Callable[[Engine], str]:
    """Return a drawing with one word per cell: `write(candidate)`, or `nothing` without one."""

    def draw(engine: Engine) -> str:
        result, vertices = _result(engine), engine.position.vertices
        words = [nothing] * (vertices.rows * vertices.columns)
        for candidate in result.candidates:
            cell = _cell(engine, candidate.action)
            if cell is not None:
                words[cell] = write(candidate)
        return _board(engine, words)

    return draw


def _ownership_map(engine: Engine) -> str:
    """Return who will own each cell: 1 for black, -1 for white."""
    position = engine.position
    shares = ownership(engine.analyzer.predict_end(position.state), 0)
    if shares is None:
        raise GtpError("not supported: this player predicts no ownership")
    return _board(engine, [f"{share:.3f}" for share in shares])


def _drawing(engine: Engine) -> str:
    """Return the search: win rates in percent, shares of visits as colours, the best line."""
    position, vertices, result = engine.position, engine.position.vertices, _result(engine)
    colours = [COLOURS[to_play(position.state)][0], COLOURS[1 - to_play(position.state)][0]]
    labels, lines = [], []
    for candidate in result.candidates[:MAX_MOVES]:
        if not candidate.visits or _cell(engine, candidate.action) is None:
            continue
        name = vertices.name(position.state, candidate.action)
        lines.append(f"COLOR {_red(result.share(candidate))} {name}")
        labels.append(f"{name} {100 * win_rate(candidate.value):.0f}")
    if labels:
        lines.append(f"LABEL {' '.join(labels)}")
    best = vertices.names(position.state, result.candidates[0].line)
    steps = [f"{colours[ply % 2]} {name}" for ply, name in enumerate(best)]
    return "\n".join([*lines, f"VAR {' '.join(steps)}", f"TEXT {_headline(engine, result)}"])


def _win_rate(engine: Engine) -> str:
    return _headline(engine, _result(engine))


def _headline(engine: Engine, result: SearchResult) -> str:
    """Return one line: win rate for black, expected margin, visits."""
    black = win_rate(value_of(1, to_play(engine.position.state)) * result.value)
    margin = "" if result.end.margin is None else f"margin {result.end.margin:+.1f}, "
    return f"black {100 * black:.1f} %, {margin}{result.simulations} visits"


def _red(share: float) -> str:
    """Return a colour between white and red."""
    rest = round(255 * (1 - min(max(share, 0.0), 1.0)))
    return f"#ff{rest:02x}{rest:02x}"


def _result(engine: Engine) -> SearchResult:
    """Return the result for the position; search first if it was never evaluated."""
    position = engine.position
    if position.is_over or not position.vertices.has_cells:
        raise GtpError("no map: the game is over, or its moves are not cells")
    engine.sync()
    if engine.analyzer.roots is None:
        engine.think(None)
    result = SearchResult.of(engine.analyzer, position.state)
    assert result is not None, "the position is evaluated"
    return result


def _cell(engine: Engine, action: int) -> int | None:
    return engine.game.action_cell(engine.position.state, action)


def _board(engine: Engine, words: list[str]) -> str:
    """Format a board with a word for each cell; it begins on a line of its own."""
    return "\n" + "\n".join(engine.position.rows_of(words))


DRAWINGS: Final[dict[str, tuple[str, str, Callable[[Engine], str]]]] = {
    "alphazero-gfx": ("gfx", "Search", _drawing),
    "alphazero-win_rate": ("string", "Win Rate", _win_rate),
    "alphazero-prior_map": ("dboard", "Prior", _map(lambda move: f"{move.prior:.3f}", "0")),
    "alphazero-policy_colors": ("cboard", "Policy Colors", _map(lambda move: _red(move.prior))),
    "alphazero-value_map": (
        "dboard",
        "Value",
        _map(lambda move: f"{move.value:.3f}" if move.visits else "0", "0"),
    ),
    "alphazero-win_rate_map": (
        "sboard",
        "Win Rates",
        _map(lambda move: f"{100 * win_rate(move.value):.0f}" if move.visits else '""'),
    ),
    "alphazero-visit_map": ("sboard", "Visits", _map(lambda move: str(move.visits))),
    "alphazero-ownership_map": ("dboard", "Ownership", _ownership_map),
}
"""Drawings by command: GoGui's type, label and function.

Values and win rates are for the player to move.
"""


def _handler(draw: Callable[[Engine], str]) -> Handler:
    def answer(engine: Engine, arguments: list[str]) -> str:
        expect(arguments, 0)
        return draw(engine)

    return answer


def _list(_: Engine, arguments: list[str]) -> str:
    """List the drawings for GoGui."""
    expect(arguments, 0)
    return "\n".join(f"{kind}/{label}/{word}" for word, (kind, label, _) in DRAWINGS.items())


COMMANDS: dict[str, Handler] = {
    "gogui-analyze_commands": _list,
    **{word: _handler(draw) for word, (_, _, draw) in DRAWINGS.items()},
}
