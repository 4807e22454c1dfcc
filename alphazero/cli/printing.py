"""Standard streams: what an encoding lacks is spelled in ASCII, and no failure is a traceback."""

import codecs
import io
import os
import sys
import unicodedata
from typing import Any, Final

SPELLINGS: Final = {
    "²": "^2",
    "±": "+-",
    "·": ".",
    "“": '"',
    "”": '"',
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{MULTIPLICATION SIGN}": "x",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
}
"""Replacements that Unicode's decomposition lacks or gives otherwise."""

SPELL: Final = "alphazero.spell"
"""The name of the error handler for `codecs`."""


def _spell(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(_spelling, error.object[error.start : error.end])), error.end


def _spelling(sign: str) -> str:
    """Return a character in ASCII: without accents, or a question mark if nothing is left."""
    if unicodedata.combining(sign):
        return ""
    parts = unicodedata.normalize("NFKD", sign)
    return SPELLINGS.get(sign) or "".join(filter(str.isascii, parts)) or "?"


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
    codecs.register_error(SPELL, _spell)
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
        sys.stdout.reconfigure(errors=SPELL)


def drop_stdout() -> None:
    """Drop what standard output still holds: Python would fail to write it, visibly, at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
