"""A GTP session: the table of its commands, and those for the game, its moves and its clocks.

*Specification of the Go Text Protocol, version 2, draft 2*; kgsGtp's documentation for
`kgs-time_settings`.
"""

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Final, NamedTuple

from alphazero.errors import AlphaZeroError
from alphazero.frontends.clock import TimeSettings
from alphazero.frontends.gtp import analysis, go_commands
from alphazero.frontends.gtp.engine import QUIT, Engine, resized
from alphazero.frontends.gtp.protocol import (
    GtpError,
    format_reply,
    read_colour,
    read_integer,
    read_line,
    read_number,
)
from alphazero.frontends.line_reader import MAX_LENGTH, lines_of
from alphazero.games.game import Game
from alphazero.games.grid import SIGNS
from alphazero.players.specs import PlayerSpec
from alphazero.records.gtp_notation import COLOURS

MANY: Final = 1 << 16
"""More arguments than a line can have."""


class Command(NamedTuple):
    """A command and the arguments that it takes."""

    run: Callable[[Engine, list[str]], str | None]
    """returns the reply, or its last line if it has begun it; None if that is empty"""
    usage: str = "no arguments"
    """its arguments, for the error message"""
    minimum: int = 0
    """minimum number of arguments"""
    maximum: int | None = None
    """maximum number of arguments; default: `minimum`"""

    def answer(self, engine: Engine, arguments: list[str]) -> str | None:
        """Return the result of `run`; raise AlphaZeroError when the command fails."""
        maximum = self.minimum if self.maximum is None else self.maximum
        if not self.minimum <= len(arguments) <= maximum:
            raise GtpError(f"expected {self.usage}, got {len(arguments)} arguments")
        return self.run(engine, arguments)


# --- the session and the game --------------------------------------------------------------------


def _stop(engine: Engine, _: list[str]) -> None:
    """End pondering, until the engine's next move."""
    engine.own_move = -1


def _boardsize(engine: Engine, arguments: list[str]) -> None:
    """Set the board size, square or columns and rows, and clear the board."""
    sizes = [read_integer(text, "a size", 1) for text in arguments]
    try:
        engine.begin(resized(engine.by_rules(engine.game), sizes[-1], sizes[0]))
    except AlphaZeroError as error:
        raise GtpError(f"unacceptable size: {error}") from None


def _komi(engine: Engine, arguments: list[str]) -> None:
    engine.set_komi(read_number(arguments[0], "komi", minimum=-1000))


def _showboard(engine: Engine, _: list[str]) -> str:
    """Draw the board with coordinates and the player to move."""
    vertices = engine.vertices
    if not vertices.has_cells:
        return "\n" + engine.game.render(engine.state)
    columns, stones = vertices.columns, engine.game.pieces(engine.state).ravel().tolist()
    letters = "   " + " ".join(vertices.cells.letters[:columns])
    lines = [letters]
    for row in range(vertices.rows):
        signs = " ".join(SIGNS[stone] for stone in stones[row * columns : (row + 1) * columns])
        label = vertices.cells.number(row)
        lines.append(f"{label:2} {signs} {label}")
    turn = "the game is over" if engine.is_over else f"{COLOURS[engine.to_play]} to play"
    return "\n" + "\n".join([*lines, letters, turn])


# --- moves ---------------------------------------------------------------------------------------


def _play(engine: Engine, arguments: list[str]) -> None:
    engine.play(read_colour(arguments[0]), arguments[1])


def _genmove(engine: Engine, arguments: list[str]) -> str:
    return engine.make_choice(engine.choose(read_colour(arguments[0])))


def _reg_genmove(engine: Engine, arguments: list[str]) -> str:
    """Search a move without playing it; the clocks do not run."""
    clocks, engine.clocks = engine.clocks, None
    try:
        return engine.name(engine.choose(read_colour(arguments[0])))
    finally:
        engine.clocks = clocks


# --- time ----------------------------------------------------------------------------------------

SYSTEMS: Final = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}
"""Time systems and the number of their arguments."""


def _time_settings(engine: Engine, arguments: list[str]) -> None:
    """Set main time, and time and stones of Canadian overtime, in seconds."""
    main, period = (read_number(text, "a time") for text in arguments[:2])
    stones = read_integer(arguments[2], "stones")
    is_endless = period > 0 and stones == 0
    engine.set_clocks(None if is_endless else TimeSettings(main, period, stones))


def _time_left(engine: Engine, arguments: list[str]) -> None:
    """Set the remaining time: seconds, and stones or periods (0 in main time)."""
    player = read_colour(arguments[0])
    left, stones = read_number(arguments[1], "a time"), read_integer(arguments[2], "stones")
    if engine.clocks is None:
        engine.set_clocks(TimeSettings(left))  # all main time
        assert engine.clocks
    clock = engine.clocks[player]
    clock.left, clock.stones = left, stones


