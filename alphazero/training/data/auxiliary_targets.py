"""Targets of the network's auxiliary heads, from recorded games.

Wu 2019 (arXiv:1902.10565), section 4.1 (ownership and score); KataGo, docs/KataGoMethods.md,
"Short-term Value and Score Targets".

Letters: P positions (one per move), N games, B batch, T horizons.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from alphazero.games.compiled_rules import Rules, RulesType
from alphazero.games.game import Game, Mask, State, Symmetries, value_of, value_signs
from alphazero.network.heads import HORIZON_SHARES
from alphazero.training.data.batch import Target
from alphazero.training.data.game_shard import RESIGNED, GameBatch, initial_states
from alphazero.utils.arrays import BoolArray, Float32Array, Float64Array, Int8Array, Int64Array
from alphazero.utils.jit import kernel

Concatenate = Callable[[str, type[np.generic], Sequence[npt.NDArray[Any]]], npt.NDArray[Any]]
"""Concatenates arrays into the reused buffer of a name."""


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


class GameEnds(NamedTuple):
    """How games ended, by the rules `owners` and `margin` of the game."""

    owners: Int8Array
    """[N, H * W] 1 for player 0, -1 for player 1, 0 for nobody; zeros for a resigned game"""
    margins: Float32Array
    """[N] for player 0; 0 for a resigned game"""
    reached: BoolArray
    """[N] whether the game was played to its end, not resigned"""

    @classmethod
    def of(cls, game: Game, games: GameBatch) -> "GameEnds":
        """Replay finished games to their ends."""
        _, height, width = game.observation_shape
        ends = cls(
            np.zeros((len(games.lengths), height * width), np.int8),
            np.zeros(len(games.lengths), np.float32),
            games.resignations != RESIGNED,
        )
        _read_ends(
            game.rules,
            *initial_states(game, games.options),
            games.actions.astype(np.int64),
            games.lengths.astype(np.int64),
            ends.reached,
            ends.owners,
            ends.margins,
        )
        return ends


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


class GameTargets(NamedTuple):
    """What the targets of some games are made from; None for absent heads."""

    ends: GameEnds | None
    """for `ownership` and `margin`"""
    short_term: Float32Array | None
    """[P, T] for `short_term_value`"""

    @classmethod
    def of(cls, game: Game, games: GameBatch, heads: Sequence[str]) -> "GameTargets":
        """Replay finished games for the targets of `heads`."""
        needs_ends = not {"ownership", "margin"}.isdisjoint(heads)
        return cls(
            GameEnds.of(game, games) if needs_ends else None,
            short_term_values(game, games) if "short_term_value" in heads else None,
        )

    def arrays(self) -> list[npt.NDArray[Any]]:
        return [*(self.ends or ()), *(() if self.short_term is None else (self.short_term,))]


class TargetSource(NamedTuple):
    """What the targets of the positions of a window are made from; None for absent heads."""

    plies: Int64Array
    """[P] moves before each position"""
    games: Int64Array
    """[P] number of its game"""
    ends: GameEnds | None
    short_term: Float32Array | None
    """[P, T]"""

    @classmethod
    def join(
        cls, parts: Sequence[GameTargets], lengths: Int64Array, concatenate: Concatenate
    ) -> "TargetSource":
        """Join the targets of all games, which have `lengths` [N]."""
        ends = [part.ends for part in parts if part.ends is not None]
        values = [part.short_term for part in parts if part.short_term is not None]
        begins = np.cumsum(lengths) - lengths
        return cls(
            np.arange(lengths.sum()) - np.repeat(begins, lengths),
            np.repeat(np.arange(len(lengths)), lengths),
            GameEnds(
                concatenate("owners", np.int8, [end.owners for end in ends]),
                concatenate("margins", np.float32, [end.margins for end in ends]),
                concatenate("reached", np.bool_, [end.reached for end in ends]),
            )
            if ends
            else None,
            concatenate("short_term", np.float32, values) if values else None,
        )

    def targets(
        self,
        heads: Sequence[str],
        positions: Int64Array,
        symmetries: Symmetries,
        chosen: Int64Array,
    ) -> dict[str, Target]:
        """Return the targets of `positions` [B], each under its `chosen` symmetry [B]."""
        readers = {
            "ownership": self._ownership,
            "margin": self._margin,
            "short_term_value": self._short_term_value,
        }
        targets = {head: readers[head](positions) for head in heads}
        if "ownership" in targets:
            owners, weights = targets["ownership"]
            moved = np.empty_like(owners)
            np.put_along_axis(moved, symmetries.cells[chosen], owners, 1)
            targets["ownership"] = Target(moved, weights)
        return targets

    def _signs(self, positions: Int64Array) -> Float32Array:
        """Return the factor [B] from player 0's view to that of the player to move."""
        return value_signs(self.plies[positions]).astype(np.float32)

    def _ownership(self, positions: Int64Array) -> Target:
        assert self.ends is not None
        games = self.games[positions]
        owners = self.ends.owners[games] * self._signs(positions)[:, None]
        return Target(owners, self.ends.reached[games].astype(np.float32))

    def _margin(self, positions: Int64Array) -> Target:
        assert self.ends is not None
        games = self.games[positions]
        margins = self.ends.margins[games] * self._signs(positions)
        return Target(margins, self.ends.reached[games].astype(np.float32))

    def _short_term_value(self, positions: Int64Array) -> Target:
        assert self.short_term is not None
        values = self.short_term[positions] * self._signs(positions)[:, None]
        return Target(values, np.ones(len(positions), np.float32))
