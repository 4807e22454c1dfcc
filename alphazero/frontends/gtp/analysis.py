"""Search results for GTP controllers: info lines.

`info move D4 visits 836 winrate 4656 prior 839 lcb 4640 order 0 pv D4 Q16 ...` is Leela Zero's
line, in ten-thousandths; KataGo's has fractions (KataGo, docs/GTP_Extensions.md; Sabaki,
docs/guides/engine-analysis-integration.md). All values are for the player to move, also the score
and ownership, which only KataGo's lines have: they are the network's for the position, the same for
each move, and left out without such heads.
"""

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from alphazero.frontends.gtp.engine import Engine
from alphazero.frontends.gtp.protocol import GtpError, read_colour, read_integer
from alphazero.games.game import State, to_play, value_of, win_rate
from alphazero.players.end_prediction import EndPrediction
from alphazero.players.position_search import Candidate, SearchResult
from alphazero.records.gtp_notation import PASS

DEFAULT_INTERVAL: Final = 1.0
"""Default seconds between info lines."""

IGNORED_KEYS: Final = (
    "ownershipStdev",
    "movesOwnership",
    "movesOwnershipStdev",
    "pvEdgeVisits",
    "noResultValue",
)
"""KataGo options that are accepted and ignored."""

FLAGS: Final = ("ownership", "rootInfo", "pvVisits")
"""KataGo's options for the ownership of each cell, the position itself and visits along lines."""

LEELA_ZERO_KEYS: Final = ("winrate", "prior", "lcb")
"""The shares in Leela Zero's line."""

CONFIDENCE: Final = 1.96
"""Standard deviations of the lower confidence bound."""

STREAMING_COMMANDS: Final = {"analyze": False, "lz-analyze": False, "kata-analyze": True}
"""Commands that analyze until the next line, and whether they write fractions."""

STREAMING_MOVES: Final = {
    "genmove_analyze": False,
    "lz-genmove_analyze": False,
    "kata-genmove_analyze": True,
}
"""Commands that play a move and stream the analysis, and whether they write fractions."""


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
    flags: frozenset[str] = frozenset()
    """those of `FLAGS` that are on"""
    allowed: frozenset[str] | None = None
    """names of the only moves to search, in lower case"""
    avoided: frozenset[str] = frozenset()
    """names of moves not to search, in lower case"""

    def actions(self, engine: Engine, state: State) -> list[int] | None:
        """Return the legal actions to search in `state`; None for all.

        Raises:
            GtpError: for a name that is no move of the board, or when no legal move is left.
        """
        if self.allowed is None and not self.avoided:
            return None
        vertices = engine.position.vertices
        for name in (self.allowed or frozenset()) | self.avoided:
            if vertices.cell(name) is None and name != PASS:
                raise GtpError(f"invalid vertex {name[:20]!r}")
        actions = [
            action
            for action in np.flatnonzero(engine.game.legal_action_mask(state)).tolist()
            if (name := vertices.name(state, action).lower()) not in self.avoided
            and (self.allowed is None or name in self.allowed)
        ]
        if not actions:
            raise GtpError("no legal move is left to search")
        return actions


def read_request(arguments: list[str], to_play: int) -> Request:
    """Parse `[color] [interval] [key value]...`; intervals are hundredths of a second.

    Raises:
        GtpError: for other arguments.
    """
    rest, player = list(arguments), to_play
    numbers = {"interval": 100, "minmoves": 0, "maxmoves": Request.most}
    flags: set[str] = set()
    lists: dict[str, frozenset[str]] = {}
    if rest and rest[0].lower() in ("b", "w", "black", "white"):
        player = read_colour(rest.pop(0))
    if rest and rest[0].isdigit():
        numbers["interval"] = read_integer(rest.pop(0), "an interval")
    while rest:
        name = rest.pop(0)
        if name in ("allow", "avoid"):
            if len(rest) < 3:
                raise GtpError(f"{name} needs a color, vertices with commas, and a depth")
            colour, names, depth = rest[:3]
            del rest[:3]
            read_integer(depth, "a depth", 1)  # only the position itself is restricted
            if read_colour(colour) == player:
                lists[name] = lists.get(name, frozenset()) | set(names.lower().split(","))
            continue
        if not rest:
            raise GtpError(f"{name[:20]!r} needs a value")
        value = rest.pop(0)
        if name in numbers:
            numbers[name] = read_integer(value, name)
        elif name in FLAGS:
            (flags.add if value.lower() == "true" else flags.discard)(name)
        elif name not in IGNORED_KEYS:
            raise GtpError(f"not supported: {name[:20]!r}")
    return Request(
        player,
        max(numbers["interval"], 1) / 100,
        numbers["minmoves"],
        numbers["maxmoves"],
        frozenset(flags),
        lists.get("allow"),
        lists.get("avoid", frozenset()),
    )


