"""Batches of one size on a GPU, as a CUDA graph: kernels recorded once and replayed.

A small network's kernels are so short that launching them one by one costs more than running
them; a CUDA graph launches all of them at once. It needs fixed shapes and fixed memory: its
buffers are here, those on the host pinned, so that transfers are asynchronous.

Shapes: B batch size, C planes, H rows, W columns, A actions.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from alphazero.network.inference.batched_evaluator import Forward

WARM_UP = 3
"""Runs before the recording, in which libraries choose their kernels and allocate memory."""


class CudaGraphRunner:
    """The recorded network, a `BatchRunner`; only one graph may be recorded at a time.

    The graph also copies the batch to the GPU and the answers back: Python makes one call. Planes
    travel in the network's own precision, so that bfloat16 halves the transfer and loses nothing.
    """

    def __init__(
        self,
        forward: Forward,
        size: int,
        shape: tuple[int, int, int],
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        # The current GPU is a property of each thread, so select the network's by its number.
        with torch.cuda.device(device):
            self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            self._graph = torch.cuda.CUDAGraph()
            self._input = torch.zeros((size, *shape), dtype=dtype, pin_memory=True)
            self._logits, self._values = self._record(forward)

    @torch.inference_mode()
    def _record(self, forward: Forward) -> tuple[Tensor, Tensor]:
        """Record the network; return its output buffers on the host: logits [B, A], values [B]."""

        def evaluate() -> tuple[Tensor, Tensor]:
            planes = self._input.to("cuda", non_blocking=True)
            # Change the layout on the GPU: the transfer copies the data as it is.
            return forward(planes.contiguous(memory_format=torch.channels_last))

        # torch hands out the same 32 streams of a priority again and again. The graphs are replayed
        # on streams of the usual one, so no thread replays on a stream that is recording.
        recording = torch.cuda.Stream(priority=-1)  # type: ignore[no-untyped-call]
        recording.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(recording):
            for _ in range(WARM_UP):
                outputs = evaluate()
        recording.synchronize()
        logits, values = (
            torch.empty(each.shape, dtype=each.dtype, pin_memory=True) for each in outputs
        )
        # Other threads may use the GPU meanwhile: record this thread alone.
        with torch.cuda.graph(self._graph, stream=recording, capture_error_mode="thread_local"):
            for host, device in zip((logits, values), evaluate(), strict=True):
                host.copy_(device, non_blocking=True)
        return logits, values

    def run(
        self, observations: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Do as `BatchRunner`; while this waits for the GPU, other threads run Python."""
        positions = len(observations)
        writable = np.require(observations, np.float32, ("C", "W"))
        self._input[:positions].copy_(torch.from_numpy(writable))
        with torch.cuda.stream(self._stream):
            self._graph.replay()
        self._stream.synchronize()
        return self._logits[:positions].numpy(), self._values[:positions].numpy()
