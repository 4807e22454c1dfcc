"""The network as a graph of another library, layer by layer: the twin of `ResNet.forward`.

`GraphOps` are the operations of a library. OpenVINO and ONNX have one each, and a test compares
the outputs of each graph with those of torch.

It is written by hand because every iteration of training builds it anew, for a new network, and
because ONNX files hold int8 weights. Measured with torch 2.13 and OpenVINO 2026.4, for the players
of Connect Four and Go 9 x 9: this takes 0.01 s. `openvino.convert_model` gives the same bits at the
same speed (1.00 and 0.99 times as many evaluations a second at batch 128), but takes 0.3 to 1 s by
`torch.jit.trace`, which is deprecated, and 3 s by `torch.export`, the first time 9 s.
`torch.onnx.export` takes 5 s and keeps rounded weights in float32. OpenVINO can read our ONNX model
too, but then rounds otherwise in int8.

Shapes: B positions, C planes, H rows, W columns, A actions, F filters.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, cast

from torch import Tensor, nn

from alphazero.network.heads import ConvNorm, ConvolutionalPolicy, scale_of_board
from alphazero.network.inference.quantization import Ranges
from alphazero.network.resnet import GlobalPooling, ResidualBlock, ResNet


class GraphOps(Protocol):
    """The operations of one library; each returns a part of its graph."""

    def convolve(
        self, features: Any, weight: Tensor, bias: Tensor, greatest: Tensor | None = None
    ) -> Any:
        """Convolve [B, ., H, W] by `weight` [F, ., k, k], keeping H and W, and add `bias` [F].

        With `greatest`, the greatest input [1, 1, 1, 1], inputs and weights are rounded to int8.
        """

    def dense(self, features: Any, weight: Tensor, bias: Tensor) -> Any:
        """Multiply [B, inputs] by `weight` [outputs, inputs] and add `bias` [outputs]."""

    def relu(self, numbers: Any) -> Any: ...

    def tanh(self, numbers: Any) -> Any: ...

    def add(self, one: Any, other: Any) -> Any: ...

    def scale(self, numbers: Any, factor: float) -> Any: ...

    def means(self, features: Any) -> Any:
        """Map [B, F, H, W] to [B, F]."""

    def maxima(self, features: Any) -> Any:
        """Map [B, F, H, W] to [B, F]."""

    def join(self, parts: Sequence[Any]) -> Any:
        """Concatenate along axis 1."""

    def split(self, features: Any, lengths: tuple[int, int]) -> tuple[Any, Any]:
        """Split along axis 1."""

    def flat(self, features: Any) -> Any:
        """Reshape [B, F, H, W] to [B, F H W]."""

    def of_each_filter(self, numbers: Any) -> Any:
        """Reshape [B, F] to [B, F, 1, 1]."""


def build_graph(
    network: ResNet, ops: GraphOps, observations: Any, ranges: Ranges
) -> tuple[Any, Any]:
    """Add a folded network to a graph; return its logits [B, A] and values [B, 1].

    `observations` [B, C, H, W] is the graph's input. Convolutions in `ranges` round their inputs
    and weights to int8.
    """
    return _Builder(network, ops, ranges).outputs(observations)


class _Builder(NamedTuple):
    network: ResNet
    ops: GraphOps
    ranges: Ranges

    def outputs(self, observations: Any) -> tuple[Any, Any]:
        network, relu = self.network, self.ops.relu
        trunk = relu(self._convolve(observations, network.stem))
        for block in network.tower:
            trunk = self._residual(trunk, cast(ResidualBlock, block))
        logits = self._policy(self._convolve(trunk, network.policy_features))
        return logits, self._value(relu(self._convolve(trunk, network.value_features)))

    def _convolve(self, features: Any, layer: ConvNorm) -> Any:
        # The skip around a block uses the unrounded features: rounding them too is no faster and
        # doubles the distance to the exact outputs, because the errors add up.
        convolution = layer.convolution
        bias = cast(Tensor, convolution.bias)
        return self.ops.convolve(features, convolution.weight, bias, self.ranges.get(layer))

    def _dense(self, features: Any, layer: nn.Linear) -> Any:
        return self.ops.dense(features, layer.weight, layer.bias)

    def _residual(self, features: Any, block: ResidualBlock) -> Any:
        inner = self._convolve(features, block.first)
        if block.pooling is not None:
            inner = self._pool(inner, block.pooling)
        change = self._convolve(self.ops.relu(inner), block.second)
        return self.ops.relu(self.ops.add(change, features))

    def _pool(self, features: Any, layer: GlobalPooling) -> Any:
        ops, lengths = self.ops, (layer.dense.out_features, layer.pooled)
        shifted, last = ops.split(features, lengths)
        pooled = ops.relu(last)
        shifts = self._dense(ops.join([ops.means(pooled), ops.maxima(pooled)]), layer.dense)
        return ops.add(shifted, ops.of_each_filter(shifts))

    def _pool_board(self, features: Any) -> Any:
        """The twin of `heads.pool_board`."""
        means = self.ops.means(features)
        scaled = self.ops.scale(means, scale_of_board(*self.network.observation_shape[1:]))
        return self.ops.join([means, scaled, self.ops.maxima(features)])

    def _policy(self, features: Any) -> Any:
        """The logits of the normalised features of the policy head."""
        ops, head = self.ops, self.network.policy_output
        if not isinstance(head, ConvolutionalPolicy):
            return self._dense(ops.flat(ops.relu(features)), cast(nn.Linear, head))
        local, pooled = ops.split(features, (head.filters, head.filters))
        summary = self._pool_board(ops.relu(pooled))
        local = ops.relu(ops.add(local, ops.of_each_filter(self._dense(summary, head.bias))))
        kernel = head.planes.weight[:, :, None, None]
        logits = ops.flat(ops.convolve(local, kernel, head.planes.bias))
        return (
            logits if head.others is None else ops.join([logits, self._dense(summary, head.others)])
        )

    def _value(self, features: Any) -> Any:
        """The values [B, 1] of the features of the value head."""
        ops, network = self.ops, self.network
        pools = network.settings.heads == "convolutional"
        inputs = self._pool_board(features) if pools else ops.flat(features)
        hidden = ops.relu(self._dense(inputs, network.value_hidden))
        return ops.tanh(self._dense(hidden, network.value_output))
