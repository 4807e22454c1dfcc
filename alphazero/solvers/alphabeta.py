"""Negamax with alpha-beta, a transposition table and iterative deepening, for any game.

Knuth & Moore, *An Analysis of Alpha-Beta Pruning* (1975); Marsland, *A Review of Game-Tree
Pruning* (1986), for the table, the history heuristic and iterative deepening.

A *score* is relative, like a value: for the player to move. A win that comes after ply p of the
game scores WON - p, a loss p - WON, a draw 0; heuristic estimates lie in between. Scores count the
plies of the game and not of the search, so they hold wherever a position occurs.

The recursion is a stack of frames, so that a search can stop at any node and continue, for clocks
and Ctrl-C. Letters: D frames, S state size, A actions, N entries of the table.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from alphazero.games.game import (
    HEURISTIC_SCALE,
    LAST,
    ONGOING,
    PLY,
    Game,
    RulesType,
    State,
    estimate_of,
    mark_legal,
    outcome_of,
    value_of,
)
from alphazero.utils.arrays import RecordArray
from alphazero.utils.jit import inline_kernel, kernel

WON = 10 * HEURISTIC_SCALE
"""More than any heuristic or ply; `is_solved` separates game results from estimates."""
INFINITE = 2 * WON

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
"""How a stored score relates to the true one."""

TABLE_ENTRIES = 1 << 18
"""10 MiB."""

FRAME = np.dtype(
    [
        ("alpha", np.int64),  # the window when the position was entered
        ("beta", np.int64),
        ("best", np.int64),  # the best score so far, for the player to move
        ("best_action", np.int64),
        ("depth", np.int64),  # plies still to search
        ("count", np.int64),  # legal actions
        ("cursor", np.int64),  # actions already searched
        ("key", np.int64),
        ("check", np.int64),
    ]
)
ENTRY = np.dtype(
    [
        ("key", np.int64),
        ("check", np.int64),
        ("score", np.int64),
        ("stamp", np.int64),  # the search that wrote it; 0 for none
        ("action", np.int32),
        ("depth", np.int16),
        ("bound", np.int16),
    ]
)


class SearchArrays(NamedTuple):
    """The arrays of a search. Only kernels write to them once it has begun."""

    frames: RecordArray
    """[D] of FRAME"""
    states: State
    """[D, S]"""
    actions: State
    """[D, A] legal actions, those already searched first"""
    order_scores: State
    """[D, A] their scores for move ordering"""
    history: State
    """[2, A] by player: cutoffs by an action, weighted by the depth squared"""
    preference: State
    """[A] a permutation that breaks ties between moves"""
    table: RecordArray
    """[N] of ENTRY, N a power of two"""
    mask: npt.NDArray[np.bool_]
    """[A] scratch"""
    counters: State
    """[4]: the entries TOP, NODES, STAMP, SKIPPED below"""


TOP, NODES, STAMP, SKIPPED = range(4)
"""The current frame; positions searched; the search's number, from 1; the state entry that keys
leave out, -1 for none."""

_rows = types.Array(types.int64, 2, "C")
SearchArraysType = types.NamedTuple(
    [
        types.Array(numba.from_dtype(FRAME), 1, "C"),
        _rows,
        _rows,
        _rows,
        _rows,
        types.int64[::1],
        types.Array(numba.from_dtype(ENTRY), 1, "C"),
        types.boolean[::1],
        types.int64[::1],
    ],
    SearchArrays,
)


@inline_kernel
def _set_key(tree: SearchArrays, place: int) -> None:
    """Hash the position of frame `place` twice, into 128 bits.

    The first hash finds the entry and is compared whole, the second guards against collisions:
    among a billion positions of one search two agree in both once in 10^20 searches.
    """
    key, check = 0x2545F4914F6CDD1D, 0x5851F42D4C957F2D
    for entry in range(tree.states.shape[1]):
        if entry != tree.counters[SKIPPED]:
            number = tree.states[place, entry]
            key = (key ^ number) * 0x369DEA0F31A53F85
            key ^= key >> 29
            check = (check + number) * 0x27BB2EE687B0B0FD
            check ^= check >> 32
    tree.frames[place].key, tree.frames[place].check = key, check


@inline_kernel
def _find(tree: SearchArrays, place: int) -> int:
    """Return the table entry of the position of frame `place`, or -1."""
    first = tree.frames[place].key & (len(tree.table) - 1)
    for entry in (first, first ^ 1):
        if (
            tree.table[entry].stamp == tree.counters[STAMP]
            and tree.table[entry].key == tree.frames[place].key
            and tree.table[entry].check == tree.frames[place].check
        ):
            return entry  # type: ignore[no-any-return]
    return -1


@inline_kernel
def _remember(tree: SearchArrays, place: int) -> None:
    """Store frame `place` in its own entry, else the first unless it is deeper, else the second."""
    frame, entry = tree.frames[place], _find(tree, place)
    if entry < 0:
        entry = frame.key & (len(tree.table) - 1)
        if tree.table[entry].stamp == tree.counters[STAMP]:
            entry ^= tree.table[entry].depth > frame.depth
    tree.table[entry].key, tree.table[entry].check = frame.key, frame.check
    tree.table[entry].stamp = tree.counters[STAMP]
    tree.table[entry].score, tree.table[entry].depth = frame.best, frame.depth
    tree.table[entry].action = frame.best_action
    bound = AT_MOST if frame.best <= frame.alpha else EXACT
    tree.table[entry].bound = AT_LEAST if frame.best >= frame.beta else bound


@inline_kernel
def _enter(rules: Any, tree: SearchArrays, place: int, depth: int, alpha: int, beta: int) -> bool:
    """Enter the position in `states[place]`; return whether its moves must be searched.

    If not, `best` holds its score: the game is over, the depth is spent, or the table has it.
    """
    state, player = tree.states[place], tree.states[place, PLY] % 2
    tree.frames[place].alpha, tree.frames[place].beta = alpha, beta
    tree.frames[place].depth = depth
    outcome = outcome_of(rules, state)
    if outcome != ONGOING:
        tree.frames[place].best = value_of(outcome, player) * (WON - state[PLY])
        return False
    if depth == 0:
        tree.frames[place].best = estimate_of(rules, state)
        return False
    _set_key(tree, place)
    entry, remembered = _find(tree, place), -1
    if entry >= 0:
        remembered = tree.table[entry].action
        score, bound = tree.table[entry].score, tree.table[entry].bound
        if tree.table[entry].depth >= depth and (
            bound == EXACT
            or (bound == AT_LEAST and score >= beta)
            or (bound == AT_MOST and score <= alpha)
        ):
            tree.frames[place].best, tree.frames[place].best_action = score, remembered
            return False
    mark_legal(rules, state, tree.mask)
    count = 0
    for action in range(len(tree.mask)):
        if tree.mask[action]:
            merit = tree.history[player, action] * len(tree.mask) + tree.preference[action]
            tree.actions[place, count] = action
            tree.order_scores[place, count] = (
                np.iinfo(np.int64).max if action == remembered else merit
            )
            count += 1
    tree.frames[place].count, tree.frames[place].cursor = count, 0
    tree.frames[place].best, tree.frames[place].best_action = -INFINITE, -1
    return True


@inline_kernel
def _next_action(tree: SearchArrays, place: int) -> int:
    """Take the most promising action that frame `place` has not searched."""
    actions, merits = tree.actions[place], tree.order_scores[place]
    cursor, chosen = tree.frames[place].cursor, tree.frames[place].cursor
    for index in range(cursor + 1, tree.frames[place].count):
        if merits[index] > merits[chosen]:
            chosen = index
    actions[cursor], actions[chosen] = actions[chosen], actions[cursor]
    merits[cursor], merits[chosen] = merits[chosen], merits[cursor]
    tree.frames[place].cursor += 1
    return actions[cursor]  # type: ignore[no-any-return]


@inline_kernel
def _back_up(tree: SearchArrays, place: int) -> None:
    """Back up the next frame's score to frame `place`, with the sign flipped."""
    score = -tree.frames[place + 1].best
    if score > tree.frames[place].best:
        action = tree.actions[place, tree.frames[place].cursor - 1]
        tree.frames[place].best, tree.frames[place].best_action = score, action
        if score >= tree.frames[place].beta:
            player, depth = tree.states[place, PLY] % 2, tree.frames[place].depth
            tree.history[player, action] += depth * depth


