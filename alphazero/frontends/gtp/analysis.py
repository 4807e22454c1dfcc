"""What a search has found, as the programs that show it want it: info lines, and maps.

`info move D4 visits 836 winrate 4656 prior 839 lcb 4640 order 0 pv D4 Q16 ...` is Leela Zero's
line, in ten-thousandths; KataGo's has fractions (KataGo, docs/GTP_Extensions.md; Sabaki,
docs/guides/engine-analysis-integration.md). All of it is seen by the player to move. Of points
and ownership, which KataGo tells as well, a network that learned to win knows nothing.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from alphazero.frontends.analyzer import Candidate
from alphazero.frontends.gtp.engine import Engine, Handler
from alphazero.frontends.gtp.protocol import GtpError, expect, read_colour, read_integer
from alphazero.games.game import State

USUAL_INTERVAL: Final = 1.0
"""Seconds between two lines, where nobody says."""

CONFIDENCE: Final = 1.96
"""Standard deviations of the lower bound."""

UNKNOWN_KEYS: Final = (
    "ownership",
    "ownershipStdev",
    "movesOwnership",
    "movesOwnershipStdev",
    "pvVisits",
    "pvEdgeVisits",
    "rootInfo",
    "noResultValue",
)
"""What KataGo can be asked to tell as well: it is not told, but asking is no mistake."""


@dataclass(frozen=True)
class Request:
    """What an analysis is asked for."""

    player: int
    interval: float = USUAL_INTERVAL
    """seconds"""
    least: int = 0
    """moves that are told of even if nothing was looked at"""
    most: int = 10**9
    """moves that are told of, at most"""


def read_request(arguments: list[str], to_play: int) -> Request:
    """Read `[color] [interval] [key value]...`; intervals are hundredths of a second.

    Raises:
        GtpError: for what is none of these.
    """
    rest, player, numbers = list(arguments), to_play, {"interval": 100, "minmoves": 0}
    if rest and not rest[0].isdigit() and rest[0].lower() in ("b", "w", "black", "white"):
        player = read_colour(rest.pop(0))
    if rest and rest[0].isdigit():
        numbers["interval"] = read_integer(rest.pop(0), "an interval")
    if len(rest) % 2:
        raise GtpError(f"{rest[-1][:20]!r} has no value")
    for name, value in zip(rest[::2], rest[1::2], strict=True):
        if name in ("interval", "minmoves", "maxmoves"):
            numbers[name] = read_integer(value, name)
        elif name not in UNKNOWN_KEYS:
            raise GtpError(f"not supported: {name[:20]!r}")
    return Request(
        player,
        max(numbers["interval"], 1) / 100,
        numbers["minmoves"],
        numbers.get("maxmoves", Request.most),
    )


def info_line(engine: Engine, state: State, request: Request, fractions: bool) -> str:
    """Write what the search has found in `state`, best move first; empty before it has anything."""
    candidates = engine.thinker.candidates(state)
    seen = sum(candidate.visits > 0 for candidate in candidates)
    told = candidates[: min(max(seen, request.least), request.most)]
    return " ".join(
        _info(candidate, order, engine.position.vertices.names(state, candidate.line), fractions)
        for order, candidate in enumerate(told)
    )


def _info(candidate: Candidate, order: int, line: list[str], fractions: bool) -> str:
    """Write what was found of one move."""
    rate = win_rate(candidate.value)
    bound = lower_bound(rate, candidate.visits)
    shares = {"winrate": rate, "prior": candidate.prior, "lcb": bound}
    if fractions:
        told = {"utility": f"{candidate.value:.6f}"} | {
            name: f"{share:.6f}" for name, share in shares.items()
        }
    else:
        told = {name: str(round(10_000 * share)) for name, share in shares.items()}
    words = [f"info move {line[0]} visits {candidate.visits}"]
    words += [f"{name} {text}" for name, text in told.items()]
    return " ".join([*words, f"order {order} pv", *line])


def win_rate(value: float) -> float:
    """Return the chance to win, a draw counted as half, of a value from -1 to 1."""
    return (1 + value) / 2


def lower_bound(rate: float, visits: int) -> float:
    """Return the lower end of a win rate's interval: that of so many games, won or lost.

    Single simulations are worth less than games, and their values spread less: it is a rough
    bound, for programs that want one.
    """
    return max(0.0, rate - CONFIDENCE * math.sqrt(rate * (1 - rate) / max(visits, 1)))


def prior_map(engine: Engine, arguments: list[str]) -> str:
    """Tell the prior of each cell: what the network alone thinks of a move there, 0 to 1."""
    return _map(engine, arguments, lambda found: f"{found.prior:.3f}", "0")


def value_map(engine: Engine, arguments: list[str]) -> str:
    """Tell the value of each move that was looked at, -1 to 1, for the player to move."""
    return _map(engine, arguments, lambda found: f"{found.value:.3f}", "0")


def visit_map(engine: Engine, arguments: list[str]) -> str:
    """Tell how often each move was looked at."""
    return _map(engine, arguments, lambda found: str(found.visits), '""')


def _map(
    engine: Engine, arguments: list[str], write: Callable[[Candidate], str], nothing: str
) -> str:
    """Write a board of words, after a search where the position was never looked at."""
    expect(arguments, 0)
    position, vertices = engine.position, engine.position.vertices
    if position.is_over or not vertices.has_cells:
        raise GtpError("there are no moves on cells here")
    engine.sync()
    if engine.thinker.roots is None:
        engine.think(None)
    words = [nothing] * (vertices.rows * vertices.columns)
    for candidate in engine.thinker.candidates(position.state):
        cell = engine.game.action_cell(position.state, candidate.action)
        if cell is not None:
            words[cell] = write(candidate)
    rows = [words[row * vertices.columns :][: vertices.columns] for row in range(vertices.rows)]
    return "\n" + "\n".join(map(" ".join, rows))


MAPS = {
    "alphazero-prior_map": ("dboard", "Prior", prior_map),
    "alphazero-value_map": ("dboard", "Value", value_map),
    "alphazero-visit_map": ("sboard", "Visits", visit_map),
}
"""Maps for GoGui, by their commands: how it draws them, what it calls them."""


def gogui_analyze_commands(_: Engine, arguments: list[str]) -> str:
    """List the maps as GoGui wants to be told of them: type/label/command."""
    expect(arguments, 0)
    return "\n".join(f"{kind}/{label}/{word}" for word, (kind, label, _) in MAPS.items())


COMMANDS: dict[str, Handler] = {
    "gogui-analyze_commands": gogui_analyze_commands,
    **{word: handler for word, (_, _, handler) in MAPS.items()},
}
"""The commands of this file that are answered at once."""

STREAMING_COMMANDS: Final = {"analyze": False, "lz-analyze": False, "kata-analyze": True}
"""Commands that analyze until the next line comes, and whether they write fractions."""

STREAMING_MOVES: Final = {
    "genmove_analyze": False,
    "lz-genmove_analyze": False,
    "kata-genmove_analyze": True,
}
"""Commands that make a move and tell meanwhile."""
