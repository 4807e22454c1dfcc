"""Each rule of the doctor finds the run made sick in exactly its way, and no other rule does."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.commands import printed_by
from helpers.games import TIC_TAC_TOE
from helpers.paths import ROOT
from helpers.runs.records import random_records
from helpers.runs.tiny_run import manifest_of, tiny_config

from alphazero.diagnostics import doctor
from alphazero.diagnostics.doctor import Diagnosis, diagnose, examine, without_home
from alphazero.diagnostics.doctor_rules import RULES, RunData, chance_of
from alphazero.network.inference import backend
from alphazero.network.inference.device_check import TOLERANCES
from alphazero.records.game_record import GameRecord
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.iteration import Training
from alphazero.training.loop import train
from alphazero.training.monitoring.metrics import METRICS
from alphazero.training.monitoring.tensorboard import TensorBoardWriter
from alphazero.training.run_directory import RunDirectory
from alphazero.utils.arrays import Float32Array
from alphazero.utils.shipped import shipped_configs

Course = Callable[[int], float] | float
"""A curve: its value at an iteration, or everywhere."""

ITERATIONS = 12

HEALTHY: Mapping[str, Course] = {
    "loss/total": lambda i: 2.5 - 0.1 * i,
    "loss/policy": lambda i: 1.9 - 0.1 * i,
    "loss/value": lambda i: 0.6 - 0.03 * i,
    "learner/policy_entropy": lambda i: 2.0 - 0.1 * i,
    "learner/gradient_norm": 1.0,
    "learner/learning_rate": 0.02,
    "learner/steps": lambda i: 40 * i,
    "learner/seen_value_loss": lambda i: 0.5 - 0.03 * i,
    "learner/unseen_value_loss": lambda i: 0.55 - 0.03 * i,
    "selfplay/positions": lambda i: 320 * i,
    "selfplay/draws": 0.2,
    "selfplay/search_entropy": lambda i: 1.6 - 0.05 * i,
    "selfplay/kept_visits": 0.5,
    "speed/network_share": 0.8,
    "speed/cache_hits": 0.3,
    "gate/distinct_games": 0.9,
}
"""The curves of a run with nothing wrong."""


@dataclass(frozen=True)
class Case:
    """A run that differs from the healthy one in these curves and settings."""

    curves: Mapping[str, Course] = field(default_factory=dict)
    config: tuple[str, ...] = ()
    best_values: Callable[[GameRecord], Float32Array] | None = None
    """of the games in its shards, if it has any"""
    key: str = ""
    """that the advice names"""


def in_despair(record: GameRecord) -> Float32Array:
    """The first player gives up at once, and wins most random games."""
    return np.full(len(record.actions), -0.9, np.float32)


def well_judged(record: GameRecord) -> Float32Array:
    """Only the player who is about to lose expects to lose."""
    best_values = np.full(len(record.actions), 0.1, np.float32)
    if record.outcome:
        best_values[-2] = -0.9
    return best_values


RESIGNING = ("selfplay.resign_enabled_fraction=0.6",)

SICK: Mapping[str, Case] = {
    "gate games repeat": Case({"gate/distinct_games": 0.1}, key="gate.opening_moves"),
    "entropy collapsed": Case(
        {"learner/policy_entropy": lambda i: 2.0 * 0.5**i}, key="selfplay.dirichlet_fraction"
    ),
    "value head overfits": Case(
        {"learner/seen_value_loss": 0.1, "learner/unseen_value_loss": 0.4}, key="replay.ratio"
    ),
    "samples reused too often": Case(
        {"learner/steps": lambda i: 800 * i}, ("replay.ratio=40",), key="replay.ratio"
    ),
    "samples reused too little": Case(
        {"learner/steps": lambda i: 300 + 2 * i}, ("replay.ratio=0.1",), key="replay.ratio"
    ),
    "noise drowned by the reused tree": Case(
        {"selfplay/kept_visits": 0.95}, key="search.reuse_tree"
    ),
    "resignation too often wrong": Case(
        {"selfplay/resign_threshold": -0.3},
        RESIGNING,
        in_despair,
        key="selfplay.resign_enabled_fraction",
    ),
    "evaluator starved": Case({"speed/network_share": 0.2}, key="selfplay.parallel_games"),
    "games starved": Case(
        config=("selfplay.parallel_games=6", "selfplay.distributed={ray: {actors: 10}}"),
        key="selfplay.games_per_iteration",
    ),
    "games end as draws": Case(
        {"selfplay/draws": lambda i: min(0.2 * i, 0.99), "loss/value": 0.0},
        key="selfplay.random_opening_probability",
    ),
    "policy learns nothing": Case(
        {"loss/policy": lambda i: math.log(9) + 0.01 * (-1) ** i}, key="learner.learning_rate"
    ),
    "learning rate too high": Case(
        {"loss/value": 1.4, "loss/policy": lambda i: 2.0 + 0.1 * i}, key="learner.learning_rate"
    ),
}

WELL: Mapping[str, Case] = {
    "nothing": Case(),
    "Gumbel search, whose noise is on new visits alone": Case(
        {"selfplay/kept_visits": 0.95}, ("search.selection=gumbel_root",)
    ),
    "resignation as permitted": Case({"selfplay/resign_threshold": -0.3}, RESIGNING, well_judged),
    "an evaluator spared by its memory": Case(
        {"speed/network_share": 0.2, "speed/cache_hits": 0.9}
    ),
    "a solved game has few alternatives": Case(
        {"learner/policy_entropy": lambda i: 2.0 * 0.5**i, "solved/search_optimal/opening": 1.0}
    ),
    "errors of next to nothing": Case(
        {"learner/seen_value_loss": 0.001, "learner/unseen_value_loss": 0.01}
    ),
    "no gate": Case({"gate/distinct_games": 0.1}, ("gate.games=0",)),
    "no tree is kept": Case({"selfplay/kept_visits": 0.95}, ("search.reuse_tree=false",)),
}


def courses_of(case: Case, iterations: int) -> dict[str, dict[int, float]]:
    courses = {**HEALTHY, **case.curves}
    return {
        name: {i: course(i) if callable(course) else course for i in range(1, iterations + 1)}
        for name, course in courses.items()
    }


def shards_of(case: Case) -> list[tuple[int, GameBatch]]:
    shards = []
    for iteration in range(1, 4) if case.best_values else ():
        records = random_records(TIC_TAC_TOE, 20, iteration)
        best = np.concatenate([case.best_values(each) for each in records])
        shards.append((iteration, GameBatch.of(TIC_TAC_TOE, records)._replace(best_values=best)))
    return shards


def examined(case: Case, iterations: int = ITERATIONS) -> Diagnosis:
    config = tiny_config(Path(), *case.config)
    return diagnose(RunData(config, courses_of(case, iterations), shards_of(case)))


def make_run(place: Path, case: Case) -> Path:
    """Write a run's folder as training does, but for the playing and learning."""
    run = RunDirectory.create(tiny_config(place, *case.config))
    Training(run, 1)  # publishes the untrained network
    for iteration, games in shards_of(case):
        run.state.iteration = iteration
        run.save_games(games)
        run.state.shards.append(iteration)
    run.publish()
    curves = courses_of(case, ITERATIONS)
    writer = TensorBoardWriter(run.folder, 0)
    for i in range(1, ITERATIONS + 1):
        writer.write(i, {name: curve[i] for name, curve in curves.items()})
    return run.folder


