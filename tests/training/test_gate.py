"""The gate: a match between the challenger and the best network."""

import dataclasses

import numpy as np
import pytest
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE
from helpers.runs.selfplay import chosen_most_visited, make_config
from helpers.searches import HashedEvaluator
from helpers.settings import search_config, selfplay_config
from helpers.uniform_evaluator import UniformEvaluator

from alphazero.config.schema import Config, GameConfig, GateConfig
from alphazero.games import make_game
from alphazero.network.inference import backend
from alphazero.records.game_record import Pairing
from alphazero.training import gate
from alphazero.training.gate import run_gate
from alphazero.utils.arrays import Float32Array


def gate_config(**changes: float) -> Config:
    return dataclasses.replace(
        make_config(temperature=50.0, final_temperature=50.0, dirichlet_fraction=1.0),
        gate=GateConfig(
            **{"interval": 1, "threshold": 0.55, "games": 20, "opening_moves": 3, **changes}
        ),
    )


def test_a_gate_has_no_noise_and_no_temperature_so_equals_play_alike_in_both_colours():
    evaluator = HashedEvaluator(TIC_TAC_TOE)
    result, records = run_gate(TIC_TAC_TOE, gate_config(), evaluator, evaluator, (0,))
    assert result.games == 20
    assert result.score == 0.5
    games: dict[int, list[bytes]] = {}
    for record in records:
        assert all(chosen_most_visited([record], slice(3, None)))
        games.setdefault(record.pairing.pair_id, []).append(record.actions.tobytes())
    assert [len(pair) for pair in games.values()] == [2] * 10
    assert all(first == second for first, second in games.values())


class Blind(HashedEvaluator):
    """Takes every position for lost, whoever looks, and wants the first cell."""

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        logits, values = super().evaluate(observations)
        return np.tile(-100 * np.arange(9, dtype=np.float32), (len(logits), 1)), values


def test_a_gate_gives_the_challenger_the_wins_of_player_0_of_its_pairings():
    strong, weak = UniformEvaluator(9), Blind(TIC_TAC_TOE)
    config = dataclasses.replace(gate_config(), search=search_config(simulations=100))
    for workers in (1, 2):
        up, _ = run_gate(TIC_TAC_TOE, config, strong, weak, (1,), workers)
        down, _ = run_gate(TIC_TAC_TOE, config, weak, strong, (1,), workers)
        assert up.score > 0.6
        assert (down.wins, down.draws, down.losses) == (up.losses, up.draws, up.wins)


@pytest.mark.parametrize(("score", "accepted"), [(0.55, True), (0.54, False)])
def test_a_challenger_is_accepted_from_the_threshold_on(score: float, accepted: bool):
    assert GateConfig(threshold=0.55).accepts(score) is accepted


class Counting(UniformEvaluator):
    """Notes the sizes of its batches."""

    def __init__(self, num_actions: int) -> None:
        super().__init__(num_actions)
        self.sizes: list[int] = []

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        self.sizes.append(len(observations))
        return super().evaluate(observations)


def test_both_players_of_a_gate_fill_their_batches_until_the_last_games():
    game = make_game("connect_four")
    config = dataclasses.replace(
        make_config(parallel_games=64),
        gate=GateConfig(interval=1, threshold=0.55, games=64, opening_moves=3),
        search=search_config(simulations=30, evaluation_cache_mib=0),
    )
    players = Counting(game.num_actions), Counting(game.num_actions)
    run_gate(game, config, *players, (0,))
    for player in players:
        assert max(player.sizes) == 24, "three eighths of 64 games"
        assert min(player.sizes[: len(player.sizes) // 2]) >= 20


def test_a_gate_on_a_gpu_has_the_threads_that_its_own_games_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[int] = []
    monkeypatch.setattr(backend, "resolve_device", lambda _: "cuda")
    monkeypatch.setattr(gate, "play_schedule", lambda *arguments: given.append(arguments[4]) or [])
    config = Config(GameConfig("connect_four"), selfplay=selfplay_config(parallel_games=4096))
    evaluator = UniformEvaluator(7)
    for games in (40, 4096):
        gate.play_gate(CONNECT_FOUR, config, evaluator, evaluator, [Pairing()] * games, 16)
    assert given == [2, 7]
