"""Breakthrough against a plain twin, and positions that are won when they are set up."""

import random

import numpy as np
import pytest

from alphazero.games import ONGOING
from alphazero.games.breakthrough import Breakthrough
from alphazero.games.game import OUTCOME

Square = tuple[int, int]
"""Column, and row from below."""


class Twin:
    """A board as a set of squares for each side."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        low = {(column, row) for column in range(columns) for row in (0, 1)}
        self.pieces = [low, {(column, rows - 1 - row) for column, row in low}]
        self.turn = 0

    def moves(self) -> dict[str, tuple[Square, Square]]:
        """Return the legal moves by their names."""
        own, other = self.pieces[self.turn], self.pieces[1 - self.turn]
        ends = [
            ((column, row), (column + side, row + 1 - 2 * self.turn))
            for column, row in sorted(own)
            for side in (-1, 0, 1)
        ]
        moves = [
            (source, target)
            for source, target in ends
            if 0 <= target[0] < self.columns
            and target not in own
            and (target not in other or target[0] != source[0])
        ]
        return {
            "".join(f"{'abcdefghijk'[column]}{row + 1}" for column, row in move): move
            for move in moves
        }

    def play(self, source: Square, target: Square) -> int | None:
        """Make a move; return who has won, or None."""
        mover, self.turn = self.turn, 1 - self.turn
        self.pieces[mover] = self.pieces[mover] - {source} | {target}
        self.pieces[self.turn] = self.pieces[self.turn] - {target}
        arrived = target[1] == (self.rows - 1) * self.turn
        return mover if arrived or not self.pieces[self.turn] else None


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (5, 5), (6, 4), (4, 2), (5, 11)])
def test_random_games_have_moves_and_results_of_a_plain_twin(rows: int, columns: int):
    game = Breakthrough(rows, columns)
    for seed in range(20):
        dice, twin = random.Random(seed), Twin(rows, columns)
        state, winner = game.initial_state(), None
        while winner is None:
            legal = np.flatnonzero(game.legal_action_mask(state)).tolist()
            names, moves = {game.move_name(state, action): action for action in legal}, twin.moves()
            assert names.keys() == moves.keys()
            assert state[OUTCOME] == ONGOING
            name = dice.choice(list(moves))
            assert game.parse_action(state, name) == names[name]
            state, winner = game.play(state, names[name]), twin.play(*moves[name])
        assert state[OUTCOME] == 1 - 2 * winner
        assert not game.legal_action_mask(state).any()


def test_a_position_that_is_won_when_it_is_set_up_has_its_outcome():
    game = Breakthrough(5, 5)
    for fen, outcome in (
        ("P4/4p/5/5/PPPPP b - - 0 5", 1),
        ("5/4p/5/5/p4 w - - 0 20", -1),
        ("5/5/5/5/P4 b - - 0 20", 1),
        ("5/P3p/5/5/P4 w - - 0 20", ONGOING),
    ):
        state = game.read_fen(fen)
        assert state[OUTCOME] == outcome
        assert game.write_fen(state) == fen
        assert (game.parse(game.render(state)) == state).all()
