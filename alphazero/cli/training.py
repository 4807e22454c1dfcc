"""Commands that train a player, inspect a run and explain the configuration."""

import argparse
import contextlib
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from alphazero.cli.argument_types import calibration_seconds, seconds
from alphazero.cli.shared import (
    EXIT_INTERRUPTED,
    command,
    config_file_arguments,
    json_argument,
    print_result,
)
from alphazero.errors import AlphaZeroError
from alphazero.utils.files import escape, printable
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import Observer, no_observer, progress_bar, without_bars


def train_arguments(parser: argparse.ArgumentParser) -> None:
    config_file_arguments(parser, optional=True)
    add = parser.add_argument
    add("--resume", type=Path, metavar="RUN", help="the folder of the run to resume")
    add("--quiet", action="store_true", help="print nothing but errors and the last line")
    json_argument(parser)


@command("train configs/tic_tac_toe.yaml run.seed=7 budget.minutes=5", train_arguments)
def train(options: argparse.Namespace) -> int:
    """Train a player from a YAML file, or resume a run."""
    from alphazero.config.loader import load_config
    from alphazero.training.manifest import check_new, holds_run, read_run, run_folder

    if options.resume:
        if options.config and "=" not in options.config:
            raise AlphaZeroError(
                f"--resume goes on with the configuration of the run; leave out {options.config}, "
                "or write keys as section.key=value"
            )
        overrides = [options.config, *options.overrides] if options.config else options.overrides
        folder = options.resume
        read_run(folder)
    elif options.config:
        config = load_config(options.config, options.overrides)
        folder = run_folder(config)
        check_new(folder)
    else:
        raise AlphaZeroError("name a YAML file, as in configs/, or a run's folder with --resume")
    try:
        with _output_of(options) as observe:
            from alphazero.training.loop import resume, train

            if options.resume:
                resume(folder, overrides, observe)
            else:
                train(config, observe)
    except KeyboardInterrupt:
        again = f"go on with: alphazero train --resume {shlex.quote(printable(folder))}"
        if not holds_run(folder):
            again = "nothing was saved yet, so begin again with the same command"
        print(f"\nstopped; {again}", file=sys.stderr)
        return EXIT_INTERRUPTED
    if options.json or os.environ.get("RANK", "0") != "0":  # another process of torchrun leads
        return 0
    print(f"done; play it with: alphazero play {shlex.quote(printable(folder))}")
    return 0


@contextlib.contextmanager
def _output_of(options: argparse.Namespace) -> Iterator[Observer]:
    """Yield what receives the events of a training, and redirect what it prints.

    With `--json` events go to standard output and all text to standard error, with `--quiet` the
    text is dropped.
    """
    from alphazero.cli.json_output import to_json

    stdout = sys.stdout

    def write(event: dict[str, Any]) -> None:
        print(to_json(event), file=stdout, flush=True)

    with contextlib.ExitStack() as stack:
        if options.quiet:
            nowhere = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(nowhere))
            stack.enter_context(without_bars())
        elif options.json:
            stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        yield write if options.json else no_observer


def bench_arguments(parser: argparse.ArgumentParser) -> None:
    config_file_arguments(parser)
    text = "approximate duration (default: 40)"
    parser.add_argument("--seconds", type=seconds, default=40, metavar="S", help=text)
    json_argument(parser)


def plan_arguments(parser: argparse.ArgumentParser) -> None:
    config_file_arguments(parser)
    text = "approximate duration of the measurement, 60 at most (default: 40)"
    parser.add_argument("--seconds", type=calibration_seconds, default=40, metavar="S", help=text)
    json_argument(parser)


@command("bench configs/connect_four.yaml search.simulations=200 --seconds 40", bench_arguments)
def bench(options: argparse.Namespace) -> None:
    """Measure the speed of self-play and of the network alone."""
    from alphazero.cli.json_output import plain
    from alphazero.config.loader import load_config

    config = load_config(options.config, options.overrides)

    from alphazero.diagnostics.benchmark import ROUNDS, SelfPlayBenchmark
    from alphazero.network.inference.backend import num_selfplay_threads

    workers = num_selfplay_threads(config, config.run.threads or usable_cores())
    with progress_bar(ROUNDS + 1, "round") as bar:
        rates = SelfPlayBenchmark(config, workers).measure(options.seconds, bar.update)
    print_result(options, rates, game=config.game.name, **plain(rates))


