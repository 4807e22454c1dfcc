"""Matches and grades by names of players."""

import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.frontends import fake_engine

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


def test_games_that_end_by_an_error_are_named_on_stderr(capsys):
    """A program that ends at its first move is not simply weaker than its opponent."""
    crash = f"gtp:{sys.executable} {fake_engine.__file__} gtp crash 1"
    message = f"{crash} lost 2 games by an error: the program ended"
    # In connect_four nobody wins before the program moves.
    assert alphazero.match("random", crash, game="connect_four", games=2).wins == 2
    assert capsys.readouterr().err.startswith(message)
    assert alphazero.rate(["random", crash], game="connect_four", games=2)[0].wins == 2
    assert capsys.readouterr().err.startswith(message)


def test_a_match_needs_pairs_of_games():
    for games in (3, 0, 2.0):
        with pytest.raises(PlayerError, match="games must be an even number"):
            alphazero.match("uct:3", "random", game="tic_tac_toe", games=games)
        with pytest.raises(PlayerError, match="games must be an even number"):
            alphazero.rate(["uct:3", "random"], game="tic_tac_toe", games=games)


@pytest.mark.parametrize("players", ["random", Path("random"), None])
def test_a_rating_needs_a_list_of_players(players: Any):
    with pytest.raises(PlayerError, match=r"expected a list of players, as \['uct', 'random'\]"):
        alphazero.rate(players, game="nim")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"simulations": -1}, "simulations must be a whole number, at least 0; got -1"),
        ({"simulations": 2.5}, "at least 0; got 2.5"),
        ({"seconds": 0}, "seconds must be a number above 0; got 0"),
        ({"opening_moves": -1}, "opening_moves must be a whole number, at least 0; got -1"),
        ({"seed": -1}, "seed must be a whole number, at least 0; got -1"),
    ],
)
def test_a_number_out_of_range_is_refused(wrong: dict[str, Any], message: str):
    for compare in (
        partial(alphazero.match, "uct", "random"),
        partial(alphazero.rate, ["uct", "random"]),
    ):
        with pytest.raises(PlayerError, match=message):
            compare(game="nim", games=2, **wrong)


@pytest.mark.parametrize("simulations", ["x", -1, 2.5])
def test_a_search_needs_a_number_of_simulations(simulations: Any):
    game, player = alphazero.load_player("tic_tac_toe")
    for wrong in (
        lambda: alphazero.load_player("tic_tac_toe", simulations=simulations),
        lambda: alphazero.search(player, game.initial_state(), simulations=simulations),
        lambda: alphazero.grade("tic_tac_toe", simulations=simulations),
    ):
        with pytest.raises(PlayerError, match="simulations must be a whole number"):
            wrong()


def test_simulations_may_be_a_number_of_numpy():
    few = np.int64(2)
    game, player = alphazero.load_player("tic_tac_toe", simulations=few)
    assert alphazero.search(player, game.initial_state(), simulations=few).simulations == 2
    assert alphazero.match("tic_tac_toe", "random", games=2, simulations=few).games == 2
    grade = alphazero.grade("tic_tac_toe", simulations=np.int64(0))
    assert grade.positions == 13_306
    assert grade.share > 0.9


def test_the_openings_of_a_short_game_are_told_as_they_were_played(capsys):
    words = ["match", "uct:5", "random", "--game", "nim", "--games", "2", "--opening-moves", "90"]
    assert cli.main(words) == 0
    (moves,) = re.findall("from openings of ([0-9]+) random moves", capsys.readouterr().out)
    assert 0 < int(moves) < 20
