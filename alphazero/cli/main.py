"""The command line: the table of commands, dispatch and exit codes."""

import argparse
import re
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import NamedTuple

from alphazero.cli import configuration, evaluation, export, play, review, training
from alphazero.cli.argument_types import Parser
from alphazero.cli.printing import OutputError, drop_stdout, prepare_streams
from alphazero.cli.shared import EXIT_INTERRUPTED
from alphazero.errors import AlphaZeroError, did_you_mean
from alphazero.utils.files import escape, explain_os_error
from alphazero.utils.progress import STOPS, interrupt

EXIT_BROKEN_PIPE = 141
"""Exit code after a closed output pipe, as with `| head`; shells use the same."""


class Command(NamedTuple):
    """A command and its help."""

    name: str
    run: Callable[[argparse.Namespace], int | None]
    """runs it; returns the exit code, or None for 0"""
    text: str
    example: str
    add_arguments: Callable[[argparse.ArgumentParser], None] = lambda _: None


COMMANDS = (
    Command(
        "train",
        training.train,
        "train a player from a YAML file, or resume a run",
        "alphazero train configs/tic_tac_toe.yaml run.seed=7 budget.minutes=5",
        training.train_arguments,
    ),
    Command(
        "play",
        play.play,
        "play against a checkpoint or another player in the terminal",
        "alphazero play checkpoints/tic_tac_toe --side second --simulations 200",
        play.play_arguments,
    ),
    Command(
        "serve",
        play.serve,
        "play and analyze games in a browser, on a local web page",
        "alphazero serve checkpoints/connect_four.safetensors --open",
        play.serve_arguments,
    ),
    Command(
        "gtp",
        play.gtp,
        "serve a player to Go programs, over the Go Text Protocol",
        "alphazero gtp checkpoints/connect_four.safetensors --seconds 2",
        play.gtp_arguments,
    ),
    Command(
        "grade",
        evaluation.grade,
        "count how often a checkpoint plays an optimal move",
        "alphazero grade checkpoints/tic_tac_toe --simulations 0,50",
        evaluation.grade_arguments,
    ),
    Command(
        "match",
        evaluation.match,
        "let two players play each other",
        "alphazero match checkpoints/new checkpoints/old --simulations 200 --sprt 0,30",
        evaluation.match_arguments,
    ),
    Command(
        "rate",
        evaluation.rate,
        "rate players, or the checkpoints of a run, by a tournament",
        "alphazero rate checkpoints/connect_four random --simulations 64 --plot elo.png",
        evaluation.rate_arguments,
    ),
    Command(
        "info",
        play.info,
        "describe a checkpoint, its training and its measured strength",
        "alphazero info checkpoints/tic_tac_toe",
        play.info_arguments,
    ),
    Command(
        "export",
        export.export,
        "write a player's network as ONNX, or a web page that plays without a server",
        "alphazero export connect_four --onnx connect_four.onnx --precision int8",
        export.export_arguments,
    ),
    Command(
        "replay",
        play.replay,
        "step through saved games",
        "alphazero replay games.sgf --game 2",
        play.replay_arguments,
    ),
    Command(
        "review",
        review.review,
        "find the mistakes in saved games, and the better moves",
        "alphazero review games.sgf checkpoints/othello_8x8.safetensors --save reviewed.sgf",
        review.review_arguments,
    ),
    Command(
        "bench",
        training.bench,
        "measure the speed of self-play and of the network alone",
        "alphazero bench configs/connect_four.yaml search.evaluation_cache_mib=0 --seconds 40",
        training.bench_arguments,
    ),
    Command(
        "plan",
        training.plan,
        "measure this machine and forecast a run",
        "alphazero plan configs/connect_four.yaml budget.samples=100000",
        training.plan_arguments,
    ),
    Command(
        "doctor",
        training.doctor,
        "diagnose the problems of a run and name the keys to change, or describe the machine",
        "alphazero doctor checkpoints/connect_four",
        training.doctor_arguments,
    ),
    Command(
        "solve",
        evaluation.solve,
        "compute the exact value and the best moves of a position",
        'alphazero solve connect_four "4444 52 35 17"',
        evaluation.solve_arguments,
    ),
    Command(
        "config",
        configuration.config,
        "explain configuration keys, print a resolved file, or compare two",
        "alphazero config search.c_puct",
        configuration.config_arguments,
    ),
    Command(
        "check",
        training.check,
        "check the files of a run or a checkpoint for damage, or the rules of a game",
        "alphazero check checkpoints/tic_tac_toe",
        training.check_arguments,
    ),
    Command(
        "list",
        play.list_all,
        "list the games with their options, and the players that come with the package",
        "alphazero list",
        play.list_arguments,
    ),
)


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code: 0, 1 (`grade --min-accuracy`), 2 (error), 130 or 141."""

    def run() -> int:
        options = _parse(words)
        for number in STOPS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                signal.signal(number, interrupt)
        return int(options.run(options) or 0)

    return run_and_report(run)


def run_and_report(run: Callable[[], int | None]) -> int:
    """Call `run` and report user errors in one line; return the exit code as `main` does."""
    prepare_streams()
    try:
        try:
            return run() or 0
        finally:
            print(end="", flush=True)
    except AlphaZeroError as error:
        print(f"error: {escape(str(error))}", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"error: not enough memory ({error}); choose smaller sizes", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        drop_stdout()
        return EXIT_BROKEN_PIPE
    except OutputError as error:
        drop_stdout()
        reason = explain_os_error(error).partition(";")[0]
        print(f"error: cannot write standard output: {reason}", file=sys.stderr)
        return 2


def _parse(words: Sequence[str] | None) -> argparse.Namespace:
    """Parse a command line; overrides may be anywhere, also after options."""
    main_parser, words = parser(), list(sys.argv[1:] if words is None else words)
    names = [command.name for command in COMMANDS]
    if words and not words[0].startswith("-") and words[0] not in names:
        hint = did_you_mean(words[0], names)
        main_parser.error(f"there is no command {words[0][:40]!r}{hint}")
    options, rest = main_parser.parse_known_args(words)
    if "overrides" in options:
        options.overrides += [word for word in rest if "=" in word and not word.startswith("-")]
        rest = [word for word in rest if word not in options.overrides]
    if rest:
        flags = re.findall(r"--([a-z-]+)", options.parser.format_help())
        hint = did_you_mean(rest[0][2:], flags) if rest[0].startswith("--") else ""
        hint = hint.replace("'", "'--", 1)
        if not hint and "overrides" in options:
            hint = "; write keys as section.key=value, such as network.blocks=3"
        options.parser.error(f"unrecognized arguments: {' '.join(rest)[:200]}{hint}")
    return options


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; it sets `run` to the command's function."""
    main_parser = Parser(
        prog="alphazero", description="From a game's rules to a strong player, by self-play."
    )
    text = f"alphazero {version('alphazero')}"
    main_parser.add_argument("--version", action="version", version=text)
    parsers = main_parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        subparser = parsers.add_parser(
            command.name,
            help=command.text,
            description=command.text[0].upper() + command.text[1:] + ".",
            epilog=f"example: {command.example}",
        )
        subparser.set_defaults(run=command.run, parser=subparser)
        command.add_arguments(subparser)
    return main_parser
