"""The gate: a match between the challenger and the best network."""

import dataclasses
import functools
from collections.abc import Sequence

import numpy as np
import pytest
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE
from helpers.matches import match, record
from helpers.runs.selfplay import make_config
from helpers.searches import HashedEvaluator, UniformEvaluator
from helpers.settings import search_config, selfplay_config

from alphazero.arena.bradley_terry import PairScore
from alphazero.arena.elo import Result, elo_difference, pair_scores
from alphazero.arena.openings import paired_openings
from alphazero.config.schema import Config, GameConfig, GateConfig
from alphazero.games import make_game
from alphazero.mcts.evaluator import Evaluator
from alphazero.network.inference import backend
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.training import gate
from alphazero.training.gate import (
    FIRST_PART,
    GateResult,
    decide_gate,
    expected_games,
    judge,
    play_gate,
)
from alphazero.utils.arrays import Float32Array


def gate_config() -> Config:
    return dataclasses.replace(
        make_config(temperature=50.0, final_temperature=50.0, dirichlet_fraction=1.0),
        gate=GateConfig(interval=1, threshold=0.55, games=20, opening_moves=3),
    )


def run_gate(
    config: Config, challenger: Evaluator, best: Evaluator, seed: int, cores: int = 1
) -> GateResult:
    play = functools.partial(play_gate, TIC_TAC_TOE, config, challenger, best, cores=cores)
    return decide_gate(TIC_TAC_TOE, config, [seed], play)


def test_a_gate_has_no_noise_and_no_temperature_so_equals_play_alike_in_both_colours():
    evaluator = HashedEvaluator(TIC_TAC_TOE)
    result = run_gate(gate_config(), evaluator, evaluator, 0)
    records = result.records
    assert result.match.games == 20
    assert result.match.score == 0.5
    assert result.gain == pytest.approx(0)
    games: dict[int, list[bytes]] = {}
    for game in records:
        most_visited = game.policies.dense(9).argmax(axis=1)
        assert game.actions[3:].tolist() == most_visited[3:].tolist()
        games.setdefault(game.pairing.pair_id, []).append(game.actions.tobytes())
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
        up = run_gate(config, strong, weak, 1, workers).match
        down = run_gate(config, weak, strong, 1, workers).match
        assert up.score > 0.6
        assert (down.wins, down.draws, down.losses) == (up.losses, up.draws, up.wins)


# Decisions


