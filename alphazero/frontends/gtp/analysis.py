"""Search results for GTP controllers: info lines and maps.

`info move D4 visits 836 winrate 4656 prior 839 lcb 4640 order 0 pv D4 Q16 ...` is Leela Zero's
line, in ten-thousandths; KataGo's has fractions (KataGo, docs/GTP_Extensions.md; Sabaki,
docs/guides/engine-analysis-integration.md). All values are for the player to move, also the score
and ownership, which only KataGo's lines have. They are the network's for the position, without a
search and so the same for each move; without such heads they are left out.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from alphazero.frontends.analyzer import Candidate
from alphazero.frontends.gtp.engine import Engine, Handler
from alphazero.frontends.gtp.protocol import GtpError, expect, read_colour, read_integer
from alphazero.games.game import State, to_play, value_of, win_rate
from alphazero.players.end_prediction import NO_PREDICTION, EndPrediction

DEFAULT_INTERVAL: Final = 1.0
"""Default seconds between info lines."""

CONFIDENCE: Final = 1.96
"""Standard deviations of the lower confidence bound."""

IGNORED_KEYS: Final = (
    "ownershipStdev",
    "movesOwnership",
    "movesOwnershipStdev",
    "pvVisits",
    "pvEdgeVisits",
    "rootInfo",
    "noResultValue",
)
"""KataGo options that are accepted and ignored."""


@dataclass(frozen=True)
class Request:
    """Options of an analysis."""

    player: int
    interval: float = DEFAULT_INTERVAL
    """seconds"""
    least: int = 0
    """minimum number of reported moves, visited or not"""
    most: int = 10**9
    """maximum number of reported moves"""
    ownership: bool = False
    """whether KataGo's lines end with the ownership of each cell"""


def read_request(arguments: list[str], to_play: int) -> Request:
    """Parse `[color] [interval] [key value]...`; intervals are hundredths of a second.

    Raises:
        GtpError: for other arguments.
    """
    rest, player, numbers = list(arguments), to_play, {"interval": 100, "minmoves": 0}
    ownership = False
    if rest and not rest[0].isdigit() and rest[0].lower() in ("b", "w", "black", "white"):
        player = read_colour(rest.pop(0))
    if rest and rest[0].isdigit():
        numbers["interval"] = read_integer(rest.pop(0), "an interval")
    if len(rest) % 2:
        raise GtpError(f"{rest[-1][:20]!r} needs a value")
    for name, value in zip(rest[::2], rest[1::2], strict=True):
        if name in ("interval", "minmoves", "maxmoves"):
            numbers[name] = read_integer(value, name)
        elif name == "ownership":
            ownership = value.lower() == "true"
        elif name not in IGNORED_KEYS:
            raise GtpError(f"not supported: {name[:20]!r}")
    return Request(
        player,
        max(numbers["interval"], 1) / 100,
        numbers["minmoves"],
        numbers.get("maxmoves", Request.most),
        ownership,
    )


def info_line(engine: Engine, state: State, request: Request, fractions: bool) -> str:
    """Format the search result for `state`, best move first; empty without a result."""
    candidates = engine.analyzer.candidates(state)
    visited = sum(candidate.visits > 0 for candidate in candidates)
    reported = candidates[: min(max(visited, request.least), request.most)]
    if not reported:
        return ""
    names, sign = engine.position.vertices.names, value_of(1, to_play(state))
    end = engine.analyzer.predict_end(state) if fractions else NO_PREDICTION
    score = _score(end, sign)
    words = [
        _info(candidate, order, names(state, candidate.line), fractions, score)
        for order, candidate in enumerate(reported)
    ]
    if request.ownership and end.ownership is not None:
        words += ["ownership", *(f"{share:.6f}" for share in sign * end.ownership)]
    return " ".join(words)


