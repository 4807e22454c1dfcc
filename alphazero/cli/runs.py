"""Commands about several runs: their curves, their comparison, and sweeps."""

import argparse
import shlex
import sys
from pathlib import Path

from alphazero.cli.argument_types import positive_number
from alphazero.cli.shared import EXIT_INTERRUPTED
from alphazero.errors import AlphaZeroError
from alphazero.utils.progress import progress_bar, say


def plot_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="RUN", help="the folder of a run, or several"
    )
    parser.add_argument(
        "--save",
        type=Path,
        metavar="FILE",
        help="the figure, as PNG or SVG by its suffix; an existing figure is replaced (default, "
        "for one run: RUN/curves.png and RUN/curves.svg)",
    )


def plot(options: argparse.Namespace) -> None:
    if len(options.folders) == 1:
        from alphazero.diagnostics.runs.run_figure import plot_run

        files = plot_run(options.folders[0], [options.save] if options.save else None)
    elif options.save is None:
        raise AlphaZeroError("a figure of several runs needs a file: --save FILE.png or FILE.svg")
    else:
        from alphazero.diagnostics.runs.comparison import read_runs
        from alphazero.diagnostics.runs.comparison_figure import plot_runs

        plot_runs(read_runs(options.folders), options.save)
        files = [options.save]
    print(f"drawn in {' and '.join(map(str, files))}")


def compare_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="RUN", help="the folders of two runs or more"
    )
    parser.add_argument(
        "--save",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="also draw strength and loss over evaluations, samples and hours, as PNG or SVG, or "
        "write all curves as CSV, by the suffix; an existing file of that kind is replaced",
    )


def compare(options: argparse.Namespace) -> None:
    from alphazero.diagnostics.runs.comparison import CSV_KEY, describe, read_runs, save_runs
    from alphazero.drawing.figures import KINDS, check_figures
    from alphazero.utils.files import printable
    from alphazero.utils.tables import check_csv

    if len(options.folders) < 2:
        raise AlphaZeroError("name two runs or more; `alphazero plot` shows a single one")
    for file in options.save:
        if file.suffix.lower() == ".csv":
            check_csv(file, CSV_KEY)
        elif file.suffix.lower() in KINDS:
            check_figures([file])
        else:
            raise AlphaZeroError(
                f"cannot write {printable(file)}: let its name end in {', '.join(KINDS)} or .csv"
            )
    runs = read_runs(options.folders)
    print(describe(runs))
    for file in options.save:
        if file.suffix.lower() == ".csv":
            save_runs(file, runs)
        else:
            from alphazero.diagnostics.runs.comparison_figure import plot_comparison

            plot_comparison(runs, file)
        print(f"saved in {file}")


def sweep_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="the YAML file of the sweep")
    parser.add_argument(
        "--jobs",
        type=positive_number,
        default=1,
        metavar="N",
        help="runs at a time, which share the cores (default: 1)",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="check the file, list its runs, and train nothing"
    )


def sweep(options: argparse.Namespace) -> int:
    from alphazero.diagnostics.runs.sweep_file import PlannedRun, load_sweep

    planned = load_sweep(options.file)

    from alphazero.diagnostics.runs.sweep import (
        RESULTS,
        check_runs,
        describe,
        results,
        save_results,
        train_runs,
    )

    check_runs(planned)
    if options.dry_run:
        print(describe(planned, results(planned, plays=False)))
        return 0
    again = f"alphazero sweep {shlex.quote(str(options.file))}"
    try:
        with progress_bar(len(planned.runs), "run") as bar:

            def report(run: PlannedRun, error: str) -> None:
                bar.update()
                say(f"{run.folder}: {error or 'finished'}")

            failed = train_runs(planned, options.jobs, report)
        with progress_bar(0, "game") as bar:
            ranked = results(planned, show=bar.update)
    except KeyboardInterrupt:
        print(f"\nstopped; go on with: {again}", file=sys.stderr)
        return EXIT_INTERRUPTED
    print(describe(planned, ranked))
    save_results(planned, ranked)
    print(f"saved in {planned.folder / RESULTS}")
    if failed:
        raise AlphaZeroError(
            f"{len(failed)} of {len(planned.runs)} runs failed; `{again}` tries them again"
        )
    return 0
