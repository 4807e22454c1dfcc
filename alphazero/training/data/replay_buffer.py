"""The replay buffer: recent self-play games, and batches drawn from their newest positions.

Games are stored once, as moves and search policies; sampling computes observations by replaying
moves.

Letters: P positions (one per move), B batch.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numba import types

from alphazero.config.schema import ReplayConfig
from alphazero.errors import RunError
from alphazero.games.compiled_rules import Rules, RulesType
from alphazero.games.game import ONGOING, Game, State, value_signs
from alphazero.training.data.batch import Batch
from alphazero.training.data.game_shard import GameBatch, initial_states
from alphazero.utils.arrays import Float32Array, Float64Array, Int32Array, Int64Array
from alphazero.utils.jit import kernel

if TYPE_CHECKING:
    from alphazero.training.data.auxiliary_targets import TargetSource


@kernel(
    types.void(
        RulesType,
        types.int64[:, ::1],
        types.int64[::1],
        types.int32[::1],
        *(types.int64[::1],) * 3,
        types.int64[:, ::1],
        types.float32[:, :, :, ::1],
    )
)
def observe_samples(
    rules: Rules,
    first_states: State,
    firsts: Int64Array,
    moves: Int32Array,
    starts: Int64Array,
    positions: Int64Array,
    symmetries: Int64Array,
    cell_images: Int64Array,
    observations: Float32Array,
) -> None:
    """Replay the games to `positions` [B] and observe each under its symmetry [B].

    `starts` [B] are the first positions of their games, with the states `first_states[firsts]`.
    """
    _, channels, height, width = observations.shape
    planes = np.zeros((channels, height, width), np.float32)
    for row in range(len(positions)):
        position, symmetry = positions[row], symmetries[row]
        state = first_states[firsts[row]].copy()
        for move in range(starts[row], position):
            rules.functions.play(state, moves[move])
        rules.functions.observe(state, planes)
        for channel in range(channels):
            for cell in range(height * width):
                image = cell_images[symmetry, cell]
                observations[row, channel, image // width, image % width] = planes[
                    channel, cell // width, cell % width
                ]


def value_targets(games: GameBatch, blunder: float) -> Float64Array:
    """Return the value target of each position [P], for player 0.

    It is the game's outcome, or the search value at the next blunder, this position included. A
    blunder is a move that lowers the mover's value, as seen by the next search or, after the last
    move, by the outcome, by more than `blunder` (0: no blunders). Leela Chess Zero's rescorer
    (`--deblunder`) does the same with the values of one search.
    """
    lengths = games.lengths.astype(np.int64)
    ends = np.repeat(np.cumsum(lengths), lengths)
    results = np.repeat(games.outcomes.astype(np.float64), lengths)
    if not blunder:
        return results
    indices = np.arange(len(ends))
    signs = value_signs(indices - (ends - np.repeat(lengths, lengths)))
    following = signs * results  # each move's value for its mover, once it is made
    goes_on = indices[indices + 1 < ends]
    following[goes_on] = -games.values[goes_on + 1]
    falls = games.values - following
    nexts = np.minimum.accumulate(np.where(falls > blunder, indices, len(ends))[::-1])[::-1]
    before = nexts < ends
    results[before] = (signs * games.values)[nexts[before]]
    return results


class ReplayBuffer:
    """The newest games, and the replay window over their positions."""

    def __init__(self, game: Game, settings: ReplayConfig, auxiliary: Sequence[str] = ()) -> None:
        self.game = game
        self.settings = settings
        self.auxiliary = auxiliary
        """the auxiliary heads whose targets batches have"""
        self.total_positions = 0
        """Positions ever added."""
        self.games = GameBatch.of(game, [])
        """The stored games, oldest first."""
        self._iterations = np.zeros(0, np.int64)
        """The iteration of each game."""
        self._target_source = self._targets_of(self.games)
        self._symmetries = game.symmetries()
        self._index()

    @property
    def iterations(self) -> list[int]:
        """Iterations of the stored games, oldest first."""
        numbers: list[int] = np.unique(self._iterations).tolist()
        return numbers

    @property
    def window(self) -> int:
        """Number of the newest positions that batches are drawn from."""
        size = int(self.settings.window_fraction * self.total_positions)
        bounded = max(self.settings.window_minimum, min(size, self.settings.window_maximum))
        return min(bounded, len(self._trainable))

    @property
    def nbytes(self) -> int:
        """Memory in bytes of the games and their targets."""
        parts = [*vars(self).values(), *self.games, *(self._target_source or ())]
        return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))

    def add(self, iteration: int, games: GameBatch, total_positions: int | None = None) -> None:
        """Append an iteration's games; drop the oldest iterations that are outside the window.

        `total_positions` is the total after this iteration. Pass it when loading a run, whose
        older games are deleted.

        Raises:
            RunError: if a game is not finished, and so has no value target.
        """
        if (games.outcomes == ONGOING).any():
            raise RunError(f"the games of iteration {iteration} include one that is not finished")
        self.total_positions += int(np.count_nonzero(games.policy_counts))
        if total_positions is not None:
            self.total_positions = total_positions
        self.games = self.games.followed_by(games)
        self._iterations = np.append(self._iterations, np.full(len(games.lengths), iteration))
        if self._target_source and (source := self._targets_of(games)):
            self._target_source = self._target_source.followed_by(source)
        self._index()
        first = self._iterations[self._numbers[self._newest[0]]] if self.window else iteration
        if dropped := int(np.searchsorted(self._iterations, first)):
            if self._target_source:
                self._target_source = self._target_source.since(dropped, self._starts[dropped])
            self.games = self.games.since(dropped)
            self._iterations = self._iterations[dropped:]
            self._index()

    def sample(
        self,
        batch_size: int,
        rng: np.random.Generator,
        augment: bool,
        search_value_weight: float = 0.0,
    ) -> Batch[Float32Array]:
        """Draw a batch from the window, uniformly and with replacement.

        `augment` applies a random symmetry to each. Values are (1 - `search_value_weight`) z +
        `search_value_weight` q, where q is the search's value.
        """
        newest = self._newest
        positions = newest[rng.integers(0, len(newest), batch_size)]
        numbers = self._numbers[positions]
        starts = self._starts[numbers]
        kinds = len(self._symmetries.actions) if augment else 1
        symmetries = rng.integers(0, kinds, batch_size)
        observations = np.empty((batch_size, *self.game.observation_shape), np.float32)
        observe_samples(
            self.game.rules,
            self._first_states,
            self._firsts[numbers],
            self.games.actions,
            starts,
            positions,
            symmetries,
            self._symmetries.cells,
            observations,
        )
        policies = np.zeros((batch_size, self.game.num_actions), np.float32)
        counts = self.games.policy_counts[positions]
        rows = np.repeat(np.arange(batch_size), counts)
        begins = self._first_shares[positions] - np.cumsum(counts) + counts
        shares = np.arange(len(rows)) + begins[rows]
        actions = self._symmetries.actions[symmetries[rows], self.games.policy_actions[shares]]
        policies[rows, actions] = self.games.policy_shares[shares]
        signs = value_signs(positions - starts)
        outcomes = signs * self.value_targets[positions]
        values = (1 - search_value_weight) * outcomes
        values += search_value_weight * self.games.values[positions].astype(np.float64)
        batch = Batch(observations, policies, values.astype(np.float32))
        if self._target_source is None:
            return batch
        images = self._symmetries.cells[symmetries]
        places = numbers, positions, signs, images
        return batch._replace(auxiliary=self._target_source.targets(self.auxiliary, *places))

    def mean_age(self, iteration: int) -> float:
        """Return the mean age of the window's positions at `iteration`, in iterations."""
        if not self.window:
            return 0.0
        return iteration - float(self._iterations[self._numbers[self._newest]].mean())

    @property
    def _newest(self) -> Int64Array:
        """Positions of the window, oldest first."""
        return self._trainable[len(self._trainable) - self.window :]

    def _targets_of(self, games: GameBatch) -> "TargetSource | None":
        """Return what the targets of auxiliary heads are made from, if there are any."""
        if not self.auxiliary:
            return None
        from alphazero.training.data.auxiliary_targets import TargetSource

        return TargetSource.of(self.game, games, self.auxiliary)

    def _index(self) -> None:
        games, lengths = self.games, self.games.lengths.astype(np.int64)
        self.value_targets = value_targets(games, self.settings.deblunder_threshold)
        self._first_shares = np.cumsum(games.policy_counts) - games.policy_counts
        self._starts = np.cumsum(lengths) - lengths
        self._numbers = np.repeat(np.arange(len(lengths)), lengths)
        """The number of each position's game; the arrays before and after have a row per game."""
        self._first_states, self._firsts = initial_states(self.game, games.options)
        self._trainable: Int64Array = np.flatnonzero(games.policy_counts)
