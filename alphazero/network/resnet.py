"""The network f(s) = (p, v): a convolutional stem, a tower of residual blocks, two heads.

Source: AlphaGo Zero, Nature 550 (2017), Methods, "Neural network architecture". The paper's
sizes are 19 or 39 blocks, 256 filters, 2 policy filters, 1 value filter and 256 hidden units.
Two things are not in the paper: global pooling, and convolutional heads, by default on large
boards.

Shapes: B positions, C planes, H rows, W columns, A actions, F filters, G pooled filters.
"""

import copy
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from alphazero.config.schema import NetworkConfig
from alphazero.games.game import Game
from alphazero.network import heads
from alphazero.network.heads import ConvNorm, pool_board
from alphazero.utils.arrays import Float32Array, Int64Array

HEAD_INIT_STD = 0.1
"""Standard deviation of an untrained output without relu, for inputs of unit mean square."""

FEW_PRODUCTS = 3 * 10**9
"""Products below which a computation stays on one core."""

ALL_CORES = 1 << 16

POOLING_INTERVAL = 3
"""Global pooling is in blocks 2, 5, 8, ...; KataGo's networks have it in about every third."""


def check_observations(observations: Tensor | Float32Array, shape: tuple[int, int, int]) -> None:
    """Raise ValueError unless `observations` are [B, *shape]."""
    if observations.shape[1:] != shape:
        planes, height, width = shape
        raise ValueError(
            f"expected observations [B, C={planes}, H={height}, W={width}], "
            f"received {list(observations.shape)}"
        )


class GlobalPooling(nn.Module):
    """Adds to each filter a bias that depends on the means and maxima of the last G filters.

    KataGo's global pooling bias (arXiv:1902.10565, section 3.3), without the scaled mean and
    without a normalisation of its own, because the input is normalised.
    """

    def __init__(self, filters: int, pooled: int) -> None:
        super().__init__()
        self.pooled = pooled
        self.dense = nn.Linear(2 * pooled, filters - pooled)

    def forward(self, features: Tensor) -> Tensor:
        """Map features [B, F, H, W] to [B, F - G, H, W]: the pooled filters end here."""
        # Split, not slice: the gradient of a slice loses channels-last, which makes the
        # normalisation before it twenty times as slow.
        parts = [features.shape[1] - self.pooled, self.pooled]
        shifted, pooled = torch.split(features, parts, 1)
        pooled = relu(pooled)
        summary = torch.cat([pooled.mean((2, 3)), pooled.amax((2, 3))], 1).float()
        shifts: Tensor = self.dense(summary).to(features.dtype)
        return shifted + shifts[:, :, None, None]


class ResidualBlock(nn.Module):
    """relu(x + normalised convolution of relu(normalised convolution of x)), F filters each.

    With `pooled` above 0, global pooling follows the first convolution.
    """

    def __init__(self, filters: int, pooled: int) -> None:
        super().__init__()
        self.first = ConvNorm(filters, filters, 3)
        self.pooling = GlobalPooling(filters, pooled) if pooled else None
        self.second = ConvNorm(filters - pooled, filters, 3)

    def forward(self, features: Tensor) -> Tensor:
        """Map features [B, F, H, W] to the same shape."""
        # In place is safe: the gradient of no normalisation or sum needs its output.
        inner = self.first(features)
        if self.pooling is not None:
            inner = self.pooling(inner)
        change = self.second(relu(inner, inplace=True))
        return relu(change.add_(features), inplace=True)


class NetworkOutput(NamedTuple):
    """The outputs for B positions, for `to_play` of each."""

    policy_logits: Tensor
    """float32 [B, A]"""
    values: Tensor
    """float32 [B] in [-1, 1]"""
    auxiliary: Mapping[str, Tensor] = MappingProxyType({})
    """float32 [B, ...] outputs of the auxiliary heads by name"""


