"""The replay window against a plain reconstruction.

Letters: P positions, A actions, B batch, [C, H, W] observation.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from helpers.games import TIC_TAC_TOE
from helpers.runs.records import (
    GAMES,
    GO,
    drawn_games,
    games_with_komi,
    random_records,
    taught,
    unfinished,
    window,
)

from alphazero.config.schema import ReplayConfig
from alphazero.errors import RunError
from alphazero.games import Game
from alphazero.games.game import to_play
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.training.data.batch import Batch
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer, value_targets
from alphazero.utils.arrays import Float32Array


def filled(
    game: Game, shards: Sequence[Sequence[GameRecord]], settings: ReplayConfig
) -> ReplayBuffer:
    replay = ReplayBuffer(game, settings)
    for iteration, records in enumerate(shards, 1):
        replay.add(iteration, GameBatch.of(game, records))
    return replay


Sample = tuple[Float32Array, Float32Array, int]


def plain_samples(game: Game, records: Sequence[GameRecord], symmetry: int = 0) -> list[Sample]:
    """Every searched position as (observation, policy, value), by plain Python and symmetry."""
    cells, actions = game.symmetries().cells[symmetry], game.symmetries().actions[symmetry]
    samples = []
    for record in records:
        state = record.variant(game).initial_state()
        policies = record.policies.dense(game.num_actions)
        for action, policy in zip(record.actions.tolist(), policies, strict=True):
            if policy.any():
                seen = game.observe(state)
                turned = np.zeros_like(seen)
                for plane, image in zip(seen, turned, strict=True):
                    for cell, place in enumerate(cells):
                        image.flat[place] = plane.flat[cell]
                target = np.zeros_like(policy)
                for each, place in enumerate(actions):
                    target[place] = policy[each]
                won = {0: 0, 1: 1 - 2 * to_play(state), -1: 2 * to_play(state) - 1}
                samples.append((turned, target, won[record.outcome]))
            state = game.play(state, action)
    return samples


def keys(samples: Sequence[Sample] | Batch) -> list[bytes]:
    rows = zip(*samples.arrays(), strict=True) if isinstance(samples, Batch) else samples
    return [
        seen.tobytes() + policy.tobytes() + str(int(value)).encode() for seen, policy, value in rows
    ]


# Batches


@pytest.mark.parametrize("name", GAMES)
def test_symmetries_move_planes_and_policy_together_and_all_occur(name: str):
    """Every sample is a position of the games as plain Python rebuilds it."""
    game = GAMES[name]
    records = random_records(game, 3)
    kinds = len(game.symmetries().cells)
    expected = [keys(plain_samples(game, records, symmetry)) for symmetry in range(kinds)]
    replay, rng = filled(game, [records[:1], records[1:]], window()), np.random.default_rng(0)
    drawn = set(keys(replay.sample(12_000, rng, augment=True)))
    assert drawn == {key for each in expected for key in each}
    assert len(drawn) == kinds * len(expected[0])
    assert set(keys(replay.sample(4_000, rng, augment=False))) == set(expected[0])


def test_each_game_is_replayed_with_its_own_options():
    games = games_with_komi(15, -18, 5, 15, 40)
    replay = filled(GO, [games[:2], games[2:]], window())
    batch = replay.sample(600, np.random.default_rng(0), False)
    expected = {(seen.tobytes(), value) for seen, _, value in plain_samples(GO, games)}
    drawn = zip(batch.observations, batch.values.tolist(), strict=True)
    assert {(seen.tobytes(), value) for seen, value in drawn} == expected


def test_before_a_blunder_the_value_thrown_away_takes_the_outcome_s_place():
    """The values fall by 0.3, 0.1, 0.5 and, from the second player's 0.6 to -0.4, by 1.0."""
    actions = [0, 1, 4, 2, 8]  # the first player completes the diagonal
    policies = np.eye(9, dtype=np.float32)[actions]
    values = np.array([0.1, 0.2, -0.1, 0.6, 0.4], np.float32)
    record = dataclasses.replace(taught(actions, policies, 1), values=values)
    ordinary = [1, -1, 1, -1, 1]
    for blunder, expected in {
        0.0: ordinary,
        1.1: ordinary,
        0.9: [-0.6, 0.6, -0.6, 0.6, 1],
        0.25: [0.1, 0.1, -0.1, 0.6, 1],  # the nearest blunder after a position counts
    }.items():
        replay = ReplayBuffer(
            TIC_TAC_TOE, dataclasses.replace(window(), deblunder_threshold=blunder)
        )
        # Games on either side of it, whose searches saw nothing, neither give nor take.
        quiet = taught(actions, policies, 1)
        replay.add(1, GameBatch.of(TIC_TAC_TOE, [quiet, record, quiet]))
        batch = replay.sample(400, np.random.default_rng(0), augment=False)
        for ply, (usual, value) in enumerate(zip(ordinary, expected, strict=True)):
            learned = batch.values[batch.policies[:, actions[ply]] == 1]
            assert set(learned) == {np.float32(usual), np.float32(value)}


