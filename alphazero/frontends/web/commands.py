"""The commands of a session: fields are parsed and checked, then the command is applied."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from alphazero.errors import AlphaZeroError, GameError
from alphazero.frontends.game_tree import PERSON
from alphazero.frontends.web.catalog import Catalog, Side, check_board_size
from alphazero.frontends.web.search_pool import MAX_SIMULATIONS
from alphazero.frontends.web.session import WebSession
from alphazero.games.game import Game
from alphazero.players.budget import Budget
from alphazero.records.game_files import holds_game, read_played
from alphazero.records.sgf_text import decode

MAX_SECONDS: Final = 600.0
MAX_TEXT: Final = 1 << 19
"""Maximum characters of a loaded game or pasted moves."""

_SEPARATORS = re.compile(r"[;,\0]|\b[0-9]+\.+(?![0-9])")
"""What may stand between moves, also their numbers: 1. or 1..."""


@dataclass(frozen=True)
class RequestFields:
    """The JSON fields of a request."""

    content: dict[str, Any]

    def integer(self, name: str, least: int = 0, most: int = 10**6) -> int:
        """Return an integer.

        Raise GameError when it is missing, invalid or out of range; also in the other methods.
        """
        value = self.content.get(name)
        if type(value) is not int or not least <= value <= most:
            raise GameError(f"{name}: expected a whole number from {least} to {most:,}")
        return value

    def boolean(self, name: str) -> bool:
        value = self.content.get(name)
        if not isinstance(value, bool):
            raise GameError(f"{name}: expected true or false")
        return value

    def string(self, name: str, limit: int = 300) -> str:
        value = self.content.get(name)
        if not isinstance(value, str) or len(value) > limit:
            raise GameError(f"{name}: expected a text of at most {limit:,} characters")
        return value

    def has(self, name: str) -> bool:
        """Whether a field is present and not null."""
        return self.content.get(name) is not None


def read_sides(catalog: Catalog, game: Game, content: Any) -> list[Side]:
    """Parse the two sides chosen on the page; raise GameError or PlayerError for invalid sides."""
    is_pair = isinstance(content, list) and len(content) == 2
    if not is_pair or not all(isinstance(side, dict) for side in content):
        raise GameError('sides: expected two objects, each with {"player": NAME}')
    return [_read_side(catalog, game, RequestFields(side)) for side in content]


def new_sides(
    catalog: Catalog, game: Game, fields: RequestFields, before: Sequence[Side] = ()
) -> list[Side]:
    """Return the sides of a new game, with the newest networks of its players; on any thread.

    Without `sides` in the fields, those `before` play on if they can.
    """
    if fields.has("sides"):
        sides = read_sides(catalog, game, fields.content["sides"])
    elif before and all(side.player is None or side.player.spec.plays(game) for side in before):
        sides = list(before)
    else:
        sides = catalog.usual_sides(game)
    catalog.newest(catalog.analysis_player(game))
    return [replace(side, player=side.player and catalog.newest(side.player)) for side in sides]


def _read_side(catalog: Catalog, game: Game, fields: RequestFields) -> Side:
    name = fields.string("player")
    if name == PERSON:
        return Side()
    player = catalog.player(name, game)
    limits = [limit for limit in ("level", "simulations", "seconds") if fields.has(limit)]
    if not limits:
        return Side.usual(player)
    if len(limits) > 1:
        raise GameError("give a level, simulations or seconds, only one of them")
    if limits == ["level"]:
        if not player.levels:
            raise GameError(f"{name} has no levels; give simulations or seconds")
        return Side(player, level=fields.integer("level", 1, len(player.levels)))
    if not player.spec.has_search:
        raise GameError(f"{name} has a fixed budget; leave out simulations and seconds")
    if limits == ["simulations"]:
        least = 1 if player.spec.game is None else 0  # 0 is the network alone
        return Side(player, Budget(fields.integer("simulations", least, MAX_SIMULATIONS)))
    seconds = fields.content["seconds"]
    if type(seconds) not in (int, float) or not 0 < seconds <= MAX_SECONDS:
        raise GameError(f"seconds: expected a number above 0, at most {MAX_SECONDS:g}")
    return Side(player, Budget(seconds=seconds))


Apply = Callable[[], None]
"""Applies a command to its session; runs on the server's thread."""