class ResNet(nn.Module):
    """The AlphaGo Zero network for one observation shape and one number of actions.

    With convolutional heads, networks of all sizes of the board can have the same weights.
    `policy_planes` and `policy_index` are the game's: with 0 planes the policy head is dense,
    whatever `settings.heads` is. `seed` draws the weights, without the global generator; with None
    they stay on torch's "meta" device, to be assigned.

    Convolutions start by He's rule (arXiv:1502.01852), with two changes that make an untrained
    network's policies nearly uniform and its values nearly 0. Otherwise the first self-play would
    follow random policies, and a saturated tanh would give false values and hardly any gradient.
    The last layer of each head starts small, and the last normalisation of each block starts with
    scale 0 (arXiv:1706.02677, section 5.1): each block is then the identity, and the signal does
    not double with each block before the running statistics are learnt. Layers that compute biases
    within a block start small too.
    """

    def __init__(
        self,
        observation_shape: tuple[int, int, int],
        num_actions: int,
        settings: NetworkConfig,
        seed: int | None = 0,
        policy_planes: int = 0,
        policy_index: Int64Array | None = None,
    ) -> None:
        super().__init__()
        planes, height, width = observation_shape
        self.observation_shape = (planes, height, width)
        self.num_actions = num_actions
        cells = height * width
        self.settings = settings = settings.for_board(cells)
        # Built on "meta", because torch's own initialisation draws from the global generator.
        with torch.device("meta"):
            self.stem = ConvNorm(planes, settings.filters, 3)
            blocks = (
                ResidualBlock(
                    settings.filters,
                    settings.global_pooling if index % POOLING_INTERVAL == 1 else 0,
                )
                for index in range(settings.blocks)
            )
            self.tower = nn.Sequential(*blocks)
            pools = settings.heads == "convolutional"
            self.policy_features, self.policy_output = heads.make_policy_head(
                settings, cells, num_actions, policy_planes if pools else 0
            )
            self.value_features = ConvNorm(settings.filters, settings.value_filters, 1)
            inputs = settings.value_filters * (heads.NUM_SUMMARIES if pools else cells)
            self.value_hidden = nn.Linear(inputs, settings.value_hidden)
            self.value_output = nn.Linear(settings.value_hidden, 1)
            self.auxiliary = heads.make_auxiliary_heads(settings)  # last: drawn last
        if seed is not None:
            # `to_empty` would import sympy, which takes longer than all else here.
            empty = {
                name: torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu")
                for name, tensor in self.state_dict().items()
            }
            self.load_state_dict(empty, assign=True)
            self._initialise(torch.Generator().manual_seed(seed))
        if policy_index is not None and isinstance(self.policy_output, heads.ConvolutionalPolicy):
            self.policy_output.index = torch.from_numpy(policy_index)

    def useful_threads(self, positions: int, passes: int = 1) -> int:
        """Return the most cores that make `passes` over `positions` faster: 1, or `ALL_CORES`.

        Threads wait for each other at every layer, which costs more than it saves in small ones.
        """
        _, height, width = self.observation_shape
        weights = sum(weight.numel() for weight in self.parameters())
        products = weights * height * width * positions * passes
        return 1 if products < FEW_PRODUCTS else ALL_CORES

    @classmethod
    def of(cls, game: Game, settings: NetworkConfig, seed: int | None = 0) -> "ResNet":
        shape = game.observation_shape
        actions = game.num_actions
        return cls(shape, actions, settings, seed, game.policy_planes, game.policy_index)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Return policy logits float32 [B, A] and values float32 [B] in [-1, 1], for `to_play`.

        `observations`: [B, C, H, W], each seen by the player to move.
        """
        return self._play_heads(self._trunk(observations))

    def forward_full(self, observations: Tensor) -> NetworkOutput:
        """Return all outputs: those of `forward`, and those of the auxiliary heads."""
        trunk = self._trunk(observations)
        auxiliary = {name: head(trunk) for name, head in self.auxiliary.items()}
        return NetworkOutput(*self._play_heads(trunk), auxiliary)

    def _trunk(self, observations: Tensor) -> Tensor:
        """Return the features [B, F, H, W] that all heads share."""
        check_observations(observations, self.observation_shape)
        return cast(Tensor, self.tower(relu(self.stem(observations), inplace=True)))

    def _play_heads(self, trunk: Tensor) -> tuple[Tensor, Tensor]:
        """Return policy logits [B, A] and values [B]."""
        value = relu(self.value_features(trunk), inplace=True)
        pools = self.settings.heads == "convolutional"
        value = pool_board(value.float()) if pools else value.flatten(1).float()
        value = relu(self.value_hidden(value), inplace=True)
        policy = self.policy_features(trunk)
        if not isinstance(self.policy_output, heads.ConvolutionalPolicy):
            policy = relu(policy, inplace=True).flatten(1).float()
        logits: Tensor = self.policy_output(policy)
        return logits.float(), torch.tanh(self.value_output(value).float()).squeeze(1)

    @torch.no_grad()
    def _initialise(self, generator: torch.Generator) -> None:
        """Fill every parameter and buffer, drawing from `generator` only, always in one order."""
        before_relu: list[nn.Module] = [self.value_hidden]
        for module in self.modules():
            if isinstance(module, heads.PooledHead):
                before_relu.append(module.hidden)
            elif isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu", generator=generator)
            elif isinstance(module, nn.BatchNorm2d):
                module.reset_parameters()  # scale 1, shift 0, mean 0, variance 1
            elif isinstance(module, nn.Linear):
                gain = math.sqrt(2.0) if module in before_relu else HEAD_INIT_STD
                scale = gain / math.sqrt(module.in_features)
                module.weight.normal_(0.0, scale, generator=generator)
                module.bias.zero_()
        for block in self.tower:
            last = cast(ResidualBlock, block).second.normalisation
            cast(nn.BatchNorm2d, last).weight.zero_()


def fold_batch_norm(network: ResNet) -> ResNet:
    """Return a copy in evaluation mode with folded normalisations, which cannot be trained.

    It computes the same, up to rounding. Its weights have torch's default memory format: a learner
    keeps them channels-last, a file does not, and the kernels for these formats round differently.
    """
    duplicate = copy.deepcopy(network).eval().requires_grad_(False)
    duplicate.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload]
    for module in duplicate.modules():
        if isinstance(module, ConvNorm):
            module.fold()
    return duplicate
