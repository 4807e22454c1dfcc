"""Grade the checkpoints of a run: strength against time, games and evaluations, as a table.

python scripts/curve.py RUN POSITIONS... [--simulations 0,64,600] [--points 8]

Train with `run.keep_checkpoints=0`, so that every checkpoint is kept.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tqdm import tqdm

from alphazero.players.grade import grade, read_positions
from alphazero.players.saved import load_saved


def curve_of(run: Path, name: str) -> dict[int, float]:
    """Return a curve of a run, its values by iteration."""
    events = EventAccumulator(str(run / "tensorboard"), {"scalars": 0})
    events.Reload()
    if name not in events.Tags()["scalars"]:
        return {}
    return {point.step: point.value for point in events.Scalars(name)}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path, metavar="RUN")
    parser.add_argument("positions", nargs="+", type=Path, metavar="POSITIONS")
    parser.add_argument("--simulations", default="0,64,600", help="comma-separated")
    parser.add_argument("--points", type=int, default=8, help="checkpoints, evenly spaced")
    options = parser.parse_args()

    stages = [
        curve_of(options.run, f"seconds/{stage}") for stage in ("play", "learn", "gate", "save")
    ]
    evaluations = curve_of(options.run, "selfplay/evaluations")
    checkpoints = sorted(options.run.glob("step-*.safetensors"))
    chosen = np.linspace(0, len(checkpoints) - 1, options.points + 1).round().astype(int)[1:]
    budgets = [int(each) for each in options.simulations.split(",")]
    rows = []
    for index in tqdm(chosen, unit="checkpoint"):
        player = load_saved(checkpoints[index])
        iteration = player.checkpoint.iteration
        seconds = sum(
            spent for stage in stages for step, spent in stage.items() if step <= iteration
        )
        shares = []
        for simulations in budgets:
            grades = [
                grade(
                    player.game,
                    lambda tables, n=simulations, who=player: who.seat(tables, simulations=n),
                    read_positions(player.game, path),
                    workers=os.cpu_count() or 1,
                )
                for path in options.positions
            ]
            shares.append(float(np.mean([each.share for each in grades])))
        rows.append(
            f"| {seconds / 60:.0f} | {player.checkpoint.details['games']:,} "
            f"| {evaluations.get(iteration, float('nan')) / 1e6:.1f} M | "
            + " | ".join(f"{share:.1%}" for share in shares)
            + " |"
        )
    print("| minutes | games | evaluations | " + " | ".join(f"{n}" for n in budgets) + " |")
    print("| --- " * (3 + len(budgets)) + "|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
