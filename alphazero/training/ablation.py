"""Ablations: one choice changed at a time, at the same number of evaluations, over several seeds.

Every run is a process of its own on one core. What was trained stays: a second call goes on
where the first was interrupted.
"""

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from alphazero.errors import RunError
from alphazero.players.contest import contest
from alphazero.players.match import paired_openings
from alphazero.players.player import Player
from alphazero.players.ratings import MatchResult
from alphazero.players.saved import SavedPlayer, load_saved, optimal_share
from alphazero.search.minimax import Solution
from alphazero.training.manifest import holds_run

BASE = "base"
"""The variant that the others are compared with."""


@dataclass(frozen=True)
class Ablation:
    """What is compared: a configuration, its variants, and the seeds of each."""

    config: Path
    variants: Mapping[str, Sequence[str]]
    """overrides of the configuration by the name of the variant; `BASE` has none of its own"""
    shared: Sequence[str]
    """overrides for all of them"""
    seeds: Sequence[int]
    folder: Path

    def run_of(self, variant: str, seed: int) -> Path:
        """Return the folder of a run."""
        name = "".join(letter if letter.isalnum() else "-" for letter in variant)
        return self.folder / f"{name}-{seed}"

    def train(self, workers: int, show: Callable[[int], object] = bool) -> None:
        """Train every variant with every seed, `workers` runs at once.

        Raises:
            RunError: with the last words of a run that failed.
        """
        runs = [(variant, seed) for seed in self.seeds for variant in self.variants]

        def train_one(variant: str, seed: int) -> None:
            folder = self.run_of(variant, seed)
            command = [sys.executable, "-m", "alphazero", "train"]
            if holds_run(folder):
                command += ["--resume", str(folder), *self.shared]  # the budget may have grown
            else:
                own = [f"run.folder={self.folder}", f"run.name={folder.name}", f"run.seed={seed}"]
                command += [str(self.config), *self.shared, *self.variants[variant], *own]
            ended = subprocess.run(command, check=False, capture_output=True, text=True)
            if ended.returncode:
                raise RunError(f"{folder}: {(ended.stderr or ended.stdout).strip()[-500:]}")
            show(1)

        with ThreadPoolExecutor(workers) as pool:
            for future in [pool.submit(train_one, *run) for run in runs]:
                future.result()

    def compare(
        self,
        games: int,
        simulations: int,
        solutions: Sequence[Solution],
        workers: int,
        show: Callable[[int], object] = bool,
    ) -> list["Row"]:
        """Measure every variant: matches against the base of the same seed, and optimal moves.

        Players think for `simulations` a move; without `solutions` no optimal moves are counted.
        """
        rows = []
        for variant in self.variants:
            matches, bare, searched = [], [], []
            for seed in self.seeds:
                player = load_saved(self.run_of(variant, seed))
                bare.append(optimal_share(player, solutions, 0, workers))
                searched.append(optimal_share(player, solutions, simulations, workers))
                if variant != BASE:
                    pair = player, load_saved(self.run_of(BASE, seed))
                    matches.append(_compare(pair, games, simulations, seed, workers))
                show(1)
            rows.append(Row(variant, matches, float(np.mean(bare)), float(np.mean(searched))))
        return rows


def _compare(
    players: Sequence[SavedPlayer], games: int, simulations: int, seed: int, workers: int
) -> MatchResult:
    """Let two players play a match from openings of four random moves."""

    def seat_players(tables: int) -> list[Player]:
        return [player.seat(tables, simulations=simulations) for player in players]

    game = players[0].game
    schedule = paired_openings(game, games, 4, np.random.default_rng(seed))
    return contest(game, seat_players, schedule, workers=workers)[0]


@dataclass(frozen=True)
class Row:
    """What came of a variant."""

    variant: str
    matches: Sequence[MatchResult]
    """against the base, one a seed"""
    bare: float
    """share of optimal moves of the network alone, mean over sets and seeds; NaN: not counted"""
    searched: float
    """and of the search"""


def table(rows: Sequence[Row]) -> str:
    """Write rows as a Markdown table."""
    lines = [
        "| variant | Elo against the base, each seed | optimal, network | optimal, search |",
        "| --- | --- | --- | --- |",
    ]
    for row in rows:
        elo = ", ".join(
            f"{each.elo:+.0f} ({each.elo_low:+.0f} to {each.elo_high:+.0f})" for each in row.matches
        )
        lines.append(f"| {row.variant} | {elo or '0'} | {row.bare:.1%} | {row.searched:.1%} |")
    return "\n".join(lines)