def _score(end: EndPrediction, sign: int) -> list[str]:
    """Return KataGo's words for the margin, for player 0 if `sign` is 1, else for player 1."""
    if end.margin is None or end.margin_spread is None:
        return []
    lead = f"{sign * end.margin:.6f}"  # KataGo keeps scoreMean for older programs
    return [f"scoreMean {lead} scoreStdev {end.margin_spread:.6f} scoreLead {lead}"]


def _info(
    candidate: Candidate, order: int, line: list[str], fractions: bool, score: list[str]
) -> str:
    rate = win_rate(candidate.value)
    bound = lower_bound(rate, candidate.visits)
    shares = {"winrate": rate, "prior": candidate.prior, "lcb": bound}
    words = [f"info move {line[0]} visits {candidate.visits}"]
    if fractions:
        shares = {"utility": candidate.value, **shares}
    for name, share in shares.items():
        words.append(f"{name} {share:.6f}" if fractions else f"{name} {round(10_000 * share)}")
    return " ".join([*words, *score, f"order {order} pv", *line])


def lower_bound(rate: float, visits: int) -> float:
    """Return the lower confidence bound of a win rate, with each visit counted as a game.

    The bound is rough: a simulation is weaker evidence than a game, but its values vary less.
    """
    return max(0.0, rate - CONFIDENCE * math.sqrt(rate * (1 - rate) / max(visits, 1)))


def _prior_map(engine: Engine, arguments: list[str]) -> str:
    """Return the network's prior of each cell, in [0, 1]."""
    return _map(engine, arguments, lambda candidate: f"{candidate.prior:.3f}", "0")


def _value_map(engine: Engine, arguments: list[str]) -> str:
    """Return the value of each visited move, in [-1, 1], for the player to move."""
    return _map(engine, arguments, lambda candidate: f"{candidate.value:.3f}", "0")


def _visit_map(engine: Engine, arguments: list[str]) -> str:
    return _map(engine, arguments, lambda candidate: str(candidate.visits), '""')


def _map(
    engine: Engine, arguments: list[str], write: Callable[[Candidate], str], nothing: str
) -> str:
    """Format a board of words; search first if the position was never evaluated."""
    expect(arguments, 0)
    position, vertices = engine.position, engine.position.vertices
    if position.is_over or not vertices.has_cells:
        raise GtpError("no map: the game is over, or its moves are not cells")
    engine.sync()
    if engine.analyzer.roots is None:
        engine.think(None)
    words = [nothing] * (vertices.rows * vertices.columns)
    for candidate in engine.analyzer.candidates(position.state):
        cell = engine.game.action_cell(position.state, candidate.action)
        if cell is not None:
            words[cell] = write(candidate)
    rows = [words[row * vertices.columns :][: vertices.columns] for row in range(vertices.rows)]
    return "\n" + "\n".join(map(" ".join, rows))


MAPS = {
    "alphazero-prior_map": ("dboard", "Prior", _prior_map),
    "alphazero-value_map": ("dboard", "Value", _value_map),
    "alphazero-visit_map": ("sboard", "Visits", _visit_map),
}
"""GoGui maps by command: type, label and handler."""


def _gogui_analyze_commands(_: Engine, arguments: list[str]) -> str:
    """List the maps for GoGui: type/label/command."""
    expect(arguments, 0)
    return "\n".join(f"{kind}/{label}/{word}" for word, (kind, label, _) in MAPS.items())


COMMANDS: dict[str, Handler] = {
    "gogui-analyze_commands": _gogui_analyze_commands,
    **{word: handler for word, (_, _, handler) in MAPS.items()},
}
"""The non-streaming commands of this module."""

STREAMING_COMMANDS: Final = {"analyze": False, "lz-analyze": False, "kata-analyze": True}
"""Commands that analyze until the next line, and whether they write fractions."""

STREAMING_MOVES: Final = {
    "genmove_analyze": False,
    "lz-genmove_analyze": False,
    "kata-genmove_analyze": True,
}
"""Commands that play a move and stream the analysis, and whether they write fractions."""
