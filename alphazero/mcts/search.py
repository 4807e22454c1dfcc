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
from alphazero.mcts.kernels.equations import Selection
from alphazero.mcts.kernels.root import read_roots
from alphazero.mcts.kernels.subtree import advance_trees
from alphazero.mcts.kernels.tree import Forest
from alphazero.utils.arrays import Doubles, Records, Slots

TREE_ROOM = 4
"""Nodes per simulation that a tree has room for: what is kept between moves needs some."""


class Roots(NamedTuple):
    """What searches found at their roots, action by action; all for the player to move."""

    visits: Slots
    """[n, A]"""
    priors: Doubles
    """[n, A] the network's, without noise"""
    action_values: Doubles
    """[n, A] mean values, NaN where not visited"""
    policies: Doubles
    """[n, A] by which the move is drawn: the shares of the visits, or the one action that Gumbel
    search has chosen; the priors where nothing was visited. What is proven to be worse has none.
    """
    targets: Doubles
    """[n, A] the search policies, to be learned: as `policies`, without forced visits, or the
    improved policy of Gumbel search"""
    values: Doubles
    """[n] means over everything below the root, of Gumbel search those of its actions under the
    improved policy, or exact where proven"""

    def prospects(self) -> Doubles:
        """Return the better of the root's value and that of its best action, [n]."""
        best = self.policies.argmax(axis=1)
        prospects: Doubles = np.fmax(self.values, self.action_values[np.arange(len(best)), best])
        return prospects


class Branch(NamedTuple):
    """What a tree holds of one move in one of its positions."""

    action: int
    visits: int
    value: float
    """mean, for the player who makes the move"""


