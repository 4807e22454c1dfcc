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


class MoveData(NamedTuple):
    """The moves of G games of at most T moves, with at most M shares of policies each.

    The operating system provides a page when a game first writes to it.
    """

    actions: Int32Array
    """[G, T]"""
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


class Games(NamedTuple):
    """Games in play, their moves, and what ends them."""

    states: State
    """[G, S] current positions"""
    moves: MoveData
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
    data = MoveData(
        np.zeros(moves, np.int32),
        np.zeros(moves, np.float32),
        np.zeros(moves, np.float32),
        np.zeros(moves, np.int32),
        np.zeros(policies, np.int32),
        np.zeros(policies, np.float32),
        np.zeros(count, np.int64),
    )
    return Games(
        states,
        data,
        np.zeros((count, 2), np.int64),
        np.zeros(count, np.bool_),
        np.zeros(1, np.float32),
        np.full(count, ONGOING),
        np.zeros(1, np.int64),
    )


class Openings(NamedTuple):
    """N games to begin, each after moves that nobody searched."""

    slots: Int64Array
    """[N]"""
    states: State
    """[N, S] first positions"""
    lengths: Int64Array
    """[N] number of these moves"""
    actions: Int64Array
    """the moves of one game after the other"""
    players: Int64Array
    """[N, 2] as in `Games`"""
    may_resign: BoolArray
    """[N]"""


OpeningsType = types.NamedTuple(
    [
        types.int64[::1],
        types.int64[:, ::1],
        types.int64[::1],
        types.int64[::1],
        types.int64[:, ::1],
        types.boolean[::1],
    ],
    Openings,
)
NO_GAMES = new_games(np.zeros((0, 1), np.int64), 0, 0)
GamesType = numba.typeof(NO_GAMES)


@inline_kernel
def _begin_games(rules: RuleFunctions, games: Games, openings: Openings, mask: BoolArray) -> int:
    """The work of `begin_games`, without reference counting."""
    moves, at = games.moves, 0
    for index in range(len(openings.slots)):
        slot = openings.slots[index]
        for entry in range(games.states.shape[1]):
            games.states[slot, entry] = openings.states[index, entry]
        for player in range(2):
            games.players[slot, player] = openings.players[index, player]
        games.may_resign[slot], moves.used[slot] = openings.may_resign[index], 0
        for move in range(openings.lengths[index]):
            action = openings.actions[at]
            call_rule(rules.legal, games.states[slot], mask)
            if not 0 <= action < len(mask) or not mask[action]:
                return int(slot)
            call_rule(rules.play, games.states[slot], action)
            moves.actions[slot, move], moves.counts[slot, move] = action, 0
            moves.values[slot, move] = moves.best_values[slot, move] = 0
            at += 1
        games.outcomes[slot] = games.states[slot, OUTCOME]
    return -1


@kernel(types.int64(RulesType, GamesType, OpeningsType, types.boolean[::1]))
def begin_games(rules: Any, games: Games, openings: Openings, mask: BoolArray) -> int:
    """Begin games, replacing those in their slots.

    Return the slot of the first one with an illegal move, or -1. `mask` [A] is scratch.
    """
    return _begin_games(rules.functions, games, openings, mask)


@kernel(
    types.Tuple(
        (
            types.int32[::1],
            types.int32[::1],
            types.float32[::1],
            types.float32[::1],
            types.int32[::1],
            types.float32[::1],
            types.int64[::1],
        )
    )(GamesType, types.int64[::1])
)
def copy_games(games: Games, slots: Int64Array) -> Any:
    """Return the moves of the games in `slots` [n], one game after the other.

    The fields of `MoveData`: actions, counts, values and best values of the moves, actions and
    shares of the policies; then the number of shares of each game, [n].
    """
    data, moves, sizes = games.moves, 0, np.zeros(len(slots), np.int64)
    for index in range(len(slots)):
        length = games.states[slots[index], PLY]
        moves += length
        for move in range(length):
            sizes[index] += data.counts[slots[index], move]
    shares = sizes.sum()
    actions, counts = np.empty(moves, np.int32), np.empty(moves, np.int32)
    values, best_values = np.empty(moves, np.float32), np.empty(moves, np.float32)
    policy_actions, policy_shares = np.empty(shares, np.int32), np.empty(shares, np.float32)
    move = share = 0
    for index in range(len(slots)):
        slot = slots[index]
        for place in range(games.states[slot, PLY]):
            actions[move], counts[move] = data.actions[slot, place], data.counts[slot, place]
            values[move] = data.values[slot, place]
            best_values[move] = data.best_values[slot, place]
            move += 1
        for place in range(sizes[index]):
            policy_actions[share] = data.policy_actions[slot, place]
            policy_shares[share] = data.policy_shares[slot, place]
            share += 1
    return actions, counts, values, best_values, policy_actions, policy_shares, sizes


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
    training target if `learns`.
    """
    states, moves = games.states, games.moves
    ply = states[slot, PLY]
    if not 0 <= ply < moves.actions.shape[1]:
        return MISCOUNTED
    used = first = moves.used[slot]
    for place in range(len(policy_shares) if learns else 0):
        if np.float32(policy_shares[place]) != 0:
            moves.policy_actions[slot, used] = policy_actions[place]
            moves.policy_shares[slot, used] = policy_shares[place]
            used += 1
    moves.used[slot] = used
    moves.counts[slot, ply] = used - first
    moves.actions[slot, ply] = action
    moves.values[slot, ply] = value
    moves.best_values[slot, ply] = best
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
def _begin_trees(games: Games, sides: Any, count: int, slots: Int64Array) -> None:
    """The work of `begin_trees`, without reference counting."""
    for slot in slots:
        for number in range(count):
            trees = sides[number].trees
            for index in range(games.states.shape[1]):
                trees.root_state[slot, index] = games.states[slot, index]
            trees.slots[slot].num_nodes = trees.slots[slot].num_edges = 0
            trees.slots[slot].remaining, trees.slots[slot].searching = 0, False
        if games.outcomes[slot] == ONGOING:
            begin_move(sides[games.players[slot, games.states[slot, PLY] % 2]], slot)


@kernel(types.void(MatchType, types.int64[::1]))
def begin_trees(match: Any, slots: Int64Array) -> None:
    """Load the positions of `slots` [n] into the trees of all sides, and begin their searches."""
    _begin_trees(match.games, match.sides, match.count, slots)


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
