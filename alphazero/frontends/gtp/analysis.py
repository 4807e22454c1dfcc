"""GTP commands that write the results of a running search, as info lines.

`info move D4 visits 836 winrate 4656 prior 839 lcb 4640 order 0 pv D4 Q16 ...` is Leela Zero's
line, in ten-thousandths; KataGo's has fractions (KataGo, docs/GTP_Extensions.md; Sabaki,
docs/guides/engine-analysis-integration.md). All values are for the player to move, also the score
and ownership, which only KataGo's lines have: they are the network's for the position, the same for
each move, and left out without such heads.
"""

import math
import time
from typing import Any, Final, NamedTuple

from alphazero.frontends.gtp.engine import Engine
from alphazero.frontends.gtp.protocol import GtpError, read_colour, read_integer
from alphazero.games.game import State, to_play, value_of, win_rate
from alphazero.players.end_prediction import EndPrediction
from alphazero.players.position_search import Candidate, SearchResult

IGNORED_KEYS: Final = (
    *("ownershipStdev", "movesOwnership", "movesOwnershipStdev"),
    *("pvVisits", "pvEdgeVisits", "rootInfo", "noResultValue"),
)
"""KataGo options that are accepted and ignored."""

LEELA_ZERO_KEYS: Final = ("move", "visits", "winrate", "prior", "lcb", "order", "pv")
"""The keys of Leela Zero's line."""

CONFIDENCE: Final = 1.96
"""Standard deviations of the lower confidence bound."""

IDLE: Final = 0.05
"""Seconds between polls for input when a search has nothing left to do."""


class Request(NamedTuple):
    """Options of an analysis."""

    player: int
    interval: float
    """seconds between info lines"""
    minimum: int
    """minimum number of reported moves, visited or not"""
    maximum: int
    """maximum number of reported moves"""
    ownership: bool
    """whether the line ends with the ownership of each cell"""


def read_request(arguments: list[str], to_play: int) -> Request:
    """Parse `[color] [interval] [key value]...`; intervals are hundredths of a second.

    Raise GtpError for other arguments.
    """
    words, player, ownership = list(arguments), to_play, False
    numbers = {"interval": 100, "minmoves": 0, "maxmoves": 10**9}
    if words and words[0].lower() in ("b", "w", "black", "white"):
        player = read_colour(words.pop(0))
    if words and words[0].isdigit():
        words.insert(0, "interval")
    while words:
        name = words.pop(0)
        if not words:
            raise GtpError(f"{name[:20]!r} needs a value")
        value = words.pop(0)
        if name in numbers:
            numbers[name] = read_integer(value, name)
        elif name == "ownership":
            ownership = value.lower() == "true"
        elif name not in IGNORED_KEYS:
            raise GtpError(f"not supported: {name[:20]!r}")
    interval = max(numbers["interval"], 1) / 100
    return Request(player, interval, numbers["minmoves"], numbers["maxmoves"], ownership)


class Report:
    """Begins the reply to an analysis, and writes its info lines when they are due."""

    def __init__(self, engine: Engine, arguments: list[str], fractions: bool) -> None:
        """Raise GtpError for a wrong request, PlayerError when the player has no search."""
        self.engine, self.fractions = engine, fractions
        self.request = read_request(arguments, engine.to_play)
        self.passes = engine.passes_before(self.request.player)
        self.state = engine.game.play(engine.state, *self.passes)
        _ = engine.analyzer.search  # raises
        engine.begin_reply()
        self._due = time.monotonic() + self.request.interval

    def write(self, last: bool = False) -> None:
        """Write an info line if it is due, or the last one; without a result, nothing."""
        if not last and time.monotonic() < self._due:
            return
        self._due = time.monotonic() + self.request.interval
        result, request = self.engine.analyzer.result(self.state), self.request
        if result is None:
            return
        visited = sum(candidate.visits > 0 for candidate in result.candidates)
        candidates = result.candidates[: min(max(visited, request.minimum), request.maximum)]
        words = []
        for order, candidate in enumerate(candidates):
            info = _move_info(self.engine, self.state, result, candidate, order)
            words.append("info " + (_fractions if self.fractions else _ten_thousandths)(info))
        if words and self.fractions and request.ownership and result.end.ownership is not None:
            shares = value_of(1, to_play(self.state)) * result.end.ownership
            words += ["ownership", *(f"{share:.6f}" for share in shares)]
        if words:
            self.engine.say(f"{' '.join(words)}\n")


def analyze(engine: Engine, arguments: list[str], fractions: bool) -> None:
    """Search and write info lines until the next line arrives."""
    report, analyzer = Report(engine, arguments, fractions), engine.analyzer
    engine.sync(report.passes)
    analyzer.begin()
    while not engine.lines.is_waiting(IDLE if analyzer.search.has_finished else 0.0):
        analyzer.step()
        report.write()
    analyzer.end()
    report.write(last=True)


def generate(engine: Engine, arguments: list[str], fractions: bool) -> str:
    """Search a move, write info lines meanwhile, and play it."""
    request = read_request(arguments, engine.to_play)
    if engine.is_over:
        return f"play {engine.make_choice(engine.choose(request.player))}"
    report = Report(engine, arguments, fractions)
    step = engine.choose(report.request.player, report.write)
    if step:
        report.write(last=True)
    return f"play {engine.make_choice(step)}"


def _move_info(
    engine: Engine, state: State, result: SearchResult, candidate: Candidate, order: int
) -> dict[str, Any]:
    """Return the result of one move in `state`, by KataGo's names."""
    names, rate = engine.vertices.names(state, candidate.line), win_rate(candidate.value)
    # Rough: a simulation is weaker evidence than a game, but its values vary less.
    deviation = math.sqrt(rate * (1 - rate) / max(candidate.visits, 1))
    return {
        "move": names[0],
        "visits": candidate.visits,
        "utility": 2 * rate - 1,
        "winrate": rate,
        "prior": candidate.prior,
        "lcb": max(0.0, rate - CONFIDENCE * deviation),
        **_score(result.end, to_play(state)),
        "order": order,
        "pv": " ".join(names),
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
    return " ".join(
        f"{name} {value:.6f}" if isinstance(value, float) else f"{name} {value}"
        for name, value in info.items()
    )


def _ten_thousandths(info: dict[str, Any]) -> str:
    """Write Leela Zero's line, with shares in ten-thousandths."""
    values = {key: info[key] for key in LEELA_ZERO_KEYS}
    values |= {key: round(10_000 * info[key]) for key in ("winrate", "prior", "lcb")}
    return _fractions(values)
