"""Rules for common faults of a run, one small function each.

A rule reads the configuration, curves and games. It returns the figure that is wrong and the YAML
key to change, or None. The reason for each threshold is given with it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from alphazero.config.schema import Config
from alphazero.games import make_game
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.resignation import judge_threshold, non_resigned_games

RECENT: Final = 5
"""Points of a curve that are averaged: the present state, without the noise of one iteration."""

ENOUGH_ITERATIONS: Final = 10
"""Least iterations of a run that is called healthy: the `RECENT` ones, and as many before them."""

ENOUGH_STEPS: Final = 300
"""Least optimizer steps of such a run: with the shipped configurations of tic-tac-toe and Connect
Four, the policy loss has by then left its value without knowledge."""

UNLEARNED: Final = 0.03
"""Greatest distance of a policy loss from ln A, as a share of it, at which the policy has learned
nothing: the noise of an iteration. Knowing only the illegal moves already gives a lower loss."""

DISTINCT_GAMES: Final = 0.5
"""Least share of distinct games in a gate. Duplicates add no information: where half are
duplicates, the 95 % interval, which assumes independent games, is too narrow by a factor of √2."""

ENTROPY_KEPT: Final = 0.2
"""Least share of its first entropy that a policy keeps. A run that learns narrows its policies, but
keeps alternatives where moves are undecided: about half in Connect Four, gomoku and Nim, more in
Go. With a fifth left nearly all visits go to one move, and the others are no longer tried."""

SOLVED: Final = 0.99
"""Share of optimal moves from which narrow policies are right: there is nothing left to explore."""

OVERFITTING: Final = 1.4
"""Greatest ratio of the value's squared error in games not learned from to that in games learned
from. AlphaGo's value network had 0.234 / 0.226 = 1.04 when it generalised and 0.37 / 0.19 = 1.95
when it memorised (Silver et al., Nature 529 (2016), "Reinforcement learning of value networks"):
this is the geometric mean of the two ratios."""

OVERFITTING_GAP: Final = 0.02
"""Least difference of the two errors that counts: ratios of tiny errors mean nothing."""

MOST_DRAWS: Final = 15.0
"""Draws of a position above which it is used too often: ten times AlphaGo Zero's 1.5, and nearly
twice the maximum of our configurations."""

FEWEST_DRAWS: Final = 0.5
"""Draws of a position below which it is used too little: e^-0.5, three positions of five, are then
searched but never learned from."""

KEPT_VISITS: Final = 0.8
"""Greatest share of root visits kept from the move before. Root noise affects only the others:
above four fifths, noise with a share of 0.25 in the priors steers at most a twentieth of the
visits."""

CHANCE: Final = 0.01
"""Resignation is wrong too often when its number of mistakes, or a larger one, has a probability
below this at the permitted rate."""

EFFICIENCY: Final = 0.5
"""Least share of the playing time inside the evaluator, unless most evaluations are cache hits:
below it, the evaluator waits for positions longer than it computes."""

ITERATIONS_A_GAME: Final = 4.0
"""Most iterations that a game should last: as many networks play in it, and the first is
outdated."""


@dataclass(frozen=True)
class RunData:
    """The input of the rules."""

    config: Config
    curves: Mapping[str, Mapping[int, float]]
    """values by iteration, by the names of `metrics.METRICS`"""
    shards: Sequence[tuple[int, GameBatch]] = ()
    """the games of some iterations, oldest first"""

    def points(self, name: str) -> list[float]:
        """Return a curve's values, oldest first."""
        curve = self.curves.get(name, {})
        return [curve[iteration] for iteration in sorted(curve)]

    @property
    def iterations(self) -> int:
        """Iterations of the run."""
        return len(self.points("selfplay/positions"))

    @property
    def steps(self) -> int:
        """Optimizer steps of the run."""
        return int(max(self.points("learner/steps"), default=0))

    @property
    def is_short(self) -> bool:
        """Whether the run is too short to be called healthy."""
        return self.iterations < ENOUGH_ITERATIONS or self.steps < ENOUGH_STEPS

    def now(self, name: str) -> float:
        """Return the mean of a curve's newest points, at least one."""
        return float(np.mean(self.points(name)[-RECENT:]))


