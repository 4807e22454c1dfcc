"""Measure the effect of choices of search and training: each is one variant of a configuration.

python scripts/ablation.py configs/connect_four.yaml network.blocks=3 budget.evaluations=500000 \\
    --variant search.mcts_solver=false --variant "search.selection=puct search.c_puct=1.5" \\
    [--positions POSITIONS] [--opponents uct:1000 'gtp:COMMAND'] [--seeds 1,2]

The overrides make the base, small enough for many runs; a variant changes more. Prints a table as
in configs/README.md, "Ablations". POSITIONS are solved positions as `alphazero grade` reads them.
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from alphazero.arena.contests import grade_checkpoint, play_contest
from alphazero.arena.elo import MatchResult, match_result
from alphazero.arena.solved_positions import position_files, read_positions
from alphazero.cli.argument_types import even_number, whole_numbers
from alphazero.cli.main import run_and_report
from alphazero.cli.shared import config_file_arguments
from alphazero.config.loader import load_config
from alphazero.errors import RunError
from alphazero.games import make_game
from alphazero.players.checkpoint_player import CheckpointPlayer
from alphazero.players.registry import common_game, parse_player
from alphazero.players.specs import PlayerSpec
from alphazero.solvers.exhaustive import SolvedPositions
from alphazero.training.manifest import holds_run
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import Progress, no_progress, progress_bar
from alphazero.utils.tables import markdown_table

BASE = "base"

OPENING_MOVES = 4
"""Random moves at the start of each pair of games."""


@dataclass(frozen=True)
class Ablation:
    """A configuration, its variants, and the seeds of each."""

    config: Path
    variants: Mapping[str, Sequence[str]]
    """overrides by variant; `BASE` has none"""
    shared: Sequence[str]
    seeds: Sequence[int]
    folder: Path

    def run_of(self, variant: str, seed: int) -> Path:
        name = "".join(letter if letter.isalnum() else "-" for letter in variant)
        return self.folder / f"{name}-{seed}"

    def train(self, workers: int, show: Progress = no_progress) -> None:
        """Train every variant with every seed, `workers` runs at once.

        Raises:
            RunError: with the last output of a run that failed.
        """
        runs = [(variant, seed) for seed in self.seeds for variant in self.variants]

        def train_one(variant: str, seed: int) -> None:
            folder = self.run_of(variant, seed)
            command = [sys.executable, "-m", "alphazero", "train"]
            overrides = [*self.shared, *self.variants[variant]]
            if holds_run(folder):
                command += ["--resume", str(folder), *overrides]  # the budget may have grown
            else:
                own = [f"run.folder={self.folder}", f"run.name={folder.name}", f"run.seed={seed}"]
                command += [str(self.config), *overrides, *own]
            ended = subprocess.run(command, check=False, capture_output=True, text=True)
            if ended.returncode:
                raise RunError(f"{folder}: {(ended.stderr or ended.stdout).strip()[-500:]}")
            show(1)

        with ThreadPoolExecutor(workers) as pool:
            try:
                for future in as_completed([pool.submit(train_one, *run) for run in runs]):
                    future.result()
            finally:
                pool.shutdown(cancel_futures=True)  # after an error no other run begins

    def compare(self, conditions: "Conditions", show: Progress = no_progress) -> list["Row"]:
        """Return the results of each variant."""
        rows = []
        for variant in self.variants:
            matches: list[MatchResult] = []
            figures = []
            for seed in self.seeds:
                player, base = (
                    parse_player(f"{self.run_of(name, seed)}:simulations={conditions.simulations}")
                    for name in (variant, BASE)
                )
                if variant != BASE:
                    matches.append(conditions.match(player, base, seed))
                figures.append(conditions.measure(player, seed))
                show(1)
            rows.append(Row(variant, matches, np.mean(figures, axis=0).tolist()))
        return rows


@dataclass(frozen=True)
class Conditions:
    """How trained players are measured."""

    games: int
    """of each match"""
    simulations: int
    """of each move"""
    solutions: Sequence[SolvedPositions] = ()
    opponents: Sequence[PlayerSpec] = ()

    @property
    def columns(self) -> list[str]:
        """What `measure` returns, in words."""
        graded = ["optimal, network", "optimal, search"] if self.solutions else []
        return graded + [f"against {opponent.name}" for opponent in self.opponents]

    def measure(self, player: PlayerSpec, seed: int) -> list[float]:
        """Return shares: of optimal moves without and with search, and of points by opponent."""
        shares = []
        if self.solutions:
            assert player.saved is not None, "it is a checkpoint"
            for simulations in (0, self.simulations):
                shares.append(optimal_share(player.saved, self.solutions, simulations))
        return shares + [self.match(player, other, seed).score for other in self.opponents]

    def match(self, player: PlayerSpec, opponent: PlayerSpec, seed: int) -> MatchResult:
        """Return the result of `player` against `opponent`."""
        players = [player, opponent]
        game = common_game(players)
        return match_result(game, play_contest(players, game, self.games, OPENING_MOVES, seed))


def optimal_share(
    player: CheckpointPlayer, solutions: Sequence[SolvedPositions], simulations: int
) -> float:
    """Return the mean share of optimal moves over sets of solved positions; NaN for none."""
    shares = [grade_checkpoint(player, simulations, each).share for each in solutions]
    return float(np.mean(shares)) if shares else float("nan")


@dataclass(frozen=True)
class Row:
    """The results of a variant."""

    variant: str
    matches: Sequence[MatchResult]
    """against the base, one per seed"""
    shares: Sequence[float]
    """one for each of the columns, mean over seeds"""


def table(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """Return rows as a Markdown table."""
    cells = []
    for row in rows:
        elo = ", ".join(
            f"{match.elo:+z.0f} ({match.elo_low:+z.0f} to {match.elo_high:+z.0f})"
            for match in row.matches
        )
        cells.append((row.variant, elo or "0", *(f"{share:.1%}" for share in row.shares)))
    return markdown_table(("variant", "Elo against the base, each seed", *columns), cells)


def main() -> None:
    """Train missing runs, compare all, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    config_file_arguments(parser)
    text = "overrides, separated by spaces; once for each variant"
    parser.add_argument("--variant", action="append", default=[], metavar="OVERRIDES", help=text)
    parser.add_argument("--positions", nargs="+", default=[], type=Path, metavar="POSITIONS")
    parser.add_argument("--seeds", type=whole_numbers, default="1,2", help="comma-separated")
    parser.add_argument("--games", type=even_number, default=200, help="of each match")
    parser.add_argument("--opponents", nargs="+", default=[], type=parse_player, metavar="PLAYER")
    parser.add_argument("--folder", type=Path, default=Path("checkpoints/ablations"))
    options = parser.parse_intermixed_args()
    ablation = Ablation(
        Path(options.config),
        {BASE: [], **{variant: variant.split() for variant in options.variant}},
        options.overrides,
        options.seeds,
        options.folder,
    )
    base, *_ = [
        load_config(ablation.config, [*options.overrides, *overrides])
        for overrides in ablation.variants.values()
    ]
    game = make_game(base.game.name, **base.game.options)
    solutions = [read_positions(game, path) for path in position_files(options.positions)]
    conditions = Conditions(options.games, base.search.simulations, solutions, options.opponents)
    runs = len(ablation.variants) * len(ablation.seeds)
    with progress_bar(runs, "run", desc="training") as bar:
        ablation.train(usable_cores(), bar.update)
    with progress_bar(runs, "run", desc="comparing") as bar:
        rows = ablation.compare(conditions, bar.update)
    print(table(rows, conditions.columns))


if __name__ == "__main__":
    sys.exit(run_and_report(main))
