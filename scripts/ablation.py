"""Measure the effect of each choice of search and training, on a small network.

python scripts/ablation.py connect_four POSITIONS [--evaluations 1000000] [--only NAME NAME]
python scripts/ablation.py go_7x7 --opponents uct:1000 'gtp:COMMAND' [--seeds 1,2]

Prints a table of configs/README.md, "Ablations". POSITIONS are solved positions as
`alphazero grade` reads them.
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from alphazero.arena.contests import parallel_games_for, play_match
from alphazero.arena.elo import MatchResult
from alphazero.arena.grade import optimal_share
from alphazero.arena.openings import paired_openings
from alphazero.arena.solved_positions import position_files, read_positions
from alphazero.cli.argument_types import even_number, whole_number, whole_numbers
from alphazero.cli.main import run_and_report
from alphazero.config.loader import load_config
from alphazero.errors import AlphaZeroError, RunError, did_you_mean
from alphazero.games import make_game
from alphazero.players.base import Player
from alphazero.players.budget import Budget
from alphazero.players.checkpoint_player import CheckpointPlayer, load_checkpoint_player
from alphazero.players.registry import parse_player
from alphazero.players.specs import PlayerSpec
from alphazero.solvers.exhaustive import SolvedPositions
from alphazero.training.manifest import holds_run
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import Progress, no_progress, progress_bar
from alphazero.utils.tables import markdown_table

BASE = "base"


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
            for future in [pool.submit(train_one, *run) for run in runs]:
                future.result()

    def compare(
        self, conditions: "Conditions", workers: int, show: Progress = no_progress
    ) -> list["Row"]:
        """Return the results of each variant."""
        rows = []
        for variant in self.variants:
            matches: list[MatchResult] = []
            figures = []
            for seed in self.seeds:
                player = load_checkpoint_player(self.run_of(variant, seed))
                if variant != BASE:
                    base = _spec(self.run_of(BASE, seed), conditions.simulations)
                    matches.append(_compare(player, base, conditions, seed, workers))
                figures.append(_measure(player, conditions, seed, workers))
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
        """What `_measure` returns, in words."""
        graded = ["optimal, network", "optimal, search"] if self.solutions else []
        return graded + [f"against {opponent.name}" for opponent in self.opponents]


def _measure(
    player: CheckpointPlayer, conditions: Conditions, seed: int, workers: int
) -> list[float]:
    """Return shares: of optimal moves without and with search, and of points by opponent."""
    shares = []
    if conditions.solutions:
        for simulations in (0, conditions.simulations):
            shares.append(optimal_share(player, conditions.solutions, simulations, workers))
    results = (
        _compare(player, opponent, conditions, seed, workers) for opponent in conditions.opponents
    )
    return shares + [result.score for result in results]


def _spec(run: Path, simulations: int) -> PlayerSpec:
    return parse_player(f"{run}:simulations={simulations}")


def _compare(
    player: CheckpointPlayer, opponent: PlayerSpec, conditions: Conditions, seed: int, workers: int
) -> MatchResult:
    """Return the result of `player` against `opponent`; GTP programs see all moves of a game."""
    game, rng = player.game, np.random.default_rng(seed)

    def make_players(num_games: int) -> list[Player]:
        own = player.create(num_games, Budget(conditions.simulations))
        return [own, opponent.create(game, num_games, rng.spawn(1)[0])]

    return play_match(
        game,
        make_players,
        paired_openings(game, conditions.games, OPENING_MOVES, rng),
        parallel_games=parallel_games_for([opponent], workers),
        workers=workers,
    )[0]


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


OPENING_MOVES = 4
"""Random moves at the start of each pair of games."""


@dataclass(frozen=True)
class Study:
    """A shipped configuration, made small, and the choices to change in it one at a time."""

    config: str
    small: Sequence[str]
    variants: Mapping[str, Sequence[str]]
    """overrides by variant; each changes one choice of the base"""
    simulations: int
    """a move in comparisons"""


CONFIGS = Path(__file__).parent.parent / "configs"

CONNECT_FOUR_SMALL = [
    "run.threads=1",
    "run.keep_checkpoints=1",
    "network.blocks=3",
    "network.filters=32",
    "network.policy_filters=8",
    "network.value_filters=8",
    "network.value_hidden=32",
    "network.global_pooling=16",
    "search.simulations=48",
    "search.selection=puct",
    "search.c_puct=1.5",
    "search.fpu_reduction=0.2",
    "search.transpositions=never",
    "selfplay.fast_simulations=8",
    "selfplay.temperature=1.0",
    "selfplay.temperature_moves=14",
    "selfplay.final_temperature=0.2",
    "selfplay.dirichlet_alpha=1.0",
    "selfplay.random_opening_probability=0.4",
    "selfplay.random_opening_max_moves=20",
    "selfplay.random_opening_candidates=1",
    "selfplay.games_per_iteration=128",
    "selfplay.parallel_games=128",
    "replay.window_minimum=10000",
    "replay.window_fraction=0.5",
    "replay.ratio=4.0",
    "replay.deblunder_threshold=0.0",
    "learner.optimizer=adamw",
    "learner.learning_rate=0.002",
    "learner.batch_size=256",
    "learner.ema_decay=0.98",
    "learner.search_value_weight=0.3",
    "gate.games=0",
    "inference.selfplay_precision=same",
    "budget.samples=null",
]
"""Overrides that make the shipped configuration small enough for dozens of runs. They also restore
its values from before the tuning of deblundering, temperature, fast searches, weight decay, Gumbel
search and Muon."""

CONNECT_FOUR_VARIANTS = {
    "all moves searched fully": ["selfplay.full_search_probability=1.0"],
    "temperature 0.5": ["selfplay.temperature=0.5"],
    "temperature for 6 moves": ["selfplay.temperature_moves=6"],
    "fast searches of 16": ["selfplay.fast_simulations=16"],
    "no random openings": ["selfplay.random_opening_probability=0.0"],
    "no solver": ["search.mcts_solver=false"],
    "Q = 0 of unvisited actions": ["search.fpu_reduction=null"],
    "more random openings": [
        "selfplay.random_opening_probability=0.8",
        "selfplay.random_opening_max_moves=24",
    ],
    "more random openings, each the most open of three": [
        "selfplay.random_opening_probability=0.8",
        "selfplay.random_opening_max_moves=24",
        "selfplay.random_opening_candidates=3",
    ],
    "weight decay 0.5": ["learner.weight_decay=0.5"],
    "Muon": ["learner.optimizer=muon", "learner.learning_rate=0.005", "learner.weight_decay=0.8"],
    "newest weights, no average": ["learner.ema_decay=0.0"],
    "value target z alone": ["learner.search_value_weight=0.0"],
    "deblundering": ["replay.deblunder_threshold=0.25", "learner.search_value_weight=0.1"],
    "the same, temperature 0.5": [
        "replay.deblunder_threshold=0.25",
        "learner.search_value_weight=0.1",
        "selfplay.temperature=0.5",
    ],
    "the paper's heads": ["network.policy_filters=2", "network.value_filters=1"],
    "no global pooling": ["network.global_pooling=0"],
    "Gumbel search": ["search.selection=gumbel"],
    "Gumbel search above PUCT": ["search.selection=gumbel_root"],
    "transpositions": ["search.transpositions=always"],
    "the same, not in self-play": ["search.transpositions=play"],
    "random symmetries at leaves": ["search.leaf_symmetry=random"],
    "averaged symmetries at leaves": ["search.leaf_symmetry=average"],
    "resignation": ["selfplay.resign_enabled_fraction=0.9"],
    "int8 self-play": ["inference.selfplay_precision=int8"],
}

GO_SMALL = [
    "run.threads=1",
    "run.keep_checkpoints=1",
    "game.features=0",
    "network.blocks=4",
    "network.heads=dense",
    "network.policy_filters=16",
    "network.value_filters=16",
    "network.auxiliary=[]",
    "search.selection=puct",
    "selfplay.varied_options=null",
    "selfplay.progressive_samples=null",
    "selfplay.games_per_iteration=128",
    "selfplay.parallel_games=128",
    "selfplay.temperature_moves=10",
    "selfplay.final_temperature=0.2",
    "selfplay.dirichlet_alpha=0.15",
    "selfplay.random_opening_max_moves=10",
    "replay.window_minimum=10000",
    "replay.ratio=6.0",
    "learner.learning_rate=0.001",
    "gate.games=0",
    "evaluation.anchors=[]",
    "budget.samples=null",
]
"""Overrides that make the shipped configuration small: one rate, no gate. They also restore its
values from before convolutional heads, planes of liberties, drawn komi, auxiliary heads, Gumbel
search (which needs no noise and no temperature) and progressive simulations."""

CONVOLUTIONAL = "network.heads=convolutional"
FEATURES = "game.features=1"
KOMI = "selfplay.varied_options={komi_half_points: [1, 21]}"
AUXILIARY = "network.auxiliary=[ownership,margin,short_term_value]"
ALL = [CONVOLUTIONAL, FEATURES, KOMI, AUXILIARY]
GUMBEL_ROOT = "search.selection=gumbel_root"
PROGRESSIVE = "selfplay.progressive_samples=54000"  # most of a run of 5,000,000 evaluations

GO_VARIANTS = {
    "Gumbel search above PUCT": [GUMBEL_ROOT],
    "convolutional heads": [CONVOLUTIONAL],
    "liberties, ko, life and komi as planes": [FEATURES],
    "these planes, komi drawn from 0.5 to 10.5": [FEATURES, KOMI],
    "ownership and margin": ["network.auxiliary=[ownership,margin]"],
    "short-term values": ["network.auxiliary=[short_term_value]"],
    "all auxiliary heads": [AUXILIARY],
    "all but komi": [CONVOLUTIONAL, FEATURES, AUXILIARY],
    "all": ALL,
    "all, Gumbel search above PUCT": [*ALL, GUMBEL_ROOT],
    "all, progressive simulations": [*ALL, PROGRESSIVE],
    "all, Gumbel search and progressive simulations": [*ALL, GUMBEL_ROOT, PROGRESSIVE],
}

STUDIES = {
    "connect_four": Study("connect_four.yaml", CONNECT_FOUR_SMALL, CONNECT_FOUR_VARIANTS, 48),
    "go_7x7": Study("go_9x9.yaml", [*GO_SMALL, "game.rows=7", "game.columns=7"], GO_VARIANTS, 96),
    "go_9x9": Study("go_9x9.yaml", GO_SMALL, GO_VARIANTS, 96),
}


def main() -> None:
    """Train missing runs, compare all, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("positions", nargs="*", type=Path, metavar="POSITIONS")
    parser.add_argument("--evaluations", type=whole_number, default=1_000_000, help="of each run")
    parser.add_argument("--seeds", type=whole_numbers, default="1,2", help="comma-separated")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these variants, not all")
    parser.add_argument("--games", type=even_number, default=200, help="of each match")
    parser.add_argument("--opponents", nargs="+", default=[], type=parse_player, metavar="PLAYER")
    parser.add_argument("--folder", type=Path, default=Path("checkpoints/ablations"))
    options = parser.parse_args()
    study = STUDIES[options.study]
    names = list(study.variants) if options.only is None else options.only
    for name in names:
        if name not in study.variants:
            raise AlphaZeroError(f"unknown variant {name!r}{did_you_mean(name, study.variants)}")
    ablation = Ablation(
        CONFIGS / study.config,
        {BASE: [], **{name: study.variants[name] for name in names}},
        [*study.small, f"budget.evaluations={options.evaluations}"],
        options.seeds,
        options.folder / options.study,
    )
    played = load_config(ablation.config, ablation.shared).game
    game = make_game(played.name, **played.options)
    solutions = [read_positions(game, path) for path in position_files(options.positions)]
    conditions = Conditions(options.games, study.simulations, solutions, options.opponents)
    workers, runs = usable_cores(), len(ablation.variants) * len(ablation.seeds)
    with progress_bar(runs, "run", desc="training") as bar:
        ablation.train(workers, bar.update)
    with progress_bar(runs, "run", desc="comparing") as bar:
        rows = ablation.compare(conditions, workers, bar.update)
    print(table(rows, conditions.columns))


if __name__ == "__main__":
    sys.exit(run_and_report(main))
