"""Self-play: carried-over games, random openings, and options that vary."""

import dataclasses
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE
from helpers.matches import as_text
from helpers.runs.records import GO
from helpers.runs.selfplay import make_config
from helpers.runs.tiny_run import tiny_config
from helpers.searches import HashedEvaluator, UniformEvaluator

from alphazero.config.schema import Config
from alphazero.diagnostics.forecast import simulations_a_move
from alphazero.games import ONGOING
from alphazero.mcts import network_search
from alphazero.mcts.evaluator import Evaluator
from alphazero.records.game_record import GameRecord
from alphazero.training import selfplay
from alphazero.training.selfplay import (
    SelfPlayResult,
    SelfPlayStats,
    make_selfplay_match,
    play_games,
)
from alphazero.utils.arrays import Float32Array


def self_play(config: Config, seed: Sequence[int] = (0,), workers: int = 1) -> SelfPlayResult:
    evaluator = HashedEvaluator(TIC_TAC_TOE)
    return play_games(TIC_TAC_TOE, config, evaluator, seed, (), workers)


def everything(games: SelfPlayResult) -> str:
    finished, unfinished = ([*map(as_text, each)] for each in games[:2])
    return repr((finished, unfinished, games.stats))


def test_a_fast_search_has_at_most_the_simulations_of_a_full_one(tmp_path):
    options = "search.simulations=5", "selfplay.fast_simulations=30"
    config = tiny_config(tmp_path, *options, "selfplay.full_search_probability=0.5")
    game, rng = TIC_TAC_TOE, np.random.default_rng(1)
    _, search = make_selfplay_match(game, config, UniformEvaluator(9), rng, 2)
    assert search.exploration.fast_simulations == simulations_a_move(config, 10) == 5


def test_shares_of_a_policy_that_teach_nothing_are_not_recorded(tmp_path):
    """Where one move is far better than the others, Gumbel search gives these next to nothing."""

    class Sure:
        def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
            logits = np.zeros((len(observations), 9), np.float32)
            logits[:, 4] = 30
            return logits, np.zeros(len(observations), np.float32)

    config = tiny_config(tmp_path, "search.selection=gumbel", "selfplay.full_search_probability=1")
    games = play_games(TIC_TAC_TOE, config, Sure(), [0], ())
    for game in games.finished:
        policies = game.policies
        assert policies.shares.min() >= 1e-8
        shares = np.split(policies.shares, np.cumsum(policies.counts)[:-1])
        assert all(abs(each.sum() - 1) < 1e-3 for each in shares if len(each))
        legal = np.arange(9, 9 - len(policies.counts), -1)
        assert (policies.counts < legal).any()


