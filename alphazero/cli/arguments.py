"""What is typed after each command; what several of them share comes first."""

import argparse
from pathlib import Path

from alphazero.cli.argument_types import (
    calibration_seconds,
    even_number,
    port,
    positive_number,
    seconds,
    share,
    sprt,
    whole_number,
    whole_numbers,
)

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


def train_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for the YAML file of a new run, or for a run to go on with."""
    config_arguments(parser, optional=True)
    parser.add_argument(
        "--resume", type=Path, metavar="RUN", help="the folder of a run to go on with"
    )


def play_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a player, a side, and the files that a game comes from and goes into."""
    player_arguments(parser)
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


def serve_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask who can be played against, where the page is, and what is known of their strength."""
    parser.add_argument(
        "players",
        nargs="*",
        metavar="PLAYER",
        help=f"{PLAYER}; games of a run's folder can be looked at as well (default: every "
        "checkpoint in ./checkpoints that can be read)",
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


def gtp_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a player, and whether it ponders."""
    player_arguments(parser)
    parser.add_argument(
        "--ponder", action="store_true", help="think on while the opponent does, after a move"
    )


def gomocup_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a player of gomoku."""
    parser.add_argument("player", metavar="PLAYER", help=PLAYER)
    thinking_arguments(parser)


def grade_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a checkpoint, the positions, and what is done with the result."""
    parser.add_argument(
        "checkpoint",
        metavar="CHECKPOINT",
        help="a .safetensors file, or a run's folder for its best player, and what it does "
        "otherwise than in training, as in PATH:selection=puct,transpositions=true",
    )
    parser.add_argument(
        "positions",
        nargs="*",
        type=Path,
        metavar="POSITIONS",
        help="files of solved positions, or folders of such files; without any, those that come "
        "with the project, or every reachable position of a small game",
    )
    parser.add_argument(
        "--simulations",
        type=whole_numbers,
        metavar="N,N",
        help="simulations a move, each number in turn; 0 is the bare network",
    )
    parser.add_argument(
        "--require",
        type=share,
        default=0.0,
        metavar="SHARE",
        help="exit with 1 when the share of optimal moves, from 0 to 1, is lower anywhere",
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="write a copy of the checkpoint that carries these figures, for `alphazero show`",
    )


def match_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for two players, when their match ends, and where its games and its result go."""
    parser.add_argument("first", metavar="A", help=PLAYER)
    parser.add_argument("second", metavar="B", help="its opponent")
    contest_arguments(parser, 100, "games, even (default: 100)")
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


def rate_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for players, which checkpoints of a run are rated, and where the ratings go."""
    parser.add_argument(
        "players",
        nargs="+",
        metavar="PLAYER",
        help=f"{PLAYER}; here a run's folder stands for its checkpoints",
    )
    contest_arguments(parser, 20, "games of each pairing, even (default: 20)")
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


def show_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a file, and for a game in it."""
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="a checkpoint, a run's folder, or games: an .sgf file, or of `alphazero match --save`",
    )
    parser.add_argument(
        "--game",
        dest="number",
        type=positive_number,
        metavar="N",
        help="the game to replay (default: every one)",
    )


def plot_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a run, and where its figure goes."""
    parser.add_argument("folder", type=Path, metavar="RUN", help="the folder of a run")
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="as PNG or SVG, by how the name ends (default: RUN/curves.png and RUN/curves.svg)",
    )


def verify_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a run or a checkpoint."""
    parser.add_argument("path", type=Path, metavar="RUN", help="a run's folder, or a checkpoint")


def bench_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a configuration, and how long it is measured."""
    config_arguments(parser)
    parser.add_argument(
        "--seconds", type=seconds, default=40, metavar="S", help="about so long (default: 40)"
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


def doctor_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a run."""
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="its folder")


def solve_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a position, and how hard to try."""
    parser.add_argument(
        "game", metavar="GAME", help="its name, as in mnk:rows=4,columns=4,length=3"
    )
    parser.add_argument("moves", nargs="*", metavar="MOVES", help="the moves played so far")
    parser.add_argument(
        "--positions",
        type=whole_number,
        metavar="N",
        help="give up after looking at so many (default: what takes ten to thirty seconds)",
    )


def check_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask for a game."""
    parser.add_argument(
        "game", metavar="GAME", help="its name, as in mnk:rows=4,columns=4,length=3"
    )


def foundations_arguments(parser: argparse.ArgumentParser) -> None:
    """Ask which of the foundations, each with its own settings; `foundations/demos.py` runs it.

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
