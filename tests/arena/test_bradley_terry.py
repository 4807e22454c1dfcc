"""Ratings from games: against choix, against plain climbing, against simulated tournaments."""

import math

import choix
import numpy as np
import pytest
from helpers.results import match
from scipy.optimize import brentq

from alphazero.arena.bradley_terry import ELO, Ratings, fit
from alphazero.arena.elo import match_result
from alphazero.errors import PlayerError

Counts = np.ndarray


def chances(gap: float, tie: float) -> np.ndarray:
    """The model as its paper writes it, with strengths e^r: loss, draw, win of the first."""
    first, second = math.exp(gap), 1.0
    weights = np.array([second, tie * math.sqrt(first * second), first])
    return weights / weights.sum()


def simulate(
    strengths: list[float], games: int, advantage: float, tie: float, rng: np.random.Generator
) -> Counts:
    """Every two players meet in `games` games with either moving first."""
    players = len(strengths)
    counts = np.zeros((players, players, 3), np.int64)
    for i in range(players):
        for j in range(players):
            if i != j:
                shares = chances(strengths[i] - strengths[j] + advantage, tie)
                counts[i, j] = rng.multinomial(games, shares)
    return counts


def log_likelihood(
    counts: Counts, strengths: np.ndarray, advantage: float, tie: float, prior: float
) -> float:
    """The logarithm of the games' chance, and of the imagined games', one game after the other."""
    total = 0.0
    met = (counts + counts.transpose(1, 0, 2)).sum(axis=2) > 0
    for i, j in np.argwhere(met):
        loss, draw, win = chances(strengths[i] - strengths[j] + advantage, tie)
        shares = math.log(loss), math.log(draw) if tie else 0.0, math.log(win)
        total += float(counts[i, j] @ shares)
        imagined = prior * (1 / met[i].sum() + 1 / met[j].sum()) / 2
        total += imagined / 4 * (shares[0] + shares[2])
    return total


def test_without_draws_and_advantage_it_agrees_with_choix() -> None:
    rng = np.random.default_rng(1)
    players, games = 6, []
    counts = np.zeros((players, players, 3), np.int64)
    strengths = rng.normal(0, 0.7, players)
    for i in range(players):
        for j in range(i):
            for _ in range(25):
                won = rng.random() < 1 / (1 + math.exp(strengths[j] - strengths[i]))
                games.append((i, j) if won else (j, i))
                # Each game twice, colours swapped: so moving first is worth nothing.
                counts[i, j, 2 if won else 0] += 1
                counts[j, i, 0 if won else 2] += 1
    other = choix.ilsr_pairwise(players, games, alpha=0.0)
    found = fit(counts, anchor=2, prior=0.0)
    assert found.elo == pytest.approx(ELO * (other - other[2]), abs=1e-3)
    assert found.advantage == pytest.approx(0, abs=1e-6)
    assert found.draws == 0
    again = choix.opt_pairwise(players, games, method="BFGS")
    assert found.elo == pytest.approx(ELO * (again - again[2]), abs=0.05)


@pytest.mark.parametrize("prior", [0.0, 1.0])
def test_nothing_near_the_ratings_is_likelier(prior: float) -> None:
    rng = np.random.default_rng(3)
    counts = simulate([0.0, 0.8, -0.5, 1.4], 12, 0.4, 0.9, rng)
    found = fit(counts, anchor=1, prior=prior)
    tie = 2 * found.draws / (1 - found.draws)
    where = np.array([*found.elo, found.advantage]) / ELO

    def at(where: np.ndarray, tie: float) -> float:
        return log_likelihood(counts, where[:-1], float(where[-1]), tie, prior)

    best = at(where, tie)
    for _ in range(60):
        step = rng.normal(0, 0.03, len(where))
        assert at(where + step, tie * math.exp(rng.normal(0, 0.03))) < best


def test_the_ends_of_an_interval_are_where_the_best_of_the_rest_is_as_much_less_likely() -> None:
    counts = simulate([0.0, 0.5], 10, 0.0, 0.0, np.random.default_rng(2))
    found = fit(counts)
    assert found.elo[0] == found.low[0] == found.high[0] == 0

    def profile(strength: float) -> float:
        """Over all advantages, the only other parameter here."""
        where = np.array([0.0, strength])
        return max(log_likelihood(counts, where, a, 0.0, 1.0) for a in np.linspace(-2, 2, 1001))

    peak = profile(found.elo[1] / ELO)
    for end in (found.low[1], found.high[1]):
        assert 2 * (peak - profile(end / ELO)) == pytest.approx(3.8415, abs=0.02)


