"""The GTP engine, with the commands for setup, moves and time."""

import sys
import time
from collections.abc import Callable
from importlib.metadata import version

from alphazero.errors import GameError, PlayerError
from alphazero.frontends.analyzer import Analyzer
from alphazero.frontends.clock import Clock, TimeSettings, expected_moves
from alphazero.frontends.game_options import player_on, resized, with_komi
from alphazero.frontends.gtp.position import GtpPosition
from alphazero.frontends.gtp.protocol import (
    GtpError,
    expect,
    read_colour,
    read_integer,
    read_number,
)
from alphazero.games.game import Game
from alphazero.games.registry import game_names, make_game, name_of
from alphazero.players.registry import PlayerSpec
from alphazero.records.gtp_notation import PASS, RESIGN, normalize_name
from alphazero.utils.progress import do_nothing


class Engine:
    """The state of a GTP session: one player, one game and two clocks."""

    def __init__(self, spec: PlayerSpec, game: Game) -> None:
        self.spec = spec
        self.position = GtpPosition(game)
        self.analyzer = Analyzer(spec, game)
        self.clocks: list[Clock] | None = None
        """clocks of player 0 and 1; None without time limits"""
        self.handicap = 0
        """Number of handicap moves at the start of the game."""
        self.ponders = False
        """Whether it searches on after its move, until the next line."""
        self.has_controller_left: Callable[[float], bool] = lambda _: False
        """Whether the input ended during a search that started at this time."""
        self.begin(game)

    @property
    def game(self) -> Game:
        return self.position.game

    def begin(self, game: Game) -> None:
        """Start a game and reset the clocks.

        Raises:
            GtpError: when the player does not play it, or GTP cannot name its cells.
        """
        if game != self.game:
            try:
                spec = player_on(self.spec, self.game, game)
                position, analyzer = GtpPosition(game), Analyzer(spec, game)
            except (GameError, PlayerError) as error:
                raise GtpError(str(error)) from None
            if spec.transfer_note and spec is not self.spec:
                print(spec.transfer_note, file=sys.stderr)
            analyzer.take_limits(self.analyzer)
            self.spec, self.position, self.analyzer = spec, position, analyzer
        self.position = GtpPosition(game)
        self.analyzer.set_position([])
        self.handicap = 0
        if self.clocks:
            self.clocks = [Clock(clock.settings) for clock in self.clocks]

    def change(self, game: Game) -> None:
        """Go on with the moves so far in a game with other options, such as komi.

        Raises:
            GtpError: as `begin`, and when the moves break the new rules.
        """
        steps, handicap, clocks = self.position.steps, self.handicap, self.clocks
        try:
            game.play(game.initial_state(), *self.position.moves)
        except GameError:
            raise GtpError("the moves so far break these rules; clear the board first") from None
        self.begin(game)
        for step in steps:
            self.position.make(step)
        self.handicap, self.clocks = handicap, clocks

    def set_clocks(self, settings: TimeSettings | None) -> None:
        """Give both players a new clock; None for no time limits."""
        self.clocks = None if settings is None else [Clock(settings), Clock(settings)]

    def sync(self, more: tuple[int, ...] = ()) -> None:
        """Set the analyzer to the position, after `more` moves if given."""
        self.analyzer.sync([*self.position.moves, *more])

    def choose(
        self, player: int, watch: Callable[[], object] = do_nothing
    ) -> tuple[int, ...] | None:
        """Search the player's move; return its actions, or None to resign.

        `watch` is called between steps. When the game is over, a pass is answered, without actions.
        """
        if self.position.is_over and self.position.has_pass:
            return ()
        passes = self.position.passes_before(player)
        self.sync(passes)
        began = time.monotonic()
        seconds = None
        if self.clocks:
            cells = self.position.vertices.rows * self.position.vertices.columns
            moves = expected_moves(cells, len(self.position.moves))
            seconds = self.clocks[player].budget(moves)
        action = self.think(seconds, watch)
        if self.clocks:
            self.clocks[player].spend(time.monotonic() - began)
        return None if action is None else (*passes, action)

    def think(self, seconds: float | None, watch: Callable[[], object] = do_nothing) -> int | None:
        """Search the analyzer's position; return a move, or None to resign.

        As `Analyzer.choose`, but stops when the controller has left.
        """
        began = time.monotonic()

        def watch_and_stop() -> None:
            watch()
            if self.has_controller_left(began):
                if not self.analyzer.searches:
                    raise GtpError("stopped: the input has ended")
                self.analyzer.stop()

        return self.analyzer.choose(seconds, watch_and_stop)

    def make(self, step: tuple[int, ...] | None) -> str:
        """Play the result of `choose`; return its GTP name."""
        name = self.move_name(step)
        if step:
            self.position.make(step)
        return name

    def move_name(self, step: tuple[int, ...] | None) -> str:
        """Return the GTP name of the result of `choose`."""
        if step is None:
            return RESIGN
        if not step:
            return PASS
        return self.position.vertices.names(self.position.state, list(step))[-1]


