"""Negamax with alpha-beta, a transposition table and iterative deepening, for any game.

Knuth & Moore, *An Analysis of Alpha-Beta Pruning* (1975); Marsland, *A Review of Game-Tree
Pruning* (1986), for the table, the history heuristic and iterative deepening.

A *score* is relative, like a value: for the player to move. A win after ply p of the game scores
WON - p, a loss p - WON, a draw 0; heuristic estimates lie in between. Plies are counted from the
start of the game, so a score does not depend on the position where the search started.

An explicit stack of frames replaces recursion, so that a search can stop at any node and continue.
Letters: D frames, S state size, A actions, L the most legal ones, N entries of the
table.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from alphazero.games.compiled_rules import HEURISTIC_SCALE, RuleFunctions, RulesType, call_rule
from alphazero.games.game import ONGOING, OUTCOME, PLY, Game, State, value_of
from alphazero.utils.arrays import BoolArray, RecordArray, UInt64Array
from alphazero.utils.jit import inline_kernel, kernel, shared_kernel

WON = 10 * HEURISTIC_SCALE
"""More than any heuristic or ply; `is_proven` distinguishes game results from estimates."""
INFINITE = 2 * WON

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
"""How a stored score relates to the true one."""

TABLE_ENTRIES = 1 << 18
"""10 MiB."""

_WINDOW = "alpha", "beta", "best", "best_action", "depth"
_POSITION = "count", "cursor", "key", "check", "image"
FRAME = np.dtype([(name, np.int64) for name in _WINDOW + _POSITION])
"""A position on the stack: the window when it was entered; the best score so far, for the player to
move, and its action; the plies still to search; the legal actions and those already searched; the
two hashes of the position, and the image that has them."""
ENTRY = np.dtype(
    [
        ("key", np.int64),
        ("check", np.int64),
        ("score", np.int64),
        ("stamp", np.int32),  # the search that wrote it; 0 for none
        ("action", np.int32),
        ("depth", np.int32),
        ("bound", np.int16),
        ("image", np.int16),
    ]
)


class SearchArrays(NamedTuple):
    """The arrays of a search; only kernels write to them while it runs."""

    frames: RecordArray
    """[D] of FRAME"""
    states: State
    """[D, S]"""
    actions: State
    """[D, L] legal actions, those already searched first"""
    order_scores: State
    """[D, L] the actions' scores for move ordering"""
    history: State
    """[2, A] by player: cutoffs by an action, weighted by the depth squared"""
    preference: State
    """[A] a permutation that breaks ties between moves"""
    table: RecordArray
    """[N] of ENTRY: the transposition table; N is a power of two"""
    mask: BoolArray
    """[A] scratch"""
    replies: BoolArray
    """[A] scratch: the replies to a move"""
    counters: State
    """[4]: the entries TOP, NODES, STAMP, AT_ONCE below"""
    images: UInt64Array
    """uint64 [K, E], as `Game.key_images`; signed indices would be slower"""


TOP, NODES, STAMP, AT_ONCE = range(4)
"""The current frame; positions searched; the search's number, from 1; whether it goes to the end of
the game at once, without deepening."""


def _allocate(
    frames: int, state_size: int, actions: int, legal: int, entries: int, images: State
) -> SearchArrays:
    return SearchArrays(
        np.zeros(frames, FRAME),
        np.zeros((frames, state_size), np.int64),
        np.zeros((frames, legal), np.int64),
        np.zeros((frames, legal), np.int64),
        np.zeros((2, actions), np.int64),
        np.arange(actions)[::-1].copy(),
        np.zeros(entries, ENTRY),
        np.zeros(actions, np.bool_),
        np.zeros(actions, np.bool_),
        np.zeros(4, np.int64),
        images.astype(np.uint64),
    )


SearchArraysType = numba.typeof(_allocate(1, 1, 1, 1, 1, np.zeros((1, 1), np.int64)))


@shared_kernel
def is_proven(score: int) -> bool:
    """Whether a score is that of a forced win or loss."""
    return abs(score) > HEURISTIC_SCALE


@inline_kernel
def _shifted(score: int, plies: int) -> int:
    """Return a score with the end of the game `plies` earlier; estimates have none."""
    if is_proven(score):
        score += plies if score > 0 else -plies
    return score


