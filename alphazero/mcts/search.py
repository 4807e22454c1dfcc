"""Base class of the batched tree searches: `network_search.py` and `rollout_search.py`.

Each slot holds one position and its tree. `step()` advances every active search;
`pop_finished()` returns the slots whose search is finished.

Letters: G slots, n selected slots, S state size.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from alphazero.games.game import Game, State
from alphazero.mcts.kernels.equations import SelectionParams
from alphazero.mcts.kernels.root import (
    Exploration,
    RootStatistics,
    Side,
    begin_searches,
    empty_statistics,
    read_roots,
)
from alphazero.mcts.kernels.subtree import advance_trees
from alphazero.mcts.kernels.tree import Trees
from alphazero.utils.arrays import BoolArray, Int64Array

NODES_PER_SIMULATION = 5
"""Capacity of a tree in nodes per simulation: a search adds one, and the subtree kept from the move
before had up to 3.5 in 521 searches of Connect Four (96 and 600 simulations)."""


class TreeSearch(ABC):
    """Searches in slots; a finished slot can begin its next search before the next `step`."""

    def __init__(
        self,
        game: Game,
        selection: SelectionParams,
        trees: Trees,
        simulations: int,
        keep_trees: bool,
        rng: np.random.Generator | None,
        exploration: Exploration | None,
        has_noise: bool,
    ) -> None:
        self.game = game
        self.exploration = exploration or Exploration()
        self.rng = rng or np.random.default_rng(0)
        self.slots = len(trees.slots)
        self.rows = len(trees.rows)
        """Maximum number of leaves in a batch."""
        self.evaluations = 0
        self.trees = trees
        self.side = Side(trees, selection, self.exploration, has_noise, simulations, keep_trees)
        """this search, as the kernels of moves take it"""
        trees.slots["random"] = self.rng.integers(2**64, size=self.slots, dtype=np.uint64)

    @property
    def _searching(self) -> BoolArray:
        """[G] whether a search has begun and its result was not taken."""
        return self.trees.slots["searching"]

    @property
    def active(self) -> int:
        """Number of slots with a search."""
        return int(np.count_nonzero(self._searching))

    def reset(self, slots: Int64Array, states: State) -> None:
        """Load positions `states` [n, S] into `slots`, with empty trees."""
        self._cancel(slots)
        self.trees.root_state[slots] = states
        self.trees.slots["num_nodes"][slots] = 0
        self.trees.slots["num_edges"][slots] = 0

    def advance(self, slots: Int64Array, actions: Int64Array) -> None:
        """Play `actions` [n] in `slots`; keep the subtrees if they can be used again."""
        self._cancel(slots)
        advance_trees(self.game.rules, self.trees, slots, actions, self.side.keeps_trees)

    def begin_search(self, slots: Int64Array, simulations: int | None = None) -> None:
        """Start searches in `slots` [n], by default with the configured number of simulations.

        Root noise is drawn once per move, if the search has any.
        Gumbel search uses sequential halving at every root, also a kept one. With `UNLIMITED`
        simulations halving has no budget to divide, so the root is selected by PUCT.
        """
        budget = self.side.simulations if simulations is None else simulations
        begin_searches(self.side, slots, budget)

    def begin_moves(self, slots: Int64Array) -> None:
        """Start the searches of moves in `slots` [n]; with a playout cap some are fast."""
        begin_searches(self.side, slots, -1)

    def stop(self, slots: Int64Array) -> None:
        """End the searches in `slots`; an unevaluated root needs a `step` before `pop_finished`."""
        self.trees.slots["remaining"][slots] = 0

    def restrict_root(self, slot: int, actions: Sequence[int]) -> None:
        """Let the next search in `slot` consider only some of the legal actions.

        Its root is evaluated and not searched yet. Its statistics are those of these actions.
        """
        root, edges = self.trees.nodes[slot, :1], self.trees.edges[slot]
        places = np.flatnonzero(np.isin(edges["action"][: root["edge_count"][0]], actions))
        root["edge_count"] = root["created_count"] = count = len(places)
        root["lower"], root["upper"] = -1, 1
        edges[:count] = edges[places]
        priors = edges["prior"][:count]
        priors /= max(priors.sum(), np.finfo(np.float32).tiny)

    @abstractmethod
    def step(self, batches: int = 1) -> int:
        """Advance every active search by up to `batches` batches; return the evaluations.

        It ends before the last of them when finished slots leave too few active ones to fill a
        batch.
        """

    @property
    def has_finished(self) -> bool:
        """Whether `pop_finished` would return any slot."""
        return len(self._finished()) > 0

    def pop_finished(self) -> Int64Array:
        """Return the slots whose search is finished, and deactivate them."""
        done = self._finished()
        self._searching[done] = False
        return done

    def _finished(self) -> Int64Array:
        slots = self.trees.slots
        done = slots["searching"] & (slots["remaining"] <= 0) & (slots["num_nodes"] > 0)
        return done.nonzero()[0]

    def root_is_evaluated(self, slot: int) -> bool:
        """Whether the root of `slot` is evaluated, as `root_statistics` requires."""
        return bool(self.trees.slots["num_nodes"][slot] > 0)

    @property
    def simulations(self) -> int:
        """Simulations run so far, over all slots."""
        return int(self.trees.slots["simulations"].sum())

    def root_statistics(self, slots: Int64Array) -> RootStatistics:
        """Return the current statistics of `slots`, whose roots must be evaluated."""
        roots = empty_statistics(len(slots), self.game.most_legal)
        read_roots(self.trees, self.side.selection, slots, roots)
        return roots

    def _cancel(self, slots: Int64Array) -> None:
        self.stop(slots)
        self._searching[slots] = False
