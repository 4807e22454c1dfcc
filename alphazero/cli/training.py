"""Commands that train a player and inspect a run."""

import argparse
import shlex
import sys
from pathlib import Path

from alphazero.cli.argument_types import (
    calibration_seconds,
    devices,
    positive_numbers,
    seconds,
)
from alphazero.cli.shared import (
    EXIT_INTERRUPTED,
    config_file_arguments,
)
from alphazero.errors import AlphaZeroError
from alphazero.utils.machine import usable_cores


def train_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `train`."""
    config_file_arguments(parser, optional=True)
    parser.add_argument(
        "--resume", type=Path, metavar="RUN", help="the folder of the run to resume"
    )


def train(options: argparse.Namespace) -> int:
    """Train from a YAML file, or resume a run."""
    from alphazero.config.loader import load_config
    from alphazero.training.manifest import check_new, check_run, holds_run, run_folder

    if options.resume:
        if options.config and "=" not in options.config:
            raise AlphaZeroError(
                f"--resume goes on with the configuration of the run; leave out {options.config}, "
                "or write keys as section.key=value"
            )
        overrides = [options.config, *options.overrides] if options.config else options.overrides
        folder = options.resume
        check_run(folder)
    elif options.config:
        config = load_config(options.config, options.overrides)
        folder = run_folder(config)
        check_new(folder)
    else:
        raise AlphaZeroError("name a YAML file, as in configs/, or a run's folder with --resume")
    try:
        from alphazero.training.loop import resume, train

        if options.resume:
            resume(folder, overrides)
        else:
            train(config)
    except KeyboardInterrupt:
        again = f"go on with: alphazero train --resume {shlex.quote(str(folder))}"
        if not holds_run(folder):
            again = "nothing was saved yet, so begin again with the same command"
        print(f"\nstopped; {again}", file=sys.stderr)
        return EXIT_INTERRUPTED
    from alphazero.diagnostics.run_history import describe_stages, stage_seconds

    if spent := stage_seconds(folder):
        print(f"time of the run: {describe_stages(spent)}")
    print(f"done; play it with: alphazero play {shlex.quote(str(folder))}")
    return 0


def plot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plot`."""
    parser.add_argument("folder", type=Path, metavar="RUN", help="the folder of a run")
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="the figure, as PNG or SVG by its suffix (default: RUN/curves.png and RUN/curves.svg)",
    )


def plot(options: argparse.Namespace) -> None:
    """Plot a run's curves."""
    from alphazero.diagnostics.run_figure import plot_run

    files = plot_run(options.folder, [options.save] if options.save else None)
    print(f"drawn in {' and '.join(map(str, files))}")


def verify_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `verify`."""
    parser.add_argument("path", type=Path, metavar="RUN", help="a run's folder, or a checkpoint")


def verify(options: argparse.Namespace) -> None:
    """Verify a run or a checkpoint."""
    from alphazero.training.manifest import check_resumable
    from alphazero.utils.files import check_readable, is_folder

    if is_folder(options.path):
        check_resumable(options.path)
    else:
        check_readable(options.path)

    from alphazero.diagnostics.verify import verify

    verdict = verify(options.path)
    print(verdict)
    if verdict.faults:
        raise AlphaZeroError("\n".join(verdict.faults))


def bench_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bench`."""
    config_file_arguments(parser)
    parser.add_argument(
        "--seconds",
        type=seconds,
        default=40,
        metavar="S",
        help="approximate duration (default: 40)",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--profile",
        action="store_true",
        help="show the parts of a simulation and their time, on one core, without the network",
    )
    what.add_argument(
        "--evaluator",
        type=devices,
        metavar="none|paced[:RATES[:LATENCY]]",
        help="replace the network, to measure what the cores can request: none answers at once "
        "with random numbers; paced also waits, as for devices of RATES positions a second "
        "(default: 10,000 to 10,000,000) that take LATENCY milliseconds or more (default: 0.3), "
        "as paced:30000,1e6:0.5",
    )
    parser.add_argument(
        "--workers",
        type=positive_numbers,
        metavar="N,N",
        help="numbers of threads to compare, with --evaluator (default: 1, one per core, two per "
        "core)",
    )


