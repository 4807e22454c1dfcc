"""Judgements and accuracies, with figures computed by hand."""

import math

import pytest

from alphazero.frontends.review.judgement import (
    Evaluation,
    Judgement,
    judgement_of,
    move_accuracy,
    move_weights,
    review_moves,
    side_accuracy,
)


@pytest.mark.parametrize(
    ("name", "losses", "sign"),
    [
        ("good", (0.0, 4.9), ""),
        ("inaccuracy", (5.0, 9.9), "?!"),
        ("mistake", (10.0, 14.9), "?"),
        ("blunder", (15.0, 100.0), "??"),
    ],
)
def test_the_loss_judges_a_move(name: str, losses: tuple[float, ...], sign: str):
    judgement = Judgement(name)
    assert {judgement_of(loss) for loss in losses} == {judgement}
    assert (judgement.sign, judgement.is_bad) == (sign, bool(sign))


@pytest.mark.parametrize(
    ("loss", "accuracy"),
    # 103.1668 e^(-0.04354 loss) - 3.1669, with e^-0.4354 = 0.64701, e^-1.0885 = 0.33672,
    # e^-2.177 = 0.11338, e^-4.354 = 0.01286; the last is below 0.
    [(0, 99.9999), (10, 63.583), (25, 31.571), (50, 8.530), (100, 0.0)],
)
def test_the_accuracy_of_a_move_falls_with_its_loss(loss: float, accuracy: float):
    assert move_accuracy(loss) == pytest.approx(accuracy, abs=0.02)


def test_the_accuracy_of_a_side_is_the_mean_of_two_means():
    # weighted (3 * 100 + 1 * 50) / 4 = 87.5; harmonic 2 / (1/100 + 1/50) = 66.667
    assert side_accuracy([100, 50], [3, 1]) == pytest.approx((87.5 + 200 / 3) / 2)
    # A worthless move counts as 1 % in the harmonic mean: 2 / (1/100 + 1) = 1.980.
    assert side_accuracy([100, 0], [1, 1]) == pytest.approx((50 + 200 / 101) / 2)


def test_a_move_weighs_as_much_as_the_chances_change_around_it():
    # Few moves: windows of two positions, whose deviation is half of their difference.
    assert move_weights([50, 50, 60, 100, 100]) == [0.5, 5.0, 12.0, 0.5]
    # 40 moves: windows of four positions; the last holds 50, 50, 50 and 90.
    weights = move_weights([50.0] * 40 + [90.0])
    assert weights[:-1] == [0.5] * 39
    assert weights[-1] == 12.0
    assert move_weights([50.0] * 40 + [54.0])[-1] == pytest.approx(4 * math.sqrt(3) / 4)


def test_a_whole_review_has_the_figures_computed_by_hand():
    # Chances of player 0: 60, 50, 55, 55. Player 0 loses 10, then 0; player 1 loses 5.
    evaluations = [
        Evaluation(0.2, best=(1,), line=(1,), choices=5),
        Evaluation(0.0, best=(2,), line=(2,), choices=4),
        Evaluation(0.1, best=(3,), line=(3,), choices=3),
        Evaluation(-0.1, is_exact=True),
    ]
    review = review_moves([0, 0, 3], evaluations)
    assert review.chances == pytest.approx((60, 50, 55, 55))
    assert [move and move.judgement for move in review.moves] == [
        Judgement.MISTAKE,
        Judgement.INACCURACY,
        Judgement.BEST,
    ]
    assert [move.loss for move in review.moves if move] == pytest.approx([10, 5, 0])
    # Weights 5, 2.5 and 0.5; accuracies 63.583 and 99.9999:
    # weighted (5 * 63.583 + 0.5 * 99.9999) / 5.5 = 66.894; harmonic 77.737.
    assert review.accuracies[0] == pytest.approx((66.894 + 77.737) / 2, abs=0.02)
    assert review.accuracies[1] == pytest.approx(move_accuracy(5), abs=1e-6)
    assert review.count(0, Judgement.MISTAKE) == 1
    assert review.count(1, Judgement.MISTAKE) == 0


def test_moves_of_the_opening_are_not_judged():
    evaluations = [Evaluation(0.2, best=(1,), choices=5), *[Evaluation(0.0, choices=4)] * 3]
    review = review_moves([0, 0, 3], evaluations, unchosen=1)
    assert [move is None for move in review.moves] == [True, False, False]
    assert review.chances == pytest.approx((60, 50, 50, 50))
    assert review.accuracies[0] == pytest.approx(100, abs=0.01)
    assert review.count(0, Judgement.MISTAKE) == 0


def test_forced_moves_do_not_count_and_unknown_positions_are_left_out():
    evaluations = [
        Evaluation(0.0, best=(0,), line=(0,), choices=1),
        Evaluation(0.0, best=(0,), line=(0,), choices=3),
        None,
        Evaluation(0.0, is_exact=True),
    ]
    review = review_moves([0, 1, 0], evaluations)
    assert review.moves[0] is not None
    assert review.moves[0].is_forced
    assert review.moves[1:] == (None, None)
    assert review.accuracies == (None, None)
    assert review.chances == (50, 50, None, 50)
