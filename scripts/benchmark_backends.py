"""Measure a player's network by each library that computes on a CPU, side by side.

python scripts/benchmark_backends.py connect_four [--batches 1,8,192] [--repeats 5]

Prints positions a second on one core, the best of the repeats, and the ratios to torch. A second is
one of the thread's CPU time, so other programs hardly matter. Libraries that are not installed are
left out.
"""

import argparse
import dataclasses
import sys
import time
from pathlib import Path

import numpy as np
import torch

from alphazero.cli.argument_types import positive_number, positive_numbers
from alphazero.cli.main import run_and_report
from alphazero.config.schema import InferenceConfig
from alphazero.errors import ConfigError
from alphazero.games import make_game
from alphazero.network.checkpoint import find_checkpoint, load_checkpoint
from alphazero.network.inference.backend import NAMES, make_evaluator, resolve_backend
from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.network.inference.device_check import fixed_positions
from alphazero.utils.tables import markdown_table

LEAST_POSITIONS = 960
"""Positions of one measurement, in as many batches as needed."""


def candidates() -> dict[str, InferenceConfig]:
    """Return the settings to compare, by name: each library, and OpenVINO's usual precision too."""
    exact = InferenceConfig(device="cpu", precision="float32")
    named = {
        f"{title}, float32": dataclasses.replace(exact, backend=backend)
        for backend, title in NAMES.items()
    }
    return named | {"OpenVINO, auto": InferenceConfig(backend="openvino", device="cpu")}


def positions_per_second(evaluator: BatchedEvaluator, size: int) -> float:
    """Measure batches of `size` positions once, in the calling thread."""
    game_positions = np.random.default_rng(0).random((size, *evaluator.observation_shape))
    observations = (game_positions < 0.3).astype(np.float32)
    evaluator.evaluate(observations)
    batches = max(LEAST_POSITIONS // size, 1)
    begin = time.thread_time()
    for _ in range(batches):
        evaluator.evaluate(observations)
    return batches * size / (time.thread_time() - begin)


def measure(player: str, batches: list[int], repeats: int) -> str:
    """Return the table of rates, best of `repeats`; the libraries alternate."""
    checkpoint = load_checkpoint(find_checkpoint(Path(player)))
    game = make_game(checkpoint.game_name, **checkpoint.game_options)
    evaluators: dict[str, BatchedEvaluator] = {}
    for name, settings in candidates().items():
        try:
            resolve_backend(settings)
        except ConfigError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        evaluators[name] = make_evaluator(checkpoint.network(), settings)
        evaluators[name].evaluate(fixed_positions(game))
    best = dict.fromkeys([(name, size) for name in evaluators for size in batches], 0.0)
    for _ in range(repeats):
        for (name, size), rate in best.items():
            measured = positions_per_second(evaluators[name], size)
            best[name, size] = max(rate, measured)
    base = "torch, float32"
    rows = [
        [
            name,
            *(
                f"{best[name, size]:,.0f} ({best[name, size] / best[base, size]:.1f})"
                for size in batches
            ),
        ]
        for name in evaluators
    ]
    return markdown_table(("library", *(f"batches of {size}" for size in batches)), rows)


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("player", metavar="PLAYER", help="a checkpoint, or a shipped player's name")
    parser.add_argument(
        "--batches",
        type=positive_numbers,
        default=[1, 8, 192],
        metavar="N,N",
        help="batch sizes (default: 1,8,192)",
    )
    parser.add_argument(
        "--repeats", type=positive_number, default=5, metavar="N", help="repeats (default: 5)"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(measure(options.player, options.batches, options.repeats))


if __name__ == "__main__":
    sys.exit(run_and_report(main))
