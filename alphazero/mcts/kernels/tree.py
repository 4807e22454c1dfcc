"""The search trees, one per slot, as arrays of records.

Letters: G slots, N nodes and E edges per tree, K simulations per round of one tree, D maximum
path length, A actions, L the most legal actions of a position, S state size, R rows of a batch.
What belongs to legal actions lies in their order, without gaps for the others.

A node has a contiguous block of edges, one per legal action; `edges.py` creates them. It stores no
state: the state is replayed from the root, so a game's history is always right. Node 0 is the root.
Its edges come first, in a block of L; the blocks of the other nodes follow in node order. In a
graph (`transpositions.py`), several edges may lead to one node. Edges are records, not one array
per field, because selection is memory-bound.
"""

import math
from types import SimpleNamespace
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from alphazero.errors import GameError
from alphazero.games.game import MOST_ACTIONS, Game, State
from alphazero.games.registry import write_game
from alphazero.utils.arrays import (
    BoolArray,
    Float32Array,
    Float64Array,
    Int16Array,
    Int32Array,
    RecordArray,
    UInt64Array,
)

CREATED = np.float32(-1)
"""What `lazy_priors` holds for an edge that has been created."""

SLOT = np.dtype(
    [
        # the request: written by the search
        ("remaining", np.int64),  # simulations still to run
        ("halving_budget", np.int64),  # budget of sequential halving, 0 without halving
        ("dirichlet_fraction", np.float64),  # the epsilon of root noise, 0 for none
        # the progress: written by the kernels and `TreeSearch.reset`
        ("simulations", np.int64),  # run since allocation
        ("refused", np.int64),  # those of them whose node had no room in the tree
        ("new_visits", np.int64),  # those of them in exploring searches
        ("kept_visits", np.int64),  # at the roots of exploring searches when they began
        ("walks", np.int32),  # simulations of the current round, not backed up yet
        ("random", np.uint64),  # random state of the slot; seeded by the search
        ("searching", np.bool_),  # whether a search has begun and its result was not taken
        ("full", np.bool_),  # whether it is a full search, whose policy is a training target
        ("exploring", np.bool_),  # whether it is a full search with noise at the root
        ("num_nodes", np.int32),  # in use; 0 until the root has been evaluated
        ("num_edges", np.int32),  # in use, the root's block counted as L
    ],
    align=True,
)
NODE = np.dtype(
    [
        # the evaluator's value, or the exact one of a finished or solved position; this and the
        # bounds are for the node's player to move
        ("value", np.float64),
        ("first_edge", np.int32),  # start of the node's block of edges
        ("edge_count", np.int32),  # legal actions; 0 for a finished game or a solved leaf
        ("created_count", np.int32),  # edges that have been created
        ("next_place", np.int32),  # place in the block of the lazy edge with the highest prior
        ("lower", np.int8),  # proven lower bound on the exact value
        ("upper", np.int8),  # proven upper bound on the exact value
        ("plies", np.int8),  # of a node without edges: moves to the end of the game, 0 or 1
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("value_sum", np.float64),  # sum of backed-up values, for the player who chooses the edge
        ("visits", np.int32),  # finished simulations through the edge
        ("prior", np.float32),
        ("child", np.int32),  # node below the edge, -1 for none
        ("action", np.int16),
        ("pending", np.int16),  # simulations not backed up yet
    ],
    align=True,
)
CACHE_LINE = 64
"""bytes"""
LEAF = np.dtype(
    [
        ("depth", np.int32),  # edges from the root
        ("count", np.int32),  # legal actions, if it expands
        ("expands", np.bool_),  # whether to add a node in backup
        ("value", np.float64),  # for the player to move; set by the evaluation if it expands
    ],
    align=True,
)
ROW = np.dtype([("slot", np.int32), ("leaf", np.int32)])


