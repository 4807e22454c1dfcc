"""Remembered evaluations: they change the work that is done, never the answer."""

import dataclasses
import itertools

import numpy as np
import pytest
from helpers.games import TIC_TAC_TOE
from helpers.paths import CHECKPOINTS
from helpers.searches import HashedEvaluator, search_from
from helpers.settings import search_config
from numba import types

from alphazero.arena.openings import random_opening
from alphazero.games import Game, State, make_game
from alphazero.mcts.kernels import evaluation_cache
from alphazero.mcts.kernels.evaluation_cache import CacheType, new_cache
from alphazero.mcts.network_search import NetworkSearch
from alphazero.network.inference.backend import BACKEND_VARIABLE
from alphazero.players.budget import Budget
from alphazero.players.checkpoint_player import load_checkpoint_player
from alphazero.players.registry import load_player
from alphazero.solvers.exhaustive import solve_all_positions
from alphazero.utils.arrays import Float32Array
from alphazero.utils.jit import kernel
from alphazero.utils.jobs import threads_per_evaluation

_WORDS, _FACTORS, _LOGITS = types.uint32[::1], types.uint64[::1], types.float32[::1]
get = kernel(types.int64(CacheType, types.uint64))(evaluation_cache.get.py_func)
put = kernel(types.void(CacheType, types.uint64, _LOGITS, types.int64, types.float64))(
    evaluation_cache.put.py_func
)
hash_position = kernel(types.uint64(_WORDS, _FACTORS, _FACTORS))(
    evaluation_cache.hash_position.py_func
)


