"""The registry of games: the modules of this folder and plug-in packages.

A game registers its class with `register`; modules in this folder are found automatically. Another
package names its game in the entry-point group `alphazero.games`:

    [project.entry-points."alphazero.games"]
    my_game = "my_package.my_game"       # a module that calls register("my_game")

If that module fails, the other games stay available, and a list of games begins with one line on
stderr that gives the reason. Asked for, a game that fails, here or there, raises GameError.
"""

import functools
import importlib
import re
import sys
from collections.abc import Callable
from dataclasses import fields
from importlib.metadata import EntryPoint, entry_points
from inspect import get_annotations
from pathlib import Path
from typing import Any, TypeVar, cast

from alphazero.errors import GameError, did_you_mean
from alphazero.games.compiled_rules import Signature
from alphazero.games.game import Game

Kind = TypeVar("Kind", bound=type[Game])

_registered: dict[str, tuple[type[Game], dict[str, int]]] = {}
_broken: dict[str, str] = {}
"""Reasons why plug-ins could not be loaded, by the name of the entry point."""


def register(name: str, **defaults: int) -> Callable[[Kind], Kind]:
    """Register a class of games under `name`, with other option defaults if changes.

    Raises GameError for anything but a subclass of Game, a name with other characters or that
    another class has, and options that are no fields of a dataclass or have no default.
    """

    def add(kind: Kind) -> Kind:
        if not (isinstance(kind, type) and issubclass(kind, Game)):
            raise GameError(f"register({name!r}): expected a subclass of Game, got {kind!r}")
        if not (isinstance(name, str) and re.fullmatch(r"[\w-]{1,60}", name)):
            raise GameError(f"register({name!r}): a name has letters, digits, - and _, at most 60")
        options = {option.name: option.default for option in fields(kind)}
        marked = {key for key, type_ in get_annotations(kind).items() if type_ in (int, "int")}
        if unknown := (defaults.keys() | marked) - options.keys():
            raise GameError(
                f"register({name!r}): {kind.__name__} has no option {min(unknown)!r}; options are "
                "the fields of a class with @dataclass(frozen=True), below @register"
            )
        for option, default in (options | defaults).items():
            if type(default) is not int:
                raise GameError(
                    f"register({name!r}): the option {option!r} needs an int as default"
                )
        place = f"{kind.__module__}.{kind.__qualname__}"
        owner = _registered.get(name, (kind, {}))[0]
        # The same name in the same module is a new version of the class, as in a notebook.
        taken = {f"{owner.__module__}.{owner.__qualname__}"} - {place}
        taken |= {_own_games().get(name, kind.__module__)} - {kind.__module__}
        if taken:
            raise GameError(f"the name {name!r} is taken by {min(taken)}; choose another")
        _registered[name] = (kind, defaults)
        return kind

    return add


@functools.cache
def _own_games() -> dict[str, str]:
    """Return the module of each game of this folder, by name, as found in the source texts.

    So a mistyped name needs no import, and a game is imported without the others.
    """
    package = Path(__file__).parents[2]
    return {
        name: ".".join(file.relative_to(package).with_suffix("").parts)
        for file in sorted(Path(__file__).parent.rglob("*.py"))
        for name in re.findall(
            r"""^@register\(\s*["']([\w-]+)["']""", file.read_text("utf-8", "replace"), re.MULTILINE
        )
    }


@functools.cache
def _import_plug_ins() -> None:
    for entry in entry_points(group="alphazero.games"):
        _load_plug_in(entry)


def _load_plug_in(entry: EntryPoint) -> None:
    """Load a plug-in's games; if that fails, skip them and keep the reason in `_broken`."""
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
        from alphazero.utils.plug_ins import explain_failure

        _broken[entry.name] = explain_failure(entry, error)


def _import_own(module: str, name: str) -> None:
    """Import a module of this folder; raise GameError with the place and reason if that fails."""
    try:
        importlib.import_module(module)
    except (Exception, SystemExit) as error:
        from alphazero.utils.plug_ins import place_of, reason_of

        file = f"{module.replace('.', '/')}.py"
        place = place_of(error, lambda path: path.match(file), module)
        raise GameError(f"game {name!r} cannot be loaded: {place}: {reason_of(error)}") from error


@functools.cache
def _report_broken() -> None:
    for name, reason in _broken.items():
        print(f"skipped game {name!r} of {reason}", file=sys.stderr)


def game_names() -> list[str]:
    """Return the names of all registered games; what is missing is reported once, on stderr."""
    _import_plug_ins()
    _report_broken()
    return sorted({*_own_games(), *_registered})


