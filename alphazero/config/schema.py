"""The schema of the YAML file: one class per section, one documented field per key.

Only this file has a key's default, unit, range and source. In the sources, AGZ is Silver et al.,
"Mastering the game of Go without human knowledge", Nature 550 (2017), with the section of its
Methods: Network is "Neural network architecture", Expand and Play belong to "Search algorithm".
AlphaZero is Silver et al., "A general reinforcement learning algorithm that masters chess, shogi,
and Go through self-play", Science 362 (2018), with its pseudocode. Wu 2019 is arXiv:1902.10565.
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
HEADS = ("auto", "dense", "convolutional")
DENSE_CELLS = 64
"""Cells of the largest board with dense heads by `heads: auto`: their weights grow with cells."""
AUXILIARY_HEADS = ("ownership", "margin", "short_term_value")
SELECTIONS = ("puct", "gumbel", "gumbel_root")
TRANSPOSITIONS = ("never", "play", "always")
INITIAL_SIMULATIONS_FRACTION = 0.15
"""Fraction of a move's simulations at the beginning of a run with `progressive_samples`."""
WEIGHT_DECAYS = {"sgd": 0.0, "adamw": 0.01, "muon": 0.4}
LEAF_SYMMETRIES = ("none", "random", "average")


def check_names(names: Any, noun: str, choices: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return a list of different names, of `choices` if there are any, as a tuple.

    Raise WrongValueError for other values.
    """
    if not isinstance(names, list):
        raise WrongValueError(f"expected a list of {noun}, got {describe_value(names)}")
    seen: set[str] = set()
    for name in names:
        check_value(str, FieldInfo(noun, choices=choices), name)
        if name in seen:
            raise WrongValueError(f"{quote(name)} appears twice")
        seen.add(name)
    return tuple(names)


@dataclass(frozen=True)
class RunConfig:
    """Folders, random seed and cores of a run."""

    name: str = config_field(
        "", "run's folder; empty: the name of the YAML file", unit="letters, digits and . _ -"
    )
    folder: str = config_field("checkpoints", "folder that holds the runs")
    seed: int = config_field(1, "random seed of the whole run", at_least=0)
    threads: int = config_field(
        0, "cores to use; 0: all, or fewer for small games on a GPU", at_least=0, at_most=4096
    )
    keep_checkpoints: int = config_field(10, "newest checkpoints to keep; 0: all", at_least=0)


@dataclass(frozen=True)
class GameConfig:
    """The game and its own options."""

    name: str = config_field(
        REQUIRED, "game; the section's other keys are its options, such as `rows: 6`"
    )
    options: dict[str, GameOption] = field(default_factory=dict)


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of the network f_θ(s) = (p, v): AGZ's, with wider heads and global pooling."""

    blocks: int = config_field(
        5, "residual blocks", at_least=0, at_most=200, source="AGZ, Network: 19 or 39"
    )
    filters: int = config_field(
        64, "filters of each block", at_least=1, at_most=4096, source="AGZ, Network: 256"
    )
    policy_filters: int = config_field(
        32, "1x1 filters of the policy head", at_least=1, at_most=4096, source="AGZ, Network: 2"
    )
    value_filters: int = config_field(
        32, "1x1 filters of the value head", at_least=1, at_most=4096, source="AGZ, Network: 1"
    )
    value_hidden: int = config_field(
        128, "hidden units of the value head", at_least=1, at_most=65536, source="AGZ, Network: 256"
    )
    heads: str = config_field(
        "auto",
        "`dense`: weights for each cell, always where actions are not cells; `convolutional`: for "
        "any size of the board, best with 16 filters or more in both heads; `auto`: dense up to "
        f"{DENSE_CELLS} cells",
        choices=HEADS,
        source="AGZ, Network: dense; Wu 2019, appendix A: convolutional, 32 filters in the heads",
    )
    global_pooling: int = config_field(
        16,
        "filters of every third block pooled over the board, fewer than `filters`; 0 is off",
        at_least=0,
        at_most=4095,
        source="not in AGZ; Wu 2019, section 3.3; KataGo: 32 of 128 filters",
    )
    initial: str = config_field(
        "",
        "checkpoint, or a run's folder, whose weights begin the run: also of a smaller network, of "
        "one whose planes are the first of these, or with `heads: convolutional` of another size "
        "of the board; empty: untrained",
        unit="path",
        source="AGZ: untrained",
    )
    auxiliary: tuple[str, ...] = config_field(
        (),
        "heads for training alone: `ownership`, the owner of each cell at the end; `margin`, by "
        "how much the game is won; `short_term_value`, the search's values a few moves on",
        kind="list of heads",
        choices=AUXILIARY_HEADS,
        read=lambda _reader, _path, value: check_names(value, "heads", AUXILIARY_HEADS),
        source="not in AGZ; Wu 2019, section 4.1; KataGo, docs/KataGoMethods.md",
    )

    def for_board(self, cells: int) -> "NetworkConfig":
        """Return the settings that a checkpoint holds: without `initial` and `heads: auto`."""
        heads = "dense" if cells <= DENSE_CELLS else "convolutional"
        return replace(self, initial="", heads=heads if self.heads == "auto" else self.heads)


@dataclass(frozen=True)
class SearchConfig:
    """Monte Carlo tree search of all players of the run."""

    simulations: int = config_field(
        96, "new simulations per move", at_least=1, at_most=1_000_000, source="AGZ, Self-play: 1600"
    )
    c_puct: float = config_field(
        1.4, "exploration constant of PUCT", at_least=0, source="AlphaZero, pb_c_init: 1.25"
    )
    c_puct_base: float = config_field(
        0.0,
        "base of a growing c(s) = log((1 + N + base) / base) + c_puct; 0: c is constant",
        at_least=0,
        source="AGZ: constant; AlphaZero, pb_c_base: 19652",
    )
    fpu_reduction: float | None = config_field(
        None,
        "Q of an unvisited action: the node's value minus this; null: 0",
        at_least=0,
        at_most=2,
        source="AGZ, Expand: Q = 0; after Leela Zero, which subtracts 0.5 √(P of the visited)",
    )
    reuse_tree: bool = config_field(
        True, "keep the played move's subtree; never with `selection: gumbel`", source="AGZ, Play"
    )
    mcts_solver: bool = config_field(
        True,
        "prove wins, draws and losses in the tree, and search no solved node again",
        source="Winands et al. 2008; Cazenave & Saffidine 2010; Teytaud & Teytaud 2010",
    )
    transpositions: str = config_field(
        "play",
        "where move orders to a position share a node: `never`; in `play`, gates included; or "
        "`always`; never in Go, where earlier positions matter",
        choices=TRANSPOSITIONS,
        source="AGZ: never; Czech, Korus & Kersting, ICAPS 2021; KataGo, docs/GraphSearch.md",
    )
    leaf_symmetry: str = config_field(
        "none",
        "symmetries of a leaf's evaluation",
        choices=LEAF_SYMMETRIES,
        source="AGZ, Expand: random",
    )
    selection: str = config_field(
        "gumbel_root",
        "`puct`; `gumbel_root`: sequential halving at the root, which may be reused, PUCT below; "
        "or `gumbel`: the same root, never reused, the improved policy below. With these two the "
        "improved policy is the policy target",
        choices=SELECTIONS,
        source="AGZ: PUCT; Danihelka et al., ICLR 2022, both, section 5",
    )
    gumbel_max_considered_actions: int = config_field(
        16, "maximum root actions of Gumbel search", at_least=1, source="Danihelka et al. 2022: 16"
    )
    evaluation_cache_mib: int = config_field(
        64, "per worker and player; 0 is off", unit="MiB", at_least=0, at_most=1 << 20
    )

    def in_selfplay(self) -> "SearchConfig":
        """Return the settings of self-play: plain trees if graphs are for play only."""
        return replace(self, transpositions="never") if self.transpositions == "play" else self


@dataclass(frozen=True)
class RayConfig:
    """Self-play and gates on Ray actors, which keep playing while the learner trains."""

    address: str = config_field(
        "local",
        "`host:port` of a cluster; `local`: one for this run, on the loopback interface only",
    )
    actors: int = config_field(
        2, "processes that play, each with `selfplay.parallel_games` games", at_least=1
    )
    cpus_per_actor: int = config_field(1, "processor cores per actor", at_least=1)
    gpus_per_actor: float = config_field(
        0.0, "fraction of a GPU per actor; with 0.25 four actors share a GPU", at_least=0
    )
    allow_unauthenticated: bool = config_field(
        False, "join a cluster without a token, where all who reach its ports can run programs"
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
    reader.mark_parent(path)
    gpus = settings.gpus_per_actor
    if gpus != round(gpus, 4 if gpus < 1 else 0):
        raise WrongValueError(
            f"ray.gpus_per_actor: must be whole above 1, and have at most 4 decimals, got {gpus}"
        )
    return settings


def _read_varied_options(_reader: Reader, _path: KeyPath, value: Any) -> VariedOptions | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise WrongValueError(
            f"expected null or {{option: [low, high]}}, got {describe_value(value)}"
        )
    for option, limits in value.items():
        are_whole = isinstance(limits, list) and list(map(type, limits)) == [int, int]
        if not are_whole or limits[0] > limits[1] or max(map(abs, limits)) >= 2**31:
            raise WrongValueError(
                f"{quote(str(option))} needs [low, high], two whole numbers, the lower one first, "
                f"got {describe_value(limits)}"
            )
    return {str(option): (low, high) for option, (low, high) in value.items()} or None


@dataclass(frozen=True)
class SelfplayConfig:
    """Games of the best network against itself."""

    games_per_iteration: int = config_field(
        256, "games finished per iteration, at least", at_least=1, source="AGZ, Self-play: 25000"
    )
    parallel_games: int = config_field(
        256, "games in progress, in gates too; on a cluster: per actor", at_least=1, at_most=65536
    )
    temperature: float = config_field(
        1.0, "for the first moves, except by Gumbel search", at_least=0, source="AGZ, Self-play: 1"
    )
    temperature_moves: int = config_field(
        30, "moves of a game sampled at `temperature`", at_least=0, source="AGZ, Self-play: 30"
    )
    final_temperature: float = config_field(
        0.0,
        "for later moves, except by Gumbel search; 0: the most visited",
        at_least=0,
        source="AGZ, Self-play: towards 0",
    )
    dirichlet_fraction: float = config_field(
        0.25,
        "fraction ε of root noise, except in Gumbel search, which has its own",
        at_least=0,
        at_most=1,
        source="AGZ, Self-play: 0.25",
    )
    dirichlet_alpha: float = config_field(
        0.3,
        "concentration of the Dirichlet noise; about 10 / (usual number of legal moves)",
        above=0,
        source="AGZ, Self-play: 0.03; AlphaZero: 0.3 chess, 0.15 shogi, 0.03 Go",
    )
    full_search_probability: float = config_field(
        0.33,
        "probability of a full search, a training sample; other moves get `fast_simulations`",
        above=0,
        at_most=1,
        source="AGZ: 1; Wu 2019, section 3.1: 0.25",
    )
    fast_simulations: int = config_field(
        32,
        "of a fast search, at most those of a full one",
        at_least=1,
        at_most=1_000_000,
        source="Wu 2019, section 3.1: 100",
    )
    progressive_samples: int | None = config_field(
        None,
        "positions over which the simulations of a move grow from 15 % to all; null: all at once",
        at_least=1,
        source="AGZ: null; Wu et al. 2023, MiniZero (arXiv:2310.11305)",
    )
    resign_enabled_fraction: float = config_field(
        0.0,
        "fraction of games in which a player resigns when the root's value and the best action's "
        "are below a threshold, at most -0.5, with fewer than 5 % wrong resignations; 0 is off",
        at_least=0,
        below=1,
        source="AGZ, Self-play: 0.9, fewer than 5 %",
    )
    random_opening_probability: float = config_field(
        0.6,
        "fraction of games that begin with 0 to `random_opening_max_moves` random moves",
        at_least=0,
        at_most=1,
        source="AGZ: 0; exploring starts: Sutton & Barto, 2nd ed., section 5.3",
    )
    random_opening_max_moves: int = config_field(
        16, "maximum number of random moves at the start of a game", at_least=1
    )
    random_opening_candidates: int = config_field(
        1,
        "random openings of which the game begins with the one of value nearest to 0",
        at_least=1,
        at_most=1000,
        source="AGZ: no openings; engine tournaments begin with balanced ones",
    )
    varied_options: VariedOptions | None = config_field(  # noqa: RUF009  (as below)
        None,
        "options of the game drawn for each self-play game from low to high, both included, which "
        "the network must see: in Go with `features: 1`, `{komi_half_points: [9, 21]}`",
        kind="null or {option: [low, high]}",
        read=_read_varied_options,
        source="AGZ: none; Wu 2019, appendix D: random komi",
    )
    distributed: RayConfig | None = config_field(  # noqa: RUF009  (ruff does not know its default)
        None,
        "players: {ray: {address: ..., actors: ...}}: Ray actors; null: this process",
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

    window_minimum: int = config_field(30_000, "minimum positions in the window", at_least=1)
    window_maximum: int = config_field(
        400_000, "maximum positions in the window", at_least=1, source="AGZ: of 500,000 games"
    )
    window_fraction: float = config_field(
        0.75,
        "window's size as a fraction of all samples",
        above=0,
        at_most=1,
        source="AGZ: constant",
    )
    ratio: float = config_field(
        4.0,
        "expected draws of each new position: steps = new positions x ratio / batch_size",
        above=0,
        at_most=10_000,
        source="AGZ: about 1.5 (700,000 batches of 2048 from 4.9 million games of some 200 moves)",
    )
    deblunder_threshold: float = config_field(
        0.0,
        "drop of the mover's value between two searches that marks a blunder; earlier positions "
        "then learn the value before it in place of the outcome; 0 is off",
        at_least=0,
        below=2,
        source="AGZ: 0; Leela Chess Zero, rescorer, --deblunder",
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
        place = (*path, index)
        if not isinstance(item, dict) or item.keys() != {"step", "rate"}:
            reader.report(place, f"{dotted(place)}: expected {{step: ..., rate: ...}}")
        else:
            step = reader.read_value((*place, "step"), int, _STEP, item["step"])
            rate = reader.read_value((*place, "rate"), float, _RATE, item["rate"])
            points.append(RatePoint(step, rate))
    reader.mark_parent(path)
    if path not in reader.wrong and (not points or points[0].step != 0):
        raise WrongValueError("the first step must be 0")
    for index, (before, after) in enumerate(pairwise(points), start=1):
        if path not in reader.wrong and after.step <= before.step:
            place = (*path, index)
            message = f"{dotted(place)}.step: must be above {before.step}, the step before"
            reader.report(place, message)
    return tuple(points)


@dataclass(frozen=True)
class LearnerConfig:
    """The optimizer of the loss (z - v)² - π·log p + c‖θ‖² (AGZ, equation 1).

    Each head in `network.auxiliary` adds its loss, times its weight in `AUXILIARY_WEIGHTS`.
    """

    optimizer: str = config_field(
        "muon",
        "optimizer; `muon` updates biases and normalisation parameters by AdamW",
        choices=tuple(WEIGHT_DECAYS),
        source="AGZ, Optimization: SGD with momentum; Muon: Jordan et al. (2024)",
    )
    learning_rate: tuple[RatePoint, ...] = config_field(
        (RatePoint(0, 0.005),),
        "learning rate, or a schedule: [{step: 0, rate: 0.005}, {step: 9000, rate: 0.001}]",
        unit="above 0; steps increase from 0",
        kind="number or list of {step, rate}",
        read=_read_rates,
        source="AGZ, Extended Data Table 3: 1e-2, 1e-3 from step 400,000, 1e-4 from 600,000",
    )
    l2_penalty: float = config_field(
        0.0, "c of the loss term c‖θ‖²", at_least=0, source="AGZ, Optimization: 1e-4"
    )
    weight_decay: float | None = config_field(
        None,
        "decoupled weight decay; null: 0.4 with Muon, 0.01 with AdamW; none with SGD",
        at_least=0,
        source="not in AGZ; 0.4 keeps small networks from learning positions by heart",
    )
    batch_size: int = config_field(
        512, "positions per step", at_least=1, at_most=1 << 20, source="AGZ, Optimization: 2048"
    )
    max_grad_norm: float = config_field(
        5.0, "norm above which a gradient is scaled down; 0 is off", at_least=0
    )
    search_value_weight: float = config_field(
        0.3,
        "w of the value target (1 - w) z + w q",
        at_least=0,
        at_most=1,
        source="AGZ: 0, z alone",
    )
    ema_decay: float = config_field(
        0.995, "decay per step of the average weights, which play; 0: none", at_least=0, below=1
    )

    @property
    def decay(self) -> float:
        """The weight decay, by default that of the optimizer."""
        return WEIGHT_DECAYS[self.optimizer] if self.weight_decay is None else self.weight_decay

    def rate_at(self, step: int) -> float:
        """Return the learning rate of optimizer step `step`, counted from 0."""
        return [point.rate for point in self.learning_rate if point.step <= step][-1]


@dataclass(frozen=True)
class GateConfig:
    """The match that decides whether the challenger becomes the best."""

    interval: int = config_field(
        3, "iterations between gates", at_least=1, source="AGZ, Evaluator: every 1,000 steps"
    )
    games: int = config_field(
        100,
        "most games of a gate, in pairs that swap colours; from 38 on it ends after 40 % of them "
        "if these decide; 0: no gate, the newest network always plays",
        at_least=0,
        source="AGZ, Evaluator: 400; AlphaZero: no gate",
    )
    threshold: float = config_field(
        0.5,
        "score that the challenger needs, as a fraction of the games; a draw counts half. By "
        "default 3 to 9 % of challengers 50 Elo worse pass, 54 % of equals, 92 to 98 % of those "
        "50 Elo better, in 40 to 86 games on average",
        at_least=0,
        at_most=1,
        source="AGZ, Evaluator: 0.55; averaged weights improve slowly",
    )
    opening_moves: int = config_field(
        4, "random moves before each pair of games", at_least=0, source="not in AGZ"
    )


@dataclass(frozen=True)
class EvaluationConfig:
    """Measurements of strength during a run; training does not depend on them."""

    interval: int = config_field(6, "iterations between measurements of strength", at_least=1)
    anchors: tuple[str, ...] = config_field(
        (),
        "opponents of the best player, as for `alphazero match`; the first has a rating of 0",
        kind="list of names",
        read=lambda _reader, _path, value: check_names(value, "player names"),
    )
    solved_positions_per_stage: int = config_field(
        0,
        "solved positions, per stage of the game, that the best player answers; 0 is off",
        at_least=0,
    )


@dataclass(frozen=True)
class BudgetConfig:
    """Limits of the run, which ends at the first one reached; at least one must be set."""

    iterations: int | None = config_field(None, "iterations of the run", at_least=1)
    samples: int | None = config_field(
        None,
        "fully searched positions of self-play",
        at_least=1,
        source="AGZ: of 4.9 million games",
    )
    evaluations: int | None = config_field(
        None, "positions evaluated by the network in self-play", at_least=1
    )
    minutes: float | None = config_field(None, "duration of the run, in minutes", above=0)


@dataclass(frozen=True)
class InferenceConfig:
    """Evaluation of the network during play."""

    backend: str = config_field(
        "auto",
        "`auto`: on a CPU the first one installed of OpenVINO and ONNX Runtime, else torch; "
        "replaced by the environment variable ALPHAZERO_BACKEND",
        choices=BACKENDS,
    )
    device: str = config_field(
        "auto",
        "of play and learning; `auto`: a GPU that passes a self-check, else the CPU; `cuda`: of "
        "NVIDIA or AMD, `mps`: of Apple, `xpu`: of Intel",
        choices=("auto", "cpu", "cuda", "mps", "xpu"),
    )
    precision: str = config_field(
        "auto",
        "number format of play and learning; `auto` depends on the device",
        choices=PRECISIONS,
    )
    selfplay_precision: str = config_field(
        "int8",
        "the `same` as `precision`, or int8 where OpenVINO gives nearly the same moves and values",
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
