"""The process of an external program that speaks the Go Text Protocol, UCI or Gomocup's protocol.

Importing this compiles nothing. A thread reads the output, so that a program that hangs or floods
it blocks nothing else.
"""

import contextlib
import functools
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import IO, Final, NamedTuple

from alphazero.errors import PlayerError
from alphazero.utils.files import explain_os_error, printable

REPLY_TIMEOUT: Final = 300.0
"""Seconds a program has for one reply, beside those that it was told to think."""

FIRST_REPLY: Final = 10.0
"""Seconds without a first reply after which a line says that a program is waited for."""

EXIT_TIMEOUT: Final = 1.0
"""Seconds a program has to exit by itself before it is killed."""

_MAX_LINE_BYTES: Final = 1 << 16
_MAX_UNREAD_REPLIES: Final = 1000
_MAX_REPLY: Final = 1 << 20
"""Limits of a program's output: bytes per line, unread replies, characters per reply."""


class Reply(NamedTuple):
    """A program's reply to a command; its lines are separated by newlines."""

    succeeded: bool
    text: str


_OVERFLOW: Final = Reply(False, "!")
"""Queue entry that stands for a reply beyond the limits."""


class ProgramProtocol(NamedTuple):
    """How programs talk."""

    name: str
    """which precedes the command of a player"""
    example: str
    read_replies: Callable[[Iterator[str]], Iterator[Reply]]
    """joins lines without spaces at their ends; raises OverflowError beyond `_MAX_REPLY`"""
    limits: tuple[str, ...] = ()
    """of a move, which follow the command of a player"""
    time_limit: str = ""
    """which of them is in milliseconds"""
    stop: str = ""
    """ends a search"""
    quit: str = "quit"
    sets_positions: bool = False
    """whether a game can begin in any position"""


def _read_gtp(lines: Iterator[str]) -> Iterator[Reply]:
    """Yield each reply, without its sign and its number; it ends with an empty line.

    A reply starts with a line that starts with `=` or `?`; other text between replies is ignored.
    """
    reply = ""
    for line in lines:
        if line and (reply or line[0] in "=?"):
            reply += f"{line}\n"
        elif reply and not line:
            yield Reply(reply[0] == "=", reply[1:].lstrip("0123456789").strip())
            reply = ""
        if len(reply) > _MAX_REPLY:
            raise OverflowError


GTP: Final = ProgramProtocol("gtp", "gtp:gnugo --mode gtp", _read_gtp)


def _read_uci(lines: Iterator[str]) -> Iterator[Reply]:
    """Yield each `bestmove` and `readyok`, and the options before `uciok`."""
    options = ""
    for line in lines:
        word = line.partition(" ")[0]
        if word == "option":
            options += f"{line}\n"
        elif word in ("uciok", "readyok", "bestmove"):
            yield Reply(True, options + line)
            options = ""
        if len(options) > _MAX_REPLY:
            raise OverflowError


UCI: Final = ProgramProtocol(
    "uci",
    "uci:stockfish,nodes=1000",
    _read_uci,
    limits=("nodes", "depth", "movetime"),
    time_limit="movetime",
    stop="stop",
    sets_positions=True,
)


def _read_gomocup(lines: Iterator[str]) -> Iterator[Reply]:
    """Yield each `OK`, `ERROR` and move; other lines are talk."""
    for line in lines:
        word = line.partition(" ")[0].upper()
        if word in ("OK", "ERROR") or re.fullmatch("[0-9]+,[0-9]+", line):
            yield Reply(word != "ERROR", line)


GOMOCUP: Final = ProgramProtocol(
    "gomocup",
    "gomocup:pbrain-rapfi,timeout_turn=1000",
    _read_gomocup,
    limits=("timeout_turn", "max_node", "max_depth"),  # every program knows the first
    time_limit="timeout_turn",
    quit="END",
)


class ProgramCommand(NamedTuple):
    """How a program is started and asked."""

    command: str
    limits: dict[str, int]
    """of a move"""
    options: dict[str, str]
    """of the program"""


def read_command(text: str, protocol: ProgramProtocol) -> ProgramCommand:
    """Parse `COMMAND,name=value,...`; a comma that no `name=` follows belongs to the command.

    All of it is the command where the protocol has no limits of a move. Where it has some, raises
    PlayerError without a limit, or for a wrong one.
    """
    if not protocol.limits:
        return ProgramCommand(text, {}, {})
    command, *settings = re.split(r",(?=[\w .-]+=)", text)
    values = dict(setting.split("=", 1) for setting in settings)
    limits: dict[str, int] = {}
    for name in [name for name in protocol.limits if name in values]:
        value = values.pop(name)
        if not re.fullmatch("[1-9][0-9]{0,8}", value):
            fault = f"{name} needs a number of at least 1, got {value[:20]!r}"
            raise PlayerError(f"{protocol.name}: {fault}")
        limits[name] = int(value)
    if not limits:
        names = ", ".join(protocol.limits)
        raise PlayerError(f"{protocol.name}: needs one of {names}, as in '{protocol.example}'")
    return ProgramCommand(command, limits, values)


