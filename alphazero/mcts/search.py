"""What every search of many games offers: positions in slots, and a wheel that is turned.

Each slot holds one position and its trees: one, or as many as there are threads. Who searches
with a network is in `mcts.py`, who plays to the end at random in `montecarlo.py`.

Letters: G slots, n some of them, A actions, S state size.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from alphazero.games.game import Game, State
from alphazero.mcts.kernels.equations import SelectionParams
from alphazero.mcts.kernels.root import read_roots
from alphazero.mcts.kernels.subtree import advance_trees
from alphazero.mcts.kernels.tree import Trees
from alphazero.utils.arrays import Doubles, Records, Slots

NODES_PER_SIMULATION = 4
"""Nodes per simulation that a tree has room for: what is kept between moves needs some."""


class RootStatistics(NamedTuple):
    """What searches found at their roots, action by action; all for the player to move."""

    visits: Slots
    """[n, A]"""
    priors: Doubles
    """[n, A] the network's, without noise"""
    action_values: Doubles
    """[n, A] mean values, NaN where not visited"""
    move_policies: Doubles
    """[n, A] by which the move is drawn: the shares of the visits, or the one action that Gumbel
    search has chosen; the priors where nothing was visited. What is proven to be worse has none.
    """
    policy_targets: Doubles
    """[n, A] the search policies, to be learned: as `move_policies`, without forced visits, or the
    improved policy of Gumbel search"""
    values: Doubles
    """[n] means over everything below the root, of Gumbel search those of its actions under the
    improved policy, or exact where proven"""

    def best_values(self) -> Doubles:
        """Return the better of the root's value and that of its best action, [n]."""
        best = self.move_policies.argmax(axis=1)
        prospects: Doubles = np.fmax(self.values, self.action_values[np.arange(len(best)), best])
        return prospects


class ChildStatistics(NamedTuple):
    """What a tree holds of one move in one of its positions."""

    action: int
    visits: int
    value: float
    """mean, for the player who makes the move"""


