"""Resignation: its threshold against a brute-force search, and the games that it ends."""

from collections.abc import Sequence

import numpy as np
import pytest
from helpers.games import TIC_TAC_TOE
from helpers.matches import play_all
from helpers.players import ScriptedPlayer, first_legal
from helpers.runs.records import taught
from helpers.runs.tiny_run import tiny_config
from helpers.searches import UniformEvaluator

from alphazero.arena.match import Match
from alphazero.games.game import ONGOING, PLY
from alphazero.players.base import Decisions
from alphazero.records.game_record import NEVER_RESIGN, GameRecord, Pairing, Policies
from alphazero.records.played_game import PlayedGame
from alphazero.training import resignation
from alphazero.training.data.game_shard import PLAYED_OUT, RESIGNED, GameBatch
from alphazero.training.iteration import Training
from alphazero.training.resignation import (
    check_threshold,
    measure_resignation,
    non_resigned_games,
    resign_threshold,
)
from alphazero.training.run_directory import RunDirectory
from alphazero.training.selfplay import play_games

# The threshold


def game_of(best_values: Sequence[float], outcome: int) -> GameRecord:
    """A game with these best values; its moves do not matter."""
    numbers = np.array(best_values, np.float32)
    moves, policies = np.zeros(len(numbers), np.int32), Policies.none(len(numbers))
    return GameRecord(Pairing(), moves, policies, numbers, numbers, outcome)


def random_games(rng: np.random.Generator, count: int) -> list[GameRecord]:
    """Games whose best values know the result, more or less; in eighths, so that many are equal."""
    games = []
    for _ in range(count):
        outcome, length = int(rng.integers(-1, 2)), int(rng.integers(0, 12))
        sure = rng.uniform(0, 1) * np.linspace(0, 1, length)
        signs = np.array([outcome, -outcome] * 6)[:length]
        numbers = np.clip(sure * signs + rng.normal(0, 0.3, length), -1, 1)
        games.append(game_of(np.rint(8 * numbers) / 8, outcome))
    return games


def plain_verdict(games: Sequence[GameRecord], threshold: float) -> tuple[int, int]:
    """How many games the threshold would have ended, and how many of those wrongly."""
    resigned = wrong = 0
    for game in games:
        for ply, best_values in enumerate(game.best_values.tolist()):
            if best_values < threshold:
                winner = {1: 0, -1: 1, 0: None}[game.outcome]
                resigned += 1
                wrong += winner is None or winner == ply % 2
                break
    return resigned, wrong


