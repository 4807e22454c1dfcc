"""Targets of the network's auxiliary heads, from recorded games.

Wu 2019 (arXiv:1902.10565), section 4.1 (ownership and score); KataGo, docs/KataGoMethods.md,
"Short-term Value and Score Targets".

Letters: P positions (one per move), N games, B batch, T horizons.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types

from alphazero.games.compiled_rules import Rules, RulesType
from alphazero.games.game import Game, Mask, State, value_of
from alphazero.network.heads import HORIZON_SHARES
from alphazero.training.data.batch import Target
from alphazero.training.data.game_shard import RESIGNED, GameBatch, initial_states
from alphazero.utils.arrays import BoolArray, Float32Array, Float64Array, Int8Array, Int64Array
from alphazero.utils.jit import kernel


def target_shapes(
    heads: Sequence[str], observation_shape: tuple[int, int, int]
) -> dict[str, tuple[int, ...]]:
    """Return the shape of each head's target without the batch.

    ownership [H * W]: 1 for cells that are the player's at the end, -1 for the opponent's, 0 for
    nobody's; margin []: by how much the player won; short_term_value [T]: see
    `short_term_values`.
    """
    shapes: dict[str, tuple[int, ...]] = {
        "ownership": (math.prod(observation_shape[1:]),),
        "margin": (),
        "short_term_value": (len(HORIZON_SHARES),),
    }
    return {head: shapes[head] for head in heads}


class TargetSource(NamedTuple):
    """What the targets of recorded positions are made from; arrays of absent heads are empty.

    Games end by the rules `owners` and `margin` of the game.
    """

    owners: Int8Array
    """[N, H * W] 1 for player 0, -1 for player 1, 0 for nobody; zeros for a resigned game"""
    margins: Float32Array
    """[N] for player 0; 0 for a resigned game"""
    reached: BoolArray
    """[N] whether the game was played to its end, not resigned"""
    short_term: Float32Array
    """[P, T] for player 0"""

    @classmethod
    def of(cls, game: Game, games: GameBatch, heads: Sequence[str]) -> "TargetSource":
        """Replay finished games to their ends, and average their values, as `heads` need it."""
        cells = math.prod(game.observation_shape[1:])
        count = 0 if {"ownership", "margin"}.isdisjoint(heads) else len(games.lengths)
        source = cls(
            np.zeros((count, cells), np.int8),
            np.zeros(count, np.float32),
            games.resignations[:count] != RESIGNED,
            short_term_values(game, games)
            if "short_term_value" in heads
            else np.zeros((0, len(HORIZON_SHARES)), np.float32),
        )
        if count:
            _read_ends(
                game.rules,
                *initial_states(game, games.options),
                games.actions.astype(np.int64),
                games.lengths.astype(np.int64),
                source.reached,
                source.owners,
                source.margins,
            )
        return source

    def since(self, game: int, position: int) -> "TargetSource":
        """Return the source from number `game` on, which begins at `position`."""
        owners, margins, reached, short_term = self
        return TargetSource(owners[game:], margins[game:], reached[game:], short_term[position:])

    def followed_by(self, source: "TargetSource") -> "TargetSource":
        parts: Any = zip(self, source, strict=True)
        return TargetSource(*map(np.concatenate, parts))

    def targets(
        self,
        heads: Sequence[str],
        games: Int64Array,
        positions: Int64Array,
        signs: Int64Array,
        images: Int64Array,
    ) -> dict[str, Target[Float32Array]]:
        """Return the targets of `positions` [B] of `games` [B] for their players to move.

        `signs` [B] convert from player 0's view; `images` [B, H * W] are where the symmetry of each
        position moves the cells.
        """
        targets = {}
        for head in heads:
            if head == "short_term_value":
                values, weights = self.short_term[positions], np.ones(len(positions), np.float32)
            else:
                values = self.margins[games]
                weights = self.reached[games].astype(np.float32)
            if head == "ownership":
                values = np.empty(images.shape, np.float32)
                np.put_along_axis(values, images, self.owners[games], 1)
            views = signs.reshape(-1, *[1] * (values.ndim - 1))
            targets[head] = Target((values * views).astype(np.float32), weights)
        return targets


@kernel(
    types.void(
        RulesType,
        types.int64[:, ::1],
        *(types.int64[::1],) * 3,
        types.boolean[::1],
        types.int8[:, ::1],
        types.float32[::1],
    )
)
def _read_ends(
    rules: Rules,
    first_states: State,
    firsts: Int64Array,
    moves: Int64Array,
    lengths: Int64Array,
    reached: Mask,
    owners: Int8Array,
    margins: Float32Array,
) -> None:
    begin = 0
    for game in range(len(lengths)):
        if reached[game]:
            state = first_states[firsts[game]].copy()
            for move in moves[begin : begin + lengths[game]]:
                rules.functions.play(state, move)
            rules.functions.owners(state, owners[game])
            margins[game] = rules.functions.margin(state)
        begin += lengths[game]


def short_term_values(game: Game, games: GameBatch) -> Float32Array:
    """Return the short-term values of each position [P, T], for player 0.

    Each is a mean of the search values from this position on, with weights that fall by a constant
    factor per move: 1 / (1 + f H W) is the weight of the present one, f from `HORIZON_SHARES`. The
    game's outcome takes the weight that is left at its end. KataGo has the same horizons and, like
    it, this takes the values of fast searches too.
    """
    cells = math.prod(game.observation_shape[1:])
    shares = np.array([1 / (1 + share * cells) for share in HORIZON_SHARES])
    values = np.empty((len(games.actions), len(shares)), np.float32)
    _average_later_values(
        games.values,
        games.lengths.astype(np.int64),
        games.outcomes.astype(np.int64),
        shares,
        values,
    )
    return values


@kernel(
    types.void(
        types.float32[::1], *(types.int64[::1],) * 2, types.float64[::1], types.float32[:, ::1]
    )
)
def _average_later_values(
    search_values: Float32Array,
    lengths: Int64Array,
    outcomes: Int64Array,
    shares: Float64Array,
    averages: Float32Array,
) -> None:
    """Write the short-term values for player 0 to `averages` [P, T], from each game's end back."""
    begin = 0
    for game in range(len(lengths)):
        for horizon in range(len(shares)):
            mean = float(outcomes[game])
            for ply in range(lengths[game] - 1, -1, -1):
                value = value_of(search_values[begin + ply], ply % 2)
                mean += shares[horizon] * (value - mean)
                averages[begin + ply, horizon] = mean
        begin += lengths[game]
