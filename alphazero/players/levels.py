"""Ten levels for people, from *first game* to *strongest*: settings, ratings and their file.

`scripts/measure_levels.py` chooses the settings of a checkpoint, measures them in a tournament and
writes both beside it: `connect_four.levels.json` for `connect_four.safetensors`. A checkpoint
without this file has default levels, the same for every game and not measured.
"""

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from alphazero.config.fields import (
    REQUIRED,
    Field,
    WrongValueError,
    check_value,
    config_field,
    config_fields,
)
from alphazero.errors import PlayerError
from alphazero.games.game import Game
from alphazero.games.registry import write_game
from alphazero.mcts.kernels.root import RootStatistics
from alphazero.mcts.move_selection import sample_actions
from alphazero.utils.checked_json import field, parse_object, typed
from alphazero.utils.files import printable, read_limited, write_atomic

NAMES: Final = (
    *("first game", "beginner", "learner", "casual", "steady"),
    *("regular", "experienced", "advanced", "expert", "strongest"),
)
"""Names of the levels from 1 on."""

SUFFIX: Final = ".levels.json"
FORMAT: Final = "alphazero-levels"

OPENING_MOVES: Final = 4
"""Plies in which a level that searches draws its moves, so that its games differ."""

OPENING_TEMPERATURE: Final = 0.5

WEAKEST, RAW_NETWORK, SEARCH, STRONGEST = 0.0, 1.0, 2.0, 3.0
"""Marks on the scale of `settings_at`."""

UNMEASURED: Final = (0.3, 0.5, 0.7, 0.85, 1.0, 1.35, 1.7, 2.2, 2.6, 3.0)
"""The default levels, on the scale of `settings_at`."""

STRONGEST_FACTOR: Final = 4
"""Simulations of the strongest level, as a multiple of those in training."""

_SIZE_LIMIT: Final = 1 << 16


@dataclass(frozen=True)
class LevelSettings:
    """How a level plays."""

    simulations: int = config_field(REQUIRED, "0: the network alone", at_least=0, at_most=10**6)
    temperature: float = config_field(
        0.0, "of moves drawn from the network's policy", at_least=0, at_most=100
    )
    sampled_moves: int | None = config_field(
        0, "plies in which moves are drawn; null: all", at_least=0, at_most=10**6
    )
    random_moves: float = config_field(
        0.0, "share of moves that are any legal one", at_least=0, at_most=1
    )

    def choose(
        self, ply: int, action: int, roots: RootStatistics, index: int, rng: np.random.Generator
    ) -> int:
        """Return this level's move at root `index` of `roots`, where the search plays `action`."""
        legal, priors = roots.actions[index, : roots.counts[index]], roots.priors[index]
        if self.random_moves and rng.random() < self.random_moves:
            return int(rng.choice(legal))
        if self.temperature and (self.sampled_moves is None or ply < self.sampled_moves):
            return int(legal[sample_actions(priors[None], np.array([self.temperature]), rng)[0]])
        return action


def settings_at(strength: float, most_simulations: int) -> LevelSettings:
    """Return the settings at a strength from `WEAKEST` to `STRONGEST`, each stronger than the last.

    Below `RAW_NETWORK` a share of the moves is random, the others are drawn from the network's
    policy. Up to `SEARCH` the temperature falls to 0. Then the simulations grow, evenly in their
    logarithm, to `most_simulations`; only the strongest draws no moves in the opening.
    """
    if strength < RAW_NETWORK:
        return LevelSettings(0, 1.0, None, round(RAW_NETWORK - strength, 3))
    if strength < SEARCH:
        return LevelSettings(0, round(SEARCH - strength, 3), None)
    if strength >= STRONGEST:
        return LevelSettings(most_simulations)
    simulations = round(most_simulations ** (strength - SEARCH))
    return LevelSettings(simulations, OPENING_TEMPERATURE, OPENING_MOVES)


@dataclass(frozen=True)
class Level:
    """One of a checkpoint's levels."""

    number: int
    """from 1"""
    settings: LevelSettings
    elo: float | None = config_field(None, "rating where the table's anchor has 0")
    elo_low: float | None = config_field(None, "lower end of its 95 % interval, unless open")
    elo_high: float | None = config_field(None, "upper end of its 95 % interval, unless open")
    score: float | None = config_field(None, "measured score against the level below")

    @property
    def name(self) -> str:
        return NAMES[self.number - 1]

    @property
    def strength(self) -> str:
        """The rating and its interval in words."""
        if self.elo is None:
            return "not measured"
        low = "open" if self.elo_low is None else f"{self.elo_low:+z.0f}"
        high = "open" if self.elo_high is None else f"{self.elo_high:+z.0f}"
        return f"Elo {self.elo:+z.0f} ({low} to {high})"


_SETTINGS, _RATINGS = config_fields(LevelSettings), config_fields(Level)


