"""Games by name: those of this folder, and those that other packages bring.

A game registers its class with `register`; a file dropped into this folder is found by itself.
Another package names its game in the entry-point group `alphazero.games`:

    [project.entry-points."alphazero.games"]
    my_game = "my_package.my_game"       # a module that calls register("my_game")
"""

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable
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
        raise GameError(f"unknown game '{name}'{hint} (known: {', '.join(sorted(_registered))})")
    kind, defaults = _registered[name]
    own = {field.name: cast(int, field.default) for field in fields(kind)}
    return {**own, **defaults}


def make_game(name: str, **options: int | float | bool | str) -> Game:
    """Return the game called `name`.

    Raises:
        GameError: for an unknown game, an unknown option, or an option out of its range.
    """
    known = game_options(name)
    for option, value in options.items():
        if option not in known:
            hint = did_you_mean(option, known)
            takes = ", ".join(known) or "none"
            raise GameError(f"{name} has no option '{option}'{hint} (options: {takes})")
        if type(value) is not type(known[option]):
            raise GameError(
                f"{name}'s option '{option}' must be {type(known[option]).__name__}, got {value!r}"
            )
    chosen = cast(dict[str, int], {**known, **options})
    return _registered[name][0](**chosen)


def read_game(name: str, words: Iterable[str]) -> Game:
    """Return the game called `name` with options that were typed as `option=value`.

    Raises:
        GameError: as `make_game` does, and for a word that is no option.
    """
    known, options = game_options(name), dict[str, int]()
    for word in words:
        option, sign, text = word.partition("=")
        plain = text.removeprefix("-")
        if not sign or (
            option in known and not (plain.isascii() and plain.isdigit() and len(plain) < 10)
        ):
            raise GameError(
                f"{word[:40]!r} is no option of {name}: type option=number "
                f"(options: {', '.join(known) or 'none'})"
            )
        options[option] = int(text) if option in known else 0
    return make_game(name, **options)
