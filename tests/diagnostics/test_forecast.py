"""A forecast has the figures computed by hand, and is compared with a real run."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from helpers.commands import OnlyLine
from helpers.runs.records import random_records
from helpers.runs.tiny_run import ITERATIONS, YAML, manifest_of, tiny_config

from alphazero.cli.main import main
from alphazero.config.schema import Config
from alphazero.diagnostics import calibration
from alphazero.diagnostics.benchmark import Benchmark
from alphazero.diagnostics.calibration import PARTS, Calibration, calibrate
from alphazero.diagnostics.forecast import (
    CURVES_BYTES,
    MEBI,
    MeasuredRun,
    bottleneck,
    compare,
    describe,
    forecast,
    measure_run,
    suggest,
)
from alphazero.diagnostics.run_history import read_curves
from alphazero.games import make_game
from alphazero.network.resnet import ResNet
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.training.learning.learner import Learner

Capture = pytest.CaptureFixture[str]

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
    anchor_moves=10.0,
    anchor_games=6,
    games_between_anchors=0,
    solved_positions=40,
    step_seconds=0.25,
    step_positions=16,
    random_length=8.0,
    longest=9,
    move_memory=MEBI / 100,
    move_disk=MEBI / 1000,
    player_bytes=MEBI,
    learner_bytes=3 * MEBI,
    peak_megabytes=500.0,
    by_batch={16: 900.0, 64: 960.0, 256: 1000.0},
    by_threads={1: 500.0, 2: 990.0, 4: 1000.0},
    on_cpu=True,
    seconds=12.0,
)


def config_of(*overrides: str) -> Config:
    """6 games an iteration, 16 positions a batch, reuse 2, a gate of 4 games at every second."""
    return tiny_config(
        Path(),
        "evaluation.interval=2",
        "replay.window_minimum=1",
        "gate.opening_moves=3",
        *overrides,
    )


def test_a_forecast_has_the_figures_computed_by_hand() -> None:
    """Games of 8 moves: 48 moves and positions an iteration, 6 steps; four iterations."""
    plan = forecast(config_of("replay.window_fraction=1"), MEASURED, 8.0)
    assert (plan.iterations, plan.games, plan.positions) == (4, 24, 192)
    assert plan.evaluations == 192 * 40
    assert plan.seconds["play"] == pytest.approx(192 / 100)
    assert plan.seconds["learn"] == pytest.approx(4 * 6 * 0.25)
    assert plan.seconds["gate"] == pytest.approx(2 * 4 * (8 - 3) / 20)
    assert plan.seconds["measure"] == pytest.approx(2 * (20 / 20 + 6 * (8 - 4) / 10))
    assert plan.hours == pytest.approx(sum(plan.seconds.values()) / 3600)
    assert plan.memory == pytest.approx(500 + 192 / 100)
    # Two checkpoints are kept beside the best player twice.
    assert plan.disk == pytest.approx(192 / 1000 + 4 + 3 + 4 * CURVES_BYTES / MEBI)


def test_a_plan_ends_though_the_cache_knew_every_position_while_it_measured() -> None:
    measured = dataclasses.replace(MEASURED, self_play=dataclasses.replace(BENCH, evaluations=0.0))
    plan = forecast(config_of("budget.iterations=null", "budget.evaluations=12"), measured, 8.0)
    assert (plan.iterations, plan.evaluations) == (12, 0)


def test_the_first_measurement_includes_the_games_between_the_anchors() -> None:
    """A second moves 10 in games with the best player, whose search of 4 takes 4 / 80 s: so the
    others take 3 / 20 s for theirs. Four moves of a game are its opening."""
    between = dataclasses.replace(MEASURED, games_between_anchors=40)
    plans = [forecast(config_of(), measured, 8.0) for measured in (MEASURED, between)]
    added = plans[1].seconds["measure"] - plans[0].seconds["measure"]
    assert added == pytest.approx(40 * (8 - 4) * 3 / 20)
    never = config_of("evaluation.interval=100")
    assert forecast(never, between, 8.0).seconds["measure"] == 0


def test_moves_of_an_opening_are_neither_searched_nor_learned() -> None:
    """Half the games begin with 0 to 8 random moves, 2 a game on average; half are searched
    fully."""
    plan = forecast(
        config_of(
            "selfplay.random_opening_probability=0.5",
            "selfplay.random_opening_max_moves=8",
            "selfplay.full_search_probability=0.5",
            "selfplay.fast_simulations=2",
            "budget.iterations=10",
        ),
        MEASURED,
        8.0,
    )
    # Searches of 4 and of 2 simulations take turns.
    assert plan.seconds["play"] == pytest.approx(10 * 6 * (8 - 2) * 3 / 400)
    assert plan.positions == 10 * 6 * 6 / 2


def test_progressive_simulations_shorten_the_run() -> None:
    """From none of the simulations to all over half of the 480 positions: three quarters."""
    growing = "selfplay.progressive_samples=240", "selfplay.initial_simulations_fraction=1.0e-9"
    plans = [
        forecast(config_of(*overrides, f"budget.iterations={iterations}", *more), MEASURED, 8.0)
        for iterations, overrides, more in (
            (10, (), ()),
            (10, growing, ()),
            (20, growing, ("budget.samples=480",)),
            (5, growing, ()),
        )
    ]
    seconds = [plan.seconds["play"] for plan in plans]
    assert seconds == pytest.approx([4.8, 0.75 * 4.8, 0.75 * 4.8, 0.5 * 2.4])
    assert plans[0].positions == plans[1].positions


@pytest.mark.parametrize(
    ("budget", "iterations"),
    [
        ("samples=481", 11),  # 48 positions an iteration
        ("samples=480", 10),
        ("evaluations=3840", 2),  # 40 evaluations a move
        ("minutes=1", 15),  # 0.48 + 1.5 + 1 / 2 + 3.4 / 2 seconds: 4.18
        ("iterations=3", 3),
    ],
)
def test_a_plan_ends_at_the_first_limit_of_the_budget(budget: str, iterations: int) -> None:
    config = config_of("budget.iterations=1000", f"budget.{budget}")
    assert forecast(config, MEASURED, 8.0).iterations == iterations


def test_the_window_bounds_memory_and_disk() -> None:
    """A window of 100 positions, and the iteration of 48 that overlaps its end."""
    small, large = (
        forecast(config_of("replay.window_maximum=100", f"budget.iterations={n}"), MEASURED, 8.0)
        for n in (50, 500)
    )
    assert small.memory == large.memory == pytest.approx(500 + 148 / 100)


def test_the_smallest_batch_and_the_fewest_threads_that_are_near_the_fastest_are_suggested() -> (
    None
):
    config = config_of("selfplay.games_per_iteration=1000")
    assert suggest(config, MEASURED) == {"selfplay.parallel_games": 128, "run.threads": 2}
    assert suggest(config_of(), MEASURED)["selfplay.parallel_games"] == 6, "no more than end"
    idle = dataclasses.replace(
        MEASURED, on_cpu=False, self_play=dataclasses.replace(BENCH, network_share=0.2)
    )
    assert suggest(config, idle)["run.threads"] == 4, "trees that keep a GPU waiting want cores"


def test_the_bottleneck_is_named() -> None:
    assert bottleneck(MEASURED) == "the CPU; 75% of playing is inside the network"
    on_gpu = dataclasses.replace(MEASURED, on_cpu=False)
    assert bottleneck(on_gpu) == "the GPU; 75% of playing waits for it"
    idle = dataclasses.replace(on_gpu, self_play=dataclasses.replace(BENCH, network_share=0.2))
    assert bottleneck(idle) == "the CPU, whose trees are 80% of playing, not the GPU"


def test_the_error_of_a_forecast_is_reported_with_and_without_the_length_of_games() -> None:
    """The run took 10 % longer than the arithmetic of its own games of 6 moves."""
    config = config_of()
    truth = forecast(config, MEASURED, 6.0)
    figures = {
        "evaluations/h": truth.evaluations / truth.hours,
        "games/h": truth.games / truth.hours,
        "iterations/h": truth.iterations / truth.hours,
        "minutes": 60 * truth.hours * 1.1,
        "memory, MiB": 1000.0,
        "disk, MiB": truth.disk,
    }
    comparison = compare(MeasuredRun(config, 4, 6.0, figures), MEASURED)
    rows = {
        name.strip(): cells.split()
        for name, cells in (line.split("  ", 1) for line in comparison.splitlines()[2:])
    }
    assert set(rows) == set(figures)
    assert rows["minutes"][4] == "-9%"
    assert rows["games/h"][4] == "+0%"
    longer = forecast(config, MEASURED, 8.0).hours / truth.hours
    assert rows["games/h"][2] == f"{1 / longer - 1:+.0%}"
    assert rows["memory, MiB"][4] == "-50%"


def test_a_calibration_measures_every_part(tmp_path: Path) -> None:
    config = tiny_config(
        tmp_path, 'evaluation.anchors=[random, "uct:4"]', "evaluation.solved_positions_per_stage=2"
    )
    shown: list[int] = []
    measured = calibrate(config, 2, 1.0, shown.append)
    assert len(shown) == PARTS
    assert measured.self_play.parallel_games == 8
    assert 5 <= measured.random_length <= measured.longest == 9
    for rate in (measured.gate_simulations, measured.anchor_moves, measured.step_seconds):
        assert 0 < rate < float("inf")
    counts = measured.anchor_games, measured.games_between_anchors, measured.solved_positions
    assert counts == (40, 20, 12)
    assert measured.step_positions == 16, "a whole batch"
    assert 36 < measured.move_memory < 1000, "nine search policies of four bytes, at least"
    assert 0 < measured.move_disk < 200
    assert measured.learner_bytes > measured.player_bytes > 1000
    assert set(measured.by_threads) == {1, 2}
    assert measured.on_cpu


@pytest.mark.parametrize(
    ("patience", "warming", "timed"), [(1e9, [32, 128, 512, 600], 600), (0.0, [32, 32], 32)]
)
def test_steps_of_the_whole_batch_are_timed_unless_they_are_too_long_to_wait_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: float, warming: list[int], timed: int
) -> None:
    """By a clock on which each step takes 1 s, the timed ones 2, 9, 3, 4 and 5 s."""
    sizes: list[int] = []
    lasting = iter([1.0] * (len(warming) + 1) + [2.0, 9.0, 3.0, 4.0, 5.0])
    draw = calibration.ReplayBuffer.sample
    now = 0.0

    def watched(self, size, *given):
        nonlocal now
        now += next(lasting)
        sizes.append(size)
        return draw(self, size, *given)

    config = tiny_config(tmp_path, "learner.batch_size=600", "replay.window_maximum=1000")
    rng = np.random.default_rng(0)
    game = make_game("tic_tac_toe")
    replay = ReplayBuffer(game, config.replay)
    replay.add(1, GameBatch.of(game, random_records(game, 20)))
    network = ResNet(game.observation_shape, game.num_actions, config.network)
    monkeypatch.setattr(calibration.ReplayBuffer, "sample", watched)
    monkeypatch.setattr(calibration, "MAX_STEP_SECONDS", patience)
    monkeypatch.setattr(calibration.time, "perf_counter", lambda: now)
    size, median = calibration._time_step(config, Learner(network, config.learner), replay, 0, rng)
    assert (size, median) == (timed, 4.0)
    assert sizes[-5:] == [timed] * 5
    assert set(sizes[:-5]) == set(warming)


def test_a_step_estimated_from_a_smaller_batch_is_reported() -> None:
    config = tiny_config(Path(), "learner.batch_size=64")
    smaller = dataclasses.replace(MEASURED, step_positions=32)
    assert "250 ms a step, estimated from 32 of its 64 positions" in describe(config, smaller)
    assert "estimated" not in describe(config, dataclasses.replace(MEASURED, step_positions=64))


def test_a_plan_is_held_against_a_real_run(finished_run: Path, capsys: Capture) -> None:
    past = measure_run(finished_run)
    assert past.iterations == ITERATIONS
    assert 5 <= past.length <= 9
    assert past.figures["iterations/h"] * past.figures["minutes"] / 60 == pytest.approx(ITERATIONS)
    # What a plan counts is what the run did; only how fast it was is measured.
    plan = forecast(past.config, MEASURED, past.length)
    state = manifest_of(finished_run)
    assert (plan.iterations, plan.games) == (state["iteration"], 6 * ITERATIONS)
    assert plan.games <= state["games"] < plan.games + 8, "games end a few at a time"
    assert plan.positions == pytest.approx(state["positions"], rel=0.25)
    assert past.config.steps_due(state["positions"]) == state["step"]
    curves = read_curves(finished_run)
    assert list(curves["seconds/gate"]) == [2, 4]
    assert plan.seconds["gate"] == pytest.approx(2 * 4 * (past.length - 2) * 4 / 80)
    assert "seconds/measure" not in curves
    assert plan.seconds["measure"] == 0
    capsys.readouterr()
    assert main(["plan", "--against", str(finished_run), "--seconds", "0.2"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[1].split() == ["the", "run", "forecast", "error", "length", "known", "error"]
    assert all("%" in row for row in rows[2:])


def test_a_plan_names_what_was_asked_for(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "tiny.yaml").write_text(YAML)
    assert main(["plan", str(tmp_path / "tiny.yaml"), "--seconds", "0.2"]) == 0
    output = capsys.readouterr().out
    for word in ("evaluations/h", "games/h", "iterations/h", "minutes", "memory", "disk"):
        assert word in output
    assert "selfplay.parallel_games=" in output
    assert "run.threads=" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name either a YAML file"),
        (["some.yaml", "--against", "nowhere"], "name either a YAML file"),
        (["--against", "nowhere"], "holds no run"),
        (["some.yaml", "--seconds", "61"], "at most 60"),
    ],
)
def test_a_mistake_is_one_line(arguments: list[str], message: str, only_line: OnlyLine) -> None:
    assert message in only_line("plan", *arguments)
