"""Value targets of recorded positions."""

import numpy as np
from numba import types

from alphazero.games.game import value_of
from alphazero.training.data.game_shard import GameBatch
from alphazero.utils.arrays import Float64Array

integers_type = types.Array(types.int64, 1, "C")


def value_targets(games: GameBatch, blunder: float) -> Float64Array:
    """Return the value target of each position [P], for player 0.

    It is the game's outcome, or the search value at the next blunder, this position included. A
    blunder is a move that lowers the mover's value, as seen by the next search, by more than
    `blunder` (0: no blunders). Leela Chess Zero's rescorer (`--deblunder`) does the same with the
    values of one search.
    """
    lengths = games.lengths.astype(np.int64)
    ends = np.repeat(np.cumsum(lengths), lengths)
    results = np.repeat(games.outcomes.astype(np.float64), lengths)
    if not blunder:
        return results
    indices = np.arange(len(ends))
    plies = indices - (ends - np.repeat(lengths, lengths))
    signs = np.where(plies % 2, value_of(1, 1), value_of(1, 0))
    falls = np.zeros(len(ends))
    falls[:-1] = np.where(ends[:-1] == ends[1:], games.values[:-1] + games.values[1:], 0)
    nexts = np.minimum.accumulate(np.where(falls > blunder, indices, len(ends))[::-1])[::-1]
    before = nexts < ends
    results[before] = (signs * games.values)[nexts[before]]
    return results
