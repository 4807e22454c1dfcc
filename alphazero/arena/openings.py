"""Random openings, each played twice with colours swapped."""

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from alphazero.arena.match import slots_type
from alphazero.games.compiled_rules import RulesType
from alphazero.games.game import ONGOING, Game, Mask, State
from alphazero.records.game_record import Pairing
from alphazero.utils.arrays import Int64Array
from alphazero.utils.jit import kernel


@kernel(types.int64(RulesType, slots_type, types.boolean[::1], types.float64[::1], slots_type))
def _play_at_random(
    rules: Any, state: State, mask: Mask, points: npt.NDArray[np.float64], actions: Int64Array
) -> int:
    """Play the legal action selected by each of `points`, in [0, 1), and write `actions`.

    Returns the number of moves after which the game was still open.
    """
    for move in range(len(points)):
        remaining = int(points[move] * rules.legal(state, mask))
        for action in range(len(mask)):
            if mask[action]:
                if remaining == 0:
                    actions[move] = action
                remaining -= 1
        rules.play(state, actions[move])
        if rules.outcome(state) != ONGOING:
            return move
    return len(points)


def random_opening(game: Game, moves: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Sample an opening of `moves` random legal moves, shortened while the sample ends the game."""
    return play_random_opening(game, game.initial_state(), moves, rng)[0]


def play_random_opening(
    game: Game, first: State, moves: int, rng: np.random.Generator
) -> tuple[tuple[int, ...], State]:
    """Return a `random_opening` from the initial state `first` [S], and the position after it."""
    mask = np.zeros(game.num_actions, np.bool_)
    for length in range(min(moves, game.max_moves - 1), 0, -1):
        state, actions = first.copy(), np.zeros(length, np.int64)
        points = rng.random(length)
        if _play_at_random(game.rules, state, mask, points, actions) == length:
            return tuple(actions.tolist()), state
    return (), first


def paired_openings(game: Game, games: int, moves: int, rng: np.random.Generator) -> list[Pairing]:
    """Return `games` pairings of players 0 and 1: each opening twice, with colours swapped."""
    pairings = []
    for pair in range(games // 2):
        opening = random_opening(game, moves, rng)
        pairings += [Pairing((0, 1), opening, pair), Pairing((1, 0), opening, pair)]
    return pairings
