"""The commands of a session: fields are parsed and checked, then the command is applied."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from alphazero.errors import GameError
from alphazero.frontends.web.run_records import SELFPLAY
from alphazero.frontends.web.session import Side, WebSession
from alphazero.frontends.web.session_manager import SessionManager, checked_game
from alphazero.games.game import Game
from alphazero.records.jsonl import read_line
from alphazero.records.sgf import read_sgf
from alphazero.records.sgf_export import from_sgf

MOST_SIMULATIONS: Final = 1_000_000
MOST_SECONDS: Final = 600.0
TEXT_LIMIT: Final = 1 << 19
"""Maximum characters of a loaded game or pasted moves."""


@dataclass(frozen=True)
class Fields:
    """The JSON fields of a request."""

    content: dict[str, Any]

    def whole(self, name: str, least: int = 0, most: int = 10**6) -> int:
        """Return an integer.

        Raises:
            GameError: when it is missing, invalid or out of range; also in the other methods.
        """
        value = self.content.get(name)
        if type(value) is not int or not least <= value <= most:
            raise GameError(f"{name}: expected a whole number from {least} to {most:,}")
        return value

    def flag(self, name: str) -> bool:
        """Return a boolean."""
        value = self.content.get(name)
        if not isinstance(value, bool):
            raise GameError(f"{name}: expected true or false")
        return value

    def text(self, name: str, limit: int = 300) -> str:
        """Return a string."""
        value = self.content.get(name)
        if not isinstance(value, str) or len(value) > limit:
            raise GameError(f"{name}: expected a text of at most {limit:,} characters")
        return value

    def has(self, name: str) -> bool:
        """Whether a field is present and not null."""
        return self.content.get(name) is not None


def read_seats(manager: SessionManager, game: Game, told: Any) -> list[Side]:
    """Parse the two sides chosen on the page.

    Raises:
        GameError, PlayerError: for invalid sides.
    """
    if not isinstance(told, list) or len(told) != 2 or not all(isinstance(s, dict) for s in told):
        raise GameError('seats: expected two, each as {"player": NAME}')
    return [_read_seat(manager, game, Fields(each)) for each in told]


def _read_seat(manager: SessionManager, game: Game, fields: Fields) -> Side:
    name = fields.text("player")
    if name == "human":
        return Side()
    offer = manager.catalogue.offer(name, game)
    simulations, seconds = None, None
    if fields.has("simulations"):
        simulations = fields.whole("simulations", 0, MOST_SIMULATIONS)
        if simulations == 0 and offer.default_level.simulations != 0 and offer.spec.game is None:
            raise GameError(f"{name} needs a simulation at least: it has no network to ask")
    if fields.has("seconds"):
        value = fields.content["seconds"]
        if type(value) not in (int, float) or not 0 < value <= MOST_SECONDS:
            raise GameError(f"seconds: expected a number above 0, at most {MOST_SECONDS:g}")
        seconds = float(value)
    if (simulations, seconds) != (None, None) and not offer.searches:
        raise GameError(f"{name} thinks as long as its name says; leave out how long")
    if simulations is not None and seconds is not None:
        raise GameError("give simulations or seconds, not both")
    if (simulations, seconds) == (None, None):
        simulations, seconds = offer.default_level.simulations, offer.default_level.seconds
    return Side(offer, simulations, seconds)


Apply = Callable[[], None]


def prepare_command(
    manager: SessionManager, session: WebSession, word: str, fields: Fields
) -> Apply:
    """Parse a command and do its slow work; return a function that applies it to the session.

    This may run on any thread; the returned function must run on the server's.

    Raises:
        KeyError: for an unknown command.
        AlphaZeroError: for an invalid one.
    """
    return _PREPARED[word](manager, session, fields)


def _paste(_: SessionManager, session: WebSession, fields: Fields) -> Apply:
    game, here = session.game, session.game_tree.here
    state, actions = here.state, []
    words = game.split_moves(fields.text("moves", TEXT_LIMIT).replace(";", " ").replace(",", " "))
    for number, word in enumerate(words, 1):
        try:
            actions.append(game.parse_action(state, word))
            state = game.play(state, actions[-1])
        except GameError as error:
            raise GameError(f"move {number}: {error}") from None

    def make() -> None:
        if session.game_tree.here is not here:
            raise GameError("the position has changed meanwhile; paste again")
        session.paste(actions)

    return make


def _load(_: SessionManager, session: WebSession, fields: Fields) -> Apply:
    text = fields.text("text", TEXT_LIMIT).strip()
    played = (
        read_line(text.partition("\n")[0].encode())
        if text.startswith("{")
        else from_sgf(read_sgf(text))
    )
    checked_game(played.game)
    return lambda: session.load(played)


def _open(manager: SessionManager, session: WebSession, fields: Fields) -> Apply:
    kind = fields.text("kind") if fields.has("kind") else SELFPLAY
    played, told = manager.recorded(
        fields.text("run"), fields.whole("iteration"), kind, fields.whole("game")
    )

    def show() -> None:
        session.load(played)
        session.record(told)

    return show


def _begin(manager: SessionManager, session: WebSession, fields: Fields) -> Apply:
    game = manager.game(fields.text("game")) if fields.has("game") else session.game
    seats = session.seats
    if fields.has("seats"):
        seats = read_seats(manager, game, fields.content["seats"])
    for seat in seats:
        if seat.offer is not None:
            manager.catalogue.offer(seat.offer.name, game)
    return lambda: session.begin(game, seats)


def _sit(manager: SessionManager, session: WebSession, fields: Fields) -> Apply:
    seats = read_seats(manager, session.game, fields.content.get("seats"))
    return lambda: session.set_sides(seats)


def _analyze(manager: SessionManager, session: WebSession, fields: Fields) -> Apply:
    on, offer = fields.flag("on"), None
    if fields.has("player"):
        offer = manager.catalogue.offer(fields.text("player"), session.game)
    return lambda: session.analyze(on, offer)


def _immediate(
    do: Callable[[WebSession, Fields], None],
) -> Callable[[SessionManager, WebSession, Fields], Apply]:
    """Wrap a command that needs no preparation."""
    return lambda _, session, fields: lambda: do(session, fields)


_PREPARED: Final[dict[str, Callable[[SessionManager, WebSession, Fields], Apply]]] = {
    "move": _immediate(lambda session, fields: session.make(fields.whole("action"))),
    "paste": _paste,
    "undo": _immediate(lambda session, _: session.back()),
    "redo": _immediate(lambda session, _: session.forth()),
    "goto": _immediate(lambda session, fields: session.go_to(fields.whole("ply"))),
    "branch": _immediate(
        lambda session, fields: session.branch(fields.whole("ply"), fields.whole("index"))
    ),
    "seats": _sit,
    "new": _begin,
    "resign": _immediate(lambda session, _: session.resign()),
    "hint": _immediate(lambda session, _: session.hint()),
    "analyze": _analyze,
    "stop": _immediate(lambda session, _: session.stop()),
    "pause": _immediate(lambda session, fields: session.pause(fields.flag("on"))),
    "step": _immediate(lambda session, _: session.step()),
    "load": _load,
    "open": _open,
}

SLOW: Final = {"paste", "load", "open", "new"}
"""Commands to prepare on a worker thread."""

KNOWN: Final = frozenset(_PREPARED)
