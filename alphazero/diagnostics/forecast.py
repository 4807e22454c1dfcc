"""The forecast of a run on this machine, and its comparison with the finished run.

Game length changes during training. The forecast assumes the length of random games, and also
shows a shorter and the longest case.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from alphazero.config.schema import BudgetConfig, Config
from alphazero.diagnostics.calibration import Calibration
from alphazero.diagnostics.run_history import describe_stages, read_curves, training_minutes
from alphazero.errors import RunError
from alphazero.training.evaluation import OPENING_MOVES
from alphazero.training.run_directory import RunDirectory
from alphazero.utils.files import printable
from alphazero.utils.tables import align

SHORT_GAME_FACTOR: Final = 2 / 3
"""Length of the shorter case, as a share of random games; the longest case is the rules' maximum.
Attackers win sooner than random players, and defenders resist longer: in gomoku the mean fell to
0.7 of random play's and rose to 1.6 in the same run."""

ENOUGH: Final = 0.95
"""Share of the fastest rate that suffices: the cheapest setting that reaches it is suggested."""

CURVES_BYTES: Final = 25_000
"""Bytes of an iteration's curves, texts and pictures on disk, measured in Connect Four."""

MEBI: Final = 1 << 20


@dataclass(frozen=True)
class Forecast:
    """The expected totals of a run."""

    length: float
    """moves of a game"""
    iterations: int
    games: int
    positions: int
    evaluations: int
    seconds: Mapping[str, float]
    """by stage, as the metrics `seconds/` name it"""
    memory: float
    """MiB at the end"""
    disk: float
    """MiB at the end"""

    @property
    def hours(self) -> float:
        return sum(self.seconds.values()) / 3600


def simulations_a_move(config: Config, positions: float) -> float:
    """Return the mean simulations of a move of self-play, over fast and full searches.

    `positions` are those of an iteration. With `selfplay.progressive_samples` it is the mean of
    the run; if only evaluations or minutes are limited, the mean until all simulations are done.
    """
    play, full, budget = config.selfplay, config.selfplay.full_search_probability, config.budget
    complete = full * config.search.simulations + (1 - full) * play.fast_simulations
    if play.progressive_samples is None:
        return complete
    limits = budget.samples, budget.iterations and budget.iterations * positions
    samples = min((each for each in limits if each), default=play.progressive_samples)
    growing = min(play.progressive_samples, samples)
    halfway = play.simulations_fraction(growing / 2)  # the mean while it grows evenly
    return complete * (growing * halfway + samples - growing) / samples


