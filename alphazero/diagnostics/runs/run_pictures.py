"""Pictures of a run: a position as seen by its networks, and ratings over time."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from alphazero.arena.tournament import Standing
from alphazero.diagnostics.runs.run_history import step_checkpoints
from alphazero.drawing.canvas import Canvas
from alphazero.drawing.figures import LINES, PALE, figure_style, name_levels, plot_intervals
from alphazero.drawing.position import draw_position
from alphazero.errors import GameError, RunError
from alphazero.games.game import ONGOING
from alphazero.mcts.network_search import network_statistics
from alphazero.notebook import Position
from alphazero.players.checkpoint_player import load_checkpoint_player
from alphazero.utils.files import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_series(run: Path, line: str, number: int = 3) -> Canvas:
    """Draw policies and values of a position by networks evenly spaced over a run.

    `line` has the moves, as `Game.from_text` reads them; `number` is 1 to `len(POLICY_COLOURS)`.

    Raises:
        RunError: when the run's folder holds no checkpoints.
        CheckpointError: for a file that is not a checkpoint.
        GameError: for a line that is not legal, or ends the game.
    """
    players = [load_checkpoint_player(path) for path in step_checkpoints(run, number)]
    if not players:
        raise RunError(f"{printable(run)} holds no step-*.safetensors; give the folder of a run")
    position = Position(players[0].game, line)
    if position.game.outcome(position.state) != ONGOING:
        raise GameError("the game is over after these moves: networks have no policy there")
    policies, values = {}, {}
    for player in players:
        roots = network_statistics(position.game, player.evaluator, position.state[None])
        steps = player.checkpoint.step
        name = f"after {steps:,} steps" if steps else "untrained"
        policies[f"{name}, %"], values[name] = roots.priors[0], float(roots.values[0])
    return draw_position(
        position.game,
        position.state,
        title=f"{position.title}, as networks see it",
        policies=policies,
        values=values,
        last_cell=position.last_cell,
    )


def check_minutes(minutes: dict[str, float]) -> None:
    """Raise RunError unless a player has minutes of training, as `draw_progress` needs."""
    if not minutes:
        raise RunError(
            "a plot shows ratings over the time of training: name a run's folder that holds "
            "step-*.safetensors and curves in tensorboard/"
        )


def draw_progress(rows: Sequence[Standing], minutes: dict[str, float]) -> "Figure":
    """Draw ratings over the minutes of training; other players are horizontal lines.

    Raises:
        RunError: when no player has `minutes`, or matplotlib is missing.
    """
    check_minutes(minutes)
    points = sorted((row for row in rows if row.name in minutes), key=lambda row: minutes[row.name])
    levels = {row.name: row.elo for row in rows if row.name not in minutes}
    longest = max(map(len, levels), default=0)
    times = [minutes[row.name] for row in points]
    with figure_style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(5 + longest / 16, 3.2), layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(", ".join(dict.fromkeys(Path(name).parent.name for name in minutes)))
        axes.set_xlabel("minutes of training")
        axes.set_ylabel("Elo, with 95 % interval")
        plot_intervals(axes, times, [(row.elo_low, row.elo, row.elo_high) for row in points], PALE)
        color, dashes, mark = LINES[0]
        axes.plot(times, [row.elo for row in points], color=color, linestyle=dashes, marker=mark)
        axes.set_xlim(left=min(axes.get_xlim()[0], 0))
        name_levels(axes, levels)
    return figure
