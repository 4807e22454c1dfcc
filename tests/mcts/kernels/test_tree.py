"""Memory and answers of a game with many actions, of which few are legal."""

from dataclasses import dataclass

import numpy as np
import pytest
from helpers.reference.search import PlainSearch
from helpers.searches import HashedEvaluator, assert_same_tree, search_from
from helpers.settings import replay_config, search_config

from alphazero.errors import GameError
from alphazero.games.compiled_rules import RuleFunctions, Signature
from alphazero.games.game import LAST, ONGOING, OUTCOME, PLY, Mask, Planes, State
from alphazero.games.mnk import Mnk
from alphazero.mcts.kernels.tree import MOST_ACTIONS, allocate_trees
from alphazero.mcts.network_search import NetworkSearch
from alphazero.records.game_record import GameRecord, Pairing, Policies
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.utils.jit import kernel

ACTIONS, LEGAL, MOVES = 1858, 35, 200
MIB = 1 << 20


@kernel(Signature.legal)
def _legal(state: State, mask: Mask) -> int:
    """Allow 35 actions, which depend on the ply and the last action, among them the last one."""
    mask[:] = False
    if state[OUTCOME] == ONGOING:
        for number in range(LEGAL):
            mask[
                (ACTIONS - 1 + 17 * state[PLY] + 53 * number + 7 * (state[LAST] + 1)) % ACTIONS
            ] = True
        return LEGAL
    return 0


@kernel(Signature.play)
def _play(state: State, action: int) -> None:
    state[PLY] += 1
    state[LAST] = action
    state[3] = (31 * state[3] + action) % 1_000_003
    if state[PLY] == MOVES:
        state[OUTCOME] = action % 3 - 1


@kernel(Signature.observe)
def _observe(state: State, planes: Planes) -> None:
    for bit in range(20):
        planes[bit % 2, bit // 2 % 2, bit // 4] = state[3] >> bit & 1


@dataclass(frozen=True)
class Wide(Mnk):
    """A game of as many actions as chess has, and as many legal ones as usual there."""

    rule_functions = RuleFunctions(_legal, _play, _observe)
    num_actions, most_legal, max_moves = ACTIONS, LEGAL, MOVES
    observation_shape = 2, 2, 5

    def initial_state(self) -> State:
        return np.array([0, ONGOING, -1, 1])


def test_a_search_among_many_actions_builds_the_tree_of_the_plain_twin():
    game = Wide()
    for options in ({}, {"transpositions": "always", "mcts_solver": True}):
        settings = search_config(simulations=150, **options)
        evaluator = HashedEvaluator(game)
        search = NetworkSearch(game, evaluator, settings)
        roots = search_from(search, game.initial_state())
        assert (roots.visits[0] > 0).sum() > 5
        assert not roots.visits[0][~game.legal_action_mask(game.initial_state())].any()
        if not options:
            twin = PlainSearch(game, evaluator, settings)
            twin.start(game.initial_state())
            twin.search(150)
            assert_same_tree(search, 0, twin)


def test_trees_of_many_actions_take_memory_by_legal_moves():
    game = Wide()
    search = NetworkSearch(game, HashedEvaluator(game), search_config(simulations=96), slots=128)
    own = sum(array.nbytes for array in search.trees if array is not search.trees.mask)
    assert own < 100 * MIB
    cache = search._cache
    assert len(cache.keys) > 10 * 64 * MIB / (12 + 4 * ACTIONS)
    million = allocate_trees(game, 1, 1_000_000, graph=True, lazy=True)
    assert sum(array.nbytes for array in million) < 1.25 * 1024 * MIB


def test_a_window_of_many_actions_takes_memory_by_moves_with_visits():
    game, rng = Wide(), np.random.default_rng(0)
    games, length = 2000, MOVES
    state = game.initial_state()
    actions = []
    for _ in range(length):
        actions.append(int(rng.choice(np.flatnonzero(game.legal_action_mask(state)))))
        state = game.play(state, actions[-1])
    shares = np.full(length * LEGAL, 1 / LEGAL, np.float32)
    moves = np.tile(np.arange(LEGAL, dtype=np.int32), length)
    policies = Policies(np.full(length, LEGAL, np.int32), moves, shares)
    zeros = np.zeros(length, np.float32)
    outcome = int(state[OUTCOME])
    record = GameRecord(Pairing(), np.array(actions, np.int32), policies, zeros, zeros, outcome)
    settings = replay_config(window_minimum=games * length, window_maximum=games * length)
    buffer = ReplayBuffer(game, settings)
    buffer.add(1, GameBatch.of(game, [record] * games))
    assert buffer.window == 400_000
    assert buffer.nbytes < 0.2 * 1024 * MIB


def test_more_actions_than_a_tree_can_number_are_refused():
    @dataclass(frozen=True)
    class Wider(Wide):
        num_actions = MOST_ACTIONS + 1

    with pytest.raises(GameError, match="Wider has 32768 actions; a tree takes 32767"):
        allocate_trees(Wider(), 1, 1)
