"""Settings of AlphaGo Zero at the size of tests, without what the shipped configurations add.

Tests take these in place of the defaults, so that each names the options that it is about.
"""

from functools import partial

from alphazero.config.schema import (
    LearnerConfig,
    NetworkConfig,
    RatePoint,
    ReplayConfig,
    SearchConfig,
    SelfplayConfig,
)

network_config = partial(
    NetworkConfig, policy_filters=2, value_filters=1, value_hidden=64, global_pooling=0
)
"""The paper's small heads and no global pooling."""

search_config = partial(
    SearchConfig,
    simulations=128,
    c_puct=1.25,
    selection="puct",
    transpositions="never",
    mcts_solver=False,
)
"""PUCT in plain trees, without proofs."""

selfplay_config = partial(
    SelfplayConfig,
    parallel_games=128,
    full_search_probability=1.0,
    fast_simulations=16,
    random_opening_probability=0.0,
    random_opening_max_moves=16,
)
"""Every search is full and every game begins at the beginning."""

replay_config = partial(
    ReplayConfig, window_minimum=20_000, window_maximum=500_000, window_fraction=0.5
)
"""A window that half of all positions fill."""

learner_config = partial(
    LearnerConfig,
    optimizer="sgd",
    learning_rate=(RatePoint(0, 0.02),),
    l2_penalty=1e-4,
    weight_decay=0.0,
    ema_decay=0.0,
    search_value_weight=0.0,
)
"""SGD with the paper's L2 penalty, without an average of the weights."""
