"""Measure the trees of self-play without a network: what cores request, or a simulation's parts.

python scripts/benchmark_trees.py CONFIG [section.key=value ...] [--workers 1,2] [--seconds 40]
python scripts/benchmark_trees.py CONFIG --profile

Leaves are answered at once, with random numbers. `--profile` puts a clock around each search step
and evaluation. Now and then each part of a simulation is repeated alone, on paths and leaves of the
trees, and multiplied by how often a simulation needs it. The difference to the whole is mostly
waiting for memory, which a part that is repeated alone finds in the caches; it can be negative, for
the parts are samples.

Letters: G slots, S state size, R rows of a batch, A actions.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import numpy as np
from numba import types

from alphazero.cli.argument_types import positive_numbers, seconds
from alphazero.cli.main import run_and_report
from alphazero.cli.shared import config_file_arguments
from alphazero.config.loader import load_config
from alphazero.config.schema import Config
from alphazero.diagnostics.benchmark import (
    Played,
    SelfPlayGames,
    start_selfplay,
    time_matches,
    untrained_network,
)
from alphazero.errors import AlphaZeroError
from alphazero.games import make_game
from alphazero.games.compiled_rules import RulesType, call_rule
from alphazero.games.game import ONGOING, State
from alphazero.mcts.kernels.equations import SelectionParams, SelectionParamsType
from alphazero.mcts.kernels.evaluation_cache import get, hash_position
from alphazero.mcts.kernels.simulation import (
    SearchContextType,
    backup,
    expand,
    has_winning_move,
    list_legal,
    reset_state,
    select_edge,
)
from alphazero.mcts.kernels.tree import SlotsType, Trees, TreesType, allocate_trees
from alphazero.mcts.network_search import NetworkSearch, selection_params
from alphazero.training.selfplay import SelfPlayStats
from alphazero.utils.arrays import Float32Array, Int64Array, UInt32Array
from alphazero.utils.jit import kernel
from alphazero.utils.jobs import split_evenly
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import Progress, no_progress, progress_bar
from alphazero.utils.tables import align

MOMENTS, REPEATS = 60, 6
"""Moments of self-play at which the parts are measured, and repetitions of a part in a call at each
moment; the fastest of three calls counts."""

PREPARED_ROWS: Final = 4096

LOGIT_DEVIATION, VALUE_DEVIATION = 2.5, 0.4
"""Standard deviations of the prepared logits, and of the values before tanh. The trained players of
this repository have 2.9 and 0.7 in Connect Four, and 2.4 and 0.3 in Go on 9 x 9; their simulations
are 4.8 and 3.2 plies deep. These numbers give 4.0 and 4.1 plies; equal logits give 3.1 and 11."""

ROUNDS: Final = 5
"""All measurements alternate this often: a machine's speed drifts."""

_states = types.Array(types.int64, 2, "C")


@kernel(types.void(TreesType, SelectionParamsType, SlotsType))
def _walk(trees: Trees, selection: SelectionParams, slots: Int64Array) -> None:
    """Select one path in each of `slots`, without its moves."""
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


@kernel(types.void(RulesType, TreesType, SlotsType, _states))
def _replay(rules: Any, trees: Trees, slots: Int64Array, leaves: State) -> None:
    """Replay the path of each of `slots` from its root, and store the leaf in `leaves` [G, S]."""
    for slot in slots:
        reset_state(trees, slot)
        for ply in range(trees.leaves[slot, 0].depth):
            action = trees.edges[slot, trees.leaf_path[slot, 0, ply]].action
            call_rule(rules.functions.play, trees.state, action)
        leaves[slot] = trees.state


@kernel(types.int64(RulesType, TreesType, SlotsType, _states))
def _legal(rules: Any, trees: Trees, slots: Int64Array, leaves: State) -> int:
    total = 0
    for slot in slots:
        trees.state[:] = leaves[slot]
        total += list_legal(rules.functions, trees, slot, 0)
    return total


@kernel(types.int64(RulesType, TreesType, SlotsType, _states))
def _wins(rules: Any, trees: Trees, slots: Int64Array, leaves: State) -> int:
    """Return in how many of `leaves` the player to move wins at once."""
    total = 0
    for slot in slots:
        trees.state[:] = leaves[slot]
        total += has_winning_move(rules.functions, trees, slot, 0, trees.leaves[slot, 0].count)
    return total


