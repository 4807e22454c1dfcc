"""A run's networks side by side: what the picture says is what each of them answers."""

import math
import re
import runpy
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers.paths import ROOT
from helpers.runs.tiny_run import tiny_config
from readme_images import draw_run, draw_series, figure_style

from alphazero.config.loader import dump_config
from alphazero.errors import RunError
from alphazero.network.checkpoint import load_checkpoint, save_checkpoint
from alphazero.players.checkpoint_player import load_checkpoint_player
from alphazero.training.monitoring.tensorboard import TensorBoardWriter

SHIPPED = ROOT / "checkpoints" / "tic_tac_toe.safetensors"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Return a folder with an untrained-looking network, one half as sure, and the shipped one."""
    folder = tmp_path_factory.mktemp("runs") / "tic_tac_toe"
    folder.mkdir()
    trained = load_checkpoint(SHIPPED)
    for step, share in ((0, 0.0), (500, 0.5)):
        weights = {
            name: share * tensor if tensor.is_floating_point() else tensor
            for name, tensor in trained.weights.items()
        }
        changed = replace(trained, weights=weights, step=step)
        save_checkpoint(folder / f"step-{step:06}.safetensors", changed)
    shutil.copy(SHIPPED, folder / f"step-{trained.step:06}.safetensors")
    return folder


def made_run(folder: Path, curves: dict[str, dict[int, float]], *overrides: str) -> Path:
    """Write a run's configuration and curves into `folder`, and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(dump_config(tiny_config(folder, *overrides)))
    writer = TensorBoardWriter(folder, 0)
    for iteration in sorted({each for curve in curves.values() for each in curve}):
        here = {name: curve[iteration] for name, curve in curves.items() if iteration in curve}
        writer.write(iteration, here)
    return folder


def test_a_series_shows_the_policy_and_the_value_of_each_network(run):
    svg = draw_series(run, "a1 b2 c3").svg("series")
    written = [
        each.text for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("text")
    ]
    expected = []
    for path in sorted(run.glob("step-*.safetensors")):
        saved = load_checkpoint_player(path)
        state = saved.game.from_moves("a1 b2 c3")
        logits, values = saved.evaluator.evaluate(saved.game.observe(state)[None])
        legal = np.flatnonzero(saved.game.legal_action_mask(state))
        shares = np.exp(logits[0, legal]) / np.exp(logits[0, legal]).sum()
        expected += [f"{100 * share:.0f}" for share in shares if share >= 0.005]
        assert f"{values[0]:+.2f}" in written
    numbers = [text for text in written if text and text.isdigit()]
    others = ["1", "2", "3"] * 3 + ["0"]  # rows of each board, the middle of the values
    assert sorted(numbers) == sorted(expected + others)
    assert {"untrained, %", "after 500 steps, %", "untrained"} <= set(written)


def test_a_folder_without_networks_or_curves_is_refused(tmp_path):
    with pytest.raises(RunError, match=r"holds no step-\*\.safetensors"):
        draw_series(tmp_path, "")
    with pytest.raises(RunError, match="has no curves"):
        draw_run(made_run(tmp_path, {"replay/window": {1: 3.0}}))


def test_the_figure_of_a_run_shows_its_finite_curves_and_intervals(tmp_path):
    curves = {
        "gate/elo": {2: 30.0, 3: 40.0},
        "gate/elo_low": {2: -10.0, 3: -math.inf},
        "gate/elo_high": {2: 80.0, 3: 90.0},
        "loss/total": {1: 2.0, 2: math.nan, 3: 1.0},
        "loss/policy": {1: math.inf},
        "anchors/_runs_best.safetensors/score": {1: 0.5},
        "seconds/play": {1: 60.0, 3: 120.0},
    }
    folder = tmp_path / "a$b_1$ <&>"
    figure = draw_run(made_run(folder, curves, "game.rows=3"))
    axes = {each.get_title(loc="left"): each for each in figure.axes}
    assert list(axes) == [
        "the best player's score against the anchors",
        "the challenger's Elo against the best, at the gate",
        "loss and its parts",
        "time of an iteration, s",
    ]
    score, gate, loss, _ = axes.values()
    assert [line.get_xydata().tolist() for line in loss.get_lines()] == [[[1, 2], [3, 1]]]
    bars = [segment.tolist() for segment in gate.collections[0].get_segments()]
    assert bars == [[[2, -10], [2, 80]]]
    assert score.get_legend().get_texts()[0].get_text() == "runs\nbest.safetensors 0.500"
    assert len({each.get_xlim() for each in figure.axes}) == 1
    with figure_style():
        figure.savefig(tmp_path / "run.svg")
    svg = (tmp_path / "run.svg").read_text()
    assert "a$b_1$ &lt;&amp;&gt;" in svg
    assert "tic_tac_toe (rows 3) · 3 iterations · 3.0 minutes" in svg
    assert min(map(float, re.findall(r"font(?:-size)?: ([\d.]+)px", svg))) >= 8


def test_the_script_writes_a_series(run, tmp_path, monkeypatch):
    options = ["series", str(run), "--moves=a1", f"--save={tmp_path / 'a.svg'}"]
    monkeypatch.setattr(sys, "argv", ["readme_images.py", *options])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "scripts" / "readme_images.py"), run_name="__main__")
    assert not ended.value.code
    assert ElementTree.parse(tmp_path / "a.svg").getroot().attrib["role"] == "img"
