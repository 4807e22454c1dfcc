"""The two-ply tree: flat Monte Carlo is biased, UCT and minimax are not."""

import runpy
import sys

import numpy as np
import pytest
from flat_mc_bias import LEAVES, TwoPlyTree, estimate, minimax_percentages, table
from helpers.paths import ROOT

from alphazero.errors import GameError
from alphazero.games import ONGOING, game_names

TREE = TwoPlyTree()
SCRIPT = ROOT / "scripts" / "flat_mc_bias.py"


def test_the_tree_is_the_one_that_is_drawn_and_no_game_to_choose():
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


def test_moves_of_the_tree_are_typed_as_they_are_named():
    state = TREE.from_moves(["b2", "c3"])
    assert TREE.render(state) == "2 moves, branch 2, worth 58"
    assert TREE.parse_action(state, "17") == 16
    for text in ("b1", "0", "101", ""):
        with pytest.raises(GameError):
            TREE.parse_action(state, text)


def test_flat_monte_carlo_settles_on_the_wrong_move_and_uct_finds_the_right_one():
    assert minimax_percentages() == [48, 45]
    found = estimate([100, 1_000, 60_000], runs=6, seed=1)
    flat, uct = found.means[:, -1]
    assert flat == pytest.approx([49, 55], abs=0.5)
    assert uct == pytest.approx([48, 45], abs=1.2)
    assert uct[0] > uct[1]
    assert found.chosen[:, -1].tolist() == [[0, 1], [1, 0]]
    # Variance falls everywhere; the bias of flat Monte Carlo does not.
    assert (found.deviations[:, -1] < found.deviations[:, 0] / 5).all()


@pytest.mark.parametrize(("runs", "code"), [(4, 0), (0, 2)])
def test_the_script_prints_the_table_or_one_line(runs: int, code: int, monkeypatch, capsys):
    command = ["flat_mc_bias.py", "--simulations", "500", "--runs", str(runs)]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    assert ended.value.code == code
    out, err = capsys.readouterr()
    if code:
        assert err.splitlines()[-1].endswith("expected a whole number from 1 on, got '0'")
    else:
        assert out == table(estimate([10, 30, 100, 300, 500], runs=4, seed=0)) + "\n"
        assert out.startswith("minimax: b1 48.0, b2 45.0; best is b1\n")
