"""A player that is asked by GTP: the game it plays, and the commands to set it up and to play."""

import dataclasses
import time
from collections.abc import Callable
from importlib.metadata import version

from alphazero.errors import GameError
from alphazero.frontends.analyzer import Analyzer
from alphazero.frontends.clock import Clock, TimeSettings, expected_moves
from alphazero.frontends.gtp.position import GtpPosition
from alphazero.frontends.gtp.protocol import (
    GtpError,
    expect,
    read_colour,
    read_integer,
    read_number,
)
from alphazero.games.game import Game
from alphazero.games.registry import game_names, make_game, name_of, write_game
from alphazero.players.registry import PlayerSpec
from alphazero.records.gtp_notation import PASS, RESIGN, normalize_name

KGS_SYSTEMS = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}
"""Systems of `kgs-time_settings`, and how many numbers follow each."""


class Engine:
    """What a session of GTP is about: one player, one game, and two clocks."""

    def __init__(self, entrant: PlayerSpec, game: Game) -> None:
        self.entrant = entrant
        self.position = GtpPosition(game)
        self.thinker = Analyzer(entrant, game)
        self.clocks: list[Clock] | None = None
        """of player 0 and player 1; None: no time is set"""
        self.handicap = 0
        """Moves at the game's beginning that laid handicap stones."""
        self.has_left: Callable[[float], bool] = lambda _: False
        """Whether nobody needs the answer of a thought any more that began at this time."""
        self.begin(game)

    @property
    def game(self) -> Game:
        """The game on the board."""
        return self.position.game

    def begin(self, game: Game) -> None:
        """Begin a game; the clocks are reset.

        Raises:
            GtpError: when the player does not play it, or GTP has no names for its board.
        """
        if game != self.game:
            if self.entrant.game is not None:
                raise GtpError(f"this player plays {_difference(self.game, game)} only")
            try:
                self.position, self.thinker = GtpPosition(game), Analyzer(self.entrant, game)
            except GameError as error:
                raise GtpError(str(error)) from None
        self.position = GtpPosition(game)
        self.thinker.set_position([])
        self.handicap = 0
        if self.clocks:
            self.clocks = [Clock(clock.settings) for clock in self.clocks]

    def sync(self, more: tuple[int, ...] = ()) -> None:
        """Let the thinker see the position, after some `more` moves if they are given."""
        self.thinker.sync([*self.position.moves, *more])

    def choose(self, player: int, watch: Callable[[], object] = bool) -> tuple[int, ...] | None:
        """Think about the player's move; return the actions that make it, or None to resign.

        `watch` is called meanwhile. Where the game is over, the answer is a pass of no actions.
        """
        if self.position.is_over and self.position.has_pass:
            return ()
        waits = self.position.before(player)
        self.sync(waits)
        began = time.monotonic()
        seconds = None
        if self.clocks:
            cells = self.position.vertices.rows * self.position.vertices.columns
            moves = expected_moves(cells, len(self.position.moves))
            seconds = self.clocks[player].budget(moves)
        action = self.think(seconds, watch)
        if self.clocks:
            self.clocks[player].spend(time.monotonic() - began)
        return None if action is None else (*waits, action)

    def think(self, seconds: float | None, watch: Callable[[], object] = bool) -> int | None:
        """Think about the position that the thinker sees; return a move, or None to resign.

        As `Analyzer.choose`, but ended at once when whoever asked has left.
        """
        began = time.monotonic()

        def look() -> None:
            watch()
            if self.has_left(began):
                if not self.thinker.searches:
                    raise GtpError("stopped: nobody waits for this move")
                self.thinker.stop()

        return self.thinker.choose(seconds, look)[0]

    def make(self, step: tuple[int, ...] | None) -> str:
        """Make the move that `choose` has returned; return how it is written."""
        name = self.written(step)
        if step:
            self.position.make(step)
        return name

    def written(self, step: tuple[int, ...] | None) -> str:
        """Return how the move is written that `choose` has returned."""
        if step is None:
            return RESIGN
        if not step:
            return PASS
        return self.position.vertices.names(self.position.state, list(step))[-1]


Handler = Callable[[Engine, list[str]], str]
"""Answers a command, or raises GtpError."""


def resized(game: Game, rows: int, columns: int) -> Game:
    """Return the game on a board of another size.

    Raises:
        GtpError: where there is no such board.
    """
    sizes = {"rows": rows, "columns": columns}
    if game.observation_shape[1:] == (rows, columns):
        return game
    if "size" in game.options and rows == columns:
        sizes = {"size": rows}
    try:
        if sizes.keys() <= game.options.keys():
            return dataclasses.replace(game, **sizes)
    except GameError as error:
        raise GtpError(str(error)) from None
    raise GtpError("this game has no such board")


def boardsize(engine: Engine, arguments: list[str]) -> str:
    """Set a square board, or one of columns and rows, and clear it."""
    expect(arguments, 1, 2, "the board's size")
    sizes = [read_integer(text, "a size", 1) for text in arguments]
    try:
        engine.begin(resized(engine.game, sizes[-1], sizes[0]))
    except GtpError as error:
        raise GtpError(f"unacceptable size: {error}") from None
    return ""


def clear_board(engine: Engine, arguments: list[str]) -> str:
    """Begin a new game."""
    expect(arguments, 0)
    engine.begin(engine.game)
    return ""


def komi(engine: Engine, arguments: list[str]) -> str:
    """Set the komi, which games without one do not mind."""
    expect(arguments, 1, what="a number")
    points = read_number(arguments[0], "komi", least=-1000)
    own = getattr(engine.game, "komi", points)
    if points == own:
        return ""
    if 2 * points != int(2 * points):
        raise GtpError("komi must be a multiple of a half")
    steps = engine.position.steps
    try:
        options = engine.game.options | {"komi_half_points": int(2 * points)}
        engine.begin(type(engine.game)(**options))
    except GameError as error:
        raise GtpError(str(error)) from None
    for step in steps:
        engine.position.make(step)
    return ""


