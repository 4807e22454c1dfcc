"""A player that uses tree search."""

import threading
import time
from typing import TYPE_CHECKING

import numpy as np
from numba import types

from alphazero.games.game import PLY, State
from alphazero.mcts.kernels.moves import best_value, choose_place
from alphazero.mcts.kernels.root import (
    Exploration,
    ExplorationType,
    RootStatistics,
    RootStatisticsType,
)
from alphazero.mcts.kernels.tree import Trees, TreesType
from alphazero.mcts.network_search import NetworkSearch
from alphazero.mcts.search import TreeSearch
from alphazero.players.base import NOTHING, Decisions, DecisionsType, Player
from alphazero.utils.arrays import Int64Array
from alphazero.utils.jit import kernel

if TYPE_CHECKING:
    from alphazero.players.levels import LevelSettings


BATCHES_PER_STEP = 16
"""Most batches searched in one `step()`; returning to the match loop has a fixed cost."""


@kernel(types.void(TreesType, ExplorationType, RootStatisticsType, DecisionsType))
def choose_moves(
    trees: Trees, exploration: Exploration, roots: RootStatistics, decisions: Decisions
) -> None:
    """Draw a move at each of `roots`; write the fields of `decisions`.

    Shares are 0 after a fast search, which is no training target.
    """
    shares = np.empty(decisions.policy_shares.shape[1])
    for row in range(len(decisions.slots)):
        slot = decisions.slots[row]
        place = choose_place(trees, exploration, slot, roots, row, shares)
        decisions.actions[row] = roots.actions[row, place]
        decisions.values[row] = roots.values[row]
        decisions.best_values[row] = best_value(roots, row)
        full = trees.slots[slot].full
        for edge in range(len(shares)):
            decisions.policy_shares[row, edge] = roots.policy_targets[row, edge] if full else 0.0


class SearchPlayer(Player):
    """Searches the position of every game with any `TreeSearch` and plays the move it chooses.

    Game i is slot i of `search`. A search ends after its simulations or after `seconds`.
    """

    def __init__(self, search: TreeSearch, *, seconds: float | None = None) -> None:
        self.search, self.game = search, search.game
        self.seconds = seconds
        self.level: LevelSettings | None = None
        """Replaces the search's moves by those of a level for people; None: full strength."""
        self.lock = threading.Lock()
        """held while one position is searched, by `choose` or `position_search.search`"""
        self._deadlines = np.full(search.slots, np.inf)

    def choose(self, state: State) -> int:
        with self.lock:
            return super().choose(state)

    @property
    def compiled(self) -> NetworkSearch | None:
        """The search, if nothing about a move needs Python."""
        is_plain = self.seconds is None and self.level is None
        return self.search if is_plain and isinstance(self.search, NetworkSearch) else None

    def warm_up(self) -> None:
        """Make a move in an empty tree, so that no clock runs while kernels are loaded."""
        slots, states = np.zeros(1, np.int64), self.search.game.initial_state()[None]
        self.reset(slots, states)
        self.search.begin_search(slots, 1)
        while not len((decisions := self.take_decisions()).slots):
            self.search.step()
        self.advance(slots, decisions.actions)
        self.reset(slots, states)
        self.search.trees.slots["simulations"] = 0

    def reset(self, slots: Int64Array, states: State) -> None:
        self.search.reset(slots, states)

    def advance(self, slots: Int64Array, actions: Int64Array) -> None:
        """Advance the trees, keeping the subtrees of the moves."""
        self.search.advance(slots, actions)

    def begin_moves(self, slots: Int64Array) -> None:
        """Start searches, fast or full if there is a playout cap."""
        self.search.begin_moves(slots)
        if self.seconds is not None:
            self._deadlines[slots] = time.monotonic() + self.seconds

    def step(self) -> None:
        """Search until moves are ready and the rest fill no batch, or `BATCHES_PER_STEP` batches.

        With a time limit one batch is searched.
        """
        if self.seconds is None:
            self.search.step(BATCHES_PER_STEP)
            return
        late = np.flatnonzero(self._deadlines < time.monotonic())
        self.search.stop(late)
        self._deadlines[late] = np.inf
        self.search.step()

    def take_decisions(self) -> Decisions:
        slots = self.search.pop_finished()
        if not len(slots):
            return NOTHING
        roots = self.search.root_statistics(slots)
        actions, shares = np.empty(len(slots), np.int64), np.empty(roots.actions.shape, np.float32)
        numbers = np.empty((2, len(slots)), np.float32)
        decisions = Decisions(slots, actions, roots.actions, shares, *numbers)
        choose_moves(self.search.trees, self.search.exploration, roots, decisions)
        if self.level is not None:
            for index, ply in enumerate(self.search.trees.root_state[slots, PLY].tolist()):
                actions[index] = self.level.choose(
                    ply, int(actions[index]), roots, index, self.search.rng
                )
        return decisions
