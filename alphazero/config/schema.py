"""The schema of the YAML file: one class per section, one documented field per key.

Only this file has a key's default, unit, range and source. In the sources, AGZ is
Silver et al., "Mastering the game of Go without human knowledge", Nature 550 (2017), and
AlphaZero is Silver et al., "A general reinforcement learning algorithm that masters chess, shogi,
and Go through self-play", Science 362 (2018), with its supplementary pseudocode.
"""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, get_type_hints

from alphazero.config.fields import (
    REQUIRED,
    FieldInfo,
    Reader,
    WrongValueError,
    check_value,
    config_field,
    dotted,
)
from alphazero.config.strict_yaml import KeyPath, describe_value, quote

GameOption = int | float | bool | str
VariedOptions = dict[str, tuple[int, int]]
PRECISIONS = ("auto", "float32", "bfloat16")
BACKENDS = ("auto", "torch", "openvino", "onnxruntime")
HEADS = ("dense", "convolutional")
AUXILIARY_HEADS = ("ownership", "margin", "short_term_value")
SELECTIONS = ("puct", "gumbel", "gumbel_root")
TRANSPOSITIONS = ("never", "play", "always")
INITIAL_SIMULATIONS_FRACTION = 0.15
"""Fraction of a move's simulations at the beginning of a run with `progressive_samples`."""
LEAF_SYMMETRIES = ("none", "random", "average")


def check_names(names: Any, noun: str, choices: tuple[str, ...]) -> tuple[str, ...]:
    """Return a list of different `choices` as a tuple; raise WrongValueError for other values."""
    if not isinstance(names, list):
        raise WrongValueError(f"expected a list of {noun}, got {describe_value(names)}")
    for index, name in enumerate(names):
        check_value(str, FieldInfo(noun, choices=choices), name)
        if name in names[:index]:
            raise WrongValueError(f"{quote(name)} appears twice")
    return tuple(names)


@dataclass(frozen=True)
class RunConfig:
    """Folders, random seed and cores of a run."""

    name: str = config_field(
        "",
        "name of the run's folder inside `run.folder`; empty: the name of the YAML file",
        unit="letters, digits and . _ -",
    )
    folder: str = config_field("checkpoints", "folder that holds the runs")
    seed: int = config_field(1, "random seed of the whole run", at_least=0)
    threads: int = config_field(
        0,
        "maximum processor cores for self-play and training; 0: all that the process may use; "
        "with a GPU, self-play of small games takes fewer",
        unit="cores",
        at_least=0,
        at_most=4096,
    )
    keep_checkpoints: int = config_field(
        10, "number of newest step checkpoints to keep; 0 keeps all", unit="files", at_least=0
    )


