"""Run a compiled rule in Python, which checks every index.

Kernels check no index: a rule that writes past its array damages memory, and the process may die
much later. In Python the same source raises IndexError at the fault.
"""

import types
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

_KNOWN_MODULES = ("numpy", "math")
"""Modules without compiled functions."""


class WatchedArray(np.ndarray[Any, np.dtype[Any]]):
    """An array that stores integers modulo 2**64, as compiled code does."""

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            super().__setitem__(index, value)
        except OverflowError:
            super().__setitem__(index, (int(value) + 2**63) % 2**64 - 2**63)


class _PlainModule:
    """A module whose compiled functions are replaced by their Python sources."""

    def __init__(self, module: types.ModuleType, known: dict[int, Any]) -> None:
        self._module = module
        self._known = known

    def __getattr__(self, name: str) -> Any:
        return _plain(getattr(self._module, name), self._known)


def plain_function(function: Any) -> Callable[..., Any]:
    """Return the Python source of a compiled function, with its callees replaced likewise."""
    return _plain(function, {})  # type: ignore[no-any-return]


def sources_of(function: Any) -> set[str]:
    """Return the source files of a compiled function and of all its callees."""
    known: dict[int, Any] = {}
    _plain(function, known)
    return {each.__code__.co_filename for each in known.values()}


def _plain(thing: Any, known: dict[int, Any]) -> Any:
    """Return a value in a rule's source without numba; `known` has functions by compiled id."""
    if isinstance(thing, types.ModuleType) and thing.__name__ not in _KNOWN_MODULES:
        return _PlainModule(thing, known)
    if not isinstance(thing, numba.core.dispatcher.Dispatcher):
        return thing
    if id(thing) not in known:
        source, names = thing.py_func, dict[str, Any]()
        cells = tuple(
            types.CellType(_plain(cell.cell_contents, known)) for cell in source.__closure__ or ()
        )
        known[id(thing)] = types.FunctionType(
            source.__code__, names, source.__name__, source.__defaults__, cells
        )
        names.update((name, _plain(each, known)) for name, each in source.__globals__.items())
    return known[id(thing)]