Prepare = Callable[[WebSession, RequestFields], Apply]
"""Parses a command and does its slow work, on any thread; raises AlphaZeroError for a wrong one."""


def _paste(session: WebSession, fields: RequestFields) -> Apply:
    """Play moves as far as they go; raise GameError if the first one cannot be played."""
    return _play(session, fields.string("moves", MAX_TEXT))


def _play(session: WebSession, moves: str) -> Apply:
    game, node = session.game, session.game_tree.current
    state, actions, left_out = node.state, [], ""
    text = _SEPARATORS.sub(" ", moves)
    for number, name in enumerate(game.split_moves(text), 1):
        try:
            actions.append(game.parse_action(state, name))
            state = game.play(state, actions[-1])
        except GameError as error:
            if not actions:
                raise
            left_out = f"the moves from here on are left out: move {number}: {error}"
            break

    def apply() -> None:
        if session.game_tree.current is not node:
            raise GameError("the position has changed meanwhile; paste again")
        session.paste(actions, left_out)

    return apply


def _load(session: WebSession, fields: RequestFields) -> Apply:
    """Load the first game that can be read of `text`, or of a file's `data`, a letter per byte.

    Else the text has moves, which are played.
    """
    if fields.has("data"):
        data = fields.string("data", MAX_TEXT).encode("latin-1", "replace")
    else:
        data = fields.string("text", MAX_TEXT).strip().encode("utf-8", "replace")
    if holds_game(data, session.game):
        return _load_game(session, data)
    try:
        return _play(session, decode(data))
    except GameError as error:
        try:
            return _load_game(session, data)  # such as numbered moves of chess
        except AlphaZeroError:
            raise error from None


def _load_game(session: WebSession, data: bytes) -> Apply:
    warnings: list[str] = []
    played, *others = read_played(data, warnings.append, session.game)
    if others:
        warnings.insert(0, f"the first of {1 + len(others):,} games")
    check_board_size(played.game)
    return partial(session.load, played, warnings)


def _new(session: WebSession, fields: RequestFields) -> Apply:
    catalog = session.manager.catalog
    game = catalog.game(fields.string("game")) if fields.has("game") else session.game
    catalog.newest(session.analysis_player)
    return partial(session.start_game, game, new_sides(catalog, game, fields, session.sides))


def _sides(session: WebSession, fields: RequestFields) -> Apply:
    sides = read_sides(session.manager.catalog, session.game, fields.content.get("sides"))
    return partial(session.set_sides, sides)


def _analyze(session: WebSession, fields: RequestFields) -> Apply:
    on, player = fields.boolean("on"), None
    if fields.has("player"):
        player = session.manager.catalog.player(fields.string("player"), session.game)
    return partial(session.analyze, on, player)


COMMANDS: Final[dict[str, Prepare]] = {
    "move": lambda session, fields: partial(
        session.move, fields.integer("action"), fields.integer("ply") if fields.has("ply") else None
    ),
    "paste": _paste,
    "undo": lambda session, _: session.undo,
    "goto": lambda session, fields: partial(session.go_to, fields.integer("ply")),
    "branch": lambda session, fields: partial(
        session.branch, fields.integer("ply"), fields.integer("index")
    ),
    "sides": _sides,
    "new": _new,
    "resign": lambda session, fields: partial(
        session.resign, fields.integer("player", 0, 1) if fields.has("player") else None
    ),
    "hint": lambda session, _: session.hint,
    "analyze": _analyze,
    "territory": lambda session, fields: partial(session.show_territory, fields.boolean("on")),
    "turn": lambda session, _: session.turn,
    "pause": lambda session, fields: partial(session.pause, fields.boolean("on")),
    "review": lambda session, fields: partial(session.start_review, fields.boolean("on")),
    "load": _load,
}

SLOW_COMMANDS: Final = {"paste", "load", "new"}
"""Commands to prepare on a worker thread."""
