"""How a game ends: by the network's heads, always for player 0, and by the rules at its end."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from helpers.players import TINY, saved_player

from alphazero.games.game import to_play
from alphazero.games.registry import read_game
from alphazero.games.results import describe_margin
from alphazero.mcts.evaluator import innermost
from alphazero.players.end_prediction import EndPrediction, predict_end
from alphazero.players.registry import load_player, parse_player

GO = "go:rows=3,columns=3,komi_half_points=1"
WITH_HEADS = dataclasses.replace(TINY, auxiliary=("ownership", "margin"))


@pytest.mark.parametrize("leaf_symmetry", ["none", "average"])
def test_a_prediction_is_for_player_0_whoever_is_to_move(tmp_path, leaf_symmetry: str):
    search = {"simulations": 40, "leaf_symmetry": leaf_symmetry}
    path = saved_player(tmp_path / "a.safetensors", GO, WITH_HEADS, search=search)
    game, player = load_player(path)
    network: Any = innermost(player.search.evaluator)
    for line in ("a1 b2", "a1 b2 c3"):
        state = game.from_moves(line)
        own = network.predict(game.observe(state)[None])
        end = predict_end(game, state, player)
        assert own.ownership is not None
        assert own.margin is not None
        assert own.margin_spread is not None
        sign = 1 if to_play(state) == 0 else -1
        assert np.array_equal(end.ownership, sign * own.ownership[0])
        assert end.margin == sign * own.margin[0] != 0
        assert end.margin_spread == own.margin_spread[0] > 0


def test_the_end_of_a_finished_game_is_exact_and_needs_no_network():
    game = read_game(GO)
    end = predict_end(game, game.from_moves("b2 pass pass"))
    assert end.ownership is not None
    assert end.ownership.tolist() == [1.0] * 9
    assert (end.margin, end.margin_spread) == (8.5, 0)
    assert predict_end(game, game.from_moves("b2 pass")) == EndPrediction()
    empty = predict_end(game, game.from_moves("pass pass"))
    assert empty.ownership is not None
    assert not empty.ownership.any()
    assert empty.margin == -0.5
    tied = read_game("tic_tac_toe")
    assert predict_end(tied, tied.from_moves("a1 a2 b1 b2 c1")) == EndPrediction()


def test_players_without_heads_predict_nothing(tmp_path):
    game, player = load_player(saved_player(tmp_path / "a.safetensors", GO))
    assert predict_end(game, game.initial_state(), player) == EndPrediction()
    for name in ("uct:10", "random"):
        other = parse_player(name).create(game)
        assert predict_end(game, game.initial_state(), other) == EndPrediction()


@pytest.mark.parametrize(
    ("game", "margin", "words"),
    [
        ("go", 3.4721, "Black by 3.5"),
        ("go", 0.01, "even"),
        ("othello", -12.0, "White by 12"),
        ("othello", -0.01, "even"),
    ],
)
def test_a_margin_is_written_as_the_game_writes_it(game: str, margin: float, words: str):
    assert describe_margin(read_game(game), margin) == words
