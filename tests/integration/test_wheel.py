"""The built wheel, installed outside the clone."""

import pytest
from helpers.paths import ROOT
from helpers.processes import run_python


@pytest.mark.slow
def test_the_wheel_plays_trains_and_grades_by_name_in_an_empty_folder(tmp_path):
    pip = "-m", "pip", "--quiet"
    wheels, installed, empty = (tmp_path / name for name in ("wheels", "installed", "empty"))
    run_python(*pip, "wheel", "--no-deps", "-w", wheels, ROOT)
    (wheel,) = wheels.glob("*.whl")
    assert wheel.stat().st_size < 22e6
    run_python(*pip, "install", "--no-deps", "--target", installed, wheel)
    empty.mkdir()
    budget = ["budget.iterations=1", "selfplay.games_per_iteration=8", "gate.games=0"]
    for words, expected in (
        (["info"], "connect_four"),
        (["train", "nim", *budget], "iteration 1"),
        (["grade", "tic_tac_toe", "--simulations", "0"], "of 13,306 positions optimal"),
        (["match", "connect_four:simulations=4", "uct:10", "--games", "2"], "2 of 2 games"),
        (["config", "connect_four"], "name: connect_four"),
    ):
        output = run_python("-m", "alphazero", *words, cwd=empty, PYTHONPATH=str(installed))
        assert expected in output
    assert (empty / "checkpoints" / "nim" / "best.safetensors").exists()
