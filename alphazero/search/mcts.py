"""The tree search of many games at once, batched continuously.

Every slot holds one position and its tree. One turn of the wheel is `think`: select leaves in
every searching slot, evaluate them in one batch, back them up. `collect` names the slots that are
done. A slot that is done can be moved on and asked again before the next `think`, so
the batch stays full whatever number of simulations each slot has.

Letters: G slots, n some of them, A actions.
"""

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from alphazero.config import SearchConfig
from alphazero.games.game import Game, State
from alphazero.search.cache import new_cache
from alphazero.search.evaluator import Evaluator, under_symmetries
from alphazero.search.forest import Doubles, Masks, Records, Slots, new_forest
from alphazero.search.root import advance_trees, mix_noise, read_roots
from alphazero.search.selection import selection_of
from alphazero.search.tree import backup_leaves, select_leaves

TREE_ROOM = 4
"""Nodes per simulation that a tree has room for: what is kept between moves needs some."""


@dataclass(frozen=True)
class Exploration:
    """What makes a root look beyond what it believes, in self-play.

    Its priors become P = (1 - `fraction`) p^(1/`temperature`) + `fraction` Dir(`alpha`), and
    actions that were tried are forced to get sqrt(`forced` P sum N) visits.
    """

    fraction: float = 0.0
    alpha: float = 0.3
    shaped: bool = False
    temperature: float = 1.0
    forced: float = 0.0


