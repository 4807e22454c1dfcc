"""The replay window: the newest positions of self-play, and batches drawn from them.

Games are kept as they were played, moves and search policies; observations are made when a
batch is drawn, by replaying the moves.

Letters: P positions (one for each move played), A actions, B batch, [C, H, W] observation.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import types

from alphazero.config import ReplayConfig
from alphazero.errors import RunError
from alphazero.games.game import ONGOING, PLY, Game, Rules, RulesType, State, value_of
from alphazero.jit import kernel
from alphazero.training.gamefile import Floats, Games, Integers

_integers = types.Array(types.int64, 1, "C")


class Batch(NamedTuple):
    """Samples (s, pi, z) for one optimizer step."""

    observations: Floats
    """[B, C, H, W]"""
    policies: Floats
    """[B, A] the search policies pi"""
    values: Floats
    """[B] the outcomes z, for the player to move, mixed with the search's values if so asked"""


@kernel(
    types.void(
        RulesType,
        *(_integers,) * 4,
        types.Array(types.float32, 2, "C"),
        types.Array(types.float32, 1, "C"),
        types.float64,
        *(_integers,) * 2,
        *(types.Array(types.int64, 2, "C"),) * 2,
        types.Array(types.float32, 4, "C"),
        types.Array(types.float32, 2, "C"),
        types.Array(types.float32, 1, "C"),
    )
)
def _fill(
    rules: Rules,
    initial_state: State,
    moves: Integers,
    starts: Integers,
    outcomes: Integers,
    policies: Floats,
    search_values: Floats,
    value_mix: float,
    positions: Integers,
    symmetries: Integers,
    action_images: Integers,
    cell_images: Integers,
    observations: Floats,
    targets: Floats,
    values: Floats,
) -> None:
    """Replay the games to `positions` [B] and write each as seen under its symmetry [B].

    `starts` and `outcomes` [P] belong to the game that a position is of.
    """
    _, channels, height, width = observations.shape
    planes = np.zeros((channels, height, width), np.float32)
    for row in range(len(positions)):
        position, symmetry = positions[row], symmetries[row]
        state = initial_state.copy()
        for move in range(starts[position], position):
            rules.play(state, moves[move])
        rules.observe(state, planes)
        for channel in range(channels):
            for cell in range(height * width):
                image = cell_images[symmetry, cell]
                observations[row, channel, image // width, image % width] = planes[
                    channel, cell // width, cell % width
                ]
        for action in range(policies.shape[1]):
            targets[row, action_images[symmetry, action]] = policies[position, action]
        value = value_of(outcomes[position], state[PLY] % 2)
        values[row] = (1 - value_mix) * value + value_mix * search_values[position]


@dataclass
class _Shard:
    iteration: int
    games: Games


class Replay:
    """The window over the newest games, and the games themselves, an iteration a shard."""

    def __init__(self, game: Game, settings: ReplayConfig) -> None:
        self.game = game
        self.settings = settings
        self.total_positions = 0
        """Positions ever added."""
        self._shards: list[_Shard] = []
        self._symmetries = game.symmetries()
        self._join()

    @property
    def iterations(self) -> list[int]:
        """The iterations whose games are held, oldest first."""
        return [shard.iteration for shard in self._shards]

    @property
    def window(self) -> int:
        """How many of the newest positions training may draw."""
        wanted = int(self.settings.window_fraction * self.total_positions)
        bounded = max(self.settings.window_minimum, min(wanted, self.settings.window_maximum))
        return min(bounded, len(self._trainable))

    def add(self, iteration: int, games: Games, total_positions: int | None = None) -> None:
        """Append an iteration's games; drop the oldest shards once they are out of the window.

        `total_positions` is given when games come back from the disk, where older ones are gone.

        Raises:
            RunError: when a game is not finished, so that nothing can be learnt from it.
        """
        if (games.outcomes == ONGOING).any():
            raise RunError(f"the games of iteration {iteration} include one that is not finished")
        self._shards.append(_Shard(iteration, games))
        if total_positions is None:
            total_positions = self.total_positions + int(games.policies.any(axis=1).sum())
        self.total_positions = total_positions
        self._join()
        while (
            len(self._shards) > 1
            and len(self._trainable) - int(self._shards[0].games.policies.any(axis=1).sum())
            >= self.window
        ):
            self._shards.pop(0)
            self._join()

    def sample(
        self, batch_size: int, rng: np.random.Generator, augment: bool, value_mix: float = 0.0
    ) -> Batch:
        """Draw a batch, every position of the window alike.

        With `augment` each is seen under a random symmetry; its value is (1 - `value_mix`) z +
        `value_mix` q, where q is the search's value.
        """
        drawn = rng.integers(len(self._trainable) - self.window, len(self._trainable), batch_size)
        kinds = len(self._symmetries.actions) if augment else 1
        symmetries = rng.integers(0, kinds, batch_size)
        batch = Batch(
            np.empty((batch_size, *self.game.observation_shape), np.float32),
            np.empty((batch_size, self.game.num_actions), np.float32),
            np.empty(batch_size, np.float32),
        )
        _fill(
            self.game.rules,
            self.game.initial_state(),
            self._moves,
            self._starts,
            self._outcomes,
            self._policies,
            self._values,
            value_mix,
            self._trainable[drawn],
            symmetries,
            self._symmetries.actions,
            self._symmetries.cells,
            *batch,
        )
        return batch

    def mean_age(self, iteration: int) -> float:
        """Return the mean age of the window's positions at `iteration`, in iterations."""
        if not self.window:
            return 0.0
        newest = self._trainable[len(self._trainable) - self.window :]
        return iteration - float(self._born[newest].mean())

    def _join(self) -> None:
        """Lay all shards end to end, for drawing."""
        games = [shard.games for shard in self._shards] or [Games.of(self.game, [])]
        lengths = np.concatenate([each.lengths for each in games]).astype(np.int64)
        outcomes = np.concatenate([each.outcomes for each in games]).astype(np.int64)
        sizes = [len(each.actions) for each in games]
        self._moves = np.concatenate([each.actions for each in games]).astype(np.int64)
        self._policies = np.concatenate([each.policies for each in games])
        self._values = np.concatenate([each.values for each in games])
        self._starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
        self._outcomes = np.repeat(outcomes, lengths)
        born: list[Any] = [shard.iteration for shard in self._shards] or [0]
        self._born = np.repeat(np.array(born, np.float64), sizes)
        self._trainable = np.flatnonzero(self._policies.any(axis=1))
