"""The tree search against its plain twin, hand-computed numbers and positions with one answer.

Letters: G slots, n some of them, A actions, R rows, [C, H, W] an observation.
"""

import itertools
import math

import numpy as np
import pytest
from helpers.games import CONNECT_FOUR, GAMES, TIC_TAC_TOE
from helpers.reference.search import PlainSearch
from helpers.searches import (
    FIRST,
    HashedEvaluator,
    UniformEvaluator,
    assert_same_tree,
    edges_of,
    finish,
    follow_at_random,
    guard_new_trees,
    random_position,
    search_from,
    searched,
    statistics,
)
from helpers.settings import search_config

from alphazero.games import ONGOING, Game, make_game
from alphazero.mcts import network_search
from alphazero.mcts.kernels import simulation
from alphazero.mcts.kernels.root import Exploration
from alphazero.mcts.network_search import NetworkSearch
from alphazero.mcts.tree_reading import principal_variation
from alphazero.reference import Settings, Tree
from alphazero.reference import search as search_plainly
from alphazero.utils.arrays import Float32Array, Float64Array

SKY = ". . . . . . .\n" * 4


# The reference, and the twin that adds options to it


class DrawnNoise:
    """Gives the reference the Dirichlet noise that the fast search has drawn for some slots."""

    def __init__(self, search: NetworkSearch, slots: list[int]) -> None:
        self.draws = iter(search.trees.root_noise[slots])

    def dirichlet(self, alphas: list[float]) -> Float64Array:
        draws = next(self.draws)[: len(alphas)]
        return draws / sum(draws.tolist())


def assert_equal_to_reference(search: NetworkSearch, slot: int, tree: Tree) -> None:
    """Compare two trees node by node, to the last bit."""
    pairs = [(0, tree.root)]
    for index, node in pairs:
        edges = edges_of(search.trees, slot, index)
        assert search.trees.nodes["value"][slot, index] == node.value
        assert dict(zip(edges["action"].tolist(), edges["prior"].tolist(), strict=True)) == (
            node.priors
        )
        assert edges["visits"].tolist() == list(node.visits.values())
        assert edges["value_sum"].tolist() == list(node.value_sums.values())
        children = zip(edges["child"].tolist(), node.priors, strict=True)
        below = [(child, node.children[action]) for child, action in children if child >= 0]
        assert len(below) == len(node.children)
        pairs += below


@pytest.mark.parametrize("name", GAMES)
def test_the_fast_search_equals_the_reference_bit_for_bit(name: str):
    """Whole games, three side by side, with noise, in trees that are kept between moves."""
    game, rng = GAMES[name], np.random.default_rng(0)
    evaluator, playing, moves = HashedEvaluator(game), [0, 1, 2], 0
    draws: list[bytes] = []
    settings = search_config(c_puct=1.25, c_puct_base=0, fpu_reduction=None, reuse_tree=True)
    exploration = Exploration(dirichlet_fraction=0.25, dirichlet_alpha=0.5)
    search = NetworkSearch(game, evaluator, settings, slots=3, exploration=exploration, rng=rng)
    trees = [Tree(game, random_position(game, ply, rng), 1.25) for ply in playing]
    search.reset(np.array(playing), np.array([tree.root.state for tree in trees]))
    plain = Settings(simulations=60, noise_fraction=0.25)
    while playing:
        search.begin_search(np.array(playing), plain.simulations)
        noise = DrawnNoise(search, playing)
        draws += [row.tobytes() for row in search.trees.root_noise[playing]]
        roots = finish(search, np.array(playing))
        search_plainly(game, [trees[slot] for slot in playing], evaluator.evaluate, plain, noise)
        for row, slot in enumerate(playing):
            assert_equal_to_reference(search, slot, trees[slot])
            assert (roots.policy_targets[row] == trees[slot].search_policy()).all()
            action = int(roots.visits[row].argmax())
            search.advance(np.array([slot]), np.array([action]))
            trees[slot].play(action)
        playing = [slot for slot in playing if game.outcome(trees[slot].root.state) == ONGOING]
        moves += 1
    assert moves > 4
    assert len(set(draws)) == len(draws), "drawn anew for each move, also at a kept root"


