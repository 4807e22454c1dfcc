"""The schema of the YAML file: one section a class, one documented field a key.

Each key has its default, unit, range and source here and nowhere else. In the sources, AGZ is
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
PRECISIONS = ("auto", "float32", "bfloat16")
VALUE_HEADS = ("scalar", "wdl")
SELECTIONS = ("puct", "gumbel", "gumbel_root")


@dataclass(frozen=True)
class RunConfig:
    """Where a run is kept, and its seed."""

    name: str = config_field(
        "",
        "the run's folder inside `run.folder`; empty takes the YAML file's own name",
        unit="letters, digits and . _ -",
    )
    folder: str = config_field("checkpoints", "the folder that holds the runs")
    seed: int = config_field(0, "the one seed that drives all randomness", at_least=0)
    threads: int = config_field(
        0,
        "processor cores that playing and learning use; 0 takes all that the process may use",
        unit="cores",
        at_least=0,
        at_most=4096,
    )
    keep_checkpoints: int = config_field(
        10, "newest step checkpoints kept; 0 keeps all", unit="files", at_least=0
    )
    keep_games: int = config_field(
        100,
        "newest iterations whose sample games stay in games/; 0 keeps all",
        unit="iterations",
        at_least=0,
    )
    sample_games: int = config_field(
        1,
        "games of self-play and of the gate written to games/ in each iteration; the former to "
        "TensorBoard as well",
        unit="games",
        at_least=0,
    )


@dataclass(frozen=True)
class GameConfig:
    """The game and its own options."""

    name: str = config_field(
        REQUIRED, "the game; the section's other keys are that game's options, such as `rows: 6`"
    )
    options: dict[str, GameOption] = field(default_factory=dict)


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of the network f_θ(s) = (p, v); the defaults are AGZ's but for the sizes."""

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
        2,
        "1x1 filters of the policy head",
        at_least=1,
        at_most=4096,
        source="AGZ, Methods, Neural network architecture: 2",
    )
    value_filters: int = config_field(
        1,
        "1x1 filters of the value head",
        at_least=1,
        at_most=4096,
        source="AGZ, Methods, Neural network architecture: 1",
    )
    value_hidden: int = config_field(
        64,
        "units of the value head's hidden layer",
        at_least=1,
        at_most=65536,
        source="AGZ, Methods, Neural network architecture: 256; ours follows our `filters`",
    )
    value_head: str = config_field(
        "scalar",
        "what the value head learns: the value by its squared error, or (`wdl`) the probabilities "
        "of win, draw and loss by their cross-entropy; the value is then P(win) - P(loss)",
        choices=VALUE_HEADS,
        source="AGZ, Methods, Neural network architecture: scalar; Leela Chess Zero: wdl",
    )
    squeeze_excitation: int = config_field(
        0,
        "hidden units of the squeeze-and-excitation that ends each block; 0 is off",
        unit="units",
        at_least=0,
        at_most=4096,
        source="not in AGZ; Hu et al. 2018 (arXiv:1709.01507): filters / 16; "
        "Leela Chess Zero: about 32",
    )
    global_pooling: int = config_field(
        0,
        "filters that every third block, from the second on, pools over the whole board to shift "
        "its other filters; below `filters`; 0 is off",
        unit="filters",
        at_least=0,
        at_most=4095,
        source="not in AGZ; Wu 2019 (arXiv:1902.10565), section 3.3; KataGo: 32 of 128 filters",
    )


@dataclass(frozen=True)
class GrowthConfig:
    """A larger network that takes the place of the first one in the middle of the run.

    It begins untrained and learns from the window, while the first one plays on; from the gate
    that accepts it, it plays too. Steps are counted on, so that `learner.learning_rate` can be high
    again where it begins.
    """

    samples: int | None = config_field(
        None,
        "positions of self-play after which it begins; null: never",
        unit="positions",
        at_least=1,
        source="not in AGZ; Wu 2019 (arXiv:1902.10565): a run through four sizes of network",
    )
    blocks: int = config_field(
        8, "its residual blocks, in place of `network.blocks`", at_least=0, at_most=1024
    )
    filters: int = config_field(
        96, "its filters, in place of `network.filters`", at_least=1, at_most=4096
    )
    replay_ratio: float | None = config_field(
        None,
        "expected draws of each new position from then on, in place of `replay.ratio`; null: as "
        "many",
        unit="draws",
        above=0,
        at_most=10_000,
        formerly="reuse",
    )


