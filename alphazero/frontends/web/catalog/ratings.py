"""Measured ratings, from the games folder or the table of `alphazero rate`."""

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Final, NamedTuple

from alphazero.arena.bradley_terry import fit
from alphazero.arena.tournament import GAMES_FILE, count_games
from alphazero.errors import PlayerError
from alphazero.games.game import ONGOING
from alphazero.games.registry import write_game
from alphazero.players.registry import PlayerSpec
from alphazero.records.jsonl import load_games
from alphazero.utils.files import is_folder, printable, read_limited

ANCHOR: Final = "random"
"""Player with rating 0 if it played; else the first player, as in `alphazero rate`."""

_SIZE_LIMIT: Final = 1 << 24
_OPTIONS = re.compile(r":(\w+=[^:/\\]*)$")


@dataclass(frozen=True)
class Rating:
    """Elo above the anchor, with its 95 % interval; an open end is None."""

    elo: float
    low: float | None
    high: float | None


class _Row(NamedTuple):
    game: str | None
    """None if the table has no game"""
    player: str
    """spec without options"""
    options: str
    fingerprint: str
    rating: Rating


class RatingTable:
    """Ratings of players by budget."""

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        """Load folders of `alphazero rate --folder` and tables of `--csv`.

        Raises:
            PlayerError, RunError: for other files, naming the place.
        """
        self._rows: list[_Row] = []
        for path in paths:
            file = path / GAMES_FILE if is_folder(path) else path
            self._rows += _from_games(file) if file.name == GAMES_FILE else _from_csv(file)

    def of(self, spec: PlayerSpec, simulations: int | None) -> tuple[tuple[str, Rating], ...]:
        """Return a player's ratings with a number of simulations, by game.

        `simulations` is None for the budget of its spec.

        A checkpoint is identified by its hash if the games hold it, else by its path.
        """
        options = spec.options
        player, own_options = split_name(spec.name)
        wanted = {own_options} if simulations is None else {f"simulations={simulations}"}
        if simulations is not None and simulations == options.budget.simulations:
            wanted.add("")
        ratings = {}
        for row in self._rows:
            same, game = row.player == player, row.game
            if saved := options.saved:
                game = game or write_game(saved.game)
                same = same or Path(row.player) == saved.path
                if row.fingerprint:
                    same = row.fingerprint == spec.player_hash
            if same and row.options in wanted and game is not None:
                ratings[game] = row.rating
        return tuple(ratings.items())


def split_name(name: str) -> tuple[str, str]:
    """Split a player spec into the player and its options, which may be empty."""
    if name.startswith("network:"):
        return name.removeprefix("network:"), "simulations=0"
    options = _OPTIONS.search(name)
    return (name[: options.start()], options[1]) if options else (name, "")


def _rating(elo: float, low: float, high: float) -> Rating:
    """Return a rating of `fit` or a table, where an infinite end is an open one."""
    return Rating(elo, None if low == -math.inf else low, None if high == math.inf else high)


def _from_games(path: Path) -> list[_Row]:
    games = [each for each in load_games(path) if each.outcome != ONGOING]
    names = list(dict.fromkeys(name for each in games for name in each.players))
    if len(names) < 2 or any(each.game != games[0].game for each in games):
        raise PlayerError(
            f"{printable(path)}: ratings need at least two players and a single game; expected "
            "the folder of `alphazero rate --folder`"
        )
    hashes: dict[str, str] = {}
    for each in games:
        hashes |= zip(each.players, each.player_hashes, strict=True)
    anchor = names.index(ANCHOR) if ANCHOR in names else 0
    fitted = fit(count_games(names, games), anchor)
    return [
        _Row(write_game(games[0].game), *split_name(name), hashes[name], _rating(*map(float, each)))
        for name, *each in zip(names, fitted.elo, fitted.low, fitted.high, strict=True)
    ]


def _from_csv(path: Path) -> list[_Row]:
    text = read_limited(path, _SIZE_LIMIT).decode("utf-8", "replace")
    rows = []
    try:
        lines = csv.DictReader(io.StringIO(text), strict=True)
        if "player" not in (lines.fieldnames or ()):
            raise ValueError("it has no column 'player'")
        for number, line in enumerate(lines, 2):
            rating = _rating(*(float(line[name]) for name in ("elo", "elo_low", "elo_high")))
            if not all(math.isfinite(each) for each in astuple(rating) if each is not None):
                raise ValueError(f"line {number} has a rating that is not finite")
            rows.append(_Row(None, *split_name(line["player"]), "", rating))
    except (csv.Error, KeyError, TypeError, ValueError) as error:
        raise PlayerError(
            f"{printable(path)}: no ratings; expected a table of `alphazero rate --csv`, or the "
            f"folder of --folder: "
            f"{ascii(str(error))[1:-1][:200]}"
        ) from error
    return rows
