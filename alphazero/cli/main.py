"""The command line: parsing, dispatch and exit codes."""

import argparse
import inspect
import re
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version

from alphazero.cli import configuration, evaluation, export, play, review, training  # noqa: F401
from alphazero.cli.argument_types import Parser
from alphazero.cli.printing import OutputError, drop_stdout, prepare_streams
from alphazero.cli.shared import COMMANDS, EXIT_INTERRUPTED
from alphazero.errors import AlphaZeroError, did_you_mean
from alphazero.utils.files import escape, explain_os_error
from alphazero.utils.progress import STOPS, interrupt

EXIT_BROKEN_PIPE = 141
"""Exit code after a closed output pipe, as with `| head`; shells use the same."""

NAMES = [
    *("train", "play", "serve", "gtp", "uci", "grade", "match", "rate", "info", "export", "replay"),
    *("review", "bench", "plan", "doctor", "solve", "config", "check"),
]
"""The commands, in the order of the help."""


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
    if words and not words[0].startswith("-") and words[0] not in NAMES:
        hint = did_you_mean(words[0], NAMES)
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
    for name in NAMES:
        run, example, add_arguments = COMMANDS[name]
        text = inspect.getdoc(run) or ""
        subparser = parsers.add_parser(
            name,
            help=text[0].lower() + text[1:].rstrip("."),
            description=text,
            epilog=f"example: alphazero {example}",
        )
        subparser.set_defaults(run=run, parser=subparser)
        add_arguments(subparser)
    return main_parser
