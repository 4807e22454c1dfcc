"""The process of an external program that speaks the Go Text Protocol or UCI.

Commands are sent without waiting; replies come in the same order. A thread reads them, so that a
program that hangs or floods its output blocks nothing else.
"""

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import IO, Final, NamedTuple, TypeAlias

from alphazero.errors import PlayerError
from alphazero.utils.files import explain_os_error, printable

MOVE_TIMEOUT: Final = 300.0
"""Default timeout of one reply, in seconds."""

EXIT_TIMEOUT: Final = 1.0
"""Seconds a program has to exit by itself before it is killed."""

_MAX_LINE_BYTES: Final = 1 << 16
_MAX_UNREAD_REPLIES: Final = 1000
MAX_REPLY: Final = 1 << 20
"""Limits of a program's output: bytes per line, unread replies, characters per reply."""

_OVERFLOW: Final = False, "!"
"""Queue entry that stands for a reply beyond these limits."""

Answer: TypeAlias = tuple[bool, str]
"""Whether a command succeeded, and the lines of its reply, separated by newlines."""


class ProgramProtocol(NamedTuple):
    """How programs talk."""

    name: str
    """which precedes the command of a player"""
    example: str
    read_answers: Callable[[Iterator[str]], Iterator[Answer]]
    """joins lines without spaces at their ends; raises OverflowError beyond `MAX_REPLY`"""
    stop: str = ""
    """ends a search, which must end before `quit`; without it programs are quit at any time"""


class Reply(NamedTuple):
    """A program's reply to a command."""

    command: str
    succeeded: bool
    text: str


class ProgramError(Exception):
    """The external program exited, timed out or exceeded the output limits."""


class ProgramProcess:
    """A running program.

    Raises:
        PlayerError: when it cannot be started.
    """

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
            raise PlayerError(
                f"cannot start {printable(command)}: {explain_os_error(error)}"
            ) from error
        assert process.stdin and process.stdout and process.stderr  # noqa: PT018
        self._process, self._stdin = process, process.stdin
        self._protocol = protocol
        self._answers: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        self._stderr: deque[str] = deque(maxlen=1)
        self._pending: deque[str] = deque()
        self._since = 0.0
        """Start of the wait for the oldest pending reply, by `time.monotonic()`."""
        # Threads hold the pipes, not this object: when it is garbage-collected, the process ends.
        errors, output = (process.stderr, self._stderr), (process.stdout, self._answers)
        self._stderr_reader = threading.Thread(target=_read_stderr, args=errors, daemon=True)
        self._stderr_reader.start()
        arguments = (*output, protocol.read_answers)
        threading.Thread(target=_read_stdout, args=arguments, daemon=True).start()
        self._end = weakref.finalize(self, _end, process)

    def send(self, command: str, has_reply: bool = True) -> None:
        """Send a command without waiting for its reply."""
        if has_reply:
            if not self._pending:
                self._since = time.monotonic()
            self._pending.append(command)
        # The exit of a program is reported by `replies`.
        with contextlib.suppress(OSError, ValueError):
            self._stdin.write(f"{command}\n".encode())
            self._stdin.flush()

    def replies(self, seconds: float = 0.0) -> list[Reply]:
        """Return the replies received; wait up to `seconds` for the first, if one is pending.

        Raises:
            ProgramError: when the program exited or exceeded the output limits.
        """
        replies: list[Reply] = []
        while self._pending:
            try:
                answer = self._answers.get(timeout=0.0 if replies else seconds)
            except queue.Empty:
                break
            if answer is _OVERFLOW:
                raise ProgramError("the program's output exceeds its limits")
            if answer is None:
                raise ProgramError(self._exit_reason())
            replies.append(Reply(self._pending.popleft(), *answer))
            self._since = time.monotonic()
        return replies

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def pending(self) -> int:
        """Commands without a reply."""
        return len(self._pending)

    @property
    def seconds_waiting(self) -> float:
        """Seconds since the oldest reply is pending; 0 when none is."""
        return time.monotonic() - self._since if self._pending else 0.0

    def ask(self, command: str, seconds: float) -> Reply:
        """Send a command and wait for all pending replies; return the last.

        Raises:
            ProgramError: as `replies`, and after `seconds` without a reply.
        """
        self.send(command)
        replies: list[Reply] = []
        while self._pending:
            replies = self.replies(max(0.0, seconds - self.seconds_waiting))
            if self.seconds_waiting >= seconds:
                raise ProgramError(f"no reply to '{command}' within {seconds:g} s")
        return replies[-1]

    def close(self) -> None:
        """Quit the program; kill it after `EXIT_TIMEOUT`."""
        if self._pending and self._protocol.stop:
            self.send(self._protocol.stop, has_reply=False)
            with contextlib.suppress(ProgramError):
                self.replies(EXIT_TIMEOUT)
        self.send("quit")
        self._end()

    def _exit_reason(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = self._process.wait(EXIT_TIMEOUT)
            self._stderr_reader.join(EXIT_TIMEOUT)  # its last message may still be in the pipe
            last = f", its last message: {printable(self._stderr[0])}" if self._stderr else ""
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            return f"the program ended ({how}){last}"
        return "the program closed its output"


def split_command(command: str, protocol: ProgramProtocol) -> list[str]:
    """Split a command line as a shell would; no shell is used.

    Raises:
        PlayerError: for an empty command, or an unclosed quotation.
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


def _lines_of(pipe: IO[bytes]) -> Iterator[str]:
    while line := pipe.readline(_MAX_LINE_BYTES):
        yield line.decode("utf-8", "replace").strip()


def _read_stdout(
    pipe: IO[bytes],
    answers: "queue.SimpleQueue[Answer | None]",
    read_answers: Callable[[Iterator[str]], Iterator[Answer]],
) -> None:
    """Put each answer into a queue; None at the end of the pipe."""
    with contextlib.suppress(OSError, ValueError), pipe:
        try:
            for answer in read_answers(_lines_of(pipe)):
                answers.put(answer)
                if answers.qsize() > _MAX_UNREAD_REPLIES:
                    raise OverflowError
        except OverflowError:
            answers.put(_OVERFLOW)
    answers.put(None)


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