@dataclass(frozen=True)
class GameConfig:
    """The game and its own options."""

    name: str = config_field(
        REQUIRED,
        "name of the game; the section's other keys are the game's options, such as `rows: 6`",
    )
    options: dict[str, GameOption] = field(default_factory=dict)


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of the network f_θ(s) = (p, v): AGZ's, with wider heads and global pooling."""

    blocks: int = config_field(
        5,
        "residual blocks in the tower",
        at_least=0,
        at_most=1024,
        source="AGZ, Methods, Neural network architecture: 19 or 39; ours suits small boards",
    )
    filters: int = config_field(
        64,
        "convolution filters in the stem and in each block",
        at_least=1,
        at_most=4096,
        source="AGZ, Methods, Neural network architecture: 256; ours suits small boards",
    )
    policy_filters: int = config_field(
        32,
        "1x1 filters of the policy head",
        at_least=1,
        at_most=4096,
        source="AGZ, Methods, Neural network architecture: 2; Wu 2019, appendix A: 32",
    )
    value_filters: int = config_field(
        32,
        "1x1 filters of the value head",
        at_least=1,
        at_most=4096,
        source="AGZ, Methods, Neural network architecture: 1; Wu 2019, appendix A: 32",
    )
    value_hidden: int = config_field(
        128,
        "units of the value head's hidden layer",
        at_least=1,
        at_most=65536,
        source="AGZ, Methods, Neural network architecture: 256; ours suits 64 filters",
    )
    heads: str = config_field(
        "dense",
        "kind of the heads: `dense`, with weights for each cell; or `convolutional`, whose weights "
        "fit any size of the board: the logits of cells by 1x1 convolutions, those of other "
        "actions and the value from means and maxima over the board, for which `policy_filters` "
        "and `value_filters` should be 16 or more. A game whose actions are not cells, such as "
        "Connect Four, keeps the dense policy head",
        choices=HEADS,
        source="AGZ, Methods, Neural network architecture: dense; Wu 2019 (arXiv:1902.10565), "
        "section 3.3 and appendix A: convolutional, 32 filters in the heads beside 96",
    )
    global_pooling: int = config_field(
        16,
        "filters of every third block, from the second on, that are pooled over the whole board "
        "and bias the block's other filters; less than `filters`; 0 is off",
        unit="filters",
        at_least=0,
        at_most=4095,
        source="not in AGZ; Wu 2019 (arXiv:1902.10565), section 3.3; KataGo: 32 of 128 filters",
    )
    initial: str = config_field(
        "",
        "checkpoint, or a run's folder for its best player, whose weights the run starts from, as "
        "far as they fit: also one with fewer blocks and filters, whose answers the run begins "
        "with, and with `heads: convolutional` one of another size of the board; empty: untrained",
        unit="path",
        source="AGZ: untrained",
    )
    auxiliary: tuple[str, ...] = config_field(
        (),
        "heads that training adds, and self-play does not compute: `ownership`, who owns each "
        "cell at the end, and `margin`, by how much the game is won, for games with these rules; "
        "`short_term_value`, the search's values a few moves on",
        kind="list of heads",
        choices=AUXILIARY_HEADS,
        read=lambda _reader, _path, value: check_names(value, "heads", AUXILIARY_HEADS),
        source="not in AGZ; Wu 2019 (arXiv:1902.10565), section 4.1; KataGo, "
        "docs/KataGoMethods.md, Short-term Value and Score Targets",
    )

    def without_initial(self) -> "NetworkConfig":
        """Return the settings that a checkpoint holds."""
        return replace(self, initial="")


