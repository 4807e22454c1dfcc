"""How programs talk over the Go Text Protocol and UCI; importing this compiles nothing."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from alphazero.errors import PlayerError
from alphazero.players.program_process import MAX_REPLY, Answer, ProgramProtocol

LIMITS: Final = "nodes", "depth", "movetime"
"""Limits of a move; the last is in milliseconds."""


def _read_gtp(lines: Iterator[str]) -> Iterator[Answer]:
    """Yield each reply, without its sign and its number; it ends with an empty line.

    A reply starts with a line that starts with `=` or `?`; other text between replies is ignored.
    """
    reply = ""
    for line in lines:
        if line and (reply or line[0] in "=?"):
            reply += f"{line}\n"
        elif reply and not line:
            yield reply[0] == "=", reply[1:].lstrip("0123456789").strip()
            reply = ""
        if len(reply) > MAX_REPLY:
            raise OverflowError


GTP: Final = ProgramProtocol("gtp", "gtp:gnugo --mode gtp", _read_gtp)


def _read_uci(lines: Iterator[str]) -> Iterator[Answer]:
    """Yield each `bestmove` and `readyok`, and the options before `uciok`."""
    options = ""
    for line in lines:
        word = line.partition(" ")[0]
        if word == "option":
            options += f"{line}\n"
        elif word in ("uciok", "readyok", "bestmove"):
            yield True, options + line
            options = ""
        if len(options) > MAX_REPLY:
            raise OverflowError


UCI: Final = ProgramProtocol("uci", "uci:stockfish,nodes=1000", _read_uci, "stop")


class UciCommand(NamedTuple):
    """How a program is started and asked."""

    command: str
    limits: dict[str, int]
    """of `LIMITS`"""
    options: dict[str, str]
    """of the program"""


def read_command(text: str) -> UciCommand:
    """Parse `COMMAND,name=value,...`; a comma that no `name=` follows belongs to the command.

    Raises:
        PlayerError: without a limit of a move, or for a wrong one.
    """
    command, *settings = re.split(r",(?=[\w .-]+=)", text)
    values = dict(setting.split("=", 1) for setting in settings)
    limits: dict[str, int] = {}
    for name in [name for name in LIMITS if name in values]:
        value = values.pop(name)
        if not re.fullmatch("[1-9][0-9]{0,8}", value):
            raise PlayerError(f"uci: {name} needs a number of at least 1, got {value[:20]!r}")
        limits[name] = int(value)
    if not limits:
        raise PlayerError(f"uci: needs one of {', '.join(LIMITS)}, as in '{UCI.example}'")
    return UciCommand(command, limits, values)
