"""The forecast of a run on this machine.

Game length changes during training. The forecast assumes the length of random games, and also
shows a shorter and the longest case. Of a gate it counts the mean games between equal players, for
better and worse challengers are decided earlier.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from alphazero.config.schema import Config
from alphazero.diagnostics.calibration import Calibration
from alphazero.diagnostics.run_history import STAGES
from alphazero.training.evaluation import OPENING_MOVES
from alphazero.training.gate import expected_games
from alphazero.utils.tables import align

SHORT_GAME_FACTOR: Final = 2 / 3
"""Length of the shorter case, as a share of random games; the longest case is the rules' maximum.
Attackers win sooner than random players, and defenders resist longer: in gomoku the mean fell to
0.7 of random play's and rose to 1.6 in the same run."""

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

    @property
    def hours(self) -> float:
        return sum(self.seconds.values()) / 3600


def simulations_a_move(config: Config, positions: float) -> float:
    """Return the mean simulations of a move of self-play, over fast and full searches.

    `positions` are those of an iteration. With `selfplay.progressive_samples` it is the mean of
    the run; if only evaluations or minutes are limited, the mean until all simulations are done.
    """
    play, full, budget = config.selfplay, config.selfplay.full_search_probability, config.budget
    most = config.search.simulations
    complete = full * most + (1 - full) * min(play.fast_simulations, most)
    if play.progressive_samples is None:
        return complete
    limits = budget.samples, budget.iterations and budget.iterations * positions
    samples = min((limit for limit in limits if limit), default=play.progressive_samples)
    growing = min(play.progressive_samples, samples)
    halfway = play.simulations_fraction(growing / 2)  # the mean while it grows evenly
    return complete * (growing * halfway + samples - growing) / samples


def forecast(config: Config, rates: Calibration, length: float) -> Forecast:
    """Return the expected totals of a run whose games have `length` moves, openings included.

    Moves are counted by their simulations: hundreds of games that start together move together, so
    a short measurement sees many moves or none.
    """
    play, replay, gate, evaluation = config.selfplay, config.replay, config.gate, config.evaluation
    gate_move = config.search.simulations / rates.gate_simulations  # seconds
    drawn = min(play.random_opening_probability * play.random_opening_max_moves / 2, length - 1)
    moves = play.games_per_iteration * (length - drawn)
    positions = moves * play.full_search_probability
    speed = rates.self_play
    simulations = moves * simulations_a_move(config, positions)
    evaluations = simulations * speed.evaluations / speed.simulations
    steps = positions * replay.ratio / config.learner.batch_size
    gate_moves = max(length - gate.opening_moves, 1)
    once = {  # seconds of one occurrence of the stage
        "play": simulations / speed.simulations,
        "learn": steps * rates.step_seconds,
        "gate": expected_games(gate) * gate_moves * gate_move,
        "measure": rates.solved_positions / 2 * gate_move,
    }
    # An anchor is taken to think as long as the best player.
    once["measure"] += rates.anchor_games * max(length - OPENING_MOVES, 1) * gate_move
    intervals = {"play": 1, "learn": 1, "gate": gate.interval, "measure": evaluation.interval}
    mean = sum(once[stage] / intervals[stage] for stage in once)
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
    seconds = {stage: once[stage] * (iterations // intervals[stage]) for stage in once}
    return Forecast(
        length=length,
        iterations=iterations,
        games=iterations * play.games_per_iteration,
        positions=total,
        evaluations=int(iterations * evaluations),
        seconds=seconds,
        memory=rates.peak_megabytes + kept * rates.move_memory / MEBI,
    )


def cases(config: Config, rates: Calibration) -> dict[str, Forecast]:
    """Return the forecasts for three lengths of games, by name."""
    random = rates.random_length
    lengths = {
        "shorter": SHORT_GAME_FACTOR * random,
        "as random": random,
        "longest": float(rates.longest),
    }
    return {name: forecast(config, rates, length) for name, length in lengths.items()}


def expected(config: Config, rates: Calibration) -> dict[str, Any]:
    """Return a forecast as values: what `describe` says."""
    return {
        "game": config.game.name,
        "self_play": rates.self_play,
        "step_seconds": rates.step_seconds,
        "gate_simulations_per_second": rates.gate_simulations,
        "games_are": cases(config, rates),
    }


def describe(config: Config, rates: Calibration) -> str:
    """Return a forecast as text: a table by the length of games, and the shares of time."""
    forecasts, gate = cases(config, rates), config.gate
    spent = forecasts["as random"].seconds
    columns, speed = list(forecasts.values()), rates.self_play
    lines = [
        f"measured in {rates.seconds:.0f} s, untrained; backend {speed.backend}",
        *["forecast of this machine alone, without actors"] * bool(config.selfplay.distributed),
        f"self-play           {speed.evaluations:,.0f} evaluations/s, "
        f"{speed.simulations:,.0f} simulations/s, "
        f"search efficiency {speed.efficiency:.2f}",
        f"learning            {1000 * rates.step_seconds:,.0f} ms a step"
        + (
            f", estimated from {rates.step_positions:,} of its "
            f"{config.learner.batch_size:,} positions"
        )
        * (rates.step_positions < config.learner.batch_size),
        f"gate                {rates.gate_simulations:,.0f} simulations/s"
        + f", {expected_games(gate):.0f} of up to {gate.games} games, as between equals"
        * (expected_games(gate) < gate.games),
        "",
        align(
            [
                ("games are", *forecasts),
                ("moves of a game", *(f"{column.length:,.1f}" for column in columns)),
                *(
                    (name, *(f"{figure(column):,.{places}f}" for column in columns))
                    for name, (places, figure) in ROWS.items()
                ),
            ]
        ),
        "",
        "time                "
        + ", ".join(
            f"{STAGES[stage]} {seconds / sum(spent.values()):.0%}"
            for stage, seconds in spent.items()
        ),
    ]
    return "\n".join(lines)


ROWS: Final[Mapping[str, tuple[int, Callable[[Forecast], float]]]] = {
    "evaluations/h": (0, lambda plan: plan.evaluations / plan.hours),
    "games/h": (0, lambda plan: plan.games / plan.hours),
    "iterations/h": (1, lambda plan: plan.iterations / plan.hours),
    "iterations": (0, lambda plan: plan.iterations),
    "minutes": (1, lambda plan: 60 * plan.hours),
    "memory, MiB": (0, lambda plan: plan.memory),
}
"""The rows of the table: decimal places, and the figure."""
