"""Grade the checkpoints of a run: strength by time, games and evaluations, as a table.

python scripts/strength_curve.py RUN POSITIONS... [--simulations 0,64,600] [--points 8]

configs/README.md has its results. Train with `run.keep_checkpoints=0` to keep every checkpoint.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from ablation import optimal_share
from readme_images import training_minutes

from alphazero.arena.solved_positions import position_files, read_positions
from alphazero.cli.argument_types import positive_number, whole_numbers
from alphazero.cli.main import run_and_report
from alphazero.diagnostics.run_history import read_curves
from alphazero.errors import RunError
from alphazero.players.checkpoint_player import load_checkpoint_player
from alphazero.utils.progress import progress_bar
from alphazero.utils.tables import markdown_table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("positions", nargs="+", type=Path, metavar="POSITIONS")
    parser.add_argument(
        "--simulations", type=whole_numbers, default="0,64,600", help="comma-separated"
    )
    parser.add_argument(
        "--points", type=positive_number, default=8, help="checkpoints, evenly spaced"
    )
    options = parser.parse_args()

    checkpoints = sorted(options.run.glob("step-*.safetensors"))
    if not checkpoints:
        raise RunError(f"{options.run} holds no step-*.safetensors; give the folder of a run")
    curves = read_curves(options.run)
    evaluations = {0: 0.0, **curves.get("selfplay/evaluations", {})}
    minutes = {0: 0.0, **training_minutes(curves)}
    spaced = np.linspace(0, len(checkpoints) - 1, options.points + 1)[1:]
    chosen = np.unique(spaced.round().astype(int))  # there may be fewer
    game = load_checkpoint_player(checkpoints[-1]).game
    solutions = [read_positions(game, path) for path in position_files(options.positions)]
    rows = []
    with progress_bar(len(chosen), "checkpoint") as bar:
        for index in chosen:
            player = load_checkpoint_player(checkpoints[index])
            iteration = player.checkpoint.iteration
            shares = [
                optimal_share(player, solutions, simulations) for simulations in options.simulations
            ]
            rows.append(
                (
                    f"{minutes.get(iteration, float('nan')):.0f}",
                    f"{player.checkpoint.details['games']:,}",
                    f"{evaluations.get(iteration, float('nan')) / 1e6:.1f} M",
                    *(f"{share:.1%}" for share in shares),
                )
            )
            bar.update()
    head = ("minutes", "games", "evaluations", *map(str, options.simulations))
    print(markdown_table(head, rows))


if __name__ == "__main__":
    sys.exit(run_and_report(main))
