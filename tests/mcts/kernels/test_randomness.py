"""Draws from a slot's random state, against numpy's generators of the same distributions."""

from collections.abc import Callable

import numpy as np
import pytest
from helpers.games import TIC_TAC_TOE
from numba import types

from alphazero.games import make_game
from alphazero.mcts.kernels import randomness
from alphazero.mcts.kernels.tree import Trees, TreesType, allocate_trees
from alphazero.utils.arrays import Float64Array, Int64Array
from alphazero.utils.jit import kernel

DRAWS = 200_000


@kernel(types.void(TreesType, types.float64, types.int64, types.float64[::1]))
def _draw_all(trees: Trees, alpha: float, kind: int, draws: Float64Array) -> None:
    for index in range(len(draws)):
        if kind == 0:
            draws[index] = randomness.random_unit(trees, 0)
        elif kind == 1:
            draws[index] = randomness.random_gumbel(trees, 0)
        else:
            draws[index] = randomness.random_gamma(trees, 0, alpha)


@kernel(types.void(TreesType, types.int64, types.int64[::1]))
def _draw_legal(trees: Trees, count: int, draws: Int64Array) -> None:
    for index in range(len(draws)):
        draws[index] = randomness.random_legal(trees, 0, count)


@pytest.mark.parametrize("count", [1, 2, 35, 362])
def test_legal_actions_are_drawn_equally_often_however_few_they_are(count: int):
    game, draws = make_game("go", rows=19, columns=19), np.empty(DRAWS, np.int64)
    trees = allocate_trees(game, 1, 1)
    legal = np.random.default_rng(count).permutation(362)[:count]
    trees.mask[legal] = True
    _draw_legal(trees, count, draws)
    counts = np.bincount(draws, minlength=362)
    assert counts.sum() == counts[legal].sum()
    # Chi-square's mean is `count` - 1, its variance twice that: five standard deviations.
    distance = ((counts[legal] - DRAWS / count) ** 2).sum() * count / DRAWS
    assert distance <= count - 1 + 5 * np.sqrt(2 * (count - 1))


@pytest.mark.parametrize(
    ("kind", "alpha", "expected"),
    [
        (0, 1.0, lambda rng: rng.random(DRAWS)),
        (1, 1.0, lambda rng: rng.gumbel(size=DRAWS)),
        *(
            (2, alpha, lambda rng, alpha=alpha: rng.standard_gamma(alpha, DRAWS))
            for alpha in (0.03, 0.3, 1.0, 2.5, 40.0)
        ),
    ],
)
def test_draws_have_the_distribution_that_numpy_draws_from(
    kind: int, alpha: float, expected: Callable[[np.random.Generator], Float64Array]
):
    trees, draws = allocate_trees(TIC_TAC_TOE, 1, 1), np.empty(DRAWS)
    trees.slots["random"] = 7
    _draw_all(trees, alpha, kind, draws)
    theirs = np.sort(expected(np.random.default_rng(1)))
    both = np.concatenate([draws, theirs])
    shares = [
        np.searchsorted(np.sort(each), both, side="right") / DRAWS for each in (draws, theirs)
    ]
    # Kolmogorov and Smirnov: this distance of two such samples is exceeded once in 10,000 times.
    assert abs(shares[0] - shares[1]).max() < 2.2 * np.sqrt(2 / DRAWS)
    assert np.isfinite(draws).all()
