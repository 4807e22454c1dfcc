"""Rules for common faults of a run, one small function each.

A rule reads the configuration, curves and games. It returns the wrong figure and the YAML key to
change, or None; it raises TooLittleData if a curve is too short for it. Its docstring says why its
limit is where it is.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from alphazero.config.schema import Config
from alphazero.games.registry import make_game
from alphazero.training.data.game_shard import GameBatch
from alphazero.training.resignation import (
    RESIGN_FALSE_POSITIVES,
    check_threshold,
    non_resigned_games,
)

RECENT: Final = 5
"""Newest points of a curve that are averaged, against the noise of one iteration."""

ENOUGH_ITERATIONS: Final = 10
"""Least iterations of a run that is called healthy: `RECENT` ones and as many to compare with."""

ENOUGH_STEPS: Final = 300
"""Least optimizer steps of such a run: by then the policy loss has left its initial value, with the
shipped configurations of tic-tac-toe and Connect Four."""

UNLEARNED: Final = 0.03
"""Greatest relative distance of the policy loss from ln A at which the policy has learned nothing:
the noise of an iteration. Knowing the illegal moves alone already gives a lower loss."""


class TooLittleData(Exception):
    """Raised by a rule for a curve with too few points."""


@dataclass(frozen=True)
class RunData:
    """The input of the rules."""

    config: Config
    curves: Mapping[str, Mapping[int, float]]
    """values by iteration, by the names of `metrics.METRICS`"""
    shards: Sequence[tuple[int, GameBatch]] = ()
    """the games of some iterations, oldest first"""

    def points(self, name: str, least: int = 3) -> list[float]:
        """Return a curve's values, oldest first; raise TooLittleData for fewer than `least`."""
        curve = self.curves.get(name, {})
        if len(curve) < least:
            raise TooLittleData
        return [curve[iteration] for iteration in sorted(curve)]

    def now(self, name: str, least: int = 3) -> float:
        """Return the mean of a curve's newest points; raise TooLittleData as `points`."""
        return float(np.mean(self.points(name, least)[-RECENT:]))

    @property
    def iterations(self) -> int:
        return len(self.points("selfplay/positions", 0))

    @property
    def steps(self) -> int:
        return int(max(self.points("learner/steps", 0), default=0))

    @property
    def is_short(self) -> bool:
        return self.iterations < ENOUGH_ITERATIONS or self.steps < ENOUGH_STEPS

    @property
    def num_actions(self) -> int:
        return make_game(self.config.game.name, **self.config.game.options).num_actions


def check_gate_games(data: RunData) -> str | None:
    """Check for duplicates among the gate's games.

    They add no information: with half of them, the gate decides as half as many games would.
    """
    if not data.config.gate.games:
        return None
    least, share = 0.5, data.now("gate/distinct_games", 1)
    if share >= least:
        return None
    return (
        f"{share:.0%} of the gate's games differ from one another (at least {least:.0%}); "
        f"raise gate.opening_moves, now {data.config.gate.opening_moves}"
    )


def check_entropy(data: RunData) -> str | None:
    """Check for policies, of network or search, without alternatives in a game not yet solved.

    Learning narrows policies but keeps alternatives where moves are undecided: about half of the
    first entropy in Connect Four, gomoku and Nim, more in Go. With a fifth left, nearly all visits
    go to one move. From 99 % of optimal moves on nothing is left to explore.
    """
    least, names = 0.2, ("learner/policy_entropy", "selfplay/search_entropy")
    kept, name = min((data.now(name) / max(data.points(name)[0], 1e-9), name) for name in names)
    solved = [name for name in data.curves if name.startswith("solved/search_optimal/")]
    is_solved = solved and min(data.points(name, 1)[-1] for name in solved) >= 0.99
    if kept >= least or is_solved:
        return None
    play, search = data.config.selfplay, data.config.search
    if search.selection == "puct":
        advice = (
            f"selfplay.dirichlet_fraction, now {play.dirichlet_fraction:g}, or "
            f"selfplay.temperature_moves, now {play.temperature_moves}"
        )
    else:  # Gumbel search has noise of its own, and no temperature
        advice = (
            f"search.gumbel_max_considered_actions, now {search.gumbel_max_considered_actions}, or "
            f"selfplay.random_opening_max_moves, now {play.random_opening_max_moves}"
        )
    return (
        f"{name} is {data.now(name):.2f} nats, {kept:.0%} of its first value (at least "
        f"{least:.0%}); raise {advice}"
    )