class Rule(NamedTuple):
    """A fault that is looked for."""

    name: str
    check: Callable[[RunData], str | None]
    """returns the figure and the advice if the run has the fault"""
    needs: tuple[str, ...] = ()
    """curves that the rule requires"""
    points: int = 3
    """number of points that each of them must have"""
    steps: int = 0
    """optimizer steps that the run must have done"""
    applies: Callable[[Config], bool] = lambda _: True
    """whether a run of this configuration can have the fault"""

    def has_data(self, evidence: RunData) -> bool:
        """Whether the run has the required curves and steps."""
        long = all(len(evidence.points(name)) >= self.points for name in self.needs)
        return long and evidence.steps >= self.steps


def count_actions(config: Config) -> int:
    """Return the number of actions of the policy."""
    return make_game(config.game.name, **config.game.options).num_actions


def judge_gate_games(evidence: RunData) -> str | None:
    """Look for duplicates among the gate's games."""
    share = evidence.now("gate/distinct_games")
    if share >= DISTINCT_GAMES:
        return None
    return (
        f"{share:.0%} of the gate's games differ from one another (at least {DISTINCT_GAMES:.0%}); "
        f"raise gate.opening_moves, now {evidence.config.gate.opening_moves}"
    )


def judge_entropy(evidence: RunData) -> str | None:
    """Look for policies, of network or search, without alternatives in a game not yet solved."""
    solved = [name for name in evidence.curves if name.startswith("solved/search_optimal/")]
    known = [evidence.points(name)[-1] for name in solved if evidence.points(name)]
    if known and min(known) >= SOLVED:
        return None
    names = "learner/policy_entropy", "selfplay/search_entropy"
    kept = {name: evidence.now(name) / max(evidence.points(name)[0], 1e-9) for name in names}
    name = min(kept, key=lambda each: kept[each])
    if kept[name] >= ENTROPY_KEPT:
        return None
    settings = evidence.config.selfplay
    return (
        f"{name} is {evidence.now(name):.2f} nats, {kept[name]:.0%} of what it began with (at "
        f"least {ENTROPY_KEPT:.0%}); raise selfplay.dirichlet_fraction, now "
        f"{settings.dirichlet_fraction:g}, or selfplay.temperature_moves, now "
        f"{settings.temperature_moves}"
    )


def _reuse_now(evidence: RunData) -> str:
    """Return the key of the replay ratio in effect, and its value."""
    config, positions = evidence.config, evidence.points("selfplay/positions")
    has_grown = bool(positions) and config.network_at(int(positions[-1])) != config.network
    if has_grown and config.growth.replay_ratio is not None:
        return f"growth.replay_ratio, now {config.growth.replay_ratio:g}"
    return f"replay.ratio, now {config.replay.ratio:g}"


def judge_overfitting(evidence: RunData) -> str | None:
    """Look for a value head that memorises its games."""
    seen, unseen = (evidence.now(f"learner/{kind}_value_loss") for kind in ("seen", "unseen"))
    if unseen <= OVERFITTING * seen or unseen - seen < OVERFITTING_GAP:
        return None
    settings = evidence.config.replay
    return (
        f"(z - v)² is {unseen:.3f} in games not learned from, {unseen / max(seen, 1e-9):.1f} times "
        f"the {seen:.3f} in those that were (at most {OVERFITTING}); lower "
        f"{_reuse_now(evidence)}, or raise replay.window_minimum, now {settings.window_minimum:,}"
    )


def draws_of(evidence: RunData) -> float:
    """Return the draws for each new position in the newest iterations."""
    steps, positions = (
        evidence.points(name)[-RECENT - 1 :] for name in ("learner/steps", "selfplay/positions")
    )
    drawn = (steps[-1] - steps[0]) * evidence.config.learner.batch_size
    return drawn / max(positions[-1] - positions[0], 1.0)


