"""Random openings, played once in each colour."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from helpers.games import TIC_TAC_TOE

from alphazero.arena.openings import paired_openings, random_opening
from alphazero.games import ONGOING, make_game


@pytest.mark.parametrize("moves", [0, 1, 4, 7])
def test_paired_openings_are_legal_unfinished_and_played_once_in_each_colour(moves: int):
    rng = np.random.default_rng(moves)
    pairings = paired_openings(TIC_TAC_TOE, 60, moves, rng)
    assert len(pairings) == 60
    for pair in range(30):
        first, second = pairings[2 * pair : 2 * pair + 2]
        assert (first.players, second.players) == ((0, 1), (1, 0))
        assert first.opening == second.opening
        assert first.pair_id == second.pair_id == pair
        state = TIC_TAC_TOE.play(TIC_TAC_TOE.initial_state(), *first.opening)
        assert TIC_TAC_TOE.outcome(state) == ONGOING
        assert len(first.opening) <= moves
    if moves == 4:  # no game of tic-tac-toe ends so soon
        assert {len(pairing.opening) for pairing in pairings} == {4}
        assert len({pairing.opening for pairing in pairings}) > 20


TINY_FOUR = make_game("connect_four", rows=2, columns=3, length=3)


def test_every_opening_of_legal_moves_is_drawn_equally_often():
    rng, draws = np.random.default_rng(3), 6000
    drawn = Counter(random_opening(TINY_FOUR, 4, rng) for _ in range(draws))
    # 2 x 3 cells: a column is full after two stones, so some moves have two legal answers.
    chances = {
        line: math.prod(1 / len({0, 1, 2} - full_before(line, move)) for move in range(4))
        for line in itertools.product(range(3), repeat=4)
        if max(Counter(line).values()) <= 2
    }
    assert sum(chances.values()) == pytest.approx(1)
    assert drawn.keys() == chances.keys()
    squares = sum((drawn[line] - draws * p) ** 2 / (draws * p) for line, p in chances.items())
    assert squares < len(chances) + 4 * math.sqrt(2 * len(chances))


def full_before(line: tuple[int, ...], move: int) -> set[int]:
    """Return the columns that hold two stones before a move of the line."""
    return {column for column, stones in Counter(line[:move]).items() if stones == 2}


def test_an_opening_longer_than_every_game_becomes_shorter():
    line = make_game("mnk", rows=1, columns=2, length=2)
    opening = random_opening(line, 50, np.random.default_rng(0))
    assert opening in {(0,), (1,)}
