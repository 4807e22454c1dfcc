"""The comparison with other programs: each plays, and those that are missing are named."""

import itertools
import sys

import compare_rivals
import numpy as np
import pytest
import torch
from compare_rivals import jax_network, mctx_selfplay

from alphazero.config.loader import load_config
from alphazero.config.schema import Config
from alphazero.network.resnet import ResNet, fold_batch_norm

SMALL = """\
game: {name: connect_four}
network:
  {blocks: 2, filters: 8, policy_filters: 2, value_filters: 2, value_hidden: 8, global_pooling: 4}
search:
  {simulations: 8, c_puct: 1.25, selection: gumbel_root, transpositions: never,
   mcts_solver: false}
selfplay:
  {games_per_iteration: 2, parallel_games: 16, random_opening_probability: 1.0,
   random_opening_max_moves: 20, full_search_probability: 1.0}
budget: {iterations: 1}
"""


@pytest.fixture
def config(tmp_path, monkeypatch) -> Config:
    """A small configuration in place of the shipped one."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    monkeypatch.setattr(compare_rivals, "CONFIG", path)
    return load_config(path)


def rows_after(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], missing: list[str]
) -> tuple[list[str], dict[str, list[str]]]:
    """Run the script on one core without some packages; return its lines and its rows by name."""
    for package in missing:
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(compare_rivals, "usable_cores", lambda: 1)
    monkeypatch.setattr(sys, "argv", ["compare_rivals.py", "--seconds", "0.1", "--repeats", "2"])
    compare_rivals.main()
    lines = capsys.readouterr().out.splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return lines, {name: rest for name, *rest in cells}


@pytest.mark.usefixtures("config")
def test_without_rivals_ours_is_measured_and_the_missing_are_named(monkeypatch, capsys):
    lines, rows = rows_after(monkeypatch, capsys, ["jax", "pgx", "open_spiel"])
    installs = [line.partition(": missing ")[::2] for line in lines if "left out" in line]
    assert [name.split(" is ")[0] for name, _ in installs] == ["mctx + pgx", "OpenSpiel"]
    assert installs[0][1].startswith("jax ")
    assert installs[1][1] == "open_spiel; pip install open_spiel"
    assert rows.pop("") == ["simulations/s", "evaluations/s"]
    assert rows.pop("---") == ["---", "---"]
    assert list(rows) == list(compare_rivals.OURS)
    assert all(float(rate.replace(",", "")) > 0 for row in rows.values() for rate in row)


@pytest.mark.usefixtures("config")
def test_openspiel_is_measured_in_a_process_of_its_own(monkeypatch, capsys):
    pytest.importorskip("open_spiel")
    first, *_ = compare_rivals.OURS.items()
    monkeypatch.setattr(compare_rivals, "OURS", dict([first]))
    _, rows = rows_after(monkeypatch, capsys, ["jax"])
    assert rows[""] == ["simulations/s", "evaluations/s", "to OpenSpiel"]
    simulations, evaluations, ratio = rows["OpenSpiel"]
    assert float(simulations.replace(",", "")) > float(evaluations.replace(",", "")) > 0
    assert ratio == ""
    assert all(float(rows[name][2].split(" ")[0]) > 0 for name in compare_rivals.OURS)


def test_mctx_plays_and_counts_the_root_too(config):
    for package in compare_rivals.PACKAGES["mctx + pgx"]:
        pytest.importorskip(package)
    steps = mctx_selfplay(config, 4, 0)
    assert list(itertools.islice(steps, 45)) == [(4 * 8, 4 * 9)] * 45  # longer than a game


def test_the_network_in_jax_answers_as_in_torch(config):
    jax = pytest.importorskip("jax")
    network = ResNet((2, 6, 7), 7, config.network, 1)
    for block in network.tower:
        torch.nn.init.ones_(block.second.normalisation.weight)  # else a block is the identity
    network = fold_batch_norm(network)
    observations = torch.from_numpy(np.random.default_rng(0).random((5, 2, 6, 7)) < 0.3)
    with torch.no_grad():
        expected = network(observations.float())
    found = jax_network(network)(jax.numpy.asarray(observations.permute(0, 2, 3, 1).numpy()))
    for ours, theirs in zip(expected, found, strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-4, atol=1e-6)
        assert ours.std() > 1e-3
