"""The process of an external program that speaks the Go Text Protocol.

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
from typing import IO, Final, NamedTuple

from alphazero.errors import PlayerError
from alphazero.utils.files import explain_os_error, printable

MOVE_TIMEOUT: Final = 300.0
"""Default timeout of one reply, in seconds."""

EXIT_TIMEOUT: Final = 1.0
"""Seconds a program has to exit by itself before it is killed."""

_MAX_LINE_BYTES: Final = 1 << 16
_MAX_REPLY_BYTES: Final = 1 << 20
_MAX_UNREAD_REPLIES: Final = 1000
"""Limits of a program's output: bytes per line, bytes per reply, unread replies."""

_OVERFLOW: Final = "!"
"""Queue entry that stands for a reply beyond these limits."""


class GtpReply(NamedTuple):
    """A program's reply to a command."""

    command: str
    succeeded: bool
    text: str
    """without the status sign and the command number; lines are separated by newlines"""


class ProgramError(Exception):
    """The external program exited, timed out or exceeded the output limits."""


class GtpProcess:
    """A running program.

    Raises:
        PlayerError: when it cannot be started.
    """

    def __init__(self, command: str) -> None:
        words = split_command(command)
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
        self._replies: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._stderr: deque[str] = deque(maxlen=1)
        self._pending: deque[str] = deque()
        self._since = 0.0
        """Start of the wait for the oldest pending reply, by `time.monotonic()`."""
        # Threads hold the pipes, not this object: when it is garbage-collected, the process ends.
        arguments = (process.stderr, self._stderr), (process.stdout, self._replies)
        self._stderr_reader = threading.Thread(target=_read_stderr, args=arguments[0], daemon=True)
        self._stderr_reader.start()
        threading.Thread(target=_read_replies, args=arguments[1], daemon=True).start()
        self._end = weakref.finalize(self, _end, process)

    def send(self, command: str) -> None:
        """Send a command without waiting for its reply."""
        if not self._pending:
            self._since = time.monotonic()
        self._pending.append(command)
        # The exit of a program is reported by `replies`.
        with contextlib.suppress(OSError, ValueError):
            self._stdin.write(f"{command}\n".encode())
            self._stdin.flush()

    def replies(self, seconds: float = 0.0) -> list[GtpReply]:
        """Return the replies received; wait up to `seconds` for the first, if one is pending.

        Raises:
            ProgramError: when the program exited or exceeded the output limits.
        """
        replies: list[GtpReply] = []
        while self._pending:
            try:
                text = self._replies.get(timeout=0.0 if replies else seconds)
            except queue.Empty:
                break
            if text == _OVERFLOW:
                raise ProgramError("the program's output exceeds its limits")
            if text is None:
                raise ProgramError(self._exit_reason())
            rest = text[1:].lstrip("0123456789").strip()
            replies.append(GtpReply(self._pending.popleft(), text[0] == "=", rest))
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

    def ask(self, command: str, seconds: float) -> GtpReply:
        """Send a command and wait for all pending replies; return the last.

        Raises:
            ProgramError: as `replies`, and after `seconds` without a reply.
        """
        self.send(command)
        replies: list[GtpReply] = []
        while self._pending:
            replies = self.replies(max(0.0, seconds - self.seconds_waiting))
            if self.seconds_waiting >= seconds:
                raise ProgramError(f"no reply to '{command}' within {seconds:g} s")
        return replies[-1]

    def close(self) -> None:
        """Quit the program; kill it after `EXIT_TIMEOUT`."""
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


def split_command(command: str) -> list[str]:
    """Split a command line as a shell would; no shell is used.

    Raises:
        PlayerError: for an empty command, or an unclosed quotation.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise PlayerError(
            f"gtp:{printable(command)}: {str(error).lower()}; close the quotes"
        ) from None
    if not words or "\0" in command:
        raise PlayerError("gtp: needs a command, as in 'gtp:gnugo --mode gtp'")
    return words


def _read_replies(pipe: IO[bytes], replies: "queue.SimpleQueue[str | None]") -> None:
    """Put each reply, which ends with an empty line, into a queue; None at the end of the pipe.

    A reply starts with a line that starts with `=` or `?`; other text between replies is ignored.
    """
    lines: list[str] = []
    size = 0
    with contextlib.suppress(OSError, ValueError), pipe:
        while line := pipe.readline(_MAX_LINE_BYTES):
            text = line.decode("utf-8", "replace").strip()
            if text and (lines or text[0] in "=?"):
                lines.append(text)
                size += len(line)
            elif lines and not text:
                replies.put("\n".join(lines))
                lines, size = [], 0
            if size > _MAX_REPLY_BYTES or replies.qsize() > _MAX_UNREAD_REPLIES:
                replies.put(_OVERFLOW)
                break
    replies.put(None)


def _read_stderr(pipe: IO[bytes], last: "deque[str]") -> None:
    """Keep the last line of standard error."""
    with contextlib.suppress(OSError, ValueError), pipe:
        while line := pipe.readline(_MAX_LINE_BYTES):
            text = line.decode("utf-8", "replace").strip()
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
