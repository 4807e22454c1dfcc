"""Choose and measure the ten levels of checkpoints, and write them beside each as .levels.json.

python scripts/measure_levels.py checkpoints/connect_four.safetensors --games 200 --folder games

The strongest level comes first. Each level below is found by bisection on the scale of
`levels.settings_at`, so that the level above scores `--target` against it. If the first level does
not lose to UCT with 100 rollouts, the target grows; if the scale ends too early, it falls. Ten
levels have room for 1,700 Elo; a player that is farther above UCT, as that of Go, needs `--most`.
Then the levels also play those two steps away, UCT and the random player, and Bradley-Terry ratings
are fitted to all games. With `--folder`, games are kept, and the same command goes on from them.
"""

import argparse
import dataclasses
import hashlib
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from alphazero.arena.bradley_terry import fit
from alphazero.arena.contests import play_match
from alphazero.arena.elo import pair_scores
from alphazero.arena.openings import random_opening
from alphazero.arena.tournament import results_of
from alphazero.cli.argument_types import even_number, positive_number, share, whole_number
from alphazero.cli.main import run_and_report
from alphazero.errors import RunError
from alphazero.games.game import value_of, win_rate
from alphazero.players.base import Player
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
from alphazero.records.game_record import Pairing
from alphazero.records.jsonl import load_games, save_games
from alphazero.records.played_game import PlayedGame
from alphazero.utils.shared_files import refuse

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


class Measurement:
    """Plays and keeps the games of one checkpoint's levels."""

    def __init__(
        self, saved: CheckpointPlayer, opening_moves: int, seed: int, folder: Path | None
    ) -> None:
        self.saved, self.game = saved, saved.game
        self.opening_moves, self.seed = opening_moves, seed
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / f"{saved.path.stem}.jsonl" if folder else None
        self.games = load_games(self.file, refuse) if self.file and self.file.exists() else []

    def score(self, first: Contestant, second: Contestant, games: int) -> float:
        """Return the score of `first` against `second` after at least `games` games."""
        names = name_of(first), name_of(second)
        begin = len(self._between(*names)) // 2
        if 2 * begin < games:
            self._play((first, second), range(begin, games // 2))
        scores = [
            win_rate(value_of(item.outcome, item.players.index(names[0])))
            for item in self._between(*names)
        ]
        return float(np.mean(scores))

    def _between(self, first: str, second: str) -> list[PlayedGame]:
        return [game for game in self.games if {first, second} == set(game.players)]

    def _play(self, contestants: tuple[Contestant, Contestant], pairs: range) -> None:
        """Play the pairs of games with these numbers; openings depend on names and numbers."""
        names = name_of(contestants[0]), name_of(contestants[1])
        digest = hashlib.sha256("\n".join(sorted(names)).encode()).digest()
        rng = np.random.default_rng([self.seed, int.from_bytes(digest[:8], "big"), pairs.start])
        schedule = []
        for pair in pairs:
            opening = random_opening(self.game, self.opening_moves, rng)
            schedule += [Pairing((0, 1), opening, pair), Pairing((1, 0), opening, pair)]

        def make_players(num_games: int) -> Sequence[Player]:
            return [
                self._create(contestant, num_games, rng.spawn(1)[0]) for contestant in contestants
            ]

        result, records = play_match(self.game, make_players, schedule)
        hashes = "", ""
        self.games += [PlayedGame.of(self.game, record, names, hashes) for record in records]
        if self.file:
            save_games(self.file, self.games)
        print(f"    {names[0]} against {names[1]}: {result}", flush=True)

    def _create(self, who: Contestant, num_games: int, rng: np.random.Generator) -> Player:
        if isinstance(who, str):
            return parse_player(who).create(self.game, num_games, rng)
        return self.saved.create(num_games, leaves=1, level=who, rng=rng)


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
    target, is_rising, is_falling = options.target, False, False
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
            if is_rising or target - STEP < LEAST_TARGET:
                raise RunError("the scale has no room for ten levels with this target")
            target, is_falling = target - STEP, True
            continue
        loses = measured.score(levels[0], ANCHOR, options.probe) < LOSING
        if loses or is_falling or target + STEP > HIGH:
            return levels
        target, is_rising = target + STEP, True


def measure(path: Path, options: argparse.Namespace) -> None:
    """Choose, measure and write the levels of one checkpoint."""
    saved = load_checkpoint_player(path)
    most = options.most or STRONGEST_FACTOR * saved.settings.simulations
    measured = Measurement(saved, options.opening_moves, options.seed, options.folder)
    print(f"{path}", flush=True)
    levels = find_levels(measured, options, most)
    for index in range(len(levels) - 2):
        measured.score(levels[index + 2], levels[index], options.probe)
    near = [level for level in levels if _is_near(measured, level, options.probe)]
    for item in [*near, *levels[:2]]:
        measured.score(item, ANCHOR, options.games // 2)
    measured.score(levels[0], "random", options.probe)
    scores = [
        measured.score(above, below, options.games) for below, above in itertools.pairwise(levels)
    ]

    names = [ANCHOR, "random", *map(name_of, levels)]
    games = [game for game in measured.games if {*game.players} <= {*names}]
    ratings = fit(len(names), pair_scores(saved.game, results_of(names, games)), anchor=0)
    rated = []
    for index, settings in enumerate(levels):
        low, high = float(ratings.low[index + 2]), float(ratings.high[index + 2])
        rated.append(
            Level(
                index + 1,
                settings,
                float(ratings.elo[index + 2]),
                low if np.isfinite(low) else None,
                high if np.isfinite(high) else None,
                scores[index - 1] if index else None,
            )
        )
    table = LevelTable(tuple(rated), ANCHOR, options.opening_moves)
    about = (
        f"Bradley-Terry ratings from {len(games):,} games; random has {ratings.elo[1]:+z.0f}; "
        "written by scripts/measure_levels.py"
    )
    save_levels(levels_file(saved.path), table, saved.game, saved.player_hash, about)
    print("\n".join(describe_levels(table)))
    outside = [
        f"level {level.number} scores {level.score:.1%}"
        for level in rated
        if level.score is not None and not LOW <= level.score <= HIGH
    ]
    if outside:
        print(f"outside {LOW:.0%} to {HIGH:.0%}: {', '.join(outside)}")


def _is_near(measured: Measurement, level: LevelSettings, games: int) -> bool:
    """Whether a level is about as strong as the anchor."""
    return LOSING < measured.score(level, ANCHOR, games) < 1 - LOSING


def main() -> None:
    """Measure every checkpoint."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
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
