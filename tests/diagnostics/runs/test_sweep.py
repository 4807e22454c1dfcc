"""A sweep trains what is missing and nothing else, and ranks what it trained."""

import csv
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from helpers.commands import OnlyLine
from helpers.paths import ROOT
from helpers.runs.tiny_run import YAML, fingerprint, manifest_of

from alphazero.cli import main as cli
from alphazero.config.loader import load_config
from alphazero.diagnostics.runs import sweep as module
from alphazero.diagnostics.runs.run_history import read_curves
from alphazero.diagnostics.runs.sweep import Processes
from alphazero.diagnostics.runs.sweep_file import PlannedRun, load_sweep
from alphazero.training.loop import resume, train

Capture = pytest.CaptureFixture[str]

MY_SWEEP = """\
sweep: {base: tiny.yaml, minimize: loss/total}
set: {budget.iterations: 2, run.threads: 1}
keys: {network.filters: [4, 8], learner.learning_rate: [0.2]}
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tiny.yaml").write_text(YAML)
    (tmp_path / "my.yaml").write_text(MY_SWEEP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Train in this process; return the names of the runs that were trained, as they begin."""
    names: list[str] = []

    def train_here(self: Processes, run: PlannedRun) -> str:
        names.append(run.folder.name)
        if module.status_of(run) == "not started":
            train(load_config(run.base, run.overrides))
        else:
            resume(run.folder)
        return ""

    monkeypatch.setattr(Processes, "train", train_here)
    return names


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_runs_are_trained_once_and_ranked(
    trained: list[str], home: Path, capsys: Capture, only_line: OnlyLine
) -> None:
    train(
        load_config(
            "tiny.yaml", [*load_sweep(Path("my.yaml")).runs[1].overrides, "budget.iterations=1"]
        )
    )
    line = only_line("sweep", "my.yaml")
    assert "runs/my/002 holds a run with other keys (budget.iterations: 1 -> 2); choose" in line
    resume(home / "runs/my/002", ["budget.iterations=2"])
    assert cli.main(["sweep", "my.yaml", "--dry-run"]) == 0
    output = capsys.readouterr().out
    assert re.search(r"^001 +- +4 +0.2 +- +- +not started$", output, re.MULTILINE)
    assert trained == []
    for _ in range(2):
        assert cli.main(["sweep", "my.yaml"]) == 0
        assert trained == ["001"]
    rows = rows_of(home / "runs/my/results.csv")
    losses = {row["run"]: float(row["loss/total"]) for row in rows}
    for name, loss in losses.items():
        assert loss == read_curves(home / "runs/my" / name)["loss/total"][2]
    assert list(losses.values()) == sorted(losses.values()), "the lowest first"
    assert {row["run"]: row["network.filters"] for row in rows} == {"001": "4", "002": "8"}
    assert {row["iterations"] for row in rows} == {"2"}
    assert {row["status"] for row in rows} == {"finished"}
    table = [line.split()[:1] for line in capsys.readouterr().out.splitlines()]
    assert table[-3:-1] == [[name] for name in losses]


def test_runs_are_ranked_by_matches_whose_games_are_kept(trained: list[str], home: Path) -> None:
    text = MY_SWEEP.replace(
        "minimize: loss/total", "maximize: match/elo, opponent: random, games: 2"
    )
    (home / "my.yaml").write_text(text.replace("budget.iterations: 2", "budget.iterations: 1"))
    for _ in range(2):
        assert cli.main(["sweep", "my.yaml"]) == 0
        games = (home / "runs/my/match/games.jsonl").read_text().splitlines()
        assert len(games) == 4
    elo = [float(row["match/elo"]) for row in rows_of(home / "runs/my/results.csv")]
    assert elo == sorted(elo, reverse=True)


def test_a_run_that_fails_is_reported_and_the_others_go_on(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(module.sys, "executable", "/bin/false")
    assert cli.main(["sweep", "my.yaml", "--jobs", "2"]) == 2
    captured = capsys.readouterr()
    assert "001:  (exit code 1; see runs/my/001.log)" in captured.out
    assert captured.err.splitlines() == [
        "error: 2 of 2 runs failed; `alphazero sweep my.yaml` tries them again"
    ]
    assert [row["status"] for row in rows_of(home / "runs/my/results.csv")] == ["not started"] * 2


def test_the_example_of_the_readme_can_be_run(home: Path, capsys: Capture) -> None:
    text = (ROOT / "alphazero/training/README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(sweep:\n.*?)```", text, re.DOTALL)
    (home / "my_sweep.yaml").write_text(example)
    (home / "configs").symlink_to(ROOT / "configs")
    assert cli.main(["sweep", "my_sweep.yaml", "--dry-run"]) == 0
    planned = load_sweep(Path("my_sweep.yaml"))
    assert len(planned.runs) == planned.settings.runs
    assert capsys.readouterr().out.count("not started") == len(planned.runs)


def start(home: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "alphazero", "sweep", "my.yaml", "--jobs", "2"]
    return subprocess.Popen(
        command, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGINT])
def test_a_sweep_that_is_stopped_goes_on_and_trains_the_very_same_runs(
    stop: signal.Signals, home: Path
) -> None:
    """Its runs stop with it, whichever way it ends."""
    text = MY_SWEEP.replace("budget.iterations: 2", "budget.iterations: 300")
    (home / "my.yaml").write_text(text)
    process = start(home)
    begun = home / "runs/my/001/state/manifest.json"
    deadline = time.monotonic() + 300
    while not (begun.exists() and manifest_of(begun.parents[1])["iteration"] >= 2):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(stop)
    _, err = process.communicate(timeout=120)
    if stop == signal.SIGINT:
        assert process.returncode == 130
        assert "stopped; go on with: alphazero sweep my.yaml" in err
    interrupted = manifest_of(begun.parents[1])["iteration"]
    assert interrupted < 300
    deadline = time.monotonic() + 120
    while workers(home):
        assert time.monotonic() < deadline, "a run went on without its sweep"
        time.sleep(0.1)
    again = start(home)
    out, err = again.communicate(timeout=600)
    assert again.returncode == 0, err
    assert out.count(": finished") == 2
    assert "resuming" in (home / "runs/my/001.log").read_text()
    planned = load_sweep(Path("my.yaml")).runs[0]
    whole = train(load_config("tiny.yaml", [*planned.overrides, "run.folder=whole"]))
    one, two = fingerprint(planned.folder), fingerprint(whole)
    for each in (one, two):  # it names the folder
        del each["config.yaml"]
    assert one == two


def workers(home: Path) -> list[str]:
    """Return the processes that train in this folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            words = (each / "cmdline").read_bytes()
            if b"sweep_worker" in words and (each / "cwd").readlink() == home:
                found.append(each.name)
        except OSError:
            continue
    return found
