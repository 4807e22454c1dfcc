"""Settings of AlphaGo Zero at the size of tests, without what the shipped configurations add.

Tests take these in place of the defaults, so that each names the options that it is about.
"""

from typing import Any

from alphazero.config.schema import (
    LearnerConfig,
    NetworkConfig,
    RatePoint,
    ReplayConfig,
    SearchConfig,
    SelfplayConfig,
)


def network_config(**changes: Any) -> NetworkConfig:
    """Return settings with the paper's small heads and no global pooling."""
    paper = {"policy_filters": 2, "value_filters": 1, "value_hidden": 64, "global_pooling": 0}
    return NetworkConfig(**(paper | changes))


def search_config(**changes: Any) -> SearchConfig:
    """Return settings of PUCT in plain trees, without proofs."""
    paper = {
        "simulations": 128,
        "c_puct": 1.25,
        "selection": "puct",
        "transpositions": "never",
        "mcts_solver": False,
    }
    return SearchConfig(**(paper | changes))


def selfplay_config(**changes: Any) -> SelfplayConfig:
    """Return settings in which every search is full and every game begins at the beginning."""
    paper = {
        "parallel_games": 128,
        "full_search_probability": 1.0,
        "fast_simulations": 16,
        "random_opening_probability": 0.0,
        "random_opening_max_moves": 16,
    }
    return SelfplayConfig(**(paper | changes))


def replay_config(**changes: Any) -> ReplayConfig:
    """Return settings of a window that half of all positions fill."""
    plain = {"window_minimum": 20_000, "window_maximum": 500_000, "window_fraction": 0.5}
    return ReplayConfig(**(plain | changes))


def learner_config(**changes: Any) -> LearnerConfig:
    """Return settings of SGD with the paper's L2 penalty, without an average of the weights."""
    paper = {
        "optimizer": "sgd",
        "learning_rate": (RatePoint(0, 0.02),),
        "l2_penalty": 1e-4,
        "weight_decay": 0.0,
        "ema_decay": 0.0,
        "search_value_weight": 0.0,
    }
    return LearnerConfig(**(paper | changes))