@command("plan configs/connect_four.yaml budget.samples=100000", plan_arguments)
def plan(options: argparse.Namespace) -> None:
    """Measure this machine and forecast a run."""
    from alphazero.config.loader import load_config

    config = load_config(options.config, options.overrides)

    from alphazero.diagnostics.calibration import PARTS, calibrate
    from alphazero.diagnostics.forecast import describe, expected

    with progress_bar(PARTS, "part") as bar:
        cores = config.run.threads or usable_cores()
        rates = calibrate(config, cores, options.seconds, bar.update)
    print_result(options, describe(config, rates), **expected(config, rates))


def doctor_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run_folder", nargs="?", type=Path, metavar="RUN", help="the folder of a run")
    text = "describe this machine and what computes on it, to paste into an issue; replaces RUN"
    add("--machine", action="store_true", help=text)


@command("doctor checkpoints/connect_four", doctor_arguments)
def doctor(options: argparse.Namespace) -> None:
    """Diagnose the problems of a run and name the keys to change, or describe the machine."""
    if options.machine == bool(options.run_folder):
        raise AlphaZeroError("name either the folder of a run, or --machine")
    if options.machine:
        from alphazero.diagnostics.doctor import describe_machine

        print(escape(describe_machine()))
        return
    from alphazero.training.manifest import read_run

    read_run(options.run_folder)

    from alphazero.diagnostics.doctor import examine

    print(examine(options.run_folder))


def check_arguments(parser: argparse.ArgumentParser) -> None:
    text = "a run's folder or a checkpoint; or a game, as mnk:rows=4,columns=4,length=3"
    parser.add_argument("target", metavar="RUN|GAME", help=text)


@command("check checkpoints/tic_tac_toe", check_arguments)
def check(options: argparse.Namespace) -> None:
    """Check the files of a run or a checkpoint for damage, or the rules of a game."""
    from alphazero.utils.files import check_readable, exists, is_folder
    from alphazero.utils.shipped import shipped_players

    target, path = options.target, Path(options.target)
    if target in shipped_players() and not exists(path):
        from alphazero.games.registry import game_names

        path = path if target in game_names() else shipped_players()[target]
    if re.fullmatch(r"[\w-]{1,60}(:[\w=,.-]{0,100})?", target) and not exists(path):
        from alphazero.games.contract.check import check_game

        report = check_game(target)
        if report.faults:
            raise AlphaZeroError(str(report))
        print(report)
        return
    if is_folder(path):
        from alphazero.training.manifest import check_resumable

        check_resumable(path)
    else:
        check_readable(path)

    from alphazero.diagnostics.verify import verify

    verdict = verify(path)
    print(verdict)
    if verdict.faults:
        raise AlphaZeroError("\n".join(verdict.faults))


def config_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the keys or files to show, and the other forms of the reference."""
    text = "a key or a section: its meaning, range, default and source; a YAML file: all its "
    text += "values, defaults included; section.key=value: in place of what the file says "
    text += "(default: every key)"
    parser.add_argument("names", nargs="*", metavar="KEY|FILE|section.key=value", help=text)
    text = "print the table of keys of configs/README.md"
    parser.add_argument("--markdown", action="store_true", help=text)


@command("config search.c_puct", config_arguments)
def config(options: argparse.Namespace) -> None:
    """Explain configuration keys, or print a resolved file."""
    from alphazero.config import reference
    from alphazero.config.loader import dump_config, load_config
    from alphazero.utils.shipped import shipped_configs

    overrides = [name for name in options.names if "=" in name]
    names = [name for name in options.names if "=" not in name]
    shipped = shipped_configs()
    files = [name for name in names if name.endswith((".yaml", ".yml")) or name in shipped]
    if options.markdown:
        print(reference.keys_table())
    elif not files:
        if overrides:
            raise AlphaZeroError(f"{overrides[0]!r} changes a file; name one, as in configs/")
        rows = [row for name in names for row in reference.find_keys(name)]
        print("\n\n".join(map(str, rows or reference.describe_keys())))
    elif len(names) > 1:
        raise AlphaZeroError("name keys, or one YAML file")
    else:
        print(dump_config(load_config(files[0], overrides)), end="")