@dataclass(frozen=True)
class SearchConfig:
    """Monte Carlo tree search of all players of the run."""

    simulations: int = config_field(
        96,
        "new simulations per move",
        unit="simulations",
        at_least=1,
        at_most=1_000_000,
        source="AGZ, Methods, Self-play: 1600; AlphaZero: 800; ours fits one computer",
    )
    c_puct: float = config_field(
        1.4,
        "exploration constant of PUCT",
        at_least=0,
        source="AlphaZero pseudocode, pb_c_init: 1.25; AGZ tuned it and gives no number",
    )
    c_puct_base: float = config_field(
        0.0,
        "base of the growing constant c(s) = log((1 + N + base) / base) + c_puct; 0: c is constant",
        unit="visits",
        at_least=0,
        source="AGZ: constant; AlphaZero pseudocode, pb_c_base: 19652, relevant at far larger N",
    )
    fpu: str = config_field(
        "zero",
        "first-play urgency, the Q of an unvisited action: `zero`, or `parent`, the node's mean "
        "value minus `fpu_reduction`",
        choices=("zero", "parent"),
        source="AGZ, Methods, Search algorithm, Expand: Q = 0",
    )
    fpu_reduction: float = config_field(
        0.25,
        "reduction of the parent's value with `fpu: parent`",
        unit="value",
        at_least=0,
        at_most=2,
        source="not in AGZ; Leela Zero: 0.25, there scaled by the visited priors",
    )
    reuse_tree: bool = config_field(
        True,
        "keep the subtree of the played move for the next search; never with `selection: gumbel`",
        source="AGZ, Methods, Search algorithm, Play: the child becomes the new root",
    )
    mcts_solver: bool = config_field(
        True,
        "prove wins, draws and losses in the tree: moves that win at once are found without the "
        "network, solved nodes are not searched again, and a solved root ends the search",
        source="not in AGZ; MCTS-Solver: Winands et al. 2008; bounds: Cazenave & Saffidine 2010; "
        "winning moves at leaves: Teytaud & Teytaud 2010",
    )
    transpositions: str = config_field(
        "play",
        "where one node stands for a position, whatever the order of the moves that lead to it, so "
        "that all simulations through it share its statistics: `never`; in `play`, gates included; "
        "or `always`, in self-play too. In a graph worse actions also count less in a mean value. "
        "`never` for games where earlier positions matter, such as Go",
        choices=TRANSPOSITIONS,
        source="AGZ: never; Czech, Korus & Kersting, Monte-Carlo Graph Search, ICAPS 2021; "
        "means as in KataGo, docs/GraphSearch.md",
    )
    leaf_symmetry: str = config_field(
        "none",
        "symmetry under which the network evaluates a leaf: `none`, a `random` symmetry of the "
        "game, or the `average` over all of them",
        choices=LEAF_SYMMETRIES,
        source="AGZ, Methods, Search algorithm, Expand: random",
    )
    selection: str = config_field(
        "gumbel_root",
        "rule that selects actions: `puct`; `gumbel`, sequential halving at the root and the "
        "improved policy below it, which is also the policy target; or `gumbel_root`, the same "
        "at the root, PUCT below it and reused trees: the halving uses the statistics of a "
        "reused root and distributes the new simulations",
        choices=SELECTIONS,
        source="AGZ: PUCT; Danihelka et al., ICLR 2022, both, section 5",
    )
    gumbel_max_considered_actions: int = config_field(
        16,
        "maximum number of root actions that Gumbel search considers",
        unit="actions",
        at_least=1,
        source="Danihelka et al. 2022, section 5: 16",
    )
    evaluation_cache_mib: int = config_field(
        64,
        "memory for cached evaluations, per worker and player; 0 is off",
        unit="MiB",
        at_least=0,
        at_most=1 << 20,
        source="not in AGZ",
    )

    def in_selfplay(self) -> "SearchConfig":
        """Return the settings of self-play: plain trees if graphs are for play only."""
        if self.transpositions != "play":
            return self
        return replace(self, transpositions="never")


@dataclass(frozen=True)
class RayConfig:
    """Self-play and gates on Ray actors, which keep playing while the learner trains."""

    address: str = config_field(
        "local",
        "`host:port` of the cluster; `local` starts one on this machine for this run, which "
        "listens on the loopback interface only",
    )
    actors: int = config_field(
        2, "processes that play, each with `selfplay.parallel_games` games", at_least=1
    )
    cpus_per_actor: int = config_field(1, "processor cores per actor", unit="cores", at_least=1)
    gpus_per_actor: float = config_field(
        0.0, "fraction of a GPU per actor; with 0.25 four actors share a GPU", at_least=0
    )
    max_queued_games: int = config_field(
        0,
        "maximum number of games played before the learner asks for them; at this number actors "
        "pause. 0: twice `selfplay.games_per_iteration`",
        unit="games",
        at_least=0,
        source="not in AGZ, whose stages ran in parallel without a bound",
    )
    max_steps_ahead: int = config_field(
        50,
        "maximum number of optimizer steps done before the games they are due for arrive; then "
        "the learner waits. Later iterations do fewer steps by this number",
        unit="steps",
        at_least=0,
        source="not in AGZ, whose stages ran in parallel without a bound",
    )
    time_limit: int = config_field(
        3600,
        "time without an answer after which an actor that has work is replaced; three failures "
        "in a row of the same actor stop the run",
        unit="s",
        at_least=1,
    )
    allow_unauthenticated: bool = config_field(
        False,
        "join a cluster without token authentication; anyone who can reach its ports can run "
        "programs as you",
    )


