"""The winning lines of games, against runs that are read from the drawing."""

import re

import numpy as np
import pytest

from alphazero.games.game import ONGOING, Game
from alphazero.games.registry import read_game


def runs(game: Game, drawing: str, length: int) -> set[int]:
    """Return the cells of all runs of X or of O in the rows, columns and diagonals of a drawing."""
    _, rows, columns = game.observation_shape
    words = [[word for word in line.split() if word in "XO."] for line in drawing.split("\n")]
    board = np.array([line for line in words if len(line) == columns])
    cells = np.arange(rows * columns).reshape(rows, columns)
    lines = [*zip(board, cells, strict=True), *zip(board.T, cells.T, strict=True)]
    for shift in range(-rows, columns):
        for way in (1, -1):
            lines.append((board[:, ::way].diagonal(shift), cells[:, ::way].diagonal(shift)))
    found: set[int] = set()
    for line, places in lines:
        for run in re.finditer(rf"X{{{length},}}|O{{{length},}}", "".join(line)):
            found.update(places[run.start() : run.end()].tolist())
    return found


@pytest.mark.parametrize(
    ("name", "length"), [("tic_tac_toe", 3), ("connect_four", 4), ("mnk:rows=4,columns=5", 3)]
)
def test_the_winning_cells_are_the_runs_of_the_winner(name: str, length: int):
    game, rng, won = read_game(name), np.random.default_rng(0), 0
    for _ in range(40):
        state = game.initial_state()
        while game.outcome(state) == ONGOING:
            assert game.winning_cells(state) == ()
            actions = np.flatnonzero(game.legal_action_mask(state))
            state = game.play(state, int(rng.choice(actions)))
        drawing = game.render(state)
        assert {*game.winning_cells(state)} == runs(game, drawing, length), drawing
        won += bool(game.winning_cells(state))
    assert won > 20
