"""Where the time of a simulation goes, part by part.

Self-play runs with a clock around each search step and each evaluation. Now and then each part of a
simulation is repeated alone, on paths and leaves of the trees, and multiplied by how often a
simulation needs it. The difference to the whole is mostly waiting for memory, which a part
that is repeated alone finds in the processor's caches. It can be negative: the parts are samples.

Letters: G slots, S state size, A actions.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from alphazero.arena.match import Match
from alphazero.config.schema import Config
from alphazero.diagnostics.benchmark import start_selfplay, untrained_network
from alphazero.errors import AlphaZeroError
from alphazero.games import make_game
from alphazero.games.compiled_rules import RulesType, call_rule
from alphazero.games.game import ONGOING, OUTCOME, State
from alphazero.mcts.kernels.equations import SelectionParams, SelectionParamsType
from alphazero.mcts.kernels.evaluation_cache import get, hash_observation
from alphazero.mcts.kernels.simulation import (
    SearchContextType,
    backup,
    expand,
    has_winning_move,
    reset_state,
    select_edge,
)
from alphazero.mcts.kernels.tree import SlotsType, Trees, TreesType, allocate_trees
from alphazero.mcts.network_search import NetworkSearch, selection_params
from alphazero.utils.arrays import Float32Array, Int64Array, UInt32Array
from alphazero.utils.jit import kernel
from alphazero.utils.jobs import split_evenly
from alphazero.utils.progress import Progress, no_progress

MOMENTS = 60
"""Moments of self-play at which the parts are measured."""

REPEATS = 6
"""Repetitions of a part in a call at each moment; the fastest of three calls counts."""

_states = types.Array(types.int64, 2, "C")


@kernel(types.int64(TreesType, SelectionParamsType, SlotsType))
def _walk(trees: Trees, selection: SelectionParams, slots: Int64Array) -> int:
    """Select one path in each of `slots`, without its moves; return the number of edges."""
    edges = 0
    for slot in slots:
        node, depth, reached = 0, 0, 0
        while node >= 0 and depth < trees.leaf_path.shape[2]:
            if trees.nodes[slot, node].edge_count == 0:
                break
            edge = select_edge(trees, selection, slot, node, reached)
            trees.leaf_path[slot, 0, depth] = edge
            node, reached = trees.edges[slot, edge].child, trees.edges[slot, edge].visits
            depth += 1
        trees.leaves[slot, 0].depth = depth
        edges += depth
    return edges


@kernel(types.void(RulesType, TreesType, SlotsType, _states))
def _replay(rules: Any, trees: Trees, slots: Int64Array, leaves: State) -> None:
    """Replay the path of each of `slots` from its root, and store the leaf in `leaves` [G, S]."""
    functions = rules.functions
    for slot in slots:
        reset_state(trees, slot)
        for ply in range(trees.leaves[slot, 0].depth):
            call_rule(
                functions.play, trees.state, trees.edges[slot, trees.leaf_path[slot, 0, ply]].action
            )
        for index in range(len(trees.state)):
            leaves[slot, index] = trees.state[index]


@kernel(types.int64(RulesType, TreesType, SlotsType, _states))
def _legal(rules: Any, trees: Trees, slots: Int64Array, leaves: State) -> int:
    functions, total = rules.functions, 0
    for slot in slots:
        if leaves[slot, OUTCOME] == ONGOING:
            total += call_rule(functions.legal, leaves[slot], trees.leaf_mask[slot, 0])
    return total


@kernel(types.int64(RulesType, TreesType, SlotsType, _states))
def _wins(rules: Any, trees: Trees, slots: Int64Array, leaves: State) -> int:
    """Return in how many of `leaves` the player to move wins at once."""
    functions, total = rules.functions, 0
    for slot in slots:
        for index in range(len(trees.state)):
            trees.state[index] = leaves[slot, index]
        total += has_winning_move(functions, trees, slot, 0)
    return total


@kernel(types.void(RulesType, SlotsType, _states, types.Array(types.float32, 4, "C")))
def _observe(rules: Any, slots: Int64Array, leaves: State, observations: Float32Array) -> None:
    functions = rules.functions
    for slot in slots:
        call_rule(functions.observe, leaves[slot], observations[slot])


@kernel(types.int64(SearchContextType, SlotsType, types.Array(types.uint32, 2, "C")))
def _look_up(context: Any, slots: Int64Array, words: UInt32Array) -> int:
    found, cache = 0, context.cache
    for slot in slots:
        found += get(cache, hash_observation(words[slot], cache.factors)) >= 0
    return found


@kernel(types.void(TreesType, SlotsType))
def _expand(trees: Trees, slots: Int64Array) -> None:
    """Expand the leaf of tree 0 once for each of `slots`."""
    for _ in slots:
        trees.slots[0].num_nodes, trees.slots[0].num_edges = 1, trees.root_prior.shape[1]
        expand(trees, 0, 0)


@kernel(types.void(TreesType, SelectionParamsType, SlotsType))
def _back_up(trees: Trees, selection: SelectionParams, slots: Int64Array) -> None:
    for slot in slots:
        backup(trees, selection, slot, 0, trees.leaves[slot, 0].depth, 0.0)


@dataclass(frozen=True)
class SearchProfile:
    """Nanoseconds of one core per simulation, without the network's."""

    parts: dict[str, float]
    """by part; those that begin with a space are inside the part above them"""
    simulations: int
    evaluations: int
    """0 if the cache has every position, as soon in nim"""
    leaves: float
    """leaves per simulation that are looked up or evaluated"""

    def __str__(self) -> str:
        total = sum(spent for name, spent in self.parts.items() if name[0] != " ")
        lines = [
            f"{name:28}{spent:8,.0f} ns {spent / total:6.1%}" for name, spent in self.parts.items()
        ]
        lines.append(f"{'a simulation':28}{total:8,.0f} ns")
        if self.evaluations:
            per_evaluation = total * self.simulations / self.evaluations
            lines.append(f"{'for each evaluation':28}{per_evaluation:8,.0f} ns")
        return "\n".join(lines)


