"""The positions that a JSON query asks for, and how to search and report them.

KataGo, docs/Analysis_Engine.md, "Queries". Unknown fields, and rules or komi that the player does
not support, give a warning; the nearest supported values are used.
"""

import re
import sys
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from alphazero.errors import AlphaZeroError, GameError, PlayerError
from alphazero.frontends.game_options import player_on, resized, with_komi
from alphazero.frontends.katago.query_fields import QueryError, QueryFields
from alphazero.frontends.katago.rules import read_rules, with_rules
from alphazero.games.game import ONGOING, Game, State, to_play
from alphazero.games.go.game import Go
from alphazero.games.go.rules import from_stones
from alphazero.games.grid import VERTEX_LETTERS
from alphazero.players.registry import PlayerSpec
from alphazero.records.gtp_notation import PASS, GtpNotation, pass_before

PERSPECTIVES: Final = ("BLACK", "WHITE", "SIDETOMOVE")
"""Values of `reportAnalysisWinratesAs`: whose win rates, scores and ownership are reported."""

MAX_VISITS: Final = 10**9

MAX_SECONDS: Final = 10**6

MAX_PRIORITY: Final = 10**9

MAX_KOMI: Final = 150
"""Largest komi, in points, as in KataGo."""

LONGEST_LINE: Final = 15
"""Default of `analysisPVLen`, maximum moves of a line, as in KataGo."""

MIN_INTERVAL: Final = 0.001
"""Least seconds between reports during a search."""

IGNORED: Final = ("includeNoResultValue",)
"""Fields that are accepted and have no effect here."""


@dataclass(frozen=True)
class QueriedPosition:
    """A position to analyze."""

    turn: int
    """number of moves of the query before it"""
    state: State
    priority: int
    allowed: list[int] | None = None
    """the only moves to search"""


@dataclass
class Query:
    """An analysis that was asked for."""

    id: str
    spec: PlayerSpec
    """the player for `game`"""
    game: Game
    notation: GtpNotation
    simulations: int | None
    seconds: float | None
    perspective: str
    positions: list[QueriedPosition] = field(default_factory=list)
    report_interval: float | None = None
    """seconds between reports during the search; None for no reports"""
    ownership: bool = False
    policy: bool = False
    line_visits: bool = False
    longest_line: int = LONGEST_LINE
    warnings: list[tuple[str, str]] = field(default_factory=list)
    """field and text"""

    def player(self, state: State) -> int:
        """Return the player whose numbers are reported for a position."""
        if self.perspective == "SIDETOMOVE":
            return to_play(state)
        return PERSPECTIVES.index(self.perspective)