def test_every_rule_has_a_sick_run_and_the_curves_are_those_of_training():
    assert list(SICK) == list(RULES)
    assert {*HEALTHY, "selfplay/resign_threshold"} <= METRICS.keys()


@pytest.mark.parametrize("name", SICK)
def test_a_run_sick_in_one_way_shows_that_alone_with_the_key_to_change(name: str):
    (finding,) = examined(SICK[name]).findings
    assert finding.startswith(f"{name}: ")
    assert SICK[name].key in finding
    assert any(letter.isdigit() for letter in finding)


@pytest.mark.parametrize("selection", ["gumbel", "gumbel_root"])
def test_the_advice_for_gumbel_search_names_no_key_that_does_nothing_there(selection: str):
    collapsed = SICK["entropy collapsed"]
    (finding,) = examined(replace(collapsed, config=(f"search.selection={selection}",))).findings
    assert "raise search.gumbel_max_considered_actions, now 16, or selfplay.rand" in finding
    assert "dirichlet" not in finding
    assert "temperature" not in finding


@pytest.mark.parametrize("name", WELL)
def test_a_healthy_run_hears_that_nothing_was_found(name: str):
    text = str(examined(WELL[name]))
    assert text.splitlines() == ["examined 12 iterations", "no problem found"]


@pytest.mark.parametrize(
    ("name", "worst", "limit"),
    [
        ("gate/distinct_games", 0.49, 0.51),
        ("selfplay/kept_visits", 0.81, 0.79),
        ("speed/network_share", 0.49, 0.51),
        ("learner/gradient_norm", 5.1, 4.9),  # learner.max_grad_norm is 5
        ("loss/value", 0.81, 0.79),  # a fifth of the games are drawn
        ("loss/policy", math.log(9) * 1.04, math.log(9) * 0.96),  # nine actions
        ("loss/policy", math.log(9) * 0.98, math.log(9) * 0.96),
        ("learner/unseen_value_loss", 0.57, 0.55),  # 1.4 times 0.4
        ("learner/policy_entropy", 0.39, 0.41),  # a fifth of the first, 2.0
    ],
)
def test_each_threshold_is_where_it_says(name: str, worst: float, limit: float):
    losses = dict.fromkeys(("learner/seen_value_loss", "learner/unseen_value_loss"), 0.4)
    for value, found in ((worst, 1), (limit, 0)):

        def course(i: int, value: float = value) -> float:
            return 2.0 if i == 1 and name.endswith("entropy") else value

        diagnosis = examined(Case({**losses, name: course}))
        assert len(diagnosis.findings) == found, diagnosis.findings


