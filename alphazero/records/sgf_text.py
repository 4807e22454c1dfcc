"""The text of SGF files: their encodings, and the tokens that they consist of."""

import codecs
import contextlib
import re
from typing import Final

BEGIN = re.compile(r"\(\s*(?:;|[A-Za-z]+\s*\[)")
"""The beginning of a game; Cyberoro and the Nihon Ki-in leave the first semicolon out."""

TOKEN = re.compile(
    r"\s*(?:([(;)])|([A-Za-z]+)|\[([^\\\]]*(?:\\.[^\\\]]*)*)\]|([^\s();\[A-Za-z]+))", re.DOTALL
)
"""A sign, a name, a value, or something else, which is no SGF."""

_MARKS: Final = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}

_WIDER: Final = {
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""What programs write by the name of an encoding."""

_FAMILIES = ("ascii", "big5", "cp", "euc", "gb", "iso8859", "koi8", "mac", "shift", "utf-")
"""Beginnings of the names of encodings; Python has codecs of other kinds."""

_GUESSES: Final[tuple[tuple[str, frozenset[int], int, int], ...]] = (
    ("utf-8", frozenset(), 0, 0),
    ("gb18030", frozenset(range(0xB0, 0xD8)), 12, 0),
    ("cp932", frozenset((*range(0x81, 0x84), *range(0x88, 0x98))), 12, 0),
    ("euc_jp", frozenset((0xA4, 0xA5, *range(0xB0, 0xD0))), 12, 4),
    ("cp949", frozenset(range(0xB0, 0xC9)), 11, 6),
    ("big5", frozenset(range(0xA4, 0xC7)), 12, 6),
    ("cp1252", frozenset(range(0xC0, 0x100)), 8, 0),
)
"""Encodings, the first bytes of their usual characters, the bits of information in such a
character, and the bits of evidence against the encoding beforehand; our own choice."""

_RARE, _INVALID = 16, 40
"""Bits of other characters, and of bytes that are none."""

_SAMPLE = 1 << 16
"""Bytes around the first one outside ASCII, from which the encoding is guessed."""


def decode(data: bytes) -> str:
    """Return the text of a file: by its byte order mark, by CA, as UTF-8, or as a likely encoding.

    It is decoded before escapes are read, for a second byte may be a backslash or a bracket. So of
    several encodings the one is taken in which the most values are closed, and of these the one
    with the most usual characters.
    """
    other = re.search(rb"[\x80-\xff]", data)
    if not other:
        return data.decode()
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    first = other.start()
    begin = max(data.rfind(b"(;", 0, first), first - _SAMPLE // 2, 0)
    sample = data[begin : begin + _SAMPLE]
    guesses = list(_GUESSES)
    declared = re.search(rb"CA\s*\[\s*([A-Za-z0-9_:.-]{1,40})\s*\]", data[:_SAMPLE])
    if declared:
        with contextlib.suppress(LookupError):
            name = codecs.lookup(declared[1].decode()).name
            if name.startswith(_FAMILIES):
                guesses.insert(0, (_WIDER.get(name, name), frozenset(), 0, 0))
    costs: dict[str, tuple[int, int]] = {}
    for encoding, usual, bits, against in guesses:
        text = sample.decode(encoding, "replace")
        cost = against + _information(text, encoding, usual, bits)
        costs.setdefault(encoding, (-_num_values(text), cost))  # CA comes first
    return data.decode(min(costs, key=costs.__getitem__), "replace")


def _information(text: str, encoding: str, usual: frozenset[int], bits: int) -> int:
    """Return the bits of the characters outside ASCII; with `bits` 0 every one is usual."""
    total = 0
    for letter in re.findall("[^\x00-\x7f]", text):
        if letter == "\ufffd":
            total += _INVALID
        elif bits:
            total += bits if letter.encode(encoding, "replace")[0] in usual else _RARE
    return total


def _num_values(text: str) -> int:
    """Return the number of values minus that of pieces that are no SGF."""
    begin, count = BEGIN.search(text), 0
    place = begin.start() if begin else len(text)
    while match := TOKEN.match(text, place):
        count += (match[3] is not None) - (match[4] is not None)
        place = match.end()
    return count
