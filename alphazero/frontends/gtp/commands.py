"""GTP commands for the game, its moves and its clocks.

*Specification of the Go Text Protocol, version 2, draft 2*; kgsGtp's documentation for
`kgs-time_settings`; KataGo, docs/GTP_Extensions.md, for `kata-time_settings`.
"""

import math
from importlib.metadata import version
from typing import Final, NamedTuple

from alphazero.errors import GameError
from alphazero.frontends.gtp.clock import TimeSettings
from alphazero.frontends.gtp.engine import Engine, Handler, resized
from alphazero.frontends.gtp.protocol import (
    GtpError,
    expect,
    read_colour,
    read_integer,
    read_number,
)
from alphazero.games.registry import game_names, make_game, name_of
from alphazero.records.gtp_notation import normalize_name


class ImmediateCommand(NamedTuple):
    """A command with an immediate reply, and the arguments that it takes."""

    run: Handler
    least: int = 0
    """minimum number of arguments"""
    what: str = ""
    """its arguments, for the error message"""
    most: int | None = None
    """maximum number of arguments; default: `least`"""

    def answer(self, engine: Engine, arguments: list[str]) -> str:
        """Return the reply; raise GtpError or AlphaZeroError when the command fails."""
        expect(arguments, self.least, self.most, self.what)
        return self.run(engine, arguments)


# --- the game ------------------------------------------------------------------------------------


def _boardsize(engine: Engine, arguments: list[str]) -> str:
    """Set the board size, square or columns and rows, and clear the board."""
    sizes = [read_integer(text, "a size", 1) for text in arguments]
    try:
        engine.begin(resized(engine.game, sizes[-1], sizes[0]))
    except (GtpError, GameError) as error:
        raise GtpError(f"unacceptable size: {error}") from None
    return ""


def _clear_board(engine: Engine, _: list[str]) -> str:
    engine.begin(engine.game)
    return ""


def _komi(engine: Engine, arguments: list[str]) -> str:
    engine.set_komi(read_number(arguments[0], "komi", least=-1000))
    return ""


def _games(engine: Engine) -> list[str]:
    return [name_of(engine.game)] if engine.spec.game else game_names()


def _list_games(engine: Engine, _: list[str]) -> str:
    """List the games in the usual spelling: Othello, Connect Four."""
    return "\n".join(name.replace("_", " ").title() for name in _games(engine))


def _set_game(engine: Engine, arguments: list[str]) -> str:
    """Select a game, with default options unless it is the current one."""
    wanted = normalize_name("".join(arguments))
    name = next((name for name in _games(engine) if normalize_name(name) == wanted), None)
    if name is None:
        raise GtpError("unsupported game")
    engine.begin(engine.game if name == name_of(engine.game) else make_game(name))
    return ""


# --- moves ---------------------------------------------------------------------------------------


def _play(engine: Engine, arguments: list[str]) -> str:
    engine.position.make(engine.position.read_move(read_colour(arguments[0]), arguments[1]))
    return ""


def _genmove(engine: Engine, arguments: list[str]) -> str:
    return engine.make(engine.choose(read_colour(arguments[0])))


def _reg_genmove(engine: Engine, arguments: list[str]) -> str:
    """Search a move without playing it; the clocks do not run."""
    clocks, engine.clocks = engine.clocks, None
    try:
        return engine.move_name(engine.choose(read_colour(arguments[0])))
    finally:
        engine.clocks = clocks


def _undo(engine: Engine, _: list[str]) -> str:
    engine.position.undo()
    engine.handicap = min(engine.handicap, len(engine.position.moves))
    return ""


# --- time ----------------------------------------------------------------------------------------

KGS_SYSTEMS: Final = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}
"""Systems of `kgs-time_settings` and the number of their arguments."""

SYSTEMS: Final = KGS_SYSTEMS | {"fischer": 2, "fischer-capped": 4}
"""Those of `kata-time_settings`."""


