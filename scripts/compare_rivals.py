"""Compare the speed of self-play with mctx + pgx and with OpenSpiel: Connect Four, on CPU cores.

python scripts/compare_rivals.py [--seconds 20] [--repeats 3]

All use every core, an untrained network of the size in configs/connect_four.yaml and its number of
simulations. A simulation counts even if it needs no evaluation: the game has ended or the position
is cached.

- Ours plays the configuration's number of games, one thread per core: without fast searches and
  proofs in float32, with and without the evaluation cache, and in int8; then all as configured.
- mctx + pgx plays as pgx's AlphaZero example does: `mctx.gumbel_muzero_policy`, compiled by jax, in
  float32. The network is the same in plain jax, but pgx has no plane for the colour. One process
  runs per core, because jax uses hardly more than one core in these convolutions. The number of
  games is the fastest of three, measured first. Each simulation evaluates a position, even after
  the end of the game. bfloat16 and XLA's flags for oneDNN, XNNPACK and YNNPACK bring no speed.
- OpenSpiel plays by its Python `MCTSBot`, with the settings and the evaluation cache of its
  AlphaZero and the same network in torch, in float32. It plays one game and evaluates one position
  at a time. One process runs per core, as AlphaZero's actors do. The batched AlphaZero is in C++
  and not in the package: it must be built from source with LibTorch.

Games begin with 0 to 20 random moves; those of mctx + pgx with none, for its speed changes by less
than 10 % within a game. All play one round to warm up, then take turns `--repeats` times. The table
has medians of the rates, and of the ratios of simulations within a round, with their range.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np
import torch

from alphazero.arena.openings import random_opening
from alphazero.cli.argument_types import positive_number, seconds
from alphazero.cli.main import run_and_report
from alphazero.config.loader import load_config
from alphazero.config.schema import Config
from alphazero.diagnostics.benchmark import SelfPlayBenchmark
from alphazero.games import make_game
from alphazero.network.inference.backend import explain_backend
from alphazero.network.inference.torch_evaluator import TorchEvaluator
from alphazero.network.resnet import ResNet, fold_batch_norm
from alphazero.utils.arrays import Float64Array
from alphazero.utils.machine import usable_cores
from alphazero.utils.progress import progress_bar
from alphazero.utils.tables import markdown_table

CONFIG = Path(__file__).parent.parent / "configs" / "connect_four.yaml"
PLAIN = ["search.mcts_solver=false", "selfplay.full_search_probability=1.0"]
FLOAT32 = ["inference.precision=float32", "inference.selfplay_precision=same"]
NO_CACHE = "search.evaluation_cache_mib=0"
OURS = {
    "ours, float32, no cache": [*PLAIN, *FLOAT32, NO_CACHE],
    "ours, float32, cache": [*PLAIN, *FLOAT32],
    "ours, int8, no cache": [*PLAIN, NO_CACHE],
    "ours, as configured": [],
}
"""Overrides of the configuration."""
MCTX, OPENSPIEL = "mctx + pgx", "OpenSpiel"
PACKAGES = {MCTX: ["jax", "mctx", "pgx"], OPENSPIEL: ["open_spiel"]}
GAMES_PER_CORE = 32, 64, 128
"""Numbers of games that are tried for mctx + pgx."""

Play: TypeAlias = Callable[[float], Float64Array]
"""Plays on for at least some seconds; returns simulations and evaluations a second, [2]."""
Steps: TypeAlias = Iterator[tuple[int, int]]
"""Plays on without end; yields the simulations and evaluations of each step."""


def our_selfplay(config: Config, cores: int) -> Play:
    """Return this package's self-play, with its cache cleared as often as in training."""
    benchmark = SelfPlayBenchmark(config, cores)

    def play(seconds: float) -> Float64Array:
        before = benchmark.stats()
        played = benchmark.play(seconds)
        stats = benchmark.stats() - before
        return np.array([stats.simulations, stats.evaluations]) / played.seconds

    return play


