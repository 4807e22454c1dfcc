"""Ratings from games: against choix, against plain formulas, against simulated tournaments."""

import functools
import itertools
import math
from collections.abc import Sequence

import choix
import numpy as np
import pytest
from scipy.optimize import brentq

from alphazero.arena.bradley_terry import ELO, PairScore, fit
from alphazero.errors import PlayerError


def pairs_of(scores: Sequence[float], players: tuple[int, int] = (0, 1)) -> list[PairScore]:
    return [PairScore(players, float(score)) for score in scores]


def logistic(strength: float) -> float:
    return 1 / (1 + math.exp(-strength))


def log_likelihood(pairs: list[PairScore], strengths: np.ndarray, prior: float) -> float:
    """The logarithm of the chance of the games and of the virtual games, one after the other."""
    total = 0.0
    met = {frozenset(pair.players) for pair in pairs}
    virtual = [
        PairScore((i, j), 0.5, prior * sum(1 / sum(k in two for two in met) for k in (i, j)) / 2)
        for i, j in map(tuple, met)
    ]
    for (i, j), score, games in pairs + virtual:
        gap = strengths[i] - strengths[j]
        total += games * (score * math.log(logistic(gap)) + (1 - score) * math.log(logistic(-gap)))
    return total


def test_it_agrees_with_choix():
    rng = np.random.default_rng(1)
    players, games, pairs = 6, [], []
    strengths = rng.normal(0, 0.7, players)
    for i, j in itertools.combinations(range(players), 2):
        for _ in range(25):
            won = rng.random() < logistic(strengths[i] - strengths[j])
            games.append((i, j) if won else (j, i))
            pairs.append(PairScore((i, j), float(won), 1.0))
    other = choix.ilsr_pairwise(players, games, alpha=0.0)
    ratings = fit(players, pairs, anchor=2, prior=0.0)
    assert ratings.elo == pytest.approx(ELO * (other - other[2]), abs=1e-3)


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_nothing_near_the_ratings_is_likelier(prior: float):
    rng = np.random.default_rng(3)
    # Player 0 has met three others, player 3 only one.
    pairs = [
        pair
        for players in ((0, 1), (0, 2), (0, 3), (1, 2))
        for pair in pairs_of(rng.choice([0, 0.25, 0.5, 0.75, 1], 12), players)
    ]
    best = fit(4, pairs, anchor=1, prior=prior).elo / ELO
    for _ in range(60):
        other = best + rng.normal(0, 0.03, 4)
        assert log_likelihood(pairs, other, prior) < log_likelihood(pairs, best, prior)


@pytest.mark.parametrize(
    "counts",
    [
        (2, 0, 6, 0, 12),
        (0, 0, 0, 0, 20),
        (0, 0, 20, 0, 0),
        (0, 1, 3, 0, 1),
        (0, 0, 1, 0, 0),
        (0, 0, 0, 0, 1),
    ],
)
def test_an_interval_ends_where_the_scaled_likelihood_falls_by_the_square_of_students_t(
    counts: tuple[int, ...],
):
    """For two players all is a formula of the share p of points, half a point per side added."""
    scores = np.repeat([0, 0.25, 0.5, 0.75, 1], counts)
    games = 2 * len(scores) + 1
    share = (2 * scores.sum() + 0.5) / games
    assumed = games * share * (1 - share)
    # The virtual game is half of two pairs, one won and one lost.
    variance = ((2 * (scores - share)) ** 2).sum() + (1 - share) ** 2 + share**2
    freedom = len(scores) + 1
    deviance = variance / assumed * (1.96 + (1.96**3 + 1.96) / (4 * freedom)) ** 2

    def excess(strength: float) -> float:
        chance = logistic(strength)
        shares = (share, share / chance), (1 - share, (1 - share) / (1 - chance))
        return 2 * games * sum(p * math.log(ratio) for p, ratio in shares) - deviance

    ratings, middle = fit(2, pairs_of(scores), anchor=1), math.log(share / (1 - share))
    assert ratings.elo[0] == pytest.approx(ELO * middle, abs=1e-3)
    assert ratings.low[0] == pytest.approx(ELO * brentq(excess, -30, middle), abs=0.5)
    assert ratings.high[0] == pytest.approx(ELO * brentq(excess, middle, 30), abs=0.5)
    assert ratings.elo[1] == ratings.low[1] == ratings.high[1] == 0


