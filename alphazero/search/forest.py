"""The forest: one search tree per slot, all as arrays.

Letters: G slots (games at once), N nodes and E edges a tree may hold, K leaves under evaluation
in one tree, D the longest path, A actions, S state size, R rows of a batch.

A node owns a contiguous block of edges, one for each legal action, and stores no state: the
state is replayed from the root along the path, so a game's history is always right. Node 0 is
the root; children come after their parents, and blocks of edges lie in the order of their nodes.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from alphazero.games.game import Game, State

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int32]
Slots = npt.NDArray[np.int64]
Masks = npt.NDArray[np.bool_]


class Forest(NamedTuple):
    """The arrays of all trees. Only the kernels of `tree.py` write to them, bar `remaining`,
    `root_noise` and `noise_fraction`, which say what is wanted.
    """

    root_state: State
    """[G, S]"""
    remaining: Slots
    """[G] simulations still to run"""
    root_noise: Doubles
    """[G, A] gamma draws; the first as many as there are legal actions become Dirichlet noise"""
    noise_fraction: Doubles
    """[G] the epsilon of root noise, 0 for none"""
    root_prior: Floats
    """[G, A] the root's priors, edge by edge, with noise: used at the root in place of `prior`"""
    num_nodes: Integers
    """[G] nodes in use; 0 until the root has been evaluated"""
    num_edges: Integers
    """[G] edges in use"""
    first_edge: Integers
    """[G, N] where the node's block of edges begins"""
    edge_count: Integers
    """[G, N] legal actions; 0 at a finished game"""
    node_value: Doubles
    """[G, N] the evaluator's value, or the finished game's, for the node's player to move"""
    action: Integers
    """[G, E]"""
    prior: Floats
    """[G, E]"""
    visits: Integers
    """[G, E] finished simulations through the edge"""
    pending: Integers
    """[G, E] simulations through the edge that wait for their evaluation: the virtual loss"""
    value_sum: Doubles
    """[G, E] sum of the values backed up, for the player who chooses the edge"""
    child: Integers
    """[G, E] the node behind the edge, -1 while there is none"""
    leaf_depth: Integers
    """[G, K] edges on the way to the leaf under evaluation, -1 when there is none"""
    leaf_path: Integers
    """[G, K, D] these edges"""
    leaf_mask: Masks
    """[G, K, A] the leaf's legal actions"""
    row_slot: Integers
    """[R] the slot that each row of the batch belongs to"""
    row_leaf: Integers
    """[R] and which of its leaves"""
    state: State
    """[S] scratch"""
    renumbered: Integers
    """[N] scratch"""


def new_forest(game: Game, slots: int, nodes: int, leaves: int = 1) -> Forest:
    """Allocate `slots` empty trees of at most `nodes` nodes each.

    All memory is taken here; pages that no tree reaches are never touched.
    """
    size, actions = game.state_size, game.num_actions
    edges, rows = nodes * actions, slots * leaves

    def integers(*shape: int) -> Integers:
        return np.zeros(shape, np.int32)

    return Forest(
        root_state=np.zeros((slots, size), np.int64),
        remaining=np.zeros(slots, np.int64),
        root_noise=np.zeros((slots, actions)),
        noise_fraction=np.zeros(slots),
        root_prior=np.zeros((slots, actions), np.float32),
        num_nodes=integers(slots),
        num_edges=integers(slots),
        first_edge=integers(slots, nodes),
        edge_count=integers(slots, nodes),
        node_value=np.zeros((slots, nodes)),
        action=integers(slots, edges),
        prior=np.zeros((slots, edges), np.float32),
        visits=integers(slots, edges),
        pending=integers(slots, edges),
        value_sum=np.zeros((slots, edges)),
        child=integers(slots, edges),
        leaf_depth=np.full((slots, leaves), -1, np.int32),
        leaf_path=integers(slots, leaves, game.max_moves + 1),
        leaf_mask=np.zeros((slots, leaves, actions), np.bool_),
        row_slot=integers(rows),
        row_leaf=integers(rows),
        state=np.zeros(size, np.int64),
        renumbered=integers(nodes),
    )


def _array(dtype: Any, dimensions: int) -> Any:
    return types.Array(dtype, dimensions, "C")


_FIELD_TYPES = {
    "root_state": _array(types.int64, 2),
    "remaining": _array(types.int64, 1),
    "root_noise": _array(types.float64, 2),
    "noise_fraction": _array(types.float64, 1),
    "root_prior": _array(types.float32, 2),
    "num_nodes": _array(types.int32, 1),
    "num_edges": _array(types.int32, 1),
    "node_value": _array(types.float64, 2),
    "prior": _array(types.float32, 2),
    "value_sum": _array(types.float64, 2),
    "leaf_path": _array(types.int32, 3),
    "leaf_mask": _array(types.boolean, 3),
    "row_slot": _array(types.int32, 1),
    "row_leaf": _array(types.int32, 1),
    "state": _array(types.int64, 1),
    "renumbered": _array(types.int32, 1),
}
ForestType = types.NamedTuple(
    [_FIELD_TYPES.get(name, _array(types.int32, 2)) for name in Forest._fields], Forest
)
SlotsType = _array(types.int64, 1)
