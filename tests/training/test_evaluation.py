"""Strength in a run: anchor matches counted by hand, and the answers of an evaluator that knows.

Letters: n positions, A actions.
"""

import numpy as np
import pytest
from helpers.frontends.fake_engine import fake
from helpers.games import TIC_TAC_TOE
from helpers.paths import CONFIGS
from helpers.runs.events import points
from helpers.runs.tiny_run import content_of, tiny_config
from helpers.searches import UniformEvaluator

from alphazero.arena.bradley_terry import fit
from alphazero.arena.elo import Result, pair_scores
from alphazero.arena.openings import paired_openings
from alphazero.arena.solved_positions import stages_of
from alphazero.arena.tournament import Tournament, results_of
from alphazero.errors import ConfigError, PlayerError
from alphazero.games import make_game
from alphazero.games.game import Game, value_of
from alphazero.games.nim import LEFT
from alphazero.network.checkpoint import load_checkpoint
from alphazero.players.gtp_player import GtpPlayer
from alphazero.players.registry import parse_player
from alphazero.records.game_record import GameRecord, Pairing
from alphazero.training import evaluation
from alphazero.training.evaluation import OPENING_MOVES, PlayerEvaluation
from alphazero.training.loop import resume, train
from alphazero.utils.arrays import Float32Array

ANCHORS = ("random", "uct:20", "minimax:2")
NAMES = "[" + ", ".join(f'"{name}"' for name in ANCHORS) + "]"
NIM = make_game("nim")


class KnowsNim:
    """Says the truth of nim by its closed form, or the opposite of it; sees the heap's chips."""

    def __init__(self, honest: bool) -> None:
        self.sign = 1 if honest else -1

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        logits, values = [], []
        for seen in observations:
            left = KNOWN[seen.tobytes()]
            logits.append([self.sign * 9.0 * ((left - 1 - taken) % 4 == 0) for taken in range(3)])
            values.append(self.sign * (-1.0 if left % 4 == 0 else 1.0))
        return np.array(logits, np.float32), np.array(values, np.float32)


KNOWN = {}
for chips in range(16):
    _state = NIM.initial_state()
    _state[LEFT] = chips
    KNOWN[NIM.observe(_state).tobytes()] = chips


# Anchors


def test_anchor_matches_count_every_game_and_rate_as_bradley_and_terry(tmp_path, monkeypatch):
    config = tiny_config(tmp_path, f"evaluation.anchors={NAMES}")
    monkeypatch.setattr(evaluation, "GAMES", 6)
    played: list[GameRecord] = []
    true_schedule = evaluation.play_schedule

    def remember(*given: object) -> list[GameRecord]:
        records = true_schedule(*given)  # type: ignore[arg-type]
        played.extend(records)
        return records

    monkeypatch.setattr(evaluation, "play_schedule", remember)
    evaluation_of_nim = PlayerEvaluation(NIM, config)
    figures = evaluation_of_nim.measure(KnowsNim(honest=True), [1, 2], 2)
    assert evaluation_of_nim.games == evaluation_of_nim.due(10) == len(played) == 18

    between = Tournament(NIM, [parse_player(name) for name in ANCHORS], 6, OPENING_MOVES, seed=5)
    between.play(2)
    results = results_of(["best", *(spec.name for spec in between.specs)], between.played)
    points_made: dict[int, list[float]] = {1: [], 2: [], 3: []}
    for record in played:
        first, second = record.pairing.players
        results.append(Result.of(record))
        assert 0 in (first, second)
        other = first + second
        mine = value_of(record.outcome, 0 if first == 0 else 1)
        points_made[other].append({1: 1.0, 0: 0.5, -1: 0.0}[mine])
    for place, name in enumerate(("random", "uct_20", "minimax_2"), 1):
        assert len(points_made[place]) == 6
        assert figures[f"anchors/{name}/score"] == np.mean(points_made[place])
    ratings = fit(4, pair_scores(NIM, results), anchor=1)
    assert figures["anchors/elo"] == ratings.elo[0]
    assert figures["anchors/elo_low"] == ratings.low[0] < ratings.elo[0] < ratings.high[0]
    assert figures["anchors/elo_high"] == ratings.high[0]


def test_a_program_is_an_anchor_with_one_process_a_core(tmp_path, monkeypatch):
    command = f"gtp:{fake('gtp')}"
    config = tiny_config(tmp_path, f'evaluation.anchors=["random", "{command}"]')
    monkeypatch.setattr(evaluation, "GAMES", 6)
    slots: list[int] = []
    create = GtpPlayer.__init__

    def count(player: GtpPlayer, game: Game, num_games: int, text: str) -> None:
        slots.append(num_games)
        create(player, game, num_games, text)

    monkeypatch.setattr(GtpPlayer, "__init__", count)
    seen: list[int] = []
    figures = PlayerEvaluation(TIC_TAC_TOE, config).measure(
        UniformEvaluator(9), [1], 2, seen.append
    )
    assert sum(seen) == 12
    assert len([name for name in figures if name.endswith("score")]) == 2
    assert slots[-2:] == [1, 1]


