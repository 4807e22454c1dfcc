"""The bar of a stage shows what is left of the iteration and of the budget."""

import io
import re

import pytest

from alphazero.training.monitoring.time_left import StageBar, TimeLeft, clock_time


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0:00"),
        (42.4, "0:42"),
        (59.6, "1:00"),
        (3600, "1:00:00"),
        (3910, "1:05:10"),
        (-3, "0:00"),
    ],
)
def test_durations_are_read_as_on_a_clock(seconds: float, text: str) -> None:
    assert clock_time(seconds) == text


def test_stages_last_as_long_as_they_did_and_the_budget_runs_down() -> None:
    clock = Clock()
    left = TimeLeft(clock)
    left.begin_iteration(["play", "learn", "save"], None)
    left.begin("play")
    assert left.describe(10.0) == "", "no stage to come was ever timed"
    for stage, seconds in (("play", 30.0), ("learn", 20.0), ("save", 2.0)):
        left.begin(stage)
        left.end(stage, seconds)
    left.begin_iteration(["play", "learn", "gate", "save"], 600.0)
    left.begin("play")
    clock.now += 15
    assert left.describe(15.0) == "budget 9:45 left", "the gate was never timed"
    left.begin("gate")
    assert left.describe(15.0) == "iteration 0:37, budget 9:45 left"
    assert left.describe(None) == "budget 9:45 left"
    left.begin("learn")
    clock.now += 580
    assert left.describe(5.0) == "iteration 0:07, budget 0:07 left", "an iteration is finished"


def test_the_bar_shows_work_rate_and_time_left_within_80_columns() -> None:
    left, screen = TimeLeft(Clock()), io.StringIO()
    for stage in ("learn", "save"):
        left.end(stage, 3.0)
    left.begin_iteration(["play", "learn", "save"], 7200.0)
    left.begin("play")
    with StageBar(
        total=800, desc="iteration 120 play", unit="game", time_left=left, file=screen, ncols=80
    ) as bar:
        bar.start_t -= 50
        bar.update(400)
        bar.refresh()
        shown = screen.getvalue().split("\r")[-1]
    assert shown.startswith("iteration 120 play 400/800 ")
    assert re.search(r" [78]\.\d\d game/s, iteration 0:5\d, budget 2:00:00 left$", shown)
    assert len(shown) <= 80
