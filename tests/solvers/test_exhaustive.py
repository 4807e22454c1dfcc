"""Exact answers against a plain minimax, and the grades that are made of them.

Letters: P positions, A actions, S state size.
"""

import functools

import numpy as np
import pytest
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE
from helpers.players import ScriptedPlayer

from alphazero.arena.grade import Grade, grade
from alphazero.errors import GameError
from alphazero.games import State, make_game
from alphazero.games.game import LAST, PLY
from alphazero.games.line_games import CELLS
from alphazero.players.base import Player
from alphazero.players.random_player import RandomPlayer
from alphazero.solvers.exhaustive import SolvedPositions, solve_all_positions

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@functools.cache
def plain_value(board: str) -> int:
    """Minimax on nine characters: +1, 0 or -1 for the player to move, X when stones are even."""
    mover, other = ("X", "O") if board.count("X") == board.count("O") else ("O", "X")
    if any(board[a] == board[b] == board[c] == other for a, b, c in LINES):
        return -1
    free = [cell for cell in range(9) if board[cell] == "."]
    return max((-plain_value(put(board, cell, mover)) for cell in free), default=0)


def put(board: str, cell: int, stone: str) -> str:
    return board[:cell] + stone + board[cell + 1 :]


def board_of(state: State) -> str:
    return "".join(".XO"[stone] for stone in state[CELLS:])


@pytest.fixture(scope="module")
def solution() -> SolvedPositions:
    return solve_all_positions(TIC_TAC_TOE)


# Exact answers


def test_tic_tac_toe_is_a_draw_and_its_first_position_comes_first(solution):
    assert solution.states[0].tolist() == TIC_TAC_TOE.initial_state().tolist()
    assert solution.values[0] == 0
    assert solution.optimal[0].all()  # every first move draws


def test_every_answer_is_that_of_a_plain_minimax(solution):
    for state, value, optimal in zip(
        solution.states, solution.values, solution.optimal, strict=True
    ):
        board = board_of(state)
        mover = "XO"[state[PLY] % 2]
        assert value == plain_value(board)
        expected = [
            board[cell] == "." and -plain_value(put(board, cell, mover)) == value
            for cell in range(9)
        ]
        assert optimal.tolist() == expected


def test_every_unfinished_position_is_there_once_for_each_last_move(solution):
    # Walked here by plain rules: the boards that plain_value met, and who moved last.
    reached, boards = {("." * 9, -1)}, ["." * 9]
    seen = set(boards)
    for board in boards:
        mover = "X" if board.count("X") == board.count("O") else "O"
        for cell in range(9):
            after = put(board, cell, mover)
            won = any(after[a] == after[b] == after[c] == mover for a, b, c in LINES)
            if board[cell] == "." and not won and "." in after:
                reached.add((after, cell))
                if after not in seen:
                    seen.add(after)
                    boards.append(after)
    found = [(board_of(state), int(state[LAST])) for state in solution.states]
    assert len(found) == len(set(found))
    assert set(found) == reached
    assert len(seen) == 4520  # 5478 boards, of which 958 are finished


def test_the_limit_may_be_reached_but_not_passed():
    game = make_game("mnk", rows=2, columns=2, length=2)
    count = len(solve_all_positions(game).states)
    assert len(solve_all_positions(game, limit=count).states) == count
    for other, limit in ((game, count - 1), (CONNECT_FOUR, 1_000)):
        with pytest.raises(GameError, match=f"{limit:,} positions") as caught:
            solve_all_positions(other, limit=limit)
        assert "\n" not in str(caught.value)


# Grades


def worth_of(action: int) -> np.ndarray:
    """Action values [1, 9] of a position in which `action` wins and all others lose."""
    values = np.full((1, 9), -1)
    values[0, action] = 1
    return values


def table_player(solution: SolvedPositions, slots: int, worst: bool = False) -> Player:
    """Answer from the exact table, some steps late; `worst` plays the first wrong move, if any."""
    answers = {
        state.tobytes(): (np.flatnonzero(optimal), value)
        for state, value, optimal in zip(
            solution.states, solution.values, solution.optimal, strict=True
        )
    }

    def rule(state: State) -> int:
        optimal, _ = answers[state.tobytes()]
        wrong = np.setdiff1d(np.flatnonzero(TIC_TAC_TOE.legal_action_mask(state)), optimal)
        return int(wrong[0] if worst and len(wrong) else optimal[-1])

    return ScriptedPlayer(
        TIC_TAC_TOE, slots, rule, lambda state: answers[state.tobytes()][1], lateness=3
    )


@pytest.mark.parametrize(
    ("num_games", "workers", "worst"), [(1, 1, False), (50, 2, True), (20_000, 3, True)]
)
def test_moves_are_graded_as_plain_minimax_has_them(
    solution, num_games: int, workers: int, worst: bool
):
    """Of a player that knows all answers, and of one that plays its first wrong move if any."""
    shown: list[int] = []
    result = grade(
        TIC_TAC_TOE,
        lambda num_games: table_player(solution, num_games, worst),
        solution,
        num_games,
        workers,
        shown.append,
    )
    mistakes, lost, count = 0, 0, len(solution.states)
    for state, value in zip(solution.states, solution.values, strict=True) if worst else ():
        board, mover = board_of(state), "XO"[state[PLY] % 2]
        free = [cell for cell in range(9) if board[cell] == "."]
        worth = [-plain_value(put(board, cell, mover)) for cell in free]
        wrong = [each for each in worth if each != value]
        mistakes += bool(wrong)
        lost += wrong[:1] == [-1]
    assert result == Grade(count, count - mistakes, lost, 0.0, result.first_mistake)
    perfect = (result.share == 1, result.first_mistake == "", lost <= 1000)
    assert perfect == (not worst, not worst, not worst)
    assert sum(shown) == count


def test_a_mistake_is_drawn_with_what_was_played_and_what_was_right(solution):
    state = TIC_TAC_TOE.parse("X X .\nO O .\n. . .")
    one = SolvedPositions(state[None], np.array([1]), worth_of(2))
    answers = SolvedPositions(state[None], np.array([1]), worth_of(8))
    result = grade(TIC_TAC_TOE, lambda num_games: table_player(answers, num_games), one)
    assert (result.positions, result.optimal) == (1, 0)
    assert result.first_mistake == f"{TIC_TAC_TOE.render(state)}\nplayed c1; optimal: c3"


def test_a_random_player_gets_the_share_that_chance_gives(solution):
    generators = iter(np.random.default_rng(4).spawn(20))
    chances = solution.optimal.sum(axis=1) / (solution.states[:, CELLS:] == 0).sum(axis=1)
    expected = chances.mean()
    deviation = np.sqrt((chances * (1 - chances)).sum()) / len(chances)
    results = [
        grade(
            TIC_TAC_TOE,
            lambda num_games: RandomPlayer(TIC_TAC_TOE, num_games, next(generators)),
            solution,
            500,
            workers,
        )
        for workers in (1, 2)
    ]
    for result in results:
        assert abs(result.share - expected) < 4 * deviation
        # It takes every position for even.
        assert result.value_error == pytest.approx(np.abs(solution.values).mean())
    assert results[0].optimal != results[1].optimal
    assert 4 * deviation < 0.02 < expected < 0.98
