"""The network on CPUs by OpenVINO: the outputs of torch, several times as fast.

Shapes: B positions, C planes, H rows, W columns, A actions, F filters.
"""

import copy
import functools
from collections import defaultdict
from importlib.util import find_spec
from typing import Any, Self, cast

import numpy as np
import torch
from torch import Tensor, nn

from alphazero.errors import ConfigError
from alphazero.network.inference import BatchedEvaluator, resolve_precision
from alphazero.network.quantization import (
    SIGNED_LEVELS,
    UNSIGNED_LEVELS,
    Ranges,
    measure_ranges,
    weight_ranges,
)
from alphazero.network.resnet import (
    ConvNorm,
    GlobalPooling,
    ResidualBlock,
    ResNet,
    SqueezeExcitation,
    check_observations,
)
from alphazero.utils.arrays import Float32Array

_PRECISIONS = {"float32": "f32", "bfloat16": "bf16"}


def openvino_is_installed() -> bool:
    """Whether OpenVINO can be imported."""
    return find_spec("openvino") is not None


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
        return logits, values[:, 0]


class OpenVINOEvaluator(BatchedEvaluator):
    """Evaluates positions by OpenVINO on the CPU.

    Each thread computes alone, on one core. Each batch size is compiled once for each concurrent
    thread, in a few hundredths of a second.
    """

    device = "cpu"

    def __init__(self, network: ResNet, precision: str = "auto") -> None:
        if not openvino_is_installed():
            raise ConfigError("OpenVINO is not installed; pip install 'alphazero[openvino]'")
        super().__init__(network)
        self.precision = resolve_precision(precision, "cpu")
        self._network.to("cpu")
        self._hint = _PRECISIONS[self.precision]
        """the precision of layers that are not int8"""
        self._ranges: Ranges = {}

    def quantized(self, observations: Float32Array) -> Self:
        """Return an evaluator of the same network that computes its tower in int8.

        `observations`: float32 [B, C, H, W], B above 0, typical ones: they set the ranges of the
        rounded layers. Stem, sums and heads stay in `precision`.
        """
        check_observations(observations, self.observation_shape)
        twin = copy.copy(self)
        twin.precision = f"int8 and {self.precision}"
        twin._ranges = measure_ranges(self._network, observations)
        twin._idle = defaultdict(list)
        return twin

    def _make_runner(self, size: int) -> OpenVINORunner:
        return OpenVINORunner(_graph(self._network, size, self._ranges), self._hint)


@functools.cache
def _core() -> Any:
    import openvino

    return openvino.Core()


def _graph(network: ResNet, size: int, ranges: Ranges) -> Any:
    """Return a folded ResNet as an OpenVINO model of fixed batch size.

    The twin of `ResNet.forward`, layer by layer; a test compares their outputs. Convolutions in
    `ranges` round their inputs and weights; OpenVINO compiles these to int8 kernels.
    """
    import openvino
    from openvino import opset13 as ops

    over_board = np.array([2, 3])

    def constant(tensor: Tensor) -> Any:
        return ops.constant(tensor.detach().float().numpy())

    def quantize(numbers: Any, greatest: Tensor, signed: bool) -> Any:
        high = constant(greatest)
        low = constant(-greatest if signed else torch.zeros_like(greatest))
        levels = SIGNED_LEVELS if signed else UNSIGNED_LEVELS
        return ops.fake_quantize(numbers, low, high, low, high, levels)

    def convolve(features: Any, layer: ConvNorm) -> Any:
        convolution = layer.convolution
        padding = list(cast(tuple[int, int], convolution.padding))
        bias = cast(Tensor, convolution.bias).reshape(1, -1, 1, 1)
        weight = constant(convolution.weight)
        if layer in ranges:
            # The skip around the block uses the unrounded `features`: rounding them too is no
            # faster and doubles the distance to the exact outputs, because the errors add up.
            features = quantize(features, ranges[layer], signed=False)
            weight = quantize(weight, weight_ranges(convolution.weight), signed=True)
        convolved = ops.convolution(features, weight, [1, 1], padding, padding, [1, 1])
        return ops.add(convolved, constant(bias))

    def dense(features: Any, layer: nn.Linear) -> Any:
        product = ops.matmul(features, constant(layer.weight), False, True)
        return ops.add(product, constant(layer.bias.reshape(1, -1)))

    def of_each_filter(numbers: Any) -> Any:
        return ops.reshape(numbers, np.array([size, -1, 1, 1]), False)

    def excite(features: Any, layer: SqueezeExcitation) -> Any:
        hidden = ops.relu(dense(ops.reduce_mean(features, over_board, False), layer.squeeze))
        return ops.multiply(features, of_each_filter(ops.sigmoid(dense(hidden, layer.excite))))

    def pool(features: Any, layer: GlobalPooling) -> Any:
        lengths = np.array([layer.dense.out_features, layer.pooled])
        shifted, last = ops.variadic_split(features, 1, lengths).outputs()
        pooled = ops.relu(last)
        means, maxima = (
            each(pooled, over_board, False) for each in (ops.reduce_mean, ops.reduce_max)
        )
        return ops.add(shifted, of_each_filter(dense(ops.concat([means, maxima], 1), layer.dense)))

    def residual(features: Any, block: ResidualBlock) -> Any:
        inner = convolve(features, block.first)
        if block.pooling is not None:
            inner = pool(inner, block.pooling)
        change = convolve(ops.relu(inner), block.second)
        if block.excitation is not None:
            change = excite(change, block.excitation)
        return ops.relu(ops.add(change, features))

    def head(layer: ConvNorm) -> Any:
        return ops.reshape(ops.relu(convolve(trunk, layer)), np.array([size, -1]), False)

    def value_of_output(output: Any) -> Any:
        if network.settings.value_head == "scalar":
            return ops.tanh(output)
        win_less_loss = np.array([[1], [0], [-1]], np.float32)
        return ops.matmul(ops.softmax(output, 1), ops.constant(win_less_loss), False, False)

    observations = ops.parameter([size, *network.observation_shape], np.float32)
    trunk = ops.relu(convolve(observations, network.stem))
    for block in network.tower:
        assert isinstance(block, ResidualBlock)
        trunk = residual(trunk, block)
    logits = dense(head(network.policy_features), network.policy_output)
    hidden = ops.relu(dense(head(network.value_features), network.value_hidden))
    values = value_of_output(dense(hidden, network.value_output))
    return openvino.Model([logits, values], [observations], "alphazero")