def test_a_young_run_and_one_without_curves_say_what_was_skipped():
    young = examined(Case(), iterations=2)
    assert young.findings == []
    assert "learning rate too high" in young.skipped
    assert "gate games repeat" not in young.skipped
    empty = diagnose(RunData(tiny_config(Path()), {}))
    assert empty.findings == []
    assert "no problem found" not in str(empty)
    assert "nothing was learned yet: no optimizer step is done" in str(empty).splitlines()
    assert "not checked, for too little data: gate games repeat, entropy" in str(empty)


@pytest.mark.parametrize(
    ("iterations", "steps", "is_reported"), [(8, 50, False), (12, 20, False), (10, 30, True)]
)
def test_a_policy_that_stays_at_the_logarithm_of_the_moves_is_found_once_the_run_is_long_enough(
    iterations: int, steps: int, is_reported: bool
):
    """Connect Four has seven moves. At least 10 iterations and 300 steps are needed."""
    case = Case(
        {
            "loss/policy": math.log(7),
            "learner/steps": lambda i: steps * i,
            "selfplay/positions": lambda i: 8 * steps * i,
        },
        ("game.name=connect_four", "selfplay.parallel_games=6"),
    )
    diagnosis = examined(case, iterations)
    text, short = str(diagnosis), f"{iterations} iterations and {iterations * steps} steps; a "
    short = f"too short to judge: {short}verdict takes 10 iterations and 300 steps, at least"
    assert "no problem found" not in text
    assert len(diagnosis.findings) == is_reported
    expected = "is 1.95 after 300 steps; a uniform policy over 7 moves has ln 7 = 1.95"
    assert (expected in text) == is_reported
    said = [line for line in text.splitlines() if line.startswith("too short")]
    assert said == ([] if is_reported else [short])
    assert ("policy learns nothing" in diagnosis.skipped) != is_reported


def test_a_search_that_prefers_no_move_teaches_none():
    curves = {"loss/policy": 2.19, "selfplay/search_entropy": 2.18}
    (finding,) = examined(Case(curves)).findings
    assert finding.endswith("its entropy is 2.18: raise search.simulations, now 4")


def test_the_chance_of_at_least_that_number_of_successes_is_the_binomials_tail():
    """Of three trials with probability 0.1: 1 - 0.9³ = 0.271, and 0.1³ = 0.001."""
    assert [chance_of(k, 3, 0.1) for k in (0, 1, 3)] == pytest.approx([1, 0.271, 0.001])


