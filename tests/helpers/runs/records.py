"""Recorded games, drawn at random."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from alphazero.config.schema import ReplayConfig
from alphazero.games import ONGOING, Game, make_game
from alphazero.records.game_record import GameRecord, Pairing, Policies
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE
from helpers.settings import replay_config

GAMES = {
    "tic_tac_toe": TIC_TAC_TOE,
    "mnk 3x4x3": make_game("mnk", rows=3, columns=4, length=3),
    "connect_four": CONNECT_FOUR,
}


def policies_of(dense: npt.ArrayLike) -> Policies:
    """The policies of `dense` [P, A]; rows of zeros are no training targets."""
    rows = np.asarray(dense, np.float32)
    positions, actions = rows.nonzero()
    counts = np.bincount(positions, minlength=len(rows))
    return Policies(counts.astype(np.int32), actions.astype(np.int32), rows[positions, actions])


def random_record(game: Game, rng: np.random.Generator, opening: int = 0) -> GameRecord:
    """A random game with random search policies; its first `opening` moves were not searched."""
    state, actions, policies = game.initial_state(), [], []
    while game.outcome(state) == ONGOING:
        mask = game.legal_action_mask(state)
        policy = np.zeros(game.num_actions, np.float32)
        if len(actions) >= opening:
            policy[mask] = rng.dirichlet(np.ones(mask.sum()))
        policies.append(policy)
        actions.append(int(rng.choice(np.flatnonzero(mask))))
        state = game.play(state, actions[-1])
    values, best_values = rng.uniform(-1, 1, (2, len(actions))).astype(np.float32)
    for numbers in (values, best_values):
        numbers[:opening] = 0
    return GameRecord(
        Pairing(),
        np.array(actions, np.int32),
        policies_of(policies),
        values,
        np.maximum(values, best_values),
        game.outcome(state),
    )


def random_records(game: Game, count: int, seed: int = 0, opening: int = 0) -> list[GameRecord]:
    rng = np.random.default_rng(seed)
    return [random_record(game, rng, opening) for _ in range(count)]


GO = make_game("go", rows=3, columns=3, features=1)


def games_with_komi(*half_points: int) -> list[GameRecord]:
    """Random games of Go on 3 x 3, each with a komi of its own."""
    return [
        dataclasses.replace(
            random_records(GO.variant((komi,)), 1, seed)[0], pairing=Pairing(options=(komi,))
        )
        for seed, komi in enumerate(half_points)
    ]


def unfinished(record: GameRecord, moves: int) -> GameRecord:
    """The beginning of a game."""
    return GameRecord(
        record.pairing,
        record.actions[:moves],
        record.policies.part(0, moves),
        record.values[:moves],
        record.best_values[:moves],
        ONGOING,
    )


def taught(actions: Sequence[int], policies: Any, outcome: int) -> GameRecord:
    """A game of these moves and search policies; all values are 0."""
    nothing = np.zeros(len(actions), np.float32)
    moves = np.array(actions, np.int32)
    return GameRecord(Pairing(), moves, policies_of(policies), nothing, nothing, outcome)


def window(minimum: int = 1, maximum: int = 10**6, fraction: float = 1.0) -> ReplayConfig:
    return replay_config(window_minimum=minimum, window_maximum=maximum, window_fraction=fraction)


DRAWN = [4, 0, 8, 7, 1, 6, 2, 5, 3]
"""Nine moves of tic-tac-toe that fill the board."""


def drawn_games(count: int, opening: int = 0) -> list[GameRecord]:
    """Drawn games of nine moves, all searched but the opening's, with different policies."""
    rng = np.random.default_rng(count)
    records = []
    for _ in range(count):
        policies = rng.dirichlet(np.ones(9), 9)
        policies[:opening] = 0
        records.append(taught(DRAWN, policies, 0))
    return records
