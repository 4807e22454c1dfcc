"""The dashboard of a run: which curves share a chart, and the order of the charts.

TensorBoard shows it under *Custom Scalars*. Its curves are named as in `metrics.METRICS`.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from alphazero.config.schema import Config
from alphazero.training.monitoring.metrics import pattern_of
from alphazero.training.monitoring.tensorboard import Layout


class Chart(NamedTuple):
    """A chart: curves over the iterations that share an axis."""

    title: str
    unit: str
    curves: Mapping[str, str]
    """legends by the curves' names in `METRICS`; a name's `<word>` is `{word}` in the legend"""
    interval: bool = False
    """whether curve x has an interval, with the ends x_low and x_high"""


DASHBOARD: Final[Mapping[str, tuple[Chart, ...]]] = {
    "strength": (
        Chart(
            "the best player, by games against the anchors",
            "Elo, with 95 % interval",
            {"anchors/elo": "best"},
            interval=True,
        ),
        Chart(
            "the best player's score against the anchors",
            "share",
            {"anchors/<anchor>/score": "{anchor}"},
        ),
        Chart(
            "optimal moves in solved positions",
            "share",
            {"solved/<who>_optimal/<stage>": "{who} {stage}"},
        ),
        Chart("the best player, gains at the gates added up", "Elo", {"gate/rating": "best"}),
        Chart(
            "the challenger against the best, at the gate",
            "Elo, with 95 % interval",
            {"gate/elo": "challenger"},
            interval=True,
        ),
    ),
    "loss": (
        Chart(
            "loss and its parts",
            "mean; policy in nats",
            {
                "loss/total": "total",
                "loss/policy": "policy",
                "loss/value": "value",
                "loss/l2": "weights",
            },
        ),
        Chart(
            "losses of the auxiliary heads",
            "nats",
            {
                "auxiliary/ownership": "ownership",
                "auxiliary/margin": "margin",
                "auxiliary/short_term_value": "short-term value",
            },
        ),
        Chart(
            "entropy of the policies",
            "nats",
            {"learner/policy_entropy": "network", "selfplay/search_entropy": "search"},
        ),
    ),
    "self-play": (
        Chart("length of the games", "moves", {"selfplay/game_length": "mean"}),
        Chart(
            "how games end for the first player",
            "share",
            {
                "selfplay/first_player_wins": "won",
                "selfplay/draws": "drawn",
                "selfplay/first_player_losses": "lost",
            },
        ),
    ),
    "speed": (
        Chart(
            "throughput of self-play",
            "1/s",
            {
                "speed/simulations_per_second": "simulations",
                "speed/evaluations_per_second": "evaluations",
            },
        ),
        Chart(
            "time of an iteration",
            "s",
            {
                "seconds/play": "self-play",
                "seconds/learn": "learning",
                "seconds/gate": "gate",
                "seconds/measure": "measuring",
                "seconds/save": "saving",
            },
        ),
    ),
}
"""The charts of each section, the most important first."""


def interval_of(name: str) -> tuple[str, str]:
    """Return the names of the curves for the two ends of a curve's interval."""
    return f"{name}_low", f"{name}_high"


def never_measured(config: Config) -> set[str]:
    """Return the first parts of the names of curves that this run never has."""
    enabled = {
        "anchors": config.evaluation.anchors,
        "solved": config.evaluation.solved_positions_per_stage,
        "gate": config.gate.games,
        "auxiliary": config.network.auxiliary,
    }
    return {prefix for prefix, setting in enabled.items() if not setting}


def tensorboard_layout(config: Config) -> Layout:
    """Return the dashboard for TensorBoard, without charts for which this run never has curves."""
    absent = never_measured(config)
    return {
        section: {
            chart.title: _chart(chart)
            for chart in charts
            if not all(name.split("/")[0] in absent for name in chart.curves)
        }
        for section, charts in DASHBOARD.items()
    }


def _chart(chart: Chart) -> Sequence[str | Sequence[str]]:
    """Return a chart's kind and curves; TensorBoard matches patterns at the start of names."""
    if chart.interval:
        (name,) = chart.curves
        return ["Margin", [name, *interval_of(name)]]
    return ["Multiline", [f"{pattern_of(name)}$" for name in chart.curves]]
