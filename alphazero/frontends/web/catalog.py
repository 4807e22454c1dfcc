"""The catalog of players and games that the page offers.

The page refers to entries by name; a name is never used as a path.
"""

import dataclasses
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from alphazero.drawing.palette import looks_of
from alphazero.errors import AlphaZeroError, PlayerError, did_you_mean
from alphazero.games.game import Game
from alphazero.games.registry import game_names, make_game, write_game
from alphazero.games.results import title_of
from alphazero.players.budget import NO_LIMIT, Budget
from alphazero.players.levels import Level
from alphazero.players.registry import parse_player
from alphazero.players.specs import CheckpointSpec, PlayerSpec

BUILTIN_PLAYERS: Final = ("random", "uct", "minimax:depth=2", "minimax:depth=4")
"""Players without a file."""


@dataclass(frozen=True, eq=False)
class PlayerOption:
    """A player that the page offers."""

    name: str
    spec: PlayerSpec
    stamp: Hashable = None
    """differs once the checkpoint's file has been replaced; None without a file"""

    @property
    def searches(self) -> bool:
        """Whether it has a search to show, and gives hints."""
        return self.spec.has_search

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels for people, the weakest first; only checkpoints that search have any."""
        table = self.spec.levels
        return table.levels if table else ()

    @property
    def own_level(self) -> int | None:
        """The level that its spec has set."""
        return getattr(self.spec, "level", None)

    @property
    def has_own_budget(self) -> bool:
        """Whether its spec has set simulations or seconds."""
        names = "simulations", "seconds"
        return any(getattr(self.spec, name, None) is not None for name in names)

    @property
    def default_budget(self) -> Budget:
        """Simulations or seconds per move when none are chosen; at a level, those of training."""
        if self.own_level is not None and self.spec.saved:
            return Budget(self.spec.saved.settings.simulations)
        budget = self.spec.budget if self.searches else NO_LIMIT
        return budget if budget.simulations is None else Budget(budget.simulations)

    def json(self) -> dict[str, Any]:
        game = self.spec.game
        return {
            "name": self.name,
            "game": write_game(game) if game else None,
            "searches": self.searches,
            "levels": [
                {"number": each.number, "name": each.name, "strength": each.strength}
                for each in self.levels
            ],
        }


class Catalog:
    """The players and games of the server."""

    def __init__(self, specs: Sequence[PlayerSpec] = (), games: Sequence[Game] = ()) -> None:
        """`games` are offered besides those of the players and the usual ones."""
        self.players: dict[str, PlayerOption] = {}
        for spec in (*specs, *map(parse_player, BUILTIN_PLAYERS)):
            if all(player.spec.name != spec.name for player in self.players.values()):
                name = _unused_name(_short_name(spec), self.players)
                self.players[name] = PlayerOption(name, spec, _stamp(spec))
        self.games = {name: make_game(name) for name in game_names()}
        for game in (*games, *(player.spec.game for player in self.players.values())):
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

    def names_for(self, game: Game) -> list[str]:
        """Return the names of the players that play a game."""
        return [each.name for each in self.players.values() if each.spec.plays(game)]

    def newest(self, player: PlayerOption) -> PlayerOption:
        """Return a player as it is now, with the newest best network of a run.

        Reads its file if that was replaced, for the same game; may run on any thread.
        """
        player = self.players.get(player.name, player)
        before, stamp = player.spec, _stamp(player.spec)
        if stamp == player.stamp or not isinstance(before, CheckpointSpec):
            return player
        try:
            spec = dataclasses.replace(before, loaded=None).for_game(before.saved.game)
        except AlphaZeroError:  # damaged or removed meanwhile: the old one plays on
            return player
        self.players[player.name] = PlayerOption(player.name, spec, stamp)
        return self.players[player.name]

    def analysis_player(self, game: Game) -> PlayerOption:
        """Return the default analysis player of a game: a network if possible, else rollouts."""
        suitable = [
            player
            for player in self.players.values()
            if player.searches and player.spec.plays(game)
        ]
        return next((player for player in suitable if player.spec.game is not None), suitable[-1])

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


def _stamp(spec: PlayerSpec) -> Hashable:
    """Return a value that differs once a checkpoint's file was replaced; None without a file."""
    if spec.saved is None:
        return None
    try:
        status = spec.saved.path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _short_name(spec: PlayerSpec) -> str:
    """Return a short name: a checkpoint's file or folder, else the spec."""
    if not isinstance(spec, CheckpointSpec):
        return spec.name
    path = Path(spec.subject).resolve()
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
