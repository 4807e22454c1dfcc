"""The time left of an iteration and of the budget, as the bar of a stage shows it.

These are estimates for people: nothing in training depends on them.
"""

import time
from collections.abc import Callable, Collection
from typing import Any

from tqdm import tqdm


class TimeLeft:
    """Estimates from the stages' durations in earlier iterations of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lasted: dict[str, float] = {}
        """seconds of each stage when it last ran"""
        self._expected: list[str] = []
        """stages that are still to come in this iteration"""
        self._began = clock()
        self._budget: float | None = None

    def begin_iteration(self, stages: Collection[str], budget: float | None) -> None:
        """Begin an iteration of `stages`; `budget` is the run's seconds left, if known."""
        self._expected = list(stages)
        self._began, self._budget = self._clock(), budget

    def begin(self, stage: str) -> None:
        """Begin a stage, which is then no longer one to come."""
        self._expected = [name for name in self._expected if name != stage]

    def end(self, stage: str, seconds: float) -> None:
        """Remember how long a stage took."""
        self._lasted[stage] = seconds

    def describe(self, stage_left: float | None) -> str:
        """Return the time left, as "iteration 0:42, budget 1:05:10 left"; empty if unknown.

        `stage_left` are the seconds left of the stage under way, if known.
        """
        parts, iteration = [], 0.0
        if stage_left is not None and all(stage in self._lasted for stage in self._expected):
            iteration = stage_left + sum(self._lasted[stage] for stage in self._expected)
            parts.append(f"iteration {clock_time(iteration)}")
        if self._budget is not None:
            left = self._budget - (self._clock() - self._began)
            # The run's last iteration is finished.
            parts.append(f"budget {clock_time(max(left, iteration))}")
        return f"{', '.join(parts)} left" if parts else ""


def clock_time(seconds: float) -> str:
    """Return a duration as minutes and seconds or hours, such as "0:42" or "1:05:10"."""
    minutes, rest = divmod(round(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class StageBar(tqdm):  # type: ignore[type-arg]
    """A bar of one stage's work that also shows the time left of the iteration and the budget."""

    def __init__(self, time_left: TimeLeft, unit: str, **options: Any) -> None:
        self._time_left = time_left
        options["bar_format"] = "{desc} {n_fmt}/{total_fmt} {bar} {rate_fmt}{postfix}"
        super().__init__(unit=f" {unit}", **options)

    @property
    def format_dict(self) -> Any:
        """Tqdm's parts of the line, with the time left at the end."""
        parts = super().format_dict
        done, total = parts["n"] - parts["initial"], parts["total"]
        rate = parts["rate"] or (done / parts["elapsed"] if parts["elapsed"] else 0)
        left = (total - parts["n"]) / rate if total and rate else None
        return {**parts, "postfix": self._time_left.describe(left)}
