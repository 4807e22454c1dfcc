"""Compilation, checks of arguments, and work in pieces."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

Progress = Callable[[int], object]
"""Receives the amount of work done, as `update` of a tqdm bar."""

PIECE = 100_000
"""Episodes between two updates of the bar, about a hundredth of a second."""


class FoundationsError(ValueError):
    """An argument out of its range; the text is one line."""


def compiled(function: Function) -> Function:
    """Compile by numba at the first call, which takes about a second, without a file cache."""
    decorate = numba.njit(nogil=True, error_model="numpy")
    return decorate(function)  # type: ignore[no-any-return]


def check_number(name: str, value: int, least: int, most: int) -> None:
    """Raise FoundationsError unless `value` is a whole number from `least` to `most`."""
    if not (isinstance(value, int) and least <= value <= most):
        raise FoundationsError(
            f"{name} must be a whole number from {least:,} to {most:,}, got {value!r}"
        )


def check_epsilon(epsilon: float) -> None:
    """Raise FoundationsError unless `epsilon` lies from 0 to 1, so also for NaN."""
    if not 0 <= epsilon <= 1:
        raise FoundationsError(f"epsilon must lie from 0 to 1, got {epsilon!r}")


def pieces(total: int, size: int, show: Progress | None) -> Iterator[int]:
    """Yield pieces of work of at most `size` until `total` is done; show each one when done."""
    while total > 0:
        piece = min(size, total)
        yield piece
        total -= piece
        if show:
            show(piece)