def test_an_interval_whose_end_lies_too_far_away_is_open():
    """With a prior of 1/1000 game the likelihood hardly falls above the rating of a winner."""
    winner = fit(2, pairs_of([1]), anchor=1, prior=0.001)
    assert math.isfinite(winner.low[0])
    assert winner.high[0] == math.inf
    loser = fit(2, pairs_of([1]), anchor=0, prior=0.001)
    assert (loser.low[1], loser.high[1]) == (-math.inf, pytest.approx(-winner.low[0], abs=0.5))


def test_players_who_never_met_are_compared_over_others():
    chain = [PairScore((i, i + 1), 0.25) for i in range(5)]
    ratings = fit(6, chain, prior=0.0)
    assert ratings.elo == pytest.approx([i * ELO * math.log(3) for i in range(6)], abs=1e-3)
    with pytest.raises(PlayerError, match="not linked"):
        fit(6, chain[:2] + chain[3:])


# How pairs score: the share of pairs decided by their opening, one game won and one lost, the share
# of pairs whose games end alike, and the share of draws among the shorter side's points.
WORLDS = {
    "sharp": (0.0, 0.0, 0.0),
    "drawish": (0.0, 0.0, 0.6),
    "openings decide": (0.5, 0.0, 0.0),
    "openings suit one player": (0.0, 0.4, 0.0),
}


def simulate(chance: float, pairs: int, world: str, rng: np.random.Generator) -> np.ndarray:
    """Return the scores [pairs] of a player who makes `chance` of the points."""
    decided, alike, drawish = WORLDS[world]
    free = 0.5 + (chance - 0.5) / (1 - decided)
    draws = 2 * drawish * min(free, 1 - free)
    wins = free - draws / 2
    games = rng.choice([1.0, 0.5, 0.0], (pairs, 2), p=[wins, draws, 1 - wins - draws])
    twins = rng.random(pairs) < alike
    games[twins, 1] = games[twins, 0]
    scores: np.ndarray = np.where(rng.random(pairs) < decided, 0.5, games.mean(axis=1))
    return scores


@functools.cache
def interval(counts: tuple[int, ...]) -> tuple[float, float]:
    """Return the interval of a match with these numbers of pairs of score 0, 1/4, ..., 1."""
    ratings = fit(2, pairs_of(np.repeat([0, 0.25, 0.5, 0.75, 1], counts)), anchor=1)
    return float(ratings.low[0]), float(ratings.high[0])


@pytest.mark.parametrize("pairs", [5, 20, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("world", WORLDS)
def test_the_interval_of_a_match_misses_the_truth_in_5_of_100_at_every_strength(
    world: str, pairs: int
):
    rng, matches = np.random.default_rng(pairs), 400
    for chance in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98):
        if world == "openings decide" and (chance > 0.7 or pairs == 5):
            continue  # half of the pairs are even: no player makes more than 3/4 of the points
        truth = ELO * math.log(chance / (1 - chance))
        misses = np.zeros(2)
        for _ in range(matches):
            scores = simulate(chance, pairs, world, rng)
            low, high = interval(tuple(np.bincount((4 * scores).astype(int), minlength=5)))
            misses += truth < low, truth > high
        # The standard error of a share of 5 % is 1.1 %.
        assert misses.sum() / matches < 0.085, chance
        assert misses.max() / matches < 0.07, chance
        assert misses.sum() > 0 or pairs == 5 or chance > 0.7, "the interval is too wide"


def test_the_intervals_of_a_tournament_cover_the_truth_about_95_times_in_100():
    truth = np.array([0.0, 0.4, -0.6, 1.2, 2.5])
    rng, covered, total = np.random.default_rng(7), np.zeros(5), 50
    for _ in range(total):
        pairs = [
            pair
            for i, j in itertools.combinations(range(5), 2)
            for pair in pairs_of(simulate(logistic(truth[i] - truth[j]), 8, "sharp", rng), (i, j))
        ]
        ratings = fit(5, pairs)
        covered += (ratings.low <= ELO * truth) & (ELO * truth <= ratings.high)
    assert covered[0] == total, "the anchor is where it is"
    # The standard error of the share of 200, which are not quite independent, is some 2 %.
    assert 0.9 <= covered[1:].sum() / (4 * total) <= 0.99
