"""Tree search with random rollouts: flat Monte Carlo, flat UCB and UCT.

`METHODS` lists how they differ: the selection rule, the depth of the tree and the final move.

Letters: G slots, n selected slots, A actions.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from alphazero.games.game import Game
from alphazero.mcts.kernels.equations import SelectionParams
from alphazero.mcts.kernels.selection_rules import UNLIMITED
from alphazero.mcts.kernels.tree import EDGE, NODE, Trees, allocate_trees
from alphazero.mcts.move_selection import final_actions
from alphazero.mcts.rollout_methods import METHODS, RolloutConfig
from alphazero.mcts.search import NODES_PER_SIMULATION, RootStatistics, TreeSearch
from alphazero.utils.arrays import BoolArray, Int64Array

MOVES_PER_STEP = 1 << 15
"""Moves played per step and thread, divided among the active slots: some milliseconds, so that the
caller can check the clock."""


class RolloutSearch(TreeSearch):
    """UCT and its flat predecessors.

    Each position has one tree per thread. The trees divide its simulations, and their visits are
    summed (root parallelism, the strongest variant measured by Chaslot, Winands & van den Herik,
    *Parallel Monte-Carlo Tree Search*, 2008). Unlike a shared tree, this needs no lock, and the
    result depends only on the seed and the number of threads.
    """

    settings: RolloutConfig

    def __init__(
        self,
        game: Game,
        settings: RolloutConfig,
        *,
        slots: int = 1,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.settings = settings
        method = METHODS[settings.method]
        depth = min(method.depth, settings.depth or UNLIMITED)
        # The constant is for rewards in [0, 1]; values span twice that range, see `ucb1`.
        selection = SelectionParams(method.rule, depth, 2 * settings.exploration)
        nodes = nodes_per_tree(game, settings, slots) if depth > 1 else 1
        from alphazero.mcts.kernels.rollouts import run_rollouts  # compiled at first use

        self._run_rollouts = run_rollouts
        trees_per_thread = [allocate_trees(game, slots, nodes) for _ in range(settings.threads)]
        # With a depth limit, the deepest edges have visits but no node: subtrees cannot be reused.
        keep_trees = depth == UNLIMITED
        super().__init__(game, selection, trees_per_thread, keep_trees, rng)
        for trees in trees_per_thread:
            trees.slots["random"] = self.rng.integers(2**64, size=slots, dtype=np.uint64)
        self._final_move = settings.final_move or method.final_move
        self._pool = ThreadPoolExecutor(settings.threads) if settings.threads > 1 else None

    def begin_search(
        self,
        slots: Int64Array,
        simulations: int | Int64Array | None = None,
        explore: bool | BoolArray = True,  # noqa: ARG002
    ) -> None:
        """Start searches as the base class says; `explore` has no effect: only UCB1 explores."""
        wanted = self.settings.simulations if simulations is None else simulations
        threads = len(self._trees_per_thread)
        for index, trees in enumerate(self._trees_per_thread):
            trees.slots["remaining"][slots] = (wanted + threads - 1 - index) // threads
        self._searching[slots] = True

    def step(self, batches: int = 1) -> int:
        """Run simulations for some milliseconds a batch; return the number of rollouts."""
        before, searching = self.evaluations, self._searching.nonzero()[0]
        if not len(searching):
            return 0
        plies = max(1, MOVES_PER_STEP // len(searching))

        def grow(trees: Trees) -> int:
            return self._run_rollouts(self.game.rules, trees, self._selection, searching, plies)

        each = self._pool.map if self._pool else map
        for _ in range(batches):
            self.evaluations += sum(each(grow, self._trees_per_thread))
            if self.has_finished:
                break
        return self.evaluations - before

    def root_statistics(self, slots: Int64Array) -> RootStatistics:
        """Return the statistics of `slots`, summed over the trees of each.

        `move_policies` are one-hot on the final move. For `robust` they are visit shares, whose
        maximum is at a most visited action.
        """
        visits, priors, action_values, policies, targets, values = self._merged_roots(slots)
        seen = visits.any(axis=1)
        if self._final_move == "max" and seen.any():
            best = final_actions(visits[seen], action_values[seen])
            policies[seen] = np.eye(self.game.num_actions)[best]
        return RootStatistics(visits, priors, action_values, policies, targets, values)

    def _merged_roots(self, slots: Int64Array) -> RootStatistics:
        found = [self._read_roots(trees, slots) for trees in self._trees_per_thread]
        if len(found) == 1:
            return found[0]
        visits = np.sum([tree.visits for tree in found], axis=0)
        sums = np.nansum([tree.action_values * tree.visits for tree in found], axis=0)
        action_values = np.where(visits > 0, sums / np.maximum(visits, 1), np.nan)
        looks = np.array([1 + tree.visits.sum(axis=1) for tree in found])
        values = (looks * [tree.values for tree in found]).sum(axis=0) / looks.sum(axis=0)
        totals = visits.sum(axis=1, keepdims=True)
        shares = np.where(totals > 0, visits / np.maximum(totals, 1), found[0].priors)
        return RootStatistics(visits, found[0].priors, action_values, shares, shares.copy(), values)


def nodes_per_tree(game: Game, settings: RolloutConfig, slots: int) -> int:
    """Return the capacity of each tree in nodes: enough for its simulations, if memory allows."""
    node = NODE.itemsize + EDGE.itemsize * game.num_actions
    capacity = (settings.memory << 20) // (node * slots * settings.threads)
    share = -(-settings.simulations // settings.threads)
    return max(1, min(NODES_PER_SIMULATION * share + 1, capacity))
