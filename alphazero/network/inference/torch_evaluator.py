"""The network evaluated by torch: eagerly, or as CUDA graphs."""

import sys
import threading
from typing import Final

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from alphazero.network.inference.batched_evaluator import BatchedEvaluator, Runner
from alphazero.network.inference.devices import TYPES, resolve_device, resolve_precision
from alphazero.network.resnet import ResNet
from alphazero.utils.arrays import Float32Array
from alphazero.utils.jobs import at_most_threads

LINE: Final = 16
"""Numbers of 32 bits in a cache line."""


class EagerRunner:
    """The network for batches of one size, run by torch eagerly."""

    def __init__(self, network: ResNet, size: int) -> None:
        self._forward = network.forward
        self._threads = network.useful_threads(size)
        planes = network.stem.convolution.weight.new_zeros(size, *network.observation_shape)
        self._input = planes.contiguous(memory_format=torch.channels_last)

    @torch.inference_mode()
    def __call__(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        # One pass changes the layout, the precision and, if needed, the device. The padding keeps
        # its old contents.
        writable = np.require(observations, np.float32, ("C", "W"))
        self._input[: len(writable)].copy_(torch.from_numpy(writable))
        with at_most_threads(self._threads):
            logits, values = self._forward(self._input)
        return logits.cpu().numpy(), values.cpu().numpy()


WARM_UP: Final = 3
"""Runs before the recording, in which libraries choose their kernels and allocate memory."""


class CudaGraphRunner:
    """The network for batches of one size, recorded as a CUDA graph; one at a time in a process.

    A small network's kernels are so short that launching them one by one costs more than running
    them; a CUDA graph launches all of them at once. It needs fixed shapes and fixed memory. The
    graph also copies the batch to the GPU and the answers back: Python makes one call. Planes
    travel in the network's own precision, so that bfloat16 halves the transfer and loses nothing.
    """

    def __init__(self, network: ResNet, size: int) -> None:
        weight, shape = network.stem.convolution.weight, network.observation_shape
        # The current GPU is a property of each thread, so select the network's by its number.
        with torch.cuda.device(weight.device):
            self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            self._graph = torch.cuda.CUDAGraph()
            self._input = torch.zeros((size, *shape), dtype=weight.dtype, pin_memory=True)
            self._logits, self._values = self._record(network)

    @torch.inference_mode()
    def _record(self, network: ResNet) -> tuple[Tensor, Tensor]:
        """Record the network; return its output buffers on the host: logits [B, A], values [B]."""

        def evaluate() -> tuple[Tensor, Tensor]:
            planes = self._input.to("cuda", non_blocking=True)
            # Change the layout on the GPU: the transfer copies the data as it is.
            return network.forward(planes.contiguous(memory_format=torch.channels_last))

        # torch hands out the same 32 streams of a priority again and again. The graphs are replayed
        # on streams of the usual one, so no thread replays on a stream that is recording.
        recording = torch.cuda.Stream(priority=-1)  # type: ignore[no-untyped-call]
        recording.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(recording):
            for _ in range(WARM_UP):
                outputs = evaluate()
        recording.synchronize()
        logits, values = (
            torch.empty(output.shape, dtype=output.dtype, pin_memory=True) for output in outputs
        )
        # Other threads may use the GPU meanwhile: record this thread alone.
        with torch.cuda.graph(self._graph, stream=recording, capture_error_mode="thread_local"):
            for host, device in zip((logits, values), evaluate(), strict=True):
                host.copy_(device, non_blocking=True)
        return logits, values

    def __call__(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        writable = np.require(observations, np.float32, ("C", "W"))
        self._input[: len(writable)].copy_(torch.from_numpy(writable))
        with torch.cuda.stream(self._stream):
            self._graph.replay()
        self._stream.synchronize()  # meanwhile other threads run Python
        return self._logits.numpy(), self._values.numpy()


class _AlignedLinear(nn.Module):
    """A dense layer with its inputs padded with zeros to whole cache lines.

    A matrix library may sum a row that begins within a cache line in another order. An output's
    last bits would then depend on its place in the batch.
    """

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self._added = -layer.in_features % LINE
        self.register_buffer("weight", pad(layer.weight, (0, self._added)))
        self.register_buffer("bias", layer.bias)

    def forward(self, features: Tensor) -> Tensor:
        """Map [B, inputs] to float32 [B, outputs]."""
        return linear(pad(features, (0, self._added)), self.weight, self.bias)  # type: ignore[arg-type]


_ONE_RECORDING: Final = threading.Lock()


class TorchEvaluator(BatchedEvaluator):
    """Evaluates positions by torch, on any device.

    `precision` is "float32", "bfloat16" or "auto". bfloat16 is for the convolutions only. An
    output's last bits can differ between batch sizes, because the device sums in another order; on
    CPUs they do not depend on the place in a batch. A GPU replays batches as CUDA graphs; if
    recording fails, the network runs eagerly.
    """

    def __init__(self, network: ResNet, device: str = "auto", precision: str = "auto") -> None:
        super().__init__(network)
        self.device = resolve_device(device)
        self.precision = resolve_precision(precision, self.device)
        self._network.to(self.device)
        for module in list(self._network.modules()):
            if isinstance(module, nn.Conv2d):
                layout = {"dtype": TYPES[self.precision], "memory_format": torch.channels_last}
                module.to(**layout)  # type: ignore[call-overload]
            for name, layer in module.named_children():
                if isinstance(layer, nn.Linear) and layer.in_features % LINE:
                    setattr(module, name, _AlignedLinear(layer))
        self._records = torch.device(self.device).type == "cuda"

    def _make_runner(self, size: int) -> Runner:
        with _ONE_RECORDING:
            if self._records:
                try:
                    return CudaGraphRunner(self._network, size)
                except RuntimeError as error:
                    self._records = False
                    message = str(error).splitlines()[0]
                    text = f"CUDA graphs cannot be used ({message}); evaluation will be slower"
                    print(text, file=sys.stderr)
        return EagerRunner(self._network, size)
