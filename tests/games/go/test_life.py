"""Unconditional life in Go, against positions whose life is known and against all attacks."""

import random

import numpy as np
import pytest
from helpers.reference.go import GoTwin, Stones, is_alive

from alphazero.games.game import PLY
from alphazero.games.go import features
from alphazero.games.go.game import Go
from alphazero.games.go.rules import stones_of


def alive_in(game: Go, diagram: str) -> list[str]:
    """Draw the unconditionally alive areas: X and O stones, b and w other cells of either."""
    drawings = []
    for turn in ("0 moves, X to play;", "1 moves, O to play;"):
        state = game.parse(f"{diagram}\n{turn}")
        areas = game.observe(state)[features.ALIVE_PLANES :][:2].reshape(2, -1)
        signs = [
            "bX"[stone == 1] if black else "wO"[stone == 2] if white else "."
            for stone, black, white in zip(
                stones_of(state).tolist(), *(areas if turn[0] == "0" else areas[::-1]), strict=True
            )
        ]
        text = "".join(signs)
        drawings.append([text[i : i + game.columns] for i in range(0, len(text), game.columns)])
    assert drawings[0] == drawings[1]
    return drawings[0]


LIFE = {
    "two eyes, one beside a stone cut off": ("X . X . .\n. X X X .\n. . . . .\n. . . . .", None),
    "two eyes in the corner": (
        ". X . X .\nX X X X .\n. . . . .\n. . . . .",
        ["bXbX.", "XXXX.", ".....", "....."],
    ),
    "one eye": (". X . . .\nX X . . .\n. . . . .\n. . . . .", None),
    "a false eye": (". X . X .\nX X O . X\n. O X X X\n. . . . .", None),
    "two chains that share two eyes": (". X . . .\nX . X . .\n. X X . .\n. . . . .", None),
    "an eye with an opponent's stone": (
        ". X O . X\nX X X X X\n. . . . .\n. . . . .",
        ["bXbbX", "XXXXX", ".....", "....."],
    ),
    "an eye whose middle is no liberty": (
        ". X . . . X\nX X . . . X\n. X X X X X\n. . . . . .\n. . . . . .",
        None,
    ),
    "an eye that begins the second word of a set": (
        ". . . . . . . . . . . .\n" * 2 + ". . . . . . . . X X X X\n. . . . . . . . X . X .",
        ["............"] * 2 + ["........XXXX", "........XbXb"],
    ),
    "White's": ("X . . . .\n. . . . .\n. O O O O\n. O . O .", [".....", ".....", ".OOOO", ".OwOw"]),
}


@pytest.mark.parametrize("name", LIFE)
def test_life_by_bensons_theorem(name: str):
    diagram, drawn = LIFE[name]
    rows = diagram.splitlines()
    game = Go(len(rows), len(rows[0].split()), features=1)
    assert alive_in(game, diagram) == (drawn or ["." * game.columns] * game.rows)


@pytest.mark.parametrize(
    ("diagram", "alive"),
    [
        (
            ". X . O . X\nX X O O . X\n. X X X X X\n. . . . . .\n. . . . . .",
            ["bXbbbX", "XXbbbX", ".XXXXX", "......", "......"],
        ),
        ("X . X O . X\nX X X X X .", ["XbXbbX", "XXXXXb"]),
    ],
    ids=["the middle of an eye", "a point away from one of two chains"],
)
def test_suicide_can_empty(diagram: str, alive: list[str]):
    assert alive_in(Go(len(alive), 6, features=1), diagram) == alive
    assert alive_in(Go(len(alive), 6, features=1, suicide=1), diagram) == ["......"] * len(alive)


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
def test_what_is_alive_cannot_be_captured_while_its_owner_passes(suicide: int):
    game, dice, compared = Go(3, 4, suicide=suicide, features=1, moves=60), random.Random(5), 0
    twin = GoTwin(Go(3, 4, 0, 0, suicide, moves=99))
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
