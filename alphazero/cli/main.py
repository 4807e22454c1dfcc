"""The command line: parsing, dispatch, exit codes and standard streams.

What the encoding of standard output lacks is a question mark, and no failure is a traceback.
"""

import argparse
import inspect
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from alphazero.cli import evaluation, export, play, review, training  # noqa: F401
from alphazero.cli.argument_types import Parser
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
    except KeyboardInterrupt as stop:
        print("\nstopped", *(f"while {text}" for text in stop.args), file=sys.stderr)
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
            help=text[:1].lower() + text[1:].rstrip("."),
            description=text,
            epilog=f"example: alphazero {example}",
        )
        subparser.set_defaults(run=run, parser=subparser)
        add_arguments(subparser)
    return main_parser


# --- standard streams ----------------------------------------------------------------------------


class OutputError(OSError):
    """Standard output cannot be written, as on a full disk; a closed pipe is a BrokenPipeError."""


class _Output(io.FileIO):
    """Standard output or error; of the latter what cannot be written is dropped.

    A message is not worth the work, as when a terminal is closed during a training.
    """

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            if self.fileno() == 1:
                raise
        except OSError as error:
            if self.fileno() == 1:
                raise OutputError(error.errno, error.strerror) from error
        return len(data)


def prepare_streams() -> None:
    """Make standard output accept every text, standard error never fail, and no stream missing."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:  # closed: a file that is opened later must not take its descriptor
            mode, nothing = "w" if descriptor else "r", os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(nothing, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        elif descriptor and stream is getattr(sys, f"__{name}__") and os.name == "posix":
            stream.flush()
            output: Any = _Output(descriptor, "w", closefd=False)
            through = stream.write_through  # under PYTHONUNBUFFERED
            output = output if through else io.BufferedWriter(output)
            form = stream.encoding, stream.errors, None, stream.line_buffering, through
            setattr(sys, name, io.TextIOWrapper(output, *form))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def drop_stdout() -> None:
    """Drop what standard output still holds: Python would fail to write it, visibly, at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
