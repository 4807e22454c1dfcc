"""The two-ply tree: flat Monte Carlo is biased, UCT and minimax are not."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from flat_mc_bias import LEAVES, TwoPlyTree, draw, estimate, minimax_percentages, table
from helpers.paths import ROOT

from alphazero.drawing.figures import to_bytes
from alphazero.errors import GameError
from alphazero.games import ONGOING, game_names

TREE = TwoPlyTree()
SCRIPT = ROOT / "scripts" / "flat_mc_bias.py"


def test_the_tree_is_the_one_that_is_drawn_and_no_game_to_choose() -> None:
    assert LEAVES == ((50, 48), (62, 45, 58))
    assert not {"two_ply_tree", "TwoPlyTree"} & set(game_names())
    root = TREE.initial_state()
    assert np.flatnonzero(TREE.legal_action_mask(root)).tolist() == [0, 1]
    for branch, answers in enumerate(LEAVES):
        below = TREE.play(root, branch)
        assert np.flatnonzero(TREE.legal_action_mask(below)).tolist() == [*range(len(answers))]
        for answer, worth in enumerate(answers):
            leaf = TREE.play(below, answer)
            assert TREE.legal_action_mask(leaf).all()
            ends = [TREE.outcome(TREE.play(leaf, action)) for action in range(100)]
            assert ends.count(1) == worth
            assert ends.count(-1) == 100 - worth
            assert ONGOING == TREE.outcome(leaf) == TREE.outcome(below)


def test_moves_of_the_tree_are_typed_as_they_are_named() -> None:
    state = TREE.from_moves(["b2", "c3"])
    assert TREE.render(state) == "2 moves, branch 2, worth 58"
    assert TREE.parse_action(state, "17") == 16
    for text in ("b1", "0", "101", ""):
        with pytest.raises(GameError):
            TREE.parse_action(state, text)


def test_flat_monte_carlo_settles_on_the_wrong_move_and_uct_finds_the_right_one() -> None:
    assert minimax_percentages() == [48, 45]
    found = estimate([100, 1_000, 60_000], runs=6, seed=1)
    flat, uct = found.means[:, -1]
    assert flat == pytest.approx([49, 55], abs=0.5)
    assert uct == pytest.approx([48, 45], abs=1.2)
    assert uct[0] > uct[1]
    assert found.chosen[:, -1].tolist() == [[0, 1], [1, 0]]
    # Variance falls everywhere; the bias of flat Monte Carlo does not.
    assert (found.deviations[:, -1] < found.deviations[:, 0] / 5).all()


def test_the_same_seed_gives_the_same_output() -> None:
    once, again, other = (estimate([50], runs=3, seed=seed) for seed in (0, 0, 1))
    assert (once.means == again.means).all()
    assert (once.means != other.means).any()


def test_the_script_prints_the_table_and_draws_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plot = tmp_path / "bias.png"
    command = ["flat_mc_bias.py", "--simulations", "500", "--runs", "4", "--plot", str(plot)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    found = estimate([10, 30, 100, 300, 500], runs=4, seed=0)
    assert printed == table(found) + "\n"
    assert printed.startswith("minimax: b1 48.0, b2 45.0; best is b1\n")
    assert plot.read_bytes() == to_bytes(draw(found), ".png")


def test_the_charts_show_the_estimates_beside_minimax() -> None:
    found = estimate([10, 100], runs=3, seed=0)
    charts = draw(found).axes
    assert [axes.get_title(loc="left") for axes in charts] == ["flat Monte Carlo", "UCT"]
    for axes, means in zip(charts, found.means, strict=True):
        minimax, curves = axes.get_lines()[::2], axes.get_lines()[1::2]
        assert [line.get_ydata()[0] for line in minimax] == minimax_percentages()
        for branch, line in enumerate(curves):
            assert line.get_xdata().tolist() == [10, 100]
            assert (line.get_ydata() == means[:, branch]).all()


@pytest.mark.parametrize("option", ["--simulations", "--runs"])
def test_no_simulations_or_runs_are_refused_in_one_line(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["flat_mc_bias.py", option, "0"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert ended.value.code == 2
    assert "0" in capsys.readouterr().err.splitlines()[-1]
