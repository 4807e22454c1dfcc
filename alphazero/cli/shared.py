"""What several commands share: arguments, and exit codes."""

import argparse
from typing import TYPE_CHECKING

from alphazero.cli.argument_types import (
    even_number,
    seconds,
    whole_number,
)

if TYPE_CHECKING:
    from alphazero.games import Game


EXIT_INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def named_game(options: argparse.Namespace) -> "Game | None":
    """Return the game that was asked for, if any."""
    from alphazero.games.registry import read_game

    return read_game(options.game) if options.game else None


PLAYER = (
    "a checkpoint or a run's folder, as PATH or PATH:simulations=200, or another player, as "
    "uct:simulations=1000, minimax:depth=5, random, network:PATH or 'gtp:COMMAND'"
)


def config_arguments(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Ask for a YAML file, which may be `optional`, and for what takes the place of its keys."""
    number = "?" if optional else None
    parser.add_argument("config", nargs=number, metavar="CONFIG", help="the YAML file of a run")
    parser.add_argument(
        "overrides", nargs="*", metavar="section.key=value", help="in place of what the file says"
    )


def game_argument(parser: argparse.ArgumentParser) -> None:
    """Let the game be named, for players that play any."""
    parser.add_argument(
        "--game",
        metavar="NAME",
        help="where no checkpoint says which, as connect_four or mnk:rows=4,columns=4,length=3",
    )


def thinking_arguments(parser: argparse.ArgumentParser) -> None:
    """Let players think for so many simulations, or for so many seconds, a move."""
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument(
        "--simulations",
        type=whole_number,
        metavar="N",
        help="simulations a move (default: as in training)",
    )
    budget.add_argument("--seconds", type=seconds, metavar="S", help="seconds a move")


def player_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for one player, its game and how long it thinks."""
    parser.add_argument("player", metavar="PLAYER", help=PLAYER)
    game_argument(parser)
    thinking_arguments(parser)


def contest_arguments(parser: argparse.ArgumentParser, games: int, meaning: str) -> None:
    """Ask how many games are played, from which openings, and how long players think."""
    parser.add_argument("--games", type=even_number, default=games, metavar="N", help=meaning)
    parser.add_argument(
        "--opening-moves",
        type=whole_number,
        default=4,
        metavar="N",
        help="random moves that open each pair of games (default: 4)",
    )
    parser.add_argument(
        "--seed", type=whole_number, default=0, metavar="N", help="of all chance (default: 0)"
    )
    game_argument(parser)
    thinking_arguments(parser)