def info_line(engine: Engine, state: State, request: Request, fractions: bool) -> str:
    """Format the search result for `state`, best move first; empty without a result."""
    result = engine.analyzer.result(state)
    if result is None:
        return ""
    visited = sum(candidate.visits > 0 for candidate in result.candidates)
    reported = result.candidates[: min(max(visited, request.least), request.most)]
    if not reported:
        return ""
    words = []
    for order, candidate in enumerate(reported):
        info = _move_info(engine, state, result, candidate, order)
        if "pvVisits" in request.flags:
            info |= _line_visits(engine, candidate.line)
        words.append("info " + (_fractions(info) if fractions else _ten_thousandths(info)))
    if fractions and "rootInfo" in request.flags:
        words.append("rootInfo " + _fractions(_root_info(state, result)))
    if fractions and "ownership" in request.flags and result.end.ownership is not None:
        shares = value_of(1, to_play(state)) * result.end.ownership
        words += ["ownership", *(f"{share:.6f}" for share in shares)]
    return " ".join(words)


def _move_info(
    engine: Engine, state: State, result: SearchResult, candidate: Candidate, order: int
) -> dict[str, Any]:
    """Return the result of one move in `state`, by KataGo's names."""
    line, rate = engine.position.vertices.names(state, candidate.line), win_rate(candidate.value)
    # Rough: a simulation is weaker evidence than a game, but its values vary less.
    deviation = math.sqrt(rate * (1 - rate) / max(candidate.visits, 1))
    return {
        "move": line[0],
        "visits": candidate.visits,
        "utility": 2 * rate - 1,
        "winrate": rate,
        "prior": candidate.prior,
        "lcb": max(0.0, rate - CONFIDENCE * deviation),
        **_score(result.end, to_play(state)),
        "order": order,
        "pv": line,
    }


def _line_visits(engine: Engine, line: list[int]) -> dict[str, list[int]]:
    """Return the visits of each move of a line from the position; empty without visits."""
    visits = []
    for ply, action in enumerate(line):
        children = engine.analyzer.search.children_of(0, line[:ply])
        visits += [child.visits for child in children if child.action == action]
    return {"pvVisits": visits} if visits else {}


def _root_info(state: State, result: SearchResult) -> dict[str, Any]:
    """Return the result of the position itself, by KataGo's names."""
    return {
        "currentPlayer": "BW"[to_play(state)],
        "visits": result.simulations,
        "utility": result.value,
        "winrate": win_rate(result.value),
        "rawWinrate": win_rate(result.network_value),
        **_score(result.end, to_play(state)),
    }


def _score(end: EndPrediction, player: int) -> dict[str, float]:
    """Return the player's margin by KataGo's names, the mean of finished self-play games."""
    if end.margin is None or end.margin_spread is None:
        return {}
    lead = value_of(1, player) * end.margin
    # KataGo keeps scoreMean for older programs.
    spread = {"scoreStdev": end.margin_spread}
    return {"scoreMean": lead, **spread, "scoreLead": lead, "scoreSelfplay": lead}


def _fractions(info: dict[str, Any]) -> str:
    """Write KataGo's names and values."""
    words = []
    for name, value in info.items():
        if isinstance(value, list):
            words += [name, *map(str, value)]
        else:
            words += [name, f"{value:.6f}" if isinstance(value, float) else str(value)]
    return " ".join(words)


def _ten_thousandths(info: dict[str, Any]) -> str:
    """Write Leela Zero's line, with shares in ten-thousandths."""
    shares = " ".join(f"{name} {round(10_000 * info[name])}" for name in LEELA_ZERO_KEYS)
    line = " ".join(info["pv"])
    return f"move {info['move']} visits {info['visits']} {shares} order {info['order']} pv {line}"