def jax_network(network: ResNet) -> Callable[[Any], tuple[Any, Any]]:
    """Return a folded network's `forward` in jax, for observations [B, H, W, C] as of pgx."""
    import jax.numpy as jnp
    from jax.lax import conv_general_dilated
    from jax.nn import relu

    assert network.settings.heads == "dense"
    weights = {name: jnp.asarray(tensor.numpy()) for name, tensor in network.state_dict().items()}
    layout = ("NHWC", "HWIO", "NHWC")  # within mctx's loop jax is forty times as slow with NCHW

    def convolve(features: Any, name: str) -> Any:
        kernel = weights[f"{name}.convolution.weight"].transpose(2, 3, 1, 0)
        convolved = conv_general_dilated(features, kernel, (1, 1), "SAME", dimension_numbers=layout)
        return convolved + weights[f"{name}.convolution.bias"]

    def dense(features: Any, name: str) -> Any:
        return features @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def residual(features: Any, name: str) -> Any:
        inner, pooling = convolve(features, f"{name}.first"), f"{name}.pooling.dense"
        if f"{pooling}.bias" in weights:
            shifted, pooled = jnp.split(inner, [len(weights[f"{pooling}.bias"])], 3)
            pooled = relu(pooled)
            summary = jnp.concatenate([pooled.mean((1, 2)), pooled.max((1, 2))], 1)
            inner = shifted + dense(summary, pooling)[:, None, None]
        return relu(convolve(relu(inner), f"{name}.second") + features)

    def forward(observations: Any) -> tuple[Any, Any]:
        features = relu(convolve(observations.astype(jnp.float32), "stem"))
        for block in range(len(network.tower)):
            features = residual(features, f"tower.{block}")
        policy, value = (
            relu(convolve(features, name)).transpose(0, 3, 1, 2).reshape(len(features), -1)
            for name in ("policy_features", "value_features")
        )
        output = dense(relu(dense(value, "value_hidden")), "value_output")
        return dense(policy, "policy_output"), jnp.tanh(output)[:, 0]

    return forward


def mctx_selfplay(config: Config, games: int, seed: int) -> Steps:
    """Play `games` games at once; a step is a move in each."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    import mctx
    import pgx

    environment, simulations = pgx.make("connect_four"), config.search.simulations
    begin_games, play_moves = jax.vmap(environment.init), jax.vmap(environment.step)
    evaluate = jax_network(fold_batch_norm(ResNet((2, 6, 7), 7, config.network, seed)))

    def simulate(_: Any, __: Any, actions: Any, states: Any) -> Any:
        players, states = states.current_player, play_moves(states, actions)
        logits, values = evaluate(states.observation)
        goes_on = ~states.terminated
        output = mctx.RecurrentFnOutput(
            reward=jnp.take_along_axis(states.rewards, players[:, None], 1)[:, 0],
            discount=-1.0 * goes_on,
            prior_logits=jnp.where(states.legal_action_mask, logits, jnp.finfo(jnp.float32).min),
            value=values * goes_on,
        )
        return output, states

    @jax.jit
    def move(key: Any, states: Any) -> Any:
        key, search_key, begin_key = jax.random.split(key, 3)
        logits, values = evaluate(states.observation)
        root = mctx.RootFnOutput(prior_logits=logits, value=values, embedding=states)
        illegal = ~states.legal_action_mask
        found = mctx.gumbel_muzero_policy(
            (), search_key, root, simulate, simulations, invalid_actions=illegal
        )
        states = play_moves(states, found.action)

        def replace_ended(begun: Any, played: Any) -> Any:
            ended = states.terminated.reshape(-1, *[1] * (played.ndim - 1))
            return jnp.where(ended, begun, played)

        begun = begin_games(jax.random.split(begin_key, games))
        return key, jax.tree.map(replace_ended, begun, states)

    key = jax.random.PRNGKey(seed)
    states = begin_games(jax.random.split(key, games))
    while True:
        key, states = jax.block_until_ready(move(key, states))
        yield games * simulations, games * (simulations + 1)  # the root is evaluated too


def openspiel_selfplay(config: Config, seed: int) -> Steps:
    """Play one game after the other; a step is a move."""
    import pyspiel
    from open_spiel.python.algorithms import mcts
    from open_spiel.python.utils.lru_cache import LRUCache

    network = TorchEvaluator(ResNet((3, 6, 7), 7, config.network, seed), "cpu", "float32")
    cache, rng = LRUCache(2**16), np.random.default_rng(seed)

    def answer(state: Any) -> Any:
        planes = np.array(state.observation_tensor(), np.float32).reshape(1, 3, 6, 7)
        return cache.make(planes.tobytes(), lambda: network.evaluate(planes))

    def values(state: Any) -> Any:
        value = answer(state)[1][0]
        return np.array([value, -value])

    def priors(state: Any) -> Any:
        logits, legal = answer(state)[0][0], state.legal_actions()
        weights = np.exp(logits - logits.max())[legal]
        return list(zip(legal, weights / weights.sum(), strict=True))

    game, selfplay = pyspiel.load_game("connect_four"), config.selfplay
    bot = mcts.MCTSBot(
        game,
        config.search.c_puct,
        config.search.simulations,
        SimpleNamespace(evaluate=values, prior=priors),
        solve=False,
        random_state=np.random.RandomState(seed),
        child_selection_fn=mcts.SearchNode.puct_value,
        dirichlet_noise=(selfplay.dirichlet_fraction, selfplay.dirichlet_alpha),
    )
    while True:
        state = game.new_initial_state()
        moves = int(rng.integers(selfplay.random_opening_max_moves + 1))
        for action in random_opening(make_game("connect_four"), moves, rng):
            state.apply_action(action)
        while not state.is_terminal():
            before = cache.info().misses
            root = bot.mcts_search(state)
            visits = np.array([child.explore_count for child in root.children])
            state.apply_action(rng.choice(root.children, p=visits / visits.sum()).action)
            yield root.explore_count, cache.info().misses - before


def in_processes(cores: int, selfplay: Callable[..., Steps], *arguments: Any) -> Play:
    """Play `selfplay(*arguments, core)` in one process per core."""
    context, pipes = multiprocessing.get_context("spawn"), list[Connection]()
    for core in range(cores):
        pipe, far_end = context.Pipe()
        given = far_end, core, selfplay, *arguments
        context.Process(target=serve, args=given, daemon=True).start()
        far_end.close()
        pipes.append(pipe)

    def play(seconds: float) -> Float64Array:
        for pipe in pipes:
            pipe.send(seconds)
        return np.sum([pipe.recv() for pipe in pipes], axis=0)

    return play


def serve(pipe: Connection, core: int, selfplay: Callable[..., Steps], *arguments: Any) -> None:
    """Play on one core for each number of seconds in the pipe, until its other end is closed."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[core]})
    torch.set_num_threads(1)
    steps = selfplay(*arguments, core)
    with suppress(EOFError):
        while True:
            pipe.send(rates(steps, pipe.recv()))