def test_a_training_made_sick_shows_how(tmp_path):
    """No opening moves and no noise in the gate: all its games are one pair's, played again."""
    gate = "gate.opening_moves=0", "gate.games=20", "gate.interval=1"
    sick = "replay.ratio=20", "learner.learning_rate=5.0", "budget.iterations=3"
    folder = train(tiny_config(tmp_path, *gate, *sick))
    found = {finding.split(":")[0] for finding in examine(folder).findings}
    assert found >= {"gate games repeat", "samples reused too often", "learning rate too high"}


def test_a_run_is_read_unchanged_and_a_damaged_one_is_one_line(tmp_path, only_line, capsys):
    folder = make_run(tmp_path, SICK["resignation too often wrong"])
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    head, finding = printed_by(capsys, "doctor", folder).splitlines()
    assert head == f"examined {ITERATIONS} iterations"
    assert finding.startswith("resignation too often wrong: ")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == files
    shard = folder / f"replay/games-{manifest_of(folder)['shards'][-1]:06d}.npz"
    shard.write_bytes(shard.read_bytes()[:-1])
    assert "is damaged" in only_line("doctor", folder)


def test_it_reports_the_machine_and_versions_without_the_home_folder(capsys, monkeypatch):
    monkeypatch.setenv("HOME", str(ROOT.parent))
    monkeypatch.setenv("ALPHAZERO_FOLDER", str(ROOT / "x"))
    monkeypatch.setenv("AWS_SECRET", "hidden")
    output = printed_by(capsys, "doctor", "--machine")
    names = {line.split("  ")[0] for line in output.splitlines()} - {""}
    assert names >= {"processor", "instructions", "cores", "memory", "cache"}
    assert f"torch {torch.__version__}" in output
    assert f"ALPHAZERO_FOLDER=~/{ROOT.name}/x" in output
    assert "hidden" not in output
    assert str(ROOT) not in output
    listed = re.findall(r"^configurations (.*)$", output, re.MULTILINE)
    assert sorted(", ".join(listed).split(", ")) == sorted(shipped_configs())
    checks = re.findall(r"^ +(\w+): policies by ([\d.]+)%, values", output, re.MULTILINE)
    assert len(checks) == len(listed)
    assert all(float(error) / 100 < TOLERANCES[precision] for precision, error in checks)


def test_it_names_what_would_be_faster(capsys, monkeypatch):
    monkeypatch.delenv("ALPHAZERO_BACKEND", raising=False)
    monkeypatch.setattr(backend, "openvino_is_installed", lambda: False)
    output = printed_by(capsys, "doctor", "--machine")
    assert "OpenVINO is not installed" in output
    assert "pip install 'alphazero[openvino]'" in output


def test_the_home_folder_is_a_tilde_also_behind_a_link(tmp_path):
    (tmp_path / "ann").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "ann")
    text = f"{tmp_path}/ann/x {tmp_path}/link {tmp_path}/anna"
    assert without_home(text, tmp_path / "link") == f"~/x ~ {tmp_path}/anna"
    assert without_home("/usr/bin /", Path("/")) == "/usr/bin /"


SAPPHIRE = """\
processor\t: 0
model name\t: Intel(R) Xeon(R) Platinum 8481C
flags\t\t: fpu avx2 avx512f avx512_bf16 avx512_vnni amx_tile amx_int8 avx2

processor\t: 1
model name\t: another
flags\t\t: fpu
"""
GRAVITON = "processor\t: 0\nFeatures\t: fp asimd sve bf16 i8mm\nCPU part\t: 0xd40\n"


@pytest.mark.parametrize(
    ("text", "name", "flags"),
    [
        (
            SAPPHIRE,
            "Intel(R) Xeon(R) Platinum 8481C",
            "amx_int8 amx_tile avx2 avx512_bf16 avx512_vnni avx512f",
        ),
        (GRAVITON, None, "asimd bf16 i8mm sve"),
        ("model name\t: old\nflags\t\t: fpu sse2\n", "old", "unknown"),
        (None, None, "unknown"),
    ],
)
def test_linux_reports_the_processor_and_its_instructions(
    tmp_path, monkeypatch, text: str | None, name: str | None, flags: str
):
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(doctor, "CPU_INFO", tmp_path / "cpuinfo")
    assert doctor.instructions() == flags
    assert doctor.processor() == name if name else doctor.processor()
