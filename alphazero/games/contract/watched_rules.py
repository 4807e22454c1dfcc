"""Calls of a game's rules that find their faults.

Within a budget of work a rule first runs in Python, which raises IndexError where a kernel would
damage memory. Then it runs compiled, on arrays between margins that must not change. Both results
must agree. numba's `boundscheck` could replace Python, but its errors name neither the index nor
the line, and to compile the rules of Go once more takes 15 s.
"""

import math
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from alphazero.games.game import Game, Mask, State

Array = npt.NDArray[Any]

MARGIN = 256
"""Entries before and after an array that no rule may touch."""

_MARK = 93
"""The value of the bytes of a margin."""

_ARRAY_NAMES = {"legal": "mask", "observe": "planes", "owners": "cells"}
"""The arrays that rules write, besides the state."""


class Fault(Exception):
    """Raised when a game violates a requirement of the contract."""

    def __init__(self, text: str, state: State | None = None, requirement: str = "") -> None:
        """`text` says what is wrong and what was expected; by default of the checked state."""
        super().__init__(text)
        self.text = text
        self.state = state
        self.requirement = requirement
        """name of its function, or of what `WatchedRules` requires"""
        self.moves: str | None = None
        """the moves to the position; None if it is in no random game"""
        self.drawing = ""
        """the position as text"""


class _Run(NamedTuple):
    """What a rule returned, 0 for None, and its arrays afterwards."""

    result: float
    state: State
    written: Array
    """empty for a rule that writes none"""


class WatchedRules:
    """A game's rules; a call raises Fault if the rule does something forbidden."""

    def __init__(self, game: Game, work: int) -> None:
        _, height, width = game.observation_shape
        area = math.prod(game.observation_shape)
        self._compiled: dict[str, Callable[..., Any]] = game.rule_functions._asdict()
        self._python = {name: python_source(rule) for name, rule in self._compiled.items()}
        self._cost = dict.fromkeys(self._python, area) | dict.fromkeys(
            ("legal", "play"), game.num_actions
        )
        self._work = dict.fromkeys(self._python, work)
        self._blanks: dict[str, Array] = {
            "legal": np.zeros(game.num_actions, np.bool_),
            "observe": np.zeros(game.observation_shape, np.float32),
            "owners": np.zeros(height * width, np.int8),
        }
        self.notes: list[str] = []
        """things that could not be checked"""

    def play(self, state: State, action: int) -> State:
        return self._run("play", state, action).state

    def legal(self, state: State) -> tuple[Mask, int]:
        """Return the legal actions [A] and the rule's number of them."""
        run = self._read("legal", state)
        return run.written, int(run.result)

    def write(self, name: str, state: State) -> Array:
        """Return what `observe` or `owners` writes."""
        return self._read(name, state).written

    def ask(self, name: str, state: State) -> float:
        """Return the answer of `heuristic`, `wins_at_once` or `margin`."""
        return self._read(name, state).result

    def _read(self, name: str, state: State) -> _Run:
        """Call a rule that must not change the state, and must write every entry of its array.

        So the result must be the same for an array that was filled with something else.
        """
        blank = self._blanks.get(name)
        run = self._run(name, state, *([] if blank is None else [blank]))
        if changed := _difference(run.state, state):
            raise Fault(
                f"`{name}` changes state{list(changed)} from {state[changed]} to "
                f"{run.state[changed]}; expected that only `play` changes the state",
                state,
                "does_not_change_given_states",
            )
        if blank is not None:
            again = self._run_compiled(name, state, np.full_like(blank, 7))
            if missed := _difference(again.written, run.written):
                raise Fault(
                    f"`{name}` does not write {_ARRAY_NAMES[name]}{list(missed)}; expected that it "
                    "writes every entry",
                    state,
                    "writes_every_entry",
                )
        return run

    def _run(self, name: str, state: State, *arguments: Any) -> _Run:
        """Run a rule in Python, within the budget, then compiled, and compare the results."""
        slow = self._run_in_python(name, state, *arguments)
        fast = self._run_compiled(name, state, *arguments)
        if slow is not None and (difference := _compare(name, fast, slow)):
            raise Fault(
                f"`{name}` has different results compiled and in Python: {difference}; does it "
                "read uninitialised memory or use random numbers?",
                state,
                "does_the_same_every_time",
            )
        return fast

    def _run_in_python(self, name: str, state: State, *arguments: Any) -> _Run | None:
        if self._work[name] <= 0:
            return None
        self._work[name] -= self._cost[name]
        own, *others = (
            each.copy().view(_WatchedArray) if isinstance(each, np.ndarray) else each
            for each in (state, *arguments)
        )
        try:
            with np.errstate(all="ignore"):
                result = self._python[name](own, *others)
        except IndexError as error:
            raise _outside(
                f"{_call(name, *arguments)} uses an index outside its array: {error}, "
                f"{place_of(error)}",
                state,
            ) from error
        except Exception as error:  # numba supports what Python does not
            self._work[name] = 0
            self.notes.append(
                f"`{name}` could only be run compiled ({type(error).__name__}: {error}), so a "
                f"write more than {MARGIN} entries past an array would not be detected"
            )
            return None
        return _run_of(result, own, others)

    def _run_compiled(self, name: str, state: State, *arguments: Any) -> _Run:
        frames = [_frame(each) for each in (state, *arguments) if isinstance(each, np.ndarray)]
        own, *others = (inner for inner, _ in frames)
        others = [*others, *(each for each in arguments if not isinstance(each, np.ndarray))]
        try:
            result = self._compiled[name](own, *others)
        except Exception as error:
            raise _outside(
                f"{_call(name, *arguments)} raises {type(error).__name__}: {error}; expected no "
                "exception",
                state,
            ) from error
        if any((margin != _MARK).any() for _, margins in frames for margin in margins):
            raise _outside(f"{_call(name, *arguments)} writes outside its arrays", state)
        return _run_of(result, own, others)


