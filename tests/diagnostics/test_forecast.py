"""A forecast has the figures computed by hand, and is compared with a real run."""

import dataclasses
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.games import TIC_TAC_TOE
from helpers.runs.tiny_run import ITERATIONS, manifest_of, tiny_config

from alphazero.config import schema
from alphazero.config.loader import load_config
from alphazero.config.schema import Config
from alphazero.diagnostics import calibration
from alphazero.diagnostics.benchmark import Benchmark
from alphazero.diagnostics.calibration import PARTS, Calibration, _policy_memory, calibrate
from alphazero.diagnostics.forecast import MEBI, describe, forecast
from alphazero.diagnostics.run_history import read_curves
from alphazero.records.game_record import GameRecord, Pairing

BENCH = Benchmark(
    workers=2,
    parallel_games=8,
    backend="a stopwatch",
    evaluations=4000.0,
    simulations=400.0,  # a move has 4
    moves=0.0,
    games=10.0,
    network_only=5000.0,
    cache_hits=0.1,
    batch_fill=0.9,
    network_share=0.75,
    peak_megabytes=400.0,
)
MEASURED = Calibration(
    self_play=BENCH,
    gate_simulations=80.0,
    anchor_games=6,
    solved_positions=40,
    step_seconds=0.25,
    step_positions=16,
    random_length=8.0,
    longest=9,
    move_memory=MEBI / 100,
    peak_megabytes=500.0,
    seconds=12.0,
)


def config_of(*overrides: str) -> Config:
    """6 games an iteration, 16 positions a batch, reuse 2, a gate of 4 games at every second."""
    base = "evaluation.interval=2", "replay.window_minimum=1", "gate.opening_moves=3"
    return tiny_config(Path(), *base, *overrides)


def test_a_forecast_has_the_figures_computed_by_hand():
    """Games of 8 moves: 48 moves and positions an iteration, 6 steps; four iterations."""
    plan = forecast(config_of("replay.window_fraction=1"), MEASURED, 8.0)
    assert (plan.iterations, plan.games, plan.positions) == (4, 24, 192)
    assert plan.evaluations == 192 * 40
    assert plan.seconds["play"] == pytest.approx(192 / 100)
    assert plan.seconds["learn"] == pytest.approx(4 * 6 * 0.25)
    assert plan.seconds["gate"] == pytest.approx(2 * 4 * (8 - 3) / 20)
    assert plan.seconds["measure"] == pytest.approx(2 * (20 / 20 + 6 * (8 - 4) / 20))
    assert plan.hours == pytest.approx(sum(plan.seconds.values()) / 3600)
    assert plan.memory == pytest.approx(500 + 192 / 100)


def test_a_gate_that_may_end_early_counts_as_its_games_between_equals():
    config = config_of("gate.games=100")
    plan = forecast(config, MEASURED, 8.0)
    assert plan.seconds["gate"] == pytest.approx(2 * 86 * (8 - 3) / 20, rel=0.03)
    line = r"gate +80 simulations/s, 8[4-8] of up to 100 games, as between equals\n"
    assert re.search(line, describe(config, MEASURED))
    assert "between equals" not in describe(config_of(), MEASURED)


def test_moves_of_an_opening_are_neither_searched_nor_learned():
    """Half the games begin with 0 to 8 random moves, 2 a game on average; half are searched
    fully."""
    openings = "random_opening_probability=0.5", "random_opening_max_moves=8"
    searches = "full_search_probability=0.5", "fast_simulations=2"
    overrides = [f"selfplay.{each}" for each in (*openings, *searches)]
    plan = forecast(config_of(*overrides, "budget.iterations=10"), MEASURED, 8.0)
    # Searches of 4 and of 2 simulations take turns.
    assert plan.seconds["play"] == pytest.approx(10 * 6 * (8 - 2) * 3 / 400)
    assert plan.positions == 10 * 6 * 6 / 2


def test_progressive_simulations_shorten_the_run(monkeypatch):
    """From none of the simulations to all over half of the 480 positions: three quarters."""
    monkeypatch.setattr(schema, "INITIAL_SIMULATIONS_FRACTION", 1e-9)
    growing = "selfplay.progressive_samples=240"
    runs = [
        ("budget.iterations=10",),
        (growing, "budget.iterations=10"),
        (growing, "budget.iterations=20", "budget.samples=480"),
        (growing, "budget.iterations=5"),
    ]
    plans = [forecast(config_of(*overrides), MEASURED, 8.0) for overrides in runs]
    seconds = [plan.seconds["play"] for plan in plans]
    assert seconds == pytest.approx([4.8, 0.75 * 4.8, 0.75 * 4.8, 0.5 * 2.4])
    assert plans[0].positions == plans[1].positions


