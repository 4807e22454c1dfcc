"""Runs the configurations of a sweep, several at a time, and ranks them."""

import contextlib
import math
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Final, Literal, NamedTuple

from alphazero.arena.tournament import Tournament, standings
from alphazero.config.reference import differing_values
from alphazero.diagnostics.runs.comparison import SPENT, RunCurves, read_runs, whole
from alphazero.diagnostics.runs.sweep_file import MATCH, PlannedRun, Sweep
from alphazero.errors import RunError
from alphazero.players.registry import common_game, parse_player
from alphazero.training.manifest import holds_run
from alphazero.training.run_directory import RunDirectory
from alphazero.utils.files import path_errors, printable
from alphazero.utils.machine import usable_cores
from alphazero.utils.printing import rounded
from alphazero.utils.progress import Progress, no_progress
from alphazero.utils.tables import align, save_csv

FREE_KEYS: Final = ("run.threads", "run.trackers", "run.keep_checkpoints", "run.keep_games")
"""Keys that may differ between the sweep and a run already in its folder: they change no result."""

RESULTS: Final = "results.csv"
"""Name of the table in the sweep's folder."""

Status = Literal["finished", "interrupted", "not started"]


def check_runs(sweep: Sweep) -> None:
    """Check that runs already in the folder are those of the sweep.

    Raises:
        RunError: when one has other keys.
        ConfigError: when the configuration of one cannot be read.
    """
    for run in sweep.runs:
        if holds_run(run.folder):
            found = differing_values([RunDirectory.open(run.folder).config, run.config])
            changed = [
                f"{key}: {before} -> {after}"
                for key, (before, after) in found.items()
                if key not in FREE_KEYS
            ]
            if changed:
                raise RunError(
                    f"{printable(run.folder)} holds a run with other keys ({', '.join(changed)}); "
                    "choose another sweep.folder, or remove that run"
                )


def status_of(run: PlannedRun) -> Status:
    """Return how far a run is."""
    if not holds_run(run.folder):
        return "not started"
    return "finished" if RunDirectory.open(run.folder).budget_is_spent() else "interrupted"


class Processes:
    """Trains runs, each in a process of its own."""

    def __init__(self, jobs: int) -> None:
        self._threads = max(1, usable_cores() // jobs)
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopping = False

    def train(self, run: PlannedRun) -> str:
        """Start or resume a run and wait for its end; return its error, or an empty text."""
        words = ["resume", str(run.folder)]
        if status_of(run) == "not started":
            words = ["train", run.base, *run.overrides]
            if not run.config.run.threads:
                words.append(f"run.threads={self._threads}")
        log = run.folder.with_suffix(".log")
        command = [sys.executable, "-m", "alphazero.diagnostics.runs.sweep_worker", *words]
        with path_errors("write", log), log.open("ab") as output:
            with self._lock:
                if self._stopping:
                    return "stopped"
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # Ctrl-C is for the sweep, which then stops its runs
                )
                self._running.add(process)
            code = process.wait()
        with self._lock:
            self._running.discard(process)
            _hang_up(process)
        if code == 0:
            return ""
        lines = log.read_text(errors="replace").strip().split("\n")
        return f"{printable(lines[-1])[:300]} (exit code {code}; see {printable(log)})"

    def stop(self) -> None:
        """Stop every run as Ctrl-C does, and wait."""
        with self._lock:
            self._stopping = True
            running = list(self._running)
            for process in running:
                _hang_up(process)
        for process in running:
            process.wait()


def _hang_up(process: subprocess.Popen[bytes]) -> None:
    """Close the input of a run's process, which stops it (sweep_worker.py)."""
    assert process.stdin is not None
    process.stdin.close()