def judge_much_reuse(evidence: RunData) -> str | None:
    """Look for positions that are drawn too often."""
    draws = draws_of(evidence)
    if draws <= MOST_DRAWS:
        return None
    return (
        f"each new position is drawn {draws:.1f} times (at most {MOST_DRAWS:g}); lower "
        f"{_reuse_now(evidence)}"
    )


def judge_little_reuse(evidence: RunData) -> str | None:
    """Look for positions that are searched but hardly used."""
    draws = draws_of(evidence)
    if draws >= FEWEST_DRAWS:
        return None
    return (
        f"each new position is drawn {draws:.2f} times (at least {FEWEST_DRAWS:g}), so "
        f"{math.exp(-draws):.0%} are never learned from; raise {_reuse_now(evidence)}"
    )


def judge_noise(evidence: RunData) -> str | None:
    """Look for root noise that comes too late: most of the root's visits are already made."""
    share = evidence.now("selfplay/kept_visits")
    if share <= KEPT_VISITS:
        return None
    return (
        f"{share:.0%} of the visits at a root were kept from the move before, out of reach of its "
        f"noise (at most {KEPT_VISITS:.0%}); set search.reuse_tree to false, or raise "
        f"search.simulations, now {evidence.config.search.simulations}"
    )


def judge_resignation(evidence: RunData) -> str | None:
    """Look for resignations in games that were not lost.

    Only games played to the end count, under a threshold that was computed without them. More
    mistakes than the permitted share are a fault where chance hardly explains them.
    """
    thresholds = evidence.curves.get("selfplay/resign_threshold", {})
    resigned = wrong = 0
    for iteration, games in evidence.shards:
        if iteration in thresholds:
            verdict = judge_threshold(non_resigned_games([games]), thresholds[iteration])
            resigned, wrong = resigned + verdict.resigned, wrong + verdict.wrong
    settings = evidence.config.selfplay
    permitted = settings.resign_false_positives
    if not resigned or chance_of(wrong, resigned, permitted) >= CHANCE:
        return None
    return (
        f"{wrong} of {resigned} games played out that resignation would have ended were not lost "
        f"({wrong / resigned:.0%}, at most {permitted:.0%}); lower "
        "selfplay.resign_threshold_max, now "
        f"{settings.resign_threshold_max:g}, or selfplay.resign_enabled_fraction, now "
        f"{settings.resign_enabled_fraction:g}"
    )


def chance_of(successes: int, trials: int, share: float) -> float:
    """Return P(X >= `successes`) of a binomial X, 0 < `share` <= 1."""
    if share == 1:
        return 1.0
    logs = [
        math.lgamma(trials + 1)
        - math.lgamma(k + 1)
        - math.lgamma(trials - k + 1)
        + k * math.log(share)
        + (trials - k) * math.log1p(-share)
        for k in range(successes, trials + 1)
    ]
    return min(1.0, math.fsum(map(math.exp, logs)))


def judge_evaluator(evidence: RunData) -> str | None:
    """Look for an evaluator that waits for positions, though the cache answers few of them."""
    share, hits = evidence.now("speed/search_efficiency"), evidence.now("speed/cache_hits")
    if share >= EFFICIENCY or hits >= EFFICIENCY:
        return None
    return (
        f"the evaluator computes for {share:.0%} of the playing time (at least {EFFICIENCY:.0%}) "
        f"and waits for positions in the rest; raise selfplay.parallel_games, now "
        f"{evidence.config.selfplay.parallel_games}"
    )


def judge_games(evidence: RunData) -> str | None:
    """Look for games that outlive the networks that began them, by Little's law."""
    settings = evidence.config.selfplay
    lasting = settings.parallel_games / settings.games_per_iteration
    if lasting <= ITERATIONS_A_GAME:
        return None
    return (
        f"a game lasts {lasting:.0f} iterations, the first moves of most are of networks long "
        f"outgrown (at most {ITERATIONS_A_GAME:g}); lower selfplay.parallel_games, now "
        f"{settings.parallel_games}, or raise selfplay.games_per_iteration, now "
        f"{settings.games_per_iteration}"
    )