@kernel(types.void(RulesType, SlotsType, _states, types.Array(types.float32, 4, "C")))
def _observe(rules: Any, slots: Int64Array, leaves: State, observations: Float32Array) -> None:
    for slot in slots:
        call_rule(rules.functions.observe, leaves[slot], observations[slot])


@kernel(types.int64(SearchContextType, SlotsType, types.Array(types.uint32, 2, "C")))
def _look_up(context: Any, slots: Int64Array, words: UInt32Array) -> int:
    found, cache, legal = 0, context.cache, context.trees.mask_words
    for slot in slots:
        found += get(cache, hash_position(words[slot], legal, cache.factors)) >= 0
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


def describe(parts: Mapping[str, float], simulations: int, evaluations: int) -> str:
    """Return the nanoseconds of each part as text, with their sum.

    A part that begins with a space is inside the part above it. The cache may have every position,
    as soon in nim: then there are no `evaluations`.
    """
    total = sum(spent for name, spent in parts.items() if name[0] != " ")
    rows = [(name, spent, f" {spent / total:6.1%}") for name, spent in parts.items()]
    rows.append(("a simulation", total, ""))
    if evaluations:
        rows.append(("for each evaluation", total * simulations / evaluations, ""))
    return "\n".join(f"{name:28}{spent:8,.0f} ns{share}" for name, spent, share in rows)


def _timed(function: Callable[..., Any], clocks: Counter[str], name: str) -> Callable[..., Any]:
    """Return a function that adds the thread's seconds inside it to `clocks[name]`."""

    def run(*arguments: Any, **named: Any) -> Any:
        begin = time.thread_time()
        answer = function(*arguments, **named)
        clocks[name] += time.thread_time() - begin
        return answer

    return run


def profile(
    config: Config, seconds: float, show: Progress = no_progress
) -> tuple[dict[str, float], int, int]:
    """Profile one of two workers that share a configuration's games, in this thread.

    Return the nanoseconds of a simulation by part, the simulations and the evaluations.
    """
    game = make_game(config.game.name, **config.game.options)
    num_games = split_evenly(config.selfplay.parallel_games, 2)[0]
    match, search = start_selfplay(game, config, untrained_network(game, config)[2], 0, num_games)
    clocks: Counter[str] = Counter()
    evaluate = _timed(search.evaluator.evaluate, clocks, "evaluate")
    search.evaluator = SimpleNamespace(evaluate=evaluate)
    for name in ("step", "next_batch", "evaluate_states"):
        setattr(search, name, _timed(getattr(search, name), clocks, name))
    time_matches([match], seconds / 4)
    clocks.clear()
    evaluations, simulations = search.evaluations, search.simulations
    lookups, playing, series = 0, 0.0, []
    for _ in range(MOMENTS):
        before = search.cache_hits[0]
        playing += time_matches([match], seconds / 2 / MOMENTS).core_seconds
        lookups += search.cache_hits[0] - before
        if spent := _time_parts(search):
            series.append(spent)
        show(1)
    if not series:
        raise AlphaZeroError("nothing to profile: every line of the searches ends the game")
    simulations = search.simulations - simulations
    evaluations = search.evaluations - evaluations
    leaves = (lookups or evaluations) / simulations  # that are looked up or evaluated
    means = {name: float(np.mean([parts[name] for parts in series])) for name in series[0]}
    often = {"legal moves": leaves / max(1 - means.pop("winning"), 1e-9)}
    often["wins at once"] = often["legal moves"]
    often |= dict.fromkeys(("observing", "hashing and looking up", "expanding"), leaves)
    inside = {f"  {name}": spent * often.get(name, 1.0) for name, spent in means.items()}
    searching, outside = 1e9 * clocks["next_batch"] / simulations, clocks["evaluate_states"]
    python = clocks["step"] - clocks["next_batch"] - (clocks["evaluate"] - outside)
    parts = {
        "searching": searching,
        **inside,
        "  difference to the whole": searching - sum(inside.values()),
        "Python between batches": 1e9 * python / simulations,
        "moving games on, recording": 1e9 * (playing - clocks["step"] - outside) / simulations,
    }
    return parts, simulations, evaluations


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
        looked_up = open_slots, _look_up, search._context, open_slots, words
        spent["hashing and looking up"] = _nanoseconds(*looked_up)
    tree = allocate_trees(search.game, 1, 2)
    tree.leaf_actions[:] = trees.leaf_actions[open_slots[0]]
    tree.leaves["depth"], tree.leaves["count"] = 1, trees.leaves["count"][open_slots[0], 0]
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


