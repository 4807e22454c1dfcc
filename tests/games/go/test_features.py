"""Go's further planes, against a plain twin."""

import itertools
import random

import numpy as np
import pytest
from helpers.reference.go import GoTwin, alive_area_of, liberties_of

from alphazero.games.game import ONGOING
from alphazero.games.go import features
from alphazero.games.go.game import Go

RULES = list(itertools.product((0, 1, 2), (0, 1)))
"""Every rule of ko with and without suicide."""


def seen_komi(points: float) -> float:
    """Return the value on the plane of komi for White."""
    return points / (10 + abs(points))


def expected_planes(twin: GoTwin) -> np.ndarray:
    """Return the planes [C, H, W] by the plain twin."""
    planes = np.zeros((features.NUM_PLANES, twin.rows, twin.columns), np.float32)
    stones, own, size = twin.stones, twin.player, (twin.rows, twin.columns)
    for cell, owner in stones.items():
        planes[0 if owner == own else 1][cell] = 1
        if (count := liberties_of(*size, stones, cell)) <= 3:
            planes[features.LIBERTY_PLANES + count - 1][cell] = 1
    for action in twin.points(forbidden=True):
        planes[features.KO_PLANE][divmod(action, twin.columns)] = 1
    for age, action in enumerate(reversed(twin.moves[-features.RECENT :])):
        if action != twin.passing and divmod(action, twin.columns) in twin.past[-1 - age]:
            planes[features.MOVE_PLANES + age][divmod(action, twin.columns)] = 1
    for place, player in enumerate((own, 1 - own)):
        for cell in alive_area_of(*size, stones, player, twin.suicide):
            planes[features.ALIVE_PLANES + place][cell] = 1
    planes[features.PASSED_PLANE] = twin.moves[-1:] == [twin.passing]
    planes[features.KOMI_PLANE] = (1 if own else -1) * seen_komi(twin.komi_half_points / 2)
    planes[features.MOVES_PLANE] = 1 - len(twin.moves) / twin.limit
    planes[features.BOARD_PLANE] = 1
    return planes


SMALL = [(1, 1), (1, 5), (2, 2), (2, 3), (3, 3), (4, 3)] * 2 + [(5, 5), (3, 19)]
"""Boards; the sets of points of the last one have more than a word of 64 bits."""
LARGE = [(3, 3)] * 12 + [(5, 4)] * 2 + [(9, 9), (3, 19)]


@pytest.mark.parametrize(
    ("boards", "longest"), [(SMALL, 60), pytest.param(LARGE, 150, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("superko", "suicide"), RULES)
def test_every_plane_agrees_with_the_plain_twin(
    superko: int, suicide: int, boards: list[tuple[int, int]], longest: int
):
    seen = np.zeros(features.NUM_PLANES)
    for seed, (rows, columns) in enumerate(boards):
        limit = min(8 * rows * columns, longest)
        game, dice = Go(rows, columns, 7 - seed, superko, suicide, limit, 1), random.Random(seed)
        twin, state = GoTwin(game), game.initial_state()
        while game.outcome(state) == ONGOING:
            planes = game.observe(state)
            np.testing.assert_allclose(planes, expected_planes(twin), atol=1e-6, err_msg=str(twin))
            seen += planes.any(axis=(1, 2))
            legal = np.flatnonzero(game.legal_action_mask(state)).tolist()
            action = dice.choice(legal[:-1] or legal) if dice.random() < 0.9 else legal[-1]
            twin.play(action)
            state = game.play(state, action)
    assert (seen > 0).all(), "some plane was always empty"


def test_a_position_without_earlier_ones_shows_no_last_move():
    game = Go(3, 3, features=1)
    planes = game.observe(game.parse("X X .\n. O O\n. . ."))
    assert not planes[features.MOVE_PLANES : features.MOVE_PLANES + features.RECENT].any()
