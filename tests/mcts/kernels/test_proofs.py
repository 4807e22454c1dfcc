"""Proofs in the tree, against exhaustive negamax."""

import numpy as np
import pytest
from helpers.games import GAMES, random_line
from helpers.searches import (
    FIRST,
    HashedEvaluator,
    edges_of,
    exact_value,
    finish,
    random_position,
    searched,
    statistics,
)

from alphazero.games import ONGOING, Game, State, make_game
from alphazero.games.compiled_rules import unknown
from alphazero.games.game import PLY
from alphazero.games.registry import read_game
from alphazero.mcts.kernels.proofs import is_lost
from alphazero.mcts.kernels.root import RootStatistics
from alphazero.mcts.network_search import NetworkSearch
from alphazero.mcts.tree_reading import proof_of
from alphazero.solvers.exact import solve_position, solver_for

SMALL = ["tic_tac_toe", "mnk 4x4x3", "connect_four 4x5x3"]


def solve(
    game: Game, state: State, simulations: int, leaves: int = 1, graph: bool = False
) -> tuple[NetworkSearch, RootStatistics]:
    options = {"mcts_solver": True, "transpositions": "always" if graph else "never"}
    return searched(game, state, simulations, HashedEvaluator(game), leaves=leaves, **options)


def positions(game: Game, count: int, least_moves: int) -> list[State]:
    rng = np.random.default_rng(3)
    return [random_position(game, least_moves + index % 4, rng) for index in range(count)]


@pytest.mark.parametrize(
    "name",
    ["tic_tac_toe", "connect_four", "hex:size=3", "hex:size=3,swap=1", "go:rows=3,columns=3"],
)
def test_the_rule_of_wins_at_once_finds_what_trying_every_move_finds(name: str):
    game = read_game(name)
    rules = game.rule_functions._replace(wins_at_once=unknown)
    trying = type("Trying", (type(game),), {"rule_functions": rules})(**game.options)
    for state in positions(game, 8, 1 if "swap" in name else 3):
        searches = [solve(rules, state, 150)[0] for rules in (game, trying)]
        nodes, edges = ([getattr(s.trees, part) for s in searches] for part in ("nodes", "edges"))
        assert nodes[0].tolist() == nodes[1].tolist()
        assert edges[0].tolist() == edges[1].tolist()


@pytest.mark.parametrize("leaves", [1, 4])
@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("name", SMALL)
def test_bounds_hold_everywhere_and_a_proven_root_plays_an_optimal_move(
    name: str, graph: bool, leaves: int
):
    game, known = GAMES[name], {}
    proven = 0
    for state in positions(game, 12, 6 if game.max_moves > 9 else 3):
        search, roots = solve(game, state, 400, leaves, graph)
        trees, places, met = search.trees, [(0, state)], {0}
        for node, place in places:
            value, record = exact_value(game, place, known), trees.nodes[0, node]
            assert record["lower"] <= value <= record["upper"]
            if record["lower"] == record["upper"]:
                assert record["value"] == value
            for edge in edges_of(trees, 0, node):
                if edge["child"] >= 0 and edge["child"] not in met:
                    met.add(edge["child"])
                    places.append((int(edge["child"]), game.play(place, int(edge["action"]))))
        if trees.nodes[0, 0]["lower"] == trees.nodes[0, 0]["upper"]:
            proven += 1
            assert search.simulations < 400, "a proven root ends its search"
            assert roots.values[0] == exact_value(game, state, known)
            for action in np.flatnonzero(roots.move_policies[0]):
                child = game.play(state, int(action))
                assert -exact_value(game, child, known) == roots.values[0]
    assert proven >= 6


@pytest.mark.parametrize("selection", ["puct", "gumbel_root"])
@pytest.mark.parametrize(("side", "sign"), [("lower", -1), ("upper", 1)])
def test_an_unsolved_root_is_worth_no_less_and_no_more_than_is_proven(
    selection: str, side: str, sign: int
):
    game = GAMES["tic_tac_toe"]
    state, options = game.initial_state(), {"selection": selection, "mcts_solver": True}
    search, _ = searched(game, state, 50, **options)
    search.trees.edges["value_sum"][0, :9] = 10 * sign
    assert statistics(search).values[0] * sign > 0.5
    children = edges_of(search.trees, 0, 0)["child"]
    search.trees.nodes["upper" if side == "lower" else "lower"][0, children] = 0
    assert statistics(search).values[0] == 0
    assert search.trees.nodes[side][0, 0] == 0


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("selection", ["puct", "gumbel_root"])
def test_no_move_proven_to_lose_is_played_or_learned_while_another_may_be_better(
    selection: str, graph: bool
):
    """Such a move has the visits from before its proof, by Gumbel search even the most."""
    game, cases = GAMES["connect_four"], 0
    options = {"mcts_solver": True, "transpositions": "always" if graph else "never"}
    rng = np.random.default_rng(4)
    for index in range(160):
        state, evaluator = random_position(game, 6 + index % 12, rng), HashedEvaluator(game)
        search, roots = searched(game, state, 48, evaluator, selection=selection, **options)
        if game.outcome(state) != ONGOING or proof_of(search, 0) is not None:
            continue
        edges = edges_of(search.trees, 0, 0)
        proven = search.trees.nodes["lower"][0, edges["child"]] == 1
        lost = edges["action"][(edges["child"] >= 0) & proven]
        assert not roots.move_policies[0, lost].any()
        assert not roots.policy_targets[0, lost].any()
        assert roots.move_policies[0].sum() == pytest.approx(1)
        cases += bool(roots.visits[0, lost].any())
    assert cases > 9