def split_command(command: str, protocol: ProgramProtocol) -> list[str]:
    """Split a command line as a shell would; no shell is used.

    Raises PlayerError for an empty command, or an unclosed quotation.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise PlayerError(
            f"{protocol.name}:{printable(command)}: {str(error).lower()}; close the quotes"
        ) from None
    if not words or "\0" in command:
        raise PlayerError(f"{protocol.name}: needs a command, as in '{protocol.example}'")
    return words


@functools.cache
def _report_wait(command: str, protocol: str) -> None:
    """Say once that a program has not answered yet."""
    wait = f"still waiting for the first reply of {printable(command)}"
    print(f"{wait}; does it speak {protocol}?", file=sys.stderr)


class ProgramProcess:
    """A running program; raises PlayerError when it cannot be started."""

    def __init__(self, command: str, protocol: ProgramProtocol) -> None:
        words = split_command(command, protocol)
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # A new session: Ctrl-C does not reach it, and its children are killed with it.
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise PlayerError(f"cannot be started: {explain_os_error(error)}") from error
        assert process.stdin and process.stdout and process.stderr  # noqa: PT018
        self._process, self._stdin = process, process.stdin
        self._protocol = protocol
        self._replies: queue.Queue[Reply | None] = queue.Queue()
        self._words, self._has_replied = words, False
        self._stderr: deque[str] = deque(maxlen=1)
        # Threads hold the pipes, not this object: when it is garbage-collected, the process ends.
        errors = process.stderr, self._stderr
        self._stderr_reader = threading.Thread(target=_read_stderr, args=errors, daemon=True)
        self._stderr_reader.start()
        output = process.stdout, self._replies, protocol.read_replies
        threading.Thread(target=_read_stdout, args=output, daemon=True).start()
        self._end = weakref.finalize(self, _end, process)

    def send(self, command: str) -> None:
        """Send a command without waiting for its reply."""
        # The exit of a program is reported by `ask`.
        with contextlib.suppress(OSError, ValueError):
            self._stdin.write(f"{command}\n".encode())
            self._stdin.flush()

    def ask(self, command: str, thinking_time: float = 0.0) -> Reply:
        """Send a command and wait for its reply, for which it may think so many seconds.

        Raises PlayerError when the program exited, timed out or exceeded the output limits.
        """
        self.send(command)
        patience = thinking_time + REPLY_TIMEOUT
        try:
            reply = self._next_reply(patience)
        except queue.Empty:
            raise PlayerError(f"no reply to '{_title(command)}' within {patience:g} s") from None
        self._has_replied = True
        if reply is _OVERFLOW:
            raise PlayerError("the program's output exceeds its limits")
        if reply is None:
            raise PlayerError(self._exit_reason())
        return reply

    def _next_reply(self, patience: float) -> Reply | None:
        """Wait for a reply, None at the end of the program; raise `queue.Empty` after `patience`.

        Where a first reply takes long, a line says so: another protocol may be needed.
        """
        if not self._has_replied and patience > FIRST_REPLY:
            with contextlib.suppress(queue.Empty):
                return self._replies.get(timeout=FIRST_REPLY)
            _report_wait(shlex.join(self._words), self._protocol.name)
            patience -= FIRST_REPLY
        return self._replies.get(timeout=patience)

    def demand(self, command: str, thinking_time: float = 0.0) -> str:
        """Return the text of the reply to a command; raise PlayerError also if it is refused."""
        reply = self.ask(command, thinking_time)
        if not reply.succeeded:
            raise PlayerError(f"refuses '{_title(command)}': {printable(reply.text[:200])}")
        return reply.text

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """End a search, if the protocol can."""
        if self._protocol.stop:
            self.send(self._protocol.stop)

    def close(self) -> None:
        """Quit the program; kill it after `EXIT_TIMEOUT`."""
        self.stop()
        self.send(self._protocol.quit)
        self._end()

    def _exit_reason(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(EXIT_TIMEOUT)
            self._stderr_reader.join(EXIT_TIMEOUT)  # its last message may still be in the pipe
            last = f", its last message: {printable(self._stderr[0])}" if self._stderr else ""
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            return f"the program ended ({how}){last}"
        return "the program closed its output"


def _title(command: str) -> str:
    """Return the first line of a command, for messages."""
    return command.partition("\n")[0]


def _lines_of(pipe: IO[bytes]) -> Iterator[str]:
    while line := pipe.readline(_MAX_LINE_BYTES):
        yield line.decode("utf-8", "replace").strip()


def _read_stdout(
    pipe: IO[bytes],
    replies: "queue.Queue[Reply | None]",
    read_replies: Callable[[Iterator[str]], Iterator[Reply]],
) -> None:
    """Put each reply into a queue; None at the end of the pipe."""
    with contextlib.suppress(OSError, ValueError), pipe:
        try:
            for reply in read_replies(_lines_of(pipe)):
                replies.put(reply)
                if replies.qsize() > _MAX_UNREAD_REPLIES:
                    raise OverflowError
        except OverflowError:
            replies.put(_OVERFLOW)
    replies.put(None)


def _read_stderr(pipe: IO[bytes], last: "deque[str]") -> None:
    """Keep the last line of standard error."""
    with contextlib.suppress(OSError, ValueError), pipe:
        for text in _lines_of(pipe):
            if text:
                last.append(text[:200])


def _end(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin
    with contextlib.suppress(OSError, ValueError):
        process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(EXIT_TIMEOUT)
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