@pytest.mark.parametrize("name", GAMES)
def test_every_combination_of_options_builds_the_tree_of_the_plain_twin(name: str):
    game, rng = GAMES[name], np.random.default_rng(1)
    evaluator = HashedEvaluator(game)
    choices = itertools.product(
        (False, True), (0.0, 20.0), (True, False), (1, 4), (True, False), (4, 25, 500)
    )
    for reduces, base, reuse_tree, leaves, noisy, nodes in choices:
        c_puct, reduction = rng.choice([0.0, 0.5, 1.25, 4.0]), rng.choice([0.0, 0.25, 1.0])
        settings = search_config(
            c_puct=float(c_puct),
            c_puct_base=base,
            fpu_reduction=float(reduction) if reduces else None,
            reuse_tree=reuse_tree,
            evaluation_cache_mib=0,
        )
        noise = Exploration(0.25, 0.5) if noisy else None
        search = NetworkSearch(
            game, evaluator, settings, nodes=nodes, leaves=leaves, exploration=noise, rng=rng
        )
        twin = PlainSearch(game, evaluator, settings, leaves=leaves, capacity=nodes)
        state = random_position(game, int(rng.integers(0, 5)), rng)
        search.reset(FIRST, state[None])
        twin.start(state)
        for _ in range(3):
            simulations = int(rng.choice([0, 1, 7, 40]))
            search.begin_search(FIRST, simulations)
            if noisy:
                legal = int(game.legal_action_mask(state).sum())
                twin.noise, twin.fraction = search.trees.root_noise[0, :legal].tolist(), 0.25
            finish(search)
            twin.search(simulations)
            assert_same_tree(search, 0, twin)
            state = follow_at_random(search, twin, state, rng)
            if game.outcome(state) != ONGOING:
                break


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(("leaves", "rows"), [(1, None), (4, None), (1, 1), (1, 3)])
def test_a_slot_among_others_answers_as_it_does_alone(name: str, leaves: int, rows: int | None):
    game, slots, moves = GAMES[name], 5, 12
    settings, rng = search_config(evaluation_cache_mib=0), np.random.default_rng(2)
    budgets = rng.integers(0, 60, (slots, moves))
    starts = [random_position(game, int(rng.integers(0, 4)), rng) for _ in range(slots)]

    def play(players: list[int]) -> dict[tuple[int, int], list[float]]:
        """Play on in each slot as soon as it is done, and begin anew at a game's end."""
        evaluator = HashedEvaluator(game)
        search = NetworkSearch(
            game, evaluator, settings, slots=len(players), nodes=100, leaves=leaves, rows=rows
        )
        answers, turns, states = {}, [0] * len(players), [starts[player] for player in players]
        every = np.arange(len(players))
        search.reset(every, np.array(states))
        for slot in every:
            search.begin_search(every[slot : slot + 1], int(budgets[players[slot], 0]))
        while any(turn < moves for turn in turns):
            assert search.step() <= (rows or len(players) * leaves)
            for slot in search.pop_finished():
                one, player, turn = np.array([slot]), players[slot], turns[slot]
                roots = statistics(search, one)
                answers[player, turn] = [*roots.visits[0], *roots.priors[0], *roots.values]
                turns[slot] += 1
                action = int(roots.move_policies[0].argmax())
                states[slot] = game.play(states[slot], action)
                search.advance(one, np.array([action]))
                if game.outcome(states[slot]) != ONGOING:
                    states[slot] = starts[player]
                    search.reset(one, states[slot][None])
                if turns[slot] < moves:
                    search.begin_search(one, int(budgets[player, turns[slot]]))
        assert 0 not in evaluator.rows
        return answers

    together = play(list(range(slots)))
    alone = [play([player]) for player in range(slots)]
    assert together == {key: value for slot in alone for key, value in slot.items()}
    assert len(together) == slots * moves


@pytest.mark.parametrize(("slots", "rows"), [(5, 3), (7, 7), (16, 15), (9, 1)])
def test_slots_take_turns_where_a_batch_is_too_small_for_all(slots: int, rows: int):
    game = GAMES["connect_four"]
    search = NetworkSearch(game, HashedEvaluator(game), search_config(), slots=slots, rows=rows)
    every = np.arange(slots)
    search.reset(every, np.tile(game.initial_state(), (slots, 1)))
    search.begin_search(every, 50)
    looks = np.zeros(slots, np.int64)
    for _ in range(3 * slots):
        assert search.step() == rows
        looks[search.trees.rows["slot"]] += 1
        assert looks.max() - looks.min() <= 1