class TreeSearch(ABC):
    """Trees that grow in slots, asked and answered in any order.

    A slot that is done can be moved on and asked again before the next `think`.
    """

    def __init__(
        self,
        game: Game,
        selection: Selection,
        forests: Sequence[Forest],
        keep_trees: bool,
        rng: np.random.Generator | None,
    ) -> None:
        self.game = game
        self.rng = rng or np.random.default_rng(0)
        self.slots = len(forests[0].slots)
        self.rows = len(forests[0].rows)
        """How many leaves a batch may hold."""
        self.evaluations = 0
        self._selection = selection
        self._forests = forests
        self._keep_trees = keep_trees
        self._searching = np.zeros(self.slots, np.bool_)

    @property
    def _forest(self) -> Forest:
        """The first tree of every slot."""
        return self._forests[0]

    def start(self, slots: Slots, states: State) -> None:
        """Put new positions `states` [n, S] into `slots`, with empty trees."""
        self._rest(slots)
        for forest in self._forests:
            forest.root_state[slots] = states
            forest.slots["num_nodes"][slots] = 0
            forest.slots["num_edges"][slots] = 0

    def follow(self, slots: Slots, actions: Slots) -> None:
        """Play `actions` [n] in `slots`; what the tree knows of the new position is kept."""
        self._rest(slots)
        for forest in self._forests:
            advance_trees(self.game.rules, forest, slots, actions, self._keep_trees)

    @abstractmethod
    def ask(self, slots: Slots, simulations: int | None = None, explore: bool = True) -> None:
        """Start searching `slots`, for so many simulations (default: the configured number).

        `explore` is for searches that look beyond what they believe, to learn.
        """

    def stop(self, slots: Slots) -> None:
        """End the search of `slots` with what it has: the next `collect` names them as done.

        A root that was never evaluated needs one more `think` before that.
        """
        for forest in self._forests:
            forest.slots["remaining"][slots] = 0

    @abstractmethod
    def think(self) -> int:
        """Turn the wheel once, for every searching slot; return the number of evaluations."""

    @property
    def is_ready(self) -> bool:
        """Whether `collect` would name a slot."""
        return len(self._done()) > 0

    @property
    def is_short(self) -> bool:
        """Whether slots are done, without which the others may not fill a batch."""
        done = len(self._done())
        return done > 0 and int(np.count_nonzero(self._searching)) - done < self.rows

    def collect(self) -> Slots:
        """Return the slots whose search is done, each once; they rest from now on."""
        done = self._done()
        self._searching[done] = False
        return done

    def _done(self) -> Slots:
        done = self._searching
        for forest in self._forests:
            done = done & (forest.slots["remaining"] <= 0) & (forest.slots["num_nodes"] > 0)
        return done.nonzero()[0]

    def has_looked(self, slot: int) -> bool:
        """Whether the root of `slot` has been evaluated, so that `roots` can tell of it."""
        return all(forest.slots["num_nodes"][slot] > 0 for forest in self._forests)

    @property
    def simulations(self) -> int:
        """How many were run so far."""
        return sum(int(forest.slots["simulations"].sum()) for forest in self._forests)

    @abstractmethod
    def roots(self, slots: Slots) -> Roots:
        """Return what the search of `slots` has found so far; their roots must be evaluated."""

    def _read_roots(self, forest: Forest, slots: Slots) -> Roots:
        """Return what the trees of one forest hold at their roots."""
        shape = len(slots), self.game.num_actions
        visits, values = np.zeros(shape, np.int64), np.zeros(len(slots))
        priors, policies, targets = np.zeros((3, *shape))
        roots = Roots(visits, priors, np.full(shape, np.nan), policies, targets, values)
        read_roots(forest, self._selection, slots, *roots)
        return roots

    def first_value(self, slot: int) -> float:
        """Return what the evaluator said of the root, which must be evaluated, before any search.

        For the player to move; the exact value once that is proven.
        """
        return float(self._forests[0].nodes[slot, 0]["value"])

    def variation(self, slot: int, action: int, length: int = 8) -> list[int]:
        """Return the most visited line that begins with `action`, at most `length` long.

        From the slot's tree that has looked at the action most.
        """

        def begin_in(forest: Forest) -> Records:
            below = _edges_of(forest, slot, 0)
            edge: Records = below[below["action"] == action][0]
            return edge

        edge, forest = max(
            ((begin_in(forest), forest) for forest in self._forests),
            key=lambda pair: int(pair[0]["visits"]),
        )
        line = [action]
        while len(line) < length and edge["child"] >= 0:
            below = _edges_of(forest, slot, int(edge["child"]))
            if not below["visits"].any():
                break
            edge = below[below["visits"].argmax()]
            line.append(int(edge["action"]))
        return line

    def branches(self, slot: int, line: Sequence[int] = ()) -> list[Branch]:
        """Return the moves that were visited after `line` from the root, the most visited first.

        The trees of the slot are added up; the root must be evaluated.
        """
        visits: dict[int, int] = {}
        sums: dict[int, float] = {}
        for forest in self._forests:
            node = 0
            for action in line:
                below = _edges_of(forest, slot, node) if node >= 0 else ()
                node = next((int(edge["child"]) for edge in below if edge["action"] == action), -1)
            for edge in _edges_of(forest, slot, node) if node >= 0 else ():
                action = int(edge["action"])
                visits[action] = visits.get(action, 0) + int(edge["visits"])
                sums[action] = sums.get(action, 0.0) + float(edge["value_sum"])
        seen = [Branch(a, count, sums[a] / count) for a, count in visits.items() if count]
        return sorted(seen, key=lambda branch: -branch.visits)

    def _rest(self, slots: Slots) -> None:
        """Give up what is left of a search of `slots`."""
        self.stop(slots)
        self._searching[slots] = False


def _edges_of(forest: Forest, slot: int, node: int) -> Records:
    """Return the block of edges below a node."""
    first = forest.nodes[slot, node]["first_edge"]
    block: Records = forest.edges[slot, first : first + forest.nodes[slot, node]["edge_count"]]
    return block
