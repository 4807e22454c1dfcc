"""Alpha-beta against a plain negamax that prunes nothing."""

import itertools

import numpy as np
import pytest
from helpers.games import random_states
from helpers.reference.rules import lines_of

from alphazero.games import ONGOING, Game, State, make_game, to_play, value_of
from alphazero.games.compiled_rules import HEURISTIC_SCALE
from alphazero.games.connect_four import ConnectFour
from alphazero.games.game import LAST, PLY
from alphazero.games.line_games import CELLS, LineGame
from alphazero.games.mnk import Mnk
from alphazero.games.nim import Nim
from alphazero.solvers.alphabeta import INFINITE, WON, AlphaBeta, begin, run

GAMES: list[Game] = [
    Mnk(),
    Mnk(rows=4, columns=4, length=3),
    Mnk(rows=3, columns=5, length=4),
    Mnk(rows=4, columns=4, length=4),
    ConnectFour(),
    ConnectFour(rows=4, columns=5, length=3),
    Nim(),
    Nim(heap=9, most=8),
]
every_game = pytest.mark.parametrize("game", GAMES, ids=str)


def legal_actions(game: Game, state: State) -> list[int]:
    return [int(action) for action in np.flatnonzero(game.legal_action_mask(state))]


SCORES: dict[tuple[Game, bytes, int], int] = {}


def plain_score(game: Game, state: State, depth: int) -> int:
    """Return a position's score by looking at everything up to `depth` plies ahead."""
    outcome, key = game.outcome(state), (game, np.delete(state, LAST).tobytes(), depth)
    if outcome != ONGOING:
        return value_of(outcome, to_play(state)) * (WON - int(state[PLY]))
    if depth == 0:
        return plain_heuristic(game, state)
    if key not in SCORES:
        children = [game.play(state, action) for action in legal_actions(game, state)]
        SCORES[key] = max(-plain_score(game, child, depth - 1) for child in children)
    return SCORES[key]


def plain_heuristic(game: Game, state: State) -> int:
    return plain_open_lines(game, state) if isinstance(game, LineGame) else 0


def plain_open_lines(game: LineGame, state: State) -> int:
    own, other = (1, 2) if state[PLY] % 2 == 0 else (2, 1)
    board, total = state[CELLS:].reshape(game.rows, game.columns), 0
    for line in lines_of(game.rows, game.columns, game.length):
        stones = [int(board[cell]) for cell in line]
        for stone, sign in ((own, 1), (other, -1)):
            if stone in stones and 3 - stone not in stones:
                total += sign * 4 ** (stones.count(stone) - 1)
    share = abs(total) * HEURISTIC_SCALE // (abs(total) + 100)
    return share if total >= 0 else -share


def searched(search: AlphaBeta, state: State, depth: int, **options: object) -> AlphaBeta:
    search.start(state, depth, **options)
    while not search.run(7):
        pass
    return search


@every_game
def test_the_heuristic_is_what_its_twin_says(game: Game):
    for state in random_states(game, 40):
        found = game.rule_functions.heuristic(state)
        assert found == plain_heuristic(game, state)
        assert -HEURISTIC_SCALE < found < HEURISTIC_SCALE


def test_a_depth_of_more_than_sixteen_bits_is_found_in_the_table():
    game = Nim(heap=9, most=8)
    search, bounds = AlphaBeta(game), (-INFINITE, INFINITE)
    search.start(game.initial_state(), 1)
    assert begin(game.rules, search._arrays, 40_000, *bounds)
    assert run(game.rules, search._arrays, 10**6)
    assert not begin(game.rules, search._arrays, 40_000, *bounds)


@pytest.mark.parametrize("entries", [2, 1 << 12])
@pytest.mark.parametrize("depth", [1, 2, 3])
@every_game
def test_it_finds_the_score_of_a_search_without_pruning(game: Game, depth: int, entries: int):
    """It ends before the depth where the answer is already exact."""
    for state in random_states(game, 5):
        search = searched(AlphaBeta(game, entries), state, depth)
        assert search.score == plain_score(game, state, search.depth)
        assert search.depth == depth or search.is_exact
        child = game.play(state, search.best_action())
        assert -plain_score(game, child, search.depth - 1) == search.score