def _read_distributed(reader: Reader, path: KeyPath, value: Any) -> RayConfig | None:
    if value is None:
        return None
    if not isinstance(value, dict) or value.keys() != {"ray"}:
        raise WrongValueError(f"expected null or {{ray: {{...}}}}, got {describe_value(value)}")
    keys = {} if value["ray"] is None else value["ray"]
    if not isinstance(keys, dict):
        raise WrongValueError(f"expected keys in {{ray: {{...}}}}, got {describe_value(keys)}")
    settings = reader.read(RayConfig, (*path, "ray"), keys)
    if any(wrong[: len(path)] == path for wrong in reader.wrong):
        reader.wrong.add(path)
    return settings


def _read_varied_options(_reader: Reader, _path: KeyPath, value: Any) -> VariedOptions | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise WrongValueError(
            f"expected null or {{option: [low, high]}}, got {describe_value(value)}"
        )
    for option, limits in value.items():
        whole = isinstance(limits, list) and [type(each) for each in limits] == [int, int]
        if not whole or limits[0] > limits[1] or max(map(abs, limits)) >= 2**31:
            raise WrongValueError(
                f"{quote(str(option))} needs [low, high], two whole numbers, the lower one first, "
                f"got {describe_value(limits)}"
            )
    return {str(option): (low, high) for option, (low, high) in value.items()} or None


@dataclass(frozen=True)
class SelfplayConfig:
    """Games of the best network against itself."""

    games_per_iteration: int = config_field(
        256,
        "games finished per iteration; its end drops the search trees and the evaluation cache, "
        "so play is faster with many games in proportion to `parallel_games`",
        unit="games",
        at_least=1,
        source="AGZ, Methods, Self-play: 25000; ours keeps iterations short on one computer",
    )
    parallel_games: int = config_field(
        256,
        "games in progress at once, divided among the cores; also those of the gate. On a "
        "cluster: per actor",
        unit="games",
        at_least=1,
        at_most=65536,
    )
    temperature: float = config_field(
        1.0,
        "temperature of the moves sampled in the opening; no effect with Gumbel search, which "
        "explores by sampling at the root and plays the move that it chose",
        at_least=0,
        source="AGZ, Methods, Self-play: 1",
    )
    temperature_moves: int = config_field(
        30,
        "moves of each game sampled at `temperature`, both players counted together",
        unit="moves",
        at_least=0,
        source="AGZ, Methods, Self-play: 30",
    )
    final_temperature: float = config_field(
        0.0,
        "temperature of the later moves; 0 plays the most visited move",
        at_least=0,
        source="AGZ, Methods, Self-play: towards 0",
    )
    dirichlet_fraction: float = config_field(
        0.25,
        "fraction ε of Dirichlet noise in the root's priors",
        at_least=0,
        at_most=1,
        source="AGZ, Methods, Self-play: 0.25",
    )
    dirichlet_alpha: float = config_field(
        0.3,
        "concentration of the Dirichlet noise; about 10 / (usual number of legal moves)",
        above=0,
        source="AlphaZero: 0.3 chess, 0.15 shogi, 0.03 Go; AGZ: 0.03; ours suits small boards",
    )
    full_search_probability: float = config_field(
        0.33,
        "probability of a full search: `search.simulations`, and a training sample; other moves "
        "get a fast search: `fast_simulations`, and no noise",
        above=0,
        at_most=1,
        source="Wu 2019 (arXiv:1902.10565), section 3.1: 0.25; AGZ: 1",
    )
    fast_simulations: int = config_field(
        32,
        "simulations of a fast search",
        unit="simulations",
        at_least=1,
        at_most=1_000_000,
        source="Wu 2019, section 3.1: 100 beside 600",
    )
    progressive_samples: int | None = config_field(
        None,
        "positions over which the simulations of full and fast searches grow evenly from 15 % of "
        "them to all: at first the network is weak, and the "
        "window soon drops those games; null: all from the beginning",
        unit="positions",
        at_least=1,
        source="AGZ: null; progressive simulation: Wu et al. 2023, MiniZero (arXiv:2310.11305)",
    )
    resign_enabled_fraction: float = config_field(
        0.0,
        "fraction of games with resignation: a player resigns when the values of the root and of "
        "its best action are below a threshold of at most -0.5, by which fewer than 5 % of the "
        "resignations in the other games would have been wrong; 0 is off",
        at_least=0,
        below=1,
        source="AGZ, Methods, Self-play: 0.9, fewer than 5 %",
    )
    random_opening_probability: float = config_field(
        0.6,
        "fraction of games that begin with 0 to `random_opening_max_moves` random legal moves, "
        "which are not training samples; so positions that good play never reaches are learned "
        "too",
        at_least=0,
        at_most=1,
        source="AGZ: 0; exploring starts: Sutton & Barto, 2nd ed., section 5.3",
    )
    random_opening_max_moves: int = config_field(
        16, "maximum number of random moves at the start of a game", unit="moves", at_least=1
    )
    random_opening_candidates: int = config_field(
        1,
        "random openings of equal length drawn for such a game, which begins with the one whose "
        "value by the network is nearest to 0; many random openings are decided already",
        unit="openings",
        at_least=1,
        at_most=1000,
        source="AGZ: no openings; engine tournaments begin with balanced ones",
    )
    varied_options: VariedOptions | None = config_field(  # noqa: RUF009  (as below)
        None,
        "options of the game drawn at random for each self-play game, evenly from low to high, "
        "both included; the network must see them. In Go with `features: 1`, `{komi_half_points: "
        "[9, 21]}`; gates and evaluations keep the value of the section `game`. null: none",
        kind="null or {option: [low, high]}",
        read=_read_varied_options,
        source="AGZ: none; Wu 2019 (arXiv:1902.10565), appendix D: random komi",
    )
    distributed: RayConfig | None = config_field(  # noqa: RUF009  (a `config_field`, as everywhere; ruff cannot know)
        None,
        "where games are played: null: in this process; or {ray: {address: ..., actors: ...}}: "
        "by Ray actors, on this machine or a cluster",
        kind="null or {ray: {...}}",
        read=_read_distributed,
    )

    def simulations_fraction(self, positions: float) -> float:
        """Return the fraction of a move's simulations that are done after `positions` positions."""
        if self.progressive_samples is None:
            return 1.0
        progress = min(positions / self.progressive_samples, 1.0)
        return INITIAL_SIMULATIONS_FRACTION * (1 - progress) + progress


