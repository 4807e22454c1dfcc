"""A player that uses tree search."""

import time
from typing import TYPE_CHECKING

import numpy as np
from numba import types

from alphazero.config.schema import SelfplayConfig
from alphazero.games.game import PLY, State
from alphazero.mcts.kernels.root import RootStatistics, RootStatisticsType
from alphazero.mcts.move_selection import draw, temper
from alphazero.mcts.search import TreeSearch
from alphazero.players.base import NOTHING, Decisions, DecisionsType, Player
from alphazero.utils.arrays import BoolArray, Float64Array, Int64Array
from alphazero.utils.jit import kernel

if TYPE_CHECKING:
    from alphazero.players.levels import LevelSettings


BATCHES_PER_STEP = 16
"""Most batches searched in one `step()`; returning to the match loop has a fixed cost."""


@kernel(
    types.void(
        RootStatisticsType,
        types.float64[::1],
        types.float64[::1],
        types.boolean[::1],
        DecisionsType,
    )
)
def _choose_moves(
    roots: RootStatistics,
    temperatures: Float64Array,
    points: Float64Array,
    learns: BoolArray,
    decisions: Decisions,
) -> None:
    """Draw an action at each of `roots`, at `temperatures` [n] and `points` [n] in [0, 1).

    Writes the fields of `decisions`. Targets are 0 where `learns` [n] is False.
    """
    shares = np.empty(decisions.policy_shares.shape[1])
    for row in range(len(decisions.actions)):
        policy, target = roots.move_policies[row], roots.policy_targets[row]
        temper(policy, temperatures[row], shares)
        place = draw(shares, points[row] if temperatures[row] > 0 else 0.0)
        decisions.actions[row] = roots.actions[row, place]
        decisions.values[row] = roots.values[row]
        most = 0
        for edge in range(len(policy)):
            most = edge if policy[edge] > policy[most] else most
        best = roots.action_values[row, most]
        decisions.best_values[row] = best if best > roots.values[row] else roots.values[row]
        for edge in range(len(target)):
            decisions.policy_shares[row, edge] = target[edge] if learns[row] else 0.0


class SearchPlayer(Player):
    """Searches the position of every game with any `TreeSearch` and plays the most visited move.

    Game i is slot i of `search`. A search ends after its simulations or after `seconds`. With
    `selfplay`, moves are drawn at its temperatures, and searches have its playout cap.

    Playout cap randomization: most searches are fast, to finish games; full ones yield targets. Wu,
    *Accelerating Self-Play Learning in Go* (2019), section 3.1. Fast searches have no noise.
    """

    def __init__(
        self,
        search: TreeSearch,
        *,
        seconds: float | None = None,
        selfplay: SelfplayConfig | None = None,
    ) -> None:
        self.search = search
        self.seconds = seconds
        self.selfplay = selfplay
        self.level: LevelSettings | None = None
        """Replaces the search's moves by those of a level for people; None: full strength."""
        self.rng = search.rng
        self._plies = np.zeros(search.slots, np.int64)
        self._full = np.ones(search.slots, np.bool_)
        self._deadlines = np.full(search.slots, np.inf)

    def reset(self, slots: Int64Array, states: State) -> None:
        self._plies[slots] = states[:, PLY]
        self.search.reset(slots, states)

    def advance(self, slots: Int64Array, actions: Int64Array) -> None:
        """Advance the trees, keeping the subtrees of the moves."""
        self._plies[slots] += 1
        self.search.advance(slots, actions)

    def begin_moves(self, slots: Int64Array) -> None:
        """Start searches, fast or full if there is a playout cap."""
        if self.selfplay is None or self.selfplay.full_search_probability == 1:
            self.search.begin_search(slots)
        else:
            full = self.rng.random(len(slots)) < self.selfplay.full_search_probability
            self._full[slots] = full
            fast_simulations = self.selfplay.fast_simulations
            simulations = np.where(full, self.search.settings.simulations, fast_simulations)
            self.search.begin_search(slots, simulations, full)
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
        temperatures = np.zeros(len(slots))
        if self.selfplay is not None:
            early = self._plies[slots] < self.selfplay.temperature_moves
            temperatures[:] = self.selfplay.final_temperature
            temperatures[early] = self.selfplay.temperature
        actions = np.empty(len(slots), np.int64)
        shares = np.empty(roots.actions.shape, np.float32)
        numbers = np.empty((2, len(slots)), np.float32)
        decisions = Decisions(slots, actions, roots.actions, shares, *numbers)
        points = self.rng.random(len(slots))
        _choose_moves(roots, temperatures, points, self._full[slots], decisions)
        if self.level is not None:
            for index, ply in enumerate(self._plies[slots].tolist()):
                actions[index] = self.level.choose(ply, actions[index], roots, index, self.rng)
        return decisions
