"""Batched tree search with a network, one tree per slot.

`step()` selects leaves in all active slots, evaluates them as one batch and backs them up;
`pop_finished()` returns the slots whose budget is spent. They can begin their next search before
the next `step()`, so the batch stays full even if slots have different budgets. The work between
two evaluations is one compiled call, because threads wait for one another's Python.

Letters: n selected slots, A actions, R rows of a batch, S state size.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from alphazero.config.schema import SearchConfig
from alphazero.games.compiled_rules import observe_all
from alphazero.games.game import LAST, Game, State
from alphazero.mcts.evaluator import Evaluator, SymmetricEvaluator
from alphazero.mcts.kernels.edges import CREATED_AT_ONCE
from alphazero.mcts.kernels.equations import SelectionParams
from alphazero.mcts.kernels.evaluation_cache import new_cache
from alphazero.mcts.kernels.moves import NO_GAMES, Games, make_match, move_on, stay
from alphazero.mcts.kernels.root import Exploration, Side, empty_statistics
from alphazero.mcts.kernels.selection_rules import GUMBEL, PUCT
from alphazero.mcts.kernels.simulation import make_context, next_batch
from alphazero.mcts.kernels.tree import allocate_trees
from alphazero.mcts.search import NODES_PER_SIMULATION, TreeSearch
from alphazero.utils.arrays import Float32Array


class NetworkSearch(TreeSearch):
    """Trees and the evaluator of their leaves.

    `leaves` is the number of simulations per round of one tree, pending at the same time: 1 with
    many games, more with one. `rows` is the maximum batch size, by default all leaves; with fewer,
    slots take turns, with one leaf each. The evaluation cache never changes the result if an
    evaluation does not depend on its batch (`FixedBatches`).
    """

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        settings: SearchConfig,
        *,
        slots: int = 1,
        nodes: int | None = None,
        leaves: int = 1,
        rows: int | None = None,
        exploration: Exploration | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        assert rows is None or leaves == 1, "slots take turns with one leaf each"
        if game.history_in_state:
            settings = replace(settings, transpositions="never")
        ignored = -1 if game.last_move_in_state_key else LAST
        selection = selection_params(settings)._replace(ignored_state_index=ignored)
        capacity = NODES_PER_SIMULATION * settings.simulations + 1 if nodes is None else nodes
        lazy = game.most_legal > CREATED_AT_ONCE and not selection.gumbel_below
        graph = settings.transpositions != "never"
        trees = allocate_trees(game, slots, capacity, leaves, graph, rows, lazy)
        keep_trees = settings.reuse_tree and not selection.gumbel_below
        simulations, has_noise = settings.simulations, exploration is not None
        super().__init__(
            game, selection, trees, simulations, keep_trees, rng, exploration, has_noise
        )
        self.settings = settings
        self.evaluator = evaluator
        if settings.leaf_symmetry != "none":
            rng = self.rng if settings.leaf_symmetry == "random" else None
            self.evaluator = SymmetricEvaluator(game, evaluator, rng)
        self.batches = 0
        self.seconds_evaluating = 0.0
        """wall-clock time inside the evaluator; only reported"""
        self._observations = np.zeros((self.rows, *game.observation_shape), np.float32)
        self._words = self._observations.reshape(self.rows, -1).view(np.uint32)
        self._cache = new_cache(
            settings.evaluation_cache_mib,
            game.most_legal,
            self.rows,
            self._words.shape[1] + len(trees.mask_words),
        )
        self.play_in_python()

    def move_on(self, games: Games, sides: Sequence[Side], own: int) -> None:
        """From now on `step` plays the moves of finished searches, and begins the next ones.

        `games` are those of the slots, between one or two `sides`, of which this search is `own`.
        """
        self._set_match(games, sides, own, move_on)

    def play_in_python(self) -> None:
        """From now on finished searches wait for `pop_finished`."""
        self._set_match(NO_GAMES, [self.side], 0, stay)

    def _set_match(self, games: Games, sides: Sequence[Side], own: int, move_on: Any) -> None:
        roots, shares = empty_statistics(1, self.game.most_legal), np.empty(self.game.most_legal)
        match = make_match(games, (sides[0], sides[-1]), len(sides), own, roots, shares)
        self._context = make_context(self._cache, match, move_on)

    def step(self, batches: int = 1) -> int:
        before, full = self.evaluations, min(self.rows, self.active)
        evaluations = np.zeros((0, self.game.num_actions), np.float32), np.zeros(0, np.float32)
        rows = self.next_batch(0, *evaluations, 0)
        for left in reversed(range(batches)):
            if rows:
                evaluations = self._evaluate(self._observations[:rows])
            rows = self.next_batch(rows, *evaluations, full if left else self.slots + 1)
            if rows < 0:
                break
        return self.evaluations - before

    def next_batch(
        self, rows: int, logits: Float32Array, values: Float32Array, min_active_slots: int
    ) -> int:
        """Call the kernel `next_batch`; the answers to its last batch are `rows` rows."""
        return next_batch(
            self.game.rules,
            self._context,
            rows,
            logits,
            values,
            min_active_slots,
            self._observations,
            self._words,
        )

    def evaluate_states(self, states: State) -> Float32Array:
        """Return the network's values [n] of `states` [n, S], without a search."""
        planes = np.zeros((len(states), *self.game.observation_shape), np.float32)
        observe_all(self.game.rules, states, planes)
        batches = range(0, len(planes), self.rows)
        return np.concatenate([self._evaluate(planes[at : at + self.rows])[1] for at in batches])

    @property
    def cache_hits(self) -> tuple[int, int]:
        """Lookups in the evaluation cache, and hits."""
        return int(self._cache.counts[0]), int(self._cache.counts[1])

    def clear_cache(self) -> None:
        """Empty the evaluation cache, as for a new network; trees are kept."""
        self._cache.keys[:] = 0

    def _evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return logits [R, A] and values [R]."""
        begin = time.perf_counter()
        logits, values = self.evaluator.evaluate(observations)
        self.seconds_evaluating += time.perf_counter() - begin
        self.evaluations += len(observations)
        self.batches += 1
        return logits, values


BACKUP_VALUE_WEIGHTING = 2.0
"""k of the weight 1 / (1 + k d) of a visit in the mean value of a node of a graph, where d is how
much worse the action is than the node's best one. AGZ: 0, equal weights; others between mean and
maximum: Coulom 2006, section 3."""


def selection_params(settings: SearchConfig) -> SelectionParams:
    """Return the selection rule and constants of the configuration."""
    return SelectionParams(
        PUCT if settings.selection == "puct" else GUMBEL,
        c_puct=float(settings.c_puct),
        c_puct_base=float(settings.c_puct_base),
        fpu_parent=settings.fpu_reduction is not None,
        fpu_reduction=float(settings.fpu_reduction or 0),
        mcts_solver=settings.mcts_solver,
        backup_value_weighting=BACKUP_VALUE_WEIGHTING * (settings.transpositions != "never"),
        gumbel_max_considered_actions=settings.gumbel_max_considered_actions,
        gumbel_below=settings.selection == "gumbel",
    )
