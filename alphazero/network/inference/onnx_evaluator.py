"""The network as an ONNX model: for ONNX Runtime on CPUs without OpenVINO, and for other programs.

Shapes: B positions, C planes, H rows, W columns, A actions, F filters.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from torch import Tensor

from alphazero.network.inference.batched_evaluator import BatchedEvaluator, Runner
from alphazero.network.inference.graph import GraphBuilder
from alphazero.network.resnet import ResNet
from alphazero.utils.arrays import Float32Array

OPSET: Final = 19
IR_VERSION: Final = 9
"""The format of opset 19: runtimes since 2023 read it."""

INPUT, LOGITS, VALUES = "observations", "policy_logits", "values"
"""Names of the input and the outputs."""
BATCH: Final = "batch"
"""Name of the free dimension B."""


class OnnxGraph(GraphBuilder):
    """Builds a graph of ONNX, whose parts are names."""

    def __init__(self) -> None:
        from onnx import helper

        super().__init__()
        self._make_node = helper.make_node
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add_node(self, kind: str, *inputs: str, outputs: int = 1, **attributes: Any) -> Any:
        """Add an operation; return the name of its output, or a list of the names of several."""
        names = [f"{kind}_{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(self._make_node(kind, inputs, names, **attributes))
        return names if outputs > 1 else names[0]

    def constant(self, numbers: npt.NDArray[Any] | np.generic) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(numbers, order="C"), name))
        return name

    def _weight(self, tensor: Tensor) -> str:
        return self.constant(tensor.detach().float().numpy())

    def _lengths(self, *lengths: int) -> str:
        return self.constant(np.array(lengths, np.int64))

    def conv2d(self, features: str, weight: Tensor, bias: Tensor, *_: Any) -> Any:
        size = weight.shape[2]
        pads = [size // 2] * 4
        inputs = features, self._weight(weight), self._weight(bias)
        return self.add_node("Conv", *inputs, kernel_shape=[size, size], pads=pads)

    def linear(self, features: str, weight: Tensor, bias: Tensor) -> Any:
        return self.add_node("Gemm", features, self._weight(weight), self._weight(bias), transB=1)

    def relu(self, numbers: str, **_: bool) -> Any:
        return self.add_node("Relu", numbers)

    def tanh(self, numbers: str) -> Any:
        return self.add_node("Tanh", numbers)

    def add(self, numbers: str, others: str) -> Any:
        return self.add_node("Add", numbers, others)

    def mul(self, numbers: str, factor: float) -> Any:
        return self.add_node("Mul", numbers, self.constant(np.float32(factor)))

    def mean(self, features: str, _: Any) -> Any:
        return self.flatten(self.add_node("GlobalAveragePool", features))

    def amax(self, features: str, _: Any) -> Any:
        return self.flatten(self.add_node("GlobalMaxPool", features))

    def cat(self, parts: Sequence[str], axis: int) -> Any:
        return self.add_node("Concat", *parts, axis=axis)

    def split(self, features: str, lengths: Sequence[int], dim: int) -> Any:
        outputs = len(lengths)
        return self.add_node("Split", features, self._lengths(*lengths), outputs=outputs, axis=dim)

    def flatten(self, features: str, axis: int = 1) -> Any:
        return self.add_node("Flatten", features, axis=axis)

    def index_select(self, numbers: str, axis: int, index: Tensor) -> Any:
        return self.add_node("Gather", numbers, self.constant(index.numpy()), axis=axis)

    def getitem(self, numbers: str, _: Any) -> Any:
        """Map [B, F] to [B, F, 1, 1]."""
        return self.add_node("Reshape", numbers, self._lengths(0, -1, 1, 1))


def onnx_bytes(network: ResNet, metadata: Mapping[str, str] | None = None) -> bytes:
    """Return a folded network as a checked ONNX model of any batch size B.

    It maps `observations` float32 [B, C, H, W] to `policy_logits` float32 [B, A] and `values`
    float32 [B], both for the player to move. `metadata` goes into the file as it is.
    """
    import onnx
    from onnx import TensorProto, helper

    def tensor_info(name: str, shape: Sequence[int], meaning: str) -> Any:
        dimensions = [BATCH, *shape]
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, dimensions, meaning)

    graph = OnnxGraph()
    logits, values = graph.build(network, INPUT)
    outputs = [
        tensor_info(LOGITS, [network.num_actions], "before softmax, illegal moves included"),
        tensor_info(VALUES, [], "expected outcome from -1 to 1, for the player to move"),
    ]
    planes = tensor_info(INPUT, network.observation_shape, "planes seen by the player to move")
    graph.nodes.append(helper.make_node("Identity", [logits], [LOGITS]))
    graph.nodes.append(helper.make_node("Reshape", [values, graph._lengths(-1)], [VALUES]))
    model = helper.make_model(
        helper.make_graph(graph.nodes, "alphazero", [planes], outputs, graph.constants),
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

    def _make_runner(self, size: int) -> Runner:
        planes = np.zeros((size, *self.observation_shape), np.float32)

        def run(observations: Float32Array) -> Any:
            planes[: len(observations)] = observations  # the padding keeps its old contents
            return self._session.run([LOGITS, VALUES], {INPUT: planes})

        return run