@dataclass(frozen=True)
class SearchConfig:
    """Monte Carlo tree search, as all players of the run use it."""

    simulations: int = config_field(
        128,
        "new simulations for each move",
        unit="simulations",
        at_least=1,
        at_most=1_000_000,
        source="AGZ, Methods, Self-play: 1600; AlphaZero: 800; ours fits one computer",
    )
    c_puct: float = config_field(
        1.25,
        "exploration constant of PUCT",
        at_least=0,
        source="AlphaZero pseudocode, pb_c_init: 1.25; AGZ tuned it and gives no number",
    )
    c_puct_base: float = config_field(
        0.0,
        "base of the growth c(s) = log((1 + N + base) / base) + c_puct; 0 keeps c constant",
        unit="visits",
        at_least=0,
        source="AGZ: constant; AlphaZero pseudocode, pb_c_base: 19652, felt at far larger N",
    )
    fpu: str = config_field(
        "zero",
        "Q of an unvisited action: `zero`, or `parent`, the node's mean value less a reduction",
        choices=("zero", "parent"),
        source="AGZ, Methods, Search algorithm, Expand: Q = 0",
        formerly="first_play",
    )
    fpu_reduction: float = config_field(
        0.25,
        "what `fpu: parent` takes off the parent's value",
        unit="value",
        at_least=0,
        at_most=2,
        source="not in AGZ; Leela Zero: 0.25, there scaled by the visited priors",
        formerly="first_play_reduction",
    )
    reuse_tree: bool = config_field(
        True,
        "keep the chosen child's subtree for the next move; `selection: gumbel` never does",
        source="AGZ, Methods, Search algorithm, Play: the child becomes the new root",
    )
    mcts_solver: bool = config_field(
        False,
        "prove wins, draws and losses in the tree: moves that win at once are found without the "
        "network, what is proven is not searched again, and a proven root ends its search",
        source="not in AGZ; MCTS-Solver: Winands et al. 2008; bounds: Cazenave & Saffidine 2010; "
        "winning moves at leaves: Teytaud & Teytaud 2010",
        formerly="solver",
    )
    transpositions: bool = config_field(
        False,
        "one node for a position, whatever the order of the moves that reach it: all walks to it "
        "share what they find; where the past counts, as in Go, it stays a tree",
        source="not in AGZ; Czech, Korus & Kersting, Monte-Carlo Graph Search, ICAPS 2021; "
        "means as in KataGo, docs/GraphSearch.md",
    )
    backup_value_weighting: float = config_field(
        0.0,
        "k of the weight 1 / (1 + k d) that a visit has in the mean value of the node above, when "
        "its action is worse by d than the best of the node; 0: all count alike",
        at_least=0,
        at_most=1000,
        source="AGZ: 0; others between mean and maximum: Coulom 2006, section 3",
        formerly="value_weighting",
    )
    leaf_symmetry: str = config_field(
        "none",
        "how a position is shown to the network: as it is, under a `random` symmetry of the game, "
        "or under all of them, whose answers are averaged",
        choices=("none", "random", "average"),
        source="AGZ, Methods, Search algorithm, Expand: random",
        formerly="symmetry",
    )
    selection: str = config_field(
        "puct",
        "how actions are chosen in the tree: `puct`; `gumbel`, sequential halving at the root and "
        "an improved policy below it, which is also the policy that is learned; or `gumbel_root`, "
        "the same at the root and PUCT below it, with kept trees: what a kept root knows of its "
        "actions is used, and the new simulations are halved among them",
        choices=SELECTIONS,
        source="AGZ: PUCT; Danihelka et al., ICLR 2022, both, section 5",
    )
    gumbel_max_considered_actions: int = config_field(
        16,
        "root actions that Gumbel search considers at most",
        unit="actions",
        at_least=1,
        source="Danihelka et al. 2022, section 5: 16",
        formerly="gumbel_actions",
    )
    gumbel_maxvisit_init: float = config_field(
        50.0,
        "c_visit of sigma(q) = (c_visit + max N) c_scale q",
        unit="visits",
        at_least=0,
        source="Danihelka et al. 2022, section 5: 50",
        formerly="gumbel_visits",
    )
    gumbel_value_scale: float = config_field(
        1.0,
        "c_scale of sigma(q), for q in [0, 1]",
        at_least=0,
        source="Danihelka et al. 2022, section 5: 1.0 for Go and chess",
        formerly="gumbel_scale",
    )
    evaluation_cache_mib: int = config_field(
        64,
        "memory of evaluations that are remembered, in each worker and player; 0 is off",
        unit="MiB",
        at_least=0,
        at_most=1 << 20,
        source="not in AGZ",
        formerly="cache_megabytes",
    )


