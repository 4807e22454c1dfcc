"""A run seen afterwards: when, by which checkpoints, and above whom."""

from pathlib import Path

import pytest
from helpers.players import saved_player
from helpers.runs.tiny_run import tiny_config

from alphazero.diagnostics.run_history import STAGES, expand_players, read_curves, step_checkpoints
from alphazero.training.loop import resume, train
from alphazero.training.monitoring.metrics import METRICS
from alphazero.training.monitoring.tensorboard import TensorBoardWriter


@pytest.fixture
def run(tmp_path) -> Path:
    """A folder with eleven empty checkpoints and the curves of three iterations."""
    for step in range(11):
        (tmp_path / f"step-{step * 100:08d}.safetensors").touch()
    curves = TensorBoardWriter(tmp_path, 0)
    for iteration in (1, 2, 3):
        spent = {"seconds/play": 60.0 * iteration, "seconds/save": 30.0}
        curves.write(iteration, spent)
    return tmp_path


@pytest.mark.parametrize(
    ("number", "steps"), [(1, [1000]), (3, [0, 500, 1000]), (99, list(range(0, 1001, 100)))]
)
def test_checkpoints_are_thinned_evenly_to_the_newest(run, number: int, steps: list[int]):
    names = [path.name for path in step_checkpoints(run, number)]
    assert names == [f"step-{step:08d}.safetensors" for step in steps]
    assert step_checkpoints(run / "none", number) == []


def test_curves_are_read_by_name_and_iteration(run):
    curves = read_curves(run)
    assert read_curves(run / "none") == {}
    assert curves["seconds/save"] == {1: 30, 2: 30, 3: 30}
    assert "seconds/gate" not in curves
    assert [f"seconds/{stage}" for stage in STAGES] == [
        name for name in METRICS if name.startswith("seconds/")
    ]


def test_points_that_a_resumed_run_purged_are_left_out_without_a_word(run, caplog):
    TensorBoardWriter(run, 2).write(3, {"seconds/play": 7.0})
    curves = read_curves(run)
    assert curves == {"seconds/play": {1: 60, 2: 120, 3: 7}, "seconds/save": {1: 30, 2: 30}}
    assert caplog.messages == []


def test_a_runs_folder_stands_for_its_checkpoints(run):
    for path in run.glob("step-*"):
        saved_player(path)
    specs = expand_players([str(run), "random"], 2, simulations=5)
    first, last = (f"{path}:simulations=5" for path in step_checkpoints(run, 2))
    assert [spec.name for spec in specs] == [first, last, "random"]
    best = saved_player(run / "best.safetensors").parent
    for path in run.glob("step-*"):
        path.unlink()
    assert [spec.name for spec in expand_players([str(best)], 2)] == [str(best)]


def test_a_run_that_has_learned_nothing_yet_says_so_everywhere(tmp_path, capsys):
    """A step of 500 positions, each drawn twice, takes 250; six games have at most 54."""
    large = "learner.batch_size=500", "replay.window_maximum=1000"
    folder = train(tiny_config(tmp_path, *large, "budget.iterations=3"))
    lines = [line for line in capsys.readouterr().out.splitlines() if "games, " in line]
    assert len(lines) == 3
    for line in lines:
        assert "nothing learned yet, the first step takes 250 positions; " in line
        assert "loss" not in line
    curves = read_curves(folder)
    assert curves["learner/steps"] == {1: 0, 2: 0, 3: 0}
    absent = {"learner/policy_entropy", "learner/learning_rate", "learner/gradient_norm"}
    assert not [name for name in curves if name.startswith("loss/") or name in absent]
    resume(folder, ["budget.iterations=9"])
    learned = capsys.readouterr().out.splitlines()
    assert any("; loss " in line for line in learned)
    assert any("; no step was due; " in line for line in learned)
    assert not any("loss 0.000" in line or "nan" in line for line in learned)
    curves = read_curves(folder)
    grown = curves["learner/steps"]
    with_steps = [i for i in range(1, 10) if grown[i] > grown.get(i - 1, 0)]
    assert list(curves["loss/total"]) == with_steps
    assert min(curves["loss/total"].values()) > 0