def forecast(config: Config, measured: Calibration, length: float) -> Forecast:
    """Return the expected totals of a run whose games have `length` moves, openings included.

    Moves are counted by their simulations: hundreds of games that start together move together, so
    a short measurement sees many moves or none.
    """
    play, replay, gate, evaluation = config.selfplay, config.replay, config.gate, config.evaluation
    gate_move, measured_move = (  # seconds
        (part.simulations or config.search.simulations) / measured.gate_simulations
        for part in (gate, evaluation)
    )
    drawn = min(play.random_opening_probability * play.random_opening_max_moves / 2, length - 1)
    moves = play.games_per_iteration * (length - drawn)
    positions = moves * play.full_search_probability
    rates = measured.self_play
    simulations = moves * simulations_a_move(config, positions)
    evaluations = simulations * rates.evaluations / rates.simulations
    steps = positions * replay.ratio / config.learner.batch_size
    gate_moves = max(length - gate.opening_moves, 1)
    each = {  # seconds of one occurrence of the stage
        "play": simulations / rates.simulations,
        "learn": steps * measured.step_seconds,
        "gate": gate.games * gate_moves * gate_move,
        "measure": measured.solved_positions / 2 * measured_move,
    }
    anchor_game_moves, anchor_game_seconds = max(length - OPENING_MOVES, 1), 0.0
    if measured.anchor_games:
        anchor_game_seconds = anchor_game_moves / measured.anchor_moves
        each["measure"] += measured.anchor_games * anchor_game_seconds
    intervals = {"play": 1, "learn": 1, "gate": gate.interval, "measure": evaluation.interval}
    mean = sum(each[stage] / intervals[stage] for stage in each)
    budget = config.budget
    limits = (
        (budget.iterations, 1.0),
        (budget.samples, positions),
        (budget.evaluations, max(evaluations, 1)),  # 0 if the cache knew every position
        (None if budget.minutes is None else 60 * budget.minutes, mean),
    )
    iterations = min(max(1, math.ceil(limit / one)) for limit, one in limits if limit is not None)
    total = int(iterations * positions)
    window = max(
        replay.window_minimum, min(int(replay.window_fraction * total), replay.window_maximum)
    )
    # The window keeps whole iterations, with all moves, not only the fully searched ones.
    kept = min(window + positions, total) / play.full_search_probability
    players = 2 + min(config.run.keep_checkpoints or iterations, iterations)
    seconds = {stage: each[stage] * (iterations // intervals[stage]) for stage in each}
    if seconds["measure"]:
        # Half of the moves against anchors are the best player's; games between anchors have none.
        others = 2 * anchor_game_seconds - measured_move * anchor_game_moves
        seconds["measure"] += measured.games_between_anchors * max(others, 0)
    disk = (
        kept * measured.move_disk
        + players * measured.player_bytes
        + measured.learner_bytes
        + iterations * CURVES_BYTES
    )
    return Forecast(
        length=length,
        iterations=iterations,
        games=iterations * play.games_per_iteration,
        positions=total,
        evaluations=int(iterations * evaluations),
        seconds=seconds,
        memory=measured.peak_megabytes + kept * measured.move_memory / MEBI,
        disk=disk / MEBI,
    )


def suggest(config: Config, measured: Calibration) -> dict[str, int]:
    """Return the parallel games and threads that suit this machine, by key.

    They are the smallest batch and the fewest threads at which the network is near its fastest,
    with no more games than end in an iteration: outdated networks would play the others.
    """
    batch, threads = (
        min(size for size, rate in rates.items() if rate >= ENOUGH * max(rates.values()))
        for rates in (measured.by_batch, measured.by_threads)
    )
    if not measured.on_cpu and measured.self_play.network_share < 0.5:
        threads = max(measured.by_threads)  # the trees need them
    games = min(batch * threads, config.selfplay.games_per_iteration)
    return {"selfplay.parallel_games": games, "run.threads": threads}


def bottleneck(measured: Calibration) -> str:
    """Describe what limits the speed of the run."""
    inside = measured.self_play.network_share
    if measured.on_cpu:
        return f"the CPU; {inside:.0%} of playing is inside the network"
    if inside >= 0.5:
        return f"the GPU; {inside:.0%} of playing waits for it"
    return f"the CPU, whose trees are {1 - inside:.0%} of playing, not the GPU"


def cases(config: Config, measured: Calibration) -> dict[str, Forecast]:
    """Return the forecasts for three lengths of games, by name."""
    random = measured.random_length
    lengths = {
        "shorter": SHORT_GAME_FACTOR * random,
        "as random": random,
        "longest": float(measured.longest),
    }
    return {name: forecast(config, measured, length) for name, length in lengths.items()}


def expected(config: Config, measured: Calibration) -> dict[str, Any]:
    """Return a forecast as values: what `describe` says."""
    return {
        "game": config.game.name,
        "self_play": measured.self_play,
        "step_seconds": measured.step_seconds,
        "gate_simulations_per_second": measured.gate_simulations,
        "games_are": cases(config, measured),
        "bottleneck": bottleneck(measured),
        "suggested": suggest(config, measured),
    }


def describe(config: Config, measured: Calibration) -> str:
    """Return a forecast as text: a table by the length of games, and advice."""
    named = cases(config, measured)
    columns, rates = list(named.values()), measured.self_play
    advice = " ".join(f"{key}={value}" for key, value in suggest(config, measured).items())
    lines = [
        f"measured in {measured.seconds:.0f} s, untrained; backend {rates.backend}",
        f"self-play           {rates.evaluations:,.0f} evaluations/s, "
        f"{rates.simulations:,.0f} simulations/s, "
        f"search efficiency {rates.efficiency:.2f}",
        f"learning            {1000 * measured.step_seconds:,.0f} ms a step"
        + (
            f", estimated from {measured.step_positions:,} of its "
            f"{config.learner.batch_size:,} positions"
        )
        * (measured.step_positions < config.learner.batch_size),
        f"gate                {measured.gate_simulations:,.0f} simulations/s",
        "",
        align(
            [
                ("games are", *named),
                ("moves of a game", *(f"{each.length:,.1f}" for each in columns)),
                *(
                    (name, *(f"{_figures(each)[name]:,.{places}f}" for each in columns))
                    for name, places in ROWS.items()
                ),
            ]
        ),
        "",
        f"time                {describe_stages(named['as random'].seconds)}",
        f"bottleneck          {bottleneck(measured)}",
        f"suggested           {advice}",
    ]
    return "\n".join(lines)


ROWS: Final = {
    "evaluations/h": 0,
    "games/h": 0,
    "iterations/h": 1,
    "iterations": 0,
    "minutes": 1,
    "memory, MiB": 0,
    "disk, MiB": 0,
}
"""The rows of the table, and the decimal places of their figures."""


def _figures(each: Forecast) -> dict[str, float]:
    return {
        "evaluations/h": each.evaluations / each.hours,
        "games/h": each.games / each.hours,
        "iterations/h": each.iterations / each.hours,
        "iterations": each.iterations,
        "minutes": 60 * each.hours,
        "memory, MiB": each.memory,
        "disk, MiB": each.disk,
    }


@dataclass(frozen=True)
class MeasuredRun:
    """The totals of a run so far, from its curves and files."""

    config: Config
    iterations: int
    length: float
    """mean number of moves of a game over the iterations"""
    figures: Mapping[str, float]
    """by row of the table"""


def measure_run(run: Path) -> MeasuredRun:
    """Read the totals of a run; raise RunError if there is no run or it has no curves."""
    opened = RunDirectory.open(run)
    curves = read_curves(run)
    minutes = training_minutes(curves)
    lengths, memory, evaluations = (
        curves.get(name, {})
        for name in ("selfplay/game_length", "speed/peak_memory", "selfplay/evaluations")
    )
    if not (lengths and evaluations and minutes):
        raise RunError(f"{printable(run)} has no curves in tensorboard/ to compare a plan with")
    iterations = max(lengths)
    hours = max(minutes.values()) / 60
    games = iterations * opened.config.selfplay.games_per_iteration
    disk = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
    return MeasuredRun(
        opened.config,
        iterations,
        sum(lengths.values()) / len(lengths),
        {
            "evaluations/h": max(evaluations.values()) / hours,
            "games/h": games / hours,
            "iterations/h": iterations / hours,
            "iterations": iterations,
            "minutes": 60 * hours,
            "memory, MiB": max(memory.values(), default=math.nan),
            "disk, MiB": disk / MEBI,
        },
    )


def compare(past: MeasuredRun, measured: Calibration) -> str:
    """Return a table of a run's totals and two forecasts for as many iterations.

    One assumes the length of random games, as before the run, the other the actual length: its
    errors are errors of the rates.
    """
    plans = _plans_of(past, measured)
    rows = [["", "the run", "forecast", "error", "length known", "error"]]
    for name, places in ROWS.items():
        if name == "iterations":
            continue
        took = past.figures[name]
        cells = [name, f"{took:,.{places}f}"]
        for plan in plans:
            cells += [f"{plan[name]:,.{places}f}", f"{plan[name] / took - 1:+.0%}"]
        rows.append(cells)
    return (
        f"measured in {measured.seconds:.0f} s, untrained; games had {past.length:.1f} moves, "
        f"random ones have {measured.random_length:.1f}\n{align(rows)}"
    )


def compared(past: MeasuredRun, measured: Calibration) -> dict[str, Any]:
    """Return what `compare` says as values."""
    random, known = _plans_of(past, measured)
    return {
        "game": past.config.game.name,
        "iterations": past.iterations,
        "length": past.length,
        "run": past.figures,
        "forecast": random,
        "length_known": known,
    }


def _plans_of(past: MeasuredRun, measured: Calibration) -> list[dict[str, float]]:
    """Return the forecasts for games as long as random ones, and as long as the run's."""
    config = dataclasses.replace(past.config, budget=BudgetConfig(iterations=past.iterations))
    return [
        _figures(forecast(config, measured, length))
        for length in (measured.random_length, past.length)
    ]