@dataclass(frozen=True)
class RayConfig:
    """Self-play and gates on Ray actors, which play on while the learner learns."""

    address: str = config_field(
        "local",
        "the cluster's `host:port`; `local` starts one in this machine, for this run alone, that "
        "listens on the loopback interface only",
    )
    actors: int = config_field(
        2, "processes that play, each with `selfplay.parallel_games` games", at_least=1
    )
    cpus_per_actor: int = config_field(
        1, "processor cores that each one plays on", unit="cores", at_least=1
    )
    gpus_per_actor: float = config_field(
        0.0, "share of a GPU that each one is given; 0.25 lets four share one", at_least=0
    )
    max_queued_games: int = config_field(
        0,
        "games that are played before the learner asks for them, at most; then actors pause. "
        "0 takes twice `selfplay.games_per_iteration`",
        unit="games",
        at_least=0,
        source="not in AGZ, whose stages ran side by side without a bound",
        formerly="games_ahead",
    )
    max_steps_ahead: int = config_field(
        50,
        "steps that the learner may do before the games have come that they are due for; then it "
        "waits. Later ones are fewer by as many",
        unit="steps",
        at_least=0,
        source="not in AGZ, whose stages ran side by side without a bound",
        formerly="steps_ahead",
    )
    time_limit: int = config_field(
        3600,
        "time without an answer, while it has work, after which an actor is replaced by another "
        "one; an actor that fails so three times in a row stops the run",
        unit="s",
        at_least=1,
    )
    allow_unauthenticated: bool = config_field(
        False,
        "join a cluster that asks for no token, in which anybody who reaches its ports runs "
        "programs as you",
        formerly="allow_open",
    )


def _read_workers(reader: Reader, path: KeyPath, value: Any) -> RayConfig | None:
    """Null, or {ray: {...}}."""
    if value is None:
        return None
    if not isinstance(value, dict) or value.keys() != {"ray"}:
        raise WrongValueError(f"expected null or {{ray: {{...}}}}, got {describe_value(value)}")
    keys = {} if value["ray"] is None else value["ray"]
    if not isinstance(keys, dict):
        raise WrongValueError(f"expected {{ray: {{...}}}}, with keys, got {describe_value(keys)}")
    settings = reader.read(RayConfig, (*path, "ray"), keys)
    if any(wrong[: len(path)] == path for wrong in reader.wrong):
        reader.wrong.add(path)
    return settings


