"""The network evaluated by torch: eagerly, or recorded as CUDA graphs."""

import threading
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from alphazero.network.cuda_graph import CudaGraphRunner
from alphazero.network.inference import (
    LINE,
    TYPES,
    BatchedEvaluator,
    BatchRunner,
    Floats,
    resolve_device,
    resolve_precision,
)
from alphazero.network.resnet import ResNet


class EagerRunner:
    """The network for batches of one size, run by torch kernel by kernel."""

    def __init__(
        self, network: nn.Module, size: int, shape: tuple[int, int, int], dtype: torch.dtype
    ) -> None:
        device = next(network.parameters()).device
        self._network = network
        self._input = torch.zeros((size, *shape), dtype=dtype, device=device).contiguous(
            memory_format=torch.channels_last
        )

    @torch.inference_mode()
    def run(self, observations: Floats) -> tuple[Floats, Floats]:
        """Return logits [n, A] and values [n] of `observations` [n, C, H, W], n at most `size`.

        The padding is whatever was there.
        """
        positions = len(observations)
        # One pass that changes the layout, the precision and, if need be, the device.
        writable = np.require(observations, np.float32, ("C", "W"))
        self._input[:positions].copy_(torch.from_numpy(writable))
        logits, values = self._network(self._input)
        return logits[:positions].cpu().numpy(), values[:positions].cpu().numpy()


class _AlignedLinear(nn.Module):
    """A dense layer whose inputs are filled up with zeros to whole lines of memory.

    A matrix library may sum a row in another order where it begins within a line, so an answer's
    last bits would depend on its place in the batch.
    """

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self._added = -layer.in_features % LINE
        self.register_buffer("weight", pad(layer.weight, (0, self._added)))
        self.register_buffer("bias", layer.bias)

    def forward(self, features: Tensor) -> Tensor:
        """Return float32 [B, outputs] of `features` [B, inputs]."""
        return linear(pad(features, (0, self._added)), self.weight, self.bias)  # type: ignore[arg-type]


def _align_rows(network: nn.Module) -> None:
    """Align the rows of every dense layer of a network."""
    for module in list(network.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Linear) and child.in_features % LINE:
                setattr(module, name, _AlignedLinear(child))


_ONE_RECORDING: Final = threading.Lock()
"""Held while a CUDA graph is recorded: a process can record but one at a time."""


class TorchEvaluator(BatchedEvaluator):
    """Evaluates positions by torch, on any device.

    `device` is a torch device or "auto"; `precision` is "float32", "bfloat16" or "auto". The
    attributes of these names hold what was resolved. In bfloat16 only the convolutions are; the
    dense layers of the heads, the logits and the values are float32.

    One position's answer can differ in its last bits between batch sizes, because the device
    sums in another order; on CPUs it does not differ between places in a batch. On a GPU batches
    are recorded as CUDA graphs and replayed; where that fails, the network is run kernel by kernel.
    """

    def __init__(self, network: ResNet, device: str = "auto", precision: str = "auto") -> None:
        super().__init__(network)
        self.device = resolve_device(device)
        self.precision = resolve_precision(precision, self.device)
        self._type = TYPES[self.precision]
        self._network.to(self.device)
        _align_rows(self._network)
        for module in self._network.modules():
            if isinstance(module, nn.Conv2d):
                module.to(dtype=self._type, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._records = torch.device(self.device).type == "cuda"

    def _make_runner(self, size: int) -> BatchRunner:
        given = self._network, size, self.observation_shape, self._type
        with _ONE_RECORDING:
            if self._records:
                try:
                    return CudaGraphRunner(*given)
                except RuntimeError as error:
                    self._records = False
                    said = str(error).splitlines()[0]
                    print(f"CUDA graphs cannot be used ({said}); self-play will be slower")
        return EagerRunner(*given)
