"""One choice changed at a time: what is trained, compared and printed."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from ablation import BASE, Ablation, Conditions, main
from helpers.commands import exit_code
from helpers.runs.tiny_run import YAML, files_of

from alphazero.errors import ConfigError, RunError
from alphazero.games import make_game
from alphazero.players.registry import parse_player
from alphazero.solvers.exhaustive import solve_all_positions
from alphazero.utils.files import sha256_of


def tiny_ablation(folder: Path, *variant: str) -> Ablation:
    config = folder / "tiny.yaml"
    config.write_text(YAML)
    variants = {BASE: [], "another one": list(variant)}
    return Ablation(config, variants, ["budget.iterations=1"], [3], folder / "runs")


@pytest.fixture
def in_this_process(monkeypatch) -> None:
    """Train in this process: the start of another takes seconds."""

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, exit_code(*command[3:]), "", "")

    monkeypatch.setattr("ablation.subprocess.run", run)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # the main thread alone may set one


@pytest.mark.usefixtures("in_this_process")
def test_variants_are_trained_once_and_compared_with_the_base(tmp_path):
    ablation = tiny_ablation(tmp_path, "search.selection=gumbel")
    done: list[int] = []
    ablation.train(1, done.append)
    assert sum(done) == 2
    trained = {
        path: sha256_of(path)
        for path in (tmp_path / "runs").rglob("*.safetensors")
        if path.name == "best.safetensors"
    }
    assert len(trained) == 2
    assert "selection: gumbel" in (ablation.run_of("another one", 3) / "config.yaml").read_text()
    replace(ablation, variants={BASE: []}).train(1)
    assert all(sha256_of(path) == digest for path, digest in trained.items())
    assert "games/selfplay-000002.txt" not in files_of(ablation.run_of(BASE, 3))
    solutions = [solve_all_positions(make_game("tic_tac_toe"))]
    conditions = Conditions(4, 2, solutions, [parse_player("minimax:9")])
    base, other = ablation.compare(conditions)
    assert (base.variant, base.matches) == (BASE, [])
    assert other.matches[0].games == 4
    assert conditions.columns == ["optimal, network", "optimal, search", "against minimax:depth=9"]
    for row in base, other:
        network, search, points = row.shares
        assert 0 < network < 1
        assert 0 < search < 1
        assert 0 <= points <= 0.5, "the perfect player never loses"


@pytest.mark.usefixtures("in_this_process")
def test_variants_are_read_from_the_command_line_before_any_is_trained(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "tiny.yaml").write_text(YAML)
    words = [str(tmp_path / "tiny.yaml"), "budget.iterations=1", "--seeds=3", "--games=2"]
    words += [f"--folder={tmp_path / 'runs'}", "--variant", "search.selection=gumbel learner."]
    monkeypatch.setattr(sys, "argv", ["ablation.py", *words])
    with pytest.raises(ConfigError, match="learner"):
        main()
    assert not (tmp_path / "runs").exists()
    sys.argv[-1] = "search.selection=gumbel search.simulations=2"
    main()
    _, _, base, other = capsys.readouterr().out.splitlines()[-4:]
    assert base.startswith("| base | 0 |")
    assert other.startswith("| search.selection=gumbel search.simulations=2 | ")


def test_a_run_that_fails_says_why(tmp_path):
    ablation = tiny_ablation(tmp_path)
    wrong = replace(ablation, variants={"a typo": ["search.selektion=gumbel"]})
    with pytest.raises(RunError, match=r"a-typo-3.*unknown key"):
        wrong.train(1)


def test_after_a_run_that_fails_no_other_begins(tmp_path, monkeypatch):
    begun: list[list[str]] = []

    def fail(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        begun.append(command)
        time.sleep(0.01)
        return subprocess.CompletedProcess(command, 2, "", "it cannot")

    monkeypatch.setattr("ablation.subprocess.run", fail)
    many = replace(tiny_ablation(tmp_path), seeds=range(1000))
    with pytest.raises(RunError, match="it cannot"):
        many.train(1)
    assert len(begun) < 1000, "of 2,000"
