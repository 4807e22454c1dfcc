"""The catalog of players, levels, games and runs that the page offers.

The page refers to entries by name; a name is never used as a path.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from alphazero.errors import PlayerError, did_you_mean
from alphazero.frontends.web.ratings import Rating, RatingTable
from alphazero.frontends.web.run_records import Archive
from alphazero.games.game import Game
from alphazero.games.registry import game_names, make_game, write_game
from alphazero.players.checkpoint_player import describe
from alphazero.players.options import CheckpointOptions, NetworkOptions, RolloutOptions
from alphazero.players.registry import PlayerSpec, parse_player

ALWAYS: Final = ("random", "uct", "minimax:depth=2", "minimax:depth=4")
"""Players without a file."""

ROLLOUTS: Final = (100, 1000, 10_000)
"""Simulations of the levels of players without a network."""

SIMULATIONS: Final = (0, 16, 64)
"""Simulations of a checkpoint's levels, besides those derived from its training."""


@dataclass(frozen=True)
class Level:
    """A budget per move, and the playing strength it gives."""

    label: str
    simulations: int | None = None
    seconds: float | None = None
    ratings: tuple[tuple[str, Rating], ...] = ()
    """by the game of the measurement"""

    def json(self, game: Game | None) -> dict[str, Any]:
        """Return the JSON for the page; `game` is the player's only game, if any."""
        known = dict(self.ratings)
        usual = known.get(write_game(game)) if game else None
        return {
            "label": self.label,
            "simulations": self.simulations,
            "seconds": self.seconds,
            "elo": usual.elo if usual else None,
            "elo_low": usual.low if usual else None,
            "elo_high": usual.high if usual else None,
            "by_game": {name: dataclasses.asdict(rating) for name, rating in known.items()},
        }


@dataclass(frozen=True, eq=False)
class PlayerOption:
    """A player that the page offers."""

    name: str
    spec: PlayerSpec
    levels: tuple[Level, ...]
    default_level: Level
    """level used when none is chosen"""

    @property
    def searches(self) -> bool:
        """Whether it has a search to show, and gives hints."""
        return self.spec.options.has_search

    def json(self) -> dict[str, Any]:
        """Return the JSON for the page."""
        options, game = self.spec.options, self.spec.game
        about: list[str] = []
        if isinstance(options, CheckpointOptions):
            about = describe(Path(options.saved.path.name), options.saved.checkpoint).split("\n")
        return {
            "name": self.name,
            "game": write_game(game) if game else None,
            "searches": self.searches,
            "levels": [level.json(game) for level in self.levels],
            "usual": self.levels.index(self.default_level),
            "about": about,
        }


class Catalog:
    """The players, games and runs of the server."""

    def __init__(
        self,
        specs: Sequence[PlayerSpec] = (),
        archives: Sequence[Archive] = (),
        ratings: RatingTable | None = None,
    ) -> None:
        self.ratings = ratings or RatingTable()
        self.offers: dict[str, PlayerOption] = {}
        self.archives: dict[str, Archive] = {}
        for spec in (*specs, *map(parse_player, ALWAYS)):
            if all(offer.spec.name != spec.name for offer in self.offers.values()):
                name = _unused(short_name(spec), self.offers)
                self.offers[name] = self._offer(name, spec)
        for archive in archives:
            self.archives[_unused(archive.name, self.archives)] = archive
        self.games = {name: make_game(name) for name in game_names()}
        played = [offer.spec.game for offer in self.offers.values()]
        for game in (*played, *(archive.game for archive in archives)):
            if game is not None:
                self.games.setdefault(write_game(game), game)

    def offer(self, name: str, game: Game) -> PlayerOption:
        """Return the player `name`.

        Raises:
            PlayerError: when there is none, or it plays another game.
        """
        offer = self.offers.get(name)
        if offer is None:
            hint = did_you_mean(name, self.offers)
            raise PlayerError(
                f"unknown player {name[:60]!a}{hint} (players: {', '.join(self.offers)})"
            )
        own = offer.spec.game
        if own not in (None, game):
            assert own is not None
            raise PlayerError(f"{name} plays {write_game(own)}, not {write_game(game)}")
        return offer

    def analyst(self, game: Game) -> PlayerOption:
        """Return the default analysis player of a game: a network if possible, else rollouts."""
        able = [
            offer
            for offer in self.offers.values()
            if offer.searches and offer.spec.game in (None, game)
        ]
        return next((offer for offer in able if offer.spec.game is not None), able[-1])

    def json(self) -> dict[str, Any]:
        """Return the JSON for the page."""
        return {
            "games": [
                {
                    "name": text,
                    "title": text.partition(":")[0].replace("_", " ").title(),
                    "options": game.options,
                }
                for text, game in self.games.items()
            ],
            "players": [offer.json() for offer in self.offers.values()],
            "runs": [
                {"name": name, "game": write_game(archive.game)}
                for name, archive in self.archives.items()
            ],
        }

    def _offer(self, name: str, spec: PlayerSpec) -> PlayerOption:
        """Return a player with its levels; the default level is that of its spec."""
        options = spec.options
        levels: list[Level]
        usual = Level(spec.name)
        if isinstance(options, NetworkOptions):
            usual = self._level(spec, 0)
            levels = [usual]
        elif isinstance(options, CheckpointOptions):
            trained = options.saved.settings.simulations
            usual = self._level(spec, options.default_simulations)
            told = () if options.default_simulations is None else (options.default_simulations,)
            numbers = sorted({*SIMULATIONS, trained, 4 * trained, *told})
            levels = [self._level(spec, number) for number in numbers]
        elif isinstance(options, RolloutOptions):
            usual = self._level(spec, options.default_simulations)
            told = () if options.default_simulations is None else (options.default_simulations,)
            levels = [self._level(spec, number) for number in sorted({*ROLLOUTS, *told})]
        else:
            usual = dataclasses.replace(usual, ratings=self.ratings.of(spec, None))
            levels = [usual]
        if usual not in levels:
            levels.append(usual)
        return PlayerOption(name, spec, tuple(levels), usual)

    def _level(self, spec: PlayerSpec, simulations: int | None) -> Level:
        """Return the level of a number of simulations; None for the seconds of the spec."""
        options = spec.options
        if simulations is None:
            seconds: float = getattr(options, "seconds", None) or 1.0
            return Level(f"{seconds:g} seconds", seconds=seconds)
        label = f"{simulations:,} simulations" if simulations else "bare network"
        if isinstance(options, CheckpointOptions) and (
            simulations == options.saved.settings.simulations
        ):
            label += ", as in training"
        return Level(label, simulations, ratings=self.ratings.of(spec, simulations))


def short_name(spec: PlayerSpec) -> str:
    """Return a short name: a checkpoint's file or folder, else the spec."""
    options = spec.options
    if not isinstance(options, CheckpointOptions):
        return spec.name
    path = Path(options.path).resolve()
    if path.stem == "best":
        path = path.parent
    return path.name.removesuffix(".safetensors")


def _unused(name: str, names: Iterable[str]) -> str:
    """Return `name`, with a number appended if it is taken."""
    taken, number, tried = set(names), 1, name
    while tried in taken:
        number += 1
        tried = f"{name} ({number})"
    return tried