def test_games_that_a_program_forfeits_do_not_count(tmp_path, monkeypatch, capsys):
    anchors = f'["random", "gtp:{fake("gtp", "crash", 1)}"]'
    config = tiny_config(tmp_path, f"evaluation.anchors={anchors}")
    monkeypatch.setattr(evaluation, "GAMES", 4)
    monkeypatch.setattr(evaluation, "OPENING_MOVES", 0)
    figures = PlayerEvaluation(TIC_TAC_TOE, config).measure(UniformEvaluator(9), [1])
    assert [*figures] == ["anchors/random/score"], "nothing compares the program"
    between, played = [
        line for line in capsys.readouterr().out.splitlines() if "were forfeited" in line
    ]
    assert between.startswith("4 of 4 games against other anchors were forfeited, and do not count")
    assert played.startswith("4 of 4 games against gtp:")


def test_anchors_that_fail_do_not_end_the_training(tmp_path, monkeypatch, capsys):
    def fail(*_: object) -> dict[str, float]:
        raise PlayerError("out of cheese")

    monkeypatch.setattr(PlayerEvaluation, "_play_anchors", fail)
    solved = "evaluation.solved_positions_per_stage=2"
    anchors = "evaluation.anchors=[random]", "evaluation.interval=1"
    run = train(tiny_config(tmp_path, *anchors, solved))
    assert "the anchors cannot be measured: out of cheese" in capsys.readouterr().out
    assert points(run, "solved/search_optimal/opening")


@pytest.mark.parametrize(
    ("anchors", "message"),
    [
        ('["utc:100"]', "unknown player 'utc:100'; did you mean 'uct'?"),
        ('["uct:seconds=1"]', "timed by the clock"),
        ('["uci:sh,movetime=1"]', "timed by the clock"),
        ('["human"]', "cannot be named here"),
        ('["random", "random"]', "appears twice"),
        ('["uct:100", "uct:simulations=100"]', "two of its names mean the same player"),
        ('["uci:sh,nodes=1"]', "uci: plays games whose pieces move"),
        ('["gtp:true"]', "gtp:true: "),
        ('["connect_four"]', "players need one game"),
        ("[random, 3]", "evaluation.anchors: expected text, got 3"),
    ],
)
def test_invalid_anchors_are_refused_before_anything_is_played(
    tmp_path, only_line, monkeypatch, anchors: str, message: str
):
    monkeypatch.chdir(tmp_path)
    line = only_line("train", CONFIGS / "tic_tac_toe.yaml", f"evaluation.anchors={anchors}")
    assert "evaluation.anchors" in line
    assert message in line
    assert not list(tmp_path.iterdir()), "no folder of a run"


# Solved positions


@pytest.mark.parametrize("honest", [True, False])
def test_a_network_that_knows_the_answers_is_right_at_every_stage(tmp_path, honest: bool):
    config = tiny_config(
        tmp_path, "evaluation.solved_positions_per_stage=5", "search.simulations=64"
    )
    check = PlayerEvaluation(NIM, config)
    figures = check.measure(KnowsNim(honest), [1], 2)
    assert check.answers == 2 * 15
    stages = ("opening", "middle", "end")
    assert figures.keys() == {
        f"solved/{who}_{what}/{stage}"
        for who in ("network", "search")
        for what in ("optimal", "blunders", "value_error")
        for stage in stages
    }
    for stage in stages:
        # Where every move loses, each is optimal; elsewhere the opposite of the truth is not.
        states = check.solution.states
        states = states[stages_of(NIM, states) == stages.index(stage)]
        lost = np.mean([state[LEFT] % 4 == 0 for state in states])
        free = np.mean([state[LEFT] == 1 for state in states])
        optimal, error = (1, 0) if honest else (lost + free, 2)
        assert figures[f"solved/network_optimal/{stage}"] == optimal
        assert figures[f"solved/network_blunders/{stage}"] == pytest.approx(1 - optimal)
        assert figures[f"solved/network_value_error/{stage}"] == error
        if honest:
            assert figures[f"solved/search_optimal/{stage}"] == 1


def test_a_game_without_known_answers_is_refused(tmp_path):
    config = tiny_config(tmp_path, "evaluation.solved_positions_per_stage=5")
    with pytest.raises(
        ConfigError, match=r"evaluation\.solved_positions_per_stage: exact answers are not known"
    ):
        PlayerEvaluation(make_game("gomoku"), config)


# In a run


def test_measuring_draws_its_curves_and_changes_nothing_that_is_learned(
    tmp_path, monkeypatch, finished_run
):
    monkeypatch.setattr(evaluation, "GAMES", 2)
    openings: list[list[Pairing]] = []

    def remember(*arguments: object) -> list[Pairing]:
        openings.append(paired_openings(*arguments))  # type: ignore[arg-type]
        return openings[-1]

    monkeypatch.setattr(evaluation, "paired_openings", remember)
    measured = [f"evaluation.anchors={NAMES}", "evaluation.interval=2"]
    measured += ["evaluation.solved_positions_per_stage=4"]
    run = train(tiny_config(tmp_path / "measured", *measured, "budget.iterations=2"))
    resume(run, ["budget.iterations=4"])
    assert openings[:3] == openings[3:], "of three anchors in two measurements"
    assert content_of(run) == content_of(finished_run)

    whole = train(tiny_config(tmp_path / "whole", *measured))
    for name in ("anchors/elo", "anchors/uct_20/score", "solved/search_optimal/middle"):
        assert [step for step, _ in points(run, name)] == [2, 4]
        assert points(run, name) == points(whole, name), "resuming changed it"
    assert [step for step, _ in points(run, "seconds/measure")] == [2, 4]
    assert load_checkpoint(run / "best.safetensors").game_name == "tic_tac_toe"