def all_games() -> list[Game]:
    """Return each registered game with its usual options.

    One that cannot be made, as while it is being written, is left out, with one line on stderr.
    """
    games = []
    for name in game_names():
        try:
            games.append(make_game(name))
        except GameError as error:
            print(f"skipped game {name!r}: {error}", file=sys.stderr)
    return games


def game_options(name: str) -> dict[str, int]:
    """Return the options of game `name` with their defaults; raise GameError if it is unknown."""
    if not isinstance(name, str):
        raise GameError(f"expected the name of a game, such as 'hex', got {name!r:.80}")
    if name in _own_games():
        _import_own(_own_games()[name], name)
    elif name not in _registered:
        _import_plug_ins()
    if name not in _registered:
        if name in _broken:
            raise GameError(f"game {name!r} cannot be loaded: {_broken[name]}")
        apart = "; give its options apart" if ":" in name else ""
        hint = apart or did_you_mean(name, game_names())
        raise GameError(f"unknown game '{name[:60]}'{hint} (known: {', '.join(game_names())})")
    kind, defaults = _registered[name]
    own = {field.name: cast(int, field.default) for field in fields(kind)}
    return {**own, **defaults}


def make_game(name: str, **options: int | float | bool | str) -> Game:
    """Return the game called `name`.

    Raises GameError for an unknown game, an unknown option or one out of its range, a missing
    method, an error of the game's own, or a plug-in's rules that cannot be compiled.
    """
    defaults = game_options(name)
    for option, value in options.items():
        if option not in defaults:
            hint = did_you_mean(option, defaults)
            takes = ", ".join(defaults) or "none"
            raise GameError(f"{name} has no option '{option[:60]}'{hint} (options: {takes})")
        kind = type(defaults[option])
        if type(value) is not kind:
            raise GameError(f"{name}'s option '{option}' must be {kind.__name__}, got {value!r}")
    game_class = _registered[name][0]
    if game_class.__abstractmethods__:
        raise GameError(f"{name} has no {', '.join(sorted(game_class.__abstractmethods__))}")
    try:
        game = game_class(**cast(dict[str, int], {**defaults, **options}))
    except GameError:
        raise
    except Exception as error:
        raise GameError(f"{name} cannot be made: {_explain(game_class, error)}") from error
    if name not in _own_games():
        compile_rules(game)
    return game


def compile_rules(game: Game) -> None:
    """Compile a game's rules; raise GameError with the place and reason if that fails."""
    rule: Any = None
    try:
        for name, rule in game.rule_functions._asdict().items():
            if getattr(rule, "signature", None) != getattr(Signature, name):
                raise TypeError(f"expected @kernel(Signature.{name})")
            rule.compile()
    except Exception as error:
        what = f"the rules of {name_of(game)} cannot be compiled"
        raise GameError(f"{what}: {_explain(type(game), error, rule)}") from error


def _explain(kind: type[Game], error: Exception, rule: object = None) -> str:
    """Return the line of the file of a game's class that raised an error, and the reason.

    An error that names no line is at the first one of `rule`.
    """
    from alphazero.utils.plug_ins import place_of, reason_of

    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or kind.__module__
    place = place_of(error, lambda path: path == Path(file), file)
    code = getattr(getattr(rule, "py_func", rule), "__code__", None)
    if code and place == code.co_filename:
        place += f":{code.co_firstlineno}"
    return f"{place}: {reason_of(error)}"


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
        if option in options:
            raise GameError(f"{name[:60]!r}: {option[:60]} is given twice")
        options[option] = int(value)
    return make_game(name, **options)


def as_game(game: Game | str) -> Game:
    """Return a game, or the one of a text as for `read_game`; raise GameError for anything else."""
    if not isinstance(game, Game | str):
        raise GameError(f"expected a game, or its name such as 'hex', got {game!r:.80}")
    return read_game(game) if isinstance(game, str) else game


def write_game(game: Game) -> str:
    """Return the shortest text from which `read_game` makes `game`.

    For an unregistered game this is the name of its class.
    """
    _import_plug_ins()
    spellings = []
    for name, (kind, defaults) in list(_registered.items()):
        if kind is type(game):
            usual = game_options(name)
            changes = [
                f"{key}={value}" for key, value in game.options.items() if value != usual[key]
            ]
            # Among equally short texts, prefer a name with own defaults: tic_tac_toe over mnk.
            text = f"{name}:{','.join(changes)}" if changes else name
            spellings.append((len(changes), -len(defaults), text))
    return min(spellings, default=(0, 0, type(game).__name__))[-1]


def name_of(game: Game) -> str:
    """Return the name that `write_game` uses, without options."""
    return write_game(game).partition(":")[0]
