"""Arguments and exit codes shared by several commands."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from alphazero.cli.argument_types import (
    config_file,
    even_number,
    level,
    positive_number,
    seconds,
    whole_number,
)
from alphazero.errors import RunError
from alphazero.utils.files import check_writable, escape, printable

if TYPE_CHECKING:
    from alphazero.games import Game


EXIT_INTERRUPTED = 130
"""Exit code after Ctrl-C, as in shells."""

Run: TypeAlias = Callable[[argparse.Namespace], int | None]
"""Runs a command; returns the exit code, or None for 0."""
AddArguments: TypeAlias = Callable[[argparse.ArgumentParser], None]

COMMANDS: dict[str, tuple[Run, str, AddArguments]] = {}
"""The function, the example and the arguments of each command, by its name."""


def command(example: str, add_arguments: AddArguments) -> Callable[[Run], Run]:
    """Mark a function as the command that begins `example`; its docstring is the help."""

    def add(run: Run) -> Run:
        COMMANDS[example.split(maxsplit=1)[0]] = run, example, add_arguments
        return run

    return add


def game_option(options: argparse.Namespace) -> "Game | None":
    """Return the game of `--game`; None without this option."""
    from alphazero.games.registry import read_game

    return read_game(options.game) if options.game else None


def check_name(path: Path, kind: str, *suffixes: str) -> None:
    """Raise RunError if nothing of a `kind` can be written at `path`; a check before long work."""
    if path.suffix.lower() not in suffixes:
        ends = " or ".join(suffixes)
        raise RunError(f"cannot write {printable(path)}: {kind} needs a name that ends in {ends}")
    check_writable(path)


def games_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a file of games and `--game`, the number of one of them."""
    text = "an .sgf or .pgn file, or one of `alphazero match --save`"
    parser.add_argument("games", type=Path, metavar="GAMES", help=text)
    text = "the number of the game (default: all)"
    parser.add_argument("--game", dest="number", type=positive_number, metavar="N", help=text)


def json_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    text = "print one JSON object a line on standard output, for programs"
    parser.add_argument("--json", action="store_true", help=text)


def print_result(options: argparse.Namespace, text: object, **fields: Any) -> None:
    """Print a result: as text, or with `--json` its fields, as by `plain`, in one line."""
    if options.json:
        from alphazero.cli.json_output import to_json

        print(to_json(fields))
    else:
        print(escape(str(text)))


PLAYER = (
    "a checkpoint or a run's folder, as PATH or PATH:simulations=200, or another player, as "
    "uct:simulations=1000, minimax:depth=5, random, 'gtp:COMMAND' or 'uci:COMMAND,nodes=1000'"
)


def config_file_arguments(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Add a YAML file, which may be `optional`, and overrides of its keys."""
    number, text = "?" if optional else None, "the YAML file of a run"
    parser.add_argument("config", nargs=number, type=config_file, metavar="CONFIG", help=text)
    text = "overrides of keys in the file"
    # Without a default, argparse names it when CONFIG is missing.
    parser.add_argument("overrides", nargs="*", default=[], metavar="section.key=value", help=text)


def game_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--game`, for players of any game or of any size of theirs."""
    text = "the game, for players of any game, as connect_four or mnk:rows=4,columns=4,length=3, "
    text += "or another size of a checkpoint's own, where its heads are convolutional"
    parser.add_argument("--game", metavar="NAME", help=text)


def thinking_arguments(parser: argparse.ArgumentParser, *, levels: bool = False) -> None:
    """Add a budget per move: `--simulations` or `--seconds`, or with `levels` also `--level`."""
    budget = parser.add_mutually_exclusive_group()
    text = "simulations a move (default: as in training)"
    budget.add_argument("--simulations", type=whole_number, metavar="N", help=text)
    budget.add_argument("--seconds", type=seconds, metavar="S", help="seconds a move")
    if levels:
        text = "a level for people: 1, a first game, to 10, the strongest"
        budget.add_argument("--level", type=level, metavar="N", help=text)


def budget_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the budget that `thinking_arguments` added, as `parse_player` takes it."""
    return {name: getattr(options, name, None) for name in ("simulations", "seconds", "level")}


def player_arguments(parser: argparse.ArgumentParser) -> None:
    """Add a player, its game and its budget."""
    parser.add_argument("player", metavar="PLAYER", help=PLAYER)
    game_argument(parser)
    thinking_arguments(parser, levels=True)


def contest_arguments(parser: argparse.ArgumentParser, games: int, meaning: str) -> None:
    """Add the number of games, the openings, the game and the budget."""
    add = parser.add_argument
    add("--games", type=even_number, default=games, metavar="N", help=meaning)
    text = "random moves at the start of each pair of games, fewer where the game would end "
    text += "(default: 4; 0 for none)"
    add("--opening-moves", type=whole_number, default=4, metavar="N", help=text)
    add("--seed", type=whole_number, default=0, metavar="N", help="random seed (default: 0)")
    game_argument(parser)
    thinking_arguments(parser)