@dataclass(frozen=True)
class ReplayConfig:
    """The window of positions from which training samples are drawn."""

    window_minimum: int = config_field(
        30_000, "minimum size of the window", unit="positions", at_least=1
    )
    window_maximum: int = config_field(
        400_000,
        "maximum size of the window",
        unit="positions",
        at_least=1,
        source="AGZ, Methods, Optimization: the newest 500,000 games; ours counts positions",
    )
    window_fraction: float = config_field(
        0.75,
        "size of the window as a fraction of all fully searched positions so far, between "
        "minimum and maximum",
        above=0,
        at_most=1,
        source="not in AGZ, whose window is fixed; ours drops the first, random games sooner",
    )
    ratio: float = config_field(
        4.0,
        "expected draws of each new position: steps = new positions x ratio / batch_size",
        unit="draws",
        above=0,
        at_most=10_000,
        source="AGZ: about 1.5 (700,000 batches of 2048 from 4.9 million games of some 200 moves)",
    )
    deblunder_threshold: float = config_field(
        0.0,
        "drop of the mover's value from one search to the next above which the move is a "
        "blunder; earlier positions then learn the value before the blunder instead of the "
        "outcome; 0 is off",
        at_least=0,
        below=2,
        source="Leela Chess Zero, rescorer, --deblunder; AGZ: 0, the outcome whatever was played",
    )


class RatePoint(NamedTuple):
    """The learning rate from a step on."""

    step: int
    rate: float


_STEP = FieldInfo("first step of this rate", unit="steps", at_least=0)
_RATE = FieldInfo("learning rate", above=0)


