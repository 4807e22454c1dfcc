"""All metrics of a run except texts: one table of names, units and meanings."""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple


class Metric(NamedTuple):
    """A TensorBoard metric with one value, histogram or picture for each iteration."""

    unit: str
    meaning: str
    kind: Literal["curve", "histogram", "picture"] = "curve"


METRICS: Mapping[str, Metric] = {
    "loss/total": Metric(
        "",
        "(z - v)² - π·log p + c‖θ‖², and weighted losses of auxiliary heads; mean over the "
        "iteration's steps",
    ),
    "loss/policy": Metric("nats", "-π·log p, cross-entropy of the network's policy"),
    "loss/value": Metric("", "(z - v)², squared error of the value"),
    "loss/l2": Metric("", "c‖θ‖²"),
    "auxiliary/ownership": Metric(
        "nats", "cross-entropy of the head `ownership`, mean over cells; of games played to the end"
    ),
    "auxiliary/margin": Metric(
        "nats", "-log density of the head `margin` at the margin; of games played to the end"
    ),
    "auxiliary/short_term_value": Metric(
        "nats", "cross-entropy of the head `short_term_value`, sum over its three horizons"
    ),
    "learner/policy_entropy": Metric("nats", "entropy of the network's policy; falls as it learns"),
    "learner/value_error": Metric("", "distance between z and v, mean"),
    "learner/unseen_value_loss": Metric(
        "", "(z - v)² in this iteration's games, before the network learned from them"
    ),
    "learner/seen_value_loss": Metric(
        "", "(z - v)² of the same network in games of the window, which it may have learned from"
    ),
    "learner/learning_rate": Metric("", "the optimizer's, at the last step"),
    "learner/gradient_norm": Metric(
        "", "norm of the gradient before clipping, mean; AdamW, Muon: with that of c‖θ‖²"
    ),
    "learner/steps": Metric("steps", "optimizer steps since the run began"),
    "selfplay/game_length": Metric("moves", "mean length of the games that ended"),
    "selfplay/first_player_wins": Metric("share", "games won by the player who moves first"),
    "selfplay/draws": Metric("share", "games drawn"),
    "selfplay/first_player_losses": Metric("share", "games lost by the player who moves first"),
    "selfplay/resigned": Metric("share", "games that ended because a player resigned"),
    "selfplay/resign_threshold": Metric("value", "below it players resigned; -1: nobody did"),
    "selfplay/resign_false_positives": Metric(
        "share", "wrong resignations among the games played out that the threshold would have ended"
    ),
    "selfplay/search_entropy": Metric("nats", "entropy of the search policies, mean"),
    "selfplay/kept_visits": Metric(
        "share",
        "root visits of full searches that come from the kept tree, and so without root noise",
    ),
    "selfplay/search_entropies": Metric("nats", "entropy of each search policy", kind="histogram"),
    "selfplay/search_values": Metric(
        "", "value that each full search found, for the player to move", kind="histogram"
    ),
    "selfplay/surprise": Metric(
        "",
        "among the 64 newest positions the one where the search policy π differs most from the "
        "network's p, by Σ π·log(π/p): prior, visits and values side by side",
        kind="picture",
    ),
    "selfplay/positions": Metric("positions", "positions searched fully, to learn from, so far"),
    "selfplay/evaluations": Metric("positions", "positions evaluated by the network, so far"),
    "speed/games_per_second": Metric("1/s", "self-play games ended"),
    "speed/simulations_per_second": Metric("1/s", "simulations in self-play"),
    "speed/evaluations_per_second": Metric("1/s", "positions evaluated by the network"),
    "speed/cache_hits": Metric("share", "positions found in the cache"),
    "speed/network_share": Metric(
        "share", "the workers' playing time that was spent inside the evaluator, by the clock"
    ),
    "speed/peak_memory": Metric("MiB", "the most memory that the process has held"),
    "speed/batch_fill": Metric("share", "rows of the evaluated batches that were used"),
    "inference/int8_agreement": Metric(
        "share", "positions where int8 has the same best move as the ordinary precision"
    ),
    "inference/int8_value_error": Metric(
        "", "distance between int8's values and those of the ordinary precision, mean"
    ),
    "replay/window": Metric("positions", "newest positions that training draws from"),
    "replay/mean_age": Metric("iterations", "mean age of the positions in the window"),
    "gate/score": Metric("share", "the challenger's score against the best, a draw counts half"),
    "gate/elo": Metric("Elo", "the challenger's difference to the best, from the score"),
    "gate/elo_low": Metric("Elo", "lower end of its 95 % interval"),
    "gate/elo_high": Metric("Elo", "upper end of its 95 % interval"),
    "gate/distinct_games": Metric("share", "games of the gate that differ from one another"),
    "gate/rating": Metric("Elo", "the best player's, gains at the gates added up from 0"),
    "anchors/<anchor>/score": Metric(
        "share", "the best player's score against an anchor, which never changes"
    ),
    "anchors/elo": Metric(
        "Elo", "the best player's, by Bradley-Terry, where the first anchor has 0"
    ),
    "anchors/elo_low": Metric("Elo", "lower end of its 95 % interval"),
    "anchors/elo_high": Metric("Elo", "upper end of its 95 % interval"),
    "solved/<who>_optimal/<stage>": Metric(
        "share",
        "optimal moves in solved positions of this stage of the game, by the network alone "
        "(`network`) and with search (`search`)",
    ),
    "solved/<who>_blunders/<stage>": Metric(
        "share", "positions among them that were not lost, and that its move lost"
    ),
    "solved/<who>_value_error/<stage>": Metric(
        "", "distance between its values and the exact ones, mean"
    ),
    "seconds/play": Metric("s", "time of self-play"),
    "seconds/learn": Metric("s", "time of learning"),
    "seconds/gate": Metric("s", "time of the gate"),
    "seconds/measure": Metric("s", "time of the anchors' games and of the solved positions"),
    "seconds/save": Metric("s", "time of saving, measured in the iteration before"),
}


def pattern_of(known: str) -> str:
    """Return a metric's name as a regular expression: `<word>` matches anything without "/"."""
    return re.sub("<[a-z]+>", "[^/]+", known)


def kind_of(name: str) -> str:
    """Return the kind of the metric `name`, or "unknown"."""
    for known, metric in METRICS.items():
        if re.fullmatch(pattern_of(known), name):
            return metric.kind
    return "unknown"
