"""The sequential test: its ratio against a plain search, its errors by simulation."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from helpers.games import TIC_TAC_TOE
from helpers.results import match, record, swapped

from alphazero.arena.bradley_terry import PairScore
from alphazero.arena.contests import MIN_GAMES_BETWEEN_CHECKS, play_match, player_factory
from alphazero.arena.elo import expected_score, record_scores
from alphazero.arena.openings import paired_openings
from alphazero.arena.sprt import PAIR_SCORES, UNSEEN, Sprt, count_pairs
from alphazero.errors import AlphaZeroError
from alphazero.games import make_game
from alphazero.players.registry import parse_player
from alphazero.records.game_record import GameRecord


def likeliest(counts: Sequence[float], mean: float) -> float:
    """The greatest log-likelihood of any distribution with this mean, by climbing.

    The distribution is moved along the directions that keep its sum and its mean.
    """
    scores = np.array(PAIR_SCORES)
    low = np.full(5, 0.05)
    low[0 if mean < 0.5 else 4] += 0.75
    other = np.full(5, 0.05)
    other[2] += 0.75
    # A mix of two distributions, one on each side of the mean or at it.
    share = (mean - other @ scores) / (low @ scores - other @ scores)
    shares = share * low + (1 - share) * other
    free = np.linalg.svd(np.stack([np.ones(5), scores]))[2][2:]
    for _ in range(200):
        gradient = free @ (counts / shares)
        curvature = free @ np.diag(counts / shares**2) @ free.T
        step = np.linalg.solve(curvature, gradient) @ free
        while (shares + step <= 0).any():
            step /= 2
        shares = shares + step
    assert shares @ scores == pytest.approx(mean)
    return float(np.sum(counts * np.log(shares)))


@pytest.mark.parametrize(
    "counts", [(3, 8, 20, 11, 5), (1, 0, 7, 0, 2), (0, 0, 9, 0, 0), (0, 1, 2, 30, 9)]
)
@pytest.mark.parametrize("hypotheses", [(0, 5), (-10, 30), (0, 100)])
def test_the_ratio_is_that_of_the_likeliest_distributions_of_the_two_means(
    counts: tuple[int, ...], hypotheses: tuple[float, float]
):
    test = Sprt(*hypotheses)
    weights = np.array([count or UNSEEN for count in counts])
    under0, under1 = (likeliest(weights, expected_score(elo)) for elo in hypotheses)
    assert test.ratio(counts) == pytest.approx(under1 - under0, abs=1e-6)


def scores(records: Sequence[GameRecord]) -> list[PairScore]:
    return record_scores(TIC_TAC_TOE, records)


def test_pairs_are_counted_by_the_mean_of_their_scores():
    records = match((1, 1), (1, 0), (0, 0), (1, -1), (-1, 0), (-1, -1), (0, 1))
    assert count_pairs(scores(records)) == [1, 1, 2, 2, 1]
    assert count_pairs(scores(swapped(records))) == [1, 2, 2, 1, 1]
    assert Sprt(0, 5).ratio(count_pairs([])) == 0


def test_the_answer_turns_round_when_the_players_change_places():
    records = match(*[(1, 1)] * 30, *[(1, -1)] * 10)
    assert Sprt(0, 100).verdict(scores(records)) is True
    assert Sprt(0, 100).verdict(scores(swapped(records))) is False
    assert Sprt(0, 100).verdict(scores(records[:4])) is None
    description = Sprt(0, 100).describe(scores(records))
    assert description.startswith("sequential test of Elo +0 against +100: elo1 accepted; ")


def test_repeated_games_decide_nothing():
    repeated = [record(side, 1, pair, (side,)) for pair in range(200) for side in (0, 1)]
    assert Sprt(0, 100).verdict(scores(repeated)) is None


# How a pair scores, by how drawish and how dependent its games are: each is tilted to the mean.
SHAPES = {
    "sharp": (0.25, 0.0, 0.5, 0.0, 0.25),
    "drawish": (0.02, 0.2, 0.56, 0.2, 0.02),
    "openings decide": (0.05, 0.05, 0.8, 0.05, 0.05),
}


def tilted(shape: Sequence[float], mean: float) -> np.ndarray:
    """A distribution of pair scores like `shape`, but with this mean."""
    scores, low, high = np.array(PAIR_SCORES), -50.0, 50.0
    for _ in range(100):
        shares = np.array(shape) * np.exp((low + high) / 2 * scores)
        shares /= shares.sum()
        low, high = ((low + high) / 2, high) if shares @ scores < mean else (low, (low + high) / 2)
    return shares


def share_of_answers(test: Sprt, shares: np.ndarray, runs: int, seed: int) -> float:
    """How often the test, looking after every 8 pairs, accepts elo1."""
    rng = np.random.default_rng(seed)
    accepted = 0
    low, high = test.bounds
    for _ in range(runs):
        counts = np.zeros(5, np.int64)
        while low < (ratio := test.ratio(counts.tolist())) < high:
            counts += rng.multinomial(8, shares)
        accepted += ratio >= high
    return accepted / runs


@pytest.mark.parametrize(
    ("shape", "alpha", "beta"), [*((each, 0.05, 0.05) for each in SHAPES), ("drawish", 0.1, 0.02)]
)
def test_either_error_is_made_no_more_often_than_permitted(shape: str, alpha: float, beta: float):
    test = Sprt(0, 60, alpha, beta)
    wrong1 = share_of_answers(test, tilted(SHAPES[shape], expected_score(0)), 300, 1)
    wrong0 = 1 - share_of_answers(test, tilted(SHAPES[shape], expected_score(60)), 300, 2)
    # Three standard errors of a share of 300 lie between 0.02 (of 0.02) and 0.05 (of 0.1).
    for wrong, permitted in ((wrong1, alpha), (wrong0, beta)):
        assert wrong <= permitted + 3 * math.sqrt(permitted * (1 - permitted) / 300)
    assert wrong1 + wrong0 > 0, "a test that never errs plays too long"


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((5, 5), "elo0 below elo1"),
        ((float("nan"), 5), "elo0 below elo1"),
        ((0, 5000), "elo0 below elo1"),
        ((0, 5, 0.05, 0.5), "above 0 and below 0.5"),
    ],
)
def test_hypotheses_and_errors_that_make_no_test_are_refused(
    numbers: tuple[float, ...], message: str
):
    with pytest.raises(AlphaZeroError, match=message):
        Sprt(*numbers)


def test_a_match_ends_with_the_part_of_its_schedule_that_answers():
    game, player = make_game("tic_tac_toe"), parse_player("random")
    schedule = paired_openings(game, 200, 2, np.random.default_rng(1))
    certain = Sprt(-1000, -900)  # nobody is so weak: any few games show it
    for workers in (1, 2):
        make_players = player_factory(game, [player, player], np.random.default_rng(2))
        shown: list[int] = []
        result, records = play_match(
            game, make_players, schedule, workers=workers, sprt=certain, show=shown.append
        )
        assert result.verdict is True
        played = [record.pairing for record in records]
        assert played == schedule[: len(played)], "in the order of the schedule"
        assert len(played) == max(MIN_GAMES_BETWEEN_CHECKS, 200 // 8 // 2 * 2) == sum(shown)
        few = records[: MIN_GAMES_BETWEEN_CHECKS // 4]
        assert certain.verdict(scores(few)) is None, "else this test would show nothing"
