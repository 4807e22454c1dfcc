"""Calls of a game's rules that detect their faults.

Within a budget of work each rule first runs in Python (`interpreted.py`). Then it runs compiled, on
arrays with margins that must not change. Both results must agree.
"""

import math
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from alphazero.games.contract import interpreted
from alphazero.games.game import Game, Mask, Owners, Planes, State

MARGIN = 256
"""Entries before and after an array that no rule may touch."""

_MARK = 93
"""The value of the bytes of a margin."""


class Breach(Exception):
    """Raised when a game breaks a promise."""

    def __init__(self, text: str, state: State | None = None, promise: str = "") -> None:
        """`text` is the fault and the expectation; `promise` is "" for the one under test."""
        super().__init__(text)
        self.state = state
        self.promise = promise


class _Run(NamedTuple):
    result: float
    """0 for a rule that returns nothing"""
    state: State
    written: npt.NDArray[Any]
    """the mask, the planes or the owners; empty for a rule that takes none"""


class WatchedRules:
    """A game's rules; a call raises Breach if the rule does something forbidden."""

    def __init__(self, game: Game, work: int) -> None:
        rules = game.rule_functions._asdict()
        area = math.prod(game.observation_shape)
        self._compiled: dict[str, Callable[..., Any]] = rules
        self._plain = {name: interpreted.plain_function(rule) for name, rule in rules.items()}
        self._cost = dict.fromkeys(rules, area) | dict.fromkeys(("legal", "play"), game.num_actions)
        self._work = dict.fromkeys(rules, work)
        self._planes = game.observation_shape
        self._actions = game.num_actions
        self.notes: list[str] = []
        """things that could not be checked"""

    def legal(self, state: State) -> tuple[Mask, int]:
        """Return the legal actions [A] and the rule's number of them."""
        run = self._read("legal", state, np.zeros(self._actions, np.bool_), True)
        return run.written, int(run.result)

    def play(self, state: State, action: int) -> State:
        return self._call("play", state, action).state

    def observe(self, state: State) -> Planes:
        return self._read("observe", state, np.zeros(self._planes, np.float32), 7).written

    def estimate(self, state: State) -> int:
        return int(self._read("heuristic", state).result)

    def wins_at_once(self, state: State) -> int:
        return int(self._read("wins_at_once", state).result)

    def owners(self, state: State) -> Owners:
        """Return the owner of each cell [H * W]."""
        blank = np.zeros(math.prod(self._planes[1:]), np.int8)
        return self._read("owners", state, blank, 7).written

    def margin(self, state: State) -> float:
        return self._read("margin", state).result

    def _read(
        self, name: str, state: State, blank: npt.NDArray[Any] | None = None, other: float = 0
    ) -> _Run:
        """Call a rule that must not change the state and must write every entry of `blank`.

        So the result must be the same for an array filled with `other`.
        """
        run = self._call(name, state, blank=blank)
        changed = _difference(run.state, state)
        if changed:
            raise Breach(
                f"`{name}` changes state{list(changed)} from {state[changed]} to "
                f"{run.state[changed]}; expected that only `play` changes the state",
                state,
                "does_not_change_given_states",
            )
        if blank is not None:
            again = self._call_compiled(name, state, None, np.full_like(blank, other))
            missed = _difference(again.written, run.written)
            if missed:
                raise Breach(
                    f"`{name}` does not write {_array_of(name)}{list(missed)}; expected that it "
                    "writes every entry",
                    state,
                    "writes_every_entry",
                )
        return run

    def _call(
        self,
        name: str,
        state: State,
        action: int | None = None,
        blank: npt.NDArray[Any] | None = None,
    ) -> _Run:
        """Run a rule in Python, within the budget, then compiled, and compare the results."""
        slow = self._call_plain(name, state, action, blank)
        fast = self._call_compiled(name, state, action, blank)
        if slow is not None:
            _compare(name, slow, fast, state)
        return fast

    def _call_plain(
        self, name: str, state: State, action: int | None, blank: npt.NDArray[Any] | None
    ) -> _Run | None:
        if name not in self._plain or self._work[name] <= 0:
            return None
        self._work[name] -= self._cost[name]
        own = state.copy().view(interpreted.WatchedArray)
        written = None if blank is None else blank.copy().view(interpreted.WatchedArray)
        try:
            with np.errstate(all="ignore"):
                result = self._plain[name](*_given(own, action, written))
        except IndexError as error:
            raise Breach(
                f"`{_written(name, action)}` uses an index outside its array: {error}, "
                f"{place_of(error)}",
                state,
                "stays_within_its_arrays",
            ) from error
        except Exception as error:  # numba supports what Python does not
            del self._plain[name]
            self.notes.append(
                f"`{name}` could only be run compiled ({type(error).__name__}: {error}), so a "
                f"write more than {MARGIN} entries past an array would not be detected"
            )
            return None
        return _Run(result or 0, own.view(np.ndarray), _or_nothing(written).view(np.ndarray))

    def _call_compiled(
        self, name: str, state: State, action: int | None, blank: npt.NDArray[Any] | None
    ) -> _Run:
        row = _Framed(state)
        frames = [row] if blank is None else [row, _Framed(blank)]
        written = None if blank is None else frames[1].inner
        try:
            result = self._compiled[name](*_given(row.inner, action, written))
        except Exception as error:
            raise Breach(
                f"`{_written(name, action)}` raises {type(error).__name__}: {error}; expected no "
                "exception",
                state,
                "stays_within_its_arrays",
            ) from error
        for frame in frames:
            if not frame.is_whole():
                raise Breach(
                    f"`{_written(name, action)}` writes outside its arrays",
                    state,
                    "stays_within_its_arrays",
                )
        return _Run(result or 0, row.inner, _or_nothing(written))


