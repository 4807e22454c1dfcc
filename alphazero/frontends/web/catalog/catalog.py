"""The catalog of players, budgets, games and runs that the page offers.

The page refers to entries by name; a name is never used as a path.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from alphazero.drawing.palette import looks_of
from alphazero.errors import PlayerError, did_you_mean
from alphazero.frontends.web.catalog.ratings import Rating, RatingTable
from alphazero.games.game import Game
from alphazero.games.registry import game_names, make_game, write_game
from alphazero.games.results import title_of
from alphazero.players.checkpoint_player import describe
from alphazero.players.levels import Level
from alphazero.players.options import CheckpointOptions, NetworkOptions, RolloutOptions
from alphazero.players.registry import PlayerSpec, parse_player
from alphazero.records.archive import Archive

BUILTIN_PLAYERS: Final = ("random", "uct", "minimax:depth=2", "minimax:depth=4")
"""Players without a file."""

ROLLOUT_BUDGETS: Final = (100, 1000, 10_000)
"""Simulations that players without a network offer."""

CHECKPOINT_BUDGETS: Final = (0, 16, 64)
"""Simulations that a checkpoint offers, besides those derived from its training."""

BUDGET_OPTIONS: Final = ("simulations", "seconds")
"""Options by which the command line limits a player's moves."""


@dataclass(frozen=True)
class BudgetOption:
    """A budget per move, and the playing strength it gives."""

    label: str
    simulations: int | None = None
    seconds: float | None = None
    ratings: tuple[tuple[str, Rating], ...] = ()
    """by the game of the measurement"""

    def json(self) -> dict[str, Any]:
        return {
            "label": self.label,
            "simulations": self.simulations,
            "seconds": self.seconds,
            "by_game": {name: dataclasses.asdict(each) for name, each in self.ratings},
        }


