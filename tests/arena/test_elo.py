"""What a match says about strength, against hand-computed numbers and simulated matches."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from helpers.results import match, record, swapped

from alphazero.arena.elo import elo_difference, match_result
from alphazero.records.game_record import GameRecord


@pytest.mark.parametrize(
    ("score", "elo"),
    [(0.5, 0.0), (10 / 11, 400.0), (1 / 11, -400.0), (100 / 101, 800.0), (0.75, 190.8485)],
)
def test_elo_is_the_logistic_of_the_score(score: float, elo: float):
    assert elo_difference(score) == pytest.approx(elo, abs=1e-3)


def test_wins_and_losses_are_those_of_the_first_player_on_both_sides():
    cases = [
        (record(0, 1, 0), (1, 0, 0), 1),
        (record(1, 1, 0), (1, 0, 0), -1),
        (record(0, -1, 0), (0, 0, 1), -1),
        (record(1, -1, 0), (0, 0, 1), 1),
        (record(0, 0, 0), (0, 1, 0), 0),
        (record(1, 0, 0), (0, 1, 0), 0),
    ]
    for game, counts, outcome in cases:
        assert game.outcome == outcome
        result = match_result([game])
        assert (result.wins, result.draws, result.losses) == counts


def test_the_score_counts_a_draw_half():
    result = match_result(match((1, 0), (0, -1), (1, 1), (0, 0)))
    assert (result.wins, result.draws, result.losses) == (3, 4, 1)
    assert result.games == 8
    assert result.score == 5 / 8
    # Half a point to each side: 5.5 of 9.
    assert result.elo == pytest.approx(400 * math.log10(5.5 / 3.5))


def test_games_are_distinct_by_their_moves_and_by_who_began():
    same = [record(0, 1, 0, (1, 2)), record(1, 1, 0, (1, 2)), record(0, 1, 1, (1, 2))]
    other = [record(0, 1, 2, (1, 3)), record(1, -1, 2, (1,))]
    assert match_result(same).distinct == 2
    assert match_result([*same, *other]).distinct == 4


@pytest.mark.parametrize("pairs", [1, 2, 20, 500])
@pytest.mark.parametrize("value", [1, 0, -1])
def test_a_match_that_always_ends_alike_has_a_finite_interval(pairs: int, value: int):
    result = match_result(match(*[(value, value)] * pairs))
    figures = result.elo_low, result.elo, result.elo_high
    assert all(math.isfinite(figure) for figure in figures)
    assert figures == tuple(sorted(figures))
    assert result.elo_low < result.elo_high
    assert np.sign(result.elo) == value


def test_the_result_turns_round_when_the_players_change_places():
    rng = np.random.default_rng(0)
    for _ in range(50):
        pairs = rng.integers(-1, 2, (int(rng.integers(1, 30)), 2))
        games = match(*[tuple(map(int, pair)) for pair in pairs])
        result, other = match_result(games), match_result(swapped(games))
        assert (other.wins, other.draws, other.losses) == (result.losses, result.draws, result.wins)
        assert other.distinct == result.distinct
        assert other.elo == pytest.approx(-result.elo)
        assert other.elo_low == pytest.approx(-result.elo_high)
        assert other.elo_high == pytest.approx(-result.elo_low)


def test_pairs_that_always_cancel_say_more_than_games_without_pairs():
    def width(games: Sequence[GameRecord]) -> float:
        return match_result(games).elo_high - match_result(games).elo_low

    cancelling = match(*[(1, -1), (-1, 1)] * 10)
    agreeing = match(*[(1, 1), (-1, -1)] * 10)
    assert match_result(cancelling).score == match_result(agreeing).score
    assert width(cancelling) < 0.5 * width(agreeing)


# How a pair goes: the chances of player 0's values (+1, 0, -1) in each game, and how often the
# opening alone decides both games, for the one who begins or for the other.
WORLDS = {
    "even and sharp": ((0.5, 0.0, 0.5), 0.0),
    "even and drawish": ((0.2, 0.6, 0.2), 0.0),
    "stronger": ((0.6, 0.1, 0.3), 0.0),
    "much stronger": ((0.8, 0.1, 0.1), 0.0),
    "stronger, openings decide": ((0.7, 0.0, 0.3), 0.6),
}


def coverage(world: str, games: int, matches: int) -> float:
    """How often, in simulated matches, the interval holds the true difference."""
    chances, decided = WORLDS[world]
    won = chances[0] + chances[1] / 2
    truth = elo_difference(decided * 0.5 + (1 - decided) * won)
    rng = np.random.default_rng(games)
    covered = 0
    for _ in range(matches):
        pairs = rng.choice([1, 0, -1], (games // 2, 2), p=chances)
        begins = rng.choice([1, -1], games // 2)
        settled = rng.random(games // 2) < decided
        pairs[settled] = np.stack([begins, -begins], axis=1)[settled]
        result = match_result(match(*map(tuple, pairs.tolist())))
        covered += result.elo_low <= truth <= result.elo_high
    return covered / matches


@pytest.mark.parametrize(("games", "matches"), [(40, 1_500), (200, 500)])
@pytest.mark.parametrize("world", WORLDS)
def test_the_interval_covers_the_truth_about_95_times_in_100(world: str, games: int, matches: int):
    # The standard error of the share is 0.6 % with 1,500 matches, 1 % with 500.
    assert 0.93 <= coverage(world, games, matches) <= 0.99


@pytest.mark.parametrize("world", ["even and sharp", "stronger"])
def test_the_interval_is_wide_enough_for_a_match_of_ten_games(world: str):
    # Without Student's correction it would cover 90 % and 88 %.
    assert 0.93 <= coverage(world, 10, 3_000) <= 0.995
