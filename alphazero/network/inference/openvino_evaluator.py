"""The network on CPUs by OpenVINO: the outputs of torch, several times as fast.

Shapes: B positions, C planes, H rows, W columns, A actions, F filters.
"""

import copy
import functools
import sys
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.network.inference.devices import resolve_precision
from alphazero.network.inference.graph import build_graph
from alphazero.network.inference.quantization import (
    SIGNED_LEVELS,
    UNSIGNED_LEVELS,
    Ranges,
    measure_ranges,
    weight_ranges,
)
from alphazero.network.resnet import ResNet, check_observations
from alphazero.utils.arrays import Float32Array

_PRECISIONS = {"float32": "f32", "bfloat16": "bf16"}


class OpenVINORunner:
    """The network for batches of one size, compiled by OpenVINO.

    With one stream of one thread it computes in the calling thread and need not wake another.
    """

    def __init__(self, graph: Any, hint: str) -> None:
        settings = {
            "INFERENCE_PRECISION_HINT": hint,
            "INFERENCE_NUM_THREADS": 1,
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
        }
        self.request = _core().compile_model(graph, "CPU", settings).create_infer_request()

    def run(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        positions, request = len(observations), self.request
        request.get_input_tensor(0).data[:positions] = observations
        request.infer()
        logits, values = (request.get_output_tensor(each).data[:positions] for each in (0, 1))
        return logits, values if values.shape[1] > 1 else values[:, 0]


class OpenVINOEvaluator(BatchedEvaluator):
    """Evaluates positions by OpenVINO on the CPU.

    Each thread computes alone, on one core. Each batch size is compiled once for each concurrent
    thread, in a few hundredths of a second.
    """

    device = "cpu"
    computes_int8 = True

    def __init__(self, network: ResNet, precision: str = "auto") -> None:
        super().__init__(network)
        self.precision = resolve_precision(precision, "cpu")
        self._network.to("cpu")
        self._hint = _PRECISIONS[self.precision]
        """the precision of layers that are not int8"""
        self._ranges: Ranges = {}

    def quantized(self, observations: Float32Array) -> Self:
        """Return an evaluator whose tower is int8; stem, sums and heads stay in `precision`."""
        check_observations(observations, self.observation_shape)
        twin = copy.copy(self)
        twin._idle = defaultdict(list)
        twin.precision = f"int8 and {self.precision}"
        twin._ranges = measure_ranges(self._network, observations)
        return twin

    def _make_runner(self, size: int) -> OpenVINORunner:
        graph = _graph(self._network, size, self._ranges)
        return OpenVINORunner(graph, self._hint)


@functools.cache
def _openvino() -> Any:
    """Import OpenVINO without its telemetry, which would report each import over the network.

    It would do so from a forked process, which may outlive this one. Without the module OpenVINO
    uses a stub of its own.
    """
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    import openvino
    import openvino.opset13

    return openvino


@functools.cache
def _core() -> Any:
    return _openvino().Core()


_OVER_BOARD = np.array([2, 3])


class OpenVINOOps:
    """The operations of OpenVINO, for `build_graph`."""

    def __init__(self) -> None:
        self._ops: Any = _openvino().opset13

    def _constant(self, tensor: Tensor) -> Any:
        return self._ops.constant(tensor.detach().float().numpy())

    def _quantize(self, numbers: Any, greatest: Tensor, signed: bool) -> Any:
        high = self._constant(greatest)
        low = self._constant(-greatest if signed else torch.zeros_like(greatest))
        levels = SIGNED_LEVELS if signed else UNSIGNED_LEVELS
        return self._ops.fake_quantize(numbers, low, high, low, high, levels)

    def convolve(
        self, features: Any, weight: Tensor, bias: Tensor, greatest: Tensor | None = None
    ) -> Any:
        padding, kernel = [weight.shape[2] // 2] * 2, self._constant(weight)
        if greatest is not None:  # OpenVINO compiles these to int8 kernels
            features = self._quantize(features, greatest, signed=False)
            kernel = self._quantize(kernel, weight_ranges(weight), signed=True)
        convolved = self._ops.convolution(features, kernel, [1, 1], padding, padding, [1, 1])
        return self.add(convolved, self._constant(bias.reshape(1, -1, 1, 1)))

    def dense(self, features: Any, weight: Tensor, bias: Tensor) -> Any:
        product = self._ops.matmul(features, self._constant(weight), False, True)
        return self.add(product, self._constant(bias.reshape(1, -1)))

    def relu(self, numbers: Any) -> Any:
        return self._ops.relu(numbers)

    def tanh(self, numbers: Any) -> Any:
        return self._ops.tanh(numbers)

    def add(self, one: Any, other: Any) -> Any:
        return self._ops.add(one, other)

    def scale(self, numbers: Any, factor: float) -> Any:
        return self._ops.multiply(numbers, self._ops.constant(np.float32(factor)))

    def means(self, features: Any) -> Any:
        return self._ops.reduce_mean(features, _OVER_BOARD, False)

    def maxima(self, features: Any) -> Any:
        return self._ops.reduce_max(features, _OVER_BOARD, False)

    def join(self, parts: Sequence[Any]) -> Any:
        return self._ops.concat(list(parts), 1)

    def split(self, features: Any, lengths: tuple[int, int]) -> tuple[Any, Any]:
        first, second = self._ops.variadic_split(features, 1, np.array(lengths)).outputs()
        return first, second

    def flat(self, features: Any) -> Any:
        return self._ops.reshape(features, np.array([0, -1]), True)

    def of_each_filter(self, numbers: Any) -> Any:
        return self._ops.reshape(numbers, np.array([0, -1, 1, 1]), True)


def _graph(network: ResNet, size: int, ranges: Ranges) -> Any:
    """Return a folded network as an OpenVINO model of fixed batch size."""
    openvino = _openvino()
    observations = openvino.opset13.parameter([size, *network.observation_shape], np.float32)
    outputs = build_graph(network, OpenVINOOps(), observations, ranges)
    return openvino.Model(list(outputs), [observations], "alphazero")