def _read_rates(reader: Reader, path: KeyPath, value: Any) -> tuple[RatePoint, ...]:
    if not isinstance(value, list):
        if isinstance(value, dict) or value is None:
            raise WrongValueError(
                f"expected a number or a list of {{step, rate}}, got {describe_value(value)}"
            )
        return (RatePoint(0, check_value(float, _RATE, value)),)
    points = []
    for index, item in enumerate(value):
        here = (*path, index)
        if not isinstance(item, dict) or item.keys() != {"step", "rate"}:
            reader.report(here, f"{dotted(here)}: expected {{step: ..., rate: ...}}")
        else:
            step = reader.read_value((*here, "step"), int, _STEP, item["step"])
            rate = reader.read_value((*here, "rate"), float, _RATE, item["rate"])
            points.append(RatePoint(step, rate))
    if any(wrong[: len(path)] == path for wrong in reader.wrong):
        reader.wrong.add(path)
    elif not points or points[0].step != 0:
        raise WrongValueError("the first step must be 0")
    for index, (before, after) in enumerate(pairwise(points), start=1):
        if path not in reader.wrong and after.step <= before.step:
            here = (*path, index)
            reader.report(
                here, f"{dotted(here)}.step: must be above {before.step}, the step before"
            )
    return tuple(points)


@dataclass(frozen=True)
class LearnerConfig:
    """The optimizer of the loss (z - v)² - π·log p + c‖θ‖² (AGZ, equation 1).

    Each head in `network.auxiliary` adds its loss, times its weight in `AUXILIARY_WEIGHTS`.
    """

    optimizer: str = config_field(
        "muon",
        "optimizer; `muon` updates biases and normalisation parameters by AdamW",
        choices=("sgd", "adamw", "muon"),
        source="AGZ, Methods, Optimization: SGD with momentum; Muon: Jordan et al. (2024)",
    )
    learning_rate: tuple[RatePoint, ...] = config_field(
        (RatePoint(0, 0.005),),
        "learning rate, or a schedule: [{step: 0, rate: 0.005}, {step: 9000, rate: 0.001}]",
        unit="above 0; steps increase from 0",
        kind="number or list of {step, rate}",
        read=_read_rates,
        source="AGZ, Extended Data Table 3: 1e-2, 1e-3 from step 400,000, 1e-4 from 600,000; "
        "ours is for Muon and short runs",
    )
    l2_penalty: float = config_field(
        0.0, "c of the loss term c‖θ‖²", at_least=0, source="AGZ, Methods, Optimization: 1e-4"
    )
    weight_decay: float = config_field(
        0.4,
        "decoupled weight decay of AdamW and Muon; 0 with SGD",
        at_least=0,
        source="not in AGZ; ours keeps small networks from learning positions by heart",
    )
    batch_size: int = config_field(
        512,
        "positions per step",
        unit="positions",
        at_least=1,
        at_most=1 << 20,
        source="AGZ, Methods, Optimization: 2048; ours fits a smaller window and device",
    )
    max_grad_norm: float = config_field(
        5.0,
        "maximum norm of the gradient; larger ones are scaled down; 0 is off",
        at_least=0,
        source="not in AGZ",
    )
    search_value_weight: float = config_field(
        0.3,
        "weight of the search value q in the value target, (1 - weight) z + weight q",
        at_least=0,
        at_most=1,
        source="AGZ: 0, the outcome z alone",
    )
    ema_decay: float = config_field(
        0.995,
        "decay per step of the exponential moving average of the weights, which is the network "
        "that plays; 0: no average",
        at_least=0,
        below=1,
        source="not in AGZ",
    )

    def rate_at(self, step: int) -> float:
        """Return the learning rate of optimizer step `step`, counted from 0."""
        return [point.rate for point in self.learning_rate if point.step <= step][-1]


@dataclass(frozen=True)
class GateConfig:
    """The match that decides whether the challenger becomes the best."""

    interval: int = config_field(
        3,
        "iterations between gates",
        unit="iterations",
        at_least=1,
        source="AGZ, Methods, Evaluator: every 1,000 steps",
    )
    games: int = config_field(
        40,
        "games of a gate, in pairs that swap colours; 0 is off: the newest network always plays",
        unit="games",
        at_least=0,
        source="AGZ, Methods, Evaluator: 400; AlphaZero: off; ours is quicker and less sure",
    )
    threshold: float = config_field(
        0.45,
        "score that the challenger needs, as a fraction of the games; a draw counts half",
        at_least=0,
        at_most=1,
        source="AGZ, Methods, Evaluator: 0.55; ours refuses a clear loss only, because "
        "averaged weights change slowly",
    )
    opening_moves: int = config_field(
        4,
        "random moves at the start of each pair of games, so that games differ",
        unit="moves",
        at_least=0,
        source="not in AGZ",
    )

    def accepts(self, score: float) -> bool:
        """Whether a challenger with this score, 0 to 1, becomes the best."""
        return score >= self.threshold


