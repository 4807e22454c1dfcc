"""Positions of a game: exact ones beside exhaustive minimax and a solver, others by a search."""

import itertools

import numpy as np
import pytest
from helpers.frontends.terminal_client import Uniform
from helpers.games import CONNECT_FOUR, TIC_TAC_TOE, actions_in, random_actions
from helpers.players import saved_player

from alphazero.frontends.review.judgement import Evaluation, Judgement, review_moves
from alphazero.frontends.review.reviewer import Reviewer
from alphazero.games.game import ONGOING, to_play, value_of
from alphazero.games.registry import read_game
from alphazero.players.registry import parse_player
from alphazero.solvers.exact import action_values, solver_for
from alphazero.solvers.exhaustive import solve_all_positions

UNIFORM = Uniform("uniform")


def test_small_games_are_reviewed_as_exhaustive_minimax_sees_them():
    """A move is a blunder exactly where it changes the value, and no other bad move exists."""
    solved = solve_all_positions(TIC_TAC_TOE)
    values = {
        state.tobytes(): value for state, value in zip(solved.states, solved.values, strict=True)
    }
    blunders, reviewer = 0, Reviewer(UNIFORM, TIC_TAC_TOE)
    for seed in range(20):
        actions = random_actions(TIC_TAC_TOE, np.random.default_rng(seed))
        start = TIC_TAC_TOE.initial_state()
        states = list(itertools.accumulate(actions, TIC_TAC_TOE.play, initial=start))
        plies = reversed(range(len(states)))
        evaluations = [reviewer.evaluate(actions[:ply]) for ply in plies][::-1]
        review = review_moves(actions, evaluations)
        for ply, state in enumerate(states[:-1]):
            value, move = values[state.tobytes()], review.moves[ply]
            assert (evaluations[ply].value, evaluations[ply].is_exact) == (value, True)
            outcome = TIC_TAC_TOE.outcome(states[ply + 1])
            after = value_of(outcome, to_play(state))
            if outcome == ONGOING:
                after = -values[states[ply + 1].tobytes()]
            assert move is not None
            assert move.loss == 50 * (value - after)
            assert (move.judgement is Judgement.BLUNDER) == (after < value)
            assert move.judgement.is_bad == (after < value)
            blunders += after < value
    assert blunders > 20


def test_late_positions_of_connect_four_are_exact_and_early_ones_are_searched():
    actions = random_actions(CONNECT_FOUR, np.random.default_rng(2))
    assert len(actions) > 20
    solver = Reviewer(UNIFORM, CONNECT_FOUR)
    oracle = solver_for(CONNECT_FOUR)
    state = CONNECT_FOUR.play(CONNECT_FOUR.initial_state(), *actions[:-6])
    for action in [*actions[-6:], None]:
        result = solver.solve(state)
        assert result is not None
        if action is None:
            assert result == Evaluation(-1.0, is_exact=True)
            break
        values = action_values(CONNECT_FOUR, oracle, state)
        assert result.value == values.max()
        assert all(values[best] == result.value for best in result.best)
        end = CONNECT_FOUR.play(state, *result.line)
        if result.value and len(result.line) < 16:
            assert CONNECT_FOUR.outcome(end) == value_of(int(result.value), to_play(state))
            assert end[0] == result.end
        state = CONNECT_FOUR.play(state, action)


def test_a_position_that_takes_too_long_ends_the_solving_of_earlier_ones():
    solver = Reviewer(UNIFORM, read_game("hex:size=11"))
    state = solver.game.play(solver.game.initial_state(), 5, 17)
    before = solver._solver.nodes
    assert solver.solve(state) is None
    searched = solver._solver.nodes - before
    assert 0 < searched < 4 * solver._solver.default_node_limit / 50
    assert solver.solve(solver.game.initial_state()) is None
    assert solver._solver.nodes - before == searched


@pytest.mark.parametrize("solves", [False, True])
def test_a_search_evaluates_what_no_solver_knows_and_its_proofs_are_exact(solves: bool, tmp_path):
    path = saved_player(
        tmp_path / "some.safetensors", search={"simulations": 600, "mcts_solver": solves}
    )
    reviewer = Reviewer(parse_player(str(path)), TIC_TAC_TOE)
    reviewer.unsolved = TIC_TAC_TOE.max_moves  # as if it were too slow
    early = reviewer.evaluate([])
    assert not early.is_exact
    assert early.line[0] == early.best[0]
    assert early.choices == 9
    # X has two ways to win: O loses, which a small search sees to the end.
    late = reviewer.evaluate(actions_in(TIC_TAC_TOE, "a1 c3 c1 b1 a3"))
    assert late.is_exact == solves
    assert late.value == pytest.approx(-1.0, abs=0 if solves else 0.2)
