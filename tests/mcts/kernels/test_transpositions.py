"""Graphs in place of trees: against a plain twin, and by what must hold of every graph."""

import numpy as np
import pytest
from helpers.games import GAMES, WITH_MARGIN
from helpers.reference.gumbel import PlainGumbelRoot
from helpers.reference.search import Path, PlainNode, seen_by
from helpers.searches import (
    FIRST,
    HashedEvaluator,
    assert_same_tree,
    edges_of,
    finish,
    follow_at_random,
    random_position,
    searched,
)
from helpers.settings import search_config

from alphazero.games import ONGOING, State, to_play
from alphazero.games.game import LAST
from alphazero.mcts import network_search
from alphazero.mcts.kernels.root import Exploration
from alphazero.mcts.network_search import NetworkSearch

MANY = GAMES | WITH_MARGIN


class PlainGraph(PlainGumbelRoot):
    """The plain search with one node for a position, and means worked out from edge to edge."""

    def start(self, state: State) -> None:
        super().start(state)
        self.known: dict[bytes, PlainNode] = {}
        self.turns: list[int] = []

    def follow(self, action: int) -> None:
        super().follow(action)
        waiting = [self.root] if self.root.priors else []
        for node in waiting:
            if self.known.get(self._key(node.state)) is not node:
                self.known[self._key(node.state)] = node
                waiting += node.children.values()

    def root_value(self) -> float:
        """Return the mean at the root, of the improved policy in Gumbel search."""
        if self.settings.selection == "gumbel_root":
            return super().root_value()
        return self._mean(self.root)

    def _key(self, state: State) -> bytes:
        place = state.copy()
        if not self.game.last_move_in_state_key:
            place[LAST] = 0
        return place.tobytes()

    def _known(self, state: State) -> PlainNode | None:
        """Return the node of a position that others have reached, in a graph."""
        return (
            self.known.get(self._key(state)) if self.settings.transpositions == "always" else None
        )

    def _mean(self, node: PlainNode) -> float:
        """Return the mean of a node and of its edges, whose visits count 1 / (1 + k d)."""
        means = {a: node.value_sums[a] / count for a, count in node.visits.items() if count}
        best, weights = max(means.values(), default=0), [1.0]
        for action, mean in means.items():
            k = network_search.BACKUP_VALUE_WEIGHTING
            weights.append(node.visits[action] / (1 + k * (best - mean)))
        return float(np.average([node.value, *means.values()], weights=weights))

    def child(self, node: PlainNode, action: int) -> PlainNode | None:
        if action not in node.children:
            state = self.game.play(node.state, action)
            known = self._known(state)
            if known is not None and self.game.outcome(state) == ONGOING:
                node.children[action] = known
        return node.children.get(action)

    def attach(self, path: Path, leaf: PlainNode) -> PlainNode:
        last, action = path[-1]
        if action not in last.children:
            node = self._known(leaf.state)
            if node is None:
                node = self.known[self._key(leaf.state)] = leaf
                self.expand(leaf)
            last.children[action] = node
        return last.children[action]

    def back_up(self, path: Path, leaf: PlainNode) -> None:
        for node, action in reversed(path):
            child = node.children[action]
            mean = seen_by(to_play(child.state), self._mean(child))
            node.visits[action] += 1
            node.value_sums[action] = node.visits[action] * seen_by(to_play(node.state), mean)