class TreeSearch(ABC):
    """Trees that grow in slots, asked and answered in any order.

    A slot that is done can be moved on and asked again before the next `step`.
    """

    def __init__(
        self,
        game: Game,
        selection: SelectionParams,
        trees_per_thread: Sequence[Trees],
        keep_trees: bool,
        rng: np.random.Generator | None,
    ) -> None:
        self.game = game
        self.rng = rng or np.random.default_rng(0)
        self.slots = len(trees_per_thread[0].slots)
        self.rows = len(trees_per_thread[0].rows)
        """How many leaves a batch may hold."""
        self.evaluations = 0
        self._selection = selection
        self._trees_per_thread = trees_per_thread
        self._keep_trees = keep_trees
        self._searching = np.zeros(self.slots, np.bool_)

    @property
    def trees(self) -> Trees:
        """The first tree of every slot."""
        return self._trees_per_thread[0]

    def reset(self, slots: Slots, states: State) -> None:
        """Put new positions `states` [n, S] into `slots`, with empty trees."""
        self._cancel(slots)
        for trees in self._trees_per_thread:
            trees.root_state[slots] = states
            trees.slots["num_nodes"][slots] = 0
            trees.slots["num_edges"][slots] = 0

    def advance(self, slots: Slots, actions: Slots) -> None:
        """Play `actions` [n] in `slots`; what the tree knows of the new position is kept."""
        self._cancel(slots)
        for trees in self._trees_per_thread:
            advance_trees(self.game.rules, trees, slots, actions, self._keep_trees)

    @abstractmethod
    def begin_search(
        self, slots: Slots, simulations: int | None = None, explore: bool = True
    ) -> None:
        """Start searching `slots`, for so many simulations (default: the configured number).

        `explore` is for searches that look beyond what they believe, to learn.
        """

    def stop(self, slots: Slots) -> None:
        """End the search of `slots` with what it has: the next `pop_finished` names them as done.

        A root that was never evaluated needs one more `step` before that.
        """
        for trees in self._trees_per_thread:
            trees.slots["remaining"][slots] = 0

    @abstractmethod
    def step(self) -> int:
        """Turn the wheel once, for every searching slot; return the number of evaluations."""

    @property
    def has_finished(self) -> bool:
        """Whether `pop_finished` would name a slot."""
        return len(self._finished()) > 0

    @property
    def batch_would_be_partial(self) -> bool:
        """Whether slots are done, without which the others may not fill a batch."""
        done = len(self._finished())
        return done > 0 and int(np.count_nonzero(self._searching)) - done < self.rows

    def pop_finished(self) -> Slots:
        """Return the slots whose search is done, each once; they rest from now on."""
        done = self._finished()
        self._searching[done] = False
        return done

    def _finished(self) -> Slots:
        done = self._searching
        for trees in self._trees_per_thread:
            done = done & (trees.slots["remaining"] <= 0) & (trees.slots["num_nodes"] > 0)
        return done.nonzero()[0]

    def root_is_evaluated(self, slot: int) -> bool:
        """Whether the root of `slot` has been evaluated, so that `root_statistics` can tell "
        "of it.
        """
        return all(trees.slots["num_nodes"][slot] > 0 for trees in self._trees_per_thread)

    @property
    def simulations(self) -> int:
        """How many were run so far."""
        return sum(int(trees.slots["simulations"].sum()) for trees in self._trees_per_thread)

    @abstractmethod
    def root_statistics(self, slots: Slots) -> RootStatistics:
        """Return what the search of `slots` has found so far; their roots must be evaluated."""

    def _read_roots(self, trees: Trees, slots: Slots) -> RootStatistics:
        """Return what the trees of one trees hold at their roots."""
        shape = len(slots), self.game.num_actions
        visits, values = np.zeros(shape, np.int64), np.zeros(len(slots))
        priors, policies, targets = np.zeros((3, *shape))
        roots = RootStatistics(visits, priors, np.full(shape, np.nan), policies, targets, values)
        read_roots(trees, self._selection, slots, *roots)
        return roots

    def root_network_value(self, slot: int) -> float:
        """Return what the evaluator said of the root, which must be evaluated, before any search.

        For the player to move; the exact value once that is proven.
        """
        return float(self._trees_per_thread[0].nodes[slot, 0]["value"])

    def principal_variation(self, slot: int, action: int, length: int = 8) -> list[int]:
        """Return the most visited line that begins with `action`, at most `length` long.

        From the slot's tree that has looked at the action most.
        """

        def begin_in(trees: Trees) -> Records:
            below = _edges_of(trees, slot, 0)
            edge: Records = below[below["action"] == action][0]
            return edge

        edge, trees = max(
            ((begin_in(trees), trees) for trees in self._trees_per_thread),
            key=lambda pair: int(pair[0]["visits"]),
        )
        line = [action]
        while len(line) < length and edge["child"] >= 0:
            below = _edges_of(trees, slot, int(edge["child"]))
            if not below["visits"].any():
                break
            edge = below[below["visits"].argmax()]
            line.append(int(edge["action"]))
        return line

    def children_of(self, slot: int, line: Sequence[int] = ()) -> list[ChildStatistics]:
        """Return the moves that were visited after `line` from the root, the most visited first.

        The trees of the slot are added up; the root must be evaluated.
        """
        visits: dict[int, int] = {}
        sums: dict[int, float] = {}
        for trees in self._trees_per_thread:
            node = 0
            for action in line:
                below = _edges_of(trees, slot, node) if node >= 0 else ()
                node = next((int(edge["child"]) for edge in below if edge["action"] == action), -1)
            for edge in _edges_of(trees, slot, node) if node >= 0 else ():
                action = int(edge["action"])
                visits[action] = visits.get(action, 0) + int(edge["visits"])
                sums[action] = sums.get(action, 0.0) + float(edge["value_sum"])
        seen = [ChildStatistics(a, count, sums[a] / count) for a, count in visits.items() if count]
        return sorted(seen, key=lambda branch: -branch.visits)

    def _cancel(self, slots: Slots) -> None:
        """Give up what is left of a search of `slots`."""
        self.stop(slots)
        self._searching[slots] = False


def _edges_of(trees: Trees, slot: int, node: int) -> Records:
    """Return the block of edges below a node."""
    first = trees.nodes[slot, node]["first_edge"]
    block: Records = trees.edges[slot, first : first + trees.nodes[slot, node]["edge_count"]]
    return block