class _Timed:
    """A function, or an evaluator's, that adds up the thread's seconds inside it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.seconds = 0.0

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        begin = time.thread_time()
        answer = self._function(*arguments, **named)
        self.seconds += time.thread_time() - begin
        return answer

    evaluate = __call__


def profile(config: Config, seconds: float, show: Progress = no_progress) -> SearchProfile:
    """Profile one of two workers that share the games of a configuration.

    Its self-play runs in this thread for about `seconds`, warm-up included.
    """
    game = make_game(config.game.name, **config.game.options)
    _, _, evaluator = untrained_network(game, config)
    num_games = split_evenly(config.selfplay.parallel_games, 2)[0]
    match, search = start_selfplay(game, config, evaluator, 0, num_games)
    timed = search.evaluator = _Timed(search.evaluator.evaluate)
    step, next_batch = _Timed(search.step), _Timed(search.next_batch)
    openings = _Timed(search.evaluate_states)
    search.step, search.next_batch = step, next_batch  # type: ignore[method-assign]
    search.evaluate_states = openings  # type: ignore[method-assign]
    clocks = step, next_batch, openings, timed
    _play(match, seconds / 4)
    for clock in clocks:
        clock.seconds = 0.0
    evaluations, simulations = search.evaluations, search.simulations
    lookups, playing, series = 0, 0.0, []
    for _ in range(MOMENTS):
        before = search.cache_hits[0]
        playing += _play(match, seconds / 2 / MOMENTS)
        lookups += search.cache_hits[0] - before
        if found := _time_parts(search):
            series.append(found)
        show(1)
    if not series:
        raise AlphaZeroError("nothing to profile: every line of the searches ends the game")
    simulations = search.simulations - simulations
    evaluations = search.evaluations - evaluations
    leaves = (lookups or evaluations) / simulations
    mean = {name: float(np.mean([parts[name] for parts in series])) for name in series[0]}
    often = {"legal moves": leaves / max(1 - mean.pop("winning"), 1e-9)}
    often["wins at once"] = often["legal moves"]
    for name in ("observing", "hashing and looking up", "expanding"):
        often[name] = leaves
    parts = {f"  {name}": mean[name] * often.get(name, 1.0) for name in mean}
    seconds_of = {
        "searching": next_batch.seconds,
        "Python between batches": step.seconds
        - next_batch.seconds
        - (timed.seconds - openings.seconds),
        "moving games on, recording": playing - step.seconds - openings.seconds,
    }
    whole = {name: 1e9 * spent / simulations for name, spent in seconds_of.items()}
    difference = {"  difference to the whole": whole["searching"] - sum(parts.values())}
    return SearchProfile(
        {"searching": whole.pop("searching"), **parts, **difference, **whole},
        simulations,
        evaluations,
        leaves,
    )


def _play(match: Match, seconds: float) -> float:
    """Step `match` for about `seconds`; return the thread's seconds."""
    begin, cpu = time.perf_counter(), time.thread_time()
    while time.perf_counter() < begin + seconds:
        match.step()
    return time.thread_time() - cpu


