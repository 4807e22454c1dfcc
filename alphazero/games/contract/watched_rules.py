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
from alphazero.utils.plug_ins import is_library

Array = npt.NDArray[Any]

MARGIN = 256
"""Entries before and after an array that no rule may touch."""

_MARK = 93
"""The value of the bytes of a margin."""

_ARRAY_NAMES = {"legal": "mask", "observe": "planes", "owners": "cells"}
"""The arrays that rules write, besides the state."""


class Fault(Exception):
    """Raised when a game violates a requirement of the contract."""

    moves: str | None = None
    """the moves to the position; None if it is in no random game"""
    drawing = ""
    """the position as text"""

    def __init__(self, text: str, state: State | None = None, requirement: str = "") -> None:
        """`text` says what is wrong and what was expected; by default of the checked state."""
        super().__init__(text)
        self.text = text
        self.state = state
        self.requirement = requirement
        """name of its function, or of what `WatchedRules` requires"""

    @property
    def headline(self) -> str:
        return f"'{self.requirement.replace('_', ' ')}' is violated: {self.text}"


class Run(NamedTuple):
    """What a rule left in its arrays, and returned."""

    state: State
    written: Array
    """empty for a rule that writes none"""
    answer: Array
    """[1]; 0 for None"""

    @property
    def result(self) -> float:
        return self.answer.item()  # type: ignore[no-any-return]


class WatchedRules:
    """A game's rules; a call raises Fault if the rule does something forbidden."""

    def __init__(self, game: Game, work: int) -> None:
        _, height, width = game.observation_shape
        self._compiled: dict[str, Callable[..., Any]] = game.rule_functions._asdict()
        self._python = {name: _in_python(rule, {}) for name, rule in self._compiled.items()}
        area = math.prod(game.observation_shape)
        costs = {"legal": game.num_actions, "play": game.num_actions}
        self._runs_left = {name: -(-work // costs.get(name, area)) for name in self._compiled}
        """in Python"""
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
        run = self.read("legal", state)
        return run.written, int(run.result)

    def read(self, name: str, state: State) -> Run:
        """Call a rule that must not change the state, and must write every entry of its array.

        So the result must be the same for an array that was filled with something else.
        """
        blank = self._blanks.get(name)
        if blank is None:
            run = self._run(name, state)
        else:
            run = self._run(name, state, blank)
            again = self._run(name, state, np.full_like(blank, 7), in_python=False)
            if missed := _difference(again.written, run.written):
                array = f"{_ARRAY_NAMES[name]}{list(missed)}"
                text = f"`{name}` does not write {array}; expected that it writes every entry"
                raise Fault(text, state, "writes_every_entry")
        if changed := _difference(run.state, state):
            raise Fault(
                f"`{name}` changes state{list(changed)} from {state[changed]} to "
                f"{run.state[changed]}; expected that only `play` changes the state",
                state,
                "does_not_change_given_states",
            )
        return run

    def _run(self, name: str, *inputs: Any, in_python: bool = True) -> Run:
        """Run a rule on copies in Python, within the budget, then compiled; compare the results."""
        state, slow = inputs[0], None
        if in_python and self._runs_left[name] > 0:
            self._runs_left[name] -= 1
            try:
                with np.errstate(all="ignore"):
                    slow = _call(self._python[name], [_watched(argument) for argument in inputs])
            except IndexError as error:
                reason = f"uses an index outside its array: {error}, {line_of(error)}"
                raise _outside(name, inputs, reason) from error
            except KeyboardInterrupt as error:  # the loop may never end
                file = self._python[name].__code__.co_filename
                raise KeyboardInterrupt(f"`{name}` ran, {line_of(error, file)}") from error
            except Exception as error:  # numba supports what Python does not
                self._runs_left[name] = 0
                self.notes.append(
                    f"`{name}` could only be run compiled ({type(error).__name__}: {error}), so a "
                    f"write more than {MARGIN} entries past an array would not be detected"
                )
        memory = [_between_margins(argument) for argument in inputs]
        try:
            fast = _call(self._compiled[name], [inner for inner, _ in memory])
        except Exception as error:
            reason = f"raises {type(error).__name__}: {error}; expected no exception"
            raise _outside(name, inputs, reason) from error
        if any((margin != _MARK).any() for _, margins in memory for margin in margins):
            raise _outside(name, inputs, "writes outside its arrays")
        for what, one, other in zip(Run._fields, fast, slow or (), strict=False):
            if place := _difference(one, other):
                array = _ARRAY_NAMES[name] if what == "written" else what
                raise Fault(
                    f"`{name}` has different results compiled and in Python: {array}{list(place)} "
                    f"is {one[place]} and {other[place]}; does it read uninitialised memory or use "
                    "random numbers?",
                    state,
                    "does_the_same_every_time",
                )
        return fast


def _call(rule: Callable[..., Any], inputs: list[Any]) -> Run:
    answer = np.array([rule(*inputs) or 0])
    state, *written = (
        np.asarray(argument) for argument in inputs if isinstance(argument, np.ndarray)
    )
    return Run(state, written[0] if written else np.zeros(0), answer)


def _between_margins(argument: Any) -> tuple[Any, tuple[Array, ...]]:
    """Return a copy of an argument, and the margins in memory before and after an array."""
    if not isinstance(argument, np.ndarray):
        return argument, ()
    size = MARGIN * argument.itemsize
    memory = np.full(argument.nbytes + 2 * size, _MARK, np.uint8)
    inner = memory.view(argument.dtype)[MARGIN:-MARGIN].reshape(argument.shape)
    inner[:] = argument
    return inner, (memory[:size], memory[-size:])


def _outside(name: str, inputs: tuple[Any, ...], reason: str) -> Fault:
    """Return the fault of a call; the array that it writes is not shown."""
    shown = [
        "state",
        *(str(argument) for argument in inputs if not isinstance(argument, np.ndarray)),
    ]
    return Fault(f"`{name}({', '.join(shown)})` {reason}", inputs[0], "stays_within_its_arrays")


def _difference(one: Array, other: Array) -> tuple[int, ...]:
    """Return the first index where two arrays differ (NaN equals NaN); () for none."""
    places = np.argwhere((one != other) & ((one == one) | (other == other)))  # noqa: PLR0124
    return tuple(places[0].tolist()) if len(places) else ()


def line_of(error: BaseException, file: str | None = None) -> str:
    """Return the line of a game's source that raised an error: the last one of `file`, if any."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename != __file__ and not is_library(frame.filename)
    ]
    if not frames:
        return "in compiled code"
    last = ([frame for frame in frames if frame.filename == file] or frames)[-1]
    return f"in line {last.lineno} of {Path(last.filename).name}: {last.line}"


# Rules in Python


class _WatchedArray(np.ndarray[Any, np.dtype[Any]]):
    """An array that stores integers modulo 2**64, as compiled code does."""

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            super().__setitem__(index, value)
        except OverflowError:
            super().__setitem__(index, (int(value) + 2**63) % 2**64 - 2**63)


def _watched(argument: Any) -> Any:
    return argument.copy().view(_WatchedArray) if isinstance(argument, np.ndarray) else argument


class _PythonModule:
    """A module whose compiled functions are replaced by their Python sources."""

    def __init__(self, module: types.ModuleType, sources: dict[int, Any]) -> None:
        self._module = module
        self._sources = sources

    def __getattr__(self, name: str) -> Any:
        return _in_python(getattr(self._module, name), self._sources)


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
        names.update(
            (name, _in_python(argument, sources)) for name, argument in source.__globals__.items()
        )
    return sources[id(thing)]
