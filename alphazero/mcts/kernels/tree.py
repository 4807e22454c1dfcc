"""The trees: one search tree per slot, all as arrays of records.

Letters: G slots (games at once), N nodes and E edges a tree may hold, K walks of a round
in one tree, D the longest path, A actions, S state size, R rows of a batch.

A node owns a contiguous block of edges, one for each legal action, and stores no state: the
state is replayed from the root along the path, so a game's history is always right. Node 0 is
the root; its edges come first, in room for A of them, and the blocks of the others follow in the
order of their nodes. In a graph (`graph.py`), several edges may lead to one node.
All that a walk needs of an edge lies together, in one record: memory is what it waits for.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from alphazero.games.game import Game, State
from alphazero.utils.arrays import Doubles, Floats, Integers, Keys, Masks, Records

SLOT = np.dtype(
    [
        # what is wanted: written from outside
        ("remaining", np.int64),  # simulations still to run
        ("halved", np.int64),  # simulations that sequential halving shares out, 0 for none
        ("dirichlet_fraction", np.float64),  # the epsilon of root noise, 0 for none
        ("root_temperature", np.float64),  # that of the root's priors
        ("forced_playouts", np.float64),  # k of the visits that root actions are forced to get
        ("awaits_noise", np.bool_),  # the root may not be searched before its noise is drawn
        # what has become: written by the kernels
        ("simulations", np.int64),  # ever run
        ("walks", np.int32),  # of the round under way, which wait to be backed up
        ("random", np.uint64),  # the state of the slot's random numbers; seeded from outside
        ("num_nodes", np.int32),  # in use; 0 until the root has been evaluated
        ("num_edges", np.int32),  # in use
    ],
    align=True,
)
NODE = np.dtype(
    [
        # for the node's player to move: the evaluator's value, or the exact one where the game
        # is finished or the solver has proven it
        ("value", np.float64),
        ("key", np.uint64),  # in a graph, the hash of its position, 0 for none
        ("first_edge", np.int32),  # where the node's block of edges begins
        ("edge_count", np.int32),  # legal actions; 0 where the game is finished
        ("lower", np.int8),  # the least value that is proven
        ("upper", np.int8),  # the greatest value that is possible
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("action", np.int32),
        ("prior", np.float32),
        ("visits", np.int32),  # finished simulations through the edge
        ("pending", np.int32),  # those that wait for their evaluation: the virtual loss
        ("value_sum", np.float64),  # of the values backed up, for the player who chooses the edge
        ("child", np.int32),  # the node behind the edge, -1 while there is none
    ],
    align=True,
)
LEAF = np.dtype(
    [
        ("depth", np.int32),  # edges on the way to it
        ("expands", np.bool_),  # whether it becomes a node; a finished game has one already
        ("value", np.float64),  # for its player to move; once it was evaluated, if it must be
    ],
    align=True,
)
ROW = np.dtype([("slot", np.int32), ("leaf", np.int32)])


class Trees(NamedTuple):
    """The arrays of all trees. Only kernels write to them, bar what is said to be wanted."""

    slots: Records
    """[G] of SLOT"""
    nodes: Records
    """[G, N] of NODE"""
    edges: Records
    """[G, E] of EDGE"""
    root_state: State
    """[G, S]"""
    root_noise: Doubles
    """[G, A] wanted: random draws, edge by edge; gamma for Dirichlet noise, Gumbel for Gumbel
    search"""
    root_prior: Floats
    """[G, A] the root's priors, edge by edge, with noise: used at the root in place of `prior`"""
    root_kept: Integers
    """[G, A] visits that the root's edges had, edge by edge, before sequential halving began"""
    leaves: Records
    """[G, K] of LEAF: where the walks of the round under way have ended"""
    leaf_path: Integers
    """[G, K, D] the edges on the way there"""
    leaf_logits: Floats
    """[G, K, A] its policy logits, once it was evaluated"""
    leaf_key: Keys
    """[G, K] in a graph, the hash of its position, 0 for none"""
    leaf_mask: Masks
    """[G, K, A] the leaf's legal actions"""
    rows: Records
    """[R] of ROW: the slot and the leaf that each row of the last batch belongs to"""
    transposition_table: Integers
    """[G, T] in a graph, 1 + the node at the place of its key or the next free one, 0 for none. T:
    a power of two, more than twice N, or 0 in a tree"""
    state: State
    """[S] scratch"""
    next_state: State
    """[S] scratch"""
    policy: Doubles
    """[A] scratch"""
    new_index: Integers
    """[N] scratch"""
    stack: Integers
    """[N] scratch"""


def allocate_trees(
    game: Game,
    slots: int,
    nodes: int,
    leaves: int = 1,
    graph: bool = False,
    rows: int | None = None,
) -> Trees:
    """Allocate `slots` empty trees, or with `graph` graphs, of at most `nodes` nodes each.

    A batch has at most `rows`; by default it holds every leaf that there can be. All memory is
    taken here; pages that no tree reaches are never touched.
    """
    size, actions = game.state_size, game.num_actions
    return Trees(
        slots=np.zeros(slots, SLOT),
        nodes=np.zeros((slots, nodes), NODE),
        edges=np.zeros((slots, nodes * actions), EDGE),
        root_state=np.zeros((slots, size), np.int64),
        root_noise=np.zeros((slots, actions)),
        root_prior=np.zeros((slots, actions), np.float32),
        root_kept=np.zeros((slots, actions), np.int32),
        leaves=np.zeros((slots, leaves), LEAF),
        leaf_path=np.zeros((slots, leaves, game.max_moves + 1), np.int32),
        leaf_logits=np.zeros((slots, leaves, actions), np.float32),
        leaf_key=np.zeros((slots, leaves), np.uint64),
        leaf_mask=np.zeros((slots, leaves, actions), np.bool_),
        rows=np.zeros(rows or slots * leaves, ROW),
        transposition_table=np.zeros((slots, 2 << nodes.bit_length() if graph else 0), np.int32),
        state=np.zeros(size, np.int64),
        next_state=np.zeros(size, np.int64),
        policy=np.zeros(actions),
        new_index=np.zeros(nodes, np.int32),
        stack=np.zeros(nodes, np.int32),
    )


def _array(dtype: Any, dimensions: int) -> Any:
    return types.Array(dtype, dimensions, "C")


TreesType = types.NamedTuple(
    [
        _array(numba.from_dtype(SLOT), 1),
        _array(numba.from_dtype(NODE), 2),
        _array(numba.from_dtype(EDGE), 2),
        _array(types.int64, 2),
        _array(types.float64, 2),
        _array(types.float32, 2),
        _array(types.int32, 2),
        _array(numba.from_dtype(LEAF), 2),
        _array(types.int32, 3),
        _array(types.float32, 3),
        _array(types.uint64, 2),
        _array(types.boolean, 3),
        _array(numba.from_dtype(ROW), 1),
        _array(types.int32, 2),
        _array(types.int64, 1),
        _array(types.int64, 1),
        _array(types.float64, 1),
        _array(types.int32, 1),
        _array(types.int32, 1),
    ],
    Trees,
)
SlotsType = _array(types.int64, 1)