class QueryReader:
    """Reads queries for one player."""

    def __init__(self, spec: PlayerSpec, game: Game, perspective: str) -> None:
        self.spec, self.game, self.perspective = spec, game, perspective
        self._specs = [spec]
        """The player on every board and by all rules that were asked for."""

    def read(self, query_id: str, given: dict[str, Any]) -> Query:
        """Return what a query asks for.

        Raises:
            QueryError: for a query that cannot be answered.
        """
        fields, warnings = QueryFields(given), list[tuple[str, str]]()
        fields.take("id")
        game = self._game(fields, warnings)
        options = self.spec.options
        query = Query(
            query_id,
            self._spec_for(game),
            game,
            GtpNotation(game),
            options.default_simulations,
            getattr(options, "seconds", None),
            self.perspective,
            warnings=warnings,
        )
        self._read_search(fields, query)
        states = self._states(fields, query)
        self._read_positions(fields, query, states)
        for name in IGNORED:
            fields.take(name)
        warnings += [(name, "Unexpected or unused field") for name in fields.unread]
        return query

    def _spec_for(self, game: Game) -> PlayerSpec:
        """Return the player for a game.

        Raises:
            PlayerError: when it does not play it.
        """
        known = next((spec for spec in self._specs if spec.plays(game)), None)
        if known is None:
            known = player_on(self.spec, self.game, game)
            self._specs.append(known)
            if known.transfer_note:
                print(known.transfer_note, file=sys.stderr)
        return known

    def _game(self, fields: QueryFields, warnings: list[tuple[str, str]]) -> Game:
        """Return the game with the board, the rules and the komi asked for."""
        _, rows, columns = self.game.observation_shape
        largest = len(VERTEX_LETTERS)
        columns = fields.integer("boardXSize", 1, largest, columns)
        rows = fields.integer("boardYSize", 1, largest, rows)
        try:
            game = resized(self.game, rows, columns)
            self._spec_for(game)
        except AlphaZeroError as error:
            raise QueryError(f"Unacceptable size: {error}", "boardXSize") from None
        if "rules" in fields:
            game = self._with_rules(game, fields, warnings)
        if "komi" in fields:
            komi = fields.number("komi", -MAX_KOMI, MAX_KOMI)
            try:
                wanted = with_komi(game, komi)
            except GameError as error:
                raise QueryError(str(error), "komi") from None
            game = self._nearest(wanted, game, "komi", warnings)
        bonus = fields.take("whiteHandicapBonus")
        if bonus not in (None, "0", 0):
            warnings.append(("whiteHandicapBonus", "not supported; give it as komi"))
        return game

    def _with_rules(self, game: Game, fields: QueryFields, warnings: list[tuple[str, str]]) -> Game:
        rules = fields.take("rules")
        if not isinstance(rules, str | dict):
            raise fields.error("rules", "the name of a rule set, or an object", rules)
        try:
            wanted, refused = with_rules(game, read_rules(rules))
        except GameError as error:
            if isinstance(game, Go):
                raise QueryError(str(error), "rules") from None
            warnings.append(("rules", str(error)))
            return game
        warnings += [("rules", text) for text in refused]
        return self._nearest(wanted, game, "rules", warnings)

    def _nearest(
        self, wanted: Game, game: Game, name: str, warnings: list[tuple[str, str]]
    ) -> Game:
        """Return the game wanted, if the player plays it; else warn, and return `game`."""
        try:
            self._spec_for(wanted)
        except PlayerError as error:
            warnings.append((name, str(error)))
            return game
        return wanted

    def _read_search(self, fields: QueryFields, query: Query) -> None:
        """Read the limits of the search and the wanted parts of the report."""
        if "maxVisits" in fields:
            query.simulations = fields.integer("maxVisits", 1, MAX_VISITS)
        if "reportDuringSearchEvery" in fields:
            seconds = fields.number("reportDuringSearchEvery", 0, MAX_SECONDS)
            query.report_interval = max(seconds, MIN_INTERVAL)
        if "analysisPVLen" in fields:
            query.longest_line = fields.integer("analysisPVLen", 1, 1000)
        query.ownership = fields.boolean("includeOwnership")
        query.policy = fields.boolean("includePolicy")
        query.line_visits = fields.boolean("includePVVisits")
        settings = fields.take("overrideSettings")
        if settings is None:
            return
        if not isinstance(settings, dict):
            raise fields.error("overrideSettings", "an object", settings)
        self._override(QueryFields(settings, "overrideSettings."), query)

    def _override(self, settings: QueryFields, query: Query) -> None:
        if "maxVisits" in settings:
            query.simulations = settings.integer("maxVisits", 1, MAX_VISITS)
        if "maxTime" in settings:
            query.seconds = settings.number("maxTime", 0, 1e30)
            query.seconds = query.seconds if query.seconds < MAX_SECONDS else None
        if "analysisPVLen" in settings:
            query.longest_line = settings.integer("analysisPVLen", 1, 1000)
        if "reportAnalysisWinratesAs" in settings:
            name = settings.text("reportAnalysisWinratesAs").upper()
            if name not in PERSPECTIVES:
                wanted = ", ".join(PERSPECTIVES)
                raise settings.error("reportAnalysisWinratesAs", wanted, name)
            query.perspective = name
        query.warnings += [(name, "Unexpected or unused field") for name in settings.unread]

    def _states(self, fields: QueryFields, query: Query) -> list[State]:
        """Return the position of each turn, from 0 on."""
        stones, moves = fields.pairs("initialStones"), fields.pairs("moves")
        if fields.take("moves") is None:
            raise fields.error("moves", "an array of pairs of a player and a location", None)
        first = moves[0][0] if moves else int(any(player == 0 for player, _ in stones))
        if "initialPlayer" in fields:
            first = fields.colour("initialPlayer", fields.take("initialPlayer"))
        game, states = query.game, [_initial_state(query, stones, first)]
        for number, (player, text) in enumerate(moves):
            try:
                state = game.play(states[-1], *pass_before(game, states[-1], player))
            except GameError as error:
                raise QueryError(f"Illegal move {number}: {text[:20]}: {error}", "moves") from None
            action = query.notation.action(state, _location(query.notation, text, "moves"))
            if action is None:
                raise QueryError(f"Illegal move {number}: {text[:20]}", "moves")
            states.append(game.play(state, action))
        return states

    def _read_positions(self, fields: QueryFields, query: Query, states: list[State]) -> None:
        turns = [len(states) - 1]
        if "analyzeTurns" in fields:
            turns = fields.integers("analyzeTurns", 0, len(states) - 1)
            if not turns:
                raise QueryError("Must name a turn", "analyzeTurns")
        priorities = [fields.integer("priority", -MAX_PRIORITY, MAX_PRIORITY, 0)] * len(turns)
        if "priorities" in fields:
            priorities = fields.integers("priorities", -MAX_PRIORITY, MAX_PRIORITY)
            if len(priorities) != len(turns) or "analyzeTurns" not in fields:
                raise QueryError("Must have the length of analyzeTurns", "priorities")
        restrictions = _restrictions(fields, query)
        for turn, priority in sorted(dict(zip(turns, priorities, strict=True)).items()):
            state = states[turn]
            allowed = _allowed(query, state, restrictions)
            query.positions.append(QueriedPosition(turn, state, priority, allowed))


