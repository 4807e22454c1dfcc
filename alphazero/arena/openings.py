"""Random openings, each played twice with colours swapped."""

from typing import Any

import numpy as np
from numba import types

from alphazero.games.compiled_rules import RulesType
from alphazero.games.game import ONGOING, OUTCOME, Game, Mask, State
from alphazero.records.game_record import Pairing
from alphazero.utils.arrays import Float64Array, Int64Array
from alphazero.utils.jit import kernel


@kernel(
    types.void(
        RulesType,
        types.int64[:, ::1],
        types.boolean[::1],
        types.int64[::1],
        types.int64[::1],
        types.float64[:, ::1],
        types.int64[:, ::1],
    )
)
def _play_at_random(
    rules: Any,
    states: State,
    mask: Mask,
    games: Int64Array,
    lengths: Int64Array,
    points: Float64Array,
    actions: Int64Array,
) -> None:
    """Play the first `lengths` [n] moves of each of `games` [m] from `states` [n, S] on.

    Each move is the legal action selected by one of `points` [m, L], in [0, 1); it is written to
    `actions` [n, L]. If the moves end the game, its length becomes -1.
    """
    for row in range(len(games)):
        game = games[row]
        state, length = states[game], lengths[game]
        for move in range(length):
            remaining = int(points[row, move] * rules.functions.legal(state, mask))
            for action in range(len(mask)):
                if mask[action]:
                    if remaining == 0:
                        actions[game, move] = action
                    remaining -= 1
            rules.functions.play(state, actions[game, move])
            if state[OUTCOME] != ONGOING:
                lengths[game] = -1
                break


def random_opening(game: Game, moves: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Sample an opening of `moves` random legal moves, shortened while the sample ends the game."""
    openings, _ = play_random_openings(
        game, game.initial_state()[None], np.array([moves], np.int64), rng
    )
    return openings[0]


def play_random_openings(
    game: Game, first: State, moves: Int64Array, rng: np.random.Generator
) -> tuple[list[tuple[int, ...]], State]:
    """Return a `random_opening` of `moves` [n] from each of `first` [n, S], and the states after.

    All are played in one call, because self-play needs many.
    """
    mask, wanted = np.zeros(game.num_actions, np.bool_), np.minimum(moves, game.max_moves - 1)
    states, actions = first.copy(), np.zeros((len(first), wanted.max(initial=0)), np.int64)
    left = np.flatnonzero(wanted)
    while len(left):
        lengths, points = wanted.copy(), rng.random((len(left), wanted[left].max()))
        _play_at_random(game.rules, states, mask, left, lengths, points, actions)
        left = left[lengths[left] < 0]
        wanted[left] -= 1
        states[left] = first[left]
        left = left[wanted[left] > 0]
    lines = zip(actions.tolist(), wanted.tolist(), strict=True)
    return [tuple(line[:length]) for line, length in lines], states


def paired_openings(game: Game, games: int, moves: int, rng: np.random.Generator) -> list[Pairing]:
    """Return `games` pairings of players 0 and 1: each opening twice, with colours swapped."""
    pairings = []
    for pair in range(games // 2):
        opening = random_opening(game, moves, rng)
        pairings += [Pairing((0, 1), opening, pair), Pairing((1, 0), opening, pair)]
    return pairings
