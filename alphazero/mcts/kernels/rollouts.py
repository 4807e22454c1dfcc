"""Kernel of the rollout searches: selection and backup of `simulation.py`, random leaf evaluation.

Letters as in `tree.py`.
"""

from typing import Any

from numba import types

from alphazero.games.compiled_rules import RuleFunctions, RulesType, call_rule
from alphazero.games.game import ONGOING, OUTCOME, PLY, value_of
from alphazero.mcts.kernels.edges import init_edge
from alphazero.mcts.kernels.equations import SelectionParams, SelectionParamsType
from alphazero.mcts.kernels.randomness import random_legal
from alphazero.mcts.kernels.simulation import (
    TERMINAL,
    add_finished_root,
    add_node,
    backup,
    descend,
    is_idle,
    list_legal,
    reset_state,
)
from alphazero.mcts.kernels.tree import SlotsType, Trees, TreesType
from alphazero.utils.arrays import Int64Array
from alphazero.utils.jit import inline_kernel, kernel


@inline_kernel
def _play_out(rules: RuleFunctions, trees: Trees, slot: int, count: int) -> int:
    """Play random moves from `trees.state` to the end; return the outcome, for player 0.

    `mask` holds the `count` legal actions. A game that exceeds its `max_moves` counts as a draw.
    """
    for _ in range(trees.leaf_path.shape[2]):
        action = random_legal(trees, slot, count)
        call_rule(rules.play, trees.state, action)
        outcome: int = trees.state[OUTCOME]
        if outcome != ONGOING:
            return outcome
        count = call_rule(rules.legal, trees.state, trees.mask)
    return 0


@inline_kernel
def _expand_evenly(trees: Trees, slot: int, depth: int, count: int) -> int:
    """Add the leaf's node, with `count` equal priors; return it, or -1 if the tree is full."""
    node = add_node(trees, slot, depth, 0, 0.0, count)
    if node >= 0:
        first = trees.nodes[slot, node].first_edge
        for place in range(count):
            init_edge(trees, slot, first + place, trees.leaf_actions[slot, 0, place], 1.0 / count)
    return node


@inline_kernel
def _run(
    rules: RuleFunctions, trees: Trees, selection: SelectionParams, slots: Int64Array, plies: int
) -> int:
    """The work of `run_rollouts`, without reference counting."""
    evaluations = 0
    for slot in slots:
        if trees.slots[slot].num_nodes == 0:
            add_finished_root(trees, selection, slot)
        played = 0
        while played < plies:
            depth = 0
            if trees.slots[slot].num_nodes > 0:
                if is_idle(trees, selection, slot):
                    break
                end, depth, value = descend(rules, trees, selection, slot, 0)
                trees.slots[slot].remaining -= 1
                trees.slots[slot].simulations += 1
                if end == TERMINAL:
                    backup(trees, selection, slot, 0, depth, value)
                    played += depth
                    continue
            else:
                reset_state(trees, slot)
            count = list_legal(rules, trees, slot, 0)
            node = -1
            if depth < selection.depth:
                node = _expand_evenly(trees, slot, depth, count)
            player = trees.state[PLY] % 2
            begin = trees.state[PLY] - depth
            value = float(value_of(_play_out(rules, trees, slot, count), player))
            if node >= 0:
                trees.nodes[slot, node].value = value
            backup(trees, selection, slot, 0, depth, value)
            played += trees.state[PLY] - begin
            evaluations += 1
    return evaluations


@kernel(types.int64(RulesType, TreesType, SelectionParamsType, SlotsType, types.int64))
def run_rollouts(
    rules: Any, trees: Trees, selection: SelectionParams, slots: Int64Array, plies: int
) -> int:
    """Run simulations in each of `slots` until it finishes or has played `plies` moves.

    The evaluation of the root does not count as a simulation. Rollouts go on in a full tree, which
    no longer grows. Returns the number of evaluations.

    Browne et al., *A Survey of Monte Carlo Tree Search Methods* (2012), algorithm 2 (UCT), with
    the negamax backup of algorithm 3. A node is added where a rollout begins, above
    `selection.depth`.
    """
    return _run(rules.functions, trees, selection, slots, plies)