@kernel(types.boolean(RulesType, SearchArraysType, types.int64, types.int64, types.int64))
def begin(rules: Any, tree: SearchArrays, depth: int, alpha: int, beta: int) -> bool:
    """Begin a search of `depth` plies from `states[0]`; return whether there is any to do."""
    tree.counters[TOP] = 0
    return _enter(rules, tree, 0, depth, alpha, beta)


@kernel(types.boolean(RulesType, SearchArraysType, types.int64))
def run(rules: Any, tree: SearchArrays, nodes: int) -> bool:
    """Search up to `nodes` more positions; return whether the search is over."""
    last = tree.counters[NODES] + nodes
    while tree.counters[NODES] < last:
        top = tree.counters[TOP]
        frame = tree.frames[top]
        if frame.cursor < frame.count and frame.best < frame.beta:
            action = _next_action(tree, top)
            tree.states[top + 1] = tree.states[top]
            rules.play(tree.states[top + 1], action)
            tree.counters[NODES] += 1
            alpha = max(frame.alpha, frame.best)
            if _enter(rules, tree, top + 1, frame.depth - 1, -frame.beta, -alpha):
                tree.counters[TOP] += 1
            else:
                _back_up(tree, top)
        else:
            _remember(tree, top)
            if top == 0:
                return True
            tree.counters[TOP] -= 1
            _back_up(tree, top - 1)
    return False