def test_a_recorded_tree_grows_again():
    """By hand: c_puct 1.25, three actions of prior 1/3, below each two of prior 1/2, values 0.

    1-3: c2, b1, c1 (ties go to the earlier action). 4: c2 again, O b1 wins: Q(c2) = -1/2.
    5: b1 (.417 = c1), O c2. 6: c1 (.466), O c2. 7: b1 (.340 = c1), O c1. 8: c1 (.367 > .276),
    where O now prefers b1 (.625 > .313) and wins: Q(c1) = -1/3.
    """
    state = TIC_TAC_TOE.parse(
        """
        X O X
        X O .
        O . .
        """
    )
    c2, b1, c1 = 5, 7, 8
    search, roots = searched(TIC_TAC_TOE, state, 8, c_puct=1.25)
    assert roots.visits[0].tolist() == [0, 0, 0, 0, 0, 2, 0, 3, 3]
    assert roots.action_values[0, [c2, b1, c1]].tolist() == pytest.approx([-1 / 2, 0, -1 / 3])
    assert roots.values[0] == pytest.approx(-2 / 9)
    assert [principal_variation(search, 0, action) for action in (c2, b1, c1)] == [
        [5, 7],
        [7, 5],
        [8, 5],
    ]
    assert search.evaluations == 7


# Positions with one answer


ONE_ANSWER = [
    (TIC_TAC_TOE, "X X .\nO O .\n. . .", 2, "X wins on c3"),
    (TIC_TAC_TOE, "X X .\nO O .\nX . .", 5, "O wins on c2"),
    (TIC_TAC_TOE, "O O .\nX . .\n. X .", 2, "X blocks on c3"),
    (TIC_TAC_TOE, "X X .\nO . .\n. . .", 2, "O blocks on c3"),
    (CONNECT_FOUR, SKY + "O O . . . . .\nX X X . . . O", 3, "X wins in column 4"),
    (CONNECT_FOUR, SKY + "X X . . . . .\nO O O . X X .", 3, "O wins in column 4"),
    (CONNECT_FOUR, SKY + "X X . . . . .\nO O O . X . .", 3, "X blocks column 4"),
    (CONNECT_FOUR, SKY + "O . . . . . .\nX X X . O . .", 3, "O blocks column 4"),
]


@pytest.mark.parametrize(
    ("game", "diagram", "action"),
    [case[:3] for case in ONE_ANSWER],
    ids=[case[3] for case in ONE_ANSWER],
)
@pytest.mark.parametrize("leaves", [1, 8])
def test_search_wins_in_one_and_blocks_in_one(game: Game, diagram: str, action: int, leaves: int):
    _, roots = searched(game, game.parse(diagram), 300, leaves=leaves)
    assert roots.move_policies[0, action] > 0.5
    assert np.nanargmax(roots.action_values[0]) == action


@pytest.mark.parametrize(
    ("diagram", "value"),
    [("X X X\nO O .\n. . .", -1), ("O O O\nX X .\nX . .", -1), ("X O X\nX O O\nO X X", 0)],
)
def test_a_finished_game_is_answered_by_its_outcome(diagram: str, value: int):
    game = TIC_TAC_TOE
    evaluator = HashedEvaluator(game)
    search = NetworkSearch(game, evaluator, search_config())
    search.reset(FIRST, game.parse(diagram)[None])
    for simulations in (10, 20):
        search.begin_search(FIRST, simulations)
        roots = finish(search)
        assert not roots.visits.any()
        assert not roots.priors.any()
        assert roots.values[0] == value
    assert evaluator.rows == []


@pytest.mark.parametrize("symmetry", ["random", "average"])
def test_a_search_may_show_positions_under_symmetries(symmetry: str):
    game = GAMES["tic_tac_toe"]
    options = {"leaf_symmetry": symmetry, "evaluation_cache_mib": 0}
    _, roots = searched(game, game.initial_state(), 50, HashedEvaluator(game), **options)
    assert roots.visits.sum() == 50
    corners = roots.priors[0, [0, 2, 6, 8]]
    assert np.allclose(corners, corners[0]) == (symmetry == "average")


# Counting, stopping, forgetting


@pytest.mark.parametrize("simulations", [1, 100, 3 * simulation.MAX_FREE_SIMULATIONS])
def test_simulations_are_exact_where_every_line_ends_at_once(simulations: int):
    """On 2x2 with two in a line, the second stone of a colour always wins."""
    game = make_game("mnk", rows=2, columns=2, length=2)
    evaluator = HashedEvaluator(game)
    _, roots = searched(game, game.parse("X .\n. O"), simulations, evaluator, leaves=4)
    assert roots.visits.sum() == simulations
    assert evaluator.rows == [1], "only the root was evaluated"
    assert np.nanmin(roots.action_values) == 1


def test_logits_may_be_as_large_as_they_like():
    class SureEvaluator(UniformEvaluator):
        def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
            logits, values = super().evaluate(observations)
            return logits + np.array([5000, 5000 + math.log(3), 0, 0, 0, 0, 0], np.float32), values

    _, roots = searched(CONNECT_FOUR, CONNECT_FOUR.initial_state(), 0, SureEvaluator(7))
    assert np.allclose(roots.priors, [0.25, 0.75, 0, 0, 0, 0, 0], atol=1e-3)
    assert np.allclose(roots.move_policies, roots.priors), "without visits the prior decides"