class Trees(NamedTuple):
    """The arrays of all trees.

    Kernels write to them; Python writes the request fields, the seeds, and what
    `TreeSearch.reset` changes.
    """

    slots: RecordArray
    """[G] of SLOT"""
    nodes: RecordArray
    """[G, N] of NODE, each within a cache line"""
    edges: RecordArray
    """[G, E] of EDGE"""
    root_state: State
    """[G, S]"""
    root_noise: Float64Array
    """[G, L] request: random draws per edge; gamma for Dirichlet noise, Gumbel for Gumbel search"""
    root_prior: Float32Array
    """[G, L] the root's priors per edge, with noise; PUCT uses them instead of `prior`"""
    root_kept: Int32Array
    """[G, L] visits per root edge before sequential halving began"""
    leaves: RecordArray
    """[G, K] of LEAF: leaves of the current round"""
    leaf_path: Int32Array
    """[G, K, D] edges from the root to the leaf"""
    leaf_actions: Int32Array
    """[G, K, L] legal actions of the leaf, ascending"""
    leaf_logits: Float32Array
    """[G, K, L] policy logits of these actions, once evaluated"""
    keys: UInt64Array
    """[G, N] in a graph, the hash of a node's position, 0 for none; or [G, 0]"""
    leaf_key: UInt64Array
    """[G, K] in a graph, the hash of the leaf's position, 0 for none"""
    rows: RecordArray
    """[R] of ROW: slot and leaf of each row of the last batch"""
    lazy_actions: Int16Array
    """[G, E] the actions of lazy edges; or [G, 0]: all edges are created at once"""
    lazy_priors: Float32Array
    """[G, E] their priors, and `CREATED` for an edge that has been created; or [G, 0]"""
    created_places: Int16Array
    """[G, E] from the start of an incomplete node's block, the places of its created edges in it,
    ascending; or [G, 0]"""
    transposition_table: Int32Array
    """[G, T] in a graph, a hash table with linear probing: 1 + node, 0 for none. T is a power of
    two above 2 N, or 0 in a tree"""
    state: State
    """[S] scratch"""
    next_state: State
    """[S] scratch"""
    policy: Float64Array
    """[L] scratch"""
    mask: BoolArray
    """[A] scratch: legal actions"""
    mask_words: UInt64Array
    """[A / 8, rounded up] the memory of `mask`, zeros after its end"""
    new_index: Int32Array
    """[N] scratch"""
    stack: Int32Array
    """[N] scratch"""


def _aligned_zeros(shape: tuple[int, int], dtype: Any) -> RecordArray:
    """Return zeros whose first byte begins a cache line, as numpy's large arrays do not."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.zeros(size + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    records: RecordArray = memory[start : start + size].view(dtype).reshape(shape)
    return records


def allocate_trees(
    game: Game,
    slots: int,
    nodes: int,
    leaves: int = 1,
    graph: bool = False,
    rows: int | None = None,
    lazy: bool = False,
) -> Trees:
    """Allocate `slots` empty trees (graphs with `graph`) of at most `nodes` nodes each.

    `rows` is the maximum batch size, by default `slots * leaves`. With `lazy` edges are created
    one by one. All memory is reserved here; the operating system provides a page when a tree
    first writes to it. Raises GameError when the game has more than `MOST_ACTIONS` actions.
    """
    if game.num_actions > MOST_ACTIONS:
        raise GameError(
            f"{write_game(game)} has {game.num_actions} actions; a tree takes {MOST_ACTIONS}"
        )
    size, legal = game.state_size, game.most_legal
    edges = nodes * game.edges_per_node + legal
    mask_words = np.zeros(-(-game.num_actions // 8), np.uint64)
    return Trees(
        slots=np.zeros(slots, SLOT),
        nodes=_aligned_zeros((slots, nodes), NODE),
        edges=_aligned_zeros((slots, edges), EDGE),
        root_state=np.zeros((slots, size), np.int64),
        root_noise=np.zeros((slots, legal)),
        root_prior=np.zeros((slots, legal), np.float32),
        root_kept=np.zeros((slots, legal), np.int32),
        leaves=np.zeros((slots, leaves), LEAF),
        leaf_path=np.zeros((slots, leaves, game.max_moves + 1), np.int32),
        leaf_actions=np.zeros((slots, leaves, legal), np.int32),
        leaf_logits=np.zeros((slots, leaves, legal), np.float32),
        keys=np.zeros((slots, nodes if graph else 0), np.uint64),
        leaf_key=np.zeros((slots, leaves), np.uint64),
        rows=np.zeros(rows or slots * leaves, ROW),
        lazy_actions=np.zeros((slots, edges if lazy else 0), np.int16),
        lazy_priors=np.zeros((slots, edges if lazy else 0), np.float32),
        created_places=np.zeros((slots, edges if lazy else 0), np.int16),
        transposition_table=np.zeros((slots, 2 << nodes.bit_length() if graph else 0), np.int32),
        state=np.zeros(size, np.int64),
        next_state=np.zeros(size, np.int64),
        policy=np.zeros(legal),
        mask=mask_words.view(np.bool_)[: game.num_actions],
        mask_words=mask_words,
        new_index=np.zeros(nodes, np.int32),
        stack=np.zeros(nodes, np.int32),
    )


_SMALLEST: Any = SimpleNamespace(
    state_size=1, num_actions=1, most_legal=1, edges_per_node=1, max_moves=1
)
TreesType = numba.typeof(allocate_trees(_SMALLEST, 1, 1))
"""The same for every game."""
SlotsType = types.int64[::1]
