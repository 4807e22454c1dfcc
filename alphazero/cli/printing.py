"""Standard streams: what an encoding lacks is a question mark, and no failure is a traceback."""

import io
import os
import sys
from typing import Any


class OutputError(OSError):
    """Standard output cannot be written, as on a full disk; a closed pipe is a BrokenPipeError."""


class _Output(io.FileIO):
    """Standard output or error; of the latter what cannot be written is dropped.

    A message is not worth the work, as when a terminal is closed during a training.
    """

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            if self.fileno() == 1:
                raise
        except OSError as error:
            if self.fileno() == 1:
                raise OutputError(error.errno, error.strerror) from error
        return len(data)


def prepare_streams() -> None:
    """Make standard output accept every text, standard error never fail, and no stream missing."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:  # closed: a file that is opened later must not take its descriptor
            mode, nothing = "w" if descriptor else "r", os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(nothing, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        elif descriptor and stream is getattr(sys, f"__{name}__") and os.name == "posix":
            stream.flush()
            output: Any = _Output(descriptor, "w", closefd=False)
            through = stream.write_through  # under PYTHONUNBUFFERED
            output = output if through else io.BufferedWriter(output)
            form = stream.encoding, stream.errors, None, stream.line_buffering, through
            setattr(sys, name, io.TextIOWrapper(output, *form))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def drop_stdout() -> None:
    """Drop what standard output still holds: Python would fail to write it, visibly, at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