@dataclass(frozen=True)
class LevelTable:
    """The levels of a checkpoint, the weakest first."""

    levels: tuple[Level, ...]
    anchor: str = ""
    """the player with rating 0; empty if not measured"""
    opening_moves: int = 0
    """random moves at the start of each measured pair of games"""

    def level(self, number: int) -> Level:
        """Return a level; raise PlayerError when there is none."""
        if not 1 <= number <= len(self.levels):
            raise PlayerError(f"level: expected 1 to {len(self.levels)}, got {number}")
        return self.levels[number - 1]


@functools.lru_cache(maxsize=64)
def default_levels(trained_simulations: int) -> LevelTable:
    """Return the levels of a checkpoint whose levels were not measured."""
    most = STRONGEST_FACTOR * max(trained_simulations, 1)
    settings = [settings_at(strength, most) for strength in UNMEASURED]
    return LevelTable(tuple(Level(*level) for level in enumerate(settings, 1)))


# --- the file ------------------------------------------------------------------------------------


def levels_file(checkpoint: Path) -> Path:
    """Return where a checkpoint's levels are kept."""
    return checkpoint.with_name(checkpoint.stem + SUFFIX)


def save_levels(path: Path, table: LevelTable, game: Game, player_hash: str, about: str) -> None:
    """Write levels; `about` says how it was measured.

    Raises RunError when it cannot be written.
    """
    rows = [_row_of(level.settings) | _row_of(level) for level in table.levels]
    head = {
        "format": FORMAT,
        "about": about,
        "game": write_game(game),
        "player": player_hash,
        "anchor": table.anchor,
        "opening_moves": table.opening_moves,
    }
    lines = ",\n".join(f"    {json.dumps(row)}" for row in rows)
    text = json.dumps(head, indent=2)[:-2] + f',\n  "levels": [\n{lines}\n  ]\n}}\n'
    write_atomic(path, text.encode())


def copy_levels(checkpoint: Path, player_hash: str, copy: Path, copy_hash: str) -> None:
    """Give the measured levels of a checkpoint to a copy of it, whose header and hash differ.

    Raises RunError when a file cannot be read or written.
    """
    if levels_file(checkpoint).is_file():
        data, player = read_limited(levels_file(checkpoint), _SIZE_LIMIT), '"player": "%s"'
        old, new = ((player % digest).encode() for digest in (player_hash, copy_hash))
        if old in data:
            write_atomic(levels_file(copy), data.replace(old, new))


def load_levels(path: Path, game: Game, player_hash: str) -> LevelTable | None:
    """Read levels; None if there are none, or they are of another file or another game.

    Raises PlayerError for a file that holds no levels, and RunError when it cannot be read.
    """
    if not path.is_file():
        return None
    data = read_limited(path, _SIZE_LIMIT)
    try:
        content = parse_object(data)
        if field(content, "format", str) != FORMAT:
            raise ValueError(f"format: expected {FORMAT}")
        rows = field(content, "levels", list)
        if len(rows) != len(NAMES):
            raise ValueError(f"levels: expected {len(NAMES)}, got {len(rows)}")
        levels = tuple(_read_level(number, row) for number, row in enumerate(rows, 1))
        anchor, moves = field(content, "anchor", str), field(content, "opening_moves", int)
        owner = field(content, "player", str), field(content, "game", str)
        is_own = owner == (player_hash, write_game(game))
        return LevelTable(levels, anchor, moves) if is_own else None
    except (KeyError, TypeError, ValueError) as error:
        raise PlayerError(
            f"{printable(path)}: no levels: {ascii(str(error))[1:-1][:200]}; remove the file, or "
            "write it again by scripts/measure_levels.py"
        ) from None


def _row_of(section: LevelSettings | Level) -> dict[str, float | None]:
    fields = config_fields(type(section))
    values = {field.name: getattr(section, field.name) for field, _, _ in fields}
    return {name: round(v, 3) if isinstance(v, float) else v for name, v in values.items()}


def _read_level(number: int, row: Any) -> Level:
    names = {field.name for field, _, _ in (*_SETTINGS, *_RATINGS)}
    if typed(row, dict).keys() != names:
        raise ValueError(f"level {number}: expected {', '.join(sorted(names))}")

    def values(fields: list[Field]) -> dict[str, Any]:
        return {
            field.name: check_value(kind, note, row[field.name]) for field, kind, note in fields
        }

    try:
        return Level(number, LevelSettings(**values(_SETTINGS)), **values(_RATINGS))
    except WrongValueError as error:
        raise ValueError(f"level {number}: {error}") from None


def describe_levels(table: LevelTable) -> Sequence[str]:
    """Return a line for each level: its name and its rating."""
    width = max(map(len, NAMES))
    lines = [f"{level.number:2}  {level.name:{width}}  {level.strength}" for level in table.levels]
    return [*lines, f"Elo 0 is {table.anchor}"] if table.anchor else lines