@dataclass(frozen=True)
class SelfplayConfig:
    """The games the best player plays against itself."""

    games_per_iteration: int = config_field(
        500,
        "games finished in each iteration; trees and remembered evaluations go with its end, so "
        "play is the faster, the more there are beside `parallel_games`",
        unit="games",
        at_least=1,
        source="AGZ, Methods, Self-play: 25000; ours lets one computer turn the loop often",
    )
    parallel_games: int = config_field(
        128,
        "games in progress at once, shared out among the cores; the gate's too. On a cluster: in "
        "each actor",
        unit="games",
        at_least=1,
        at_most=65536,
    )
    temperature: float = config_field(
        1.0,
        "temperature of the moves drawn in the opening; Gumbel search plays the move it has "
        "chosen, whatever the temperature: its draws at the root are its exploration",
        at_least=0,
        source="AGZ, Methods, Self-play: 1",
    )
    temperature_moves: int = config_field(
        30,
        "moves of each game drawn at `temperature`, both players counted together",
        unit="moves",
        at_least=0,
        source="AGZ, Methods, Self-play: 30",
    )
    final_temperature: float = config_field(
        0.0,
        "temperature of the later moves; 0 plays the most visited",
        at_least=0,
        source="AGZ, Methods, Self-play: towards 0",
    )
    dirichlet_fraction: float = config_field(
        0.25,
        "share ε of root noise in the root's priors",
        at_least=0,
        at_most=1,
        source="AGZ, Methods, Self-play: 0.25",
        formerly="noise_fraction",
    )
    dirichlet_alpha: float = config_field(
        0.3,
        "concentration of the Dirichlet root noise; about 10 / (usual number of legal moves)",
        above=0,
        source="AlphaZero: 0.3 chess, 0.15 shogi, 0.03 Go; AGZ: 0.03; ours suits small boards",
        formerly="noise_alpha",
    )
    forced_playouts: float = config_field(
        0.0,
        "k of the visits sqrt(k P(a) sum N) that every tried root action is forced to get; what "
        "they alone brought is taken out of the policy that is learned; 0 is off",
        at_least=0,
        source="Wu 2019 (arXiv:1902.10565), section 3.2: 2; AGZ: 0",
    )
    full_search_probability: float = config_field(
        1.0,
        "share of moves that are searched with `search.simulations` and learned from; the others "
        "get `fast_simulations` and no noise",
        above=0,
        at_most=1,
        source="Wu 2019 (arXiv:1902.10565), section 3.1: 0.25; AGZ: 1",
        formerly="full_share",
    )
    fast_simulations: int = config_field(
        16,
        "simulations of a quick search",
        unit="simulations",
        at_least=1,
        at_most=1_000_000,
        source="Wu 2019, section 3.1: 100 beside 600",
    )
    disable_graph_search: bool = config_field(
        False,
        "search trees with plain means in these games, faster, whatever `search.transpositions` "
        "and `search.backup_value_weighting` give to gates and to play",
        source="AGZ: plain trees in all",
        formerly="plain_trees",
    )
    resign_enabled_fraction: float = config_field(
        0.0,
        "share of games in which a player resigns when the values of the root and of its best "
        "action are below a threshold; the others set it; 0 is off",
        at_least=0,
        below=1,
        source="AGZ, Methods, Self-play: 0.9",
        formerly="resign_share",
    )
    resign_false_positives: float = config_field(
        0.05,
        "the threshold is the highest that is wrong in a smaller share than this of the games it "
        "would have ended, among those in the window that were played to the end",
        above=0,
        at_most=1,
        source="AGZ, Methods, Self-play: 0.05",
    )
    resign_threshold_max: float = config_field(
        -0.5,
        "the threshold is never higher, so that a position which is still open is played on",
        unit="value",
        at_least=-1,
        at_most=1,
        source="not in AGZ; thresholds in use are -0.7 to -0.9 (ELF OpenGo, Leela Zero)",
        formerly="resign_ceiling",
    )
    random_opening_probability: float = config_field(
        0.0,
        "share of games that begin with random legal moves, from none to "
        "`random_opening_max_moves`, "
        "which are not learned from: positions that good play never reaches are learned too",
        at_least=0,
        at_most=1,
        source="AGZ: 0; exploring starts: Sutton & Barto, 2nd ed., section 5.3",
        formerly="random_starts",
    )
    random_opening_max_moves: int = config_field(
        16,
        "greatest number of random moves a game begins with",
        unit="moves",
        at_least=1,
        formerly="random_start_moves",
    )
    random_opening_candidates: int = config_field(
        1,
        "random openings of the same length that are drawn for such a game; it begins with the one "
        "whose value the network puts nearest to 0, because many random ones are decided",
        unit="openings",
        at_least=1,
        at_most=1000,
        source="AGZ: no openings; balanced ones are what engine tournaments begin with",
        formerly="random_start_choices",
    )
    distributed: RayConfig | None = config_field(  # noqa: RUF009  (a `config_field`, as everywhere; ruff cannot know)
        None,
        "who plays: null, this process; or {ray: {address: ..., actors: ...}}, Ray actors, of "
        "this machine or of a cluster",
        kind="null or {ray: {...}}",
        read=_read_workers,
        formerly="workers",
    )