@pytest.mark.parametrize(
    ("budget", "iterations"),
    [
        ("samples=481", 11),  # 48 positions an iteration
        ("samples=480", 10),
        ("evaluations=3840", 2),  # 40 evaluations a move
        ("minutes=1", 17),  # 0.48 + 1.5 + 1 / 2 + 2.2 / 2 seconds: 3.58
        ("iterations=3", 3),
    ],
)
def test_a_plan_ends_at_the_first_limit_of_the_budget(budget: str, iterations: int):
    config = config_of("budget.iterations=1000", f"budget.{budget}")
    assert forecast(config, MEASURED, 8.0).iterations == iterations


def test_the_window_bounds_memory():
    """A window of 100 positions, and the iteration of 48 that overlaps its end."""
    small, large = (
        forecast(config_of("replay.window_maximum=100", f"budget.iterations={n}"), MEASURED, 8.0)
        for n in (50, 500)
    )
    assert small.memory == large.memory == pytest.approx(500 + 148 / 100)


def test_a_calibration_measures_every_part(tmp_path):
    config = tiny_config(
        tmp_path, 'evaluation.anchors=[random, "uct:4"]', "evaluation.solved_positions_per_stage=2"
    )
    shown: list[int] = []
    measured = calibrate(config, 2, 0.2, shown.append)
    assert len(shown) == PARTS
    assert measured.self_play.parallel_games == 8
    assert 5 <= measured.random_length <= measured.longest == 9
    for rate in (measured.gate_simulations, measured.step_seconds):
        assert 0 < rate < float("inf")
    assert (measured.anchor_games, measured.solved_positions) == (80, 12)
    assert measured.step_positions == 16, "a whole batch"
    assert 36 < measured.move_memory < 1000


def test_a_policy_has_a_share_for_each_legal_move(tmp_path):
    config = tiny_config(tmp_path, "selfplay.full_search_probability=0.5")
    record = GameRecord.opening(Pairing(opening=(0, 1, 3, 4, 6)))
    assert _policy_memory(TIC_TAC_TOE, config, [record]) == 0.5 * 7 * 8, "9, 8, 7, 6 and 5 moves"


@pytest.mark.parametrize(
    ("patience", "warming", "timed"), [(1e9, [32, 128, 512, 600], 600), (0.0, [32, 32], 32)]
)
def test_steps_of_the_whole_batch_are_timed_unless_they_are_too_long_to_wait_for(
    monkeypatch, patience: float, warming: list[int], timed: int
):
    """By a clock on which each step takes 1 s, the timed ones 2, 9, 3, 4 and 5 s."""
    sizes: list[int] = []
    lasting = iter([1.0] * (len(warming) + 1) + [2.0, 9.0, 3.0, 4.0, 5.0])
    now = 0.0

    def sample(size: int, *_: object) -> None:
        nonlocal now
        now += next(lasting)
        sizes.append(size)

    config = tiny_config(Path(), "learner.batch_size=600", "replay.window_maximum=1000")
    monkeypatch.setattr(calibration, "MAX_STEP_SECONDS", patience)
    monkeypatch.setattr(calibration.time, "perf_counter", lambda: now)
    parts = SimpleNamespace(train=list), SimpleNamespace(sample=sample)
    size, median = calibration._time_step(config, *parts, 0, np.random.default_rng(0))
    assert (size, median) == (timed, 4.0)
    assert sizes[-5:] == [timed] * 5
    assert set(sizes[:-5]) == set(warming)


def test_a_step_estimated_from_a_smaller_batch_is_reported():
    config = tiny_config(Path(), "learner.batch_size=64")
    smaller = dataclasses.replace(MEASURED, step_positions=32)
    assert "250 ms a step, estimated from 32 of its 64 positions" in describe(config, smaller)
    assert "estimated" not in describe(config, dataclasses.replace(MEASURED, step_positions=64))


def test_a_plan_says_that_it_knows_no_actors():
    words = "forecast of this machine alone"
    assert words in describe(config_of("selfplay.distributed={ray: {actors: 4}}"), MEASURED)
    assert words not in describe(config_of(), MEASURED)


def test_a_plan_counts_what_a_run_does(finished_run):
    curves, state = read_curves(finished_run), manifest_of(finished_run)
    config = load_config(finished_run / "config.yaml")
    length = float(np.mean(list(curves["selfplay/game_length"].values())))
    plan = forecast(config, MEASURED, length)
    assert plan.iterations == state["iteration"] == ITERATIONS
    assert plan.games <= state["games"] < plan.games + 8, "games end a few at a time"
    assert plan.positions == pytest.approx(state["positions"], rel=0.25)
    assert list(curves["seconds/gate"]) == [2, 4]
    assert plan.seconds["gate"] == pytest.approx(2 * 4 * (length - 2) * 4 / 80)
    assert "seconds/measure" not in curves
    assert plan.seconds["measure"] == 0