def _initial_state(query: Query, stones: list[tuple[int, str]], first: int) -> State:
    """Return the position of turn 0, with `stones` and `first` to move."""
    game, notation = query.game, query.notation
    if not stones and first == 0:
        return game.initial_state()
    if not isinstance(game, Go):
        if stones:
            raise QueryError("not supported for this game", "initialStones")
        return game.initial_state()
    board = np.zeros(game.rows * game.columns, np.int64)
    for player, text in stones:
        cell = notation.cell(_location(notation, text, "initialStones"))
        if cell is None:
            raise QueryError(f"Not a cell of the board: {text[:20]}", "initialStones")
        board[cell] = player + 1
    try:
        return from_stones(game.initial_state(), board, first)
    except GameError:
        raise QueryError("A chain of stones has no liberty", "initialStones") from None


def _location(notation: GtpNotation, text: str, name: str) -> str:
    """Return a location as GTP names it; `(x,y)` counts columns and rows from 0 at the top left."""
    numbers = re.fullmatch(r"\(([0-9]{1,2}), ?([0-9]{1,2})\)", text)
    if numbers is None:
        return text
    column, row = int(numbers[1]), int(numbers[2])
    if column >= notation.columns or row >= notation.rows:
        raise QueryError(f"Not a cell of the board: {text}", name)
    return notation.cell_name(row * notation.columns + column)


@dataclass(frozen=True)
class _Restriction:
    """Moves that one player may not choose, or the only ones."""

    name: str
    player: int
    moves: frozenset[str]
    """in lower case"""


def _restrictions(fields: QueryFields, query: Query) -> list[_Restriction]:
    """Read `avoidMoves` and `allowMoves`; they hold for the position itself, not below it."""
    found = []
    for name in ("avoidMoves", "allowMoves"):
        for one in fields.objects(name):
            player = one.colour("player", one.take("player"))
            if one.integer("untilDepth", 1, 10**6) > 1:
                query.warnings.append((name, "moves are restricted as if untilDepth were 1"))
            moves = one.take("moves")
            if not isinstance(moves, list) or not all(isinstance(each, str) for each in moves):
                raise one.error("moves", "an array of locations", moves)
            named = {_location(query.notation, text, name).lower() for text in moves}
            wrong = [each for each in named if query.notation.cell(each) is None and each != PASS]
            if wrong:
                raise QueryError(f"Not a cell of the board: {wrong[0][:20]}", name)
            found.append(_Restriction(name, player, frozenset(named)))
    if len([one for one in found if one.name == "allowMoves"]) > 1:
        raise QueryError("Must be one object", "allowMoves")
    if len({one.name for one in found}) > 1:
        raise QueryError("Cannot be given together with avoidMoves", "allowMoves")
    return found


def _allowed(query: Query, state: State, restrictions: list[_Restriction]) -> list[int] | None:
    """Return the legal moves that are left to search in `state`; None for all."""
    own = [one for one in restrictions if one.player == to_play(state)]
    if not own or query.game.outcome(state) != ONGOING:
        return None
    allowed = []
    for action in np.flatnonzero(query.game.legal_action_mask(state)).tolist():
        name = query.notation.name(state, action).lower()
        if all((name in one.moves) == (one.name == "allowMoves") for one in own):
            allowed.append(action)
    if not allowed:
        raise QueryError("No legal move is left to search", own[0].name)
    return allowed
