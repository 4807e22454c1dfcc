"""Searches without a network against their plain twin, minimax and hand-computed numbers.

Letters: G slots, n some of them, A actions.
"""

import math

import numpy as np
import pytest
from helpers.games import CONNECT_FOUR, GAMES, TIC_TAC_TOE
from helpers.reference.rollouts import PlainRollouts, RolloutNode
from helpers.searches import (
    FIRST,
    exact_value,
    finish,
    guard_new_trees,
    random_position,
    search_from,
    statistics,
)

from alphazero.arena.contests import parallel_games_for
from alphazero.arena.match import DEFAULT_PARALLEL_GAMES
from alphazero.games import ONGOING, Game, State, make_game, to_play
from alphazero.games.compiled_rules import Signature
from alphazero.games.game import OUTCOME, Mask
from alphazero.games.line_games import place_stone
from alphazero.games.mnk import Mnk
from alphazero.mcts import rollout_search
from alphazero.mcts.kernels.selection_rules import UNLIMITED
from alphazero.mcts.rollout_methods import METHODS, RolloutConfig
from alphazero.mcts.rollout_search import RolloutSearch, final_actions
from alphazero.players.registry import parse_player
from alphazero.utils.arrays import Int64Array
from alphazero.utils.jit import kernel

METHOD_GAMES = ["tic_tac_toe", "mnk 4x4x3", "connect_four 4x5x3"]


def searching(game: Game, state: State, *, seed: int = 0, **settings: object) -> RolloutSearch:
    """Return a search that was asked about one position."""
    config = RolloutConfig(**settings)  # type: ignore[arg-type]
    search = RolloutSearch(game, config, rng=np.random.default_rng(seed))
    search.reset(FIRST, state[None])
    search.begin_search(FIRST)
    return search


# The plain twin


def assert_same_tree(search: RolloutSearch, twin: PlainRollouts) -> None:
    """Compare two trees node by node, from their roots."""
    trees = search.trees
    nodes: list[tuple[int, RolloutNode]] = [(0, twin.root)]
    for index, node in nodes:
        first, count = trees.nodes["first_edge"][0, index], trees.nodes["edge_count"][0, index]
        edges = trees.edges[0, first : first + count]
        assert edges["action"].tolist() == node.actions
        for edge in edges:
            child = node.children.get(int(edge["action"]))
            assert edge["visits"] == (child.visits if child else 0)
            if child:
                assert edge["value_sum"] / child.visits == child.mean(to_play(node.state))
                if edge["child"] >= 0:
                    nodes.append((int(edge["child"]), child))
    assert trees.slots["num_nodes"][0] == len(nodes)
    assert trees.slots["random"][0] == twin.random.state
    player, root = to_play(twin.root.state), twin.root
    assert statistics(search).values[0] == pytest.approx(root.mean(player))


@pytest.mark.parametrize("name", METHOD_GAMES)
@pytest.mark.parametrize("method", METHODS)
def test_games_are_searched_as_by_the_plain_twin(name: str, method: str):
    game, rng = GAMES[name], np.random.default_rng(1)
    for seed, constant in enumerate((math.sqrt(0.5), 0.1, 1.0)):
        settings = RolloutConfig(method=method, exploration=constant)
        search = RolloutSearch(game, settings, rng=np.random.default_rng(seed))
        twin = PlainRollouts(
            game,
            int(search.trees.slots["random"][0]),
            2 * constant,
            method == "flat_mc",
            1 if method.startswith("flat") else 99,
        )
        state = random_position(game, seed, rng)
        search.reset(FIRST, state[None])
        fresh = True
        while game.outcome(state) == ONGOING:
            simulations = int(rng.integers(1, 120))
            search.begin_search(FIRST, simulations)
            finish(search)
            if fresh:
                twin.start(state)
            twin.search(simulations)
            assert_same_tree(search, twin)
            assert twin.root.visits > simulations
            action = int(statistics(search).move_policies[0].argmax())
            state = game.play(state, action)
            search.advance(FIRST, np.array([action]))
            fresh = method != "uct"
            if not fresh and game.outcome(state) == ONGOING:
                twin.follow(action)


# Selection