def _set_system(engine: Engine, arguments: list[str]) -> None:
    system, numbers = (arguments or [""])[0], arguments[1:]
    if system not in SYSTEMS:
        raise GtpError(f"expected one of {', '.join(SYSTEMS)}, got {system[:20]!r}")
    if len(numbers) != SYSTEMS[system]:
        raise GtpError(f"{system} takes {SYSTEMS[system]} numbers, got {len(numbers)}")
    if system == "none":
        engine.set_clocks(None)
        return
    main, period = ([read_number(text, "a time") for text in numbers[:2]] + [0.0])[:2]
    count = read_integer(numbers[2], "stones or periods", 1) if numbers[2:] else 0
    stones, periods = (1, count) if system == "byoyomi" else (count, 0)
    engine.set_clocks(TimeSettings(main, period, stones, periods))


# --- the table -----------------------------------------------------------------------------------

_ANALYSIS: Final = "a color, an interval and options", 0, MANY
_SIZE: Final = "the board's size", 1, 2
_STONES: Final = "a number of stones", 1

COMMANDS: Final[dict[str, Command]] = {
    "protocol_version": Command(lambda *_: "2"),
    "name": Command(lambda *_: "alphazero"),
    "version": Command(lambda *_: version("alphazero")),
    "list_commands": Command(lambda *_: "\n".join(COMMANDS)),
    "known_command": Command(lambda _, words: str(words[0] in COMMANDS).lower(), "a command", 1),
    "stop": Command(_stop),
    QUIT: Command(lambda *_: None),
    "boardsize": Command(_boardsize, *_SIZE),
    "rectangular_boardsize": Command(_boardsize, *_SIZE),
    "clear_board": Command(lambda engine, _: engine.begin(engine.by_rules(engine.game))),
    "komi": Command(_komi, "a number", 1),
    "get_komi": Command(lambda engine, _: f"{getattr(engine.game, 'komi', 0):g}"),
    "showboard": Command(_showboard),
    "play": Command(_play, "a color and a vertex", 2),
    "genmove": Command(_genmove, "a color", 1),
    "reg_genmove": Command(_reg_genmove, "a color", 1),
    "undo": Command(lambda engine, _: engine.undo()),
    "analyze": Command(partial(analysis.analyze, fractions=False), *_ANALYSIS),
    "lz-analyze": Command(partial(analysis.analyze, fractions=False), *_ANALYSIS),
    "kata-analyze": Command(partial(analysis.analyze, fractions=True), *_ANALYSIS),
    "genmove_analyze": Command(partial(analysis.generate, fractions=False), *_ANALYSIS),
    "lz-genmove_analyze": Command(partial(analysis.generate, fractions=False), *_ANALYSIS),
    "kata-genmove_analyze": Command(partial(analysis.generate, fractions=True), *_ANALYSIS),
    "time_settings": Command(_time_settings, "main time, overtime and stones", 3),
    "time_left": Command(_time_left, "a color, seconds and stones", 3),
    "kgs-time_settings": Command(_set_system, "a time system", 0, MANY),
    "final_score": Command(go_commands.final_score),
    "final_status_list": Command(go_commands.final_status_list, "alive, dead or seki", 1),
    "fixed_handicap": Command(go_commands.fixed_handicap, *_STONES),
    "place_free_handicap": Command(go_commands.place_free_handicap, *_STONES),
    "set_free_handicap": Command(go_commands.set_free_handicap, "at least two vertices", 2, MANY),
    "loadsgf": Command(go_commands.loadsgf, "a file and optionally a move number", 1, MANY),
}


# --- the session ---------------------------------------------------------------------------------


def serve(spec: PlayerSpec, game: Game, ponder: bool = False) -> None:
    """Serve GTP on standard input and output."""
    say = partial(print, end="", flush=True)
    run(Engine(spec, game, lines_of(0), say), ponder)


def run(engine: Engine, ponder: bool = False) -> None:
    """Answer lines until the end of the input or `quit`.

    With `ponder` the engine searches on after its move until the next line.
    """
    while True:
        if ponder:
            engine.ponder()
        line = engine.lines.next()
        if line is None or not answer(engine, line):
            return


def answer(engine: Engine, text: str) -> bool:
    """Answer a line; return whether the session continues."""
    if len(text) > MAX_LENGTH:
        engine.say(f"? line too long: at most {MAX_LENGTH:,} characters\n\n")
        return True
    line = read_line(text)
    if line is None:
        return True
    engine.number, engine.has_begun_reply = line.number, False
    try:
        if line.word not in COMMANDS:
            raise GtpError("unknown command")
        reply = COMMANDS[line.word].answer(engine, line.arguments) or ""
        if engine.has_begun_reply:
            engine.say(f"{reply}\n\n" if reply else "\n")
        else:
            engine.say(format_reply(line.number, reply))
    except AlphaZeroError as error:
        engine.say(format_reply(line.number, str(error), succeeded=False))
    return line.word != QUIT