def _time_parts(search: NetworkSearch) -> dict[str, float]:
    """Return the nanoseconds of each part at its leaf or path, and the share of won leaves.

    Empty if the paths of all slots end the game.
    """
    rules, selection = search.game.rules, selection_params(search.settings)
    trees = Trees(*map(np.copy, search.trees))
    slots = np.tile(np.flatnonzero(trees.slots["num_nodes"] > 0), REPEATS)
    leaves = np.zeros_like(trees.root_state)
    plain = selection._replace(mcts_solver=False)
    spent = {
        "walking and selecting": _nanoseconds(slots, _walk, trees, selection, slots),
        "replaying moves": _nanoseconds(slots, _replay, rules, trees, slots, leaves),
        "backing up": _nanoseconds(slots, _back_up, trees, plain, slots),
    }
    if selection.mcts_solver:
        proving = _nanoseconds(slots, _back_up, trees, selection, slots)
        spent["proving"] = proving - spent["backing up"]
    ongoing = np.array([search.game.outcome(leaf) == ONGOING for leaf in leaves])
    open_slots = slots[ongoing[slots]]
    if not len(open_slots):
        return {}
    observations = np.zeros((len(trees.slots), *search.game.observation_shape), np.float32)
    words = observations.reshape(len(observations), -1).view(np.uint32)
    legal = rules, trees, open_slots, leaves
    spent["legal moves"] = _nanoseconds(open_slots, _legal, *legal)
    winning = 0.0
    if selection.mcts_solver:
        spent["wins at once"] = _nanoseconds(open_slots, _wins, *legal)
        winning = _wins(*legal) / len(open_slots)
    spent["observing"] = _nanoseconds(open_slots, _observe, rules, open_slots, leaves, observations)
    if search.settings.evaluation_cache_mib:
        spent["hashing and looking up"] = _nanoseconds(
            open_slots, _look_up, search._context, open_slots, words
        )
    tree = allocate_trees(search.game, 1, 2)
    tree.leaf_mask[:], tree.leaves["depth"] = trees.leaf_mask[open_slots[0]], 1
    spent["expanding"] = _nanoseconds(open_slots, _expand, tree, open_slots)
    return {**spent, "winning": winning}


def _nanoseconds(slots: Int64Array, kernel: Callable[..., Any], *arguments: Any) -> float:
    """Return the nanoseconds per slot of a kernel, in the fastest of three series."""
    series = []
    for _ in range(3):
        begin = time.thread_time()
        kernel(*arguments)
        series.append(time.thread_time() - begin)
    return 1e9 * min(series) / len(slots)
