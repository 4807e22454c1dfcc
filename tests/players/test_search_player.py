"""Players that search: limits of time, playout caps and what they record."""

import itertools

import numpy as np
import pytest
from helpers.games import CONNECT_FOUR_4X5X3, TIC_TAC_TOE
from helpers.matches import play_all
from helpers.reference.rollouts import SplitMix
from helpers.searches import (
    HashedEvaluator,
    UniformEvaluator,
    by_action,
    random_position,
    statistics,
)
from helpers.settings import search_config

from alphazero.arena.match import Match
from alphazero.games import ONGOING
from alphazero.mcts.kernels.root import Exploration
from alphazero.mcts.kernels.selection_rules import UNLIMITED
from alphazero.mcts.network_search import NetworkSearch
from alphazero.players import search_player as player_module
from alphazero.players.search_player import SearchPlayer
from alphazero.records.game_record import Pairing


@pytest.mark.parametrize("moves", [(), (4,), (4, 0, 8), (4, 0, 8, 7, 1, 6, 2, 5)])
@pytest.mark.parametrize("leaves", [1, 8])
def test_a_search_limited_by_seconds_ends_and_answers_legally(moves: tuple[int, ...], leaves: int):
    settings = search_config(simulations=UNLIMITED)
    search = NetworkSearch(TIC_TAC_TOE, UniformEvaluator(9), settings, nodes=5_000, leaves=leaves)
    player = SearchPlayer(search, seconds=0.2)
    state = TIC_TAC_TOE.play(TIC_TAC_TOE.initial_state(), *moves)
    assert TIC_TAC_TOE.legal_action_mask(state)[player.choose(state)]
    assert 0 < player.search.simulations < UNLIMITED


def test_players_limited_by_seconds_play_a_match_to_its_end():
    settings = search_config(simulations=UNLIMITED)
    search = NetworkSearch(TIC_TAC_TOE, UniformEvaluator(9), settings, slots=3, nodes=5_000)
    player = SearchPlayer(search, seconds=0.02)
    records = play_all(Match(TIC_TAC_TOE, [player], 3, itertools.repeat(Pairing(), 3)))
    assert len(records) == 3
    for record in records:
        state = TIC_TAC_TOE.play(TIC_TAC_TOE.initial_state(), *record.actions.tolist())
        assert TIC_TAC_TOE.outcome(state) == record.outcome != ONGOING


# Playout caps


def test_only_full_searches_are_learned_from_and_they_are_as_many_as_asked():
    game = CONNECT_FOUR_4X5X3
    search = NetworkSearch(
        game,
        UniformEvaluator(5),
        search_config(simulations=40, reuse_tree=False),
        slots=12,
        exploration=Exploration(0.5, 1.0, full_search_probability=0.3, fast_simulations=3),
        rng=np.random.default_rng(4),
    )
    records = play_all(Match(game, [SearchPlayer(search)], 12, itertools.repeat(Pairing(), 60)))
    policies = np.concatenate([record.policies.dense(9) for record in records])
    full = policies.any(axis=1)
    error = 3 * np.sqrt(0.3 * 0.7 / len(full))
    assert full.mean() == pytest.approx(0.3, abs=error)
    assert np.allclose(policies[full].sum(axis=1), 1, atol=1e-5)
    assert np.allclose(np.rint(policies[full] * 40), policies[full] * 40, atol=1e-3)
    searched = int(full.sum()) * 40 + int((~full).sum()) * 3
    assert search.simulations == searched


def test_fast_searches_have_no_noise(monkeypatch):
    monkeypatch.setattr(player_module, "BATCHES_PER_STEP", 1)
    game = TIC_TAC_TOE
    search = NetworkSearch(
        game,
        UniformEvaluator(9),
        search_config(simulations=20),
        slots=200,
        exploration=Exploration(0.5, 1.0, full_search_probability=0.5, fast_simulations=5),
    )
    player = SearchPlayer(search)
    slots = np.arange(200)
    player.reset(slots, np.tile(game.initial_state(), (200, 1)))
    player.begin_moves(slots)
    player.step()
    player.search.pop_finished()
    trees = player.search.trees
    full = trees.slots["remaining"] == 20
    assert 60 < full.sum() < 140
    assert (trees.slots["remaining"][~full] == 5).all()
    noisy = (trees.root_prior != np.float32(1 / 9)).any(axis=1)
    assert (noisy == full).all()


@pytest.mark.parametrize("selection", ["puct", "gumbel_root"])
def test_decisions_are_what_the_functions_of_move_selection_say(selection: str):
    settings = search_config(simulations=24, selection=selection, mcts_solver=True)
    rng = np.random.default_rng(2)
    search = NetworkSearch(
        TIC_TAC_TOE,
        HashedEvaluator(TIC_TAC_TOE),
        settings,
        slots=40,
        exploration=Exploration(0.0, 1.0, 2, 0.8, 0.0, 0.5, 4),
        rng=rng,
    )
    player = SearchPlayer(search)
    slots = np.arange(40)
    states = [random_position(TIC_TAC_TOE, slot % 5, rng) for slot in slots]
    player.reset(slots, np.stack(states))
    player.begin_moves(slots)
    while not np.array_equal(search._finished(), slots):
        search.step()
    roots, full = statistics(search, slots), search.trees.slots["full"]
    points = [SplitMix(int(bits)).bits() / 2**64 for bits in search.trees.slots["random"]]
    decided = player.take_decisions()
    for slot, policy, point in zip(slots, roots.move_policies, points, strict=True):
        passed = np.cumsum(policy ** (1 / 0.8))
        drawn = int((passed <= point * passed[-1]).sum())
        assert decided.actions[slot] == (drawn if slot % 5 < 2 else policy.argmax())
    assert 10 < full.sum() < 30
    targets = np.where(full[:, None], roots.policy_targets, 0).astype(np.float32)
    shares = by_action(search.root_statistics(slots), decided.policy_shares, 9)
    assert shares.tolist() == targets.tolist()
    assert decided.values.tolist() == roots.values.astype(np.float32).tolist()
    best = np.nan_to_num(roots.action_values[slots, roots.move_policies.argmax(axis=1)], nan=-1)
    assert decided.best_values.tolist() == np.fmax(roots.values, best).astype(np.float32).tolist()
