"""Exact answers against brute force, and the grades that are made of them."""

import numpy as np
import pytest
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE
from helpers.players import ScriptedPlayer
from helpers.reference.brute_force import BruteForce, board_of

from alphazero.arena.grade import Grade, collect_answers, grade_answers
from alphazero.errors import GameError
from alphazero.games import State, make_game
from alphazero.games.game import LAST
from alphazero.games.line_games import CELLS
from alphazero.players.base import Player
from alphazero.players.sequential_player import RandomPlayer
from alphazero.solvers.exhaustive import ILLEGAL, SolvedPositions, solve_all_positions

EMPTY = 9 * "."
PLAIN = BruteForce(3, 3, 3, falling=False)


@pytest.fixture(scope="module")
def solution() -> SolvedPositions:
    return solve_all_positions(TIC_TAC_TOE)


# Exact answers


def test_every_answer_is_that_of_brute_force(solution):
    assert solution.states[0].tolist() == TIC_TAC_TOE.initial_state().tolist()
    for state, value, values in zip(*solution, strict=True):
        moves = {cell: worth for cell, (worth, _) in PLAIN.moves(board_of(state)).items()}
        assert value == max(moves.values())
        assert values.tolist() == [moves.get(cell, ILLEGAL) for cell in range(9)]


def test_every_unfinished_position_is_there_once_for_each_last_move(solution):
    PLAIN.outlook(EMPTY)
    moves = {
        (PLAIN.after(board, cell), cell) for board in PLAIN.known for cell in PLAIN.landings(board)
    }
    reached = {(EMPTY, -1)} | {(board, cell) for board, cell in moves if board in PLAIN.known}
    found = [(board_of(state), int(state[LAST])) for state in solution.states]
    assert len(found) == len(set(found))
    assert set(found) == reached
    assert len(PLAIN.known) == 4520  # 5478 boards, of which 958 are finished


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
def test_moves_are_graded_as_brute_force_has_them(
    solution, num_games: int, workers: int, worst: bool
):
    """Of a player that knows all answers, and of one that plays its first wrong move if any."""
    shown: list[int] = []
    answers = collect_answers(
        lambda num_games: table_player(solution, num_games, worst),
        solution,
        num_games,
        workers,
        shown.append,
    )
    result = grade_answers(TIC_TAC_TOE, solution, answers)
    mistakes, lost, count = 0, 0, len(solution.states)
    for state, value in zip(solution.states, solution.values, strict=True) if worst else ():
        wrong = [each for each, _ in PLAIN.moves(board_of(state)).values() if each != value]
        mistakes += bool(wrong)
        lost += wrong[:1] == [-1]
    assert result == Grade(count, count - mistakes, lost, 0.0, result.first_mistake)
    perfect = (result.share == 1, result.first_mistake == "", lost <= 1000)
    assert perfect == (not worst, not worst, not worst)
    assert sum(shown) == count


def test_a_mistake_is_drawn_with_what_was_played_and_what_was_right(solution):
    state = TIC_TAC_TOE.parse("X X .\nO O .\n. . .")
    one = SolvedPositions(state[None], np.array([1]), worth_of(2))
    believed = SolvedPositions(state[None], np.array([1]), worth_of(8))
    answers = collect_answers(lambda num_games: table_player(believed, num_games), one)
    result = grade_answers(TIC_TAC_TOE, one, answers)
    assert (result.positions, result.optimal) == (1, 0)
    assert result.first_mistake == f"{TIC_TAC_TOE.render(state)}\nplayed c1; optimal: c3"


def test_a_random_player_gets_the_share_that_chance_gives(solution):
    generators = iter(np.random.default_rng(4).spawn(20))
    chances = solution.optimal.sum(axis=1) / (solution.states[:, CELLS:] == 0).sum(axis=1)
    expected = chances.mean()
    deviation = np.sqrt((chances * (1 - chances)).sum()) / len(chances)

    def make_player(num_games: int) -> Player:
        return RandomPlayer(TIC_TAC_TOE, num_games, next(generators))

    results = [
        grade_answers(TIC_TAC_TOE, solution, collect_answers(make_player, solution, 500, workers))
        for workers in (1, 2)
    ]
    for result in results:
        assert abs(result.share - expected) < 4 * deviation
        # It takes every position for even.
        assert result.value_error == pytest.approx(np.abs(solution.values).mean())
    assert results[0].optimal != results[1].optimal
    assert 4 * deviation < 0.02 < expected < 0.98