@inline_kernel
def _set_key(arrays: SearchArrays, level: int) -> None:
    """Hash the position of frame `level` twice, into 128 bits: the image with the least ones.

    The first hash gives the entry, the second prevents collisions: among a billion positions of one
    search two agree in both once in 10^20 searches.
    """
    frame = arrays.frames[level]
    for image in range(len(arrays.images)):
        key, check = 0x2545F4914F6CDD1D, 0x5851F42D4C957F2D + arrays.states[level, PLY] % 2
        for place in range(arrays.images.shape[1]):
            number = arrays.states[level, arrays.images[image, place]]
            key = (key ^ number) * 0x369DEA0F31A53F85
            key ^= key >> 29
            check = (check + number) * 0x27BB2EE687B0B0FD
            check ^= check >> 32
        if image == 0 or check < frame.check:
            frame.key, frame.check, frame.image = key, check, image


@inline_kernel
def _find(arrays: SearchArrays, level: int) -> int:
    """Return the table entry of the position of frame `level`, or -1."""
    first = arrays.frames[level].key & (len(arrays.table) - 1)
    for entry in (first, first ^ 1):
        if (
            arrays.table[entry].stamp == arrays.counters[STAMP]
            and arrays.table[entry].key == arrays.frames[level].key
            and arrays.table[entry].check == arrays.frames[level].check
        ):
            return entry  # type: ignore[no-any-return]
    return -1


@inline_kernel
def _store(arrays: SearchArrays, level: int) -> None:
    """Store frame `level` in its own entry, else in one of the two possible ones.

    That is the first, or the second if the first holds a deeper search.
    """
    frame, index = arrays.frames[level], _find(arrays, level)
    if index < 0:
        index = frame.key & (len(arrays.table) - 1)
        if arrays.table[index].stamp == arrays.counters[STAMP]:
            index ^= arrays.table[index].depth > frame.depth
    entry = arrays.table[index]
    entry.key, entry.check, entry.stamp = frame.key, frame.check, arrays.counters[STAMP]
    entry.score = _shifted(frame.best, arrays.states[level, PLY])
    entry.depth, entry.action, entry.image = frame.depth, frame.best_action, frame.image
    bound = AT_MOST if frame.best <= frame.alpha else EXACT
    entry.bound = AT_LEAST if frame.best >= frame.beta else bound


@inline_kernel
def _has_safe_reply(rules: RuleFunctions, arrays: SearchArrays, level: int) -> bool:
    """Whether a move from `states[level]` leaves no win at once; the next state is scratch."""
    call_rule(rules.legal, arrays.states[level], arrays.replies)
    for action in range(len(arrays.replies)):
        if arrays.replies[action]:
            for entry in range(arrays.states.shape[1]):
                arrays.states[level + 1, entry] = arrays.states[level, entry]
            call_rule(rules.play, arrays.states[level + 1], action)
            reply = arrays.states[level + 1]
            if reply[OUTCOME] != ONGOING or call_rule(rules.wins_at_once, reply) != 1:
                return True
    return False


@inline_kernel
def _estimate(rules: RuleFunctions, arrays: SearchArrays, level: int, action: int) -> int:
    """Return the value of a move in frame `level`, before its search; later frames are scratch."""
    for entry in range(arrays.states.shape[1]):
        arrays.states[level + 1, entry] = arrays.states[level, entry]
    child = arrays.states[level + 1]
    call_rule(rules.play, child, action)
    if child[OUTCOME] != ONGOING:
        return value_of(child[OUTCOME], arrays.states[level, PLY] % 2) * WON
    if call_rule(rules.wins_at_once, child) == 1:
        return -WON
    _set_key(arrays, level + 1)
    index = _find(arrays, level + 1)
    if index >= 0:
        stored = arrays.table[index]
        if stored.bound != AT_LEAST and stored.score < -HEURISTIC_SCALE:
            return WON - 1
        if stored.bound != AT_MOST and stored.score > HEURISTIC_SCALE:
            return 1 - WON
    if not _has_safe_reply(rules, arrays, level + 1):
        return WON - 2
    return -call_rule(rules.heuristic, child)  # type: ignore[no-any-return]


