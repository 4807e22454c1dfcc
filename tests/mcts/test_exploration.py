"""Root exploration: Dirichlet noise."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from helpers.games import GAMES, TIC_TAC_TOE
from helpers.searches import FIRST, HashedEvaluator, answer, finish
from helpers.uniform_evaluator import UniformEvaluator

from alphazero.config.schema import SearchConfig
from alphazero.mcts.exploration import Exploration
from alphazero.mcts.network_search import NetworkSearch


class CountingGenerator:
    """A source of gamma draws that counts how often it is asked."""

    def __init__(self) -> None:
        self.rng, self.calls = np.random.default_rng(0), 0

    def standard_gamma(self, alpha: float, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        self.calls += 1
        return self.rng.standard_gamma(alpha, shape)


FULL_COLUMN = "O . . . .\nX . . . .\nO . . . .\nX . . . ."


def test_root_noise_is_drawn_once_a_move_and_mixed_into_legal_priors_only() -> None:
    game = GAMES["connect_four 4x5x3"]
    evaluator, rng = HashedEvaluator(game), CountingGenerator()
    search = NetworkSearch(
        game, evaluator, SearchConfig(), exploration=Exploration(0.25, 0.5), nodes=400, rng=rng
    )
    trees, state, seen = search.trees, game.parse(FULL_COLUMN), set()
    search.reset(FIRST, state[None])
    for move in range(4):
        legal = np.flatnonzero(game.legal_action_mask(state))
        search.begin_search(FIRST, 50)
        drawn = trees.root_noise[0].copy()
        roots = finish(search)
        assert rng.calls == move + 1
        assert (trees.root_noise[0] == drawn).all()
        seen.add(drawn.tobytes())

        clean = answer(game, state, 0, evaluator).priors[0]
        noise = drawn[: len(legal)] / drawn[: len(legal)].sum()
        assert np.allclose(roots.priors[0], clean, rtol=1e-6)
        mixed = 0.75 * clean[legal] + 0.25 * noise
        assert np.allclose(trees.root_prior[0, : len(legal)], mixed, rtol=1e-6)
        assert mixed.sum() == pytest.approx(1)
        assert (
            trees.edges["action"][0, : trees.nodes["edge_count"][0, 0]].tolist() == legal.tolist()
        )
        assert not np.delete(roots.visits[0], legal).any()

        action = int(roots.visits[0].argmax())
        state = game.play(state, action)
        search.advance(FIRST, np.array([action]))
        assert trees.slots["num_nodes"][0] > 1, "the root is a reused one"
    assert len(seen) == 4


def test_noise_changes_the_visits_and_no_noise_leaves_the_priors_alone() -> None:
    game = TIC_TAC_TOE
    visits = []
    for noise in (None, Exploration(0.0, 0.5), Exploration(0.75, 0.1)):
        search = NetworkSearch(game, HashedEvaluator(game), SearchConfig(), exploration=noise)
        search.reset(FIRST, game.initial_state()[None])
        search.begin_search(FIRST, 50)
        visits.append(finish(search).visits.tolist())
        same = (search.trees.root_prior[0] == search.trees.edges["prior"][0, :9]).all()
        assert same == (noise is None or noise.dirichlet_fraction == 0)
    assert visits[0] == visits[1] != visits[2]


@pytest.mark.parametrize("alpha", [0.3, 2.0])
def test_noise_has_the_moments_of_a_dirichlet_distribution(alpha: float) -> None:
    game, slots, legal = GAMES["connect_four 4x5x3"], np.arange(20_000), 4
    search = NetworkSearch(
        game,
        UniformEvaluator(5),
        SearchConfig(),
        slots=len(slots),
        nodes=1,
        exploration=Exploration(1.0, alpha),
        rng=np.random.default_rng(5),
    )
    search.reset(slots, np.tile(game.parse(FULL_COLUMN), (len(slots), 1)))
    search.begin_search(slots, 0)
    finish(search, slots)
    noise = search.trees.root_prior[:, :legal].astype(np.float64)
    assert np.allclose(noise.sum(axis=1), 1, atol=1e-6)
    variance = (1 / legal) * (1 - 1 / legal) / (legal * alpha + 1)
    covariance = -((1 / legal) ** 2) / (legal * alpha + 1)
    error = 4 / math.sqrt(len(slots))
    assert np.allclose(noise.mean(axis=0), 1 / legal, atol=error * math.sqrt(variance))
    measured = np.cov(noise.T)
    assert np.allclose(np.diag(measured), variance, rtol=1.5 * error)
    assert np.allclose(measured[np.triu_indices(legal, 1)], covariance, rtol=3 * error)