@dataclass(frozen=True, eq=False)
class PlayerOption:
    """A player that the page offers."""

    name: str
    spec: PlayerSpec
    budgets: tuple[BudgetOption, ...]
    default_budget: BudgetOption
    """budget used when none is chosen"""

    @property
    def searches(self) -> bool:
        """Whether it has a search to show, and gives hints."""
        return self.spec.options.has_search

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels for people, the weakest first; only checkpoints that search have any."""
        table = self.spec.options.levels
        return table.levels if table else ()

    def json(self) -> dict[str, Any]:
        options, game = self.spec.options, self.spec.game
        about: list[str] = []
        if saved := options.saved:
            about = describe(Path(saved.path.name), saved.checkpoint).split("\n")
        return {
            "name": self.name,
            "game": write_game(game) if game else None,
            "free_options": [*game.observation_options, *game.variable_options] if game else [],
            "searches": self.searches,
            "budgets": [budget.json() for budget in self.budgets],
            "default_budget": self.budgets.index(self.default_budget),
            "levels": [
                {"number": each.number, "name": each.name, "strength": each.strength}
                for each in self.levels
            ],
            "own_level": getattr(options, "level", None),
            "has_own_budget": any(
                getattr(options, name, None) is not None for name in BUDGET_OPTIONS
            ),
            "about": about,
        }


class Catalog:
    """The players, games and runs of the server."""

    def __init__(
        self,
        specs: Sequence[PlayerSpec] = (),
        archives: Sequence[Archive] = (),
        ratings: RatingTable | None = None,
        games: Sequence[Game] = (),
    ) -> None:
        """`games` are offered besides those of the players and of the runs, and the usual ones."""
        self.ratings = ratings or RatingTable()
        self.players: dict[str, PlayerOption] = {}
        self.archives: dict[str, Archive] = {}
        for spec in (*specs, *map(parse_player, BUILTIN_PLAYERS)):
            if all(player.spec.name != spec.name for player in self.players.values()):
                name = _unused_name(short_name(spec), self.players)
                self.players[name] = self._make_option(name, spec)
        self.run_players: dict[str, str] = {}
        """names of runs' best players, by the names of the runs"""
        for archive in archives:
            name = _unused_name(archive.name, self.archives)
            self.archives[name] = archive
            for player in self.players.values():
                options = player.spec.options
                if options.path and Path(options.path) == archive.folder:
                    self.run_players[name] = player.name
        self.games = {name: make_game(name) for name in game_names()}
        fixed = [player.spec.game for player in self.players.values()]
        for game in (*games, *fixed, *(archive.game for archive in archives)):
            if game is not None:
                self.games.setdefault(write_game(game), game)

    def player(self, name: str, game: Game) -> PlayerOption:
        """Return a player by name.

        Raises:
            PlayerError: when there is none, or it does not play `game`.
        """
        player = self.players.get(name)
        if player is None:
            hint = did_you_mean(name, self.players)
            raise PlayerError(
                f"unknown player {name[:60]!a}{hint} (players: {', '.join(self.players)})"
            )
        own = player.spec.game
        if own is not None and not own.accepts(game):
            raise PlayerError(f"{name} plays {write_game(own)}, not {write_game(game)}")
        return player

    def reload(self, name: str) -> PlayerOption:
        """Return a player with its file read anew, for the same game; the catalog stays as it is.

        Raises:
            AlphaZeroError: when the file cannot be read.
        """
        before = self.players[name].spec
        spec = dataclasses.replace(before, options=dataclasses.replace(before.options))
        return self._make_option(name, spec if before.game is None else spec.on(before.game))

    def newest(self, player: PlayerOption) -> PlayerOption:
        """Return a player as it is now."""
        return self.players.get(player.name, player)

    def analysis_player(self, game: Game) -> PlayerOption:
        """Return the default analysis player of a game: a network if possible, else rollouts."""
        suitable = [
            player
            for player in self.players.values()
            if player.searches and player.spec.plays(game)
        ]
        return next((player for player in suitable if player.spec.game is not None), suitable[-1])

    def archives_of(self, game: Game) -> list[str]:
        """Return the names of the runs and files that hold games of `game`."""
        return [name for name, each in self.archives.items() if each.game.accepts(game)]

    def json(self) -> dict[str, Any]:
        return {
            "games": [
                {
                    "name": text,
                    "title": title_of(game),
                    "side_names": list(game.side_names),
                    "looks": list(looks_of(game)),
                    "options": game.options,
                }
                for text, game in self.games.items()
            ],
            "players": [player.json() for player in self.players.values()],
        }

    def _make_option(self, name: str, spec: PlayerSpec) -> PlayerOption:
        """Return a player with its budgets.

        The default one is that of its spec; at a level for people, that of training.
        """
        options, counts = spec.options, set[int]()
        if isinstance(options, NetworkOptions):
            default = self._budget(spec, 0)
        elif isinstance(options, CheckpointOptions):
            trained = options.saved.settings.simulations
            default = self._budget(spec, trained if options.level else options.budget.simulations)
            counts = {*CHECKPOINT_BUDGETS, trained, 4 * trained}
        elif isinstance(options, RolloutOptions):
            default = self._budget(spec, options.budget.simulations)
            counts = {*ROLLOUT_BUDGETS}
        else:
            default = BudgetOption(spec.name, ratings=self.ratings.of(spec, None))
        if default.simulations is not None:
            counts.add(default.simulations)
        budgets = [self._budget(spec, simulations) for simulations in sorted(counts)]
        if default not in budgets:
            budgets.append(default)
        return PlayerOption(name, spec, tuple(budgets), default)

    def _budget(self, spec: PlayerSpec, simulations: int | None) -> BudgetOption:
        """Return the budget of a number of simulations; None for the seconds of the spec."""
        options = spec.options
        if simulations is None:
            seconds: float = getattr(options, "seconds", None) or 1.0
            return BudgetOption(f"{seconds:g} second{'s' * (seconds != 1)}", seconds=seconds)
        label = f"{simulations:,} simulations" if simulations else "network alone"
        if options.saved and simulations == options.saved.settings.simulations:
            label += ", as in training"
        return BudgetOption(label, simulations, ratings=self.ratings.of(spec, simulations))


def short_name(spec: PlayerSpec) -> str:
    """Return a short name: a checkpoint's file or folder, else the spec."""
    options = spec.options
    if not options.path:
        return spec.name
    path = Path(options.path).resolve()
    if path.stem == "best":
        path = path.parent
    return path.name.removesuffix(".safetensors")


def _unused_name(name: str, names: Iterable[str]) -> str:
    """Return `name`, with a number appended if it is taken."""
    taken, number, candidate = set(names), 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name} ({number})"
    return candidate
