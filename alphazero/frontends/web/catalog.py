"""The catalog: players, sides and games that the page offers.

The page names entries; a name is never used as a path.
"""

import contextlib
import dataclasses
import itertools
from collections.abc import Container, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from alphazero.errors import AlphaZeroError, GameError, PlayerError, did_you_mean
from alphazero.frontends.game_tree import PERSON
from alphazero.games.game import Game
from alphazero.games.registry import all_games, read_game, write_game
from alphazero.games.results import title_of
from alphazero.players.budget import NO_LIMIT, Budget
from alphazero.players.levels import Level, LevelSettings
from alphazero.players.registry import parse_player
from alphazero.players.specs import CheckpointSpec, PlayerSpec

BUILTIN_PLAYERS: Final = ("random", "uct", "minimax:depth=2", "minimax:depth=4")
"""Players without a file."""

USUAL_LEVEL: Final = 4
"""The level of a player whose spec sets neither a level nor a budget."""

MAX_CELLS: Final = 26 * 26
"""Maximum cells of a board that the page shows."""


@dataclass(frozen=True, eq=False)
class PlayerOption:
    """A player that the page offers."""

    name: str
    spec: PlayerSpec
    levels: tuple[Level, ...] = ()
    """the levels for people, the weakest first; none without a search"""
    stamp: Hashable = None
    """changes when the checkpoint's file is replaced; None without a file"""

    @classmethod
    def read(cls, name: str, spec: PlayerSpec) -> "PlayerOption":
        """Read the files of a player; raise AlphaZeroError for a damaged one."""
        stamp, table = _stamp(spec), spec.levels
        return cls(name, spec, table.levels if table else (), stamp)

    @property
    def default_budget(self) -> Budget:
        """The budget of its spec; at a level, the simulations of training."""
        if getattr(self.spec, "level", None) is not None and self.spec.saved:
            return Budget(self.spec.saved.settings.simulations)
        budget = self.spec.budget if self.spec.has_search else NO_LIMIT
        return budget if budget.simulations is None else Budget(budget.simulations)

    def json(self) -> dict[str, Any]:
        game = self.spec.game
        return {
            "name": self.name,
            "game": write_game(game) if game else None,
            "searches": self.spec.has_search,
            "levels": [
                {"number": level.number, "name": level.name, "strength": level.strength}
                for level in self.levels
            ],
        }


@dataclass(frozen=True)
class Side:
    """The player of one side; None for the user."""

    player: PlayerOption | None = None
    budget: Budget = NO_LIMIT
    level: int | None = None
    """a level for people, in place of a budget"""

    @classmethod
    def usual(cls, player: PlayerOption) -> "Side":
        """Return a player with the budget or level of its spec, else at `USUAL_LEVEL`."""
        limits = (getattr(player.spec, name, None) for name in ("simulations", "seconds"))
        if player.levels and all(limit is None for limit in limits):
            return cls(player, level=getattr(player.spec, "level", None) or USUAL_LEVEL)
        return cls(player, player.default_budget)

    @property
    def settings(self) -> LevelSettings | None:
        """The settings of its level; None without a level."""
        if self.player is None or self.level is None:
            return None
        return self.player.levels[self.level - 1].settings

    @property
    def title(self) -> str:
        """The side's name in files."""
        if self.player is None:
            return PERSON
        if not self.player.spec.has_search:
            return self.player.name
        if self.level is not None:
            return f"{self.player.name}, level {self.level}"
        return f"{self.player.name}, {self.budget}"

    def json(self) -> dict[str, Any]:
        player = PERSON if self.player is None else self.player.name
        return {"player": player, "level": self.level, **self.budget._asdict()}


class Catalog:
    """The players and games of the server."""

    def __init__(self, specs: Sequence[PlayerSpec] = (), games: Sequence[Game] = ()) -> None:
        """`games` come first, then those that a network plays, the others last."""
        self.players: dict[str, PlayerOption] = {}
        for spec in (*specs, *map(parse_player, BUILTIN_PLAYERS)):
            if all(player.spec.name != spec.name for player in self.players.values()):
                name = _unused_name(_short_name(spec), self.players)
                self.players[name] = PlayerOption.read(name, spec)
        own = list(filter(None, (player.spec.game for player in self.players.values())))
        by_title: dict[str, Game] = {}
        for game in (*games, *all_games(), *own):
            # Games of one title differ in nothing, or only in what the network observes.
            by_title.setdefault(title_of(game), game)
        ordered = sorted(
            by_title.values(),
            key=lambda game: game not in games and not any(each.accepts(game) for each in own),
        )
        self.games = {write_game(game): game for game in ordered}

    def player(self, name: str, game: Game) -> PlayerOption:
        """Return a player by name.

        Raise PlayerError when there is none, or it does not play `game`.
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
        return [player.name for player in self.players.values() if player.spec.plays(game)]

    def game(self, name: str) -> Game:
        """Return a game by name and options.

        Raise GameError when there is none, or its board is too large for the page.
        """
        return check_board_size(self.games.get(name) or read_game(name))

    def newest(self, player: PlayerOption) -> PlayerOption:
        """Return a player with its newest network; read its file again if it was replaced.

        A damaged file leaves the player as it is. May run on any thread.
        """
        player = self.players.get(player.name, player)
        before = player.spec
        if isinstance(before, CheckpointSpec) and _stamp(before) != player.stamp:
            with contextlib.suppress(AlphaZeroError):
                spec = dataclasses.replace(before, loaded=None).for_game(before.saved.game)
                player = self.players[player.name] = PlayerOption.read(player.name, spec)
        return player

    def analysis_player(self, game: Game) -> PlayerOption:
        """Return the default analysis player of a game: a network if possible, else rollouts."""
        players = [
            player
            for player in self.players.values()
            if player.spec.has_search and player.spec.plays(game)
        ]
        return next((player for player in players if player.spec.game is not None), players[0])

    def usual_sides(self, game: Game) -> list[Side]:
        return [Side(), Side.usual(self.analysis_player(game))]

    def json(self) -> dict[str, Any]:
        return {
            "games": [
                {"name": name, "title": title_of(game), "options": _options_of(game)}
                for name, game in self.games.items()
            ],
            "players": [player.json() for player in self.players.values()],
        }


def _options_of(game: Game) -> list[dict[str, Any]]:
    """Return the options of its rules; `words` are those of the values 0, 1, ..., or null."""
    return [
        {"name": name, "value": value, "words": game.option_words.get(name)}
        for name, value in game.options.items()
        if name not in game.observation_options
    ]


def check_board_size(game: Game) -> Game:
    """Return a game whose board the page can show; raise GameError for a larger board."""
    _, rows, columns = game.observation_shape
    if rows * columns > MAX_CELLS:
        raise GameError(f"the page shows boards of up to {MAX_CELLS} cells, not {rows * columns:,}")
    return game


def _stamp(spec: PlayerSpec) -> Hashable:
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


def _unused_name(name: str, names: Container[str]) -> str:
    """Return `name`, with a number appended if it is taken."""
    numbered = (f"{name} ({number})" for number in itertools.count(2))
    return next(text for text in itertools.chain([name], numbered) if text not in names)