@pytest.mark.parametrize(
    "game", [Mnk(), Mnk(2, 5, 3), ConnectFour(3, 4, 3), ConnectFour(4, 3, 3), Nim(11, 4)], ids=str
)
def test_a_search_to_the_end_is_exact_and_reports_how_soon(game: Game):
    seen = set()
    for state in random_states(game, 30):
        search = searched(AlphaBeta(game, 1 << 12), state, game.max_moves)
        assert search.is_exact
        left = game.max_moves - int(state[PLY])
        assert search.score == plain_score(game, state, left)
        seen.add(np.sign(search.score))
        child = game.play(state, search.best_action())
        assert -plain_score(game, child, left - 1) == search.score
    assert len(seen) > 1


@pytest.mark.parametrize(
    "window", [(-1, 1), (0, 1), (-WON, -HEURISTIC_SCALE), (HEURISTIC_SCALE, WON)]
)
def test_a_window_gives_the_score_or_a_bound_beyond_it(window: tuple[int, int]):
    game = Mnk()
    low, high = window
    for state in random_states(game, 20):
        true = searched(AlphaBeta(game), state, 9).score
        found = searched(AlphaBeta(game), state, 9, window=window).score
        assert (found <= low) == (true <= low)
        assert (found >= high) == (true >= high)
        if low < true < high:
            assert found == true


def test_what_it_finds_does_not_depend_on_searches_before_or_on_the_slices():
    game = ConnectFour()
    worn, states = AlphaBeta(game, 64), random_states(game, 12)
    for state in states:
        fresh = AlphaBeta(game, 64)
        fresh.start(state, 4)
        assert fresh.run(10**9)
        before = worn.nodes
        searched(worn, state, 4)
        assert (worn.score, worn.best_action()) == (fresh.score, fresh.best_action())
        assert worn.nodes - before == fresh.nodes


def test_the_preference_decides_between_moves_that_are_alike():
    game = Mnk()
    state = game.parse("X X .\nO O .\n. . .")
    for preference in itertools.islice(itertools.permutations(range(9)), 0, 300_000, 30_011):
        searched(search := AlphaBeta(game), state, 9, preference=np.array(preference))
        assert search.best_action() == 2, "there is one move that wins at once"
    rng = np.random.default_rng(2)
    corners, state = np.array([0, 2, 6, 8]), game.from_moves(["b2"])
    for _ in range(10):
        preference = rng.permutation(9)
        searched(search := AlphaBeta(game), state, 1, preference=preference)
        assert search.best_action() == corners[preference[corners].argmax()]


def test_it_can_be_asked_at_any_time_once_a_ply_is_done():
    game = make_game("gomoku")
    search = AlphaBeta(game)
    search.start(game.initial_state(), 9)
    while search.depth < 1:
        assert not search.run(50)
    for _ in range(40):
        assert not search.run(50)
        assert 0 <= search.best_action() < game.num_actions


def test_the_moves_asked_for_are_searched_in_the_order_of_the_depth_before():
    game = make_game("chess")
    state = game.read_fen("r3k3/8/8/3q4/8/8/8/R2QK3 w - - 0 1")
    names = ("a1b1", "e1f2", "a1a7", "d1e2", "d1c1", "d1d5")
    asked = [game.parse_action(state, name) for name in names]
    search = AlphaBeta(game)
    search.start(state, 4, root_actions=asked)
    for depth in (1, 2, 3):
        while search.depth < depth:
            assert not search.run(1)
        best = search.action
        while search._arrays.frames[0]["best_action"] < 0:
            search.run(1)
        assert search.best_action() == best, "the best of the depth before is searched first"


def test_pruning_and_the_table_save_most_of_the_work():
    """The tree of tic-tac-toe has 549,946 nodes."""
    game = Mnk()
    search = searched(AlphaBeta(game), game.initial_state(), 9)
    assert search.score == 0
    assert search.is_exact
    assert search.nodes < 6_000


def test_the_table_may_answer_every_depth_of_a_long_search():
    """On one point of Go only passes are legal, and the table knows the second one's draw."""
    game = make_game("go", rows=1, columns=1, komi_half_points=0, moves=2000)
    search = AlphaBeta(game)
    search.start(game.initial_state(), game.max_moves)
    assert search.run(10**6)
    search.start(game.play(game.initial_state(), 1), game.max_moves, (0, 1), keep=True)
    assert search.run(10**6)
    assert (search.score, search.is_exact) == (0, True)
