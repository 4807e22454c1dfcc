"""Gumbel search: against mctx, and against the paper's loop written out."""

import json
from typing import Any

import numpy as np
import pytest
from helpers.games import GAMES
from helpers.paths import DATA
from helpers.reference.gumbel import PlainGumbelRoot
from helpers.searches import (
    FIRST,
    HashedEvaluator,
    assert_same_tree,
    edges_of,
    finish,
    search_from,
    searched,
    statistics,
)
from helpers.settings import search_config

from alphazero.config.schema import SearchConfig
from alphazero.games import make_game
from alphazero.mcts import network_search
from alphazero.mcts.kernels.equations import SelectionParams
from alphazero.mcts.kernels.root import Exploration
from alphazero.mcts.kernels.selection_rules import UNLIMITED
from alphazero.mcts.network_search import NetworkSearch, selection_params

RECORDS = json.loads((DATA / "mctx.json").read_text())
"""What mctx found; `record_mctx.py` wrote it."""


def set_value_scale(monkeypatch: pytest.MonkeyPatch, scale: float) -> None:
    """Give the searches that are created from now on another c_scale."""

    def scaled(settings: SearchConfig) -> SelectionParams:
        return selection_params(settings)._replace(gumbel_value_scale=scale)

    monkeypatch.setattr(network_search, "selection_params", scaled)


@pytest.mark.parametrize(
    "record", RECORDS, ids=lambda record: f"{record['simulations']} simulations"
)
def test_mctx_finds_the_same(record: dict[str, Any], monkeypatch):
    set_value_scale(monkeypatch, record["scale"])
    game = make_game("connect_four", rows=20, columns=4, length=20)
    settings = search_config(
        simulations=record["simulations"],
        selection="gumbel",
        gumbel_max_considered_actions=record["considered"],
    )
    evaluator = HashedEvaluator(game, record["seed"])
    search = NetworkSearch(game, evaluator, settings, exploration=Exploration())
    search.reset(FIRST, game.initial_state()[None])
    search.begin_search(FIRST)
    search.trees.root_noise[0] = record["gumbel"]
    roots = finish(search)
    assert roots.visits[0].tolist() == record["visits"]
    assert roots.move_policies[0].tolist() == np.eye(4)[record["action"]].tolist()
    assert np.allclose(roots.policy_targets[0], record["weights"], atol=1e-5)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("reuse_tree", [True, False])
def test_puct_below_the_root_builds_the_tree_of_the_plain_twin(name: str, reuse_tree: bool):
    game, evaluator = GAMES[name], HashedEvaluator(GAMES[name], 3)
    settings = search_config(selection="gumbel_root", reuse_tree=reuse_tree, evaluation_cache_mib=0)
    rng, state = np.random.default_rng(1), game.initial_state()
    search = NetworkSearch(game, evaluator, settings, exploration=Exploration(), rng=rng)
    twin = PlainGumbelRoot(game, evaluator, settings)
    search.reset(FIRST, state[None])
    twin.start(state)
    for simulations in (0, 50, 20, 1, 80):
        legal = np.flatnonzero(game.legal_action_mask(twin.root.state))
        search.begin_search(FIRST, simulations)
        roots = finish(search)
        twin.plan(simulations, search.trees.root_noise[0, : len(legal)].tolist())
        assert_same_tree(search, 0, twin)
        action = int(roots.move_policies[0].argmax())
        new = [roots.visits[0, a] - kept for a, kept in twin.kept.items()]
        assert roots.visits[0, action] - twin.kept[action] == max(new)
        search.advance(FIRST, np.array([action]))
        twin.follow(action)


