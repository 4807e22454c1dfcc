"""Games in play: the choice of a move, its record, and how a game moves on. Letters: G games of at
most T moves, M shares of policies; else as in `tree.py`.

A search whose players need no Python for a move moves its games on inside `next_batch`, by
`move_on`; others take the same steps one by one.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.experimental import structref

from alphazero.games.compiled_rules import RuleFunctions, RulesType, call_rule
from alphazero.games.game import ONGOING, OUTCOME, PLY, State
from alphazero.mcts.kernels.randomness import random_unit
from alphazero.mcts.kernels.root import (
    Exploration,
    RootStatistics,
    RootStatisticsType,
    SideType,
    begin_move,
    read_root,
)
from alphazero.mcts.kernels.subtree import advance_tree
from alphazero.mcts.kernels.tree import Trees
from alphazero.mcts.move_selection import draw, temper
from alphazero.utils.arrays import BoolArray, Float32Array, Float64Array, Int32Array, Int64Array
from alphazero.utils.jit import inline_kernel, kernel

RESIGNED, MISCOUNTED = 3, 4
"""Special outcomes: the player to move resigns; a game does not count its moves as it should."""

LEAST_SHARE = 1e-8
"""Smallest share of a search policy that is recorded. Gumbel search has one for every legal move,
of which 15 % in Hex and 51 % in Gardner were smaller: they would fill the window and teach nothing.
"""


class Games(NamedTuple):
    """G games in play, of at most T moves and M shares of policies each, and what ends them.

    The operating system provides a page when a game first writes to it.
    """

    states: State
    """[G, S] current positions"""
    actions: Int32Array
    """[G, T] moves"""
    values: Float32Array
    """[G, T]"""
    best_values: Float32Array
    """[G, T]"""
    counts: Int32Array
    """[G, T] moves with a share in the policy"""
    policy_actions: Int32Array
    """[G, M]"""
    policy_shares: Float32Array
    """[G, M]"""
    used: Int64Array
    """[G] shares of the game so far"""
    players: Int64Array
    """[G, 2] the side that plays for player 0, and for player 1"""
    may_resign: BoolArray
    """[G]"""
    resign_below: Float32Array
    """[1] a player who may resign does so when the best value is lower"""
    outcomes: Int64Array
    """[G] ONGOING, or how the game has ended: Python takes it and starts the next one"""
    played: Int64Array
    """[1] moves so far"""


def new_games(states: State, length: int, most_legal: int) -> Games:
    """Return games at `states` [G, S], of at most `length` moves with `most_legal` shares each."""
    count = len(states)
    moves, policies = (count, length), (count, length * most_legal)
    return Games(
        states,
        np.zeros(moves, np.int32),
        np.zeros(moves, np.float32),
        np.zeros(moves, np.float32),
        np.zeros(moves, np.int32),
        np.zeros(policies, np.int32),
        np.zeros(policies, np.float32),
        np.zeros(count, np.int64),
        np.zeros((count, 2), np.int64),
        np.zeros(count, np.bool_),
        np.zeros(1, np.float32),
        np.full(count, ONGOING),
        np.zeros(1, np.int64),
    )


NO_GAMES = new_games(np.zeros((0, 1), np.int64), 0, 0)
GamesType = numba.typeof(NO_GAMES)


@inline_kernel
def choose_place(
    trees: Trees,
    exploration: Exploration,
    slot: int,
    roots: RootStatistics,
    row: int,
    shares: Float64Array,
) -> int:
    """Draw the place of a legal action from the move policy of `row`, at its temperature."""
    temperature = exploration.final_temperature
    if trees.root_state[slot, PLY] < exploration.temperature_moves:
        temperature = exploration.temperature
    temper(roots.move_policies[row], temperature, shares)
    return draw(shares, random_unit(trees, slot) if temperature > 0 else 0.0)


@inline_kernel
def best_value(roots: RootStatistics, row: int) -> float:
    """Return the larger of a root's value and the value of its best action."""
    policy, best = roots.move_policies[row], 0
    for place in range(len(policy)):
        best = place if policy[place] > policy[best] else best
    value = roots.action_values[row, best]
    return value if value > roots.values[row] else roots.values[row]  # type: ignore[no-any-return]


