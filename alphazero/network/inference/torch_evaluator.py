"""The network evaluated by torch: eagerly, or as CUDA graphs."""

import threading
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from alphazero.network.inference.batched_evaluator import (
    LINE,
    BatchedEvaluator,
    BatchRunner,
    Forward,
)
from alphazero.network.inference.devices import TYPES, resolve_device, resolve_precision
from alphazero.network.resnet import ALL_CORES, ResNet
from alphazero.utils.arrays import Float32Array
from alphazero.utils.jobs import at_most_threads


class EagerRunner:
    """The network for batches of one size, run by torch eagerly."""

    def __init__(
        self,
        forward: Forward,
        size: int,
        shape: tuple[int, int, int],
        dtype: torch.dtype,
        device: torch.device,
        threads: int = ALL_CORES,
    ) -> None:
        self._forward = forward
        self._threads = threads
        """the most threads that a CPU computes with"""
        self._input = torch.zeros((size, *shape), dtype=dtype, device=device).contiguous(
            memory_format=torch.channels_last
        )

    @torch.inference_mode()
    def run(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        positions = len(observations)
        # One pass changes the layout, the precision and, if needed, the device. The padding keeps
        # its old contents.
        writable = np.require(observations, np.float32, ("C", "W"))
        self._input[:positions].copy_(torch.from_numpy(writable))
        with at_most_threads(self._threads):
            logits, values = self._forward(self._input)
        return logits[:positions].cpu().numpy(), values[:positions].cpu().numpy()


class _AlignedLinear(nn.Module):
    """A dense layer with its inputs padded with zeros to whole cache lines.

    A matrix library may sum a row in another order if it begins within a cache line, so that an
    output's last bits would depend on its place in the batch.
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
    for module in list(network.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Linear) and child.in_features % LINE:
                setattr(module, name, _AlignedLinear(child))


_ONE_RECORDING: Final = threading.Lock()
"""Held while a CUDA graph is recorded: a process can record only one at a time."""


class TorchEvaluator(BatchedEvaluator):
    """Evaluates positions by torch, on any device.

    `device` is a torch device or "auto"; `precision` is "float32", "bfloat16" or "auto". The
    attributes of these names hold the resolved ones. bfloat16 is for the convolutions only; the
    dense layers of the heads, the logits and the values are float32.

    An output's last bits can differ between batch sizes, because the device sums in another order;
    on CPUs they do not depend on the place in a batch. A GPU replays batches as CUDA graphs; if
    recording fails, the network runs eagerly.
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
        device = self._network.stem.convolution.weight.device
        given = self._network.forward, size, self.observation_shape, self._type, device
        with _ONE_RECORDING:
            if self._records:
                from alphazero.network.inference.cuda_graph import CudaGraphRunner

                try:
                    return CudaGraphRunner(*given)
                except RuntimeError as error:
                    self._records = False
                    message = str(error).splitlines()[0]
                    print(f"CUDA graphs cannot be used ({message}); self-play will be slower")
        return EagerRunner(*given, self._network.useful_threads(size))
