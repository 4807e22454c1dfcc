"""A sweep's runs follow from its file, and its mistakes are reported before the first begins."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from helpers.runs.tiny_run import YAML

from alphazero.config.loader import load_config
from alphazero.diagnostics.runs.sweep_file import Range, Sweep, load_sweep
from alphazero.errors import ConfigError

SWEEP = "sweep: {base: tiny.yaml, maximize: gate/rating}\n"
RANDOM = "sweep: {base: tiny.yaml, maximize: gate/rating, runs: 5, seed: 3}\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tiny.yaml").write_text(YAML)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sweep_of(text: str) -> Sweep:
    Path("my.yaml").write_text(text)
    return load_sweep(Path("my.yaml"))


def values_of(text: str) -> list[dict[str, Any]]:
    return [
        {key: yaml.safe_load(value) for key, value in run.values.items()}
        for run in sweep_of(text).runs
    ]


def test_lists_are_combined(home: Path) -> None:
    sweep = sweep_of(
        f"{SWEEP}set: {{budget.iterations: 2, evaluation.anchors: [random, 'uct:4']}}\n"
        "keys:\n  search.c_puct: [1, 2.5]\n"
        "  learner.learning_rate: [1.0e-3, [{step: 0, rate: 0.1}, {step: 9, rate: 0.01}]]\n"
        "  selfplay.resign_enabled_fraction: [0.5]\n"
    )
    assert sweep.folder == Path("runs/my")
    assert [run.folder.name for run in sweep.runs] == ["001", "002", "003", "004"]
    pairs = [
        (run.config.search.c_puct, [point.rate for point in run.config.learner.learning_rate])
        for run in sweep.runs
    ]
    assert pairs == [(1, [0.001]), (1, [0.1, 0.01]), (2.5, [0.001]), (2.5, [0.1, 0.01])]
    for run in sweep.runs:
        assert run.config.budget.iterations == 2
        assert run.config.evaluation.anchors == ("random", "uct:4")
        assert (run.config.run.folder, run.config.run.name) == ("runs/my", run.folder.name)
        assert load_config(run.base, run.overrides) == run.config


def test_some_runs_of_a_grid_are_different_ones_and_a_larger_number_begins_with_them() -> None:
    grid = "keys: {search.c_puct: [1, 2, 3], learner.batch_size: [4, 8, 16]}\n"
    whole = values_of(SWEEP + grid)
    five, seven = (values_of(RANDOM.replace("5", str(n)) + grid) for n in (5, 7))
    assert len(five) == 5
    assert seven[:5] == five
    assert all(each in whole for each in seven)
    assert len({tuple(each.values()) for each in seven}) == 7
    assert len(values_of(RANDOM.replace("5", "50") + grid)) == 9


def test_random_values_lie_in_their_ranges_and_follow_from_the_seed() -> None:
    keys = (
        "keys:\n  search.c_puct: {low: 0.5, high: 2}\n  learner.batch_size: {low: 4, high: 7}\n"
        "  search.fpu: [zero, parent]\n  learner.learning_rate: {low: 0.001, high: 1, scale: log}\n"
    )
    drawn = values_of(RANDOM.replace("5", "60") + keys)
    assert values_of(RANDOM.replace("5", "60") + keys) == drawn
    assert values_of(RANDOM + keys) == drawn[:5]
    assert values_of(RANDOM.replace("seed: 3", "seed: 4") + keys) != drawn[:5]
    assert {each["learner.batch_size"] for each in drawn} == {4, 5, 6, 7}
    assert {each["search.fpu"] for each in drawn} == {"zero", "parent"}
    assert all(0.5 <= each["search.c_puct"] <= 2 for each in drawn)
    rates = [each["learner.learning_rate"] for each in drawn]
    assert all(0.001 <= rate <= 1 for rate in rates)


@pytest.mark.parametrize(
    ("ends", "is_log", "middle"),
    [((0.0, 1.0), False, 0.5), ((1e-4, 1.0), True, 1e-2), ((1, 10_000), True, 100)],
)
def test_half_of_the_numbers_lie_below_the_middle_of_the_scale(
    ends: tuple[float, float], is_log: bool, middle: float
) -> None:
    rng = np.random.default_rng(0)
    drawn = [Range(*ends, is_log).draw(rng) for _ in range(2000)]
    assert 0.46 < sum(each < middle for each in drawn) / len(drawn) < 0.54
    assert {type(each) for each in drawn} == {type(ends[0])}
    assert all(float(f"{each:.4g}") == each for each in drawn if isinstance(each, float))


ONE = "keys: {search.c_puct: [1]}\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ["sweep.base: this required key is missing", "name one metric", "name one key"]),
        ("sweeps: {}\n", ["my.yaml:1: unknown section 'sweeps'; did you mean 'sweep'?"]),
        ("sweep: 3\n", ["my.yaml:1: sweep: expected keys and values, got 3"]),
        (
            f"sweep: {{base: tiny.yaml, maximise: gate/rating}}\n{ONE}",
            ["my.yaml:1: unknown key 'maximise' in 'sweep'; did you mean 'maximize'?"],
        ),
        (
            f"sweep: {{base: tiny.yaml, maximize: gate/ratng}}\n{ONE}",
            ["my.yaml:1: sweep.maximize: no curve 'gate/ratng'; did you mean 'gate/rating'?"],
        ),
        (
            f"sweep: {{base: tiny.yaml, minimize: selfplay/surprise}}\n{ONE}",
            ["my.yaml:1: sweep.minimize: no curve 'selfplay/surprise'"],
        ),
        (
            f"sweep: {{base: tiny.yaml, minimize: loss/total, maximize: gate/elo}}\n{ONE}",
            ["my.yaml:1: sweep: name one metric, as maximize: match/elo or minimize: loss/total"],
        ),
        (
            f"sweep: {{base: tiny.yaml, maximize: anchors/elo}}\n{ONE}",
            ["my.yaml:1: sweep.maximize: some runs never measure anchors/elo; see `alphazero con"],
        ),
        (
            f"sweep: {{base: tiny.yaml, maximize: match/elo}}\n{ONE}",
            ["my.yaml:1: sweep.maximize: match/elo needs a player in sweep.opponent"],
        ),
        (
            f"sweep:\n  base: tiny.yaml\n  maximize: match/elo\n  opponent: rando\n{ONE}",
            ["my.yaml:4: sweep.opponent: unknown player 'rando'; did you mean 'random'?"],
        ),
        (
            f"sweep:\n  base: tiny.yaml\n  maximize: match/elo\n  opponent: random\n  games: 3\n"
            f"{ONE}",
            ["my.yaml:5: sweep.games: must be even"],
        ),
        (
            f"sweep: {{base: tiny.yaml, maximize: gate/elo, runs: 0}}\n{ONE}",
            ["sweep.runs: must be"],
        ),
        (f"sweep: {{base: tini.yaml, maximize: gate/elo}}\n{ONE}", ["tini.yaml: no such file"]),
        (YAML, ["my.yaml: a sweep has the sections sweep, set, keys, this file none; to train"]),
        (
            f"{SWEEP}set:\n  budget.iteration: 3\nkeys:\n  search.c_pucts: [1, 2]\n"
            "  learner.batch_size: [8, big, 0]\n",
            [
                "my.yaml:3: unknown key 'iteration' in 'budget'; did you mean 'iterations'?",
                "my.yaml:5: unknown key 'c_pucts' in 'search'; did you mean 'c_puct'?",
                "my.yaml:6: learner.batch_size: expected a whole number, got text 'big'",
                "my.yaml:6: learner.batch_size: must be at least 1 and at most 1048576, got 0",
            ],
        ),
        (
            f"{SWEEP}keys:\n  replay.window_minimum: [70, 300]\n",
            ["my.yaml:3: replay.window_minimum (300) must be at most replay.window_maximum (200)"],
        ),
        (f"{SWEEP}keys:\n  game.name: [nimm]\n", ["my.yaml:3: unknown game 'nimm'; did you"]),
        (f"{SWEEP}keys:\n  batch_size: [1]\n", ["my.yaml:3: expected section.key=value; did you"]),
        (
            f"{SWEEP}keys:\n  search.c_puct: 3\n  learner.batch_size: []\n",
            [
                "my.yaml:3: search.c_puct: expected a list or {low: ..., high: ...}, got 3",
                "my.yaml:4: learner.batch_size: expected a list or {low: ..., high: ...}, got an",
            ],
        ),
        (
            f"{SWEEP}keys:\n  search.c_puct: {{low: 1, high: 3}}\n",
            ["my.yaml:3: search.c_puct: a range needs a number of runs in sweep.runs"],
        ),
        (
            f"{RANDOM}keys:\n  search.c_puct: {{low: 3, high: 1}}\n",
            ["my.yaml:3: search.c_puct: low must be below high, got 3 and 1"],
        ),
        (
            f"{RANDOM}keys:\n  search.c_puct: {{low: 0, high: 1, scale: log}}\n",
            ["my.yaml:3: search.c_puct: low must be below high and above 0, got 0 and 1"],
        ),
        (
            f"{RANDOM}keys:\n  search.c_puct: {{low: 1e-3, hihg: 1, scale: logg}}\n",
            [
                "my.yaml:3: search.c_puct: unknown word 'hihg' in a range; did you mean 'high'?",
                "my.yaml:3: keys.search.c_puct.low: '1e-3' is text in YAML; write 1.0e-3 or 0.001",
                "my.yaml:3: keys.search.c_puct.high: expected a number, got nothing",
                "my.yaml:3: keys.search.c_puct.scale: must be one of linear, log, got 'logg'",
            ],
        ),
        (
            f"{SWEEP}set: {{run.folder: x, search.c_puct: 2}}\nkeys: {{run.name: [a], "
            "search.c_puct: [1]}\n",
            [
                "my.yaml:2: run.folder: the sweep itself sets it; remove it",
                "my.yaml:3: run.name: the sweep itself sets it; remove it",
                "my.yaml:3: search.c_puct: is in `set` too; keep one",
            ],
        ),
        (
            f"{SWEEP}keys: {{search.c_puct: {[*range(40)]}, learner.batch_size: {[*range(40)]}}}\n",
            ["my.yaml:2: keys: 1,600 combinations; the limit is 999: set a number in sweep.runs"],
        ),
    ],
)
def test_every_mistake_is_reported_with_its_line(text: str, lines: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        sweep_of(text)
    message = str(caught.value)
    for line in lines:
        assert line in message
    assert all(each.startswith(("my.yaml", "tini.yaml")) for each in message.split("\n"))
    assert len(message.split("\n")) <= len(lines) + 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            f"sweep: {{base: tiny.yaml, maximize: 3}}\n{ONE}",
            "my.yaml:1: sweep.maximize: expected text, got 3; put it in quotes",
        ),
        (
            "sweep: {base: tiny.yaml, maximize: gate/elo, runs: 0}\n"
            "keys: {search.c_puct: {low: 1, high: 3}}\n",
            "my.yaml:1: sweep.runs: must be at least 1 and at most 999, got 0",
        ),
    ],
)
def test_one_mistake_is_reported_once(text: str, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        sweep_of(text)
    assert str(caught.value) == line
