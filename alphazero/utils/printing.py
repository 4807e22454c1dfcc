"""Standard output that takes every text: a sign that its encoding lacks is spelled otherwise."""

import codecs
import io
import sys
import unicodedata
from typing import Final

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
"""Of signs that Unicode does not decompose into ASCII ones, or not as a reader expects it."""

SPELL: Final = "alphazero.spell"
"""The name of the error handler."""


def _spell(error: UnicodeError) -> tuple[str, int]:
    """Return what is written in place of signs that cannot be encoded, and where to go on."""
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(_spelling, error.object[error.start : error.end])), error.end


def _spelling(sign: str) -> str:
    """Return a sign in ASCII: without its accents, or a question mark where nothing is left."""
    if unicodedata.combining(sign):
        return ""
    parts = unicodedata.normalize("NFKD", sign)
    return SPELLINGS.get(sign) or "".join(filter(str.isascii, parts)) or "?"


def make_stdout_lossless() -> None:
    """Let standard output take every text from now on, if it is a stream with an encoding."""
    codecs.register_error(SPELL, _spell)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=SPELL)
