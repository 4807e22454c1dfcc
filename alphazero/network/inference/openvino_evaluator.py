"""The network on CPUs by OpenVINO: the outputs of torch, several times as fast.

Shapes: B positions, F filters.
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

from alphazero.network.inference.batched_evaluator import BatchedEvaluator, Runner
from alphazero.network.inference.devices import resolve_precision
from alphazero.network.inference.graph import GraphBuilder
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

    def compile(self, size: int) -> Any:
        """Compile the network for batches of `size`.

        With one stream of one thread it computes in the calling thread and need not wake another.
        """
        openvino = _openvino()
        observations = openvino.opset13.parameter([size, *self.observation_shape], np.float32)
        outputs = OpenVINOGraph(self._ranges).build(self._network, observations)
        settings = {
            "INFERENCE_PRECISION_HINT": self._hint,
            "INFERENCE_NUM_THREADS": 1,
            "NUM_STREAMS": 1,
            "ENABLE_CPU_PINNING": False,
        }
        model = openvino.Model(list(outputs), [observations], "alphazero")
        return _core().compile_model(model, "CPU", settings)

    def _make_runner(self, size: int) -> Runner:
        request = self.compile(size).create_infer_request()

        def run(observations: Float32Array) -> Sequence[Float32Array]:
            request.get_input_tensor(0).data[: len(observations)] = observations
            request.infer()
            return request.get_output_tensor(0).data, request.get_output_tensor(1).data[:, 0]

        return run


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


class OpenVINOGraph(GraphBuilder):
    """Builds a graph of OpenVINO.

    Convolutions whose weights are in `ranges` round their inputs and weights to int8.
    """

    def __init__(self, ranges: Ranges) -> None:
        super().__init__()
        self.ranges = ranges
        self._ops: Any = _openvino().opset13

    def _constant(self, tensor: Tensor) -> Any:
        return self._ops.constant(tensor.detach().float().numpy())

    def _quantize(self, numbers: Any, low: Tensor, high: Tensor, levels: int) -> Any:
        """Round numbers; OpenVINO compiles a convolution of rounded inputs to int8."""
        ends = self._constant(low), self._constant(high)
        return self._ops.fake_quantize(numbers, *ends, *ends, levels)

    def conv2d(self, features: Any, weight: Tensor, bias: Tensor, *_: Any) -> Any:
        padding, kernel = [weight.shape[2] // 2] * 2, self._constant(weight)
        if (largest := self.ranges.get(weight)) is not None:
            zero, sizes = torch.zeros_like(largest), weight_ranges(weight)
            features = self._quantize(features, zero, largest, UNSIGNED_LEVELS)
            kernel = self._quantize(kernel, -sizes, sizes, SIGNED_LEVELS)
        convolved = self._ops.convolution(features, kernel, [1, 1], padding, padding, [1, 1])
        return self.add(convolved, self._constant(bias.reshape(1, -1, 1, 1)))

    def linear(self, features: Any, weight: Tensor, bias: Tensor) -> Any:
        product = self._ops.matmul(features, self._constant(weight), False, True)
        return self.add(product, self._constant(bias.reshape(1, -1)))

    def relu(self, numbers: Any, **_: bool) -> Any:
        return self._ops.relu(numbers)

    def tanh(self, numbers: Any) -> Any:
        return self._ops.tanh(numbers)

    def add(self, numbers: Any, others: Any) -> Any:
        return self._ops.add(numbers, others)

    def mul(self, numbers: Any, factor: float) -> Any:
        return self._ops.multiply(numbers, self._ops.constant(np.float32(factor)))

    def mean(self, features: Any, axes: tuple[int, ...]) -> Any:
        return self._ops.reduce_mean(features, np.array(axes), False)

    def amax(self, features: Any, axes: tuple[int, ...]) -> Any:
        return self._ops.reduce_max(features, np.array(axes), False)

    def cat(self, parts: Sequence[Any], axis: int) -> Any:
        return self._ops.concat(list(parts), axis)

    def split(self, features: Any, lengths: Sequence[int], dim: int) -> Any:
        return self._ops.variadic_split(features, dim, np.array(lengths)).outputs()

    def flatten(self, features: Any, _: int) -> Any:
        return self._ops.reshape(features, np.array([0, -1]), True)

    def index_select(self, numbers: Any, axis: int, index: Tensor) -> Any:
        places = self._ops.constant(index.numpy())
        return self._ops.gather(numbers, places, self._ops.constant(np.int64(axis)))

    def getitem(self, numbers: Any, _: Any) -> Any:
        """Map [B, F] to [B, F, 1, 1]."""
        return self._ops.reshape(numbers, np.array([0, -1, 1, 1]), True)
