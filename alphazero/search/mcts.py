"""The tree search of many games at once, batched continuously.

Every slot holds one position and its tree. One turn of the wheel is `think` (select leaves in
every searching slot, evaluate them in one batch) and `collect` (back them up, name the slots
that are done). A slot that is done can be moved on and asked again before the next `think`, so
the batch stays full whatever number of simulations each slot has.

Letters: G slots, n some of them, A actions.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from alphazero.config import SearchConfig
from alphazero.games.game import Game, State
from alphazero.search.cache import new_cache
from alphazero.search.evaluator import Evaluator
from alphazero.search.forest import Doubles, Slots, new_forest
from alphazero.search.selection import selection_of
from alphazero.search.tree import advance_trees, backup_leaves, mix_noise, read_roots, select_leaves

TREE_ROOM = 4
"""Nodes per simulation that a tree has room for: what is kept between moves needs some."""


@dataclass(frozen=True)
class RootNoise:
    """Dirichlet noise on the root's priors: P = (1 - fraction) p + fraction Dir(alpha)."""

    fraction: float
    alpha: float


class Roots(NamedTuple):
    """What searches found at their roots, action by action; all for the player to move."""

    visits: Slots
    """[n, A]"""
    priors: Doubles
    """[n, A] the network's, without noise"""
    action_values: Doubles
    """[n, A] mean values, NaN where not visited"""
    values: Doubles
    """[n] means over everything below the root"""

    def search_policies(self) -> npt.NDArray[np.float32]:
        """Return visits divided by their sum, [n, A]; the priors where nothing was visited."""
        totals = self.visits.sum(axis=1, keepdims=True)
        shares = self.visits / np.maximum(totals, 1)
        return np.where(totals > 0, shares, self.priors).astype(np.float32)

    def prospects(self) -> Doubles:
        """Return the better of the root's value and that of its most visited action, [n]."""
        best = self.visits.argmax(axis=1)[:, None]
        return np.fmax(self.values, np.take_along_axis(self.action_values, best, axis=1)[:, 0])


class Search:
    """A forest, an evaluator, and the wheel that turns them.

    `leaves` is how many leaves of one tree may be under evaluation together, kept apart by
    virtual loss: 1 with many games, more with one.
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
        noise: RootNoise | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.game = game
        self.evaluator = evaluator
        self.settings = settings
        self.noise = noise
        self.rng = rng or np.random.default_rng(0)
        self.slots = slots
        self.evaluations = 0
        self.batches = 0
        self.simulations = 0
        self._selection = selection_of(settings)
        room = TREE_ROOM * settings.simulations + 1 if nodes is None else nodes
        self._forest = new_forest(game, slots, room, leaves)
        self._cache = new_cache(settings.cache_megabytes, game.num_actions, slots * leaves)
        self._observations = np.zeros((slots * leaves, *game.observation_shape), np.float32)
        self._words = self._observations.reshape(slots * leaves, -1).view(np.uint32)
        self._searching = np.zeros(slots, np.bool_)
        self._rows = 0
        self._logits = np.zeros((0, game.num_actions), np.float32)
        self._values = np.zeros(0, np.float32)

    def start(self, slots: Slots, states: State) -> None:
        """Put new positions `states` [n, S] into `slots`, with empty trees."""
        self._rest(slots)
        self._forest.root_state[slots] = states
        self._forest.num_nodes[slots] = 0
        self._forest.num_edges[slots] = 0

    def follow(self, slots: Slots, actions: Slots) -> None:
        """Play `actions` [n] in `slots`; what the tree knows of the new position is kept."""
        self._rest(slots)
        keep = self.settings.reuse_tree
        advance_trees(self.game.rules, self._forest, slots, actions, keep)

    def ask(self, slots: Slots, simulations: int | None = None, explore: bool = True) -> None:
        """Start searching `slots`, for so many simulations (default: the configured number).

        The roots' noise, if this search has any and `explore` wants it, is drawn here: once per
        move, never per simulation.
        """
        forest = self._forest
        wanted = self.settings.simulations if simulations is None else simulations
        forest.remaining[slots] = wanted
        self._searching[slots] = True
        self.simulations += wanted * len(slots)
        forest.noise_fraction[slots] = 0
        if self.noise is not None and explore:
            shape = len(slots), self.game.num_actions
            forest.root_noise[slots] = self.rng.standard_gamma(self.noise.alpha, shape)
            forest.noise_fraction[slots] = self.noise.fraction
        mix_noise(forest, slots)

    def stop(self, slots: Slots) -> None:
        """End the search of `slots` with what it has: the next `collect` names them as done.

        A root that was never evaluated needs one more `think` before that.
        """
        self.simulations -= int(self._forest.remaining[slots].sum())
        self._forest.remaining[slots] = 0

    def think(self) -> int:
        """Select leaves in every searching slot and evaluate them; return their number."""
        searching = np.flatnonzero(self._searching)
        self._rows = select_leaves(
            self.game.rules,
            self._forest,
            self._cache,
            self._selection,
            searching,
            self._observations,
            self._words,
        )
        if self._rows:
            batch = self._observations[: self._rows]
            self._logits, self._values = self.evaluator.evaluate(batch)
            self.evaluations += self._rows
            self.batches += 1
        return self._rows

    def collect(self) -> Slots:
        """Back up the last evaluations; return the slots whose search is done, which then rest."""
        if self._rows:
            backup_leaves(self._forest, self._cache, self._rows, self._logits, self._values)
            self._rows = 0
        forest = self._forest
        done = self._searching & (forest.remaining <= 0) & (forest.num_nodes > 0)
        self._searching[done] = False
        return np.flatnonzero(done)

    @property
    def cache_hits(self) -> tuple[int, int]:
        """How many positions were looked up among the remembered evaluations, and found."""
        return int(self._cache.counts[0]), int(self._cache.counts[1])

    def roots(self, slots: Slots) -> Roots:
        """Return what the search of `slots` has found so far; their roots must be evaluated."""
        shape = len(slots), self.game.num_actions
        roots = Roots(
            np.zeros(shape, np.int64), np.zeros(shape), np.zeros(shape), np.zeros(len(slots))
        )
        read_roots(self._forest, slots, *roots)
        return roots

    def variation(self, slot: int, action: int, length: int = 8) -> list[int]:
        """Return the most visited line that begins with `action`, at most `length` long."""
        forest, node, line = self._forest, 0, [action]
        while len(line) < length:
            first = forest.first_edge[slot, node]
            block = slice(first, first + forest.edge_count[slot, node])
            if node == 0:
                edge = first + int(np.flatnonzero(forest.action[slot, block] == action)[0])
            else:
                edge = first + int(forest.visits[slot, block].argmax())
                line.append(int(forest.action[slot, edge]))
            node = int(forest.child[slot, edge])
            if node < 0 or not forest.edge_count[slot, node]:
                break
            first = forest.first_edge[slot, node]
            if not forest.visits[slot, first : first + forest.edge_count[slot, node]].any():
                break
        return line

    def _rest(self, slots: Slots) -> None:
        """Give up what is left of a search of `slots`."""
        self.stop(slots)
        self._searching[slots] = False
