"""Moving on: the chosen child becomes the root, and its subtree is kept."""

from typing import Any

from numba import types

from alphazero.games.game import RulesType
from alphazero.mcts.kernels.transpositions import enter_all
from alphazero.mcts.kernels.tree import Forest, ForestType, SlotsType
from alphazero.utils.arrays import Slots
from alphazero.utils.jit import helper, kernel


@helper
def _number_below(forest: Forest, slot: int, root: int) -> int:
    """Write into `forest.renumbered` what becomes of each node, and return how many are kept.

    The root becomes 0, what it leads to keeps its order behind it, the rest is -1.
    """
    renumbered, waiting = forest.renumbered, forest.waiting
    nodes = forest.slots[slot].num_nodes
    for node in range(nodes):
        renumbered[node] = -1
    renumbered[root], waiting[0], count = 0, root, 1
    while count > 0:
        count -= 1
        first = forest.nodes[slot, waiting[count]].first_edge
        last = first + forest.nodes[slot, waiting[count]].edge_count
        for edge in range(first, last):
            child = forest.edges[slot, edge].child
            if child >= 0 and renumbered[child] < 0:
                renumbered[child], waiting[count] = 0, child
                count += 1
    kept = 1
    for node in range(nodes):
        if renumbered[node] == 0 and node != root:
            renumbered[node] = kept
            kept += 1
    return kept


@helper
def _move_node(forest: Forest, slot: int, node: int, target: int) -> int:
    """Move a node to its new number, its edges to `target`; return where these end."""
    place, first = forest.renumbered[node], forest.nodes[slot, node].first_edge
    last = first + forest.nodes[slot, node].edge_count
    forest.nodes[slot, place] = forest.nodes[slot, node]
    forest.nodes[slot, place].first_edge = target
    for edge in range(first, last):
        child = forest.edges[slot, edge].child
        forest.edges[slot, target] = forest.edges[slot, edge]
        forest.edges[slot, target].child = forest.renumbered[child] if child >= 0 else -1
        target += 1
    return target


@helper
def _keep_subtree(forest: Forest, slot: int, root: int) -> None:
    """Move what is below `root` to the front of the slot's arrays; the rest is forgotten.

    The root goes where the old one was, with room for its edges. The others follow in ascending
    order, so that nodes and blocks of edges only ever move forward.
    """
    nodes, kept = forest.slots[slot].num_nodes, _number_below(forest, slot, root)
    _move_node(forest, slot, root, 0)
    target = forest.root_prior.shape[1]
    for node in range(nodes):
        if forest.renumbered[node] > 0:
            target = _move_node(forest, slot, node, target)
    forest.slots[slot].num_nodes = kept
    forest.slots[slot].num_edges = target
    enter_all(forest, slot)


@kernel(types.void(RulesType, ForestType, SlotsType, SlotsType, types.boolean))
def advance_trees(rules: Any, forest: Forest, slots: Slots, actions: Slots, keep: bool) -> None:
    """Play `actions` [n] at the roots of `slots` [n]; with `keep`, the child becomes the root.

    Nothing is kept of a tree whose child was not expanded.
    """
    for index in range(len(slots)):
        slot, action = slots[index], actions[index]
        rules.play(forest.root_state[slot], action)
        child = -1
        if keep and forest.slots[slot].num_nodes > 0:
            for edge in range(forest.nodes[slot, 0].edge_count):
                if forest.edges[slot, edge].action == action:
                    child = forest.edges[slot, edge].child
        if child >= 0 and forest.nodes[slot, child].edge_count > 0:
            _keep_subtree(forest, slot, child)
        else:
            forest.slots[slot].num_nodes = 0
            forest.slots[slot].num_edges = 0
