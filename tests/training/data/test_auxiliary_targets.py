"""The targets of the auxiliary heads against a slow replay in plain Python.

Letters: B batch, A actions.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from helpers.games import CONNECT_FOUR
from helpers.runs.records import policies_of, random_record, unfinished, window

from alphazero.config.schema import AUXILIARY_HEADS
from alphazero.games import Game, make_game
from alphazero.records.game_record import GameRecord
from alphazero.training.data.auxiliary_targets import target_shapes
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer

GAMES = {
    "go": make_game("go", rows=3, columns=4, komi_half_points=3),
    "othello": make_game("othello", size=4),
    "hex": make_game("hex", size=4),
    "connect_four": CONNECT_FOUR,
}


def some_fast(game: Game, record: GameRecord, rng: np.random.Generator) -> GameRecord:
    """The game with policies that no other position has, and a third of its searches fast.

    Positions of fast searches are not learned from. The policies are over illegal moves too, so
    that those of forced moves differ.
    """
    policies = rng.dirichlet(np.ones(game.num_actions), len(record.actions))
    policies[rng.random(len(policies)) < 1 / 3] = 0
    return dataclasses.replace(record, policies=policies_of(policies))


def resigned(record: GameRecord, moves: int) -> GameRecord:
    """The first moves of a game, after which the player to move resigns."""
    outcome = -1 if moves % 2 == 0 else 1
    return dataclasses.replace(unfinished(record, moves), outcome=outcome, resigned=True)


def some_games(game: Game, seed: int = 0) -> list[GameRecord]:
    """Random games, every third of them resigned, with fast searches."""
    rng = np.random.default_rng(seed)
    records = [some_fast(game, random_record(game, rng), rng) for _ in range(12)]
    return [
        resigned(each, len(each.actions) - 1) if number % 3 == 1 else each
        for number, each in enumerate(records)
    ]


def owners_at_the_end(game: Game, record: GameRecord) -> tuple[list[int], float]:
    """The owners and the margin of the last position, for player 0."""
    state = game.play(game.initial_state(), *map(int, record.actions))
    cells = np.zeros(game.observation_shape[1] * game.observation_shape[2], np.int8)
    game.rule_functions.owners(state, cells)
    return cells.tolist(), game.margin(state)


def slow_targets(game: Game, record: GameRecord, ply: int) -> dict[str, tuple[Any, float]]:
    """The target of each head for the position after `ply` moves, and its weight."""
    sign = 1 if ply % 2 == 0 else -1
    cells = game.observation_shape[1] * game.observation_shape[2]
    owners, margin = ([0] * cells, 0.0)
    if not record.resigned:
        owners, margin = owners_at_the_end(game, record)
    means = []
    for factor in (0.176, 0.056, 0.016):
        share, mean, left = 1 / (1 + factor * cells), 0.0, 1.0
        for later in range(ply, len(record.actions)):
            mean += left * share * record.values[later] * (-1) ** (later - ply)
            left *= 1 - share
        means.append(mean + left * record.outcome * sign)
    ended = 0.0 if record.resigned else 1.0
    return {
        "ownership": ([sign * owner for owner in owners], ended),
        "margin": (sign * margin, ended),
        "short_term_value": (means, 1.0),
    }


def place_of(game: Game, records: Sequence[GameRecord], policy: Any) -> tuple[GameRecord, int, int]:
    """The game, the ply and the symmetry that a policy of a batch comes from: none is twice."""
    for record in records:
        for ply, target in enumerate(record.policies.dense(game.num_actions)):
            for number, actions in enumerate(game.symmetries().actions):
                moved = np.zeros_like(target)
                moved[actions] = target
                if target.any() and np.array_equal(moved, policy):
                    return record, ply, number
    raise AssertionError("no position has this policy")


@pytest.mark.parametrize("name", GAMES)
def test_targets_are_those_of_a_slow_replay(name: str) -> None:
    game = GAMES[name]
    shards = [some_games(game), some_games(game, 1)]
    every = [record for records in shards for record in records]
    replay = ReplayBuffer(game, window(), AUXILIARY_HEADS)
    for iteration, records in enumerate(shards):
        replay.add(iteration, GameBatch.of(game, records))
    batch = replay.sample(40, np.random.default_rng(0), augment=True)
    shapes = {head: target.values.shape[1:] for head, target in batch.auxiliary.items()}
    assert shapes == target_shapes(AUXILIARY_HEADS, game.observation_shape)
    assert {array.dtype for array in batch.arrays()} == {np.dtype(np.float32)}
    for row, policy in enumerate(batch.policies):
        record, ply, number = place_of(game, every, policy)
        for head, (values, weight) in slow_targets(game, record, ply).items():
            found = batch.auxiliary[head]
            expected = np.array(values, np.float64)
            if head == "ownership":
                moved = np.empty_like(expected)
                moved[game.symmetries().cells[number]] = expected
                expected = moved
            assert np.allclose(found.values[row], expected, atol=1e-6), head
            assert found.weights[row] == weight, head
    if name != "connect_four":
        assert set(batch.auxiliary["ownership"].weights) == {0, 1}
        assert set(np.unique(batch.auxiliary["ownership"].values)) == {-1, 0, 1}


def test_targets_change_no_draw_and_no_other_array() -> None:
    game = GAMES["othello"]
    games = GameBatch.of(game, some_games(game))
    batches = []
    for heads in ((), ("margin",), AUXILIARY_HEADS):
        replay = ReplayBuffer(game, window(), heads)
        replay.add(1, games)
        rng = np.random.default_rng(3)
        batches.append([replay.sample(30, rng, augment=True) for _ in range(2)])
        assert [*batches[-1][0].auxiliary] == [*heads]
    for others in batches[1:]:
        for one, two in zip(batches[0], others, strict=True):
            for array, other in zip(one.arrays(), two.arrays()[:3], strict=True):
                assert np.array_equal(array, other)