def test_flat_monte_carlo_estimates_what_random_games_bring():
    """Against every random game counted out, on a position with five empty cells."""
    state = TIC_TAC_TOE.parse("X . O\nO X .\n. . .")

    def mean(state: State) -> float:
        """The expected outcome of random play, for player 0."""
        outcome = TIC_TAC_TOE.outcome(state)
        if outcome != ONGOING:
            return float(outcome)
        actions = np.flatnonzero(TIC_TAC_TOE.legal_action_mask(state))
        return float(np.mean([mean(TIC_TAC_TOE.play(state, int(action))) for action in actions]))

    roots = finish(searching(TIC_TAC_TOE, state, method="flat_mc", simulations=40_000))
    sign = 1 - 2 * to_play(state)
    for action in np.flatnonzero(TIC_TAC_TOE.legal_action_mask(state)):
        expected = sign * mean(TIC_TAC_TOE.play(state, int(action)))
        # Four standard deviations, where one rollout's is at most 1.
        assert roots.action_values[0, action] == pytest.approx(expected, abs=0.04)


# Minimax


@pytest.mark.parametrize(
    ("size", "length", "empty"), [(3, 3, 9), (3, 3, 6), (4, 3, 8), (4, 4, 8), (5, 4, 7)]
)
def test_uct_converges_to_minimax(size: int, length: int, empty: int):
    """The root's value comes closer as simulations grow, and its choice becomes optimal."""
    game = make_game("mnk", rows=size, columns=size, length=length)
    rng, known = np.random.default_rng(empty), dict[bytes, int]()
    errors = []
    for seed in range(4 if empty < size * size else 1):
        state = random_position(game, size * size - empty, rng)
        truth = exact_value(game, state, known)
        search = searching(game, state, seed=seed, simulations=300_000)
        search.begin_search(FIRST, 200)
        early = abs(finish(search).values[0] - truth)
        search.begin_search(FIRST)
        roots = finish(search)
        errors.append((early, abs(roots.values[0] - truth)))
        action = int(roots.move_policies[0].argmax())
        assert -exact_value(game, game.play(state, action), known) == truth
    early, late = np.mean(errors, axis=0)
    assert late < max(early / 2, 0.02)
    assert late < 0.1


# The final move


@pytest.mark.parametrize("method", ["flat_mc", "uct"])
def test_a_search_plays_the_move_of_its_final_rule(method: str):
    state = CONNECT_FOUR.initial_state()
    for seed in range(20):
        roots = finish(searching(CONNECT_FOUR, state, seed=seed, simulations=150, method=method))
        if method == "uct":
            assert np.allclose(roots.move_policies, roots.visits / 150)
        else:
            expected = final_actions(roots.visits, roots.action_values)
            assert roots.move_policies.argmax(axis=1) == expected
            assert roots.move_policies.sum() == 1
        assert np.allclose(roots.policy_targets, roots.visits / roots.visits.sum())


def test_the_final_move_has_the_highest_value():
    visits = np.array([[100, 81, 4, 0], [4, 5, 5, 0]])
    # The second row: as high a value, then the visits, then the first.
    values = np.array([[0.10, 0.21, 0.50, np.nan], [0.1, 0.1, 0.1, np.nan]])
    assert final_actions(visits, values).tolist() == [2, 1]


# Budgets


@kernel(Signature.play)
def play_on(state: State, action: int) -> None:
    """Put a stone down and let no game end."""
    place_stone(state, action, action)
    state[OUTCOME] = ONGOING


@kernel(Signature.legal)
def anywhere(state: State, mask: Mask) -> int:
    """Let every cell be played again and again."""
    mask[:] = True
    return len(mask)


class EndlessMnk(Mnk):
    """Tic-tac-toe without an end."""

    rule_functions = Mnk.rule_functions._replace(legal=anywhere, play=play_on)


@pytest.mark.parametrize("method", METHODS)
def test_a_game_without_an_end_is_left_as_a_draw(method: str):
    game = EndlessMnk()
    search = searching(game, game.initial_state(), method=method, simulations=200)
    roots = finish(search)
    assert roots.visits.sum() == 200
    assert roots.values[0] == 0.0


