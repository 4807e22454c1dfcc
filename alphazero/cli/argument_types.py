"""Argument types and the error format for argparse."""

import argparse
import math
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from alphazero.utils.files import escape, is_folder, printable


class Parser(argparse.ArgumentParser):
    """Reports an error in one line, without argparse's usage text."""

    def error(self, message: str) -> NoReturn:
        """Exit with code 2."""
        self.exit(2, f"error: {escape(message)}; see: {self.prog} --help\n")


def config_file(text: str) -> str:
    """Return the path of a YAML file; refuse a folder or a checkpoint."""
    path, name, resume = Path(text), printable(text), "goes on with: alphazero train --resume"
    if is_folder(path):
        raise argparse.ArgumentTypeError(
            f"{name} is a folder, not a YAML file; a run has {printable(path / 'config.yaml')}, "
            f"and {resume} {shlex.quote(name)}"
        )
    if path.suffix == ".safetensors" and "=" not in text:
        raise argparse.ArgumentTypeError(
            f"{name} is a checkpoint, not a YAML file; a run {resume} RUN"
        )
    return text


def _number(
    expected: str, accepts: Callable[[float], bool], is_whole: bool = False
) -> Callable[[str], Any]:
    """Return a parser of numbers that `accepts`; `expected` describes them."""

    def parse(text: str) -> float:
        is_number = text.isascii() and ((text.isdigit() and len(text) < 10) or not is_whole)
        try:
            number = (int if is_whole else float)(text) if is_number else math.nan
        except ValueError:
            number = math.nan
        if not accepts(number):
            raise argparse.ArgumentTypeError(f"expected {expected}, got {text[:20]!r}")
        return number

    return parse


whole_number = _number("a whole number from 0 on", lambda number: number >= 0, True)
positive_number = _number("a whole number from 1 on", lambda number: number >= 1, True)
level = _number("a level from 1 to 10", lambda number: 1 <= number <= 10, True)
port = _number("a port from 0 to 65535", lambda number: number <= 65535, True)
even_number = _number(
    "an even number from 2 on, for each opening is played twice, with colours swapped",
    lambda number: number >= 2 and number % 2 == 0,
    True,
)
seconds = _number("seconds above 0", lambda number: 0 < number < 1e6)
calibration_seconds = _number("at most 60 seconds", lambda number: 0 < number <= 60)
share = _number("a share from 0 to 1", lambda number: 0 <= number <= 1)


def whole_numbers(text: str) -> list[int]:
    """Parse comma-separated integers."""
    return [whole_number(part) for part in text.split(",")]


def positive_numbers(text: str) -> list[int]:
    """Parse comma-separated integers from 1 up."""
    return [positive_number(part) for part in text.split(",")]