def check_overfitting(data: RunData) -> str | None:
    """Check for a value head that memorises its games.

    AlphaGo's value network had errors of 0.234 in unseen and 0.226 in seen games when it
    generalised, and 0.37 and 0.19 when it memorised (Silver et al., Nature 529 (2016),
    "Reinforcement learning of value networks"). The limit is the geometric mean of the two ratios,
    1.04 and 1.95; ratios of tiny errors mean nothing.
    """
    most, least_gap = 1.4, 0.02
    seen, unseen = (data.now(f"learner/{kind}_value_loss") for kind in ("seen", "unseen"))
    if unseen <= most * seen or unseen - seen < least_gap:
        return None
    settings = data.config.replay
    return (
        f"(z - v)² is {unseen:.3f} in unseen games, {unseen / max(seen, 1e-9):.1f} times "
        f"the {seen:.3f} in games learned from (at most {most}); lower replay.ratio, now "
        f"{settings.ratio:g}, or raise replay.window_minimum, now {settings.window_minimum:,}"
    )


def draws_of(data: RunData) -> float:
    """Return the draws per new position in the newest iterations."""
    steps, positions = (
        data.points(name)[-RECENT - 1 :] for name in ("learner/steps", "selfplay/positions")
    )
    drawn = (steps[-1] - steps[0]) * data.config.learner.batch_size
    return drawn / max(positions[-1] - positions[0], 1.0)


def check_many_draws(data: RunData) -> str | None:
    """Check for positions that are drawn too often.

    The limit is ten times AlphaGo Zero's 1.5, and nearly twice the maximum of our configurations.
    """
    most, draws = 15.0, draws_of(data)
    if draws <= most:
        return None
    return (
        f"each new position is drawn {draws:.1f} times (at most {most:g}); lower "
        f"replay.ratio, now {data.config.replay.ratio:g}"
    )


def check_few_draws(data: RunData) -> str | None:
    """Check for positions that are searched but hardly used: at 0.5 draws e^-0.5, 3 of 5, never."""
    least, draws = 0.5, draws_of(data)
    if draws >= least:
        return None
    return (
        f"each new position is drawn {draws:.2f} times (at least {least:g}), so "
        f"{math.exp(-draws):.0%} are never learned from; raise replay.ratio, now "
        f"{data.config.replay.ratio:g}"
    )


def check_noise(data: RunData) -> str | None:
    """Check for root noise that comes too late: most visits of the root are kept ones.

    Noise affects only new visits: above four fifths kept, noise with a share of 0.25 in the priors
    steers at most a twentieth of all. Gumbel search counts new visits alone.
    """
    search = data.config.search
    has_noise = search.selection == "puct" and data.config.selfplay.dirichlet_fraction > 0
    if not (search.reuse_tree and has_noise):
        return None
    most, share = 0.8, data.now("selfplay/kept_visits")
    if share <= most:
        return None
    return (
        f"{share:.0%} of the visits at a root are kept from the previous move, out of reach of its "
        f"noise (at most {most:.0%}); set search.reuse_tree to false, or raise "
        f"search.simulations, now {data.config.search.simulations}"
    )


def check_resignation(data: RunData) -> str | None:
    """Check for resignations in games that were not lost.

    Only games played to the end count, with a threshold that was computed without them. More
    mistakes than permitted are a fault if their chance is below 1 %.
    """
    fraction = data.config.selfplay.resign_enabled_fraction
    if not fraction:
        return None
    data.points("selfplay/resign_threshold", 1)
    thresholds, resigned, wrong = data.curves["selfplay/resign_threshold"], 0, 0
    for iteration, games in data.shards:
        if iteration in thresholds:
            verdict = check_threshold(non_resigned_games(games), thresholds[iteration])
            resigned, wrong = resigned + verdict.resigned, wrong + verdict.wrong
    permitted = RESIGN_FALSE_POSITIVES
    if not resigned or chance_of(wrong, resigned, permitted) >= 0.01:
        return None
    return (
        f"{wrong} of {resigned} games that resignation would have ended were not lost "
        f"({wrong / resigned:.0%}, at most {permitted:.0%}); lower "
        f"selfplay.resign_enabled_fraction, now {fraction:g}"
    )


def chance_of(successes: int, trials: int, share: float) -> float:
    """Return P(X >= `successes`) of a binomial X, 0 < `share` < 1."""
    logs = [
        math.lgamma(trials + 1)
        - math.lgamma(k + 1)
        - math.lgamma(trials - k + 1)
        + k * math.log(share)
        + (trials - k) * math.log1p(-share)
        for k in range(successes, trials + 1)
    ]
    return min(1.0, math.fsum(map(math.exp, logs)))