@dataclass(frozen=True)
class ReplayConfig:
    """The window of positions that training draws from."""

    window_minimum: int = config_field(
        20_000, "least size of the window, however young the run", unit="positions", at_least=1
    )
    window_maximum: int = config_field(
        500_000,
        "greatest size of the window",
        unit="positions",
        at_least=1,
        source="AGZ, Methods, Optimization: the newest 500,000 games; ours counts positions",
    )
    window_fraction: float = config_field(
        0.5,
        "window as a share of all positions ever searched fully, within minimum and maximum",
        above=0,
        at_most=1,
        source="not in AGZ, whose window is fixed; ours forgets the first, random games sooner",
    )
    ratio: float = config_field(
        4.0,
        "expected draws of each new position: steps = new positions x reuse / batch_size",
        unit="draws",
        above=0,
        at_most=10_000,
        source="AGZ: about 1.5 (700,000 batches of 2048 from 4.9 million games of some 200 moves)",
        formerly="reuse",
    )
    deblunder_threshold: float = config_field(
        0.0,
        "fall of the mover's value, from one search to the next, above which a move is a blunder: "
        "positions before it learn the value that it threw away in place of the outcome; 0 is off",
        at_least=0,
        below=2,
        source="Leela Chess Zero, rescorer, --deblunder; AGZ: 0, the outcome whatever was played",
        formerly="blunder",
    )
    policy_surprise_weight: float = config_field(
        0.0,
        "share of a game's draws that goes to its positions in proportion to KL(search policy || "
        "network's prior); the rest goes to all alike",
        at_least=0,
        at_most=1,
        source="KataGo, docs/KataGoMethods.md, Policy Surprise Weighting: 0.5; AGZ: 0",
        formerly="surprise_weight",
    )


class RatePoint(NamedTuple):
    """The learning rate from an optimizer step on."""

    step: int
    rate: float


_STEP = FieldInfo("first step of this rate", unit="steps", at_least=0)
_RATE = FieldInfo("learning rate", above=0)


