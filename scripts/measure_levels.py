"""Choose and measure the ten levels of checkpoints, and write them beside each as .levels.json.

python scripts/measure_levels.py checkpoints/connect_four.safetensors --games 200 --folder games

The strongest level comes first. Each level below is found by bisection on the scale of
`levels.settings_at`, so that the level above scores `--target` against it. If the first level does
not lose to UCT with 100 rollouts, the target grows; if the scale ends too early, it falls. Ten
levels have room for 1,700 Elo; a player that is farther above UCT, as those of Go, needs `--most`.
Then the levels also play those two steps away, UCT and the random player, and Bradley-Terry ratings
are fitted to all games. With `--folder`, games are kept, and the same command goes on from them.
"""

import argparse
import dataclasses
import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from alphazero.arena.tournament import Tournament, standings
from alphazero.cli.argument_types import even_number, positive_number, share, whole_number
from alphazero.cli.main import run_and_report
from alphazero.errors import RunError
from alphazero.games.game import Game
from alphazero.players.base import Player
from alphazero.players.budget import Budget
from alphazero.players.checkpoint_player import CheckpointPlayer, load_checkpoint_player
from alphazero.players.levels import (
    NAMES,
    STRONGEST,
    STRONGEST_FACTOR,
    WEAKEST,
    Level,
    LevelSettings,
    LevelTable,
    describe_levels,
    levels_file,
    save_levels,
    settings_at,
)
from alphazero.players.registry import parse_player
from alphazero.players.specs import PlayerSpec, Rng
from alphazero.records.played_game import PlayedGame
from alphazero.utils.machine import usable_cores

ANCHOR = "uct:simulations=100"
"""The player with rating 0, to which the first level must lose."""

LOSING = 0.3
"""A player loses to another if it scores less."""

LOW, HIGH = 0.6, 0.75
"""The score that each level shall reach against the one below."""

NEAR = 0.08
"""Distance from the target at which a probe is played on to the full number of games."""

CLOSE = 0.04
"""Distance from the target at which the bisection ends."""

STEP = 0.02
"""Change of the target between two sets of levels."""

LEAST_TARGET = 0.55
"""Below it, levels hardly differ."""

LEAST_STEP = 0.005
"""Width of the bracket at which the bisection ends."""

Contestant = LevelSettings | str
"""Settings of the checkpoint, or a player's spec."""


@dataclass(frozen=True)
class LevelSpec(PlayerSpec):
    """A checkpoint at a level."""

    own: CheckpointPlayer
    settings: LevelSettings

    @property
    def player_hash(self) -> str:
        return self.own.checkpoint.player_hash

    def _create(self, game: Game, num_games: int, rng: Rng, budget: Budget) -> Player:  # noqa: ARG002
        return self.own.create(num_games, leaves=1, level=self.settings, rng=rng)


class Measurement:
    """Plays and keeps the games of one checkpoint's levels."""

    def __init__(
        self, saved: CheckpointPlayer, opening_moves: int, seed: int, folder: Path | None
    ) -> None:
        self.saved, self.opening_moves, self.seed = saved, opening_moves, seed
        self.folder = folder / saved.path.stem if folder else None
        self.games: list[PlayedGame] = []

    def tournament(self, contestants: Sequence[Contestant], games: int) -> Tournament:
        """Return a tournament that knows the games so far."""
        specs = [
            parse_player(who) if isinstance(who, str) else LevelSpec(name_of(who), self.saved, who)
            for who in contestants
        ]
        return Tournament(
            self.saved.game,
            specs,
            games,
            self.opening_moves,
            self.seed,
            folder=self.folder,
            played=self.games,
        )

    def score(self, first: Contestant, second: Contestant, games: int) -> float:
        """Return the score of `first` against `second` after at least `games` games."""
        tournament = self.tournament((first, second), games)
        tournament.play(usable_cores())
        self.games = tournament.played
        score = float(np.mean([result.score(0) for result in tournament.results]))
        print(f"    {name_of(first)} against {name_of(second)}: {score:.1%}", flush=True)
        return score


def name_of(who: Contestant) -> str:
    """Return a name that distinguishes contestants."""
    if isinstance(who, str):
        return who
    values = dataclasses.asdict(who)
    return " ".join(f"{name}={value}" for name, value in values.items())


