"""A check of the network's size, before a run writes anything."""

from typing import Final

from alphazero.config.schema import Config
from alphazero.errors import ConfigError
from alphazero.games.game import Game
from alphazero.network.header import FILE_LIMIT
from alphazero.network.resnet import ResNet
from alphazero.utils.machine import total_memory

COPIES: Final = 4
"""Copies of the weights in memory while learning, about: weights, gradient, momentum and EMA."""


def check_network_size(config: Config, game: Game) -> None:
    """Raise ConfigError unless the network fits a checkpoint, and learning fits this machine."""
    skeleton = ResNet.of(game, config.network, None)
    size = sum(weights.nbytes for weights in skeleton.parameters())
    needed, memory = COPIES * size, total_memory()
    if size > FILE_LIMIT:
        fault = f"a checkpoint holds {FILE_LIMIT / 2**30:,.0f} GiB at most"
    elif memory and needed > memory:
        fault = f"learning takes {needed / 2**30:,.1f} GiB, of {memory / 2**30:,.1f} GiB here"
    else:
        return
    raise ConfigError(
        f"network: its weights take {size / 2**30:,.1f} GiB, and {fault}; lower network.filters or "
        "blocks, or policy_filters or value_hidden"
    )