Handler = Callable[[Engine, list[str]], str]
"""Returns the reply to a command, or raises GtpError."""


def _boardsize(engine: Engine, arguments: list[str]) -> str:
    """Set the board size, square or columns and rows, and clear the board."""
    expect(arguments, 1, 2, "the board's size")
    sizes = [read_integer(text, "a size", 1) for text in arguments]
    try:
        engine.begin(resized(engine.game, sizes[-1], sizes[0]))
    except (GtpError, GameError) as error:
        raise GtpError(f"unacceptable size: {error}") from None
    return ""


def _clear_board(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 0)
    engine.begin(engine.game)
    return ""


def _komi(engine: Engine, arguments: list[str]) -> str:
    """Set the komi; a no-op for games without one."""
    expect(arguments, 1, what="a number")
    engine.change(with_komi(engine.game, read_number(arguments[0], "komi", least=-1000)))
    return ""


def _get_komi(engine: Engine, arguments: list[str]) -> str:
    """Return the komi; 0 for games without one."""
    expect(arguments, 0)
    return f"{getattr(engine.game, 'komi', 0):g}"


def _play(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 2, what="a color and a vertex")
    engine.position.make(engine.position.read_move(read_colour(arguments[0]), arguments[1]))
    return ""


def _genmove(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 1, what="a color")
    return engine.make(engine.choose(read_colour(arguments[0])))


def _reg_genmove(engine: Engine, arguments: list[str]) -> str:
    """Search a move without playing it; the clocks do not run."""
    expect(arguments, 1, what="a color")
    clocks, engine.clocks = engine.clocks, None
    try:
        return engine.move_name(engine.choose(read_colour(arguments[0])))
    finally:
        engine.clocks = clocks


def _undo(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 0)
    engine.position.undo()
    engine.handicap = min(engine.handicap, len(engine.position.moves))
    return ""


def _showboard(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 0)
    return engine.position.draw()


def _list_games(engine: Engine, arguments: list[str]) -> str:
    expect(arguments, 0)
    return "\n".join(map(_title, _games(engine)))


def _set_game(engine: Engine, arguments: list[str]) -> str:
    """Select a game, with default options unless it is the current one."""
    wanted = normalize_name("".join(arguments))
    name = next((name for name in _games(engine) if normalize_name(name) == wanted), None)
    if name is None:
        raise GtpError("unsupported game")
    engine.begin(engine.game if name == name_of(engine.game) else make_game(name))
    return ""


def _time_settings(engine: Engine, arguments: list[str]) -> str:
    """Set main time, and time and stones of Canadian overtime, in seconds."""
    expect(arguments, 3, what="main time, overtime and stones")
    main, period = (read_number(text, "a time") for text in arguments[:2])
    stones = read_integer(arguments[2], "stones")
    endless = period > 0 and stones == 0
    engine.set_clocks(None if endless else TimeSettings(main, period, stones))
    return ""


def _time_left(engine: Engine, arguments: list[str]) -> str:
    """Set the remaining time: seconds, and stones or periods (0 in main time)."""
    expect(arguments, 3, what="a color, seconds and stones")
    player = read_colour(arguments[0])
    left, stones = read_number(arguments[1], "a time"), read_integer(arguments[2], "stones")
    if engine.clocks is None:
        # Without time settings, the time left is all main time.
        engine.set_clocks(TimeSettings(left))
        assert engine.clocks
    engine.clocks[player].set(left, stones)
    return ""


COMMANDS: dict[str, Handler] = {
    "protocol_version": lambda _, arguments: _constant("2", arguments),
    "name": lambda _, arguments: _constant("alphazero", arguments),
    "version": lambda _, arguments: _constant(version("alphazero"), arguments),
    "boardsize": _boardsize,
    "rectangular_boardsize": _boardsize,
    "clear_board": _clear_board,
    "komi": _komi,
    "get_komi": _get_komi,
    "play": _play,
    "genmove": _genmove,
    "reg_genmove": _reg_genmove,
    "undo": _undo,
    "showboard": _showboard,
    "list_games": _list_games,
    "set_game": _set_game,
    "time_settings": _time_settings,
    "time_left": _time_left,
}


def _constant(text: str, arguments: list[str]) -> str:
    expect(arguments, 0)
    return text


def _games(engine: Engine) -> list[str]:
    return [name_of(engine.game)] if engine.spec.game else game_names()


def _title(name: str) -> str:
    """Return a game's name in the usual spelling: Othello, Connect Four."""
    return name.replace("_", " ").title()