@inline_kernel
def _enter(
    rules: RuleFunctions, arrays: SearchArrays, level: int, depth: int, alpha: int, beta: int
) -> bool:
    """Enter the position in `states[level]`; return whether its moves must be searched.

    If not, `best` holds its score: the game is over, the depth is spent, or the table has it.
    """
    state, player = arrays.states[level], arrays.states[level, PLY] % 2
    frame = arrays.frames[level]
    frame.alpha, frame.beta, frame.depth = alpha, beta, depth
    outcome = state[OUTCOME]
    if outcome != ONGOING:
        frame.best = value_of(outcome, player) * (WON - state[PLY])
        return False
    if depth == 0:
        frame.best = call_rule(rules.heuristic, state)
        return False
    if depth > 1 and level > 0 and call_rule(rules.wins_at_once, state) == 1:
        frame.best = WON - state[PLY] - 1
        return False
    _set_key(arrays, level)
    index, table_action = _find(arrays, level), -1
    if index >= 0:
        stored = arrays.table[index]
        score, bound = _shifted(stored.score, -state[PLY]), stored.bound
        if stored.image == frame.image:
            table_action = stored.action
        enough = stored.depth >= depth  # a forced win or loss is one at any depth
        if (
            (bound == EXACT and enough)
            or (bound != AT_MOST and score >= beta and (enough or score > HEURISTIC_SCALE))
            or (bound != AT_LEAST and score <= alpha and (enough or score < -HEURISTIC_SCALE))
        ):
            frame.best, frame.best_action = score, table_action
            return False
    call_rule(rules.legal, state, arrays.mask)
    count = 0
    for action in range(len(arrays.mask)):
        if arrays.mask[action] and count < arrays.actions.shape[1]:
            if arrays.counters[AT_ONCE]:
                score = _estimate(rules, arrays, level, action)
            else:
                score = arrays.history[player, action]
            score = score * len(arrays.mask) + arrays.preference[action]
            if action == table_action:
                score = np.iinfo(np.int64).max
            arrays.actions[level, count], arrays.order_scores[level, count] = action, score
            count += 1
    frame.count, frame.cursor, frame.best, frame.best_action = count, 0, -INFINITE, -1
    return True


@inline_kernel
def _next_action(arrays: SearchArrays, level: int) -> int:
    """Take the most promising action that frame `level` has not searched."""
    actions, scores, frame = arrays.actions[level], arrays.order_scores[level], arrays.frames[level]
    cursor, chosen = frame.cursor, frame.cursor
    for index in range(cursor + 1, frame.count):
        if scores[index] > scores[chosen]:
            chosen = index
    actions[cursor], actions[chosen] = actions[chosen], actions[cursor]
    scores[cursor], scores[chosen] = scores[chosen], scores[cursor]
    frame.cursor += 1
    return actions[cursor]  # type: ignore[no-any-return]


@inline_kernel
def _back_up(arrays: SearchArrays, level: int) -> None:
    """Back up the next frame's score to frame `level`, with the sign flipped."""
    frame, score = arrays.frames[level], -arrays.frames[level + 1].best
    if score > frame.best:
        action = arrays.actions[level, frame.cursor - 1]
        frame.best, frame.best_action = score, action
        if score >= frame.beta:
            arrays.history[arrays.states[level, PLY] % 2, action] += frame.depth * frame.depth


@kernel(types.boolean(RulesType, SearchArraysType, types.int64, types.int64, types.int64))
def begin(rules: Any, arrays: SearchArrays, depth: int, alpha: int, beta: int) -> bool:
    """Enter `states[0]`, to search `depth` plies; return whether its moves must be searched."""
    arrays.counters[TOP] = 0
    return _enter(rules.functions, arrays, 0, depth, alpha, beta)


@kernel(types.boolean(RulesType, SearchArraysType, types.int64))
def run(rules: Any, arrays: SearchArrays, nodes: int) -> bool:
    """Search up to `nodes` more positions; return whether the search is over."""
    functions, last = rules.functions, arrays.counters[NODES] + nodes
    while arrays.counters[NODES] < last:
        top = arrays.counters[TOP]
        frame = arrays.frames[top]
        if frame.cursor < frame.count and frame.best < frame.beta:
            action = _next_action(arrays, top)
            arrays.states[top + 1] = arrays.states[top]
            call_rule(functions.play, arrays.states[top + 1], action)
            arrays.counters[NODES] += 1
            alpha = max(frame.alpha, frame.best)
            if _enter(functions, arrays, top + 1, frame.depth - 1, -frame.beta, -alpha):
                arrays.counters[TOP] += 1
            else:
                _back_up(arrays, top)
        else:
            _store(arrays, top)
            if top == 0:
                return True
            arrays.counters[TOP] -= 1
            _back_up(arrays, top - 1)
    return False


