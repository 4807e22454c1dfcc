"""The kernel of searches without a network: leaves are evaluated by playing on at random.

The tree and its walks are those of `tree.py`. Letters as in `forest.py`.
"""

from typing import Any

from numba import types

from alphazero.games.game import (
    ONGOING,
    PLY,
    RulesType,
    mark_legal,
    outcome_of,
    play_move,
    value_of,
)
from alphazero.mcts.kernels.equations import Selection, SelectionType
from alphazero.mcts.kernels.simulation import (
    TERMINAL,
    add_finished_root,
    add_node,
    backup,
    descend,
    reset_state,
    rests,
    write_edge,
)
from alphazero.mcts.kernels.tree import Forest, ForestType, SlotsType
from alphazero.mcts.kernels.ucb import draw_below
from alphazero.utils.arrays import Slots
from alphazero.utils.jit import helper, kernel


@helper
def _play_out(rules: Any, forest: Forest, slot: int) -> int:
    """Play random moves in `forest.state`, whose legal actions are known, to the game's end.

    Returns the outcome, which is for player 0. A move is drawn among all actions until it is
    legal, which takes no longer than to mark the legal ones. A game that outgrows its `max_moves`
    is left as a draw, as no outcome is known of it; a walk of the tree ends there too.
    """
    mask = forest.leaf_mask[slot, 0]
    for _ in range(forest.leaf_path.shape[2]):
        action = draw_below(forest, slot, len(mask))
        while not mask[action]:
            action = draw_below(forest, slot, len(mask))
        play_move(rules, forest.state, action)
        outcome = outcome_of(rules, forest.state)
        if outcome != ONGOING:
            return outcome
        mark_legal(rules, forest.state, mask)
    return 0


@helper
def _expand_evenly(forest: Forest, slot: int, depth: int, count: int) -> int:
    """Give the leaf at the end of the path a node whose `count` actions are all alike.

    Returns the node, or -1 when the tree is full.
    """
    mask = forest.leaf_mask[slot, 0]
    node = add_node(forest, slot, depth, 0, 0.0, count)
    if node >= 0:
        edge = forest.nodes[slot, node].first_edge
        for action in range(len(mask)):
            if mask[action]:
                write_edge(forest, slot, edge, action, 1.0 / count)
                edge += 1
    return node


@helper
def _is_full(forest: Forest, selection: Selection, slot: int) -> bool:
    """Whether a tree that may still grow deeper has no room to."""
    return bool(selection.depth > 1 and forest.slots[slot].num_nodes == forest.nodes.shape[1])


@kernel(types.int64(RulesType, ForestType, SelectionType, SlotsType, types.int64))
def run_rollouts(rules: Any, forest: Forest, selection: Selection, slots: Slots, plies: int) -> int:
    """Run simulations in each of `slots` until it is done or has played `plies` moves.

    The first look at a root is none of its simulations. A full tree ends its search: memory is a
    budget like any other. Returns the number of evaluations.

    Browne et al., *A Survey of Monte Carlo Tree Search Methods* (2012), algorithm 2 (UCT), with
    the negamax backup of algorithm 3; a node is added where a rollout begins, as deep as
    `selection.depth` allows.
    """
    evaluations = 0
    for slot in slots:
        if forest.slots[slot].num_nodes == 0:
            add_finished_root(rules, forest, selection, slot)
        played = 0
        while played < plies:
            depth = 0
            if forest.slots[slot].num_nodes > 0:
                if _is_full(forest, selection, slot):
                    forest.slots[slot].remaining = 0
                if rests(forest, selection, slot):
                    break
                end, depth, value = descend(rules, forest, selection, slot, 0)
                forest.slots[slot].remaining -= 1
                forest.slots[slot].simulations += 1
                if end == TERMINAL:
                    backup(forest, selection, slot, 0, depth, value)
                    played += depth
                    continue
            else:
                reset_state(forest, slot)
            count = mark_legal(rules, forest.state, forest.leaf_mask[slot, 0])
            node = -1
            if depth < selection.depth:
                node = _expand_evenly(forest, slot, depth, count)
            player = forest.state[PLY] % 2
            begin = forest.state[PLY] - depth
            value = float(value_of(_play_out(rules, forest, slot), player))
            if node >= 0:
                forest.nodes[slot, node].value = value
            backup(forest, selection, slot, 0, depth, value)
            played += forest.state[PLY] - begin
            evaluations += 1
    return evaluations
