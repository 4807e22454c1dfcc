"""Evaluators, positions and comparisons for tests of searches."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from alphazero.games import ONGOING, Game, State, to_play, value_of
from alphazero.games.game import LAST
from alphazero.mcts.evaluator import Evaluator
from alphazero.mcts.kernels.root import Exploration, RootStatistics
from alphazero.mcts.kernels.tree import EDGE, Trees
from alphazero.mcts.network_search import NetworkSearch
from alphazero.mcts.search import TreeSearch
from alphazero.mcts.tree_reading import created_edges, principal_variation
from alphazero.utils.arrays import Float32Array, Int64Array, RecordArray
from helpers.reference.search import PlainSearch
from helpers.settings import search_config

FIRST = np.array([0])


class UniformEvaluator:
    """Evaluates every position as value 0 with equal logits; notes the `rows` of each batch."""

    def __init__(self, num_actions: int) -> None:
        self.num_actions = num_actions
        self.rows: list[int] = []

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return zeros: logits [R, A] and values [R]."""
        rows = len(observations)
        self.rows.append(rows)
        return np.zeros((rows, self.num_actions), np.float32), np.zeros(rows, np.float32)


class HashedEvaluator:
    """Computes logits and a value from a hash of the observation, independent of its batch."""

    def __init__(self, game: Game, seed: int = 0) -> None:
        shape = math.prod(game.observation_shape), game.num_actions + 1
        self.keys = np.random.default_rng(seed).integers(1, 2**63, shape, dtype=np.uint64)
        self.rows: list[int] = []

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        self.rows.append(len(observations))
        codes = observations.reshape(len(observations), -1).astype(np.uint64) @ self.keys
        for _ in range(2):
            codes = (codes ^ (codes >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        numbers = ((codes >> np.uint64(40)) / 2**23 - 1).astype(np.float32)
        return 2 * numbers[:, :-1], numbers[:, -1].copy()


def by_action(roots: RootStatistics, numbers: np.ndarray, num_actions: int) -> np.ndarray:
    """Return numbers by legal action [n, L] as [n, A], with 0 for the other actions."""
    dense = np.zeros((len(numbers), num_actions), numbers.dtype)
    for row, count in enumerate(roots.counts):
        dense[row, roots.actions[row, :count]] = numbers[row, :count]
    return dense


def statistics(search: TreeSearch, slots: Int64Array = FIRST) -> RootStatistics:
    """Return the statistics of roots by action, [n, A], NaN for values that there are not."""
    roots, actions = search.root_statistics(slots), search.game.num_actions
    dense = {
        name: by_action(roots, getattr(roots, name), actions)
        for name in ("visits", "priors", "move_policies", "policy_targets", "action_values")
    }
    dense["action_values"] = np.where(dense["visits"] > 0, dense["action_values"], np.nan)
    return roots._replace(**dense)


def finish(search: TreeSearch, slots: Int64Array = FIRST) -> RootStatistics:
    """Step the search until all `slots` are finished; return their root statistics."""
    waiting = set(slots.tolist())
    for _ in range(100_000):
        search.step()
        waiting -= set(search.pop_finished().tolist())
        if not waiting:
            return statistics(search, slots)
    raise AssertionError(f"slots {waiting} are never done")


def search_from(search: TreeSearch, state: State, simulations: int | None = None) -> RootStatistics:
    """Search a position in a new tree of the first slot; return its root statistics."""
    search.reset(FIRST, state[None])
    search.begin_search(FIRST, simulations)
    return finish(search)


def searched(
    game: Game,
    state: State,
    simulations: int,
    evaluator: Evaluator | None = None,
    *,
    leaves: int = 1,
    exploration: Exploration | None = None,
    **settings: Any,
) -> tuple[NetworkSearch, RootStatistics]:
    """Search one position, by default with a uniform evaluator; return search and root."""
    search = NetworkSearch(
        game,
        evaluator or UniformEvaluator(game.num_actions),
        search_config(simulations=simulations, **settings),
        leaves=leaves,
        exploration=exploration,
    )
    return search, search_from(search, state)


def random_position(game: Game, moves: int, rng: np.random.Generator) -> State:
    """Return an unfinished position after `moves` random moves."""
    while True:
        state = game.initial_state()
        for _ in range(moves):
            state = game.play(state, int(rng.choice(np.flatnonzero(game.legal_action_mask(state)))))
            if game.outcome(state) != ONGOING:
                break
        else:
            return state


def follow_at_random(
    search: NetworkSearch, twin: PlainSearch, state: State, rng: np.random.Generator
) -> State:
    """Play a random legal move in a search and in its twin; return the new position."""
    action = int(rng.choice(np.flatnonzero(search.game.legal_action_mask(state))))
    search.advance(FIRST, np.array([action]))
    twin.follow(action)
    return search.game.play(state, action)


def edges_of(trees: Trees, slot: int, node: int) -> RecordArray:
    """Return a copy of all edges of a node; lazy ones have no visits."""
    first, count = trees.nodes["first_edge"][slot, node], trees.nodes["edge_count"][slot, node]
    block: RecordArray = np.zeros(count, EDGE)
    if trees.nodes["created_count"][slot, node] < count:
        block["action"] = trees.lazy_actions[slot, first : first + count]
        block["prior"] = trees.lazy_priors[slot, first : first + count]
        block["child"] = -1
    created = np.arange(trees.edges.shape[1])[created_edges(trees, slot, node)]
    assert (np.diff(created) > 0).all(), "created edges are in the order of actions"
    block[created - first] = trees.edges[slot, created]
    return block


def assert_same_tree(search: NetworkSearch, slot: int, twin: PlainSearch) -> None:
    """Compare two trees or graphs node by node, and the roots as the search reports them."""
    trees = search.trees
    nodes, met = [(0, twin.root)], {0: twin.root}
    for index, node in nodes:
        block = edges_of(trees, slot, index)
        assert trees.nodes["value"][slot, index] == pytest.approx(node.value)
        assert block["action"].tolist() == list(node.priors)
        assert block["visits"].tolist() == list(node.visits.values())
        assert not block["pending"].any()
        assert np.allclose(block["prior"], list(node.priors.values()), rtol=1e-6)
        assert np.allclose(block["value_sum"], list(node.value_sums.values()))
        for child, action in zip(block["child"].tolist(), node.priors, strict=True):
            assert (child >= 0) == (action in node.children)
            if child >= 0:
                below = node.children[action]
                if child not in met:
                    nodes.append((child, below))
                assert met.setdefault(child, below) is below
    assert trees.slots["num_nodes"][slot] == len(nodes)

    roots, root = statistics(search, np.array([slot])), twin.root
    for action in range(search.game.num_actions):
        visits = root.visits.get(action, 0)
        assert roots.visits[0, action] == visits
        assert roots.priors[0, action] == pytest.approx(root.priors.get(action, 0.0), rel=1e-6)
        if visits:
            mean = root.value_sums[action] / visits
            assert roots.action_values[0, action] == pytest.approx(mean)
            assert principal_variation(search, slot, action, 5) == twin.variation(action, 5)
        else:
            assert math.isnan(roots.action_values[0, action])
    assert roots.values[0] == pytest.approx(twin.root_value())


GUARD = 64
"""Elements of known content before and after each array."""


def guarded(trees: Trees) -> tuple[Trees, Callable[[], None]]:
    """Return copies of the arrays between guards, and a check that the guards are intact.

    The arrays hold rubbish, except for the slots and, of each root, its state, its noise and its
    visits before sequential halving began.
    """
    kept = {"slots", "root_state", "root_noise", "root_kept", "mask_words"}
    arrays, buffers = {}, []
    for name, array in trees._asdict().items():
        buffer = np.frombuffer(
            bytes([77] * array.itemsize) * (array.size + 2 * GUARD), array.dtype
        ).copy()
        if array.dtype == np.bool_:
            buffer[:] = True
        inside = buffer[GUARD:-GUARD].reshape(array.shape)
        if name in kept:
            inside[...] = array
        arrays[name] = inside
        buffers.append((name, buffer, buffer[0]))
    arrays["mask"] = arrays["mask_words"].view(np.bool_)[: len(trees.mask)]

    def check() -> None:
        for name, buffer, content in buffers:
            around = np.concatenate([buffer[:GUARD], buffer[-GUARD:]])
            assert (around == content).all(), f"written beyond {name}"

    return Trees(**arrays), check


def guard_new_trees(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType
) -> list[Callable[[], None]]:
    """Guard the trees that a search module allocates from now on; the list gets their checks."""
    checks, allocate = [], module.allocate_trees

    def allocate_guarded(*arguments: object, **options: bool) -> Trees:
        trees, check = guarded(allocate(*arguments, **options))
        checks.append(check)
        return trees

    monkeypatch.setattr(module, "allocate_trees", allocate_guarded)
    return checks


def exact_value(game: Game, state: State, known: dict[bytes, int]) -> int:
    """Return the value of a position for its player to move, by plain negamax."""
    place = state.copy()
    if not game.last_move_in_state_key:
        place[LAST] = 0
    key = place.tobytes()
    if key not in known:
        outcome = game.outcome(state)
        if outcome != ONGOING:
            known[key] = value_of(outcome, to_play(state))
        else:
            known[key] = max(
                -exact_value(game, game.play(state, int(action)), known)
                for action in np.flatnonzero(game.legal_action_mask(state))
            )
    return known[key]