class AlphaBeta:
    """A search by iterative deepening, which has a best move at any time.

    Its results depend on position, depth and `preference` only, unless `start` keeps the table.
    """

    def __init__(self, game: Game, entries: int = TABLE_ENTRIES) -> None:
        self.game = game
        self._arrays = _allocate(
            game.max_moves + 1,
            game.state_size,
            game.num_actions,
            game.most_legal,
            entries,
            game.key_images(),
        )
        self.score, self.action, self.depth = 0, -1, 0
        self._wanted, self._window = 0, (-INFINITE, INFINITE)
        self._root_actions: Sequence[int] | None = None

    def start(
        self,
        state: State,
        depth: int,
        window: tuple[int, int] = (-INFINITE, INFINITE),
        preference: State | None = None,
        keep: bool = False,
        root_actions: Sequence[int] | None = None,
        at_once: bool = False,
    ) -> None:
        """Start a search of at most `depth` >= 1 plies from an unfinished position `int64 [S]`.

        A score at or beyond an end of `window` is a bound. `preference` [A], a permutation, breaks
        ties between moves: the greater wins. `keep` keeps the transposition table. The first move
        is one of `root_actions`, by default any. With `at_once` it does not deepen, and tries moves
        in the order of the heuristic.
        """
        arrays = self._arrays
        arrays.counters[AT_ONCE] = at_once
        if not keep:
            arrays.counters[STAMP] += 1
            arrays.history[:] = 0
        if preference is not None:
            arrays.preference[:] = preference
        arrays.states[0] = state
        self._wanted = min(depth, self.game.max_moves - int(state[PLY]))
        self._window, self._root_actions = window, root_actions
        self.score, self.action, self.depth = 0, -1, self._wanted - 1 if at_once else 0
        self._begin_next()

    @property
    def nodes(self) -> int:
        """Positions searched so far, in all searches."""
        return int(self._arrays.counters[NODES])

    @property
    def is_exact(self) -> bool:
        """Whether the score is exact, or an exact bound beyond the window.

        A forced win is the shortest one only if all shorter lines were searched.
        """
        alpha, beta = self._window
        solved = is_proven(self.score)
        if solved and (beta <= self.score > 0 or alpha >= self.score < 0):
            return True
        end = WON - abs(self.score) if solved else self.game.max_moves
        return 0 < self.depth >= end - int(self._arrays.states[0, PLY])

    @property
    def is_over(self) -> bool:
        """Whether the search has reached the wanted depth or an exact score."""
        return self.depth >= self._wanted or self.is_exact

    def run(self, nodes: int) -> bool:
        """Search at most `nodes` more positions; return whether the search is over."""
        last = self.nodes + nodes
        while not self.is_over and self.nodes < last:
            if run(self.game.rules, self._arrays, last - self.nodes):
                self._finish_depth()
                if not self.is_over:
                    self._begin_next()
        return self.is_over

    def best_action(self) -> int:
        """Return the best action of the unfinished depth if it has one, else of the last depth."""
        root = self._arrays.frames[0]
        under_way = not self.is_over and root["best_action"] >= 0
        return int(root["best_action"]) if under_way else self.action

    def _finish_depth(self) -> None:
        root = self._arrays.frames[0]
        self.score, self.action = int(root["best"]), int(root["best_action"])
        self.depth = int(root["depth"])

    def _begin_next(self) -> None:
        """Begin the next depth that the table does not answer at once.

        In a fresh table the root has no entry of that depth.
        """
        while not begin(self.game.rules, self._arrays, self.depth + 1, *self._window):
            self._finish_depth()
            if self.is_over:
                return
        if self._root_actions is not None:
            arrays, root = self._arrays, self._arrays.frames[0]
            kept = np.flatnonzero(np.isin(arrays.actions[0, : root["count"]], self._root_actions))
            for values in arrays.actions[0], arrays.order_scores[0]:
                values[: len(kept)] = values[kept]
            root["count"] = len(kept)