def simulate(
    elo: float, gates: int, games: int = 100, threshold: float = 0.5
) -> tuple[float, float, float]:
    """Return the shares of challengers that pass and of games played, and the mean gain in Elo.

    Games are independent and have no draws: so scores vary most, and errors are most frequent.
    """
    rng, chance = np.random.default_rng(1), 1 / (1 + 10 ** (-elo / 400))
    results, first = [], round(FIRST_PART * games / 2)
    for scores in rng.binomial(2, chance, (gates, games // 2)) / 2:
        pairs, gain = [PairScore((0, 1), score) for score in scores], 0.0
        for old, end in ((0, first), (first, games // 2)):
            accepted, part_gain = judge(pairs[:end], old, threshold, 2 * end / games)
            gain += part_gain
            if accepted is not None:
                break
        results.append(
            (accepted, 2 * end / games, elo_difference(0.5 + gain * games / (games + 1)))
        )
    passing, share, mean = np.mean(np.array(results, float), axis=0)
    return float(passing), float(share), float(mean)


@pytest.mark.parametrize(
    ("elo", "passing", "share"), [(-50, 0.09, 0.76), (0, 0.54, 0.86), (50, 0.92, 0.76)]
)
def test_the_default_gate_errs_and_costs_as_its_keys_say(elo: float, passing: float, share: float):
    default = GateConfig()
    figures = simulate(elo, 1000, default.games, default.threshold)
    # The standard error of a share of 1/2 is 1.6 %.
    assert figures[:2] == pytest.approx((passing, share), abs=0.04)
    if elo == 0:
        assert expected_games(default) == pytest.approx(default.games * share, abs=2)


@pytest.mark.parametrize("games", [0, 4, 34])
def test_a_gate_without_a_first_part_has_all_its_games(games: int):
    assert expected_games(GateConfig(games=games)) == games


@pytest.mark.parametrize(
    ("elo", "gates", "games", "threshold", "error"),
    [
        *((0, 6000, 100, 0.5, 2), (0, 6000, 400, 0.55, 2), (0, 6000, 40, 0.45, 2)),
        *((elo, 1000, 100, 0.5, 6) for elo in (-50, 50, 200)),
    ],
)
def test_the_rating_grows_by_what_the_accepted_challengers_are_better(
    elo: float, gates: int, games: int, threshold: float, error: float
):
    """What accepted equals score would add 14 to 22 Elo a gate. Its standard error is 0.8."""
    passing, _, gain = simulate(elo, gates, games, threshold)
    assert gain == pytest.approx(passing * elo, abs=error)


def test_repeated_games_neither_end_a_gate_nor_count_in_its_gain():
    distinct = pair_scores(TIC_TAC_TOE, map(Result.of, match(*[(1, 1)] * 10)))
    assert judge(distinct, 0, 0.5, 0.4) == (True, pytest.approx(0.5))
    games = [record(side, 1, pair, (side,)) for pair in range(10) for side in (0, 1)]
    repeated = pair_scores(TIC_TAC_TOE, map(Result.of, games))
    assert judge(repeated, 0, 0.9, 0.4) == (None, 0)
    assert judge(repeated, 0, 0.9, 1.0) == (True, 0)


@pytest.mark.parametrize(("values", "games"), [((1, 1), 40), ((1, -1), 100), ((-1, -1), 40)])
def test_a_gate_ends_early_if_its_first_games_decide(values: tuple[int, int], games: int):
    def play(pairings: Sequence[Pairing]) -> list[GameRecord]:
        return [
            dataclasses.replace(record(side, values[side], 0), pairing=pairing, actions=moves)
            for pairing in pairings
            for side in pairing.players[:1]
            for moves in [np.array([*pairing.opening, pairing.pair_id], np.int32)]
        ]

    config = dataclasses.replace(gate_config(), gate=GateConfig())
    result = decide_gate(TIC_TAC_TOE, config, [0], play)
    assert result.match.games == len(result.records) == games
    assert result.accepted is (sum(values) >= 0)
    assert np.sign(result.gain) == max(sum(values) / 2, 0)


def test_both_players_of_a_gate_fill_their_batches_until_the_last_games():
    game = make_game("connect_four")
    config = dataclasses.replace(
        make_config(parallel_games=64), search=search_config(simulations=30, evaluation_cache_mib=0)
    )
    players = UniformEvaluator(game.num_actions), UniformEvaluator(game.num_actions)
    play_gate(game, config, *players, paired_openings(game, 64, 3, np.random.default_rng(0)))
    for player in players:
        assert max(player.rows) == 24, "three eighths of 64 games"
        assert min(player.rows[: len(player.rows) // 2]) >= 20


def test_a_gate_on_a_gpu_has_the_threads_that_its_own_games_need(monkeypatch):
    given: list[int] = []
    monkeypatch.setattr(backend, "resolve_device", lambda _: "cuda")
    monkeypatch.setattr(gate, "play_schedule", lambda *arguments: given.append(arguments[4]) or [])
    config = Config(GameConfig("connect_four"), selfplay=selfplay_config(parallel_games=4096))
    evaluator = UniformEvaluator(7)
    for games in (40, 4096):
        play_gate(CONNECT_FOUR, config, evaluator, evaluator, [Pairing()] * games, 16)
    assert given == [2, 7]


def test_the_gains_of_both_parts_are_at_most_the_whole_score(monkeypatch):
    """A low threshold may count the losses of the first part and those of the second in full."""
    monkeypatch.setattr(gate, "judge", lambda *_: (False, -0.7))
    evaluator = HashedEvaluator(TIC_TAC_TOE)
    result = run_gate(gate_config(), evaluator, evaluator, 0)
    games = sum(pair.games for pair in pair_scores(TIC_TAC_TOE, map(Result.of, result.records)))
    assert result.gain == elo_difference(0.5 / (games + 1))