class PreparedEvaluator:
    """Answers with random rows that were drawn beforehand.

    Logits are normal, values the tanh of normal numbers. A position that is evaluated twice gets
    two answers, unless the search's cache has the first.
    """

    def __init__(self, num_actions: int, most_rows: int, rng: np.random.Generator) -> None:
        rows = max(PREPARED_ROWS, most_rows)
        self._logits = rng.normal(0, LOGIT_DEVIATION, (rows, num_actions)).astype(np.float32)
        self._values = np.tanh(rng.normal(0, VALUE_DEVIATION, rows)).astype(np.float32)
        self._next = 0

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return logits [R, A] and values [R]: views, which the next answers may repeat."""
        begin, end = self._next, self._next + len(observations)
        if end > len(self._values):
            begin, end = 0, len(observations)
        self._next = end
        return self._logits[begin:end], self._values[begin:end]


class Rate(NamedTuple):
    """Rates per second of self-play with one number of workers."""

    workers: int
    evaluations: float
    simulations: float
    cores: float
    """cores in use: CPU time per second"""


def table(rates: Sequence[Rate]) -> str:
    """Return the rates as text."""
    header = "workers", "evaluations/s", "simulations/s", "speedup", "cores", "core µs/simulation"
    rows: list[Sequence[str]] = [header]
    for rate in rates:
        speedup = rate.simulations / rates[0].simulations
        numbers = f"{rate.evaluations:,.0f}", f"{rate.simulations:,.0f}", f"{speedup:.2f}"
        spent = f"{rate.cores:.2f}", f"{1e6 * rate.cores / rate.simulations:.2f}"
        rows.append((str(rate.workers), *numbers, *spent))
    return align(rows)


def benchmark_host(
    config: Config, workers: Sequence[int], seconds: float, show: Progress = no_progress
) -> list[Rate]:
    """Measure self-play for about `seconds`, for each number of `workers`.

    `show` is called with 1 after each measurement: `len(workers) * ROUNDS` times.
    """
    game, rng = make_game(config.game.name, **config.game.options), np.random.default_rng(0)
    sizes, started = (game.num_actions, config.selfplay.parallel_games), []
    for count in workers:
        evaluators = [PreparedEvaluator(*sizes, stream) for stream in rng.spawn(count)]
        started.append(SelfPlayGames(game, config, evaluators))
        started[-1].play(0.5)  # warms up
    totals = [(Played(), SelfPlayStats()) for _ in workers]
    for _ in range(ROUNDS):
        for index, games in enumerate(started):
            before, (played, stats) = games.stats(), totals[index]
            played += games.play(seconds / ROUNDS / len(started))
            totals[index] = played, stats + (games.stats() - before)
            show(1)
    return [
        Rate(
            count,
            stats.evaluations / played.span,
            stats.simulations / played.span,
            played.core_seconds / played.span,
        )
        for count, (played, stats) in zip(workers, totals, strict=True)
    ]


def main() -> None:
    """Run the selected measurement and print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    config_file_arguments(parser)
    parser.add_argument("--seconds", type=seconds, default=40, help="approximate duration")
    parser.add_argument("--profile", action="store_true", help="time a simulation, part by part")
    parser.add_argument(
        "--workers",
        type=positive_numbers,
        metavar="N,N",
        help="numbers of threads (default: 1, one per core, two per core)",
    )
    options = parser.parse_intermixed_args()
    config = load_config(options.config, options.overrides)
    if options.profile:
        with progress_bar(MOMENTS, "moment") as bar:
            print(describe(*profile(config, options.seconds, bar.update)))
        return
    games, cores = config.selfplay.parallel_games, config.run.threads or usable_cores()
    counts = options.workers or sorted({min(n, games) for n in (1, cores, 2 * cores)})
    if max(counts) > games:
        parser.error(f"--workers {max(counts)}: selfplay.parallel_games plays {games} at once")
    with progress_bar(len(counts) * ROUNDS, "measurement") as bar:
        print(table(benchmark_host(config, counts, options.seconds, bar.update)))


if __name__ == "__main__":
    sys.exit(run_and_report(main))