@pytest.mark.parametrize("false_positives", [0.05, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("ceiling", [-0.5, -0.3, 0.25, 1.0])
def test_the_threshold_is_the_highest_that_brute_force_finds(
    monkeypatch, false_positives: float, ceiling: float
):
    monkeypatch.setattr(resignation, "RESIGN_FALSE_POSITIVES", false_positives)
    monkeypatch.setattr(resignation, "RESIGN_THRESHOLD_MAX", ceiling)
    rng, found = np.random.default_rng(7), set()
    for count in (0, 1, 3, 30, 100, 300) * 3:
        games = random_games(rng, count)
        expected = NEVER_RESIGN
        for threshold in np.linspace(-1, ceiling, 1 + round(80 * (ceiling + 1))).tolist():
            resigned, wrong = plain_verdict(games, threshold)
            if resigned >= 1 / false_positives and wrong / resigned < false_positives:
                expected = threshold
        threshold = resign_threshold(games)
        assert threshold == pytest.approx(expected, abs=1e-9)
        for limit in (threshold, ceiling):
            assert check_threshold(games, limit) == plain_verdict(games, limit)
        found.add(threshold)
    assert len(found) > 1


def test_only_games_that_were_played_out_are_asked():
    free, bound = taught([4], np.eye(9)[[4]], ONGOING), taught([0], np.eye(9)[[0]], ONGOING)
    free = GameRecord(**{**vars(free), "pairing": Pairing(may_resign=True)})
    games = GameBatch.of(TIC_TAC_TOE, [free, bound, free, bound])
    assert [record.actions.tolist() for record in non_resigned_games(games)] == [[0], [0]]


# Games


class Pessimist(ScriptedPlayer):
    """Its best values fall with every move: 0, -0.1, -0.2 ..."""

    def take_decisions(self) -> Decisions:
        decisions = super().take_decisions()
        plies = self._states[decisions.slots, PLY]
        return decisions._replace(best_values=(-plies / 10).astype(np.float32))


@pytest.mark.parametrize(
    ("threshold", "moves", "outcome"), [(-0.25, 3, 1), (-0.35, 4, -1), (NEVER_RESIGN, 7, 1)]
)
def test_a_player_resigns_in_place_of_its_move_where_the_game_allows_it(
    threshold: float, moves: int, outcome: int
):
    pairings = [Pairing(pair_id=each, may_resign=each % 3 > 0) for each in range(12)]
    player = Pessimist(TIC_TAC_TOE, 5, first_legal)
    match = Match(TIC_TAC_TOE, [player], 5, iter(pairings))
    match.set_resignation(threshold)
    records = play_all(match)
    assert sorted(record.pairing.pair_id for record in records) == list(range(12))
    whole = [0, 1, 2, 3, 4, 5, 6]
    for record in records:
        assert record.resigned == (record.pairing.may_resign and moves < 7)
        expected = (whole[:moves], outcome) if record.resigned else (whole, 1)
        assert (record.actions.tolist(), record.outcome) == expected
        assert len(record.policies) == len(record.best_values) == len(record.actions)
    assert match.moves_made == 8 * moves + 4 * 7


# Self-play


def test_the_share_of_games_that_may_be_resigned_is_the_one_asked_for(tmp_path):
    games = "selfplay.games_per_iteration=400"
    config = tiny_config(
        tmp_path, games, "selfplay.resign_enabled_fraction=0.7", "selfplay.parallel_games=40"
    )
    uniform = UniformEvaluator(9)
    first = play_games(TIC_TAC_TOE, config, uniform, [1], resign_below=1.5)
    begun = [*first.finished, *first.unfinished]
    free = sum(record.pairing.may_resign for record in begun) / len(begun)
    # Games that are resigned at once make room for others: among all begun the share holds.
    assert free == pytest.approx(0.7, abs=4 * np.sqrt(0.21 / len(begun)))
    for record in first.finished:
        assert record.resigned == record.pairing.may_resign
        assert len(record.actions) == 0 or not record.resigned


@pytest.mark.integration
def test_a_run_learns_its_threshold_from_the_games_played_out_and_reports_it(tmp_path, monkeypatch):
    monkeypatch.setattr(resignation, "RESIGN_FALSE_POSITIVES", 1.0)
    monkeypatch.setattr(resignation, "RESIGN_THRESHOLD_MAX", 0.2)
    run = RunDirectory.create(tiny_config(tmp_path, "selfplay.resign_enabled_fraction=0.5"))
    training = Training(run, 1)
    for iteration in range(1, 5):
        run.state.iteration = iteration
        known = non_resigned_games(training.replay.games)
        games = training.play()
        assert training.resign_below == resign_threshold(known)
        metrics = measure_resignation(games.finished, training.resign_below)
        assert metrics["selfplay/resign_threshold"] == training.resign_below
        resigned = [record for record in games.finished if record.resigned]
        assert metrics["selfplay/resigned"] == len(resigned) / len(games.finished)
        whole = [record for record in games.finished if not record.pairing.may_resign]
        would, wrong = plain_verdict(whole, training.resign_below)
        expected = wrong / would if would else None
        assert metrics.get("selfplay/resign_false_positives") == expected
        training.store_games(games)
    assert training.resign_below > NEVER_RESIGN
    kinds = training.replay.games.resignations
    assert {PLAYED_OUT, RESIGNED} <= set(kinds.tolist())
    assert resigned
    played = PlayedGame.of(run.game, resigned[0], ("best", "best"))
    assert "player won by resignation," in played.describe()