def play(engine: Engine, arguments: list[str]) -> str:
    """Make somebody's move."""
    expect(arguments, 2, what="a color and a vertex")
    engine.position.make(engine.position.read_move(read_colour(arguments[0]), arguments[1]))
    return ""


def genmove(engine: Engine, arguments: list[str]) -> str:
    """Choose a move and make it."""
    expect(arguments, 1, what="a color")
    return engine.make(engine.choose(read_colour(arguments[0])))


def reg_genmove(engine: Engine, arguments: list[str]) -> str:
    """Choose a move; the board and the clocks stay as they are."""
    expect(arguments, 1, what="a color")
    clocks, engine.clocks = engine.clocks, None
    try:
        return engine.written(engine.choose(read_colour(arguments[0])))
    finally:
        engine.clocks = clocks


def undo(engine: Engine, arguments: list[str]) -> str:
    """Take the last move back."""
    expect(arguments, 0)
    engine.position.undo()
    engine.handicap = min(engine.handicap, len(engine.position.moves))
    return ""


def showboard(engine: Engine, arguments: list[str]) -> str:
    """Draw the board."""
    expect(arguments, 0)
    return engine.position.draw()


def list_games(engine: Engine, arguments: list[str]) -> str:
    """List the games that `set_game` takes."""
    expect(arguments, 0)
    return "\n".join(map(_title, _games(engine)))


def set_game(engine: Engine, arguments: list[str]) -> str:
    """Choose a game, with its usual options unless it is the one that is on."""
    wanted = normalize_name("".join(arguments))
    name = next((name for name in _games(engine) if normalize_name(name) == wanted), None)
    if name is None:
        raise GtpError("unsupported game")
    engine.begin(engine.game if name == name_of(engine.game) else make_game(name))
    return ""


def time_settings(engine: Engine, arguments: list[str]) -> str:
    """Set main time, and the time and stones of Canadian overtime, in seconds."""
    expect(arguments, 3, what="main time, overtime and stones")
    main, period = (read_number(text, "a time") for text in arguments[:2])
    stones = read_integer(arguments[2], "stones")
    endless = period > 0 and stones == 0
    _set_clocks(engine, None if endless else TimeSettings(main, period, stones))
    return ""


def kgs_time_settings(engine: Engine, arguments: list[str]) -> str:
    """Set time as the server KGS does: none, absolute, byoyomi or canadian."""
    system, numbers = (arguments or [""])[0], arguments[1:]
    if system not in KGS_SYSTEMS:
        raise GtpError(f"expected one of {', '.join(KGS_SYSTEMS)}, got {system[:20]!r}")
    if len(numbers) != KGS_SYSTEMS[system]:
        raise GtpError(f"{system} takes {KGS_SYSTEMS[system]} numbers, got {len(numbers)}")
    main, period = ([read_number(text, "a time") for text in numbers[:2]] + [0.0, 0.0])[:2]
    count = read_integer(numbers[2], "stones or periods", 1) if len(numbers) == 3 else 0
    settings = TimeSettings(main, period, stones=count)
    if system == "byoyomi":
        settings = TimeSettings(main, period, stones=1, periods=count)
    _set_clocks(engine, None if system == "none" else settings)
    return ""


def time_left(engine: Engine, arguments: list[str]) -> str:
    """Believe what is left: seconds, and stones or periods, which are 0 in main time."""
    expect(arguments, 3, what="a color, seconds and stones")
    player = read_colour(arguments[0])
    left, stones = read_number(arguments[1], "a time"), read_integer(arguments[2], "stones")
    if engine.clocks is None:
        # Nobody has said what the rules are: take what is left for all there is.
        _set_clocks(engine, TimeSettings(left))
        assert engine.clocks
    engine.clocks[player].set(left, stones)
    return ""


COMMANDS: dict[str, Handler] = {
    "protocol_version": lambda _, arguments: _constant("2", arguments),
    "name": lambda _, arguments: _constant("alphazero", arguments),
    "version": lambda _, arguments: _constant(version("alphazero"), arguments),
    "boardsize": boardsize,
    "rectangular_boardsize": boardsize,
    "clear_board": clear_board,
    "komi": komi,
    "play": play,
    "genmove": genmove,
    "reg_genmove": reg_genmove,
    "undo": undo,
    "showboard": showboard,
    "list_games": list_games,
    "set_game": set_game,
    "time_settings": time_settings,
    "kgs-time_settings": kgs_time_settings,
    "time_left": time_left,
}
"""The commands of this file."""


def _difference(own: Game, wanted: Game) -> str:
    """Name the property of a player's `own` game in which `wanted` differs from it."""
    _, rows, columns = own.observation_shape
    if wanted.observation_shape[1:] != (rows, columns):
        return f"on {columns} x {rows}"
    komi = getattr(own, "komi", None)
    if komi != getattr(wanted, "komi", None):
        return f"with komi {komi:g}"
    return write_game(own)


def _constant(text: str, arguments: list[str]) -> str:
    expect(arguments, 0)
    return text


def _set_clocks(engine: Engine, settings: TimeSettings | None) -> None:
    engine.clocks = None if settings is None else [Clock(settings), Clock(settings)]


def _games(engine: Engine) -> list[str]:
    """Return the names of the games that the player plays."""
    return [name_of(engine.game)] if engine.entrant.game else game_names()


def _title(name: str) -> str:
    """Return a game's name as other programs write it: Othello, Connect Four."""
    return name.replace("_", " ").title()
