"""What is typed after a command: arguments that several commands share, and how each is read."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from alphazero.errors import AlphaZeroError

if TYPE_CHECKING:
    from alphazero.players.sprt import Sprt


class Parser(argparse.ArgumentParser):
    """Tells a mistake in one line, where argparse would print the usage as well."""

    def error(self, message: str) -> NoReturn:
        """Leave with exit code 2."""
        self.exit(2, f"error: {message}; see: {self.prog} --help\n")


def checkpoint_argument(parser: argparse.ArgumentParser) -> None:
    """Ask for a checkpoint."""
    parser.add_argument(
        "checkpoint",
        type=Path,
        metavar="CHECKPOINT",
        help="a .safetensors file, or a run's folder for its best player",
    )


def config_arguments(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """Ask for a YAML file, which may be `optional`, and for what takes the place of its keys."""
    number = "?" if optional else None
    parser.add_argument("config", nargs=number, metavar="CONFIG", help="the YAML file of a run")
    parser.add_argument(
        "overrides", nargs="*", metavar="section.key=value", help="in place of what the file says"
    )


def plan_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for what is planned, and how long the machine is measured."""
    config_arguments(parser, optional=True)
    parser.add_argument(
        "--against",
        type=Path,
        metavar="RUN",
        help="plan what this run has done and say how far off the plan is; no CONFIG then",
    )
    parser.add_argument(
        "--seconds",
        type=calibration_seconds,
        default=40,
        metavar="S",
        help="measure for about so long, 60 at most (default: 40)",
    )


PLAYER = (
    "a checkpoint or a run's folder, as PATH or PATH:simulations=200, or another player, as "
    "uct:simulations=1000, minimax:depth=5, random, network:PATH or 'gtp:COMMAND'"
)


def game_argument(parser: argparse.ArgumentParser) -> None:
    """Let the game be named, for players that play any."""
    parser.add_argument(
        "--game",
        metavar="NAME",
        help="where no checkpoint says which, as connect_four or mnk:rows=4,columns=4,length=3",
    )


def player_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for one player, its game and how long it thinks."""
    parser.add_argument("player", metavar="PLAYER", help=PLAYER)
    game_argument(parser)
    thinking_arguments(parser)


def play_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a side, and for the files that a game comes from and goes into."""
    parser.add_argument(
        "--side",
        choices=("first", "second", "both", "none"),
        default="first",
        help="what you play (default: first; none lets the player play itself)",
    )
    parser.add_argument(
        "--from",
        dest="begin",
        type=Path,
        metavar="FILE",
        help="go on from a game, the first of an .sgf file or of `alphazero match --save`",
    )
    parser.add_argument(
        "--after", type=whole_number, metavar="N", help="after so many of its moves (default: all)"
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="write what was played when you leave: as SGF, with what the player thought, where "
        "the name ends in .sgf, else a line each",
    )


def match_arguments(parser: argparse.ArgumentParser, games: int, meaning: str) -> None:
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


def outcome_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask when a match ends, and where its games and its result go."""
    parser.add_argument(
        "--sprt",
        type=sprt,
        metavar="ELO0,ELO1",
        help="stop as soon as it is known whether A is stronger by ELO0 or by ELO1, as 0,30 or "
        "=-10,10; two more numbers are the permitted errors (default: 0.05,0.05)",
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="write the games, for `alphazero show`: as SGF where the name ends in .sgf, else a "
        "line each",
    )
    parser.add_argument(
        "--note",
        type=Path,
        metavar="FILE",
        help="write a copy of the first player, a checkpoint, that carries the result as well",
    )
    parser.add_argument(
        "--patience",
        type=seconds,
        metavar="S",
        help="seconds in which another program must answer, or it loses the game (default: 300)",
    )


def standings_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask which checkpoints of a run are rated, against whom, and where the ratings go."""
    parser.add_argument(
        "--checkpoints",
        type=positive_number,
        default=8,
        metavar="N",
        help="of a run, evenly spaced (default: 8)",
    )
    parser.add_argument(
        "--gauntlet", action="store_true", help="the first player meets all others, no more"
    )
    parser.add_argument(
        "--anchor",
        metavar="PLAYER",
        help="who has the rating 0, from which intervals are measured (default: random if it "
        "plays, else the first)",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="FOLDER",
        help="keep the games there; played again, only what is missing is played",
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw a run's ratings over time, as PNG"
    )


