"""Searches of single positions, for programs and notebooks."""

import multiprocessing.pool
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.players import ANY_SIZE, saved_player
from helpers.searches import statistics

import alphazero
from alphazero.errors import AlphaZeroError, GameError, PlayerError
from alphazero.games import State, make_game
from alphazero.players.registry import parse_player
from alphazero.players.search_player import SearchPlayer


@pytest.fixture(scope="module")
def player(tmp_path_factory) -> Path:
    return saved_player(tmp_path_factory.mktemp("player") / "a.safetensors", "connect_four")


def test_a_search_reports_what_the_players_search_has_found(player):
    game, searcher = alphazero.load_player(player, simulations=120)
    state = game.from_moves("4 4 3")
    result = alphazero.search(searcher, state)
    roots = statistics(searcher.search)
    assert result.simulations == 120
    assert result.value == roots.values[0]
    (value,) = searcher.search.evaluate_states(state[None])
    assert result.network_value == pytest.approx(value, abs=1e-6)
    assert {candidate.action for candidate in result.candidates} == set(range(7))
    assert result.candidates[0].action == result.action
    visits = [candidate.visits for candidate in result.candidates]
    assert visits == sorted(visits, reverse=True)
    for candidate in result.candidates:
        assert candidate.visits == roots.visits[0, candidate.action]
        assert candidate.prior == roots.priors[0, candidate.action]
        assert candidate.value == pytest.approx(roots.action_values[0, candidate.action])
        assert candidate.line[0] == candidate.action
    assert sum(candidate.prior for candidate in result.candidates) == pytest.approx(1)
    again = alphazero.load_player(player, simulations=120)[1]
    assert again.choose(state) == result.action


def test_without_a_network_or_an_open_end_there_is_no_value_of_the_network(player):
    game = make_game("connect_four")
    rollouts = parse_player("uct:20").create(game)
    assert isinstance(rollouts, SearchPlayer)
    assert alphazero.search(rollouts, game.from_moves("4 4 3")).network_value is None
    proven = alphazero.search(alphazero.load_player(player)[1], game.from_moves("4 1 4 1 4 1"))
    assert proven.proof is not None
    assert proven.network_value is None


def test_threads_may_share_a_player(player):
    game, searcher = alphazero.load_player(player, simulations=40)
    states = [game.from_moves(line) for line in ("4", "4 4", "1 2", "7 1 3")] * 5

    def look(state: State) -> tuple[int, float, int]:
        result = alphazero.search(searcher, state)
        return result.candidates[0].action, result.value, searcher.choose(state)

    expected = [look(state) for state in states]
    with multiprocessing.pool.ThreadPool(4) as threads:
        assert threads.map_async(look, states).get(timeout=60) == expected


def test_moves_that_were_not_searched_come_last_in_the_order_of_their_priors(player):
    game, searcher = alphazero.load_player(player, simulations=2)
    candidates = alphazero.search(searcher, game.from_moves("4 4 3")).candidates
    visits = [candidate.visits for candidate in candidates]
    priors = [candidate.prior for candidate in candidates if not candidate.visits]
    assert visits == sorted(visits, reverse=True)
    assert len(set(priors)) >= 5
    assert priors == sorted(priors, reverse=True)


def test_its_moves_have_names_and_it_prints_as_a_table(player):
    game, searcher = alphazero.load_player(player)
    state = game.from_moves("4 4 3")
    result = alphazero.search(searcher, state, simulations=40)
    best = result.candidates[0]
    assert result.names(best.line) == [str(action + 1) for action in best.line]
    first, heading, *rows = str(result).splitlines()
    assert first == f"value {result.value:+.3f} after 40 simulations"
    assert heading.split() == ["move", "visits", "value", "prior", "line"]
    assert [row.split()[0] for row in rows] == [
        str(candidate.action + 1) for candidate in result.candidates
    ]
    assert rows[0].split()[1:4] == [f"{best.visits}", f"{best.value:+.3f}", f"{best.prior:.3f}"]
    assert rows[0].split()[4:] == result.names(best.line)[1:]


def test_long_tables_are_cut(tmp_path):
    path = saved_player(tmp_path / "hex.safetensors", "hex:size=5")
    game, searcher = alphazero.load_player(path)
    assert str(alphazero.search(searcher, game.initial_state())).endswith("\nand 15 more")


def test_finished_and_foreign_positions_are_refused(player):
    game, searcher = alphazero.load_player(player)
    with pytest.raises(GameError, match="the game is over"):
        alphazero.search(searcher, game.from_moves("1 2 1 2 1 2 1"))
    with pytest.raises(GameError, match=r"expected a state of ConnectFour.*; got int64 \[247\]"):
        alphazero.search(searcher, make_game("hex").initial_state())


def test_what_is_no_player_or_no_state_is_refused(player):
    game, searcher = alphazero.load_player(player)
    state: Any = game.initial_state()
    for wrong in (lambda game, state: 0, str(player), (game, searcher), None):
        for look in (alphazero.search, lambda each, _: alphazero.Position(game).think(each)):
            with pytest.raises(PlayerError, match="expected the player that load_player returns"):
                look(wrong, state)
    for wrong in (None, "4", state.tolist(), state[None], np.array(4)):
        for use in (partial(alphazero.search, searcher), searcher.choose):
            with pytest.raises(GameError, match="expected a state of ConnectFour"):
                use(wrong)


@pytest.mark.parametrize("name", ["uct:100", "random"])
def test_a_player_without_a_network_is_not_loaded(name: str):
    with pytest.raises(PlayerError, match=f"expected a checkpoint, .* got the player '{name}'"):
        alphazero.load_player(name)


def test_more_simulations_than_a_player_has_memory_for_are_refused(player):
    game, searcher = alphazero.load_player(player, simulations=10)
    assert alphazero.search(searcher, game.initial_state(), simulations=50).simulations == 50
    with pytest.raises(PlayerError, match="memory for 50 simulations; load it with simulations=51"):
        alphazero.search(searcher, game.initial_state(), simulations=51)


def test_a_player_is_loaded_for_another_board_and_another_komi(tmp_path, capsys):
    path = saved_player(tmp_path / "go.safetensors", "go:rows=5,columns=5,features=1", ANY_SIZE)
    game, searcher = alphazero.load_player(path, game="go:rows=4,columns=6,features=1")
    assert "was trained on go:rows=5" in capsys.readouterr().err
    assert game.observation_shape[1:] == (4, 6)
    assert len(alphazero.search(searcher, game.initial_state()).candidates) == 25
    komi = make_game("go", rows=5, columns=5, komi_half_points=1, features=1)
    game, searcher = alphazero.load_player(path, game=komi)
    assert game == komi
    assert alphazero.search(searcher, game.initial_state()).simulations == 8
    assert not capsys.readouterr().err
    with pytest.raises(AlphaZeroError, match="asked for is hex: players need one game"):
        alphazero.load_player(path, game="hex")
    dense = saved_player(tmp_path / "dense.safetensors", "go:rows=5,columns=5")
    with pytest.raises(PlayerError, match=r"its weights fit no other; with network\.heads: c"):
        alphazero.load_player(dense, game="go:rows=6,columns=6")