def test_a_full_tree_runs_all_its_rollouts_and_stays_within_its_arrays(monkeypatch):
    checks = guard_new_trees(monkeypatch, rollout_search)
    game, state = CONNECT_FOUR, CONNECT_FOUR.initial_state()
    search = searching(game, state, memory=1, simulations=10_000)
    trees, (check,) = search.trees, checks
    nodes, kept = trees.nodes.shape[1], 0
    assert trees.nodes.nbytes + trees.edges.nbytes <= 1 << 20
    assert nodes < 10_000
    for _ in range(6):
        search.begin_search(FIRST)
        roots = finish(search)
        assert roots.visits.sum() == kept + 10_000
        assert trees.slots["num_nodes"][0] == nodes
        for node in trees.nodes[0]:  # also those that had no room at first
            first, count = node["first_edge"], node["edge_count"]
            visits = trees.edges["visits"][0, first : first + count]
            assert visits.max(initial=0) <= 1 or visits.min() > 0
        action = int(roots.move_policies[0].argmax())
        state = game.play(state, action)
        search.advance(FIRST, np.array([action]))
        kept = int(statistics(search).visits.sum())
    check()


def test_a_tree_without_room_for_more_moves_runs_all_its_rollouts():
    """Eight queens have more moves a position than a tree of chess has edges a node."""
    game = make_game("chess")
    state = game.parse("kr6/pp6/2q1q3/3q1q2/2Q1Q3/3Q1Q2/6PP/6RK w - - 0 1")
    search = searching(game, state, memory=1, simulations=1_000)
    roots = finish(search)
    slots, nodes = search.trees.slots, search.trees.nodes.shape[1]
    assert nodes / 2 < slots["num_nodes"][0] < nodes
    assert slots["refused"][0] > 0
    assert roots.visits.sum() == 1_000


def test_several_games_of_a_match_leave_each_search_its_memory():
    """50,000 rollouts of Hex need more nodes than a fiftieth of the memory of a search."""
    game, config = make_game("hex", size=11), RolloutConfig(simulations=50_000)
    slots = rollout_search.most_slots(game, config)
    assert 1 <= slots < 10
    assert rollout_search.nodes_per_tree(game, config, slots) > 100_000
    (spec,) = [parse_player("uct:50000")]
    assert parallel_games_for([spec], game, 2) == 2 * slots
    assert parallel_games_for([parse_player("uct:100")], game, 2) == DEFAULT_PARALLEL_GAMES
    assert parallel_games_for([parse_player("flat_mc:50000")], game, 2) == DEFAULT_PARALLEL_GAMES
    players = [parse_player(name) for name in ("random", "uct:50000", "uct:100")]
    assert parallel_games_for(players, game, 2) == 2 * slots


def test_an_endless_search_of_a_kept_tree_ends_before_the_visits_of_an_edge_overflow():
    game, most = TIC_TAC_TOE, np.iinfo(np.int32).max
    search = searching(game, game.initial_state(), simulations=100)
    finish(search)
    search.trees.edges["visits"][0, 4] = most - 1000
    search.begin_search(FIRST, UNLIMITED)
    roots = finish(search)
    assert roots.visits.sum() == most


def test_a_stopped_search_answers_with_what_it_has():
    state = CONNECT_FOUR.initial_state()
    search = searching(CONNECT_FOUR, state, simulations=10**6)
    search.stop(FIRST)
    roots = finish(search)  # one look at the root, and no simulation
    assert roots.visits.sum() == 0
    assert np.allclose(roots.move_policies, 1 / 7)
    search.begin_search(FIRST)
    search.step()
    assert not search.has_finished
    search.stop(FIRST)
    assert search.pop_finished().tolist() == [0]
    assert 0 < statistics(search).visits.sum() < 10**6


def test_a_finished_game_has_its_value_and_no_moves():
    state = TIC_TAC_TOE.parse("X X X\nO O .\n. . .")
    roots = finish(searching(TIC_TAC_TOE, state))
    assert roots.values[0] == -1
    assert roots.visits.sum() == 0


# Seeds


def test_a_slot_among_others_answers_as_it_does_alone(monkeypatch):
    rng = np.random.default_rng(2)
    states = np.array([random_position(CONNECT_FOUR, ply, rng) for ply in range(5)])
    every, settings = np.arange(5), RolloutConfig(simulations=700)

    def visits(turn: int) -> Int64Array:
        monkeypatch.setattr("alphazero.mcts.rollout_search.MOVES_PER_STEP", turn)
        search = RolloutSearch(CONNECT_FOUR, settings, slots=5, rng=np.random.default_rng(3))
        search.reset(every, states)
        search.begin_search(every)
        return finish(search, every).visits

    assert (visits(1) == visits(1 << 20)).all()
    search = RolloutSearch(CONNECT_FOUR, settings, rng=np.random.default_rng(3))
    assert search_from(search, states[0]).visits[0].tolist() == visits(1000)[0].tolist()
