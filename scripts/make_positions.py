"""Make a file of solved positions, for `alphazero grade` and the curves of a training run.

python scripts/make_positions.py connect_four FILE [--each 200] [--first-ply 8] [--seed 1]

This made Connect Four's shipped file, alphazero/arena/positions/connect_four.txt. Earlier positions
take longer to solve: about three seconds on one core after 8 moves.
"""

import argparse
import sys
from pathlib import Path

from alphazero.arena.position_generator import make_positions
from alphazero.arena.solved_positions import STAGES
from alphazero.cli.argument_types import positive_number, whole_number
from alphazero.cli.main import run_and_report
from alphazero.games.registry import read_game
from alphazero.utils.files import check_writable, write_atomic
from alphazero.utils.progress import progress_bar


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("game", metavar="GAME", help="e.g. connect_four or mnk:rows=4,columns=4")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--each", type=positive_number, default=200, help="positions per stage")
    parser.add_argument(
        "--first-ply", type=whole_number, default=8, help="least number of moves before a position"
    )
    parser.add_argument("--seed", type=whole_number, default=1, help="of all chance")
    options = parser.parse_args()

    game = read_game(options.game)
    check_writable(options.file)
    with progress_bar(options.each * len(STAGES), "position") as bar:
        text = make_positions(game, options.each, options.seed, options.first_ply, bar.update)
    write_atomic(options.file, text.encode())


if __name__ == "__main__":
    sys.exit(run_and_report(main))