@pytest.mark.parametrize("leaves", [1, 4])
@pytest.mark.parametrize(("turns", "more"), [(0, 1), *itertools.product((1, 2, 11), (0, 1))])
def test_a_stopped_search_answers_with_what_it_has(turns: int, more: int, leaves: int):
    game = CONNECT_FOUR
    search = NetworkSearch(game, HashedEvaluator(game), search_config(), leaves=leaves)
    search.reset(FIRST, game.initial_state()[None])
    search.begin_search(FIRST, 100_000)
    for _ in range(turns):
        search.step()
        assert search.pop_finished().size == 0
    search.stop(FIRST)
    if turns == 0:
        assert search.pop_finished().size == 0, "the root has no evaluation yet"
    for _ in range(more):
        search.step()
    assert search.pop_finished().tolist() == [0]
    roots = statistics(search)
    assert roots.visits.sum() == search.simulations
    assert search.simulations <= leaves * (turns + more)
    assert roots.move_policies.sum() == pytest.approx(1)
    assert not search.trees.edges["pending"].any()


def test_a_restricted_root_shares_its_priors_among_the_actions_that_are_left():
    game, left = CONNECT_FOUR, [1, 5]
    search = NetworkSearch(game, HashedEvaluator(game), search_config(simulations=200))
    before = search_from(search, game.initial_state(), 0).priors[0]
    search.restrict_root(0, left)
    search.begin_search(FIRST)
    roots = finish(search)
    expected = np.where(np.isin(range(7), left), before, 0) / before[left].sum()
    assert roots.priors[0] == pytest.approx(expected)
    assert roots.visits[0].sum() == roots.visits[0, left].sum() == 200


def test_a_solved_position_does_not_outlast_its_stop():
    """All simulations end at once here; a clock must be able to end them all the same."""
    search = NetworkSearch(TIC_TAC_TOE, UniformEvaluator(9), search_config())
    search.reset(FIRST, TIC_TAC_TOE.parse("X O X\nX O O\nO X .")[None])
    search.begin_search(FIRST, 10**12)
    for _ in range(3):
        search.step()
        assert search.pop_finished().size == 0
    search.stop(FIRST)
    assert search.pop_finished().tolist() == [0]
    assert (
        statistics(search).visits.sum() == search.simulations == 2 * simulation.MAX_FREE_SIMULATIONS
    )


def test_a_new_start_ends_the_search_before_it():
    game = CONNECT_FOUR
    search = NetworkSearch(game, HashedEvaluator(game), search_config(evaluation_cache_mib=0))
    for _ in range(2):
        search.reset(FIRST, game.initial_state()[None])
        assert search.step() == 0, "nothing was asked yet"
        search.begin_search(FIRST, 100)
        for _ in range(3):
            search.step()
            search.pop_finished()
    assert search.simulations == 2 * 2, "the first look at a root is no simulation"
    search.advance(FIRST, np.array([3]))
    assert search.step() == 0


# Memory


@pytest.mark.parametrize("nodes", [1, 2, 9, 40])
@pytest.mark.parametrize("leaves", [1, 4])
@pytest.mark.parametrize("graph", [False, True])
def test_a_full_tree_stays_within_its_arrays(nodes: int, leaves: int, graph: bool, monkeypatch):
    checks = guard_new_trees(monkeypatch, network_search)
    game, middle = GAMES["mnk 4x4x3"], np.array([1])
    moves, visits = [], []
    for _ in range(2):
        settings = search_config(transpositions="always" if graph else "never")
        search = NetworkSearch(
            game, HashedEvaluator(game), settings, slots=3, nodes=nodes, leaves=leaves
        )
        trees, state = search.trees, game.initial_state()
        beside = [array[[0, 2]].copy() for array in trees if len(array) == 3 and array.ndim > 1]
        search.reset(middle, state[None])
        while game.outcome(state) == ONGOING:
            search.begin_search(middle, 150)
            roots = finish(search, middle)
            assert trees.slots["num_nodes"][1] <= nodes
            assert trees.slots["num_edges"][1] <= nodes * game.num_actions
            moves.append(int(roots.visits[0].argmax()))
            visits.append(roots.visits[0].tolist())
            state = game.play(state, moves[-1])
            search.advance(middle, np.array(moves[-1:]))
        checks.pop()()
        after = [array[[0, 2]] for array in trees if len(array) == 3 and array.ndim > 1]
        assert all((a == b).all() for a, b in zip(beside, after, strict=True))
    half = len(moves) // 2
    assert moves[:half] == moves[half:]
    assert visits[:half] == visits[half:]