def _read_rates(reader: Reader, path: KeyPath, value: Any) -> tuple[RatePoint, ...]:
    """A learning rate given as a number, or as a list of {step, rate}."""
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

    With `network.value_head: wdl` a cross-entropy takes the place of the square.
    """

    optimizer: str = config_field(
        "sgd",
        "the optimizer; with `muon` biases and normalisation take AdamW's steps",
        choices=("sgd", "adamw", "muon"),
        source="AGZ, Methods, Optimization: SGD with momentum; Muon: Jordan et al. (2024)",
    )
    learning_rate: tuple[RatePoint, ...] = config_field(
        (RatePoint(0, 0.02),),
        "learning rate, or its steps: [{step: 0, rate: 0.02}, {step: 9000, rate: 0.002}]",
        unit="above 0; steps increase from 0",
        kind="number or list of {step, rate}",
        read=_read_rates,
        source="AGZ, Extended Data Table 3: 1e-2, 1e-3 from step 400,000, 1e-4 from 600,000; "
        "ours is higher for short runs",
    )
    momentum: float = config_field(
        0.9,
        "momentum of SGD and of Muon",
        at_least=0,
        below=1,
        source="AGZ, Methods, Optimization: 0.9",
    )
    l2_penalty: float = config_field(
        1e-4,
        "c of the loss's term c‖θ‖²",
        at_least=0,
        source="AGZ, Methods, Optimization: 1e-4",
        formerly="l2",
    )
    weight_decay: float = config_field(
        0.0, "decoupled weight decay of AdamW and of Muon", at_least=0, source="not in AGZ"
    )
    batch_size: int = config_field(
        512,
        "positions in each step",
        unit="positions",
        at_least=1,
        at_most=1 << 20,
        source="AGZ, Methods, Optimization: 2048; ours fits a smaller window and device",
    )
    max_grad_norm: float = config_field(
        5.0,
        "greatest norm of the gradient; 0 is off",
        at_least=0,
        source="not in AGZ",
        formerly="clip_norm",
    )
    search_value_weight: float = config_field(
        0.0,
        "share of the search's value q in the target of the value, (1 - share) z + share q",
        at_least=0,
        at_most=1,
        source="AGZ: 0, the outcome z alone",
        formerly="value_mix",
    )
    ema_decay: float = config_field(
        0.0,
        "decay per step of the running average of the weights that plays; 0: the weights do",
        at_least=0,
        below=1,
        source="not in AGZ",
        formerly="average",
    )
    augment_symmetries: bool = config_field(
        True,
        "draw one of the game's symmetries for each sample",
        source="AGZ, Methods: rotations and reflections; AlphaZero: none, for generality",
        formerly="symmetries",
    )
    precision: str = config_field(
        "auto", "arithmetic of training; `auto` suits the device", choices=PRECISIONS
    )

    def rate_at(self, step: int) -> float:
        """The learning rate of optimizer step `step` (the first is 0): that of the last point."""
        return [point.rate for point in self.learning_rate if point.step <= step][-1]


@dataclass(frozen=True)
class GateConfig:
    """The match that decides whether the challenger becomes the best."""

    interval: int = config_field(
        1,
        "iterations between gates",
        unit="iterations",
        at_least=1,
        source="AGZ, Methods, Evaluator: every 1,000 steps",
    )
    games: int = config_field(
        40,
        "games of a gate, in pairs that swap colours; 0 is off: the newest always plays",
        unit="games",
        at_least=0,
        source="AGZ, Methods, Evaluator: 400; AlphaZero: off; ours is quicker and less sure",
    )
    threshold: float = config_field(
        0.55,
        "share of the score, a draw counting half, that the challenger needs",
        at_least=0,
        at_most=1,
        source="AGZ, Methods, Evaluator: 0.55",
    )
    opening_moves: int = config_field(
        4,
        "random moves that open each pair of games, so that games differ",
        unit="moves",
        at_least=0,
        source="not in AGZ",
    )
    simulations: int = config_field(
        0,
        "simulations for each move; 0 takes `search.simulations`",
        unit="simulations",
        at_least=0,
        at_most=1_000_000,
        source="AGZ, Methods, Evaluator: 1600, as in self-play",
    )

    sprt: bool = config_field(
        False,
        "stop the gate as soon as a sequential test says who is stronger; its answer then decides, "
        "and `threshold` only where all games leave it open",
        source="Wald (1945), Van den Bergh (2019); AGZ plays every game",
    )
    sprt_elo0: float = config_field(
        0.0,
        "the test's null hypothesis: the challenger's difference to the best is this or less",
        unit="Elo",
        at_least=-400,
        at_most=0,
    )
    sprt_elo1: float = config_field(
        35.0,
        "its alternative: the difference is this or more",
        unit="Elo",
        above=0,
        at_most=400,
        source="35 Elo are a score of 0.55, AGZ's threshold",
    )
    sprt_error: float = config_field(
        0.05,
        "permitted probability of accepting either where the other is true",
        above=0,
        below=0.5,
        source="0.05 is usual in testing chess programs",
    )

    def accepts(self, score: float, verdict: bool | None = None) -> bool:
        """Whether a challenger with this share of the score becomes the best.

        The `verdict` of the sequential test, if it gave one, decides alone.
        """
        return score >= self.threshold if verdict is None else verdict


def _read_names(reader: Reader, path: KeyPath, value: Any) -> tuple[str, ...]:
    """A list of texts, none of them twice."""
    if not isinstance(value, list):
        raise WrongValueError(f"expected a list of players' names, got {describe_value(value)}")
    names: set[str] = set()
    for index, item in enumerate(value):
        here = (*path, index)
        if not isinstance(item, str):
            reader.report(here, f"{dotted(here)}: expected a name, got {describe_value(item)}")
            reader.wrong.add(path)
        elif item in names:
            raise WrongValueError(f"{quote(item)} is named twice")
        else:
            names.add(item)
    return tuple(value)


@dataclass(frozen=True)
class EvaluationConfig:
    """How strength is measured while a run goes on; what is learned does not depend on it."""

    interval: int = config_field(
        10, "iterations between two measurements", unit="iterations", at_least=1
    )
    anchors: tuple[str, ...] = config_field(
        (),
        "players that never change, by name, as `alphazero match` takes them, whom the best player "
        "meets; ratings begin at the first one's",
        kind="list of names",
        read=_read_names,
        formerly="ladder",
    )
    games: int = config_field(
        20,
        "games against each of them, in pairs that swap colours; as many between each two of them",
        unit="games",
        at_least=2,
    )
    solved_positions_per_stage: int = config_field(
        0,
        "solved positions of each stage of the game in which the best player's moves are compared "
        "with the exact answers; 0 is off",
        unit="positions",
        at_least=0,
        formerly="positions",
    )
    simulations: int = config_field(
        0,
        "simulations for each move; 0 takes `search.simulations`",
        unit="simulations",
        at_least=0,
        at_most=1_000_000,
    )


@dataclass(frozen=True)
class BudgetConfig:
    """When the run ends: at the first limit reached; at least one is set."""

    iterations: int | None = config_field(
        None, "iterations of the run", unit="iterations", at_least=1
    )
    samples: int | None = config_field(
        None,
        "positions that self-play searched fully",
        unit="positions",
        at_least=1,
        source="AGZ counts games: 4.9 million (20 blocks), 29 million (40 blocks)",
    )
    evaluations: int | None = config_field(
        None,
        "positions that the network evaluated in self-play",
        unit="positions",
        at_least=1,
    )
    minutes: float | None = config_field(None, "time of the run", unit="minutes", above=0)


@dataclass(frozen=True)
class InferenceConfig:
    """How the network is evaluated during play."""

    backend: str = config_field(
        "auto",
        "what computes; `auto` takes OpenVINO on a CPU where it is installed, else torch",
        choices=("auto", "torch", "openvino"),
    )
    device: str = config_field(
        "auto",
        "where play and learning compute; `auto` takes a GPU where there is one",
        choices=("auto", "cpu", "cuda"),
    )
    precision: str = config_field("auto", "arithmetic; `auto` suits the device", choices=PRECISIONS)
    selfplay_precision: str = config_field(
        "same",
        "arithmetic of self-play: that of `precision`, or, where OpenVINO computes, int8",
        choices=("same", "int8"),
        source="not in AGZ; on two cores 1.6 times as fast as bfloat16, 3 times as float32",
    )
    int8_min_agreement: float = config_field(
        0.97,
        "least share of positions where int8 has the same best move as `precision`; below it, "
        "the iteration's self-play is in `precision`",
        at_least=0,
        at_most=1,
        source="not in AGZ; bfloat16 itself has 0.996 to 0.999 of float32's, int8 0.991 to 0.997",
        formerly="int8_agreement",
    )
    int8_max_value_error: float = config_field(
        0.03,
        "greatest mean distance of int8's values from those in `precision`; above it likewise",
        unit="value",
        at_least=0,
        at_most=2,
        source="not in AGZ; bfloat16 itself is 0.002 from float32, int8 0.002 to 0.003",
        formerly="int8_value_error",
    )


@dataclass(frozen=True)
class Config:
    """A whole YAML file, checked."""

    game: GameConfig
    run: RunConfig = field(default_factory=RunConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    growth: GrowthConfig = field(default_factory=GrowthConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    selfplay: SelfplayConfig = field(default_factory=SelfplayConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    gate: GateConfig = field(default_factory=GateConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    inference: InferenceConfig = field(default_factory=InferenceConfig)

    @property
    def networks(self) -> tuple[NetworkConfig, ...]:
        """The shapes of the run's networks, in the order of their coming: one or two."""
        growth = self.growth
        if growth.samples is None:
            return (self.network,)
        larger = replace(self.network, blocks=growth.blocks, filters=growth.filters)
        return (self.network, larger)

    def network_at(self, positions: int) -> NetworkConfig:
        """Return the shape of the network that learns once so many positions have come."""
        is_grown = self.growth.samples is not None and positions >= self.growth.samples
        return self.networks[-1] if is_grown else self.network

    def steps_due(self, positions: int) -> int:
        """Return the optimizer steps that so many positions are good for."""
        begin, reuse, batch = self.growth.samples, self.replay.ratio, self.learner.batch_size
        early = positions if begin is None else min(positions, begin)
        later = (positions - early) * ((self.growth.replay_ratio or reuse) / batch)
        return int(early * (reuse / batch) + later)


SECTIONS: dict[str, Any] = get_type_hints(Config)

REMOVED_KEYS: dict[KeyPath, Any] = {
    ("replay", "repeats"): "keep",
    ("selfplay", "noise_shaped"): False,
    ("selfplay", "root_temperature"): 1.0,
}
"""Keys of older files with the only value that is still read: their default."""
