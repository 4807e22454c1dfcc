"""A player that uses tree search."""

import time
from typing import NamedTuple

import numpy as np

from alphazero.games.game import PLY, State
from alphazero.mcts.move_selection import kl_divergences, sample_actions
from alphazero.mcts.search import TreeSearch
from alphazero.players.base import NOTHING, Decisions, Player
from alphazero.utils.arrays import Int64Array


class TemperatureSchedule(NamedTuple):
    """Temperatures of move sampling: `early` for the first `moves` plies of a game, then `late`."""

    early: float
    moves: int
    late: float


class PlayoutCap(NamedTuple):
    """Playout cap randomization: most searches are fast, to finish games; full ones yield targets.

    Wu, *Accelerating Self-Play Learning in Go* (2019), section 3.1. Fast searches have no noise.
    """

    full_search_probability: float
    fast_simulations: int


ALWAYS_BEST = TemperatureSchedule(0.0, 0, 0.0)

STEPS_PER_POLL = 16
"""Search steps per `step()` call; returning to the match loop has a fixed cost."""


class SearchPlayer(Player):
    """Searches the position of every game with any `TreeSearch` and samples moves by visits.

    Game i is slot i of `search`. A search ends after its simulations or after `seconds`.
    """

    def __init__(
        self,
        search: TreeSearch,
        *,
        seconds: float | None = None,
        temperature: TemperatureSchedule = ALWAYS_BEST,
        cap: PlayoutCap | None = None,
    ) -> None:
        self.search = search
        self.seconds = seconds
        self.temperature = temperature
        self.cap = cap
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
        if self.cap is None:
            self.search.begin_search(slots)
        else:
            full = self._full[slots] = (
                self.rng.random(len(slots)) < self.cap.full_search_probability
            )
            self.search.begin_search(slots[full])
            self.search.begin_search(slots[~full], self.cap.fast_simulations, explore=False)
        if self.seconds is not None:
            self._deadlines[slots] = time.monotonic() + self.seconds

    def step(self) -> None:
        """Search until moves are ready and the rest fill no batch, or `STEPS_PER_POLL` steps."""
        for _ in range(STEPS_PER_POLL):
            if self.seconds is not None:
                late = np.flatnonzero(self._deadlines < time.monotonic())
                self.search.stop(late)
                self._deadlines[late] = np.inf
            self.search.step()
            if self.search.batch_would_be_partial:
                break

    def take_decisions(self) -> Decisions:
        slots = self.search.pop_finished()
        if not len(slots):
            return NOTHING
        roots = self.search.root_statistics(slots)
        early = self._plies[slots] < self.temperature.moves
        temperatures = np.where(early, self.temperature.early, self.temperature.late)
        actions = sample_actions(roots.move_policies, temperatures, self.rng)
        surprises = kl_divergences(roots.policy_targets, roots.priors).astype(np.float32)
        targets = roots.policy_targets.astype(np.float32)
        quick = ~self._full[slots]
        targets[quick], surprises[quick] = 0, 0
        return Decisions(
            slots,
            actions,
            targets,
            roots.values.astype(np.float32),
            surprises,
            roots.best_values().astype(np.float32),
        )
