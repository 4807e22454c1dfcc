"""Play a checkpoint with several leaves a batch against itself with one: what do batches cost?

python scripts/compare_leaves.py checkpoints/go_9x9.safetensors --simulations 100 --games 200
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from alphazero.arena.contests import play_match
from alphazero.arena.openings import paired_openings
from alphazero.cli.argument_types import even_number, positive_number, whole_number
from alphazero.cli.main import run_and_report
from alphazero.players.base import Player
from alphazero.players.budget import Budget
from alphazero.players.checkpoint_player import LEAVES_PER_BATCH, load_checkpoint_player


def main() -> None:
    """Play the match and print its result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("checkpoint", type=Path, metavar="CHECKPOINT")
    parser.add_argument("--leaves", type=positive_number, default=LEAVES_PER_BATCH)
    parser.add_argument("--simulations", type=positive_number, default=100, help="of each move")
    parser.add_argument("--games", type=even_number, default=200)
    parser.add_argument("--opening-moves", type=whole_number, default=4, help="random moves")
    parser.add_argument("--seed", type=whole_number, default=0)
    options = parser.parse_args()
    saved = load_checkpoint_player(options.checkpoint)
    rng = np.random.default_rng(options.seed)

    def make_players(num_games: int) -> Sequence[Player]:
        budget, sources = Budget(options.simulations), rng.spawn(2)
        many = saved.create(num_games, budget, leaves=options.leaves, rng=sources[0])
        return [many, saved.create(num_games, budget, rng=sources[1])]

    schedule = paired_openings(saved.game, options.games, options.opening_moves, rng)
    result, _ = play_match(saved.game, make_players, schedule)
    print(f"{options.leaves} leaves a batch against 1: {result}")


if __name__ == "__main__":
    sys.exit(run_and_report(main))