@pytest.mark.parametrize("name", [name for name, game in MANY.items() if not game.history_in_state])
@pytest.mark.parametrize("selection", ["puct", "gumbel_root"])
def test_every_graph_is_the_one_of_the_plain_twin(name: str, selection: str, monkeypatch):
    game = MANY[name]
    evaluator, rng = HashedEvaluator(game, 5), np.random.default_rng(2)
    many = 1 if selection == "gumbel_root" else 4
    # Every pair of choices.
    for weighting, reuse_tree, leaves in (
        *((0.0, True, 1), (2.0, False, 1)),
        *((0.0, False, many), (2.0, True, many)),
    ):
        monkeypatch.setattr(network_search, "BACKUP_VALUE_WEIGHTING", weighting)
        settings = search_config(
            selection=selection,
            transpositions="always",
            reuse_tree=reuse_tree,
            evaluation_cache_mib=0,
        )
        exploration = Exploration() if selection == "gumbel_root" else None
        search = NetworkSearch(
            game, evaluator, settings, nodes=2000, leaves=leaves, exploration=exploration, rng=rng
        )
        twin = PlainGraph(game, evaluator, settings, leaves=leaves)
        state = random_position(game, int(rng.integers(0, 3)), rng)
        search.reset(FIRST, state[None])
        twin.start(state)
        while game.outcome(state) == ONGOING:
            simulations = int(rng.choice([1, 20, 50]))
            search.begin_search(FIRST, simulations)
            finish(search)
            if selection == "gumbel_root":
                legal = int(game.legal_action_mask(state).sum())
                twin.plan(simulations, search.trees.root_noise[0, :legal].tolist())
            else:
                twin.search(simulations)
            assert_same_tree(search, 0, twin)
            state = follow_at_random(search, twin, state, rng)


def places(search: NetworkSearch) -> dict[int, bytes]:
    """Return the position of each node, having checked that every way to it leads to that."""
    game, trees = search.game, search.trees
    states, waiting = {0: trees.root_state[0].copy()}, [0]
    if not game.last_move_in_state_key:
        states[0][LAST] = 0
    for node in waiting:
        for edge in edges_of(trees, 0, node):
            child = int(edge["child"])
            if child < 0:
                continue
            state = game.play(states[node], int(edge["action"]))
            if not game.last_move_in_state_key:
                state[LAST] = 0
            if child not in states:
                states[child] = state
                waiting.append(child)
            assert (states[child] == state).all()
    assert len(states) == trees.slots[0]["num_nodes"]
    return {node: state.tobytes() for node, state in states.items()}


@pytest.mark.parametrize("name", MANY)
def test_a_position_is_evaluated_once_in_a_graph(name: str):
    game, counts, roots = MANY[name], {}, []
    for graph in (False, True):
        evaluator = HashedEvaluator(game)
        options = {"transpositions": "always" if graph else "never", "evaluation_cache_mib": 0}
        search, _ = searched(game, game.initial_state(), 600, evaluator, **options)
        positions = places(search)
        unfinished = [p for n, p in positions.items() if search.trees.nodes[0, n]["edge_count"]]
        assert sum(evaluator.rows) == len(unfinished)
        counts[graph] = len(unfinished), len(set(unfinished))
        roots.append(edges_of(search.trees, 0, 0).tolist())
    assert counts[True][0] == counts[True][1], "no position has two nodes"
    if name == "go 3x3":
        assert counts[False][0] == counts[False][1], "the past of a game of Go counts"
        assert roots[0] == roots[1], "it keeps its tree"
    else:
        assert counts[False][0] > counts[False][1], "the tree's positions come again"


def test_a_kept_graph_is_whole():
    """With proofs, which leave nodes without edges; some roots are younger than what they keep."""
    rng, older = np.random.default_rng(4), 0
    settings = search_config(transpositions="always", mcts_solver=True, simulations=150)
    for game in [*GAMES.values()] * 2:
        search, state = (
            NetworkSearch(game, HashedEvaluator(game), settings, rng=rng),
            game.initial_state(),
        )
        search.reset(FIRST, state[None])
        while game.outcome(state) == ONGOING:
            search.begin_search(FIRST)
            finish(search)
            numbers = {place: node for node, place in places(search).items()}
            action = int(rng.choice(np.flatnonzero(game.legal_action_mask(state))))
            state = game.play(state, action)
            search.advance(FIRST, np.array([action]))
            if search.trees.slots[0]["num_nodes"]:
                root, *kept = [numbers[place] for place in places(search).values()]
                older += min(kept, default=root) < root
    assert older > 0
