"""Remembered evaluations: they change the work that is done, never the answer."""

import dataclasses
import functools
import itertools

import numpy as np
import pytest
from helpers.paths import CHECKPOINTS
from helpers.searches import HashedEvaluator as FastEvaluator

from alphazero.arena.openings import random_opening
from alphazero.config.schema import InferenceConfig, SearchConfig
from alphazero.games import ONGOING, Game, State, make_game
from alphazero.games.game import to_play
from alphazero.mcts.kernels.evaluation_cache import get, hash_observation, new_cache, put
from alphazero.mcts.network_search import NetworkSearch
from alphazero.players.checkpoint_player import load_checkpoint_player, load_player
from alphazero.utils.arrays import Float32Array
from alphazero.utils.jobs import threads_per_evaluation

GAMES = {"tic_tac_toe": {}, "connect_four": {"rows": 4, "columns": 5, "length": 3}}


class HashedEvaluator:
    """Answers from a hash of what it sees, and counts what it was asked."""

    def __init__(self, num_actions: int) -> None:
        self.num_actions = num_actions
        self.seen: list[bytes] = []

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        logits, values = [], []
        for observation in observations:
            self.seen.append(observation.tobytes())
            rng = np.random.default_rng(list(observation.tobytes()))
            logits.append(rng.normal(size=self.num_actions))
            values.append(rng.uniform(-1, 1))
        return np.array(logits, np.float32), np.array(values, np.float32)


def visits_of_a_game(name: str, megabytes: int, evaluator: HashedEvaluator) -> list[list[int]]:
    """Play a game in two slots that follow each other's moves; return every root's visits."""
    game = make_game(name, **GAMES[name])
    settings = SearchConfig(simulations=40, evaluation_cache_mib=megabytes, reuse_tree=False)
    search = NetworkSearch(game, evaluator, settings, slots=2)
    slots = np.arange(2)
    search.reset(slots, np.tile(game.initial_state(), (2, 1)))
    state, told = game.initial_state(), []
    for _ in range(6):
        search.begin_search(slots)
        done = np.zeros(0, np.int64)
        while len(done) < 2:
            search.step()
            done = np.union1d(done, search.pop_finished())
        visits = search.root_statistics(slots).visits
        told += visits.tolist()
        action = int(visits[0].argmax())
        state = game.play(state, action)
        search.advance(slots, np.array([action, action]))
    return told


@pytest.mark.parametrize("name", GAMES)
def test_a_remembered_evaluation_gives_the_same_visits(name: str) -> None:
    num_actions = make_game(name, **GAMES[name]).num_actions
    without, remembering = HashedEvaluator(num_actions), HashedEvaluator(num_actions)
    assert visits_of_a_game(name, 0, without) == visits_of_a_game(name, 1, remembering)
    assert set(without.seen) == set(remembering.seen)
    assert len(without.seen) > 1.5 * len(remembering.seen)


SEARCHES = {
    "the paper's": {},
    "with proofs": {"mcts_solver": True, "fpu": "parent"},
    "graph": {"transpositions": True, "backup_value_weighting": 2.0, "mcts_solver": True},
    "Gumbel": {"selection": "gumbel_root", "mcts_solver": True},
}


def positions_of(game: Game, count: int, seed: int) -> list[State]:
    """Return unfinished positions after random openings of several lengths."""
    rng, first = np.random.default_rng(seed), game.initial_state()
    return [game.play(first, *random_opening(game, 2 * n, rng)) for n in range(count)]


def findings(search: NetworkSearch, state: State) -> list[bytes]:
    """Search a position in a new tree; return all that is found at its root, bit for bit."""
    slot = np.array([0])
    search.reset(slot, state[None])
    search.begin_search(slot)
    while not len(search.pop_finished()):
        search.step()
    return [array.tobytes() for array in search.root_statistics(slot)]


def drop_half(search: NetworkSearch) -> None:
    """Forget every second evaluation."""
    search._cache.keys[::2] = 0


@pytest.mark.parametrize("leaves", [1, 4, 8])
@pytest.mark.parametrize("kind", SEARCHES)
@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "gomoku"])
def test_a_search_finds_the_same_whatever_was_searched_before(
    name: str, kind: str, leaves: int
) -> None:
    game = make_game(name, rows=8, columns=8) if name == "gomoku" else make_game(name)
    evaluator, states = FastEvaluator(game), positions_of(game, 3, 1)
    for simulations in (50, 100, 600):
        settings = SearchConfig(simulations=simulations, evaluation_cache_mib=4, **SEARCHES[kind])
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
    name: str, backend: str
) -> None:
    """Down to the last bit: batches of other sizes would round otherwise."""
    saved = load_checkpoint_player(
        CHECKPOINTS / f"{name}.safetensors", InferenceConfig(backend=backend)
    )
    forgetful = dataclasses.replace(
        saved, settings=dataclasses.replace(saved.settings, evaluation_cache_mib=0)
    )
    states = positions_of(saved.game, 2, 2)
    for leaves, simulations in ((1, 50), (4, 50), (8, 100), (None, 600)):
        with threads_per_evaluation(1):
            search = saved.create(simulations=simulations, leaves=leaves).search
            first = [findings(search, state) for state in states]
            assert [findings(search, state) for state in states[::-1]] == first[::-1]
            drop_half(search)
            assert [findings(search, state) for state in states] == first
            search = forgetful.create(simulations=simulations, leaves=leaves).search
            assert [findings(search, state) for state in states] == first