def test_a_node_is_not_lost_while_it_has_lazy_edges():
    """X can make a three. The first answer loses at once, and one of the others stops it."""
    game = make_game("mnk", rows=5, columns=5, length=4)
    state = game.parse("O . . . O\n. . . . .\n. . . . .\n. . . . .\n. . . X X")
    search, _ = searched(game, state, 300, mcts_solver=True)
    assert proof_of(search, 0) is None


@pytest.mark.parametrize("name", SMALL)
def test_a_proof_says_in_how_many_moves_the_game_ends_at_most(name: str):
    game, exact, decided = GAMES[name], 0, 0
    for state in positions(game, 12, 6 if game.max_moves > 9 else 3):
        search, _ = solve(game, state, 400)
        proof = proof_of(search, 0)
        if proof is None or game.outcome(state) != ONGOING:
            continue
        solution = solve_position(solver_for(game), state, 10**6)
        assert proof.value == solution.value
        if solution.value:
            fewest = solution.end - int(state[PLY])
            assert (proof.plies - fewest) % 2 == 0, "the same side makes the last move"
            assert fewest <= proof.plies if solution.value > 0 else proof.plies > 0
            exact += proof.plies == fewest
            decided += 1
    assert exact >= decided / 2 > 0


def test_a_last_move_that_loses_ends_the_game_in_one():
    """In Othello a player may have to make the last move and lose by it."""
    game, rng, ends = make_game("othello", size=4), np.random.default_rng(1), 0
    for _ in range(40):
        state, _ = random_line(game, rng)[-2]
        search, _ = searched(game, state, 20, mcts_solver=True)
        proof = proof_of(search, 0)
        if game.legal_action_mask(state).sum() == 1 and proof:
            assert proof.plies == 1
            ends += proof.value == -1
    assert ends > 3


def test_a_move_that_wins_at_once_is_found_without_the_network():
    """Whatever the first player does, the second wins at once; only the root is evaluated."""
    game = GAMES["connect_four"]
    state = game.parse(". . . . . . .\n" * 3 + ". . X . . . .\n. . X X . . .\n. . O O O . .")
    search, roots = searched(game, state, 100, mcts_solver=True)
    assert search.evaluations == 1
    assert roots.values[0] == -1
    assert search.simulations == 7


def test_a_lost_edge_is_walked_no_more():
    """After the first move to the wing, the answer in the middle makes an open three."""
    game = GAMES["connect_four"]
    state = game.from_moves(["3", "3", "4", "4"])
    _, unsolved = searched(game, state, 800)
    solved_search, solved = solve(game, state, 800)
    assert solved.values[0] == 1, "an open three is proven to win"
    assert solved_search.simulations < 800
    assert unsolved.values[0] < 1


def test_only_moves_that_lose_are_walked_no_more_not_those_that_draw():
    game, known, values = GAMES["tic_tac_toe"], {}, []
    for state in positions(game, 6, 3):
        trees = solve(game, state, 400)[0].trees
        nodes, edges = (array.view(np.recarray) for array in (trees.nodes, trees.edges))
        trees = trees._replace(nodes=nodes, edges=edges)
        for edge in range(nodes[0, 0].edge_count):
            child = edges[0, edge].child
            if child < 0 or nodes[0, child].lower < nodes[0, child].upper:
                continue
            after = game.play(state, int(edges[0, edge].action))
            values.append(-exact_value(game, after, known))
            assert is_lost.py_func(trees, 0, edge) == (values[-1] == -1)
    assert {-1, 0} <= {*values}


def test_a_kept_tree_keeps_its_proofs():
    game, known = GAMES["mnk 4x4x3"], {}
    for start in positions(game, 6, 6):
        state = start
        search, roots = solve(game, state, 300)
        while game.outcome(state) == ONGOING:
            value = exact_value(game, state, known)
            lower, upper = search.trees.nodes[0, 0]["lower"], search.trees.nodes[0, 0]["upper"]
            assert lower <= value <= upper
            action = int(roots.move_policies[0].argmax())
            state = game.play(state, action)
            search.advance(FIRST, np.array([action]))
            search.begin_search(FIRST)
            roots = finish(search)