def test_a_blunder_by_the_last_move_is_one_too():
    """The first player has won all along, until its last move loses."""
    actions, values = [0, 1, 4, 2, 8], np.array([0.9, -0.9, 0.9, -0.9, 0.9], np.float32)
    record = dataclasses.replace(
        taught(actions, np.eye(9, dtype=np.float32)[actions], -1), values=values
    )
    games = GameBatch.of(TIC_TAC_TOE, [record] * 2)
    assert value_targets(games, 0.25) == pytest.approx([0.9] * 10)  # for the first player
    assert value_targets(games, 1.95).tolist() == [-1] * 10


def test_moves_of_openings_are_never_drawn_nor_counted():
    records = random_records(TIC_TAC_TOE, 10, opening=3)
    replay = filled(TIC_TAC_TOE, [records], window())
    searched = sum(len(record.actions) - 3 for record in records)
    assert replay.total_positions == replay.window == searched
    assert set(keys(replay.sample(3_000, np.random.default_rng(0), False))) == set(
        keys(plain_samples(TIC_TAC_TOE, records))
    )


def test_a_resigned_game_teaches_that_the_player_who_resigned_has_lost():
    record = taught([4, 0, 8], np.eye(9)[[4, 0, 8]], 1)  # O resigns before its second move
    record = dataclasses.replace(record, pairing=Pairing(may_resign=True), resigned=True)
    batch = filled(TIC_TAC_TOE, [[record]], window()).sample(50, np.random.default_rng(0), False)
    for policy, value in zip(batch.policies, batch.values, strict=True):
        assert value == {4: 1, 0: -1, 8: 1}[int(policy.argmax())]


def test_without_options_the_positions_drawn_are_those_of_one_draw_of_integers():
    shards = [random_records(TIC_TAC_TOE, 10, seed) for seed in range(3)]
    replay = filled(TIC_TAC_TOE, shards, window(maximum=150))
    newest = keys(plain_samples(TIC_TAC_TOE, [each for shard in shards for each in shard]))[-150:]
    held = sum(len(record.actions) for record in shards[-1] + shards[-2])
    held += sum(len(record.actions) for record in shards[0]) if replay.iterations[0] == 1 else 0
    places = np.random.default_rng(5).integers(held - 150, held, 64) - (held - 150)
    drawn = keys(replay.sample(64, np.random.default_rng(5), augment=False))
    assert drawn == [newest[place] for place in places]


def test_symmetries_are_drawn_alike():
    record = random_records(TIC_TAC_TOE, 1)[0]
    kinds = [set(keys(plain_samples(TIC_TAC_TOE, [record], symmetry))) for symmetry in range(8)]
    replay = filled(TIC_TAC_TOE, [[record]], window())
    draws = 8_000
    drawn = keys(replay.sample(draws, np.random.default_rng(0), True))
    counts = np.array([sum(key in kind for key in drawn) for kind in kinds])
    assert counts.sum() == draws
    statistic = ((counts - draws / 8) ** 2 / (draws / 8)).sum()
    assert statistic < 24.3  # chi-square with 7 degrees of freedom, 99.9 %


