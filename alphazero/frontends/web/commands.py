"""The commands of a session: fields are parsed and checked, then the command is applied."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from alphazero.errors import GameError
from alphazero.frontends.game_tree import PERSON
from alphazero.frontends.web.search_pool import MAX_SIMULATIONS
from alphazero.frontends.web.session import Side, WebSession
from alphazero.frontends.web.session_manager import SessionManager, check_board_size
from alphazero.games.game import Game
from alphazero.records.jsonl import read_line
from alphazero.records.sgf import read_sgf
from alphazero.records.sgf_export import from_sgf

MAX_SECONDS: Final = 600.0
MAX_TEXT: Final = 1 << 19
"""Maximum characters of a loaded game or pasted moves."""


@dataclass(frozen=True)
class RequestFields:
    """The JSON fields of a request."""

    content: dict[str, Any]

    def integer(self, name: str, least: int = 0, most: int = 10**6) -> int:
        """Return an integer.

        Raises:
            GameError: when it is missing, invalid or out of range; also in the other methods.
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


def read_sides(manager: SessionManager, game: Game, content: Any) -> list[Side]:
    """Parse the two sides chosen on the page.

    Raises:
        GameError, PlayerError: for invalid sides.
    """
    is_pair = isinstance(content, list) and len(content) == 2
    if not is_pair or not all(isinstance(each, dict) for each in content):
        raise GameError('sides: expected two objects, each with {"player": NAME}')
    return [_read_side(manager, game, RequestFields(each)) for each in content]


def _read_side(manager: SessionManager, game: Game, fields: RequestFields) -> Side:
    name = fields.string("player")
    if name == PERSON:
        return Side()
    player = manager.catalog.player(name, game)
    simulations, seconds = None, None
    if fields.has("level"):
        if fields.has("simulations") or fields.has("seconds"):
            raise GameError("give a level, simulations or seconds, only one of them")
        if not player.levels:
            raise GameError(f"{name} has no levels; give simulations or seconds")
        return Side(player, level=fields.integer("level", 1, len(player.levels)))
    if fields.has("simulations"):
        simulations = fields.integer("simulations", 0, MAX_SIMULATIONS)
        if simulations == 0 and player.spec.game is None:
            raise GameError(f"{name} has no network, so it needs at least 1 simulation")
    if fields.has("seconds"):
        value = fields.content["seconds"]
        if type(value) not in (int, float) or not 0 < value <= MAX_SECONDS:
            raise GameError(f"seconds: expected a number above 0, at most {MAX_SECONDS:g}")
        seconds = float(value)
    if simulations is None and seconds is None:
        return Side.usual(player)
    if not player.searches:
        raise GameError(f"{name} has a fixed budget; leave out simulations and seconds")
    if simulations is not None and seconds is not None:
        raise GameError("give simulations or seconds, not both")
    return Side(player, simulations, seconds)


Apply = Callable[[], None]
"""Applies a command to its session; runs on the server's thread."""

Prepare = Callable[[SessionManager, WebSession, RequestFields], Apply]
"""Parses a command and does its slow work, on any thread; raises AlphaZeroError for a wrong one."""


def _paste(_: SessionManager, session: WebSession, fields: RequestFields) -> Apply:
    game, here = session.game, session.game_tree.current
    state, actions = here.state, []
    text = fields.string("moves", MAX_TEXT).replace(";", " ").replace(",", " ")
    for number, name in enumerate(game.split_moves(text), 1):
        try:
            actions.append(game.parse_action(state, name))
            state = game.play(state, actions[-1])
        except GameError as error:
            raise GameError(f"move {number}: {error}") from None

    def apply() -> None:
        if session.game_tree.current is not here:
            raise GameError("the position has changed meanwhile; paste again")
        session.paste(actions)

    return apply


def _load(_: SessionManager, session: WebSession, fields: RequestFields) -> Apply:
    text = fields.string("text", MAX_TEXT).strip()
    played = (
        read_line(text.partition("\n")[0].encode())
        if text.startswith("{")
        else from_sgf(read_sgf(text))
    )
    check_board_size(played.game)
    return lambda: session.load(played)


def _new(manager: SessionManager, session: WebSession, fields: RequestFields) -> Apply:
    """Start a game; players of runs play as they are now."""
    game = manager.game(fields.string("game")) if fields.has("game") else session.game
    if fields.has("sides"):
        sides = read_sides(manager, game, fields.content["sides"])
    elif all(side.player is None or side.player.spec.plays(game) for side in session.sides):
        sides = session.sides
    else:
        sides = manager.usual_sides(game)
    newest = manager.catalog.newest
    newest(session.analysis_player)
    sides = [replace(side, player=side.player and newest(side.player)) for side in sides]
    return lambda: session.start_game(game, sides)


def _sides(manager: SessionManager, session: WebSession, fields: RequestFields) -> Apply:
    sides = read_sides(manager, session.game, fields.content.get("sides"))
    return lambda: session.set_sides(sides)


def _analyze(manager: SessionManager, session: WebSession, fields: RequestFields) -> Apply:
    on, player = fields.boolean("on"), None
    if fields.has("player"):
        player = manager.catalog.player(fields.string("player"), session.game)
    return lambda: session.analyze(on, player)


def _immediate(run: Callable[[WebSession, RequestFields], None]) -> Prepare:
    """Wrap a command that needs no preparation."""
    return lambda _, session, fields: lambda: run(session, fields)


COMMANDS: Final[dict[str, Prepare]] = {
    "move": _immediate(lambda session, fields: session.move(fields.integer("action"))),
    "paste": _paste,
    "undo": _immediate(lambda session, _: session.undo()),
    "goto": _immediate(lambda session, fields: session.go_to(fields.integer("ply"))),
    "branch": _immediate(
        lambda session, fields: session.branch(fields.integer("ply"), fields.integer("index"))
    ),
    "sides": _sides,
    "new": _new,
    "resign": _immediate(lambda session, _: session.resign()),
    "hint": _immediate(lambda session, _: session.hint()),
    "analyze": _analyze,
    "pause": _immediate(lambda session, fields: session.pause(fields.boolean("on"))),
    "review": _immediate(lambda session, fields: session.start_review(fields.boolean("on"))),
    "load": _load,
}

SLOW_COMMANDS: Final = {"paste", "load", "new"}
"""Commands to prepare on a worker thread."""