def check_evaluator(data: RunData) -> str | None:
    """Check for an evaluator that waits longer than it computes, although few are cache hits."""
    least, share, hits = 0.5, data.now("speed/network_share"), data.now("speed/cache_hits")
    if share >= least or hits >= least:
        return None
    return (
        f"the evaluator computes for {share:.1%} of the playing time (at least {least:.0%}) "
        f"and waits for positions in the rest; raise selfplay.parallel_games, now "
        f"{data.config.selfplay.parallel_games}"
    )


def check_game_length(data: RunData) -> str | None:
    """Check for games that outlive the networks that began them, by Little's law."""
    most, settings = 4.0, data.config.selfplay
    actors = settings.distributed.actors if settings.distributed else 1
    duration = actors * settings.parallel_games / settings.games_per_iteration
    if duration <= most:
        return None
    each = f" in each of {actors} actors" if actors > 1 else ""
    return (
        f"a game lasts {duration:.0f} iterations, so its first moves are of outdated networks "
        f"(at most {most:g}); lower selfplay.parallel_games, now {settings.parallel_games}{each}, "
        f"or raise selfplay.games_per_iteration, now {settings.games_per_iteration}"
    )


def check_drawn_games(data: RunData) -> str | None:
    """Check for games that nearly all end as draws, where the value has little to learn.

    Good players of gomoku on 8 x 8 draw nine games of ten.
    """
    most, settings = 0.95, data.config.selfplay
    share = data.now("selfplay/draws")
    if share <= most:
        return None
    return (
        f"{share:.1%} of the games end as draws (at most {most:.0%}), so there is little to learn "
        f"from; raise selfplay.random_opening_probability, now "
        f"{settings.random_opening_probability:g}, or selfplay.random_opening_max_moves, now "
        f"{settings.random_opening_max_moves}"
    )


def check_policy(data: RunData) -> str | None:
    """Check for a policy that learns nothing: A equal actions have the cross-entropy ln A."""
    names = "loss/policy", "selfplay/search_entropy", "learner/learning_rate"
    loss, entropy, _ = (data.now(name, ENOUGH_ITERATIONS) for name in names)
    if data.steps < ENOUGH_STEPS:
        raise TooLittleData
    actions, rate = data.num_actions, data.points("learner/learning_rate")[-1]
    uniform = math.log(actions)
    if abs(loss - uniform) > UNLEARNED * uniform:
        return None
    message = (
        f"loss/policy is {loss:.2f} after {data.steps:,} steps; a uniform policy over {actions} "
        f"moves has ln {actions} = {uniform:.2f}; "
    )
    if entropy > (1 - UNLEARNED) * uniform:
        return (
            f"{message}the search is uniform too, its entropy is {entropy:.2f}: raise "
            f"search.simulations, now {data.config.search.simulations}"
        )
    return f"{message}change learner.learning_rate, now {rate:g}, by a factor of ten, up or down"


def check_learning_rate(data: RunData) -> str | None:
    """Check for steps so large that the network is worse than an uninformed one, or always clipped.

    A value of 0 everywhere has a squared error of E[z²], the share of decided games. Equal
    probabilities of A actions have the cross-entropy ln A.
    """
    uninformed = {  # the loss of an uninformed network, and the factor that makes it worse
        "loss/value": (1 - min(data.points("selfplay/draws")), 1.0),
        "loss/policy": (math.log(data.num_actions), 1 + UNLEARNED),
    }
    faults = [
        f"{name} is {data.now(name):.2f}, worse than the {limit:.2f} of an uninformed network"
        for name, (limit, worse) in uninformed.items()
        if data.now(name) > worse * limit
    ]
    norm, clip = data.now("learner/gradient_norm"), data.config.learner.max_grad_norm
    rate = data.points("learner/learning_rate")[-1]
    if clip and norm > clip:
        faults.append(f"the mean gradient, {norm:.1f}, is above learner.max_grad_norm, {clip:g}")
    if not faults:
        return None
    return f"{'; '.join(faults)}; lower learner.learning_rate, now {rate:g}"


RULES: Final[Mapping[str, Callable[[RunData], str | None]]] = {
    "gate games repeat": check_gate_games,
    "entropy collapsed": check_entropy,
    "value head overfits": check_overfitting,
    "samples reused too often": check_many_draws,
    "samples reused too little": check_few_draws,
    "noise drowned by the reused tree": check_noise,
    "resignation too often wrong": check_resignation,
    "evaluator starved": check_evaluator,
    "games starved": check_game_length,
    "games end as draws": check_drawn_games,
    "policy learns nothing": check_policy,
    "learning rate too high": check_learning_rate,
}
"""The rules by name, in the order of the report."""
