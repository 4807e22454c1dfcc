"""Rate the searches that led to AlphaGo Zero, at equal simulations and at equal time.

python scripts/methods.py [checkpoints/connect_four.safetensors] [--simulations 1000]
    [--seconds 0.05] [--games 40] [--plot FILE.png]

Prints the table of the README's chapter "From Monte Carlo to AlphaGo Zero".
"""

import argparse
import sys
from pathlib import Path

from tqdm import tqdm

from alphazero.cli import told
from alphazero.files import check_writable
from alphazero.machine import usable_cores
from alphazero.network.checkpoint import load_checkpoint
from alphazero.network.header import find_checkpoint
from alphazero.players.canvas import save_picture
from alphazero.players.methods import (
    SECONDS,
    SIMULATIONS,
    compare,
    draw,
    games_to_play,
    lineage,
    table,
)
from alphazero.typed import even_number, positive_number, seconds, whole_number

SHIPPED = Path(__file__).parent.parent / "checkpoints/connect_four.safetensors"


def main() -> None:
    """Play two tournaments, print the table, write the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkpoint", nargs="?", type=Path, default=SHIPPED, metavar="CHECKPOINT")
    parser.add_argument("--simulations", type=positive_number, default=1000, help="a move")
    parser.add_argument("--seconds", type=seconds, default=0.05, help="a move")
    parser.add_argument("--games", type=even_number, default=40, help="of every two players")
    parser.add_argument("--seed", type=whole_number, default=0, help="of all chance")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="where to draw it")
    options = parser.parse_args()

    game = load_checkpoint(find_checkpoint(options.checkpoint)).game_name
    if options.plot:
        check_writable(options.plot)
    rows = lineage(options.checkpoint)
    budgets = {
        f"Elo, {options.simulations:,} simulations a move": (SIMULATIONS, options.simulations),
        f"Elo, {options.seconds:g} s a move": (SECONDS, options.seconds),
    }
    total = sum(games_to_play(rows, budget, options.games) for budget, _ in budgets.values())
    with tqdm(total=total, unit="game") as bar:
        results = {
            heading: compare(rows, *budget, options.games, options.seed, usable_cores(), bar.update)
            for heading, budget in budgets.items()
        }
    print(table(rows, results))
    if options.plot:
        save_picture(options.plot, draw(rows, results, f"From Monte Carlo to AlphaGo Zero: {game}"))


if __name__ == "__main__":
    sys.exit(told(main))
