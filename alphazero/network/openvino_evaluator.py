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
from alphazero.network.heads import ConvolutionalPolicy, scale_of_board
from alphazero.network.inference import BatchedEvaluator, resolve_precision
from alphazero.network.layers import ConvNorm
from alphazero.network.quantization import (
    SIGNED_LEVELS,
    UNSIGNED_LEVELS,
    Ranges,
    measure_ranges,
    weight_ranges,
)
from alphazero.network.resnet import (
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


@functools.cache
def _ops() -> Any:
    from openvino import opset13

    return opset13


_OVER_BOARD = np.array([2, 3])


def _constant(tensor: Tensor) -> Any:
    return _ops().constant(tensor.detach().float().numpy())


def _dense(features: Any, layer: nn.Linear) -> Any:
    ops = _ops()
    product = ops.matmul(features, _constant(layer.weight), False, True)
    return ops.add(product, _constant(layer.bias.reshape(1, -1)))


def _flat(features: Any) -> Any:
    """Reshape [B, F, H, W] to [B, F H W]."""
    return _ops().reshape(features, np.array([0, -1]), True)


def _of_each_filter(numbers: Any) -> Any:
    """Reshape [B, F] to [B, F, 1, 1]."""
    return _ops().reshape(numbers, np.array([0, -1, 1, 1]), True)


def _graph(network: ResNet, size: int, ranges: Ranges) -> Any:
    """Return a folded ResNet as an OpenVINO model of fixed batch size.

    The twin of `ResNet.forward`, layer by layer; a test compares their outputs. Convolutions in
    `ranges` round their inputs and weights; OpenVINO compiles these to int8 kernels.
    """
    import openvino

    ops = _ops()

    def quantize(numbers: Any, greatest: Tensor, signed: bool) -> Any:
        high = _constant(greatest)
        low = _constant(-greatest if signed else torch.zeros_like(greatest))
        levels = SIGNED_LEVELS if signed else UNSIGNED_LEVELS
        return ops.fake_quantize(numbers, low, high, low, high, levels)

    def convolve(features: Any, layer: ConvNorm) -> Any:
        convolution = layer.convolution
        padding = list(cast(tuple[int, int], convolution.padding))
        bias = cast(Tensor, convolution.bias).reshape(1, -1, 1, 1)
        weight = _constant(convolution.weight)
        if layer in ranges:
            # The skip around the block uses the unrounded `features`: rounding them too is no
            # faster and doubles the distance to the exact outputs, because the errors add up.
            features = quantize(features, ranges[layer], signed=False)
            weight = quantize(weight, weight_ranges(convolution.weight), signed=True)
        convolved = ops.convolution(features, weight, [1, 1], padding, padding, [1, 1])
        return ops.add(convolved, _constant(bias))

    def excite(features: Any, layer: SqueezeExcitation) -> Any:
        hidden = ops.relu(_dense(ops.reduce_mean(features, _OVER_BOARD, False), layer.squeeze))
        return ops.multiply(features, _of_each_filter(ops.sigmoid(_dense(hidden, layer.excite))))

    def pool(features: Any, layer: GlobalPooling) -> Any:
        lengths = np.array([layer.dense.out_features, layer.pooled])
        shifted, last = ops.variadic_split(features, 1, lengths).outputs()
        pooled = ops.relu(last)
        means, maxima = (
            each(pooled, _OVER_BOARD, False) for each in (ops.reduce_mean, ops.reduce_max)
        )
        shifts = _dense(ops.concat([means, maxima], 1), layer.dense)
        return ops.add(shifted, _of_each_filter(shifts))

    def residual(features: Any, block: ResidualBlock) -> Any:
        inner = convolve(features, block.first)
        if block.pooling is not None:
            inner = pool(inner, block.pooling)
        change = convolve(ops.relu(inner), block.second)
        if block.excitation is not None:
            change = excite(change, block.excitation)
        return ops.relu(ops.add(change, features))

    observations = ops.parameter([size, *network.observation_shape], np.float32)
    trunk = ops.relu(convolve(observations, network.stem))
    for block in network.tower:
        assert isinstance(block, ResidualBlock)
        trunk = residual(trunk, block)
    logits = _policy(network, convolve(trunk, network.policy_features))
    values = _value(network, ops.relu(convolve(trunk, network.value_features)))
    return openvino.Model([logits, values], [observations], "alphazero")


def _pool_board(network: ResNet, features: Any) -> Any:
    """The twin of `heads.pool_board`."""
    ops, scale = _ops(), np.float32(scale_of_board(*network.observation_shape[1:]))
    means = ops.reduce_mean(features, _OVER_BOARD, False)
    maxima = ops.reduce_max(features, _OVER_BOARD, False)
    return ops.concat([means, ops.multiply(means, ops.constant(scale)), maxima], 1)


def _policy(network: ResNet, features: Any) -> Any:
    """The logits of the normalised features of the policy head."""
    ops, head = _ops(), network.policy_output
    if not isinstance(head, ConvolutionalPolicy):
        return _dense(_flat(ops.relu(features)), cast(nn.Linear, head))
    lengths = np.array([head.filters, head.filters])
    local, pooled = ops.variadic_split(features, 1, lengths).outputs()
    summary = _pool_board(network, ops.relu(pooled))
    local = ops.relu(ops.add(local, _of_each_filter(_dense(summary, head.bias))))
    kernel = _constant(head.planes.weight[:, :, None, None])
    planes = ops.convolution(local, kernel, [1, 1], [0, 0], [0, 0], [1, 1])
    logits = _flat(ops.add(planes, _constant(head.planes.bias.reshape(1, -1, 1, 1))))
    return logits if head.others is None else ops.concat([logits, _dense(summary, head.others)], 1)


def _value(network: ResNet, features: Any) -> Any:
    """The values [B, 1] of the features of the value head."""
    ops, settings = _ops(), network.settings
    pools = settings.heads == "convolutional"
    inputs = _pool_board(network, features) if pools else _flat(features)
    output = _dense(ops.relu(_dense(inputs, network.value_hidden)), network.value_output)
    if settings.value_head == "scalar":
        return ops.tanh(output)
    win_less_loss = np.array([[1], [0], [-1]], np.float32)
    return ops.matmul(ops.softmax(output, 1), ops.constant(win_less_loss), False, False)