def test_for_two_players_without_draws_it_is_the_elo_of_the_match() -> None:
    games = match((1, 1), (1, -1), (-1, 1), (1, 1), (1, -1), (-1, 1))
    counts = np.zeros((2, 2, 3), np.int64)
    for record in games:
        counts[(*record.pairing.players, record.outcome + 1)] += 1
    assert fit(counts, anchor=1).elo[0] == pytest.approx(match_result(games).elo, abs=0.5)


def test_a_player_who_won_every_game_is_rated_finitely_and_its_interval_is_wider_above() -> None:
    counts = np.zeros((2, 2, 3), np.int64)
    counts[0, 1, 2] = counts[1, 0, 0] = 10
    found = fit(counts, anchor=1)
    # Half a point to each side: 20.5 to 0.5.
    assert found.elo[0] == pytest.approx(400 * math.log10(41), abs=1)
    assert 0 < found.low[0] < found.elo[0] < found.high[0] < 7000
    assert found.high[0] - found.elo[0] > found.elo[0] - found.low[0]


def test_an_interval_whose_end_lies_too_far_away_is_open() -> None:
    """Two games, both won, and a prior of 1/100 game on each side of the likelihood:

    L(r) = 2.005 log s(r) + 0.005 log s(-r), with the logistic function s. By symmetry moving first
    is worth nothing at any r. The greatest L is where s(r) = 2.005 / 2.01, that is r = ln 401. Far
    above, L falls by 0.005 a unit: the upper end would be near r = 391, or 68,000 Elo.
    """

    def likelihood(strength: float) -> float:
        return -2.005 * math.log1p(math.exp(-strength)) - 0.005 * math.log1p(math.exp(strength))

    counts = np.zeros((2, 2, 3), np.int64)
    counts[0, 1, 2] = counts[1, 0, 0] = 1
    found = fit(counts, anchor=1, prior=0.01)
    peak = math.log(401)
    assert found.elo[0] == pytest.approx(ELO * peak, abs=0.1)
    end = brentq(lambda r: 2 * (likelihood(peak) - likelihood(r)) - 3.8415, -5, peak)
    assert found.low[0] == pytest.approx(ELO * end, abs=0.5)
    assert found.high[0] == math.inf
    assert 2 * (likelihood(peak) - likelihood(peak + 80)) < 3.8415
    loser = fit(counts, anchor=0, prior=0.01)
    assert (loser.low[1], loser.high[1]) == (-math.inf, pytest.approx(-found.low[0], abs=0.5))


def test_players_who_never_met_are_compared_over_a_third() -> None:
    counts = np.zeros((3, 3, 3), np.int64)
    counts[0, 1] = counts[1, 2] = (3, 0, 9)
    counts[1, 0] = counts[2, 1] = (9, 0, 3)
    found = fit(counts, prior=0.0)
    assert found.elo == pytest.approx([0, -ELO * math.log(3), -2 * ELO * math.log(3)], abs=1e-3)
    with pytest.raises(PlayerError, match="not linked"):
        fit(counts * np.array([1, 1, 0])[:, None, None] * np.array([1, 1, 0])[None, :, None])


@pytest.mark.parametrize(("tie", "advantage"), [(0.0, 0.0), (1.0, 0.5)])
def test_the_intervals_cover_the_truth_about_95_times_in_100(tie: float, advantage: float) -> None:
    truth = [0.0, 0.4, -0.6, 1.2]
    rng, covered, total = np.random.default_rng(7), np.zeros(4), 60
    found: list[Ratings] = []
    for _ in range(total):
        found.append(fit(simulate(truth, 10, advantage, tie, rng)))
        elo = ELO * np.array(truth)
        covered += (found[-1].low <= elo) & (elo <= found[-1].high)
    assert covered[0] == total, "the anchor is where it is"
    # The standard error of the share of 180, which are not quite independent, is some 2 %.
    assert 0.88 <= covered[1:].sum() / (3 * total) <= 0.995
    assert np.mean([each.advantage for each in found]) == pytest.approx(ELO * advantage, abs=16)
    assert np.mean([each.draws for each in found]) == pytest.approx(tie / (2 + tie), abs=0.03)
