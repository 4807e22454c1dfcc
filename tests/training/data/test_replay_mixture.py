"""The replay windows of several boards, beside those of one."""

import numpy as np
import pytest
from helpers.runs.records import random_records, window

from alphazero.games import Game, make_game
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.training.data.replay_mixture import ReplayMixture
from alphazero.utils.arrays import Float32Array

SMALL, LARGE = (make_game("mnk", rows=n, columns=n, length=3) for n in (3, 4))


def games(board: Game, count: int, seed: int) -> GameBatch:
    return GameBatch.of(board, random_records(board, count, seed))


def drawn(mixture: ReplayMixture, size: int) -> list[Float32Array]:
    rng = np.random.default_rng(0)
    return mixture.draw(rng).sample(size, rng, True).arrays()


def positions(batch: GameBatch) -> int:
    return int(batch.policies.any(axis=1).sum())


def test_one_board_draws_what_a_buffer_draws() -> None:
    alone, mixture = ReplayBuffer(SMALL, window(9, 30)), ReplayMixture([SMALL], window(9, 30))
    for iteration in (1, 2, 3):
        batch = games(SMALL, 4, iteration)
        alone.add(iteration, batch)
        mixture.add(SMALL, iteration, batch)
    rng = np.random.default_rng(1)
    other = mixture.draw(rng).sample(32, rng, True, 0.5)
    one = alone.sample(32, np.random.default_rng(1), True, 0.5)
    assert all(map(np.array_equal, one.arrays(), other.arrays()))
    assert (alone.window, alone.iterations) == (mixture.window, mixture.iterations)
    assert alone.mean_age(5) == pytest.approx(mixture.mean_age(5))


def test_a_batch_is_of_one_board_and_boards_come_in_proportion_to_their_windows() -> None:
    boards = [SMALL, LARGE, LARGE]
    mixture = ReplayMixture(boards, window(90, 90))
    for iteration, board in enumerate(boards * 2, 1):
        mixture.add(board, iteration, games(board, 20, iteration))
    assert [mixture.buffer(board).window for board in (SMALL, LARGE)] == [30, 60]
    rng = np.random.default_rng(3)
    widths = [mixture.draw(rng).sample(1, rng, True).observations.shape[-1] for _ in range(600)]
    # 200 of 600 are expected, with a standard deviation of 12.
    assert 150 < widths.count(3) < 250
    assert set(widths) == {3, 4}
    policies = mixture.draw(rng).sample(8, rng, False).policies
    assert policies.shape[1] in (9, 16)
    assert policies.sum(1) == pytest.approx(1)


def test_games_come_back_by_iteration_and_all_positions_are_counted() -> None:
    mixture = ReplayMixture([SMALL, LARGE], window(1000, 1000))
    added = {n: games(board, 3, n) for n, board in enumerate([SMALL, LARGE] * 2, 1)}
    for iteration, batch in added.items():
        mixture.add([SMALL, LARGE][(iteration - 1) % 2], iteration, batch)
    assert mixture.iterations == [1, 2, 3, 4]
    for first, board in enumerate((SMALL, LARGE), 1):
        kept = mixture.buffer(board).shards
        assert [kept[0] is added[first], kept[1] is added[first + 2]] == [True, True]
    assert mixture.total_positions == mixture.window == sum(map(positions, added.values()))


def test_a_loaded_mixture_holds_what_the_saved_one_held() -> None:
    """Also when a window grew while another board was played."""
    settings, boards = window(20, 60, 0.5), [SMALL, LARGE]
    mixture, saved = ReplayMixture(boards, settings), {}
    for iteration in range(1, 12):
        board = boards[(iteration - 1) % 2]
        saved[iteration] = games(board, 2 + iteration % 3, iteration)
        mixture.add(board, iteration, saved[iteration])
        again = ReplayMixture(boards, settings)
        for kept in mixture.iterations:
            board = boards[(kept - 1) % 2]
            again.add(board, kept, saved[kept], mixture.total_positions)
        assert again.iterations == mixture.iterations
        assert [again.buffer(each).window for each in boards] == [
            mixture.buffer(each).window for each in boards
        ]
        one, other = (drawn(each, 16) for each in (again, mixture))
        assert all(map(np.array_equal, one, other))
    assert len(mixture.iterations) < 11, "nothing was dropped: the check has no power"
