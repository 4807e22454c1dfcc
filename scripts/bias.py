"""Show bias against variance: the tree on which flat Monte Carlo never finds the best move.

python scripts/bias.py [--simulations 300000] [--runs 20] [--seed 0] [--plot bias.png]

Prints what flat Monte Carlo and UCT believe of both moves as their simulations grow, beside
minimax, and draws it.
"""

import argparse
import sys
from pathlib import Path

from alphazero.cli import told
from alphazero.players.bias import draw, estimate, table
from alphazero.players.canvas import save_picture
from alphazero.typed import whole_number


def main() -> None:
    """Search, print the table, write the picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--simulations", type=whole_number, default=300_000, help="at the end")
    parser.add_argument("--runs", type=whole_number, default=20, help="from different seeds")
    parser.add_argument("--seed", type=whole_number, default=0)
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="where to draw it")
    options = parser.parse_args()
    for name, least in (("simulations", 10), ("runs", 1)):
        if getattr(options, name) < least:
            parser.error(f"--{name} must be at least {least}, got {getattr(options, name)}")
    totals = [digit * 10**power for power in range(9) for digit in (1, 3)]
    looks = [total for total in totals if 10 <= total < options.simulations]
    estimates = estimate([*looks, options.simulations], options.runs, options.seed)
    print(table(estimates))
    if options.plot is not None:
        save_picture(options.plot, draw(estimates))


if __name__ == "__main__":
    sys.exit(told(main))
