"""Hex against a plain twin and its known values, the swap and the heuristic."""

import functools
import heapq
import random

import numpy as np
import pytest
from helpers.reference.rules import HexTwin

from alphazero.errors import GameError
from alphazero.games import ONGOING
from alphazero.games.compiled_rules import HEURISTIC_SCALE
from alphazero.games.game import LAST
from alphazero.games.hex import Hex, connection_distance
from alphazero.records.gtp_notation import GtpNotation
from alphazero.solvers.exhaustive import SolvedPositions, solve_all_positions

# Known values.


@functools.cache
def solved(size: int, swap: int = 0) -> SolvedPositions:
    return solve_all_positions(Hex(size, swap))


@pytest.mark.parametrize(("size", "openings"), [(2, "b1 a2"), (3, "c1 a2 b2 c2 a3")])
def test_the_first_player_wins_small_boards_from_the_right_cells(size: int, openings: str):
    game, found = Hex(size), solved(size)
    assert found.values[0] == 1
    best = np.flatnonzero(found.optimal[0]).tolist()
    assert [game.action_name(found.states[0], action) for action in best] == openings.split()


@pytest.mark.parametrize("size", [2, 3])
def test_with_the_swap_the_second_player_wins_by_taking_over_the_good_openings(size: int):
    game, plain, found = Hex(size, 1), solved(size), solved(size, 1)
    assert found.values[0] == -1
    seconds = 0
    for state, value, optimal in zip(found.states, found.values, found.optimal, strict=True):
        if state[0] == 1:
            assert value == 1
            assert optimal[size * size] == plain.optimal[0, state[LAST]]
            seconds += 1
    assert seconds == size * size
    assert game.num_actions == size * size + 1


# The swap.


def test_the_swap_reflects_the_first_stone_and_changes_its_colour():
    game = Hex(4, 1)
    state = game.from_moves(["b1", "swap"])
    assert game.render(state) == (
        "   a b c d\n 1 . . . .\n  2 O . . .\n   3 . . . .\n    4 . . . .\nX to move after 2 moves"
    )
    pieces = game.pieces(game.from_moves(["c3", "SWAP"]))
    assert np.argwhere(pieces).tolist() == [[2, 2]]
    assert pieces[2, 2] == -1
    assert game.legal_action_mask(state).sum() == 15
    first = game.from_moves(["b1"])
    assert np.array_equal(game.from_moves(["b1", game.action_name(first, 16)]), state)
    assert GtpNotation(game).name(first, 16) == "swap-pieces"  # MoHex knows it by no other name


@pytest.mark.parametrize("size", [3, 6])
def test_a_swap_is_the_same_as_if_the_players_had_changed_colours(size: int):
    plain, game, dice = Hex(size), Hex(size, 1), random.Random(size)
    for _ in range(40):
        order = list(range(size * size))
        dice.shuffle(order)
        one = plain.play(plain.initial_state(), order[0])
        other = game.play(game.initial_state(), order[0], size * size)
        for action in order[1:]:
            if plain.outcome(one) != ONGOING:
                break
            one = plain.play(one, action)
            other = game.play(other, action % size * size + action // size)
            result = plain.outcome(one)
            assert game.outcome(other) == (ONGOING if result == ONGOING else -result)
        assert plain.outcome(one) != ONGOING


def test_the_swap_is_the_second_move_or_none():
    game = Hex(3, 1)
    for moves in ([], ["a1", "b1"], ["a1", "swap"]):
        state = game.from_moves(moves)
        assert not game.legal_action_mask(state)[9]
        with pytest.raises(GameError, match=r"^swap can only be the second move; type an empty"):
            game.parse_action(state, "swap")
    with pytest.raises(GameError, match=r"is no cell; type a letter and a number, a1 to c3$"):
        Hex(3).parse_action(Hex(3).from_moves(["a1"]), "swap")


# The heuristic.


@pytest.mark.parametrize("size", [2, 4, 6])
def test_the_distance_is_that_of_the_shortest_way(size: int):
    """Dijkstra's, from one side to the other."""
    twin, dice, barred = HexTwin(size), np.random.default_rng(size), 0
    for _ in range(30):
        grid = dice.choice(3, (size, size), p=(0.4, 0.3, 0.3))
        for player in (0, 1):
            cost = {
                (row, column): int(stone == 0)
                for (row, column), stone in np.ndenumerate(grid)
                if stone != 2 - player
            }
            heap = [(cost[cell], cell) for cell in cost if cell[player] == 0]
            heapq.heapify(heap)
            shortest, seen = None, set()
            while heap and shortest is None:
                length, cell = heapq.heappop(heap)
                if cell[player] == size - 1:
                    shortest = length
                elif cell not in seen:
                    seen.add(cell)
                    for other in twin.touching(cell):
                        if other in cost:
                            heapq.heappush(heap, (length + cost[other], other))
            found = connection_distance(grid.ravel(), size, player)
            assert found == shortest if shortest is not None else found > size * size
            barred += shortest is None
    assert barred > 0


def test_the_heuristic_is_that_of_the_player_to_move_and_never_sure():
    game = Hex(5)
    estimate, first = game.rule_functions.heuristic, game.initial_state()
    assert estimate(first) > 0, "who moves is ahead on the empty board"
    ahead = game.from_moves(["c3", "a1", "c4", "a2"])
    assert 0 < estimate(first) < estimate(ahead) < HEURISTIC_SCALE
    assert -HEURISTIC_SCALE < estimate(game.play(ahead, 11)) < 0