class _Framed:
    """A copy of an array with a margin before and after it."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        margin = MARGIN * array.itemsize
        self._bytes = np.full(array.nbytes + 2 * margin, _MARK, np.uint8)
        self._margins = self._bytes[:margin], self._bytes[-margin:]
        self.inner = self._bytes.view(array.dtype)[MARGIN:-MARGIN].reshape(array.shape)
        self.inner[:] = array

    def is_whole(self) -> bool:
        return all((margin == _MARK).all() for margin in self._margins)


def _or_nothing(array: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    return np.zeros(0) if array is None else array


def _given(
    state: State, action: int | None, written: npt.NDArray[Any] | None
) -> Iterator[npt.NDArray[Any] | int]:
    return (each for each in (state, action, written) if each is not None)


def _written(name: str, action: int | None) -> str:
    return f"{name}(state)" if action is None else f"{name}(state, {action})"


def _array_of(name: str) -> str:
    return {"legal": "mask", "owners": "cells"}.get(name, "planes")


def _difference(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> tuple[int, ...]:
    """Return the first index where two arrays differ (NaN equals NaN); () for none."""
    both_nan = (one != one) & (other != other)  # noqa: PLR0124
    places = np.argwhere((one != other) & ~both_nan)
    return tuple(places[0].tolist()) if len(places) else ()


def place_of(error: Exception) -> str:
    """Return the line of a game's source that raised an error."""
    own = (__file__, interpreted.__file__)
    frames = [
        each for each in traceback.extract_tb(error.__traceback__) if each.filename not in own
    ]
    if not frames:
        return "in compiled code"
    return f"in line {frames[-1].lineno} of {Path(frames[-1].filename).name}: {frames[-1].line}"


def _compare(name: str, slow: _Run, fast: _Run, state: State) -> None:
    difference = ""
    if slow.result != fast.result:
        difference = f"the result is {fast.result} and {slow.result}"
    for array, one, other in (
        ("state", fast.state, slow.state),
        (_array_of(name), fast.written, slow.written),
    ):
        place = _difference(one, other)
        if place:
            difference = f"{array}{list(place)} is {one[place]} and {other[place]}"
            break
    if difference:
        raise Breach(
            f"`{name}` has different results compiled and in Python: {difference}; does it read "
            "uninitialised memory or use random numbers?",
            state,
            "does_the_same_every_time",
        )
