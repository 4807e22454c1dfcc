"""The network as an evaluator: from batches of positions to policy logits and values.

Shapes: B positions, C planes, H rows, W columns, A actions.
"""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor

from alphazero.errors import RunError
from alphazero.network.resnet import ResNet, check_observations, fold_batch_norm
from alphazero.utils.arrays import Float32Array
from alphazero.utils.jobs import at_most_threads

# From 16 on, steps of a half or less keep padding cheap; few sizes need few compiled kernels.
BATCH_SIZES: Final = (
    *(1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512),
    *(768, 1024, 1536, 2048, 3072, 4096),
)
"""The batch sizes that the device sees; a larger batch is split into pieces of the last one."""

MANY_GAMES: Final = 32
"""From this number of games on, a batch of three quarters is about as fast as one of all."""


def padded_size(positions: int) -> int:
    """Return the smallest of `BATCH_SIZES` that holds `positions`, at most the largest."""
    return next((size for size in BATCH_SIZES if size >= positions), BATCH_SIZES[-1])


def rows_in_match(num_games: int, evaluator: object) -> int:
    """Return the batch size for a player that is to move in about half of `num_games` games.

    The largest of `BATCH_SIZES` up to three eighths: of two players one can then always fill its
    batch, so hardly any is padded until the last games end. On a GPU it is all games: a padded
    batch takes hardly longer than a small one.
    """
    if isinstance(evaluator, BatchedEvaluator) and evaluator.device != "cpu":
        return num_games
    limit = max(num_games * 3 // 8, 1)
    return max(size for size in BATCH_SIZES if size <= limit)


def rows_in_selfplay(num_games: int) -> int:
    """Return the batch size for a player of all `num_games` games.

    With `MANY_GAMES` or more, three quarters: the batch stays full while the other games wait for
    their moves, which are made together to save Python's time. With fewer, nearly all, because
    small batches are slow.
    """
    return num_games - num_games // (4 if num_games >= MANY_GAMES else 16)


Runner = Callable[[Float32Array], Sequence[Float32Array]]
"""A network prepared for batches of one size, for one thread at a time: maps observations
[n, C, H, W] to the logits [size, A] and values [size] of n positions and of padding. These may be
buffers that the next call overwrites."""


class AuxiliaryPredictions(NamedTuple):
    """Outputs of auxiliary heads for B positions, for `to_play` of each; None: no such head."""

    ownership: Float32Array | None
    """[B, H * W] in [-1, 1]: 1 for cells that will be the player's, -1 for the opponent's"""
    margin: Float32Array | None
    """[B] by how much the player will win, mean"""
    margin_spread: Float32Array | None
    """[B] its standard deviation"""


class BatchedEvaluator(ABC):
    """Evaluates positions, in several threads at once, with a frozen, folded copy of a network."""

    device: str
    precision: str
    computes_int8 = False
    """whether `quantized` can be called"""

    def __init__(self, network: ResNet) -> None:
        self.observation_shape = network.observation_shape
        self.num_actions = network.num_actions
        self.auxiliary_heads = tuple(network.auxiliary)
        """names of the heads that `predict` computes"""
        self._network = fold_batch_norm(network)
        self._idle: defaultdict[int, list[Runner]] = defaultdict(list)
        """runners that no thread uses, by batch size"""

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return policy logits float32 [B, A] and values float32 [B], for `to_play` of each.

        `observations`: float32 [B, C, H, W]; B may be 0. The outputs are new, contiguous arrays.

        Raises:
            RunError: when an output is NaN or infinite.
        """
        check_observations(observations, self.observation_shape)
        logits = np.empty((len(observations), self.num_actions), np.float32)
        values = np.empty(len(observations), np.float32)
        for start in range(0, len(observations), BATCH_SIZES[-1]):
            piece = slice(start, start + BATCH_SIZES[-1])
            positions = len(observations[piece])
            size = padded_size(positions)
            run = self._take_runner(size)
            answers = run(observations[piece])
            logits[piece], values[piece] = (answer[:positions] for answer in answers)
            self._idle[size].append(run)
        good = np.isfinite(logits).all(axis=1) & np.isfinite(values)
        if not good.all():
            raise RunError(
                f"the network answered with NaN or infinity for {int((~good).sum())} of "
                f"{len(good)} positions; go on from the last good checkpoint, with a lower "
                "learning rate"
            )
        return logits, values

    @torch.inference_mode()
    def predict(self, observations: Float32Array) -> AuxiliaryPredictions:
        """Return the outputs of the auxiliary heads for `observations` [B, C, H, W].

        This is for people: it does not batch, and computes by torch, policy and value too.
        """
        check_observations(observations, self.observation_shape)
        network, weight = self._network, self._network.stem.convolution.weight
        planes = torch.from_numpy(np.ascontiguousarray(observations))
        with at_most_threads(network.useful_threads(len(planes))):
            outputs = network.forward_full(planes.to(weight.device, weight.dtype)).auxiliary
        margins = outputs.get("margin")
        return AuxiliaryPredictions(
            _numpy(outputs.get("ownership"), logits=True),
            None if margins is None else _numpy(margins[:, 0]),
            None if margins is None else _numpy(margins[:, 1]),
        )

    def quantized(self, observations: Float32Array) -> "BatchedEvaluator":
        """Return an evaluator of the same network that computes its tower in int8.

        `observations`: float32 [B, C, H, W], B above 0, typical ones: they set the ranges of the
        rounded layers.
        """
        raise NotImplementedError

    def _take_runner(self, size: int) -> Runner:
        with suppress(IndexError):
            return self._idle[size].pop()
        return self._make_runner(size)

    @abstractmethod
    def _make_runner(self, size: int) -> Runner:
        """Return the network prepared for batches of `size`."""


def _numpy(output: Tensor | None, logits: bool = False) -> Float32Array | None:
    """Return an output of a head; that of logits is 2 p - 1 for their probabilities p."""
    if output is None:
        return None
    return (torch.tanh(output / 2) if logits else output).float().cpu().numpy()
