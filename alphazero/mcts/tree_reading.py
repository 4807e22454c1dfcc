"""What people are shown of a search's trees: lines and proofs.

The root of each slot must be evaluated.
"""

from typing import NamedTuple

import numpy as np

from alphazero.mcts.kernels.tree import Trees
from alphazero.mcts.search import TreeSearch
from alphazero.utils.arrays import Int64Array, RecordArray


class Proof(NamedTuple):
    """The proven end of a position."""

    value: int
    """+1, 0 or -1 for the player to move"""
    plies: int
    """moves of both sides until the end: an upper bound for the winner; meaningless in a draw"""


def principal_variation(search: TreeSearch, slot: int, action: int, length: int = 8) -> list[int]:
    """Return the most visited line that starts with `action`, of at most `length` moves."""
    trees, line = search.trees, [action]
    edges = edges_of(trees, slot, 0)
    edge = edges[edges["action"] == action][0]
    while len(line) < length and edge["child"] >= 0:
        edges = edges_of(trees, slot, int(edge["child"]))
        if not edges["visits"].any():
            break
        edge = edges[edges["visits"].argmax()]
        line.append(int(edge["action"]))
    return line


def proof_of(search: TreeSearch, slot: int) -> Proof | None:
    """Return what the MCTS solver has proven of the root of `slot`; else None."""
    root = search.trees.nodes[slot, 0]
    if root["lower"] != root["upper"]:
        return None
    return Proof(int(root["lower"]), _solved_plies(search.trees, slot, 0, {}))


def _solved_plies(trees: Trees, slot: int, node: int, plies: dict[int, int]) -> int:
    """Return the moves to the end of a solved node: the fewest for a winner, the most for a loser.

    A node without edges is a finished game, or has a move that wins at once, which was not
    searched. `plies` holds the results by node.
    """
    if node not in plies:
        value = int(trees.nodes[slot, node]["lower"])
        ends = []
        for edge in edges_of(trees, slot, node):
            child = int(edge["child"])
            bounds = trees.nodes[slot, child] if child >= 0 else None
            if bounds is not None and bounds["lower"] == bounds["upper"] == -value:
                ends.append(1 + _solved_plies(trees, slot, child, plies))
        plies[node] = (min if value > 0 else max)(
            ends, default=int(trees.nodes[slot, node]["plies"])
        )
    return plies[node]


def edges_of(trees: Trees, slot: int, node: int) -> RecordArray:
    """Return the created edges of a node, in the order of actions."""
    block: RecordArray = trees.edges[slot, created_edges(trees, slot, node)]
    return block


def created_edges(trees: Trees, slot: int, node: int) -> slice | Int64Array:
    """Return the indices of a node's created edges, as a slice if all are."""
    header = trees.nodes[slot, node]
    first, count = int(header["first_edge"]), int(header["created_count"])
    if count == header["edge_count"]:
        return slice(first, first + count)
    return first + trees.created_places[slot, first : first + count].astype(np.int64)