def _frame(array: Array) -> tuple[Array, tuple[Array, Array]]:
    """Return a copy of an array, and the margins in memory before and after it."""
    size = MARGIN * array.itemsize
    memory = np.full(array.nbytes + 2 * size, _MARK, np.uint8)
    inner = memory.view(array.dtype)[MARGIN:-MARGIN].reshape(array.shape)
    inner[:] = array
    return inner, (memory[:size], memory[-size:])


def _run_of(result: float | None, state: Array, others: list[Any]) -> _Run:
    arrays = [np.asarray(each) for each in others if isinstance(each, np.ndarray)]
    return _Run(result or 0, np.asarray(state), arrays[0] if arrays else np.zeros(0))


def _outside(text: str, state: State) -> Fault:
    return Fault(text, state, "stays_within_its_arrays")


def _call(name: str, *arguments: Any) -> str:
    """Return a call of a rule as text; the array that it writes is not shown."""
    shown = ["state", *(str(each) for each in arguments if not isinstance(each, np.ndarray))]
    return f"`{name}({', '.join(shown)})`"


def _difference(one: Array, other: Array) -> tuple[int, ...]:
    """Return the first index where two arrays differ (NaN equals NaN); () for none."""
    both_nan = (one != one) & (other != other)  # noqa: PLR0124
    places = np.argwhere((one != other) & ~both_nan)
    return tuple(places[0].tolist()) if len(places) else ()


def _compare(name: str, fast: _Run, slow: _Run) -> str:
    """Return how two runs of a rule differ; empty if they do not."""
    for array, one, other in (
        ("state", fast.state, slow.state),
        (_ARRAY_NAMES.get(name), fast.written, slow.written),
    ):
        if place := _difference(one, other):
            return f"{array}{list(place)} is {one[place]} and {other[place]}"
    same = fast.result == slow.result
    return "" if same else f"the result is {fast.result} and {slow.result}"


def place_of(error: Exception) -> str:
    """Return the line of a game's source that raised an error."""
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__
    ]
    if not frames:
        return "in compiled code"
    return f"in line {frames[-1].lineno} of {Path(frames[-1].filename).name}: {frames[-1].line}"


# Rules in Python


class _WatchedArray(np.ndarray[Any, np.dtype[Any]]):
    """An array that stores integers modulo 2**64, as compiled code does."""

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            super().__setitem__(index, value)
        except OverflowError:
            super().__setitem__(index, (int(value) + 2**63) % 2**64 - 2**63)


class _PythonModule:
    """A module whose compiled functions are replaced by their Python sources."""

    def __init__(self, module: types.ModuleType, sources: dict[int, Any]) -> None:
        self._module = module
        self._sources = sources

    def __getattr__(self, name: str) -> Any:
        return _in_python(getattr(self._module, name), self._sources)


def python_source(rule: Any) -> Callable[..., Any]:
    """Return the Python source of a compiled function, with its callees replaced likewise."""
    return _in_python(rule, {})  # type: ignore[no-any-return]


def _in_python(thing: Any, sources: dict[int, Any]) -> Any:
    """Return a value in a rule's source without numba; `sources` has functions by compiled id."""
    if isinstance(thing, types.ModuleType) and thing.__name__ not in ("numpy", "math"):
        return _PythonModule(thing, sources)
    if not isinstance(thing, numba.core.dispatcher.Dispatcher):
        return thing
    if id(thing) not in sources:
        source, names = thing.py_func, dict[str, Any]()
        cells = tuple(
            types.CellType(_in_python(cell.cell_contents, sources))
            for cell in source.__closure__ or ()
        )
        sources[id(thing)] = types.FunctionType(
            source.__code__, names, source.__name__, source.__defaults__, cells
        )
        names.update((name, _in_python(each, sources)) for name, each in source.__globals__.items())
    return sources[id(thing)]
