"""Argument types and the error format for argparse."""

import argparse
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from alphazero.errors import AlphaZeroError
from alphazero.utils.files import escape, is_folder, printable

if TYPE_CHECKING:
    from alphazero.arena.sprt import Sprt


class Parser(argparse.ArgumentParser):
    """Reports an error in one line, without argparse's usage text."""

    def error(self, message: str) -> NoReturn:
        """Exit with code 2."""
        self.exit(2, f"error: {escape(message)}; see: {self.prog} --help\n")


def config_file(text: str) -> str:
    """Return the path of a YAML file; refuse a folder or a checkpoint."""
    path = Path(text)
    resume = "alphazero train --resume"
    if is_folder(path):
        config, run = printable(path / "config.yaml"), shlex.quote(printable(text))
        reason = (
            f"is a folder, not a YAML file; a run has {config}, and goes on with: {resume} {run}"
        )
        raise argparse.ArgumentTypeError(f"{printable(text)} {reason}")
    if path.suffix == ".safetensors":
        reason = f"is a checkpoint, not a YAML file; a run goes on with: {resume} RUN"
        raise argparse.ArgumentTypeError(f"{printable(text)} {reason}")
    return text


def whole_number(text: str) -> int:
    """Parse an integer from 0 up."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, got {text[:20]!r}")
    return int(text)


def whole_numbers(text: str) -> list[int]:
    """Parse comma-separated integers."""
    return [whole_number(part) for part in text.split(",")]


def _between(minimum: int, maximum: int, expected: str) -> Callable[[str], int]:
    """Return a parser of integers from `minimum` to `maximum`."""

    def parse(text: str) -> int:
        number = whole_number(text)
        if not minimum <= number <= maximum:
            raise argparse.ArgumentTypeError(f"expected {expected}, got {text}")
        return number

    return parse


positive_number = _between(1, 10**9, "a whole number from 1 on")
level = _between(1, 10, "a level from 1 to 10")
port = _between(0, 65535, "a port from 0 to 65535")


def positive_numbers(text: str) -> list[int]:
    """Parse comma-separated integers from 1 up."""
    return [positive_number(part) for part in text.split(",")]


def even_number(text: str) -> int:
    """Parse an even number of games."""
    number = whole_number(text)
    if number == 0 or number % 2:
        reason = "each opening is played twice, with colours swapped"
        raise argparse.ArgumentTypeError(f"expected an even number from 2 on, got {text}: {reason}")
    return number


def _number(text: str) -> float:
    """Parse a number; return -1, which no argument accepts, for anything else."""
    try:
        return float(text)
    except ValueError:
        return -1.0


def seconds(text: str) -> float:
    """Parse a positive number of seconds."""
    number = _number(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, got {text!r}")
    return number


def calibration_seconds(text: str) -> float:
    """Parse at most 60 seconds."""
    number = seconds(text)
    if number > 60:
        raise argparse.ArgumentTypeError(f"expected at most 60 seconds, got {text}")
    return number


def share(text: str) -> float:
    """Parse a number in [0, 1]."""
    number = _number(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to 1, got {text!r}")
    return number


def sprt(text: str) -> "Sprt":
    """Parse the parameters of a sequential test."""
    from alphazero.arena.sprt import Sprt

    try:
        return Sprt(*map(float, text.split(",")))
    except (ValueError, TypeError):
        expected = "ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA"
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text[:40]!r}") from None
    except AlphaZeroError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