@pytest.mark.arithmetic
def test_every_board_of_tic_tac_toe_is_answered_optimally_in_any_order() -> None:
    game = make_game("tic_tac_toe")
    waiting, boards = [game.initial_state()], {}
    for state in waiting:
        stones = game.render(state)
        if game.outcome(state) == ONGOING and stones not in boards:
            boards[stones] = state
            legal = np.flatnonzero(game.legal_action_mask(state))
            waiting += [game.play(state, int(action)) for action in legal]
    assert len(boards) == 4520

    @functools.cache
    def result(stones: str) -> int:
        """Return the outcome of best play."""
        state = game.parse(stones)
        if game.outcome(state) != ONGOING:
            return game.outcome(state)
        legal = np.flatnonzero(game.legal_action_mask(state))
        results = [result(game.render(game.play(state, int(action)))) for action in legal]
        return min(results) if to_play(state) else max(results)

    backwards, shuffled = list(boards)[::-1], np.random.default_rng(0).permutation(list(boards))
    for simulations in (50, 100):
        player = load_player(CHECKPOINTS / "tic_tac_toe.safetensors", simulations=simulations)[1]
        answers: dict[str, int] = {}
        for order in (list(boards), backwards, shuffled.tolist()):
            for stones in order:
                action = player.choose(boards[stones])
                assert answers.setdefault(stones, action) == action
                after = game.play(boards[stones], action)
                assert result(game.render(after)) == result(stones), stones


def test_no_position_is_evaluated_again_in_a_later_batch() -> None:
    evaluator = HashedEvaluator(9)
    game = make_game("tic_tac_toe")
    search = NetworkSearch(game, evaluator, SearchConfig(simulations=300, evaluation_cache_mib=1))
    search.reset(np.array([0]), game.initial_state()[None])
    search.begin_search(np.array([0]))
    while not len(search.pop_finished()):
        search.step()
    assert len(set(evaluator.seen)) == len(evaluator.seen) == search.evaluations
    questions, answers = search.cache_hits
    assert questions == answers + search.evaluations
    assert answers > 0


def test_each_position_of_a_batch_is_remembered_with_its_own_evaluation() -> None:
    game, evaluator = make_game("connect_four"), HashedEvaluator(7)
    states = np.array(positions_of(game, 4, 3))
    search = NetworkSearch(
        game, evaluator, SearchConfig(simulations=5, evaluation_cache_mib=1), slots=4
    )
    search.reset(np.arange(4), states)
    search.begin_search(np.arange(4))
    assert search.step() == 4, "all roots in one batch"
    for state in states:
        observation = game.observe(state)
        words = observation.reshape(-1).view(np.uint32)
        key = np.uint64(hash_observation(words, search._cache.factors))
        place = get(search._cache, key)
        (logits,), (value,) = HashedEvaluator(7).evaluate(observation[None])
        assert search._cache.logits[place].tolist() == logits.tolist()
        assert search._cache.values[place] == value


def test_what_is_forgotten_is_evaluated_again() -> None:
    evaluator, game, slot = HashedEvaluator(9), make_game("tic_tac_toe"), np.array([0])
    search = NetworkSearch(game, evaluator, SearchConfig(simulations=200, evaluation_cache_mib=1))

    def evaluations() -> int:
        before = search.evaluations
        search.reset(slot, game.initial_state()[None])
        search.begin_search(slot)
        while not len(search.pop_finished()):
            search.step()
        return search.evaluations - before

    first = evaluations()
    assert first > 0
    assert evaluations() < first / 20, "but for those whose place another one took"
    search.clear_cache()
    assert evaluations() == first


def test_memory_is_bounded_and_an_entry_gives_way_to_a_newer_one() -> None:
    cache = new_cache(1, 7, 4, 9)
    assert sum(array.nbytes for array in cache[:3]) <= 1 << 20
    places = len(cache.keys)
    assert places & (places - 1) == 0
    old, new = 5, 5 + places
    put(cache, np.uint64(old), np.full(7, 1, np.float32), 0.1)
    assert get(cache, np.uint64(old)) == 5
    put(cache, np.uint64(new), np.full(7, 2, np.float32), 0.2)
    assert get(cache, np.uint64(old)) == -1
    place = get(cache, np.uint64(new))
    assert cache.logits[place].tolist() == [2] * 7
    assert cache.values[place] == np.float32(0.2)
    assert cache.counts.tolist() == [3, 2]


def test_a_cache_of_no_size_remembers_nothing() -> None:
    cache = new_cache(0, 7, 4, 9)
    put(cache, np.uint64(3), np.zeros(7, np.float32), 0.0)
    assert get(cache, np.uint64(3)) == -1
    assert cache.counts.tolist() == [0, 0]


def test_observations_that_differ_anywhere_have_different_keys() -> None:
    empty = np.zeros((3, 6, 7), np.float32)
    boards = [empty]
    for cells in itertools.chain(
        itertools.combinations(range(126), 1), itertools.combinations(range(126), 2)
    ):
        board = empty.copy()
        board.reshape(-1)[list(cells)] = 1
        boards.append(board)
        boards.append(0.5 * board)
    factors = new_cache(1, 7, 4, empty.size).factors
    keys = [int(hash_observation(board.reshape(-1).view(np.uint32), factors)) for board in boards]
    assert len(set(keys)) == len(boards)
    assert min(keys) > 0
    # Each bit of the place is set about half of the time: entries spread over the table.
    bits = np.array([[key >> bit & 1 for bit in range(24)] for key in keys]).mean(axis=0)
    assert (abs(bits - 0.5) < 0.03).all()