def serve_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask who can be played against, where the page is, and what is known of their strength."""
    parser.add_argument(
        "players",
        nargs="*",
        metavar="PLAYER",
        help=f"{PLAYER}; games of a run's folder can be looked at as well (default: every "
        "checkpoint in ./checkpoints)",
    )
    parser.add_argument(
        "--ratings",
        type=Path,
        action="append",
        default=[],
        metavar="PATH",
        help="show how strong the players are, by a folder of `alphazero rate --folder` or a "
        "table of --csv; may be given again, for another game",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        metavar="ADDRESS",
        help="who can open the page: this machine (default: 127.0.0.1), or with 0.0.0.0 everybody "
        "who can reach it",
    )
    parser.add_argument(
        "--port",
        type=port,
        default=8000,
        metavar="N",
        help="(default: 8000; 0 is any that is free)",
    )
    parser.add_argument("--open", action="store_true", help="open the page in a browser")


def plot_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a run, and where its figure goes."""
    parser.add_argument("folder", type=Path, metavar="RUN", help="the folder of a run")
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="as PNG or SVG, by how the name ends (default: RUN/curves.png and RUN/curves.svg)",
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


def foundations_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask which of the foundations, each with its own settings; `foundations/exhibits.py` runs it.

    The settings are named as there; how large they may be is checked there.
    """
    names = parser.add_subparsers(metavar="NAME", dest="name", required=True)

    def exhibit(name: str, text: str, **settings: tuple[int | float, str]) -> None:
        added = names.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        for setting, (default, meaning) in settings.items():
            whole = isinstance(default, int)
            added.add_argument(
                f"--{setting}",
                type=whole_number if whole else share,
                default=default,
                metavar="N" if whole else "SHARE",
                help=f"{meaning} (default: {default:,})",
            )
        added.add_argument(
            "--plot", type=Path, metavar="FILE", help=f"the picture (default: {name}.png)"
        )

    seed = (0, "of all chance")
    exhibit(
        "blackjack-prediction",
        "what a policy of Blackjack is worth, by Monte Carlo prediction and exactly",
        episodes=(500_000, "hands that are played"),
        seed=seed,
    )
    exhibit(
        "blackjack-exploring-starts",
        "Blackjack learned by Monte Carlo control with exploring starts",
        episodes=(10_000_000, "hands that are played"),
        seed=seed,
    )
    exhibit(
        "blackjack-epsilon-soft",
        "Blackjack learned by on-policy Monte Carlo control",
        episodes=(10_000_000, "hands that are played"),
        epsilon=(0.1, "share of random actions, from 0 to 1"),
        seed=seed,
    )
    exhibit(
        "boarding-pass",
        "the lost boarding pass, simulated in three ways and calculated in two",
        passengers=(100_000, "at most"),
        flights=(10_000, "simulated for each number of passengers"),
        seed=seed,
    )
    exhibit(
        "queens",
        "queens that do not attack each other, by a search that is cut",
        queens=(8, "on a board of as many rows and columns"),
    )


def whole_number(text: str) -> int:
    """Read a number that was typed; as the next two, for argparse."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, got {text[:20]!r}")
    return int(text)


def whole_numbers(text: str) -> list[int]:
    """Read numbers between commas."""
    return [whole_number(part) for part in text.split(",")]


def positive_number(text: str) -> int:
    """Read a number from 1 on."""
    number = whole_number(text)
    if number == 0:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, got {text}")
    return number


def even_number(text: str) -> int:
    """Read a number of games."""
    number = whole_number(text)
    if number == 0 or number % 2:
        raise argparse.ArgumentTypeError(
            f"expected an even number: openings are played twice, colours swapped; got {text}"
        )
    return number


def port(text: str) -> int:
    """Read the number of a port."""
    number = whole_number(text)
    if number > 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text}")
    return number


def seconds(text: str) -> float:
    """Read a time."""
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, got {text!r}")
    return number


def calibration_seconds(text: str) -> float:
    """Read a time of at most a minute."""
    number = seconds(text)
    if number > 60:
        raise argparse.ArgumentTypeError(f"expected at most 60 seconds, got {text}")
    return number


def share(text: str) -> float:
    """Read a share."""
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to 1, got {text!r}")
    return number


def sprt(text: str) -> "Sprt":
    """Read a sequential test."""
    from alphazero.players.sprt import Sprt

    try:
        numbers = [float(part) for part in text.split(",")]
        return Sprt(*numbers)
    except (ValueError, TypeError):
        raise argparse.ArgumentTypeError(
            f"expected ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA, got {text[:40]!r}"
        ) from None
    except AlphaZeroError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
