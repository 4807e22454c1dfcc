"""What a match says about strength, and which of its games count."""

import math

import numpy as np
import pytest
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE
from helpers.matches import match, record

from alphazero.arena.bradley_terry import PairScore
from alphazero.arena.elo import (
    MatchResult,
    Result,
    count_distinct,
    elo_difference,
    match_result,
    pair_scores,
)
from alphazero.arena.openings import paired_openings
from alphazero.games import make_game
from alphazero.records.game_record import GameRecord, Pairing


def result_of(games: list[GameRecord]) -> MatchResult:
    return match_result(TIC_TAC_TOE, games)


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
        result = result_of([game])
        assert (result.wins, result.draws, result.losses) == counts


def test_the_score_counts_a_draw_half():
    result = result_of(match((1, 0), (0, -1), (1, 1), (0, 0)))
    assert (result.wins, result.draws, result.losses) == (3, 4, 1)
    assert result.games == 8
    assert result.score == 5 / 8
    # Half a point to each side: 5.5 of 9.
    assert result.elo == pytest.approx(400 * math.log10(5.5 / 3.5))


def test_the_result_turns_round_when_the_players_change_places():
    rng = np.random.default_rng(0)
    for _ in range(10):
        pairs = rng.integers(-1, 2, (int(rng.integers(1, 30)), 2)).tolist()
        result = result_of(match(*[(first, second) for first, second in pairs]))
        other = result_of(match(*[(-second, -first) for first, second in pairs]))
        assert (other.wins, other.draws, other.losses) == (result.losses, result.draws, result.wins)
        assert other.distinct == result.distinct
        assert other.elo == pytest.approx(-result.elo, abs=1e-3)
        assert other.elo_low == pytest.approx(-result.elo_high, abs=0.5)
        assert other.elo_high == pytest.approx(-result.elo_low, abs=0.5)


def test_a_hundred_games_of_which_two_are_distinct_say_as_much_as_two():
    once = [record(0, 1, 0, (1, 2)), record(1, 1, 0, (3,))]
    often = [record(side, 1, pair, [(1, 2), (3,)][side]) for pair in range(50) for side in (0, 1)]
    assert (result_of(often).games, result_of(often).distinct) == (100, 2)
    for name in ("elo", "elo_low", "elo_high"):
        assert getattr(result_of(often), name) == pytest.approx(getattr(result_of(once), name))


def test_a_pair_that_is_played_more_often_than_others_weighs_more_but_says_less():
    """The first pair is played three times: (3 + 1 + 1)^2 / (9 + 1 + 1) is 25/11 pairs."""
    games = [record(side, 1, pair, (7, side)) for pair in range(3) for side in (0, 1)]
    games += [record(side, -1, pair) for pair in (3, 4) for side in (0, 1)]
    first, *others = pair_scores(TIC_TAC_TOE, map(Result.of, games))
    assert first == ((0, 1), 1.0, pytest.approx(2 * 3 / 5 * 25 / 11))
    assert others == [((0, 1), 0.0, pytest.approx(2 * 1 / 5 * 25 / 11))] * 2


def test_pairs_of_other_players_are_other_pairs():
    results = [
        Result(Pairing(players, (), 0), (4,), 1) for players in ((0, 1), (1, 0), (2, 0), (0, 2))
    ]
    assert pair_scores(TIC_TAC_TOE, results) == [PairScore((0, 1), 0.5), PairScore((0, 2), 0.5)]


def test_games_are_distinct_by_the_positions_that_they_reach():
    """By who begins, by later moves, and by the position after the opening, however reached."""

    def distinct(*openings: tuple[int, ...]) -> int:
        results = [Result(Pairing((0, 1), opening), (5,), 1) for opening in openings]
        return count_distinct(CONNECT_FOUR, results)

    assert distinct((0, 1, 2), (2, 1, 0)) == 1
    assert distinct((0, 1, 2), (0, 2, 1)) == 2
    base = Result(Pairing((0, 1), (0, 1, 2)), (5,), 1)
    other = base._replace(pairing=Pairing((1, 0), (0, 1, 2)))
    assert count_distinct(CONNECT_FOUR, [base, other, base._replace(later_moves=(4,))]) == 3


def test_the_20_openings_of_a_gate_of_nim_are_six_positions():
    nim = make_game("nim")
    pairings = paired_openings(nim, 40, 4, np.random.default_rng([5, 1, 2]))
    results = [Result(pairing, (), 1) for pairing in pairings]
    left = {15 - sum(action + 1 for action in pairing.opening) for pairing in pairings}
    assert count_distinct(nim, results) == 2 * len(left)
    assert len({pairing.opening for pairing in pairings}) > len(left)
    pairs = pair_scores(nim, results)
    assert len(pairs) == len(left)
    assert sum(pair.games for pair in pairs) <= 2 * len(left) + 1e-9