def _time_settings(engine: Engine, arguments: list[str]) -> str:
    """Set main time, and time and stones of Canadian overtime, in seconds."""
    main, period = (read_number(text, "a time") for text in arguments[:2])
    stones = read_integer(arguments[2], "stones")
    endless = period > 0 and stones == 0
    engine.set_clocks(None if endless else TimeSettings(main, period, stones))
    return ""


def _time_left(engine: Engine, arguments: list[str]) -> str:
    """Set the remaining time: seconds, and stones or periods (0 in main time)."""
    player = read_colour(arguments[0])
    left, stones = read_number(arguments[1], "a time"), read_integer(arguments[2], "stones")
    if engine.clocks is None:
        engine.set_clocks(TimeSettings(left))  # all main time
        assert engine.clocks
    clock = engine.clocks[player]
    clock.left, clock.stones = left, stones
    return ""


def _set_system(engine: Engine, arguments: list[str], systems: dict[str, int]) -> str:
    system, numbers = (arguments or [""])[0], arguments[1:]
    if system not in systems:
        raise GtpError(f"expected one of {', '.join(systems)}, got {system[:20]!r}")
    if len(numbers) != systems[system]:
        raise GtpError(f"{system} takes {systems[system]} numbers, got {len(numbers)}")
    engine.set_clocks(_read_settings(system, numbers))
    return ""


def _read_settings(system: str, numbers: list[str]) -> TimeSettings | None:
    """Return the settings of a time system; None for no limits."""
    if system == "none":
        return None
    main, second = ([read_number(text, "a time") for text in numbers[:2]] + [0.0, 0.0])[:2]
    if system.startswith("fischer"):
        # A negative number stands for no limit.
        main_limit, move_limit = (
            limit if (limit := read_number(text, "a time", least=-1)) >= 0 else math.inf
            for text in (numbers[2:] or ["-1", "-1"])
        )
        if main_limit < main:
            raise GtpError("the limit of the main time is below the main time")
        return TimeSettings(main, increment=second, main_limit=main_limit, move_limit=move_limit)
    count = read_integer(numbers[2], "stones or periods", 1) if len(numbers) == 3 else 0
    if system == "byoyomi":
        return TimeSettings(main, second, stones=1, periods=count)
    return TimeSettings(main, second, stones=count)


MANY: Final = 1 << 16
"""More arguments than a line can have."""

COMMANDS: Final = {
    "protocol_version": ImmediateCommand(lambda *_: "2"),
    "name": ImmediateCommand(lambda *_: "alphazero"),
    "version": ImmediateCommand(lambda *_: version("alphazero")),
    "boardsize": ImmediateCommand(_boardsize, 1, "the board's size", 2),
    "rectangular_boardsize": ImmediateCommand(_boardsize, 1, "the board's size", 2),
    "clear_board": ImmediateCommand(_clear_board),
    "komi": ImmediateCommand(_komi, 1, "a number"),
    "get_komi": ImmediateCommand(lambda engine, _: f"{getattr(engine.game, 'komi', 0):g}"),
    "list_games": ImmediateCommand(_list_games),
    "set_game": ImmediateCommand(_set_game, 0, "a game", MANY),
    "play": ImmediateCommand(_play, 2, "a color and a vertex"),
    "genmove": ImmediateCommand(_genmove, 1, "a color"),
    "reg_genmove": ImmediateCommand(_reg_genmove, 1, "a color"),
    "undo": ImmediateCommand(_undo),
    "showboard": ImmediateCommand(lambda engine, _: engine.position.draw()),
    "time_settings": ImmediateCommand(_time_settings, 3, "main time, overtime and stones"),
    "time_left": ImmediateCommand(_time_left, 3, "a color, seconds and stones"),
    "kgs-time_settings": ImmediateCommand(
        lambda engine, arguments: _set_system(engine, arguments, KGS_SYSTEMS), most=MANY
    ),
    "kata-time_settings": ImmediateCommand(
        lambda engine, arguments: _set_system(engine, arguments, SYSTEMS), most=MANY
    ),
    "kata-list_time_settings": ImmediateCommand(lambda *_: " ".join(SYSTEMS)),
}
