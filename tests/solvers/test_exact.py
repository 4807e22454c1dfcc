"""Exact answers against brute force.

The positions whose scores are written down here were found by the brute force.
"""

import numpy as np
import pytest
from helpers.games import random_states
from helpers.reference.brute_force import BruteForce, board_of, merit

from alphazero.errors import GameError
from alphazero.games import Game, State, make_game
from alphazero.games.connect_four import ConnectFour
from alphazero.games.line_games import LineGame
from alphazero.games.mnk import Mnk
from alphazero.solvers import exact
from alphazero.solvers.alphabeta import AlphaBeta
from alphazero.solvers.connect_four import BitboardSolver, fits
from alphazero.solvers.exact import VALUE, bits_of, solve_position, solver_for
from alphazero.solvers.exhaustive import solve_all_positions

ENOUGH = 10**9


def score_of(solver: BitboardSolver, game: ConnectFour, state: State) -> int:
    search = solver.score(*bits_of(game, state))
    while True:
        try:
            next(search)
        except StopIteration as done:
            return done.value


@pytest.mark.parametrize(
    ("game", "count", "least"),
    [
        (Mnk(), 80, 0),
        (Mnk(2, 5, 3), 20, 0),
        (ConnectFour(3, 4, 3), 20, 0),
        (ConnectFour(4, 4, 4), 30, 5),
        (ConnectFour(3, 5, 4), 30, 5),
        (ConnectFour(6, 3, 4), 20, 7),
        (ConnectFour(5, 5, 4), 20, 16),
        (ConnectFour(6, 7, 4), 20, 34),
        (ConnectFour(1, 9, 4), 40, 3),
        (ConnectFour(2, 7, 4), 40, 5),
        (ConnectFour(9, 2, 4), 40, 3),
        (ConnectFour(18, 3, 4), 40, 44),
    ],
    ids=str,
)
def test_answers_are_those_of_brute_force(game: LineGame, count: int, least: int):
    solver, values = solver_for(game), set()
    plain = BruteForce(game.rows, game.columns, game.length, isinstance(game, ConnectFour))
    for state in random_states(game, count, least):
        found = solve_position(solver, state, ENOUGH)
        moves = plain.moves(board_of(state))
        best = max(moves.values(), key=merit)
        assert (found.value, found.end) == best
        right = [action for action, outlook in moves.items() if merit(outlook) == merit(best)]
        assert np.flatnonzero(found.best).tolist() == right
        values.add(found.value)
    assert len(values) > 1 or min(game.rows, game.columns) < 3


SCORED = [
    ("1411643732717164174267257", 2),
    ("11642644136542517564371366", -1),
    ("132375345567765333475466114", -6),
    ("5136717544175277512274213", -2),
    ("22525736573536151365323427", 5),
]
"""Moves and Pons's score, for the player to move."""


@pytest.mark.parametrize(("moves", "score"), SCORED)
def test_known_positions_have_their_scores(moves: str, score: int):
    game = ConnectFour()
    state = game.from_moves(moves)
    assert score_of(BitboardSolver(6, 7), game, state) == score


def test_a_table_full_of_other_positions_changes_no_score():
    game = ConnectFour()
    states = random_states(game, 12, 20)
    worn = BitboardSolver(6, 7)
    first = [score_of(worn, game, state) for state in states]
    again = [score_of(worn, game, state) for state in reversed(states)][::-1]
    fresh = [score_of(BitboardSolver(6, 7), game, state) for state in states]
    assert first == again == fresh


@pytest.mark.parametrize(
    ("rows", "columns", "does"),
    [(6, 7, True), (7, 7, True), (1, 26, True), (18, 3, True), (7, 8, False), (26, 2, False)],
)
def test_a_board_fits_62_bits_or_has_the_generic_solver(rows: int, columns: int, does: bool):
    assert fits(rows, columns) == does
    kinds = {type(solver_for(ConnectFour(rows, columns))), type(solver_for(ConnectFour()))}
    assert (len(kinds) == 1) == does


def test_a_game_that_is_too_large_is_refused():
    game = make_game("gomoku", rows=8, columns=8)
    with pytest.raises(GameError, match=r"^too large to solve: 20,000 positions were not "):
        solve_position(solver_for(game), game.initial_state(), 20_000)
    four = ConnectFour()
    with pytest.raises(GameError, match=r"^too large to solve"):
        solve_position(solver_for(four), four.initial_state(), 20_000)


def test_a_solver_that_gave_up_answers_the_next_question_rightly():
    for game, state in (
        (ConnectFour(), random_states(ConnectFour(), 1, 20)[0]),
        (Mnk(4, 4, 4), random_states(Mnk(4, 4, 4), 1, 6)[0]),
    ):
        solver = solver_for(game)
        with pytest.raises(GameError):
            solve_position(solver, game.initial_state(), 10_000)
        after, fresh = (
            solve_position(solver, state, ENOUGH),
            solve_position(solver_for(game), state, ENOUGH),
        )
        assert (after.value, after.end) == (fresh.value, fresh.end)
        assert np.array_equal(after.best, fresh.best)


def test_the_end_of_a_game_needs_no_answer():
    game = ConnectFour()
    with pytest.raises(GameError, match="the game is over"):
        solve_position(solver_for(game), game.from_moves("1212121"), ENOUGH)


@pytest.fixture
def short_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the searches for a value so short that most need several of both kinds."""
    monkeypatch.setattr(exact, "SLICE", 5)
    monkeypatch.setattr(exact, "FIRST_TRY", 5)


@pytest.mark.usefixtures("short_searches")
@pytest.mark.parametrize(
    "game",
    [
        make_game("breakthrough", rows=4, columns=2),
        make_game("breakthrough", rows=5, columns=2),
        Mnk(),
        make_game("hex", size=3),
    ],
    ids=str,
)
def test_values_are_those_of_all_positions_of_a_small_game(game: Game):
    solution, solver = solve_all_positions(game), solver_for(game)
    rng = np.random.default_rng(4)
    for index in [0, *rng.choice(len(solution.states), 300)]:
        assert solver.value(solution.states[index]) == solution.values[index]


@pytest.mark.usefixtures("short_searches")
def test_values_in_breakthrough_are_those_of_deepening_and_of_the_reflection():
    game = make_game("breakthrough", rows=5, columns=5)
    solver, other, search = solver_for(game), solver_for(game), AlphaBeta(game)
    images, values = game.key_images()[1], set()
    for state in random_states(game, 50, 14):
        search.start(state, game.max_moves, VALUE)
        while not search.run(100_000):
            pass
        reflection = state.copy()
        reflection[-len(images) :] = state[images]
        value = solver.value(state)
        assert value == np.sign(search.score)
        assert value == other.value(reflection)
        values.add(value)
    assert values == {-1, 1}


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "columns", "value"), [(5, 4, -1), (5, 5, -1), (6, 3, 1)])
def test_breakthrough_has_its_known_values(rows: int, columns: int, value: int):
    game = make_game("breakthrough", rows=rows, columns=columns)
    assert solver_for(game).value(game.initial_state()) == value
