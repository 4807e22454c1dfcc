"""The choices that change what is learned or played: caps, averages, mixtures; and the bench."""

from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.learners import make_batch, make_learner
from helpers.tiny_run import fingerprint, tiny_config

from alphazero.arena.match import play_schedule
from alphazero.config.schema import SearchConfig
from alphazero.diagnostics.benchmark import benchmark
from alphazero.games import make_game, to_play, value_of
from alphazero.mcts.evaluator import UniformEvaluator
from alphazero.mcts.exploration import Exploration
from alphazero.mcts.move_selection import kl_divergences
from alphazero.mcts.network_search import NetworkSearch
from alphazero.players import search_player as player_module
from alphazero.players.search_player import PlayoutCap, SearchPlayer
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.training import loop
from alphazero.training.data.game_shard import RESIGNED, GameBatch
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.utils.arrays import Float32Array

# Playout caps


class CountingEvaluator(UniformEvaluator):
    """Counts the positions that it was asked for."""

    rows = 0

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        self.rows += len(observations)
        return super().evaluate(observations)


def capped_games(share: float) -> tuple[list[GameRecord], SearchPlayer]:
    game = make_game("connect_four", rows=4, columns=5, length=3)
    players: list[SearchPlayer] = []

    def seat(tables: int) -> list[SearchPlayer]:
        settings = SearchConfig(simulations=40, reuse_tree=False)
        cap = PlayoutCap(share, 3)
        rng = np.random.default_rng(4)
        players.append(
            SearchPlayer(
                NetworkSearch(
                    game,
                    CountingEvaluator(5),
                    settings,
                    slots=tables,
                    exploration=Exploration(0.5, 1.0),
                    rng=rng,
                ),
                cap=cap,
            )
        )
        return players

    records = play_schedule(game, seat, [Pairing()] * 60, 12)
    return records, players[0]


def test_only_full_searches_are_learned_from_and_they_are_as_many_as_asked() -> None:
    records, player = capped_games(0.3)
    policies = np.concatenate([record.policies for record in records])
    full = policies.any(axis=1)
    error = 3 * np.sqrt(0.3 * 0.7 / len(full))
    assert full.mean() == pytest.approx(0.3, abs=error)
    assert np.allclose(policies[full].sum(axis=1), 1, atol=1e-5)
    assert np.allclose(np.rint(policies[full] * 40), policies[full] * 40, atol=1e-3)
    searched = int(full.sum()) * 40 + int((~full).sum()) * 3
    assert player.search.simulations == searched


def test_quick_searches_have_no_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_module, "STEPS_PER_POLL", 1)
    game = make_game("tic_tac_toe")
    search = NetworkSearch(
        game,
        UniformEvaluator(9),
        SearchConfig(simulations=20),
        slots=200,
        exploration=Exploration(0.5, 1.0),
    )
    player = SearchPlayer(search, cap=PlayoutCap(0.5, 5))
    tables = np.arange(200)
    player.reset(tables, np.tile(game.initial_state(), (200, 1)))
    player.begin_moves(tables)
    player.step()
    player.search.pop_finished()
    trees = player.search.trees
    full = trees.slots["remaining"] == 20
    assert 60 < full.sum() < 140
    assert (trees.slots["remaining"][~full] == 5).all()
    noisy = (trees.root_prior != np.float32(1 / 9)).any(axis=1)
    assert (noisy == full).all()


# Surprise


def test_divergences_are_those_computed_by_hand() -> None:
    policies = np.array([[0.5, 0.5, 0], [0, 1, 0], [0.25, 0.25, 0.5], [0, 0, 1]])
    priors = np.array([[0.25, 0.75, 0], [0.5, 0.125, 0.375], [0.25, 0.25, 0.5], [1, 0, 0]])
    expected = [0.5 * np.log(2) + 0.5 * np.log(2 / 3), np.log(8), 0, 126 * np.log(2)]
    # The last: a prior of 0 counts as float32's least normal number, 2^-126.
    assert kl_divergences(policies, priors) == pytest.approx(expected, abs=1e-12)


def test_surprise_compares_the_search_with_the_network_s_prior_without_noise() -> None:
    records, player = capped_games(0.5)
    compared = 0
    for record in records:
        state = player.search.game.initial_state()
        for ply, policy in enumerate(record.policies):
            if policy.any():
                legal = int(player.search.game.legal_action_mask(state).sum())
                # The evaluator's priors are all alike: KL = log(legal) - entropy.
                wanted = np.log(legal) + sum(p * np.log(p) for p in policy.tolist() if p)
                assert record.surprises[ply] == pytest.approx(wanted, abs=1e-5)
                compared += wanted > 0.01
            else:
                assert record.surprises[ply] == 0
            state = player.search.game.play(state, int(record.actions[ply]))
    assert compared > 50


# The average of the weights