class Recorder(HashedEvaluator):
    """Notes each position that it evaluates."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.seen: list[bytes] = []

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        self.seen += [each.tobytes() for each in observations]
        return super().evaluate(observations)


SEARCHES = {
    "the paper's": {},
    "with proofs": {"mcts_solver": True, "fpu_reduction": 0.25},
    "graph": {"transpositions": "always", "mcts_solver": True},
    "Gumbel": {"selection": "gumbel_root", "mcts_solver": True},
    "average": {"leaf_symmetry": "average"},
}


def positions_of(game: Game, count: int, seed: int) -> list[State]:
    """Return unfinished positions after random openings of several lengths."""
    rng, first = np.random.default_rng(seed), game.initial_state()
    return [game.play(first, *random_opening(game, 2 * n, rng)) for n in range(count)]


def findings(search: NetworkSearch, state: State) -> list[bytes]:
    """Search a position in a new tree; return all that is found at its root, bit for bit."""
    return [array.tobytes() for array in search_from(search, state)]


def drop_half(search: NetworkSearch) -> None:
    """Forget every second evaluation."""
    search._cache.keys[::2] = 0


CASES = [
    *itertools.product(["tic_tac_toe", "connect_four", "gomoku"], SEARCHES.keys() - {"average"}),
    ("othello", "average"),
]


@pytest.mark.parametrize("leaves", [1, 8])
@pytest.mark.parametrize(("name", "kind"), sorted(CASES))
def test_a_search_finds_the_same_whatever_was_searched_before(name: str, kind: str, leaves: int):
    game = make_game(name, rows=8, columns=8) if name == "gomoku" else make_game(name)
    evaluator, states = HashedEvaluator(game), positions_of(game, 3, 1)
    for simulations in (50, 300):
        settings = search_config(simulations=simulations, evaluation_cache_mib=4, **SEARCHES[kind])
        search = NetworkSearch(game, evaluator, settings, leaves=leaves)
        cold = []
        for state in states:
            search.clear_cache()
            cold.append(findings(search, state))
        evaluated = search.evaluations
        assert [findings(search, state) for state in states] == cold, "after one another"
        assert search.evaluations < 2 * evaluated, "some were remembered"
        assert [findings(search, state) for state in states[::-1]] == cold[::-1], "and again"
        drop_half(search)
        assert [findings(search, state) for state in states] == cold, "half of it forgotten"
        without = dataclasses.replace(settings, evaluation_cache_mib=0)
        search = NetworkSearch(game, evaluator, without, leaves=leaves)
        assert [findings(search, state) for state in states] == cold, "without a cache"


@pytest.mark.arithmetic
@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "gomoku_8x8"])
def test_a_shipped_player_answers_the_same_whatever_it_searched_before(
    monkeypatch, name: str, backend: str
):
    """Down to the last bit: batches of other sizes would round otherwise."""
    monkeypatch.setenv(BACKEND_VARIABLE, backend)
    saved = load_checkpoint_player(CHECKPOINTS / f"{name}.safetensors")
    forgetful = dataclasses.replace(
        saved, settings=dataclasses.replace(saved.settings, evaluation_cache_mib=0)
    )
    states = positions_of(saved.game, 2, 2)
    for leaves, simulations in ((1, 30), (4, 30), (None, 100)):
        with threads_per_evaluation(1):
            search = saved.create(budget=Budget(simulations), leaves=leaves).search
            first = [findings(search, state) for state in states]
            assert [findings(search, state) for state in states[::-1]] == first[::-1]
            drop_half(search)
            assert [findings(search, state) for state in states] == first
            search = forgetful.create(budget=Budget(simulations), leaves=leaves).search
            assert [findings(search, state) for state in states] == first


@pytest.mark.arithmetic
def test_every_board_of_tic_tac_toe_is_answered_optimally_in_any_order():
    player = load_player(CHECKPOINTS / "tic_tac_toe.safetensors", simulations=50)[1]
    solution, actions = solve_all_positions(TIC_TAC_TOE), dict[int, int]()
    boards = {TIC_TAC_TOE.render(state): index for index, state in enumerate(solution.states)}
    order = np.array([*boards.values()])
    assert len(order) == 4520
    for indices in (order, order[::-9], np.random.default_rng(0).permutation(order)[::9]):
        for index in indices.tolist():
            action = player.choose(solution.states[index])
            assert actions.setdefault(index, action) == action
            assert solution.optimal[index, action]


def test_no_position_is_evaluated_again_in_a_later_batch():
    game, evaluator = TIC_TAC_TOE, Recorder(TIC_TAC_TOE)
    search = NetworkSearch(game, evaluator, search_config(simulations=300, evaluation_cache_mib=1))
    findings(search, game.initial_state())
    assert len(set(evaluator.seen)) == len(evaluator.seen) == search.evaluations
    questions, answers = search.cache_hits
    assert questions == answers + search.evaluations
    assert answers > 0


def test_memory_is_bounded_and_an_entry_gives_way_to_a_newer_one():
    cache = new_cache(1, 7, 4, 9)
    assert sum(array.nbytes for array in cache[:3]) <= 1 << 20
    places = len(cache.keys)
    assert places & (places - 1) == 0
    old, new = 5, 5 + places
    put(cache, np.uint64(old), np.full(7, 1, np.float32), 7, 0.1)
    assert get(cache, np.uint64(old)) == 5
    put(cache, np.uint64(new), np.full(7, 2, np.float32), 7, 0.2)
    assert get(cache, np.uint64(old)) == -1
    place = get(cache, np.uint64(new))
    assert cache.logits[place].tolist() == [2] * 7
    assert cache.values[place] == np.float32(0.2)
    assert cache.counts.tolist() == [3, 2]
    without = new_cache(0, 7, 4, 9)
    put(without, np.uint64(3), np.zeros(7, np.float32), 7, 0.0)
    assert get(without, np.uint64(3)) == -1


def test_positions_that_differ_in_a_plane_or_a_legal_action_have_different_keys():
    empty = np.zeros((3, 6, 7), np.float32)
    boards = [empty]
    for cells in itertools.chain(
        itertools.combinations(range(126), 1), itertools.combinations(range(126), 2)
    ):
        board = empty.copy()
        board.reshape(-1)[list(cells)] = 1
        boards.append(board)
        boards.append(0.5 * board)
    factors, legal = new_cache(1, 7, 4, empty.size + 1).factors, np.ones(8, np.bool_)
    positions = [(board, legal) for board in boards]
    positions += [(empty, np.arange(8) != action) for action in range(7)]
    keys = [
        int(hash_position(board.reshape(-1).view(np.uint32), mask.view(np.uint64), factors))
        for board, mask in positions
    ]
    assert len(set(keys)) == len(positions)
    assert min(keys) > 0
    # Each bit of the place is set about half of the time: entries spread over the table.
    bits = np.array([[key >> bit & 1 for bit in range(24)] for key in keys]).mean(axis=0)
    assert (abs(bits - 0.5) < 0.03).all()
