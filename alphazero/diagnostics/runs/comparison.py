"""Several runs side by side: their curves, the keys that differ, and their last values."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from alphazero.config.loader import load_config
from alphazero.config.reference import differing_values
from alphazero.config.schema import Config
from alphazero.diagnostics.runs.run_history import Curve, read_curves, training_minutes
from alphazero.errors import RunError
from alphazero.training.manifest import CONFIG
from alphazero.training.monitoring.dashboard import DASHBOARD, Chart, named
from alphazero.utils.files import printable
from alphazero.utils.printing import rounded
from alphazero.utils.tables import align, save_csv

SPENT: Final = {
    "iterations": "iterations",
    "evaluations": "selfplay/evaluations",
    "samples": "selfplay/positions",
    "hours": "hours of training",
}
"""What runs are compared over, and the curve or the unit of each."""

COMPARED: Final = ("strength", "loss", "self-play")
"""Sections of the dashboard whose curves are compared: those that say how a player learned."""

NAMES: Final = ("run.name", "run.folder", "run.trackers")
"""Keys that have no influence on a run."""

CSV_KEY: Final = "run"
"""First column of the CSV file."""


class RunCurves(NamedTuple):
    """The curves of a run, and what it had spent at the end of each iteration."""

    name: str
    config: Config
    curves: Mapping[str, Curve]
    spent: Mapping[str, Curve]
    """by the names of `SPENT`"""

    def points(self, name: str, over: str) -> list[tuple[float, float]]:
        """Return the finite points of a curve over something in `SPENT`."""
        at, curve = self.spent[over], self.curves.get(name, {})
        return [(at[each], curve[each]) for each in curve if each in at]

    def value(self, name: str, evaluations: float = math.inf) -> float | None:
        """Return a curve's last value within `evaluations`; None if there is none."""
        values = self.spent.get(name) or self.curves.get(name, {})
        spent = self.spent["evaluations"]
        within = [each for each in values if spent.get(each, math.inf) <= evaluations]
        return values[max(within)] if within else None


def read_runs(folders: Sequence[Path]) -> list[RunCurves]:
    """Return the curves of runs, without infinite values.

    Raises:
        RunError: when a run is named twice, or has no curves.
        ConfigError: when a run's configuration cannot be read.
    """
    places = [folder.resolve() for folder in folders]
    for index, place in enumerate(places):
        if place in places[:index]:
            raise RunError(f"{printable(folders[index])} is named twice; name different runs")
    bare = [place.name for place in places]
    runs = []
    for folder, name in zip(folders, bare, strict=True):
        curves = {
            metric: {each: value for each, value in curve.items() if math.isfinite(value)}
            for metric, curve in read_curves(folder).items()
        }
        if not curves.get(SPENT["evaluations"]):
            raise RunError(
                f"{printable(folder / 'tensorboard')} has no curves; give the folder of a run that "
                "has ended an iteration"
            )
        label = printable(name if bare.count(name) == 1 else folder)
        minutes = training_minutes(curves)
        iterations = curves[SPENT["evaluations"]]
        spent = {
            "iterations": {each: float(each) for each in iterations},
            "evaluations": iterations,
            "samples": curves.get(SPENT["samples"], {}),
            "hours": {each: minutes[each] / 60 for each in iterations if each in minutes},
        }
        runs.append(RunCurves(label, load_config(folder / CONFIG), curves, spent))
    return runs


def compared_curves(
    runs: Iterable[RunCurves], sections: Iterable[str] = COMPARED
) -> dict[str, Chart]:
    """Return the curves that a run has, in the dashboard's order, each with its chart."""
    known = sorted({name for run in runs for name, curve in run.curves.items() if curve})
    charts = [chart for section in sections for chart in DASHBOARD[section]]
    return {
        name: chart for chart in charts for each in chart.curves for name in named(each, "", known)
    }


def differing_keys(runs: Sequence[RunCurves]) -> dict[str, list[str]]:
    """Return the values [len(runs)] of each differing key, but those in `NAMES`."""
    found = differing_values([run.config for run in runs])
    return {key: each for key, each in found.items() if key not in NAMES}


def describe(runs: Sequence[RunCurves]) -> str:
    """Return a table: differing keys, last values, and values at equal evaluations."""
    fewest = min(run.value("evaluations") or 0 for run in runs)
    keys = differing_keys(runs)
    rows = [("", *(run.name for run in runs))]
    rows += _section(runs, "keys that differ" if keys else "no key differs")
    rows += [(key, *(_shortened(each) for each in values)) for key, values in keys.items()]
    rows += [*_section(runs, ""), *_section(runs, "at the end"), *_values(runs, math.inf)]
    ends = {run.value("evaluations") for run in runs}
    if len(ends) > 1:
        rows += [*_section(runs, ""), *_section(runs, f"at {fewest:,.0f} evaluations")]
        rows += _values(runs, fewest)
    return align(rows)


def _section(runs: Sequence[RunCurves], title: str) -> list[tuple[str, ...]]:
    return [(title, *("" for _ in runs))]


def _values(runs: Sequence[RunCurves], evaluations: float) -> Iterator[tuple[str, ...]]:
    for name in [*SPENT, *compared_curves(runs)]:
        written = whole if name in SPENT and name != "hours" else rounded
        yield name, *(written(run.value(name, evaluations)) for run in runs)


def whole(value: float | None) -> str:
    """Return a whole number, or `-` for None."""
    return "-" if value is None else f"{value:,.0f}"


def _shortened(value: str) -> str:
    return value if len(value) <= 40 else f"{value[:37]}..."


def save_runs(path: Path, runs: Sequence[RunCurves]) -> None:
    """Write a CSV file with a row for each iteration of each run; raise RunError if that fails."""
    keys = differing_keys(runs)
    metrics = sorted({name for run in runs for name in run.curves})
    lines = [
        [
            run.name,
            *(values[index] for values in keys.values()),
            *(run.spent[over].get(iteration, "") for over in SPENT),
            *(run.curves.get(name, {}).get(iteration, "") for name in metrics),
        ]
        for index, run in enumerate(runs)
        for iteration in run.spent["iterations"]
    ]
    save_csv(path, [CSV_KEY, *keys, *SPENT, *metrics], lines)