def judge_policy(evidence: RunData) -> str | None:
    """Look for a policy that learns nothing: A equal actions have the cross-entropy ln A."""
    actions = count_actions(evidence.config)
    loss, ignorant = evidence.now("loss/policy"), math.log(actions)
    if abs(loss - ignorant) > UNLEARNED * ignorant:
        return None
    said = (
        f"loss/policy is {loss:.2f} after {evidence.steps:,} steps, and ln {actions} = "
        f"{ignorant:.2f} where nothing is known of {actions} moves; "
    )
    entropy = evidence.now("selfplay/search_entropy")
    if entropy > (1 - UNLEARNED) * ignorant:
        simulations = evidence.config.search.simulations
        return (
            f"{said}the search prefers none either, its entropy is {entropy:.2f}: raise "
            f"search.simulations, now {simulations}"
        )
    rate = evidence.points("learner/learning_rate")[-1]
    return f"{said}change learner.learning_rate, now {rate:g}: ten times more, or ten times less"


def judge_learning_rate(evidence: RunData) -> str | None:
    """Look for steps so large that the network is worse than without knowledge, or always clipped.

    A value of 0 everywhere has a squared error of E[z²], the share of games that are decided. Equal
    probabilities of win, draw and loss have the cross-entropy ln 3, those of A actions ln A.
    """
    config = evidence.config
    decided = 1 - min(evidence.points("selfplay/draws"))
    known = {  # the loss without knowledge, and the factor above which it is worse
        "loss/value": (math.log(3) if config.network.value_head == "wdl" else decided, 1.0),
        "loss/policy": (math.log(count_actions(config)), 1 + UNLEARNED),
    }
    faults = [
        f"{name} is {evidence.now(name):.2f}, and {limit:.2f} where nothing is known"
        for name, (limit, worse) in known.items()
        if evidence.now(name) > worse * limit
    ]
    norm, clip = evidence.now("learner/gradient_norm"), config.learner.max_grad_norm
    if clip and norm > clip:
        faults.append(f"the mean gradient, {norm:.1f}, is above learner.max_grad_norm, {clip:g}")
    if not faults:
        return None
    rate = evidence.points("learner/learning_rate")[-1]
    return f"{'; '.join(faults)}; lower learner.learning_rate, now {rate:g}"


RULES: Final = (
    Rule(
        "gate games repeat",
        judge_gate_games,
        ("gate/distinct_games",),
        points=1,
        applies=lambda config: config.gate.games > 0,
    ),
    Rule("entropy collapsed", judge_entropy, ("learner/policy_entropy", "selfplay/search_entropy")),
    Rule(
        "value head overfits",
        judge_overfitting,
        ("learner/seen_value_loss", "learner/unseen_value_loss"),
    ),
    Rule("samples reused too often", judge_much_reuse, ("learner/steps", "selfplay/positions")),
    Rule("samples reused too little", judge_little_reuse, ("learner/steps", "selfplay/positions")),
    Rule(
        "noise drowned by the reused tree",
        judge_noise,
        ("selfplay/kept_visits",),
        applies=lambda config: config.search.reuse_tree and config.selfplay.dirichlet_fraction > 0,
    ),
    Rule(
        "resignation too often wrong",
        judge_resignation,
        ("selfplay/resign_threshold",),
        points=1,
        applies=lambda config: config.selfplay.resign_enabled_fraction > 0,
    ),
    Rule("evaluator starved", judge_evaluator, ("speed/search_efficiency", "speed/cache_hits")),
    Rule("games starved", judge_games),
    Rule(
        "policy learns nothing",
        judge_policy,
        ("loss/policy", "selfplay/search_entropy", "learner/learning_rate"),
        points=ENOUGH_ITERATIONS,
        steps=ENOUGH_STEPS,
    ),
    Rule(
        "learning rate too high",
        judge_learning_rate,
        (
            *("loss/value", "loss/policy", "learner/gradient_norm"),
            *("learner/learning_rate", "selfplay/draws"),
        ),
    ),
)