@inline_kernel
def play_move(
    rules: RuleFunctions,
    games: Games,
    slot: int,
    action: int,
    value: float,
    best: float,
    policy_actions: Int64Array,
    policy_shares: Float64Array,
    learns: bool,
) -> int:
    """Record a move and play it, unless the player resigns; return the outcome of the game.

    `policy_shares` are the shares of `policy_actions` in the search policy. It is recorded as a
    training target if `learns`, but for shares below `LEAST_SHARE`.
    """
    states = games.states
    ply = states[slot, PLY]
    if not 0 <= ply < games.actions.shape[1]:
        return MISCOUNTED
    used = first = games.used[slot]
    for place in range(len(policy_shares) if learns else 0):
        if np.float32(policy_shares[place]) >= LEAST_SHARE:
            games.policy_actions[slot, used] = policy_actions[place]
            games.policy_shares[slot, used] = policy_shares[place]
            used += 1
    games.used[slot] = used
    games.counts[slot, ply] = used - first
    games.actions[slot, ply] = action
    games.values[slot, ply] = value
    games.best_values[slot, ply] = best
    if games.may_resign[slot] and np.float32(best) < games.resign_below[0]:
        return RESIGNED
    call_rule(rules.play, states[slot], action)
    games.played[0] += 1
    if states[slot, PLY] != ply + 1:
        return MISCOUNTED
    return states[slot, OUTCOME]  # type: ignore[no-any-return]


@structref.register
class _MatchTypeClass(types.StructRef):  # type: ignore[misc]
    """The numba type of `SearchedMatch`."""


class SearchedMatch(structref.StructRefProxy):  # type: ignore[misc]
    """Games and the searches that play them, unboxed by a kernel as one object."""


structref.define_boxing(_MatchTypeClass, SearchedMatch)
SidesType = types.UniTuple(SideType, 2)
MatchType = _MatchTypeClass(
    [
        ("games", GamesType),
        ("sides", SidesType),
        ("count", types.int64),
        ("own", types.int64),
        ("roots", RootStatisticsType),
        ("shares", types.float64[::1]),
    ]
)
MOVE_ON = types.void(RulesType, MatchType)
"""The signature of `move_on`."""


@kernel(
    MatchType(
        GamesType, SidesType, types.int64, types.int64, RootStatisticsType, types.float64[::1]
    )
)
def make_match(
    games: Games, sides: Any, count: int, own: int, roots: RootStatistics, shares: Float64Array
) -> Any:
    """Return `games` between `count` of the `sides`, as the search of side `own` plays them.

    `roots` of one row and `shares` [L] are its scratch.
    """
    match = structref.new(MatchType)
    match.games = games
    match.sides = sides
    match.count = count
    match.own = own
    match.roots = roots
    match.shares = shares
    return match


@inline_kernel
def _move_on(
    rules: RuleFunctions,
    games: Games,
    sides: Any,
    count: int,
    own: int,
    roots: RootStatistics,
    shares: Float64Array,
) -> None:
    """The work of `move_on`, without reference counting."""
    side = sides[own]
    trees = side.trees
    for slot in range(len(trees.slots)):
        state = trees.slots[slot]
        if not (state.searching and state.remaining <= 0 and state.num_nodes > 0):
            continue
        read_root(trees, side.selection, slot, roots, 0)
        place = choose_place(trees, side.exploration, slot, roots, 0, shares)
        action = roots.actions[0, place]
        outcome = play_move(
            rules,
            games,
            slot,
            action,
            roots.values[0],
            best_value(roots, 0),
            roots.actions[0],
            roots.policy_targets[0],
            state.full,
        )
        trees.slots[slot].searching = False
        if outcome == ONGOING:
            for number in range(count):
                other = sides[number].trees
                for index in range(games.states.shape[1]):
                    other.root_state[slot, index] = games.states[slot, index]
                advance_tree(other, slot, action, sides[number].keeps_trees)
            begin_move(sides[games.players[slot, games.states[slot, PLY] % 2]], slot)
        else:
            games.outcomes[slot] = outcome


@kernel(MOVE_ON)
def move_on(rules: Any, match: Any) -> None:
    """Play the moves of the finished searches of a match's own side.

    A game that goes on has its next search begun, by the side to move.
    """
    _move_on(
        rules.functions, match.games, match.sides, match.count, match.own, match.roots, match.shares
    )


@kernel(MOVE_ON)
def stay(rules: Any, match: Any) -> None:
    """Move no game on: the searches are read by Python."""