def train_runs(
    sweep: Sweep, jobs: int, report: Callable[[PlannedRun, str], object]
) -> list[PlannedRun]:
    """Train the runs that are not finished, `jobs` at a time; return those that failed.

    `report` is called with each run that ends, and its error or an empty text. Ctrl-C stops the
    runs, which a later call resumes.
    """
    with path_errors("create", sweep.folder):
        sweep.folder.mkdir(parents=True, exist_ok=True)
    waiting = [run for run in sweep.runs if status_of(run) != "finished"]
    processes, failed = Processes(jobs), []
    with ThreadPoolExecutor(jobs) as pool, contextlib.ExitStack() as stack:
        stack.callback(processes.stop)
        futures = {pool.submit(processes.train, run): run for run in waiting}
        for future in as_completed(futures):
            run, error = futures[future], future.result()
            report(run, error)
            if error:
                failed.append(run)
    return failed


class Result(NamedTuple):
    """A run of a sweep and what it reached."""

    run: PlannedRun
    status: Status
    value: float | None
    """of the sweep's metric; None if it was not measured"""
    spent: Mapping[str, float | None]
    """by the names of `SPENT`"""


def results(sweep: Sweep, *, plays: bool = True, show: Progress = no_progress) -> list[Result]:
    """Return the runs, the best first; for `match/elo`, play the games that are missing if `plays`.

    `show` receives the games ended.
    """
    statuses = {run.folder: status_of(run) for run in sweep.runs}
    ratings: Mapping[Path, float] = {}
    if sweep.settings.metric == MATCH and plays:
        ratings = _ratings(sweep, [each for each in statuses if statuses[each] == "finished"], show)
    found = []
    for run in sweep.runs:
        curves: RunCurves | None = None
        if statuses[run.folder] != "not started":
            with contextlib.suppress(RunError):  # a run before its first iteration
                (curves,) = read_runs([run.folder])
        value = curves.value(sweep.settings.metric) if curves else None
        value = ratings.get(run.folder, value)
        spent = {name: curves.value(name) if curves else None for name in SPENT}
        found.append(Result(run, statuses[run.folder], value, spent))
    sign = -1 if sweep.settings.maximize else 1
    return sorted(found, key=lambda each: math.inf if each.value is None else sign * each.value)


def _ratings(sweep: Sweep, folders: Sequence[Path], show: Progress) -> dict[Path, float]:
    """Return the Elo of runs' best players against the opponent; its games are kept."""
    if not folders:
        return {}
    settings = sweep.settings
    specs = [parse_player(settings.opponent), *(parse_player(str(each)) for each in folders)]
    game = common_game(specs, None)
    tournament = Tournament(
        game,
        specs,
        settings.games,
        seed=settings.seed,
        gauntlet=True,
        folder=sweep.folder / "match",
    )
    tournament.play(usable_cores(), show)
    rows, _ = standings(tournament, anchor=0)
    elo = {row.name: row.elo for row in rows}
    return {folder: elo[spec.name] for folder, spec in zip(folders, specs[1:], strict=True)}


def describe(sweep: Sweep, ranked: Sequence[Result]) -> str:
    """Return the runs as a table, the best first."""
    keys = list(sweep.runs[0].values)
    rows = [("run", sweep.settings.metric, *keys, "iterations", "hours", "")]
    for each in ranked:
        rows.append(
            (
                each.run.folder.name,
                rounded(each.value),
                *each.run.values.values(),
                whole(each.spent["iterations"]),
                rounded(each.spent["hours"]),
                "" if each.status == "finished" else each.status,
            )
        )
    return align(rows)


def save_results(sweep: Sweep, ranked: Sequence[Result]) -> None:
    """Write the table into the sweep's folder; raise RunError if that fails."""
    keys = list(sweep.runs[0].values)
    save_csv(
        sweep.folder / RESULTS,
        ["run", sweep.settings.metric, *keys, *SPENT, "status"],
        [
            [
                each.run.folder.name,
                "" if each.value is None else each.value,
                *each.run.values.values(),
                *("" if spent is None else spent for spent in each.spent.values()),
                each.status,
            ]
            for each in ranked
        ],
    )
