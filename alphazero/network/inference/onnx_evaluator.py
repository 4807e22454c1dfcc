"""The network on CPUs by ONNX Runtime, for machines without OpenVINO.

Shapes: B positions, C planes, H rows, W columns, A actions.
"""

from typing import Any

import numpy as np

from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.network.inference.onnx_graph import INPUT, LOGITS, VALUES, onnx_bytes, require_onnx
from alphazero.network.resnet import ResNet
from alphazero.utils.arrays import Float32Array


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
        require_onnx()
        super().__init__(network)
        self._network.to("cpu")
        self._session = open_session(onnx_bytes(self._network))

    def _make_runner(self, size: int) -> OnnxRunner:
        return OnnxRunner(self._session, size, self.observation_shape)
