"""The pool of searches behind the pages."""

import threading
from typing import Any

import pytest
from helpers.frontends.web_client import SECONDS, player_with
from helpers.processes import until
from helpers.searches import UniformEvaluator

from alphazero.frontends.game_tree import GameTree
from alphazero.frontends.web import search_pool
from alphazero.frontends.web.search_pool import SearchPool, SearchRequest, SearchResponse
from alphazero.games import make_game
from alphazero.games.game import Game
from alphazero.players.base import Player
from alphazero.players.budget import Budget
from alphazero.players.levels import LevelSettings
from alphazero.players.registry import parse_player
from alphazero.players.specs import PlayerSpec


class PoolClient:
    """Sends requests to a pool and collects the responses."""

    def __init__(self, spec: PlayerSpec, game: Game, sequential: int = 0) -> None:
        self.game, self.responses = game, []
        self.pool = SearchPool(spec, game, lambda call: call(), sequential)

    def put(self, client: str, moves: list[int], simulations: int | None, **level: Any) -> None:
        tree, budget = GameTree(self.game), Budget(simulations)
        for action in moves:
            tree.make(action)
        respond = lambda _, response: self.responses.append(response)  # noqa: E731
        callbacks = (lambda *_: None), respond
        self.pool.submit(SearchRequest(client, tree.current, budget, *callbacks, **level))

    def ask(self, *request: Any, **level: Any) -> SearchResponse:
        count = len(self.responses)
        self.put(*request, **level)
        until(lambda: len(self.responses) > count)
        return self.responses[-1]

    def close(self) -> None:
        self.pool.close()
        self.pool.join(SECONDS)


def simulations_of(response: SearchResponse) -> int:
    assert response.result is not None
    return response.result.simulations


def test_an_endless_search_ends_when_it_has_seen_enough(monkeypatch):
    monkeypatch.setattr(search_pool, "MAX_SIMULATIONS", 300)
    monkeypatch.setattr(search_pool, "REPORT_INTERVAL", 0.0)
    client = PoolClient(parse_player("uct"), make_game("tic_tac_toe"))
    first = client.ask("a", [], None)
    assert 300 <= simulations_of(first) < 300_000
    # What was seen before does not count against the next search.
    assert simulations_of(client.ask("a", [4], None)) > 300
    client.close()


def test_a_level_searches_as_many_simulations_as_it_says():
    game = make_game("tic_tac_toe")
    for sequential, simulations in ((32, 0), (32, 16), (100, 100), (0, 100)):
        client = PoolClient(player_with(UniformEvaluator(9)), game, sequential)
        assert simulations_of(client.ask("a", [], simulations)) == simulations
        client.close()


def test_a_player_without_a_tree_keeps_to_its_own_time():
    client = PoolClient(parse_player("minimax:seconds=0.05"), make_game("connect_four"))
    assert client.ask("a", [], None).action is not None
    client.close()


def test_the_move_of_a_level_is_drawn_for_its_request_alone():
    game, moves = make_game("tic_tac_toe"), [0, 3, 1, 4]  # 2 wins at once
    client = PoolClient(parse_player("uct:30"), game)
    levels = (None, LevelSettings(30, random_moves=1.0)) * 30
    played = [client.ask("a", moves, 30, level=level).action for level in levels]
    client.close()
    assert set(played[::2]) == {2}
    assert len(set(played[1::2])) >= 4
    assert set(played[1::2]) <= {2, 5, 6, 7, 8}


def test_a_tree_is_kept_below_the_moves_that_were_made_and_for_its_asker_alone():
    game = make_game("connect_four")
    client = PoolClient(player_with(UniformEvaluator(7), game), game)
    first = client.ask("a", [], 400)
    assert first.action is not None
    assert simulations_of(first) == 400
    assert simulations_of(client.ask("a", [first.action, 0], 100)) > 100
    assert simulations_of(client.ask("b", [first.action, 0], 100)) == 100
    assert simulations_of(client.ask("a", [], 100)) == 100
    client.close()


@pytest.mark.parametrize("is_canceled_first", [False, True])
def test_a_request_waits_while_all_slots_are_busy(monkeypatch, is_canceled_first):
    may_start, create = threading.Event(), SearchPool._create_player

    def create_later(pool: SearchPool) -> Player:
        may_start.wait(SECONDS)
        return create(pool)

    monkeypatch.setattr(SearchPool, "_create_player", create_later)
    client = PoolClient(parse_player("uct"), make_game("connect_four"))
    for number in range(search_pool.SLOTS):
        client.put(f"{number}", [], None)
    client.put("late", [3], 50)
    if not is_canceled_first:
        may_start.set()
        until(lambda: client.pool._slots and all(slot.request for slot in client.pool._slots))
    client.pool.cancel("0")
    may_start.set()
    until(lambda: len(client.responses) == 1)
    assert simulations_of(client.responses[0]) >= 50
    client.close()
