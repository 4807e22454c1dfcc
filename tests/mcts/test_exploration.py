"""Root exploration: Dirichlet noise and forced playouts."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from helpers.games import CONNECT_FOUR, GAMES, TIC_TAC_TOE
from helpers.searches import FIRST, HashedEvaluator, answer, finish, random_position

from alphazero.config.schema import SearchConfig
from alphazero.mcts.evaluator import UniformEvaluator
from alphazero.mcts.exploration import Exploration
from alphazero.mcts.network_search import NetworkSearch

# Forced playouts


def plain_pruning(visits: list[int], values: list[float], priors: list[float]) -> list[float]:
    """Return visits without what was only forced, k = 2 and c = 1.25, tried one by one."""
    total, best = sum(visits), int(np.argmax(visits))

    def score(edge: int, count: int) -> float:
        return values[edge] + 1.25 * priors[edge] * math.sqrt(total) / (1 + count)

    kept = []
    for edge, count in enumerate(visits):
        least = count
        if edge != best and count:
            for taken in range(1, min(int(math.sqrt(2 * priors[edge] * total)), count) + 1):
                if score(edge, count - taken) >= score(best, visits[best]):
                    break
                least = count - taken
            least = 0 if least == 1 else least
        kept.append(least)
    return [each / sum(kept) for each in kept]


@pytest.mark.parametrize("name", ["tic_tac_toe", "connect_four", "mnk 4x4x3"])
def test_forced_visits_are_given_and_taken_out_of_what_is_learned(name: str) -> None:
    game, pruned = GAMES[name], 0
    for seed in range(12):
        state = random_position(game, seed % 4, np.random.default_rng(seed))
        search = NetworkSearch(
            game,
            HashedEvaluator(game, seed),
            SearchConfig(simulations=150),
            exploration=Exploration(0.25, 1.0, forced_playouts_k=2.0),
            rng=np.random.default_rng(seed),
        )
        search.reset(FIRST, state[None])
        search.begin_search(FIRST)
        roots = finish(search)
        legal = np.flatnonzero(game.legal_action_mask(state))
        visits = roots.visits[0, legal]
        priors = search.trees.root_prior[0, : len(legal)].astype(float)
        owed = np.sqrt(2 * priors * (visits.sum() - 1))
        assert (visits[visits > 0] >= np.floor(owed)[visits > 0]).all()
        values = np.nan_to_num(roots.action_values[0, legal])
        expected = plain_pruning(visits.tolist(), values.tolist(), priors.tolist())
        assert np.allclose(roots.policy_targets[0, legal], expected)
        assert np.allclose(roots.move_policies[0, legal], visits / visits.sum())
        pruned += not np.allclose(roots.policy_targets, roots.move_policies)
    assert pruned >= 6


def test_without_exploration_nothing_is_forced() -> None:
    game = CONNECT_FOUR
    found = []
    for exploration in (None, Exploration(0.5, 1.0, forced_playouts_k=2.0)):
        search = NetworkSearch(game, HashedEvaluator(game), SearchConfig(), exploration=exploration)
        search.reset(FIRST, game.initial_state()[None])
        search.begin_search(FIRST, explore=False)
        found.append(finish(search))
    assert (found[0].visits == found[1].visits).all()
    assert (found[0].policy_targets == found[1].policy_targets).all()


# Root noise


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
