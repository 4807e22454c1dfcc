"""Memory and answers of a game with many actions, of which few are legal."""

import numpy as np
import pytest
from helpers.chess_games import CHESS
from helpers.reference.search import PlainSearch
from helpers.runs.records import random_record
from helpers.searches import HashedEvaluator, assert_same_tree, searched
from helpers.settings import replay_config, search_config

from alphazero.errors import GameError
from alphazero.games.chess.game import Chess
from alphazero.games.game import MOST_ACTIONS
from alphazero.mcts.kernels.tree import allocate_trees
from alphazero.mcts.network_search import NetworkSearch
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer

MIB = 1 << 20


def test_a_search_among_many_actions_builds_the_tree_of_the_plain_twin():
    for options in ({}, {"transpositions": "always", "mcts_solver": True}):
        evaluator, state = HashedEvaluator(CHESS), CHESS.initial_state()
        search, roots = searched(CHESS, state, 60, evaluator, **options)
        assert (roots.visits[0] > 0).sum() > 5
        assert not roots.visits[0][~CHESS.legal_action_mask(state)].any()
        if not options:
            twin = PlainSearch(CHESS, evaluator, search_config())
            twin.start(state)
            twin.search(60)
            assert_same_tree(search, 0, twin)


def test_trees_of_many_actions_take_memory_by_legal_moves():
    evaluator = HashedEvaluator(CHESS)
    search = NetworkSearch(CHESS, evaluator, search_config(simulations=96), slots=128)
    own = sum(array.nbytes for array in search.trees if array is not search.trees.mask)
    cache = search._cache
    assert own < 100 * MIB
    assert len(cache.keys) > 7 * 64 * MIB / (12 + 4 * CHESS.num_actions)
    million = allocate_trees(CHESS, 1, 1_000_000, graph=True, lazy=True)
    assert sum(array.nbytes for array in million) < 1.5 * 1024 * MIB


def test_a_window_of_many_actions_takes_memory_by_moves_with_visits():
    record, positions = random_record(CHESS, np.random.default_rng(0)), 400_000
    settings = replay_config(window_minimum=positions, window_maximum=positions)
    buffer = ReplayBuffer(CHESS, settings)
    games = positions // len(record.actions) + 1
    buffer.add(1, GameBatch.of(CHESS, [record] * games))
    assert buffer.window == positions
    assert buffer.nbytes < 0.2 * 1024 * MIB


def test_more_actions_than_a_tree_can_number_are_refused():
    class Wider(Chess):
        num_actions = MOST_ACTIONS + 1

    with pytest.raises(GameError, match="Wider has 32768 actions; a tree takes 32767"):
        allocate_trees(Wider(), 1, 1)
