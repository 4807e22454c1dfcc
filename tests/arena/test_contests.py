"""Matches and grades by names of players."""

import pytest

import alphazero
from alphazero.cli import main as cli
from alphazero.errors import PlayerError


def test_a_match_is_that_of_the_command(capsys):
    result = alphazero.match("uct:30", "random", game="tic_tac_toe", games=10, seed=3)
    words = ["match", "uct:30", "random", "--game", "tic_tac_toe", "--games", "10", "--seed", "3"]
    assert cli.main(words) == 0
    assert f": {result}," in capsys.readouterr().out
    assert result.games == 10
    assert result.score > 0.5


def test_a_match_needs_pairs_of_games():
    with pytest.raises(PlayerError, match="games must be an even number"):
        alphazero.match("uct:3", "random", game="tic_tac_toe", games=3)


def test_a_grade_counts_the_optimal_moves():
    result = alphazero.grade("tic_tac_toe", simulations=0)
    assert result.positions == 13_306
    assert result.share > 0.8
