"""How a word that was typed is read, and how a mistake is told, for argparse."""

import argparse
from typing import TYPE_CHECKING, NoReturn

from alphazero.errors import AlphaZeroError

if TYPE_CHECKING:
    from alphazero.arena.sprt import Sprt


class Parser(argparse.ArgumentParser):
    """Tells a mistake in one line, where argparse would print the usage as well."""

    def error(self, message: str) -> NoReturn:
        """Leave with exit code 2."""
        self.exit(2, f"error: {message}; see: {self.prog} --help\n")


def whole_number(text: str) -> int:
    """Read a number from 0 on."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, got {text[:20]!r}")
    return int(text)


def whole_numbers(text: str) -> list[int]:
    """Read numbers between commas."""
    return [whole_number(part) for part in text.split(",")]


def positive_number(text: str) -> int:
    """Read a number from 1 on."""
    number = whole_number(text)
    if number == 0:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, got {text}")
    return number


def even_number(text: str) -> int:
    """Read a number of games."""
    number = whole_number(text)
    if number == 0 or number % 2:
        raise argparse.ArgumentTypeError(
            f"expected an even number: openings are played twice, colours swapped; got {text}"
        )
    return number


def port(text: str) -> int:
    """Read the number of a port."""
    number = whole_number(text)
    if number > 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text}")
    return number


def _number(text: str) -> float:
    """Read any number; -1, which nobody here may type, for what is none."""
    try:
        return float(text)
    except ValueError:
        return -1.0


def seconds(text: str) -> float:
    """Read a time."""
    number = _number(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, got {text!r}")
    return number


def calibration_seconds(text: str) -> float:
    """Read a time of at most a minute."""
    number = seconds(text)
    if number > 60:
        raise argparse.ArgumentTypeError(f"expected at most 60 seconds, got {text}")
    return number


def share(text: str) -> float:
    """Read a share."""
    number = _number(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to 1, got {text!r}")
    return number


def sprt(text: str) -> "Sprt":
    """Read a sequential test."""
    from alphazero.arena.sprt import Sprt

    try:
        numbers = [float(part) for part in text.split(",")]
        return Sprt(*numbers)
    except (ValueError, TypeError):
        raise argparse.ArgumentTypeError(
            f"expected ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA, got {text[:40]!r}"
        ) from None
    except AlphaZeroError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
