"""The YAML file of a sweep: which configurations are trained, and how they are ranked.

sweep: {base: configs/tic_tac_toe.yaml, maximize: anchors/elo, runs: 8}
set: {budget.iterations: 10}
keys:
  search.c_puct: {low: 0.5, high: 4.0, scale: log}
  replay.ratio: [2.0, 4.0, 8.0]
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from alphazero.config.fields import REQUIRED, FieldInfo, Reader, config_field
from alphazero.config.loader import load_config, written
from alphazero.config.schema import Config
from alphazero.config.strict_yaml import (
    describe_value,
    parse_mapping,
    quote,
    read_text,
    yaml_scalar,
)
from alphazero.errors import AlphaZeroError, ConfigError, did_you_mean
from alphazero.players.registry import parse_player
from alphazero.training.monitoring.dashboard import never_measured
from alphazero.training.monitoring.metrics import METRICS, kind_of

MATCH: Final = "match/elo"
"""The only metric without a curve: the rating by games against `sweep.opponent`, who has 0."""
MOST_RUNS: Final = 999
SECTIONS: Final = ("sweep", "set", "keys")


@dataclass(frozen=True)
class SweepSettings:
    """The section `sweep` of the file."""

    base: str = config_field(REQUIRED, "the YAML file that every run starts from")
    folder: str = config_field(
        "", "folder of the runs; empty: this file's name, in the base's run.folder"
    )
    runs: int | None = config_field(
        None, "runs, with values drawn at random; null: every combination", at_least=1, at_most=999
    )
    seed: int = config_field(0, "seed of the values that are drawn", at_least=0)
    maximize: str = config_field("", "the metric that ranks the runs, the highest first")
    minimize: str = config_field("", "the same, the lowest first")
    opponent: str = config_field("", f"the player that {MATCH} is measured against")
    games: int = config_field(40, f"games of each run for {MATCH}", at_least=2)

    @property
    def metric(self) -> str:
        return self.maximize or self.minimize


class Range(NamedTuple):
    """Numbers from `low` to `high`, both included."""

    low: float
    high: float
    is_log: bool

    def draw(self, rng: np.random.Generator) -> float:
        """Return a number: whole if both ends are, else with four significant digits."""
        if isinstance(self.low, int) and isinstance(self.high, int) and not self.is_log:
            return int(rng.integers(self.low, self.high, endpoint=True))
        if self.is_log:
            drawn = math.exp(rng.uniform(math.log(self.low), math.log(self.high)))
        else:
            drawn = rng.uniform(self.low, self.high)
        if isinstance(self.low, int) and isinstance(self.high, int):
            return min(max(round(drawn), self.low), self.high)
        return min(max(float(f"{drawn:.4g}"), self.low), self.high)


@dataclass(frozen=True)
class PlannedRun:
    """A run of a sweep."""

    folder: Path
    values: Mapping[str, str]
    """of the keys that the sweep varies, as in YAML"""
    base: str
    overrides: Sequence[str]
    config: Config


@dataclass(frozen=True)
class Sweep:
    """A checked sweep."""

    folder: Path
    settings: SweepSettings
    runs: Sequence[PlannedRun]


def load_sweep(path: Path) -> Sweep:
    """Load the file of a sweep and check the configuration of every run.

    Raises:
        ConfigError: with a line for each problem: the file, the line in it, and the key.
    """
    document = parse_mapping(read_text(path), str(path))
    reader = Reader(str(path), document)
    content = _read_sections(reader, document.value)
    settings = reader.read(SweepSettings, ("sweep",), content["sweep"])
    _check_metric(reader, settings)
    choices = {key: _read_choices(reader, key, each) for key, each in content["keys"].items()}
    _check_keys(reader, content)
    if settings.runs is None and ("sweep", "runs") not in reader.wrong:
        for key, each in choices.items():
            if isinstance(each, Range):
                reader.report(("keys", key), f"{key}: a range needs a number of runs in sweep.runs")
    reader.finish()
    base = load_config(settings.base)  # its own problems have its own name
    folder = Path(settings.folder or Path(base.run.folder) / path.stem)
    fixed = [f"{key}={written(value)}" for key, value in content["set"].items()]
    planned, seen = [], set[tuple[str, str]]()
    for number, values in enumerate(_combinations(reader, settings, choices), 1):
        texts = {key: written(value) for key, value in values.items()}
        varied = [f"{key}={value}" for key, value in texts.items()]
        name = f"{number:03d}"
        place = [f"run.folder={yaml_scalar(str(folder))}", f"run.name={yaml_scalar(name)}"]
        overrides = [*fixed, *varied, *place]
        try:
            config = load_config(settings.base, overrides)
        except ConfigError as error:
            for key, message in _located(str(error), [*content["set"], *texts], overrides):
                if (key, message) not in seen:
                    seen.add((key, message))
                    reader.report(("set" if key in content["set"] else "keys", key), message)
            config = base
        planned.append(PlannedRun(folder / name, texts, settings.base, overrides, config))
    prefix = settings.metric.partition("/")[0]
    if not seen and any(prefix in never_measured(run.config) for run in planned):
        way = "maximize" if settings.maximize else "minimize"
        reader.report(
            ("sweep", way),
            f"sweep.{way}: some runs never measure {settings.metric}; see `alphazero config "
            f"{'gate' if prefix == 'gate' else 'evaluation'}`",
        )
    reader.finish()
    return Sweep(folder, settings, planned)


def _read_sections(reader: Reader, document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    content: dict[str, dict[str, Any]] = {name: {} for name in SECTIONS}
    if "game" in document and document.keys().isdisjoint(SECTIONS):
        raise ConfigError(
            f"{reader.source}: a sweep has the sections {', '.join(SECTIONS)}, this file none; to "
            f"train a configuration: alphazero train {reader.source}"
        )
    for name, section in document.items():
        if name not in SECTIONS:
            reader.report((name,), f"unknown section {quote(name)}{did_you_mean(name, SECTIONS)}")
        elif not isinstance(section, dict):
            got = describe_value(section)
            reader.report((name,), f"{name}: expected keys and values, got {got}")
        else:
            content[name] = section
    reader.finish()
    return content


def _check_metric(reader: Reader, settings: SweepSettings) -> None:
    if bool(settings.maximize) == bool(settings.minimize):
        if reader.wrong.isdisjoint({("sweep", "maximize"), ("sweep", "minimize")}):
            reader.report(
                ("sweep",), f"sweep: name one metric, as maximize: {MATCH} or minimize: loss/total"
            )
        return
    way = "maximize" if settings.maximize else "minimize"
    if settings.metric == MATCH:
        if not settings.opponent:
            reader.report(("sweep", way), f"sweep.{way}: {MATCH} needs a player in sweep.opponent")
        elif settings.games % 2:
            reader.report(("sweep", "games"), "sweep.games: must be even: pairs swap colours")
        else:
            try:
                parse_player(settings.opponent)
            except AlphaZeroError as error:
                reader.report(("sweep", "opponent"), f"sweep.opponent: {error}")
    elif kind_of(settings.metric) != "curve":
        curves = [MATCH, *(name for name, each in METRICS.items() if each.kind == "curve")]
        nearest = did_you_mean(settings.metric, curves)
        reader.report(("sweep", way), f"sweep.{way}: no curve {quote(settings.metric)}{nearest}")


def _check_keys(reader: Reader, content: Mapping[str, Mapping[str, Any]]) -> None:
    if not content["keys"]:
        reader.report(("keys",), "keys: name one key or more, as search.c_puct: [1.0, 2.0]")
    for section in ("set", "keys"):
        for key in content[section]:
            if key in ("run.name", "run.folder"):
                reader.report((section, key), f"{key}: the sweep itself sets it; remove it")
            elif section == "keys" and key in content["set"]:
                reader.report((section, key), f"{key}: is in `set` too; keep one")


def _read_choices(reader: Reader, key: str, given: Any) -> list[Any] | Range:
    """Return the values of a key, a list or a range; report a problem and return an empty list."""
    path = ("keys", key)
    if isinstance(given, list) and given:
        return given
    if not isinstance(given, dict):
        got = "an empty list" if given == [] else describe_value(given)
        reader.report(path, f"{key}: expected a list or {{low: ..., high: ...}}, got {got}")
        return []
    for name in given:
        if name not in ("low", "high", "scale"):
            nearest = did_you_mean(name, ("low", "high", "scale"))
            reader.report((*path, name), f"{key}: unknown word {quote(name)} in a range{nearest}")
    ends = []
    for name in ("low", "high"):
        value = given.get(name)
        if type(value) is not int:
            value = reader.read_value((*path, name), float, FieldInfo("an end"), value)
        ends.append(value)
    scale = FieldInfo("the scale", choices=("linear", "log"))
    is_log = reader.read_value((*path, "scale"), str, scale, given.get("scale", "linear")) == "log"
    if any(wrong[:2] == path for wrong in reader.wrong):
        return []
    low, high = ends
    if not low < high or (is_log and low <= 0):
        least = " and above 0" if is_log else ""
        reader.report(path, f"{key}: low must be below high{least}, got {low} and {high}")
        return []
    return Range(low, high, is_log)


def _combinations(
    reader: Reader, settings: SweepSettings, choices: Mapping[str, list[Any] | Range]
) -> Iterator[dict[str, Any]]:
    """Yield the values of each run; a larger number of runs begins with the same ones."""
    lists = [each for each in choices.values() if isinstance(each, list)]
    if len(lists) < len(choices):
        for index in range(settings.runs or 0):
            rng = np.random.default_rng([settings.seed, index])
            yield {
                key: each.draw(rng) if isinstance(each, Range) else each[rng.integers(len(each))]
                for key, each in choices.items()
            }
        return
    total = math.prod(map(len, lists))
    if min(total, settings.runs or total) > MOST_RUNS:
        reader.report(
            ("keys",),
            f"keys: {total:,} combinations; the limit is {MOST_RUNS}: set a number in sweep.runs",
        )
        return
    order = np.arange(total)
    if settings.runs is not None:
        order = np.random.default_rng(settings.seed).permutation(total)[: settings.runs]
    shape = tuple(map(len, lists))
    for index in order.tolist():
        places = np.unravel_index(index, shape)
        values = (each[int(place)] for each, place in zip(lists, places, strict=True))
        yield dict(zip(choices, values, strict=True))


def _located(
    error: str, keys: Sequence[str], overrides: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the key and the message of each line of a ConfigError about overrides."""
    for line in error.split("\n"):
        for key, override in zip(keys, overrides, strict=False):
            start = f"override {quote(override)}: "
            if line.startswith(start):
                yield key, line.removeprefix(start)
                break
        else:
            yield keys[-1], line
