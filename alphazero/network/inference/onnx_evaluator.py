"""The network as an ONNX model: for ONNX Runtime on CPUs without OpenVINO, and for other programs.

Shapes: B positions, C planes, H rows, W columns, A actions, F filters.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from torch import Tensor

from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.network.inference.graph import build_graph
from alphazero.network.inference.quantization import (
    SIGNED_LEVELS,
    UNSIGNED_LEVELS,
    Ranges,
    weight_ranges,
)
from alphazero.network.resnet import ResNet
from alphazero.utils.arrays import Float32Array

OPSET: Final = 19
IR_VERSION: Final = 9
"""The format of opset 19: runtimes since 2023 read it."""

INPUT, LOGITS, VALUES = "observations", "policy_logits", "values"
"""Names of the input and the outputs."""
BATCH: Final = "batch"
"""Name of the free dimension B."""


class OnnxOps:
    """The operations of ONNX, for `build_graph`; parts of the graph are names."""

    def __init__(self) -> None:
        from onnx import helper

        self._make_node = helper.make_node
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def _node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> list[str]:
        names = [f"{kind}_{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(self._make_node(kind, inputs, names, **attributes))
        return names

    def one(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operation with one output; return its name."""
        (name,) = self._node(kind, *inputs, **attributes)
        return name

    def constant(self, numbers: npt.NDArray[Any] | np.generic) -> str:
        """Add a constant; return its name."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(numbers, order="C"), name))
        return name

    def _weight(self, tensor: Tensor) -> str:
        return self.constant(tensor.detach().float().numpy())

    def _shape(self, *lengths: int) -> str:
        return self.constant(np.array(lengths, np.int64))

    def _rounded_input(self, features: str, greatest: Tensor) -> str:
        scale = self._weight(greatest.reshape(()) / (UNSIGNED_LEVELS - 1))
        levels = scale, self.constant(np.uint8(0))
        return self.one("DequantizeLinear", self.one("QuantizeLinear", features, *levels), *levels)

    def _rounded_weight(self, weight: Tensor) -> str:
        scales = weight_ranges(weight) / (SIGNED_LEVELS // 2)
        rounded = self.constant((weight / scales).round().to("cpu").numpy().astype(np.int8))
        zeros = self.constant(np.zeros(len(weight), np.int8))
        return self.one("DequantizeLinear", rounded, self._weight(scales.flatten()), zeros, axis=0)

    def convolve(
        self, features: str, weight: Tensor, bias: Tensor, greatest: Tensor | None = None
    ) -> str:
        kernel = self._weight(weight) if greatest is None else self._rounded_weight(weight)
        if greatest is not None:
            features = self._rounded_input(features, greatest)
        size = weight.shape[2]
        return self.one(
            *("Conv", features, kernel, self._weight(bias)),
            kernel_shape=[size, size],
            pads=[size // 2] * 4,
        )

    def dense(self, features: str, weight: Tensor, bias: Tensor) -> str:
        return self.one("Gemm", features, self._weight(weight), self._weight(bias), transB=1)

    def relu(self, numbers: str) -> str:
        return self.one("Relu", numbers)

    def tanh(self, numbers: str) -> str:
        return self.one("Tanh", numbers)

    def add(self, one: str, other: str) -> str:
        return self.one("Add", one, other)

    def scale(self, numbers: str, factor: float) -> str:
        return self.one("Mul", numbers, self.constant(np.float32(factor)))

    def means(self, features: str) -> str:
        return self.flat(self.one("GlobalAveragePool", features))

    def maxima(self, features: str) -> str:
        return self.flat(self.one("GlobalMaxPool", features))

    def join(self, parts: Sequence[str]) -> str:
        return self.one("Concat", *parts, axis=1)

    def split(self, features: str, lengths: tuple[int, int]) -> tuple[str, str]:
        first, second = self._node("Split", features, self._shape(*lengths), outputs=2, axis=1)
        return first, second

    def flat(self, features: str) -> str:
        return self.one("Flatten", features)

    def of_each_filter(self, numbers: str) -> str:
        return self.one("Reshape", numbers, self._shape(0, -1, 1, 1))


def onnx_bytes(
    network: ResNet, ranges: Ranges | None = None, metadata: Mapping[str, str] | None = None
) -> bytes:
    """Return a folded network as a checked ONNX model of any batch size B.

    It maps `observations` float32 [B, C, H, W] to `policy_logits` float32 [B, A] and `values`
    float32 [B], both for the player to move. Convolutions in `ranges` are int8, as pairs of
    QuantizeLinear and DequantizeLinear. `metadata` goes into the file as it is.
    """
    import onnx
    from onnx import TensorProto, helper

    def described(name: str, shape: Sequence[int], meaning: str) -> Any:
        dimensions = [BATCH, *shape]
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, dimensions, meaning)

    ops = OnnxOps()
    logits, values = build_graph(network, ops, INPUT, ranges or {})
    ops.nodes.append(helper.make_node("Identity", [logits], [LOGITS]))
    ops.nodes.append(helper.make_node("Reshape", [values, ops._shape(-1)], [VALUES]))
    graph = helper.make_graph(
        ops.nodes,
        "alphazero",
        [described(INPUT, network.observation_shape, "planes seen by the player to move")],
        [
            described(LOGITS, [network.num_actions], "before softmax, illegal moves included"),
            described(VALUES, [], "expected outcome from -1 to 1, for the player to move"),
        ],
        ops.constants,
    )
    model = helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="alphazero",
    )
    helper.set_model_props(model, dict(metadata or {}))
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString())


def open_session(model: bytes) -> Any:
    """Return an ONNX Runtime session that computes in the calling thread alone."""
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 3  # errors
    return onnxruntime.InferenceSession(model, settings, providers=["CPUExecutionProvider"])


class OnnxRunner:
    """The network for batches of one size, run by ONNX Runtime."""

    def __init__(self, session: Any, size: int, shape: tuple[int, int, int]) -> None:
        self._session = session
        self._input = np.zeros((size, *shape), np.float32)

    def run(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        positions = len(observations)
        self._input[:positions] = observations  # the padding keeps its old contents
        logits, values = self._session.run([LOGITS, VALUES], {INPUT: self._input})
        return logits[:positions], values[:positions]


class OnnxEvaluator(BatchedEvaluator):
    """Evaluates positions by ONNX Runtime on the CPU, in float32.

    Each thread computes alone, on one core. All batch sizes and threads share one session.
    """

    device = "cpu"
    precision = "float32"

    def __init__(self, network: ResNet) -> None:
        super().__init__(network)
        self._network.to("cpu")
        self._session = open_session(onnx_bytes(self._network))

    def _make_runner(self, size: int) -> OnnxRunner:
        return OnnxRunner(self._session, size, self.observation_shape)
