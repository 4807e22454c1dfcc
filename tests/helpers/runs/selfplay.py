"""Quick self-play for tests."""

from alphazero.config.schema import Config, GameConfig
from helpers.settings import search_config, selfplay_config


def make_config(**changes: object) -> Config:
    """A quick configuration without kept trees: policies are visits over `simulations`."""
    settings = {"games_per_iteration": 10, "parallel_games": 8, "temperature_moves": 4, **changes}
    return Config(
        game=GameConfig("tic_tac_toe"),
        search=search_config(simulations=16, reuse_tree=False),
        selfplay=selfplay_config(**settings),
    )