# The window


@pytest.mark.parametrize(
    "settings",
    [
        window(maximum=40),
        window(maximum=36),
        window(30, 500, 0.5),
        window(10, 1_000, 0.29),
        window(500, 1_000),
        window(1, 1),
    ],
)
def test_a_shard_leaves_when_the_window_no_longer_reaches_it(settings: ReplayConfig):
    """What comes back from the disk makes the same window, by the number of all positions."""
    numbers = [2, 2, 2, 1, 3, 1, 1, 5, 2, 2, 1, 1, 1]
    shards = [GameBatch.of(TIC_TAC_TOE, drawn_games(games)) for games in numbers]
    replay, sizes = ReplayBuffer(TIC_TAC_TOE, settings), []
    for iteration, shard in enumerate(shards, 1):
        replay.add(iteration, shard)
        sizes.append(9 * len(shard.lengths))
        wanted = int(settings.window_fraction * sum(sizes))
        wanted = max(settings.window_minimum, min(wanted, settings.window_maximum))
        # The fewest of the newest shards that hold as many positions as are wanted.
        needed = next(
            (back for back in range(1, iteration) if sum(sizes[-back:]) >= wanted), iteration
        )
        assert replay.iterations == list(range(iteration - needed + 1, iteration + 1))
        assert replay.window == min(wanted, sum(sizes))
    loaded = ReplayBuffer(TIC_TAC_TOE, settings)
    for iteration in replay.iterations:
        loaded.add(iteration, shards[iteration - 1], replay.total_positions)
    assert loaded.iterations == replay.iterations
    assert (loaded.window, loaded.total_positions) == (replay.window, sum(sizes))


def test_a_shard_without_searched_moves_does_no_harm():
    replay = filled(TIC_TAC_TOE, [[], drawn_games(1, opening=9), drawn_games(2)], window())
    assert replay.iterations == [3]
    assert replay.window == 18
    assert ReplayBuffer(TIC_TAC_TOE, window()).window == 0


def test_the_age_is_the_mean_over_the_window():
    shards = [drawn_games(2), drawn_games(2), drawn_games(1)]
    replay = filled(TIC_TAC_TOE, shards, window(maximum=20))
    # 9 positions of iteration 3 and the newest 11 of iteration 2, seen from iteration 5.
    assert replay.mean_age(5) == pytest.approx((9 * 2 + 11 * 3) / 20)
    assert ReplayBuffer(TIC_TAC_TOE, window()).mean_age(5) == 0


def test_an_unfinished_game_teaches_nothing_and_is_refused():
    record = drawn_games(1)[0]
    with pytest.raises(RunError, match=r"iteration 7 .*not finished"):
        ReplayBuffer(TIC_TAC_TOE, window()).add(
            7, GameBatch.of(TIC_TAC_TOE, [record, unfinished(record, 4)])
        )


@pytest.mark.parametrize("mix", [0.0, 0.25, 1.0])
def test_the_target_is_mixed_from_the_outcome_and_the_value_of_the_search(mix: float) -> None:
    actions = [0, 8, 1, 7, 2]  # the first player completes the top row
    values = np.array([-0.9, 0.3, -0.1, 0.5, 0.7], np.float32)
    record = dataclasses.replace(taught(actions, np.eye(9)[actions], 1), values=values)
    replay = filled(TIC_TAC_TOE, [[record]], window())
    batch = replay.sample(64, np.random.default_rng(0), augment=False, search_value_weight=mix)
    for policy, value in zip(batch.policies, batch.values, strict=True):
        ply = actions.index(int(policy.argmax()))
        assert value == pytest.approx((1 - mix) * (-1) ** ply + mix * values[ply], abs=1e-6)