def test_the_player_is_the_running_average_of_the_weights() -> None:
    learner = make_learner(ema_decay=0.5)
    assert learner.player is not learner.network
    expected = {name: each.clone() for name, each in learner.player.state_dict().items()}
    for step in range(1, 8):
        learner.train_step(make_batch(seed=step))
        decay = min(0.5, (1 + step) / (10 + step))
        for name, weight in learner.network.state_dict().items():
            if weight.is_floating_point():
                expected[name] = decay * expected[name] + (1 - decay) * weight
    for name, weight in learner.player.state_dict().items():
        if weight.is_floating_point():
            torch.testing.assert_close(weight, expected[name])
    moved = [
        not torch.equal(a, b)
        for a, b in zip(learner.player.parameters(), learner.network.parameters(), strict=True)
    ]
    assert all(moved)


def test_an_average_is_restored_with_the_learner() -> None:
    first, second = make_learner(ema_decay=0.9), make_learner(1, ema_decay=0.9)
    for step in range(3):
        first.train_step(make_batch(seed=step))
    second.restore(first.state(), first.step)
    for learner in (first, second):
        learner.train_step(make_batch(seed=9))
    for name, tensor in first.state().items():
        assert torch.equal(tensor, second.state()[name]), name


def test_without_an_average_the_weights_themselves_play() -> None:
    learner = make_learner()
    assert learner.player is learner.network
    assert not any(name.startswith("player.") for name in learner.state())


def test_a_small_step_stays_on_one_core() -> None:
    assert make_learner(batch_size=16).useful_threads == 1
    assert make_learner(batch_size=10**6).useful_threads > 64


# Values mixed from outcome and search


def test_the_target_is_mixed_from_the_outcome_and_the_value_of_the_search() -> None:
    config = tiny_config(Path("unused"))
    game = make_game("tic_tac_toe")
    actions = np.array([4, 0, 8, 2, 1, 7, 3, 5, 6], np.int32)
    state, outcomes = game.initial_state(), []
    for action in actions:
        outcomes.append(to_play(state))
        state = game.play(state, int(action))
    outcome = game.outcome(state)
    values = np.linspace(-0.9, 0.9, 9).astype(np.float32)
    policies = np.eye(9, dtype=np.float32)[actions]
    replay = ReplayBuffer(game, config.replay)
    none = np.zeros(9, np.float32)
    record = GameRecord(Pairing(), actions, policies, values, none, none, outcome)
    replay.add(1, GameBatch.of(game, [record]))
    for mix in (0.0, 0.25, 1.0):
        batch = replay.sample(64, np.random.default_rng(0), augment=False, search_value_weight=mix)
        plies = [int(np.flatnonzero(actions == policy.argmax())[0]) for policy in batch.policies]
        z = np.array([value_of(outcome, outcomes[ply]) for ply in plies])
        assert np.allclose(batch.values, (1 - mix) * z + mix * values[plies], atol=1e-6)


# All together


def test_a_run_with_every_option_resumes_to_the_very_same_files(tmp_path: Path) -> None:
    options = [
        "selfplay.full_search_probability=0.5",
        "selfplay.fast_simulations=2",
        "learner.ema_decay=0.9",
        "learner.search_value_weight=0.3",
        "learner.optimizer=adamw",
        "learner.learning_rate=0.001",
        "search.fpu=parent",
        "search.evaluation_cache_mib=1",
        "selfplay.resign_enabled_fraction=0.6",
        "selfplay.resign_false_positives=1.0",
        "selfplay.resign_threshold_max=0.1",
        "replay.deblunder_threshold=0.3",
        "replay.policy_surprise_weight=0.5",
    ]
    whole = loop.train(tiny_config(tmp_path / "whole", *options))
    last = (whole / "replay/games-000004.npz").read_bytes()
    assert RESIGNED in GameBatch.from_bytes(make_game("tic_tac_toe"), last, "here").resignations
    broken = loop.train(tiny_config(tmp_path / "broken", *options, "budget.iterations=2"))
    loop.resume(broken, ["budget.iterations=4"])
    expected, received = fingerprint(whole), fingerprint(broken)
    for each in (expected, received):
        del each["config.yaml"]
    assert received == expected


def test_the_benchmark_counts_what_it_says(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, "selfplay.parallel_games=6", "search.evaluation_cache_mib=0")
    result = benchmark(config, 0.8, 2)
    assert result.workers == 2
    assert result.tables == 6
    assert result.efficiency > 0
    assert result.evaluations == pytest.approx(result.efficiency * result.network_only)
    assert 0 < result.batch_fill <= 1
    assert result.cache_hits == 0
    # At least five moves end a game, at most nine; each move has four simulations.
    assert 5 <= result.moves / result.games <= 9.5
    assert result.simulations / result.moves == pytest.approx(4, rel=0.1)
    assert result.peak_megabytes > 10
    assert "search efficiency" in str(result)
