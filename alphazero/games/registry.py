"""Games by name: those of this folder, and those that other packages bring.

A game registers its class with `register`; a file dropped into this folder is found by itself.
Another package names its game in the entry-point group `alphazero.games`:

    [project.entry-points."alphazero.games"]
    my_game = "my_package.my_game"       # a module that calls register("my_game")
"""

import functools
import importlib
import pkgutil
import re
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import entry_points
from pathlib import Path
from typing import TypeVar, cast

from alphazero.errors import GameError, did_you_mean
from alphazero.games.game import Game

Kind = TypeVar("Kind", bound=type[Game])

_registered: dict[str, tuple[type[Game], dict[str, int]]] = {}


def register(name: str, **defaults: int) -> Callable[[Kind], Kind]:
    """Register a class of games under `name`, with other defaults for its options if given."""

    def remember(kind: Kind) -> Kind:
        _registered[name] = (kind, defaults)
        return kind

    return remember


@functools.cache
def _import_all() -> None:
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"alphazero.games.{module.name}")
    for entry in entry_points(group="alphazero.games"):
        entry.load()


def game_names() -> list[str]:
    """Return the names of every registered game."""
    _import_all()
    return sorted(_registered)


def game_options(name: str) -> dict[str, int]:
    """Return the options that game `name` takes, with their defaults."""
    _import_all()
    if name not in _registered:
        hint = did_you_mean(name, _registered)
        raise GameError(
            f"unknown game '{name[:60]}'{hint} (known: {', '.join(sorted(_registered))})"
        )
    kind, defaults = _registered[name]
    own = {field.name: cast(int, field.default) for field in fields(kind)}
    return {**own, **defaults}


def make_game(name: str, **options: int | float | bool | str) -> Game:
    """Return the game called `name`.

    Raises:
        GameError: for an unknown game, an unknown option, an option out of its range, or a game
            that lacks a method that every game has.
    """
    known = game_options(name)
    for option, value in options.items():
        if option not in known:
            hint = did_you_mean(option, known)
            takes = ", ".join(known) or "none"
            raise GameError(f"{name} has no option '{option[:60]}'{hint} (options: {takes})")
        if type(value) is not type(known[option]):
            raise GameError(
                f"{name}'s option '{option}' must be {type(known[option]).__name__}, got {value!r}"
            )
    kind, chosen = _registered[name][0], cast(dict[str, int], {**known, **options})
    if kind.__abstractmethods__:
        raise GameError(f"{name} has no {', '.join(sorted(kind.__abstractmethods__))}")
    return kind(**chosen)


def read_game(text: str) -> Game:
    """Return the game written as `NAME` or `NAME:option=value,...`.

    Raises:
        GameError: as `make_game`, and for options that are not written so.
    """
    name, _, rest = text.partition(":")
    options = {}
    for part in rest.split(",") if rest else []:
        option, _, value = part.partition("=")
        if not re.fullmatch(r"-?[0-9]{1,9}", value):
            raise GameError(f"{name[:60]!r}: expected option=number, got {part[:60]!r}")
        options[option] = int(value)
    return make_game(name, **options)


def write_game(game: Game) -> str:
    """Return the shortest text that `read_game` turns into `game`.

    The name of its class where it was never registered.
    """
    _import_all()
    spellings = []
    for name, (kind, defaults) in _registered.items():
        if kind is type(game):
            usual = game_options(name)
            told = [f"{key}={value}" for key, value in game.options.items() if value != usual[key]]
            # Of equals the name with defaults of its own says most: tic_tac_toe rather than mnk.
            text = f"{name}:{','.join(told)}" if told else name
            spellings.append((len(told), -len(defaults), text))
    return min(spellings, default=(0, 0, type(game).__name__))[-1]


def name_of(game: Game) -> str:
    """Return the name that `write_game` uses, without options."""
    return write_game(game).partition(":")[0]
