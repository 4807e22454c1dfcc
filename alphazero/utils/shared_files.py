"""Files that people and other programs write too: a bad part of them costs only itself.

What is not of the expected kind is never replaced.
"""

import sys
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from alphazero.errors import AlphaZeroError, RunError

Item = TypeVar("Item")
Result = TypeVar("Result")

MAX_WARNINGS: Final = 20
_LEFT_OUT: Final = "left out: "


def warn(text: str) -> None:
    """Print a warning."""
    print(text, file=sys.stderr)


def refuse(text: str) -> NoReturn:
    """Raise a warning as an error, for files of our own."""
    raise RunError(text.removeprefix(_LEFT_OUT))


def read_each(
    items: Iterable[Item], read: Callable[[Item], Result], warn: Callable[[str], object]
) -> list[Result]:
    """Read the items of a file that can be read; each of the others costs a warning.

    Raise the first item's AlphaZeroError if none can be read.
    """
    results, errors = list[Result](), list[AlphaZeroError]()
    for item in items:
        try:
            results.append(read(item))
        except AlphaZeroError as error:
            errors.append(error)
    if errors and not results:
        raise errors[0]
    for reason in errors[:MAX_WARNINGS]:
        warn(f"{_LEFT_OUT}{reason}")
    if len(errors) > MAX_WARNINGS:
        warn(f"{_LEFT_OUT}{len(errors) - MAX_WARNINGS:,} others")
    return results


def starts_with(path: Path, beginning: bytes) -> bool:
    """Whether `path` is a readable regular file with this beginning, perhaps after a BOM."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            start = file.read(len(beginning) + len(BOM_UTF8))
            return start.removeprefix(BOM_UTF8).startswith(beginning)
    except (OSError, ValueError):
        return False