def weaker(
    measured: Measurement, above: float, options: argparse.Namespace, target: float, most: int
) -> float | None:
    """Return the strength at which a level loses to that at `above` as wanted, by bisection.

    None if even the weakest is too strong.
    """
    best = settings_at(above, most)
    low, high, guess = WEAKEST, above, max(above - 0.35, (WEAKEST + above) / 2)
    closest: tuple[float, float] | None = None
    while high - low > LEAST_STEP:
        settings = settings_at(guess, most)
        found = measured.score(best, settings, options.probe)
        if abs(found - target) < NEAR:
            found = measured.score(best, settings, options.games)
            distance = abs(found - target)
            if closest is None or distance < closest[0]:
                closest = distance, guess
            if distance <= CLOSE:
                return guess
        if found > target:
            low = guess
        else:
            high = guess
        guess = (low + high) / 2
    if closest is None and low == WEAKEST:
        return None
    return closest[1] if closest else guess


def find_levels(
    measured: Measurement, options: argparse.Namespace, most: int
) -> list[LevelSettings]:
    """Return the settings of the levels, the weakest first."""
    target, is_falling = options.target, False
    complete: list[LevelSettings] = []
    """the levels of the last target that had ten"""
    while True:
        print(f"  target {target:.0%}", flush=True)
        strengths = [STRONGEST]
        while len(strengths) < len(NAMES):
            found = weaker(measured, strengths[-1], options, target, most)
            if found is None:
                break
            strengths.append(found)
            print(f"  level {len(NAMES) + 1 - len(strengths)}: strength {found:.3f}", flush=True)
        levels = [settings_at(strength, most) for strength in reversed(strengths)]
        if len(levels) < len(NAMES):
            if complete:
                return complete
            if target - STEP < LEAST_TARGET:
                raise RunError("the scale has no room for ten levels with this target")
            target, is_falling = target - STEP, True
            continue
        complete = levels
        loses = measured.score(levels[0], ANCHOR, options.probe) < LOSING
        if loses or is_falling or target + STEP > HIGH:
            return levels
        target += STEP


def measure(path: Path, options: argparse.Namespace) -> None:
    """Choose, measure and write the levels of one checkpoint."""
    saved = load_checkpoint_player(path)
    most = options.most or STRONGEST_FACTOR * saved.settings.simulations
    measured = Measurement(saved, options.opening_moves, options.seed, options.folder)
    print(f"{path}", flush=True)
    levels = find_levels(measured, options, most)
    for index in range(len(levels) - 2):
        measured.score(levels[index + 2], levels[index], options.probe)
    scored = [(measured.score(level, ANCHOR, options.probe), level) for level in levels]
    near = [level for score, level in scored if LOSING < score < 1 - LOSING]
    for item in [*near, *levels[:2]]:
        measured.score(item, ANCHOR, options.games // 2)
    measured.score(levels[0], "random", options.probe)
    scores = [
        measured.score(above, below, options.games) for below, above in itertools.pairwise(levels)
    ]

    tournament = measured.tournament([ANCHOR, "random", *levels], options.games)
    rows = {row.name: row for row in standings(tournament)}
    rated = []
    for number, settings in enumerate(levels, 1):
        row = rows[name_of(settings)]
        low, high = (bound if np.isfinite(bound) else None for bound in (row.elo_low, row.elo_high))
        score = scores[number - 2] if number > 1 else None
        rated.append(Level(number, settings, row.elo, low, high, score))
    table = LevelTable(tuple(rated), ANCHOR, options.opening_moves)
    about = (
        f"Bradley-Terry ratings from {len(tournament.results):,} games; random has "
        f"{rows['random'].elo:+z.0f}; written by scripts/measure_levels.py"
    )
    player_hash = saved.checkpoint.player_hash
    save_levels(levels_file(saved.path), table, saved.game, player_hash, about)
    print("\n".join(describe_levels(table)))
    outside = [
        f"level {level.number} scores {level.score:.1%}"
        for level in rated
        if level.score is not None and not LOW <= level.score <= HIGH
    ]
    if outside:
        print(f"outside {LOW:.0%} to {HIGH:.0%}: {', '.join(outside)}")


def main() -> None:
    """Measure every checkpoint."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkpoints", nargs="+", type=Path, metavar="CHECKPOINT")
    parser.add_argument("--games", type=even_number, default=200, help="games of two neighbours")
    parser.add_argument("--probe", type=even_number, default=60, help="games of a first look")
    parser.add_argument("--target", type=share, default=0.68, help="score against the level below")
    parser.add_argument("--opening-moves", type=whole_number, default=2, help="random moves")
    parser.add_argument("--seed", type=whole_number, default=0)
    parser.add_argument("--folder", type=Path, help="keep the games there")
    parser.add_argument(
        "--most",
        type=positive_number,
        help=f"simulations of the strongest level (default: {STRONGEST_FACTOR} times training's)",
    )
    options = parser.parse_args()
    for path in options.checkpoints:
        measure(path, options)


if __name__ == "__main__":
    sys.exit(run_and_report(main))
