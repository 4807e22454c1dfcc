"""Tree search with random rollouts: flat Monte Carlo, flat UCB and UCT.

`METHODS` lists how they differ: the selection rule, the depth of the tree and the final move.

Letters: n selected slots, L the most legal actions.
"""

import numpy as np

from alphazero.games.game import Game
from alphazero.mcts.kernels.equations import SelectionParams
from alphazero.mcts.kernels.rollouts import run_rollouts
from alphazero.mcts.kernels.root import Exploration, RootStatistics
from alphazero.mcts.kernels.selection_rules import UNLIMITED
from alphazero.mcts.kernels.tree import EDGE, NODE, allocate_trees
from alphazero.mcts.rollout_methods import METHODS, RolloutConfig
from alphazero.mcts.search import NODES_PER_SIMULATION, TreeSearch
from alphazero.utils.arrays import Float64Array, Int64Array

MOVES_PER_STEP = 1 << 13
"""Moves played per step, divided among the active slots: some milliseconds, so that the
caller can check the clock."""


class RolloutSearch(TreeSearch):
    """UCT and its flat predecessors."""

    def __init__(
        self,
        game: Game,
        settings: RolloutConfig,
        *,
        slots: int = 1,
        exploration: Exploration | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        method = METHODS[settings.method]
        # The constant is for rewards in [0, 1]; values span twice that range, see `ucb1`.
        selection = SelectionParams(method.rule, method.depth, 2 * settings.exploration)
        nodes = nodes_per_tree(game, settings, slots) if method.depth > 1 else 1
        trees = allocate_trees(game, slots, nodes)
        # Edges of a flat tree have visits but no node: subtrees cannot be reused.
        keep_trees = method.depth == UNLIMITED
        # Only UCB1 explores: there is no noise.
        super().__init__(
            game, selection, trees, settings.simulations, keep_trees, rng, exploration, False
        )
        self._final_move = method.final_move

    def step(self, batches: int = 1) -> int:
        """Run simulations for some milliseconds a batch; return the number of rollouts."""
        before, searching = self.evaluations, self._searching.nonzero()[0]
        if not len(searching):
            return 0
        plies = max(1, MOVES_PER_STEP // len(searching))
        for _ in range(batches):
            self.evaluations += run_rollouts(
                self.game.rules, self.trees, self.side.selection, searching, plies
            )
            if self.has_finished:
                break
        return self.evaluations - before

    def root_statistics(self, slots: Int64Array) -> RootStatistics:
        """Return the statistics of `slots`.

        `move_policies` are one-hot on the final move. For `robust` they are visit shares, whose
        maximum is at a most visited action.
        """
        roots = super().root_statistics(slots)
        visited = roots.visits.any(axis=1)
        if self._final_move == "max" and visited.any():
            best = final_actions(roots.visits[visited], roots.action_values[visited])
            roots.move_policies[visited] = np.eye(self.game.most_legal)[best]
        return roots


def nodes_per_tree(game: Game, settings: RolloutConfig, slots: int) -> int:
    """Return the capacity of each tree in nodes: enough for its simulations, if memory allows."""
    tree = (settings.memory << 20) // slots
    capacity = (tree - EDGE.itemsize * game.most_legal) // _node_bytes(game)
    return max(1, min(NODES_PER_SIMULATION * settings.simulations + 1, capacity))


def most_slots(game: Game, settings: RolloutConfig) -> int:
    """Return how many trees have room for a move's simulations and as many nodes kept before."""
    nodes = 2 * settings.simulations + 1 if METHODS[settings.method].depth > 1 else 1
    tree = nodes * _node_bytes(game) + EDGE.itemsize * game.most_legal
    return max(1, (settings.memory << 20) // tree)


def _node_bytes(game: Game) -> int:
    return NODE.itemsize + EDGE.itemsize * game.edges_per_node


def final_actions(visits: Int64Array, action_values: Float64Array) -> Int64Array:
    """Return the place of each root's action with the highest value, the final move `max`.

    Each row of `visits` [n, L] has a visit; `action_values` [n, L] are NaN for unvisited actions.
    Ties go to more visits, then to the first action.
    """
    values = np.where(visits > 0, action_values, -np.inf)
    best = values == values.max(axis=1, keepdims=True)
    actions: Int64Array = np.where(best, visits, -1).argmax(axis=1)
    return actions