def _read_names(reader: Reader, path: KeyPath, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise WrongValueError(f"expected a list of player names, got {describe_value(value)}")
    names: set[str] = set()
    for index, item in enumerate(value):
        here = (*path, index)
        if not isinstance(item, str):
            reader.report(here, f"{dotted(here)}: expected a name, got {describe_value(item)}")
            reader.wrong.add(path)
        elif item in names:
            raise WrongValueError(f"{quote(item)} appears twice")
        else:
            names.add(item)
    return tuple(value)


@dataclass(frozen=True)
class EvaluationConfig:
    """Measurements of strength during a run; training does not depend on them."""

    interval: int = config_field(
        6, "iterations between measurements of strength", unit="iterations", at_least=1
    )
    anchors: tuple[str, ...] = config_field(
        (),
        "fixed opponents of the best player, named as for `alphazero match`; the first has a "
        "rating of 0",
        kind="list of names",
        read=_read_names,
    )
    solved_positions_per_stage: int = config_field(
        0,
        "solved positions per stage of the game in which the best player's moves are compared "
        "with the exact answers; 0 is off",
        unit="positions",
        at_least=0,
    )


@dataclass(frozen=True)
class BudgetConfig:
    """Limits of the run, which ends at the first one reached; at least one must be set."""

    iterations: int | None = config_field(
        None, "iterations of the run", unit="iterations", at_least=1
    )
    samples: int | None = config_field(
        None,
        "fully searched positions of self-play",
        unit="positions",
        at_least=1,
        source="AGZ counts games: 4.9 million (20 blocks), 29 million (40 blocks)",
    )
    evaluations: int | None = config_field(
        None, "positions evaluated by the network in self-play", unit="positions", at_least=1
    )
    minutes: float | None = config_field(None, "duration of the run", unit="minutes", above=0)


@dataclass(frozen=True)
class InferenceConfig:
    """Evaluation of the network during play."""

    backend: str = config_field(
        "auto",
        "inference library; `auto`: on a CPU OpenVINO, or else ONNX Runtime, if installed; else "
        "torch; the environment variable ALPHAZERO_BACKEND overrides it",
        choices=BACKENDS,
    )
    device: str = config_field(
        "auto",
        "device of self-play and training; `auto`: a GPU if torch finds one and it passes a "
        "self-check, else the CPU; `cuda`: of NVIDIA or AMD, `mps`: of Apple, `xpu`: of Intel",
        choices=("auto", "cpu", "cuda", "mps", "xpu"),
    )
    precision: str = config_field(
        "auto",
        "number format of training and inference; `auto` depends on the device",
        choices=PRECISIONS,
    )
    selfplay_precision: str = config_field(
        "int8",
        "number format of self-play: the `same` as `precision`, or int8 where OpenVINO is used and "
        "int8 gives nearly the same moves and values",
        choices=("same", "int8"),
        source="not in AGZ; on two cores 1.6 times as fast as bfloat16, 3 times as float32",
    )


@dataclass(frozen=True)
class Config:
    """A checked configuration."""

    game: GameConfig
    run: RunConfig = field(default_factory=RunConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    selfplay: SelfplayConfig = field(default_factory=SelfplayConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    inference: InferenceConfig = field(default_factory=InferenceConfig)

    def steps_due(self, positions: int) -> int:
        """Return the number of optimizer steps due after `positions` self-play positions."""
        return int(positions * (self.replay.ratio / self.learner.batch_size))


SECTIONS: dict[str, Any] = get_type_hints(Config)
