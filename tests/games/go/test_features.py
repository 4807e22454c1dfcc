"""Go's further planes, against a plain twin and against positions whose life is known."""

import itertools
import random

import numpy as np
import pytest
from helpers.reference_go import GoTwin, Stones, alive_area_of, is_alive, liberties_of

from alphazero.games.game import ONGOING, PLY
from alphazero.games.go import features
from alphazero.games.go.game import Go
from alphazero.games.go.rules import stones_of

RULES = list(itertools.product((0, 1, 2), (0, 1)))
"""Every rule of ko with and without suicide."""


def seen_komi(points: float) -> float:
    """Return the value on the plane of komi for White."""
    return points / (10 + abs(points))


def expected_planes(twin: GoTwin) -> np.ndarray:
    """Return the planes [C, H, W] by the plain twin."""
    planes = np.zeros((features.NUM_PLANES, twin.rows, twin.columns), np.float32)
    stones, own, size = twin.past[-1], len(twin.moves) % 2, (twin.rows, twin.columns)
    for cell, owner in stones.items():
        planes[0 if owner == own else 1][cell] = 1
        if (count := liberties_of(*size, stones, cell)) <= 3:
            planes[features.LIBERTY_PLANES + count - 1][cell] = 1
    for action in twin.forbidden_by_ko():
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


def check_planes(game: Go, seed: int) -> np.ndarray:
    """Compare the planes of every position of a random game; return how often each was seen."""
    twin = GoTwin(
        game.rows, game.columns, game.komi_half_points, game.superko, game.suicide, game.max_moves
    )
    state, dice, seen = game.initial_state(), random.Random(seed), np.zeros(features.NUM_PLANES)
    while game.outcome(state) == ONGOING:
        planes = game.observe(state)
        np.testing.assert_allclose(planes, expected_planes(twin), atol=1e-6, err_msg=str(twin))
        seen += planes.any(axis=(1, 2))
        legal = np.flatnonzero(game.legal_action_mask(state)).tolist()
        action = dice.choice(legal[:-1] or legal) if dice.random() < 0.9 else legal[-1]
        twin.play(action)
        state = game.play(state, action)
    return seen


@pytest.mark.parametrize(("superko", "suicide"), RULES)
def test_every_plane_agrees_with_the_plain_twin(superko: int, suicide: int) -> None:
    seen = np.zeros(features.NUM_PLANES)
    for seed, (rows, columns) in enumerate([(1, 1), (1, 5), (2, 2), (2, 3), (3, 3), (4, 3)] * 2):
        game = Go(rows, columns, 7 - seed, superko, suicide, min(8 * rows * columns, 60), 1)
        seen += check_planes(game, seed)
    seen += check_planes(Go(5, 5, 0, superko, suicide, features=1), 1)
    assert (seen > 0).all(), "some plane was always empty"