def bench(options: argparse.Namespace) -> None:
    """Measure self-play."""
    from tqdm import tqdm

    from alphazero.config.loader import load_config

    config = load_config(options.config, options.overrides)
    cores, num_games = config.run.threads or usable_cores(), config.selfplay.parallel_games
    if options.workers and not options.evaluator:
        raise AlphaZeroError("--workers needs --evaluator; a network's workers are run.threads")
    if max(options.workers or [1]) > num_games:
        raise AlphaZeroError(
            f"--workers {max(options.workers)}: a worker needs a game, and {options.config} plays "
            f"{num_games} at once (selfplay.parallel_games)"
        )

    if options.profile:
        from alphazero.diagnostics.search_profile import MOMENTS, profile

        with tqdm(total=MOMENTS, unit="moment", leave=False, disable=None) as bar:
            print(profile(config, options.seconds, bar.update))
    elif options.evaluator:
        from alphazero.diagnostics.host_benchmark import ROUNDS, benchmark_host

        rates, latency = options.evaluator
        counts = options.workers or sorted({min(n, num_games) for n in (1, cores, 2 * cores)})
        total = len(counts) * (len(rates) + 1) * ROUNDS
        with tqdm(total=total, unit="measurement", leave=False, disable=None) as bar:
            measured = benchmark_host(
                config, counts, rates, latency, cores, options.seconds, bar.update
            )
        print(measured)
    else:
        from alphazero.diagnostics.benchmark import ROUNDS, benchmark
        from alphazero.network.backend import num_selfplay_threads

        workers = num_selfplay_threads(config.inference, cores, num_games)
        with tqdm(total=ROUNDS + 1, unit="round", leave=False, disable=None) as bar:
            print(benchmark(config, options.seconds, workers, bar.update))


def plan_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plan`."""
    config_file_arguments(parser, optional=True)
    parser.add_argument(
        "--against",
        type=Path,
        metavar="RUN",
        help="forecast the work that this run has done and report the error; replaces CONFIG",
    )
    parser.add_argument(
        "--seconds",
        type=calibration_seconds,
        default=40,
        metavar="S",
        help="approximate duration of the measurement, 60 at most (default: 40)",
    )


def plan(options: argparse.Namespace) -> None:
    """Forecast a run, or compare a forecast with a run."""
    from tqdm import tqdm

    from alphazero.config.loader import load_config
    from alphazero.training.manifest import check_run

    if bool(options.config) == bool(options.against):
        raise AlphaZeroError("name either a YAML file, as in configs/, or a run with --against")
    if options.against:
        check_run(options.against)
    else:
        config = load_config(options.config, options.overrides)

    from alphazero.diagnostics.calibration import PARTS, calibrate
    from alphazero.diagnostics.forecast import compare, describe, measure_run

    past = measure_run(options.against) if options.against else None
    config = past.config if past else config
    cores = config.run.threads or usable_cores()
    with tqdm(total=PARTS, unit="part", leave=False, disable=None) as bar:
        measured = calibrate(config, cores, options.seconds, bar.update)
    print(compare(past, measured) if past else describe(config, measured))


def doctor_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `doctor`."""
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="the folder of a run")


def doctor(options: argparse.Namespace) -> None:
    """Diagnose a run; problems found do not change the exit code."""
    from alphazero.training.manifest import check_run

    check_run(options.run_folder)

    from alphazero.diagnostics.doctor import examine

    print(examine(options.run_folder))


def check_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `check`."""
    parser.add_argument(
        "game", metavar="GAME", help="its name, as in mnk:rows=4,columns=4,length=3"
    )


def check(options: argparse.Namespace) -> None:
    """Check a game."""
    from alphazero.games.contract.check import check_game

    report = check_game(options.game)
    if report.faults:
        raise AlphaZeroError(str(report))
    print(report)


def games_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `games`."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="games (default: all)")


def games(options: argparse.Namespace) -> None:
    """List the games."""
    from alphazero.games import game_names, game_options

    for name in options.names or game_names():
        settings = ", ".join(f"{key} {value}" for key, value in game_options(name).items())
        print(f"{name:14} {settings}")