def labelled(records: Sequence[GameRecord]) -> list[GameRecord]:
    """The same games, numbered from 1 by their `pair_id`."""
    return [
        dataclasses.replace(record, pairing=dataclasses.replace(record.pairing, pair_id=label))
        for label, record in enumerate(records, 1)
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_self_play_is_settled_by_its_seed(workers: int):
    config = make_config()
    games = self_play(config, (3, 1), workers=workers)
    assert everything(self_play(config, (3, 1), workers=workers)) == everything(games)
    assert everything(self_play(config, (3, 2), workers=workers)) != everything(games)
    assert everything(self_play(config, (4, 1), workers=workers)) != everything(games)


def test_each_worker_of_self_play_draws_numbers_of_its_own():
    games = self_play(make_config(games_per_iteration=20), workers=2)
    texts = [str(record.policies.dense(9).tolist()) for record in games.finished]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize("workers", [1, 2])
def test_no_game_waits_for_ever(workers: int) -> None:
    evaluator = HashedEvaluator(TIC_TAC_TOE)
    config = make_config(games_per_iteration=1, parallel_games=9)
    carried = labelled(play_games(TIC_TAC_TOE, config, evaluator, (0,)).unfinished)
    lengths = {record.pairing.pair_id: len(record.actions) for record in carried}
    config = make_config(games_per_iteration=6, parallel_games=2)
    for iteration in range(12):
        games = play_games(TIC_TAC_TOE, config, evaluator, (1, iteration), carried, workers)
        carried = games.unfinished
        for record in [*games.finished, *carried]:
            if len(record.actions) > lengths.get(record.pairing.pair_id, 9):
                del lengths[record.pairing.pair_id]
    assert not lengths


@pytest.mark.parametrize(("workers", "goal", "parallel"), [(1, 10, 8), (2, 9, 7), (4, 2, 6)])
def test_games_under_way_are_carried_over_and_none_is_lost_or_counted_twice(
    workers: int, goal: int, parallel: int
):
    config = make_config(games_per_iteration=goal, parallel_games=parallel)
    carried: list[GameRecord] = []
    moves_before = 0
    for iteration in range(3):
        shown: list[int] = []
        games = play_games(
            TIC_TAC_TOE,
            config,
            HashedEvaluator(TIC_TAC_TOE, iteration),
            (0, iteration),
            carried,
            workers,
            shown.append,
        )
        everyone = [*games.finished, *games.unfinished]
        assert sum(shown) == len(games.finished) >= goal
        assert len(games.unfinished) == parallel
        assert all(record.outcome == ONGOING for record in games.unfinished)
        # The games that were carried over bear labels: each is there once, and goes on.
        found = {record.pairing.pair_id: record for record in everyone if record.pairing.pair_id}
        labels = Counter(record.pairing.pair_id for record in everyone)
        assert [labels[record.pairing.pair_id] for record in carried] == [1] * len(carried)
        for before in carried:
            after, length = found[before.pairing.pair_id], len(before.actions)
            assert after.actions[:length].tolist() == before.actions.tolist()
            assert after.policies.dense(9)[:length].tolist() == before.policies.dense(9).tolist()
            assert after.values[:length].tolist() == before.values.tolist()
        assert len(found) == len(carried)
        # Every move had its full search; a smaller sum means that moves are missing.
        moves = sum(len(record.actions) for record in everyone)
        searched = (moves - moves_before) * config.search.simulations
        assert searched <= games.stats.simulations < searched + parallel * config.search.simulations
        for record in games.finished:
            state = TIC_TAC_TOE.play(TIC_TAC_TOE.initial_state(), *record.actions.tolist())
            assert TIC_TAC_TOE.outcome(state) == record.outcome != ONGOING
        carried = labelled(games.unfinished)
        moves_before = sum(len(record.actions) for record in carried)
    assert moves_before > 0


# Random openings


def games_with(share: float, *options: str, evaluator: Evaluator | None = None) -> list[GameRecord]:
    config = tiny_config(
        Path(),
        "selfplay.games_per_iteration=200",
        f"selfplay.random_opening_probability={share}",
        "selfplay.random_opening_max_moves=4",
        "selfplay.dirichlet_fraction=0.0",
        *options,
    )
    return play_games(TIC_TAC_TOE, config, evaluator or UniformEvaluator(9), [1]).finished


def test_the_given_share_of_games_begins_with_random_moves_that_are_not_learned() -> None:
    lengths = []
    for record in games_with(0.5):
        searched = record.policies.searched
        opening = int(searched.argmax())
        assert searched[opening:].all()
        lengths.append(opening)
    counts = np.bincount(lengths, minlength=5)
    assert len(counts) == 5, "never more than four"
    # Of 200 games 100 +- 28 (four deviations) are asked to begin so, a fifth of them with none.
    assert 52 < counts[1:].sum() < 108
    assert (counts[1:] > 4).all()


class LikesCorners:
    """Values a position at 1 less a tenth for each corner that is taken, for player 0."""

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return equal logits [R, 9] and values [R]."""
        taken = observations[:, :2].any(axis=1).reshape(-1, 9)
        corners = taken[:, [0, 2, 6, 8]].sum(axis=1)
        to_play = 1 - 2 * (taken.sum(axis=1) % 2)
        return np.zeros((len(taken), 9), np.float32), (to_play - 0.1 * to_play * corners).astype(
            np.float32
        )


@pytest.mark.parametrize("choices", [1, 2, 8])
def test_of_several_random_openings_the_most_open_begins(choices: int) -> None:
    """The corners taken are the maximum of `choices` hypergeometric draws."""
    corners: list[list[int]] = [[] for _ in range(5)]
    option = f"selfplay.random_opening_candidates={choices}"
    for record in games_with(1.0, option, evaluator=LikesCorners()):
        opening = record.actions[: int(record.policies.searched.argmax())]
        corners[len(opening)].append(int(np.isin(opening, [0, 2, 6, 8]).sum()))
    for length, taken in enumerate(corners):
        # The length is drawn before, so that short openings, being open, do not crowd out others:
        # a fifth of 200 games each, +- 23 (four deviations).
        assert 17 < len(taken) < 63
        ways = [math.comb(4, many) * math.comb(5, length - many) for many in range(length + 1)]
        below = (np.cumsum(ways) / math.comb(9, length)) ** choices
        shares = np.diff(below, prepend=0.0)
        mean = shares @ np.arange(length + 1)
        deviation = math.sqrt(shares @ (np.arange(length + 1) - mean) ** 2 / len(taken))
        assert abs(np.mean(taken) - mean) <= 4 * deviation + 1e-9


# Options that vary


@pytest.mark.parametrize("opened", [0.0, 0.5])
@pytest.mark.parametrize("workers", [1, 2])
def test_every_game_has_a_komi_of_its_own_by_which_it_ends(workers: int, opened: float) -> None:
    config = make_config(
        games_per_iteration=30,
        varied_options={"komi_half_points": (-2, 4)},
        random_opening_probability=opened,
        random_opening_candidates=2,
    )
    games = play_games(GO, config, HashedEvaluator(GO), (4,), (), workers)
    drawn = Counter(record.pairing.options for record in games.finished)
    assert set(drawn) == {(komi,) for komi in range(-2, 5)}
    for record in games.finished:
        (komi,) = record.pairing.options
        game = record.variant(GO)
        state = game.play(game.initial_state(), *record.actions.tolist())
        assert (game.komi, game.outcome(state)) == (komi / 2, record.outcome)


def test_a_game_under_way_keeps_its_komi_and_whether_it_may_be_resigned() -> None:
    varied = {"komi_half_points": (-2, 4)}
    config = make_config(varied_options=varied, resign_enabled_fraction=0.5, parallel_games=12)
    before = play_games(GO, config, HashedEvaluator(GO), (1,)).unfinished
    carried = labelled(before)
    after = play_games(GO, config, HashedEvaluator(GO), (2,), carried)
    found = {each.pairing.pair_id: each for each in (*after.finished, *after.unfinished)}
    for record in carried:
        assert found[record.pairing.pair_id].pairing == record.pairing
    assert {record.pairing.may_resign for record in carried} == {False, True}


@pytest.mark.parametrize("choices", [1, 3, 200])
def test_every_position_asked_of_the_network_is_counted(choices: int) -> None:
    evaluator = UniformEvaluator(9)
    option = f"selfplay.random_opening_candidates={choices}"
    config = tiny_config(Path(), "selfplay.random_opening_probability=1", option)
    played = play_games(TIC_TAC_TOE, config, evaluator, [1])
    assert 0 < sum(evaluator.rows) == played.stats.evaluations <= played.stats.batch_capacity


# The search


def test_full_batches_wait_for_no_move() -> None:
    config = tiny_config(
        Path(),
        *("selfplay.parallel_games=64", "selfplay.games_per_iteration=500"),
        *("search.simulations=60", "search.evaluation_cache_mib=0"),
        *("selfplay.full_search_probability=0.5", "selfplay.fast_simulations=20"),
    )
    played = play_games(CONNECT_FOUR, config, UniformEvaluator(7), [1])
    assert played.stats.batch_fill > 0.99


def test_network_share_is_the_share_of_the_time_in_the_evaluator(tmp_path, monkeypatch):
    """On a clock that goes on by 3 at each evaluation, by 5 at each end of a game, else not."""
    spent = {"evaluating": 0, "else": 0}

    class Slow(UniformEvaluator):
        def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
            spent["evaluating"] += 3
            return super().evaluate(observations)

    def show(ended: int) -> None:
        spent["else"] += 5 * ended

    clock = SimpleNamespace(perf_counter=lambda: float(sum(spent.values())))
    for module in (network_search, selfplay):
        monkeypatch.setattr(module, "time", clock)
    stats = play_games(TIC_TAC_TOE, tiny_config(tmp_path), Slow(9), [0], show=show).stats
    assert spent["evaluating"] >= 3
    assert spent["else"] >= 30
    assert stats.seconds_evaluating == spent["evaluating"]
    assert stats.network_share == spent["evaluating"] / sum(spent.values())
    assert SelfPlayStats().network_share == 0
