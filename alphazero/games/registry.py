"""The registry of games: the modules of this folder and plug-in packages.

A game registers its class with `register`; modules in this folder are found automatically. Another
package names its game in the entry-point group `alphazero.games`:

    [project.entry-points."alphazero.games"]
    my_game = "my_package.my_game"       # a module that calls register("my_game")

If that module fails, one line on stderr gives the reason, and the other games stay available. A
module of this folder that fails raises GameError when its game is asked for.
"""

import functools
import importlib
import re
import sys
import traceback
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TypeVar, cast

import numba

from alphazero.errors import GameError, did_you_mean
from alphazero.games.game import Game
from alphazero.utils.jit import deferred_compilation

Kind = TypeVar("Kind", bound=type[Game])

_registered: dict[str, tuple[type[Game], dict[str, int]]] = {}
_broken: dict[str, str] = {}
"""Reasons why plug-ins could not be loaded, by the name of the entry point."""

_REASON_LIMIT = 300


def register(name: str, **defaults: int) -> Callable[[Kind], Kind]:
    """Register a class of games under `name`, with other option defaults if given.

    Raises GameError for anything but a subclass of Game, or a name that another class has.
    """

    def add(kind: Kind) -> Kind:
        if not (isinstance(kind, type) and issubclass(kind, Game)):
            raise GameError(f"register({name!r}): expected a subclass of Game, got {kind!r}")
        place = f"{kind.__module__}.{kind.__qualname__}"
        known = _registered.get(name, (kind, {}))[0]
        # The same name in the same module is a new version of the class, as in a notebook.
        taken = {f"{known.__module__}.{known.__qualname__}"} - {place}
        taken |= {_own_games().get(name, kind.__module__)} - {kind.__module__}
        if taken:
            raise GameError(f"the name {name!r} is taken by {min(taken)}; choose another")
        _registered[name] = (kind, defaults)
        return kind

    return add


@functools.cache
def _own_games() -> dict[str, str]:
    """Return the module of each game of this folder, by name, as found in the source texts.

    Importing a game compiles its rules, which takes seconds if they are not cached. So a mistyped
    name needs no import, and a game is imported without the others.
    """
    package = Path(__file__).parents[2]
    return {
        name: ".".join(file.relative_to(package).with_suffix("").parts)
        for file in sorted(Path(__file__).parent.rglob("*.py"))
        for name in re.findall(
            r'^@register\("(\w+)"', file.read_text("utf-8", "replace"), re.MULTILINE
        )
    }


@functools.cache
def _import_plug_ins() -> None:
    for entry in entry_points(group="alphazero.games"):
        _load_plug_in(entry)


def _load_plug_in(entry: EntryPoint) -> None:
    """Load a plug-in's games; if that fails, skip them and print the reason on stderr."""
    before = dict(_registered)
    try:
        entry.load()
        own = [name for name, (kind, _) in _registered.items() if kind.__module__ == entry.module]
        if not own and before.keys() == _registered.keys():
            raise GameError(f"{entry.value} registers no game; decorate a class with `register`")
    # SystemExit too: the module may be a script that calls `sys.exit`.
    except (Exception, SystemExit) as error:
        _registered.clear()
        _registered.update(before)
        package = f"package {entry.dist.name} {entry.dist.version}" if entry.dist else "a package"
        place = _place(error, _is_foreign) or entry.value
        _broken[entry.name] = f"{package}, {place}: {_reason(error)}"
        print(f"skipped game {entry.name!r} of {_broken[entry.name]}", file=sys.stderr)


def _import_own(module: str, name: str) -> None:
    """Import a module of this folder; raise GameError with the place and reason if that fails."""
    try:
        with deferred_compilation():  # `make_game` checks the options before it compiles
            importlib.import_module(module)
    except (Exception, SystemExit) as error:
        file = f"{module.replace('.', '/')}.py"
        place = _place(error, lambda path: path.match(file)) or module
        raise GameError(f"game {name!r} cannot be loaded: {place}: {_reason(error)}") from error


def _place(error: BaseException, is_game: Callable[[Path], bool]) -> str:
    """Return the file and line of a game that raised an error; empty if no `is_game` file did."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if is_game(Path(frame.filename)):
            return f"{frame.filename}:{frame.lineno}"
    return ""


def _is_foreign(file: Path) -> bool:
    """Whether a file belongs to neither Python's imports, this package nor numba."""
    own = Path(__file__).parents[1], Path(numba.__file__).parent
    return (
        file.is_absolute()
        and "importlib" not in file.parts
        and not any(map(file.is_relative_to, own))
    )


def _reason(error: BaseException) -> str:
    text = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", str(error)).split())
    text = "".join(c if c.isprintable() else " " for c in text)[:_REASON_LIMIT]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def game_names() -> list[str]:
    """Return the names of all registered games."""
    _import_plug_ins()
    return sorted({*_own_games(), *_registered})


def game_options(name: str) -> dict[str, int]:
    """Return the options of game `name` with their defaults; raise GameError if it is unknown."""
    if name in _own_games():
        _import_own(_own_games()[name], name)
    elif name not in _registered:
        _import_plug_ins()
    if name not in _registered:
        if name in _broken:
            raise GameError(f"game {name!r} cannot be loaded: {_broken[name]}")
        hint = did_you_mean(name, game_names())
        raise GameError(f"unknown game '{name[:60]}'{hint} (known: {', '.join(game_names())})")
    kind, defaults = _registered[name]
    own = {field.name: cast(int, field.default) for field in fields(kind)}
    return {**own, **defaults}


def make_game(name: str, **options: int | float | bool | str) -> Game:
    """Return the game called `name`.

    Raises GameError for an unknown game, an unknown option or one out of its range, a missing
    method, or rules that cannot be compiled.
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
    game = kind(**chosen)
    try:
        _ = game.rules
    except Exception as error:
        # numba's TypeError wraps its own errors; `check_game` reports other faults of the rules.
        if "Failed in nopython mode" in str(error):
            file = getattr(sys.modules.get(kind.__module__), "__file__", None) or kind.__module__
            raise GameError(
                f"the rules of {name} cannot be compiled: {file}: {_reason(error)}"
            ) from error
    return game


def read_game(text: str) -> Game:
    """Return the game written as `NAME` or `NAME:option=value,...`.

    Raises GameError as `make_game`, and for malformed options.
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
    """Return the shortest text from which `read_game` makes `game`.

    For an unregistered game this is the name of its class.
    """
    _import_plug_ins()
    spellings = []
    for name, (kind, defaults) in list(_registered.items()):
        if kind is type(game):
            usual = game_options(name)
            given = [f"{key}={value}" for key, value in game.options.items() if value != usual[key]]
            # Among equally short texts, prefer a name with own defaults: tic_tac_toe over mnk.
            text = f"{name}:{','.join(given)}" if given else name
            spellings.append((len(given), -len(defaults), text))
    return min(spellings, default=(0, 0, type(game).__name__))[-1]


def name_of(game: Game) -> str:
    """Return the name that `write_game` uses, without options."""
    return write_game(game).partition(":")[0]