@pytest.mark.slow
@pytest.mark.parametrize(("superko", "suicide"), RULES)
@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (5, 4), (9, 9), (3, 19)])
def test_every_plane_agrees_with_the_plain_twin_in_many_games(
    rows: int, columns: int, superko: int, suicide: int
) -> None:
    game = Go(rows, columns, 13, superko, suicide, min(8 * rows * columns, 150), 1)
    for seed in range(max(1, 1000 // (rows * columns) ** 2)):
        check_planes(game, seed)


def alive_in(game: Go, diagram: str) -> list[str]:
    """Draw the unconditionally alive areas: X and O stones, b and w other cells of either."""
    drawings = []
    for turn in ("0 moves, X to play;", "1 moves, O to play;"):
        state = game.parse(f"{diagram}\n{turn}")
        first = features.ALIVE_PLANES
        areas = game.observe(state)[first : first + 2].reshape(2, -1)
        signs = [
            ("X" if stone == 1 else "b")
            if black
            else ("O" if stone == 2 else "w")
            if white
            else "."
            for stone, black, white in zip(
                stones_of(state), *(areas if turn[0] == "0" else areas[::-1]), strict=True
            )
        ]
        text = "".join(signs)
        drawings.append([text[i : i + game.columns] for i in range(0, len(text), game.columns)])
    assert drawings[0] == drawings[1]
    return drawings[0]


LIFE = {
    "two eyes, one beside a stone cut off": (
        "X . X . .\n. X X X .\n. . . . .\n. . . . .",
        None,
    ),
    "two eyes in the corner": (
        ". X . X .\nX X X X .\n. . . . .\n. . . . .",
        ["bXbX.", "XXXX.", ".....", "....."],
    ),
    "one eye": (". X . . .\nX X . . .\n. . . . .\n. . . . .", None),
    "a false eye": (". X . X .\nX X O . X\n. O X X X\n. . . . .", None),
    "two chains that share two eyes": (
        ". X . . .\nX . X . .\n. X X . .\n. . . . .",
        None,
    ),
    "an eye with an opponent's stone": (
        ". X O . X\nX X X X X\n. . . . .\n. . . . .",
        ["bXbbX", "XXXXX", ".....", "....."],
    ),
    "an eye whose middle is no liberty": (
        ". X . . . X\nX X . . . X\n. X X X X X\n. . . . . .\n. . . . . .",
        None,
    ),
    "White's": (
        "X . . . .\n. . . . .\n. O O O O\n. O . O .",
        [".....", ".....", ".OOOO", ".OwOw"],
    ),
}


@pytest.mark.parametrize("name", LIFE)
def test_life_by_bensons_theorem(name: str) -> None:
    diagram, drawn = LIFE[name]
    rows = diagram.splitlines()
    game = Go(len(rows), len(rows[0].split()), features=1)
    assert alive_in(game, diagram) == (drawn or ["." * game.columns] * game.rows)


def test_suicide_can_empty_the_middle_of_an_eye() -> None:
    diagram = ". X . O . X\nX X O O . X\n. X X X X X\n. . . . . .\n. . . . . ."
    alive = ["bXbbbX", "XXbbbX", ".XXXXX", "......", "......"]
    assert alive_in(Go(5, 6, features=1), diagram) == alive
    assert alive_in(Go(5, 6, features=1, suicide=1), diagram) == ["......"] * 5


def reachable(twin: GoTwin, stones: Stones, attacker: int, enough: int) -> list[Stones]:
    """Return boards that `attacker` reaches while the other player passes."""
    found, seen = [stones], {frozenset(stones.items())}
    for board in found:
        twin.past, twin.moves = [board], [twin.passing] * attacker
        for action in range(twin.passing):
            cell = divmod(action, twin.columns)
            after = twin.board_after(action) if cell not in board else {}
            if after and (cell in after or twin.suicide) and frozenset(after.items()) not in seen:
                seen.add(frozenset(after.items()))
                found.append(after)
        if len(found) > enough:
            break
    return found


@pytest.mark.parametrize("suicide", [0, 1])
def test_what_is_alive_cannot_be_captured_while_its_owner_passes(suicide: int) -> None:
    game, dice, compared = Go(3, 4, suicide=suicide, features=1, moves=60), random.Random(5), 0
    twin = GoTwin(3, 4, 0, 0, suicide, 99)
    while compared < 12:
        state = game.initial_state()
        for _ in range(dice.randrange(8, 40)):
            legal = np.flatnonzero(game.legal_action_mask(state))[:-1]
            if len(legal):
                state = game.play(state, int(dice.choice(legal)))
        stones = {divmod(i, 4): int(c) - 1 for i, c in enumerate(stones_of(state)) if c}
        for player, plane in ((0, int(state[PLY]) % 2), (1, 1 - int(state[PLY]) % 2)):
            alive = game.observe(state)[features.ALIVE_PLANES + plane]
            if alive.any() and not alive.all():
                compared += 1
                for board in reachable(twin, stones, 1 - player, 400):
                    assert all(
                        board.get(cell) == player and is_alive(3, 4, board, cell)
                        for cell, owner in stones.items()
                        if owner == player and alive[cell]
                    )


def test_komi_is_that_of_the_player_to_move_and_bounded() -> None:
    for komi, seen in ((15, 7.5 / 17.5), (-4, -2 / 12), (200, 100 / 110), (0, 0)):
        game = Go(5, 5, komi_half_points=komi, features=1)
        first = game.initial_state()
        assert np.allclose(game.observe(first)[features.KOMI_PLANE], -seen)
        assert np.allclose(game.observe(game.play(first, 3))[features.KOMI_PLANE], seen)


def test_a_position_without_earlier_ones_shows_no_last_move() -> None:
    game = Go(3, 3, features=1)
    planes = game.observe(game.parse("X X .\n. O O\n. . ."))
    assert not planes[features.MOVE_PLANES : features.MOVE_PLANES + features.RECENT].any()
