"""Output for people: characters that an encoding lacks as similar ASCII ones."""

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


def make_stdout_lossless() -> None:
    """Make standard output accept every text, if it has an encoding."""
    codecs.register_error(SPELL, _spell)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=SPELL)
