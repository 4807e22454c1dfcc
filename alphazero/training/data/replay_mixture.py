"""The replay window of a run: a buffer for each board that self-play plays on."""

from collections.abc import Sequence

import numpy as np

from alphazero.config.schema import ReplayConfig
from alphazero.games.game import Game
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer


class ReplayMixture:
    """The buffers of the `boards` that the iterations of self-play use in turn.

    A board that makes up a share of `boards` has this share of the window. The positions of a batch
    are all of one board. So batch normalisation learns from one board at a time, and plays with
    means over all of them.
    """

    def __init__(
        self, boards: Sequence[Game], settings: ReplayConfig, auxiliary: Sequence[str] = ()
    ) -> None:
        self._buffers = {
            board: ReplayBuffer(board, settings, auxiliary, boards.count(board) / len(boards))
            for board in dict.fromkeys(boards)
        }

    def buffer(self, board: Game) -> ReplayBuffer:
        """Return the buffer of one board."""
        return self._buffers[board]

    @property
    def iterations(self) -> list[int]:
        """Iterations of the stored games, oldest first."""
        return sorted(each for buffer in self._buffers.values() for each in buffer.iterations)

    @property
    def total_positions(self) -> int:
        """Positions ever added."""
        return max(buffer.total_positions for buffer in self._buffers.values())

    @property
    def window(self) -> int:
        """Number of positions that batches are drawn from."""
        return sum(buffer.window for buffer in self._buffers.values())

    def add(
        self, board: Game, iteration: int, games: GameBatch, total_positions: int | None = None
    ) -> None:
        """Append an iteration's games on `board`, as `ReplayBuffer.add`."""
        added = self._buffers[board]
        added.add(iteration, games, total_positions)
        for buffer in self._buffers.values():
            buffer.total_positions = added.total_positions

    def draw(self, rng: np.random.Generator) -> ReplayBuffer:
        """Draw the buffer for a batch, in proportion to the positions in the boards' windows."""
        buffers = list(self._buffers.values())
        chosen = 0
        if len(buffers) > 1:  # one board draws nothing: its runs repeat those without boards
            ends = np.cumsum([buffer.window for buffer in buffers])
            chosen = int(np.searchsorted(ends, rng.integers(ends[-1]), side="right"))
        return buffers[chosen]

    def mean_age(self, iteration: int) -> float:
        """Return the mean age of the windows' positions at `iteration`, in iterations."""
        ages = [(buffer.window, buffer.mean_age(iteration)) for buffer in self._buffers.values()]
        return sum(window * age for window, age in ages) / max(self.window, 1)
