"""A GTP session: reads lines and answers them by `COMMANDS`."""

import functools

from alphazero.errors import AlphaZeroError
from alphazero.frontends.gtp.commands import COMMANDS
from alphazero.frontends.gtp.engine import QUIT, Engine
from alphazero.frontends.gtp.protocol import GtpError, format_reply, read_line
from alphazero.frontends.line_reader import MAX_LENGTH, lines_of
from alphazero.games.game import Game
from alphazero.players.specs import PlayerSpec


def serve(spec: PlayerSpec, game: Game, ponder: bool = False) -> None:
    """Serve GTP on standard input and output."""
    say = functools.partial(print, end="", flush=True)
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