def rates(steps: Steps, seconds: float) -> Float64Array:
    """Return the simulations and evaluations a second of the steps that begin within `seconds`."""
    begin, counts = time.perf_counter(), np.array(next(steps))
    while time.perf_counter() < begin + seconds:
        counts += next(steps)
    return counts / (time.perf_counter() - begin)


def fastest_mctx(cores: int, config: Config, seconds: float) -> Play:
    """Return mctx + pgx with the fastest number of games."""
    best, fastest = 0.0, None
    for games in GAMES_PER_CORE:
        play = in_processes(cores, mctx_selfplay, config, games)
        play(0)  # compiles
        simulations = play(seconds)[0]
        print(f"{MCTX}, {cores * games} games: {simulations:,.0f} simulations/s", flush=True)
        if simulations > best:
            best, fastest = simulations, play
    assert fastest is not None
    return fastest


def table(rounds: Sequence[Mapping[str, Float64Array]]) -> str:
    """Return medians of the rates, and of ours divided by the rivals' with their range."""
    rivals = [name for name in rounds[0] if name in PACKAGES]
    rows = []
    for name in rounds[0]:
        row = [name, *(f"{item:,.0f}" for item in np.median([item[name] for item in rounds], 0))]
        for rival in rivals:
            ratios = [item[name][0] / item[rival][0] for item in rounds]
            text = f"{np.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
            row.append(text if name in OURS else "")
        rows.append(row)
    head = ("", "simulations/s", "evaluations/s", *(f"to {rival}" for rival in rivals))
    return markdown_table(head, rows)


def main() -> None:
    """Measure what is installed and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=seconds, default=20.0, help="of each measurement")
    parser.add_argument("--repeats", type=positive_number, default=3)
    options = parser.parse_args()
    cores, used, contestants = usable_cores(), ["torch"], dict[str, Play]()
    for name, overrides in OURS.items():
        config = load_config(CONFIG, ["inference.device=cpu", *overrides])
        contestants[name] = our_selfplay(config, cores)
    print(f"{cores} cores; in ours, {explain_backend(config.inference)}")
    plain = load_config(CONFIG, PLAIN)
    for rival, packages in PACKAGES.items():
        missing = [package for package in packages if find_spec(package) is None]
        if missing:
            names = " ".join(missing)
            print(f"{rival} is left out: missing {names}; pip install {names}")
            continue
        used += packages
        contestants[rival] = (
            fastest_mctx(cores, plain, options.seconds / 2)
            if rival == MCTX
            else in_processes(cores, openspiel_selfplay, plain)
        )
    print(", ".join(f"{package} {version(package)}" for package in used), flush=True)
    rounds = []
    with progress_bar(options.repeats + 1, "round") as bar:
        while len(rounds) <= options.repeats:
            rounds.append({name: play(options.seconds) for name, play in contestants.items()})
            bar.update()
    print(table(rounds[1:]))


if __name__ == "__main__":
    sys.exit(run_and_report(main))
