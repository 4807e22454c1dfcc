"""The command line: one command each, no logic."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from alphazero.errors import AlphaZeroError

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code: 0, 2 for a mistake told in one line, 130 for Ctrl-C."""
    options = parser().parse_args(arguments)
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        return int(options.run(options) or 0)
    except AlphaZeroError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; each command's function is its `run`."""
    whole = argparse.ArgumentParser(
        prog="alphazero",
        description="From a game's rules to a strong player, by self-play.",
    )
    commands = whole.add_subparsers(metavar="COMMAND", required=True)

    def command(name: str, run: Any, text: str, example: str) -> argparse.ArgumentParser:
        added = commands.add_parser(
            name,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog=f"example: {example}",
        )
        added.set_defaults(run=run)
        return added

    each = command(
        "train",
        train,
        "train a player from a YAML file, or go on with a run",
        "alphazero train configs/tic_tac_toe.yaml run.seed=7 budget.minutes=5",
    )
    each.add_argument("config", nargs="?", metavar="CONFIG", help="the YAML file of a new run")
    each.add_argument(
        "--resume", type=Path, metavar="RUN", help="the folder of a run to go on with"
    )
    each.add_argument(
        "overrides", nargs="*", metavar="section.key=value", help="in place of what the file says"
    )

    each = command(
        "play",
        play,
        "play against a checkpoint in the terminal",
        "alphazero play checkpoints/tic_tac_toe --side second --simulations 200",
    )
    _checkpoint_argument(each)
    each.add_argument(
        "--side",
        choices=("first", "second", "both", "none"),
        default="first",
        help="what you play (default: first; none lets the player play itself)",
    )
    _thinking_arguments(each)

    each = command(
        "grade",
        grade,
        "count how often a checkpoint plays an optimal move",
        "alphazero grade checkpoints/tic_tac_toe --simulations 0 50",
    )
    _checkpoint_argument(each)
    each.add_argument(
        "positions",
        nargs="*",
        type=Path,
        metavar="POSITIONS",
        help="files of solved positions; without any, every reachable position of a small game",
    )
    each.add_argument(
        "--simulations",
        nargs="+",
        type=_whole_number,
        metavar="N",
        help="simulations a move, each number in turn; 0 is the bare network",
    )
    each.add_argument(
        "--require",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="exit with 1 when the share of optimal moves is lower anywhere",
    )

    each = command(
        "show",
        show,
        "say what a checkpoint is, how it was trained and how strong it is",
        "alphazero show checkpoints/tic_tac_toe",
    )
    _checkpoint_argument(each)

    command("games", games, "list the games and their options", "alphazero games")
    return whole


def _checkpoint_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "checkpoint",
        type=Path,
        metavar="CHECKPOINT",
        help="a .safetensors file, or a run's folder for its best player",
    )


def _thinking_arguments(parser: argparse.ArgumentParser) -> None:
    budget = parser.add_mutually_exclusive_group()
    budget.add_argument(
        "--simulations",
        type=_whole_number,
        metavar="N",
        help="simulations a move (default: as in training)",
    )
    budget.add_argument("--seconds", type=_seconds, metavar="S", help="seconds a move")


def _whole_number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"expected a whole number from 0 on, got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 < seconds < 1e6:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, got {text!r}")
    return seconds


def train(options: argparse.Namespace) -> int:
    """Train from a YAML file, or resume a run."""
    from alphazero.config import load_config
    from alphazero.training.loop import resume, train
    from alphazero.training.run import folder_of

    if options.resume:
        overrides = [options.config, *options.overrides] if options.config else options.overrides
        folder = options.resume
        print(f"resuming {folder}; watch with: tensorboard --logdir {folder.parent}")
    elif options.config:
        config = load_config(options.config, options.overrides)
        folder = folder_of(config)
        print(f"training into {folder}; watch with: tensorboard --logdir {folder.parent}")
    else:
        raise AlphaZeroError("name a YAML file, as in configs/, or a run's folder with --resume")
    try:
        if options.resume:
            resume(folder, overrides)
        else:
            train(config)
    except KeyboardInterrupt:
        print(f"\nstopped; go on with: alphazero train --resume {folder}", file=sys.stderr)
        return INTERRUPTED
    print(f"done; play it with: alphazero play {folder}")
    return 0


def play(options: argparse.Namespace) -> None:
    """Play against a checkpoint."""
    from alphazero.play.terminal import Terminal
    from alphazero.players.saved import load_player

    game, player = load_player(
        options.checkpoint, simulations=options.simulations, seconds=options.seconds
    )
    sides = options.side in ("first", "both"), options.side in ("second", "both")
    Terminal(game, player, sides).run()


def grade(options: argparse.Namespace) -> int:
    """Count optimal moves."""
    from tqdm import tqdm

    from alphazero.players.grade import grade, read_positions
    from alphazero.players.player import Player
    from alphazero.players.saved import load_player
    from alphazero.search.minimax import solve

    game, player = load_player(options.checkpoint)
    if options.positions:
        sets = [(path.name, read_positions(game, path)) for path in options.positions]
    else:
        sets = [("every reachable position", solve(game))]
    passed = True
    for simulations in options.simulations or [player.search.settings.simulations]:

        def seat_player(tables: int, simulations: int = simulations) -> Player:
            return load_player(options.checkpoint, simulations=simulations, tables=tables)[1]

        for name, solution in sets:
            total = len(solution.states)
            with tqdm(total=total, unit="position", leave=False, disable=None) as bar:
                result = grade(
                    game, seat_player, solution, workers=os.cpu_count() or 1, show=bar.update
                )
            print(f"{name}, {simulations} simulations: {result}")
            if result.first_mistake and not options.positions:
                print(f"the first mistake:\n{result.first_mistake}")
            passed &= result.share >= options.require
    return 0 if passed else 1


def show(options: argparse.Namespace) -> None:
    """Describe a checkpoint."""
    from alphazero.network.checkpoint import load_checkpoint
    from alphazero.players.saved import describe, find_checkpoint

    path = find_checkpoint(options.checkpoint)
    print(describe(path, load_checkpoint(path)))


def games(_: argparse.Namespace) -> None:
    """List the games."""
    from alphazero.games import game_names, game_options

    for name in game_names():
        options = ", ".join(f"{key} {value}" for key, value in game_options(name).items())
        print(f"{name:14} {options}")