def is_solved(score: int) -> bool:
    """Whether a score is that of a forced win or loss."""
    return abs(score) > HEURISTIC_SCALE


class AlphaBeta:
    """A search that deepens ply by ply and has a best move at any time.

    Its results depend on position, depth and `preference` only, unless `start` keeps the table.
    """

    def __init__(self, game: Game, entries: int = TABLE_ENTRIES) -> None:
        self.game = game
        places, actions = game.max_moves + 1, game.num_actions
        self._tree = SearchArrays(
            np.zeros(places, FRAME),
            np.zeros((places, game.state_size), np.int64),
            np.zeros((places, actions), np.int64),
            np.zeros((places, actions), np.int64),
            np.zeros((2, actions), np.int64),
            np.arange(actions)[::-1].copy(),
            np.zeros(entries, ENTRY),
            np.zeros(actions, np.bool_),
            np.array([0, 0, 0, -1 if game.last_move_in_state_key else LAST]),
        )
        self.score, self.action, self.depth = 0, -1, 0
        self._wanted, self._window = 0, (-INFINITE, INFINITE)

    def start(
        self,
        state: State,
        depth: int,
        window: tuple[int, int] = (-INFINITE, INFINITE),
        preference: State | None = None,
        keep: bool = False,
    ) -> None:
        """Start from an unfinished position `int64 [S]`, to search at most `depth` >= 1 plies deep.

        A score at or beyond an end of `window` is a bound. `preference` [A], a permutation, breaks
        ties between moves: the greater is preferred. `keep` keeps the table of the search before.
        """
        tree = self._tree
        if not keep:
            tree.counters[STAMP] += 1
            tree.history[:] = 0
        if preference is not None:
            tree.preference[:] = preference
        tree.states[0] = state
        self._wanted = min(depth, self.game.max_moves - int(state[PLY]))
        self._window = window
        self.score, self.action, self.depth = 0, -1, 0
        self._begin_next()

    @property
    def nodes(self) -> int:
        """Positions searched so far, in all searches."""
        return int(self._tree.counters[NODES])

    @property
    def is_exact(self) -> bool:
        """Whether the score is the exact one, or an exact bound beyond the window.

        A forced win is certain at once; that it is the shortest one, only after all shorter lines.
        """
        alpha, beta = self._window
        proven = is_solved(self.score)
        if proven and (beta <= self.score > 0 or alpha >= self.score < 0):
            return True
        end = WON - abs(self.score) if proven else self.game.max_moves
        return 0 < self.depth >= end - int(self._tree.states[0, PLY])

    @property
    def is_over(self) -> bool:
        """Whether the search has reached the wanted depth or an exact score."""
        return self.depth >= self._wanted or self.is_exact

    def go_on(self, nodes: int) -> bool:
        """Search at most `nodes` more positions; return whether the search is over."""
        last = self.nodes + nodes
        while not self.is_over and self.nodes < last:
            if run(self.game.rules, self._tree, last - self.nodes):
                self._finish_depth()
        return self.is_over

    def best_action(self) -> int:
        """Return the best action of the current depth if there is one, else of the last one."""
        root = self._tree.frames[0]
        under_way = not self.is_over and root["best_action"] >= 0
        return int(root["best_action"]) if under_way else self.action

    def _finish_depth(self) -> None:
        root = self._tree.frames[0]
        self.score, self.action = int(root["best"]), int(root["best_action"])
        self.depth = int(root["depth"])
        if not self.is_over:
            self._begin_next()

    def _begin_next(self) -> None:
        if not begin(self.game.rules, self._tree, self.depth + 1, *self._window):
            self._finish_depth()