def shaped_alphas(priors: Doubles, alpha: float) -> Doubles:
    """Return the concentrations of shaped noise: `alpha` on the mean of the legal actions.

    `priors` [n, A] are 0 exactly where an action is not legal, and there the result is 0. Half is
    spread evenly, half in proportion to how far the logarithm of the prior, cut at 4 times the
    even share, stands above the mean. KataGo, docs/KataGoMethods.md, "Shaped Dirichlet Noise",
    cuts at 0.01, which is 3.6 times the even share on its board of 19 x 19.
    """
    legal = priors > 0
    counts = legal.sum(axis=1, keepdims=True)
    logs = np.log(np.clip(priors, 1e-20, 4 / np.maximum(counts, 1)))
    means = (logs * legal).sum(axis=1, keepdims=True) / np.maximum(counts, 1)
    above = np.maximum(logs - means, 0) * legal
    sums = above.sum(axis=1, keepdims=True)
    even = legal / np.maximum(counts, 1)
    shape = np.where(sums > 0, (even + above / np.maximum(sums, 1e-20)) / 2, even)
    return np.asarray(alpha * counts * shape)


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
    """[n] means over everything below the root, or exact where proven"""

    def prospects(self) -> Doubles:
        """Return the better of the root's value and that of its best action, [n]."""
        best = self.policies.argmax(axis=1)[:, None]
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
        exploration: Exploration | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.game = game
        self.settings = settings
        self.exploration = exploration
        self.rng = rng or np.random.default_rng(0)
        self.evaluator = under_symmetries(game, evaluator, settings.symmetry, self.rng)
        self.slots = slots
        self.evaluations = 0
        self.batches = 0
        self.seconds_evaluating = 0.0
        """Time spent inside the evaluator, by the clock; reported, and nothing more."""
        self._selection = selection_of(settings)
        room = TREE_ROOM * settings.simulations + 1 if nodes is None else nodes
        self._forest = new_forest(game, slots, room, leaves)
        self._cache = new_cache(settings.cache_megabytes, game.num_actions, slots * leaves)
        self._observations = np.zeros((slots * leaves, *game.observation_shape), np.float32)
        self._words = self._observations.reshape(slots * leaves, -1).view(np.uint32)
        self._searching = np.zeros(slots, np.bool_)
        self._shaped = exploration is not None and exploration.shaped

    def start(self, slots: Slots, states: State) -> None:
        """Put new positions `states` [n, S] into `slots`, with empty trees."""
        self._rest(slots)
        self._forest.root_state[slots] = states
        self._forest.slots["num_nodes"][slots] = 0
        self._forest.slots["num_edges"][slots] = 0

    def follow(self, slots: Slots, actions: Slots) -> None:
        """Play `actions` [n] in `slots`; what the tree knows of the new position is kept."""
        self._rest(slots)
        keep = self.settings.reuse_tree and not self._selection.gumbel
        advance_trees(self.game.rules, self._forest, slots, actions, keep)

    def ask(self, slots: Slots, simulations: int | None = None, explore: bool = True) -> None:
        """Start searching `slots`, for so many simulations (default: the configured number).

        What the roots get of this search's exploration, if it has any and `explore` wants it, is
        drawn once per move, never per simulation.
        """
        forest = self._forest
        wanted = self.settings.simulations if simulations is None else simulations
        forest.slots["remaining"][slots] = forest.slots["wanted"][slots] = wanted
        self._searching[slots] = True
        exploration = self.exploration if self.exploration and explore else Exploration()
        forest.slots["root_temperature"][slots] = exploration.temperature
        forest.slots["forced_playouts"][slots] = exploration.forced
        forest.slots["noise_fraction"][slots] = exploration.fraction
        forest.slots["awaits_noise"][slots] = False
        shape = len(slots), self.game.num_actions
        if exploration is not self.exploration:
            forest.root_noise[slots] = 0
        elif self._selection.gumbel:
            forest.slots["noise_fraction"][slots] = 0
            forest.root_noise[slots] = self.rng.gumbel(size=shape)
        elif exploration.shaped:
            forest.slots["awaits_noise"][slots] = True
        else:
            forest.root_noise[slots] = self.rng.standard_gamma(exploration.alpha, shape)
        mix_noise(forest, slots)

    def stop(self, slots: Slots) -> None:
        """End the search of `slots` with what it has: the next `collect` names them as done.

        A root that was never evaluated needs one more `think` before that.
        """
        self._forest.slots["remaining"][slots] = 0

    def think(self) -> int:
        """Turn the wheel once: select leaves in every searching slot, evaluate them, back them up.

        Returns their number.
        """
        forest, searching = self._forest, np.flatnonzero(self._searching)
        if self._shaped:
            self._draw_shaped_noise(searching)
        rows = select_leaves(
            self.game.rules,
            forest,
            self._cache,
            self._selection,
            searching,
            self._observations,
            self._words,
        )
        if rows:
            begin = time.perf_counter()
            logits, values = self.evaluator.evaluate(self._observations[:rows])
            self.seconds_evaluating += time.perf_counter() - begin
            backup_leaves(forest, self._cache, self._selection, rows, logits, values)
            self.evaluations += rows
            self.batches += 1
        return rows

    @property
    def is_ready(self) -> bool:
        """Whether `collect` would name a slot."""
        return bool(self._done().any())

    def collect(self) -> Slots:
        """Return the slots whose search is done, each once; they rest from now on."""
        done = self._done()
        self._searching[done] = False
        return np.flatnonzero(done)

    def _done(self) -> Masks:
        slots = self._forest.slots
        done: Masks = self._searching & (slots["remaining"] <= 0) & (slots["num_nodes"] > 0)
        return done

    @property
    def simulations(self) -> int:
        """How many were run so far."""
        return int(self._forest.slots["simulations"].sum())

    @property
    def cache_hits(self) -> tuple[int, int]:
        """How many positions were looked up among the remembered evaluations, and found."""
        return int(self._cache.counts[0]), int(self._cache.counts[1])

    def roots(self, slots: Slots) -> Roots:
        """Return what the search of `slots` has found so far; their roots must be evaluated."""
        shape = len(slots), self.game.num_actions
        visits, values = np.zeros(shape, np.int64), np.zeros(len(slots))
        priors, policies, targets = np.zeros((3, *shape))
        roots = Roots(visits, priors, np.full(shape, np.nan), policies, targets, values)
        read_roots(self._forest, self._selection, slots, *roots)
        return roots

    def variation(self, slot: int, action: int, length: int = 8) -> list[int]:
        """Return the most visited line that begins with `action`, at most `length` long."""
        nodes, edges = self._forest.nodes[slot], self._forest.edges[slot]

        def edges_of(node: int) -> Records:
            first = nodes["first_edge"][node]
            block: Records = edges[first : first + nodes["edge_count"][node]]
            return block

        below, line = edges_of(0), [action]
        edge = below[below["action"] == action][0]
        while len(line) < length and edge["child"] >= 0:
            below = edges_of(edge["child"])
            if not below["visits"].any():
                break
            edge = below[below["visits"].argmax()]
            line.append(int(edge["action"]))
        return line

    def _draw_shaped_noise(self, slots: Slots) -> None:
        """Draw the noise of those roots whose priors it waited for."""
        forest = self._forest
        ready = slots[forest.slots["awaits_noise"][slots] & (forest.slots["num_nodes"][slots] > 0)]
        if len(ready):
            assert self.exploration is not None
            edges = np.arange(self.game.num_actions) < forest.nodes["edge_count"][ready, :1]
            priors = np.where(edges, forest.edges["prior"][ready, : self.game.num_actions], 0.0)
            alphas = shaped_alphas(priors, self.exploration.alpha)
            forest.root_noise[ready] = self.rng.standard_gamma(alphas)
            forest.slots["awaits_noise"][ready] = False
            mix_noise(forest, ready)

    def _rest(self, slots: Slots) -> None:
        """Give up what is left of a search of `slots`."""
        self.stop(slots)
        self._searching[slots] = False