def test_a_fast_search_has_no_noise_and_forgets_earlier_draws():
    game, settings = GAMES["connect_four"], search_config(simulations=16, selection="gumbel")
    fast = Exploration(full_search_probability=0.0, fast_simulations=16)
    answers = []
    for begin_first in (NetworkSearch.begin_search, NetworkSearch.begin_moves):
        search = NetworkSearch(game, HashedEvaluator(game), settings, exploration=fast)
        search.reset(FIRST, game.initial_state()[None])
        begin_first(search, FIRST)
        finish(search)
        assert search.trees.root_noise.any() == (begin_first is NetworkSearch.begin_search)
        search.advance(FIRST, np.array([3]))
        search.begin_moves(FIRST)
        roots = finish(search)
        assert not search.trees.root_noise.any()
        answers.append((roots.visits.tolist(), roots.move_policies.tolist()))
    assert answers[0] == answers[1]


def test_a_tree_is_not_kept_for_the_next_move():
    """Halving counts the visits of one search."""
    game = GAMES["connect_four"]
    settings = search_config(simulations=30, selection="gumbel", reuse_tree=True)
    search = NetworkSearch(game, HashedEvaluator(game), settings)
    search.reset(FIRST, game.initial_state()[None])
    for _ in range(3):
        search.begin_search(FIRST)
        roots = finish(search)
        assert roots.visits.sum() == 30
        search.advance(FIRST, roots.move_policies.argmax(axis=1))


@pytest.mark.parametrize("known", [0, 30])
def test_a_search_of_unknown_length_chooses_at_the_root_by_puct(known: int):
    game = GAMES["connect_four"]
    settings = search_config(selection="gumbel", c_puct=1.5, evaluation_cache_mib=0)
    search = NetworkSearch(game, HashedEvaluator(game), settings)
    search_from(search, game.initial_state(), known)
    search.begin_search(FIRST, UNLIMITED)
    for _ in range(90):
        roots = statistics(search)
        visits, values = roots.visits[0], np.nan_to_num(roots.action_values[0])
        scores = values + 1.5 * roots.priors[0] * np.sqrt(visits.sum()) / (1 + visits)
        scores += 1e-9 * roots.priors[0]  # which decides before the first visit
        search.step()
        tried = statistics(search).visits[0] - visits
        assert tried.tolist() == np.eye(7, dtype=int)[scores.argmax()].tolist()


@pytest.mark.parametrize("leaves", [1, 8])
def test_gumbel_search_takes_the_winning_column(leaves: int):
    game = GAMES["connect_four"]
    state = game.from_moves(["4", "1", "4", "1", "4", "2"])
    _, roots = searched(game, state, 60, leaves=leaves, selection="gumbel")
    assert roots.move_policies[0].argmax() == 3
    assert roots.policy_targets[0, 3] > 0.9
    assert roots.values[0] > 0.9 > np.nanmean(roots.action_values[0])


def test_scores_too_large_for_an_exponential_lead_the_search_below_the_root(monkeypatch):
    set_value_scale(monkeypatch, 100.0)
    game = GAMES["connect_four"]
    state, evaluator = game.initial_state(), HashedEvaluator(game)
    search, _ = searched(game, state, 300, evaluator, selection="gumbel")
    inner = [edges_of(search.trees, 0, node)["visits"] for node in range(1, 8)]
    assert any(visits[1:].any() for visits in inner), "not only each node's first move"


def test_a_move_proven_to_be_worse_hides_no_other_however_good_it_seemed():
    game = GAMES["tic_tac_toe"]
    options = {"selection": "gumbel_root", "mcts_solver": True}
    search, _ = searched(game, game.initial_state(), 90, **options)
    trees, edges = search.trees, search.trees.edges[0, :9]
    edges["visits"], edges["value_sum"] = 1000, -1000
    edges["value_sum"][4] = 1000
    trees.nodes["lower"][0, edges["child"][4]] = 1  # the first player loses by it
    trees.nodes["upper"][0, edges["child"][0]] = 0  # and has at least a draw by another
    roots = statistics(search)
    assert roots.policy_targets[0] == pytest.approx([1 / 8] * 4 + [0] + [1 / 8] * 4)
