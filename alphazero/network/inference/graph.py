"""The network's forward pass as a graph of another library, such as OpenVINO or ONNX.

`ResNet.forward` runs once, for the shapes alone, and each torch function that it calls adds its
twin to the graph. So the architecture stands in one place. (Tensors without numbers, on "meta",
have shapes too, but load 800 modules of torch, in one second.)

Every iteration of training builds the graph anew, for a new network. Measured with torch 2.13 and
OpenVINO 2026.4, for the players of Connect Four and Go 9 x 9: this takes 0.005 s.
`openvino.convert_model` gives the same bits at the same speed (1.00 and 0.99 times as many
evaluations a second at batch 128), but takes 0.3 to 1 s by `torch.jit.trace`, which is deprecated,
and 3 s by `torch.export`, the first time 9 s. `torch.onnx.export` takes 5 s and keeps rounded
weights in float32; its older form, which is deprecated, takes 0.05 to 0.1 s, in float32. OpenVINO
can read our ONNX model too, but then rounds otherwise in int8.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from alphazero.network.resnet import ResNet

UNCHANGED: Final = ("float", "to", "permute", "squeeze")
"""Functions that add nothing: graphs have one type and one layout, and values [B, 1]."""


class GraphBuilder(TorchFunctionMode):
    """Adds a folded network to a graph; parts of the graph stand for tensors.

    A subclass has a method for each torch function that `ResNet.forward` calls, of the same name
    and arguments, which returns a part. Weights come as tensors.
    """

    def __init__(self) -> None:
        super().__init__()
        self._parts: dict[Tensor, Any] = {}

    def build(self, network: ResNet, observations: Any) -> tuple[Any, Any]:
        """Return the logits [B, A] and values [B, 1] of `observations` [B, C, H, W], all parts."""
        planes = torch.zeros(1, *network.observation_shape)
        self._parts[planes] = observations
        with self:
            logits, values = network(planes)
        return self._parts[logits], self._parts[values]

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Compute the shape of a function's outputs, and add its twin to the graph."""
        name, options = function.__name__.strip("_"), kwargs or {}
        if name == "conv2d":  # the numbers do not count
            outputs: Any = args[0].new_empty(1, len(args[1]), *args[0].shape[2:])
        else:
            outputs = function(*args, **options)
        if name == "get":  # a property, such as `shape`
            return outputs
        features, *rest = map(self._part, args)
        if name == "linear" and args[0].ndim == 4:  # a dense layer at each cell
            name, rest[0] = "conv2d", rest[0][:, :, None, None]
        part = features if name in UNCHANGED else getattr(self, name)(features, *rest, **options)
        if isinstance(outputs, Tensor):
            self._parts[outputs] = part
        else:
            self._parts.update(zip(outputs, part, strict=True))
        return outputs

    def _part(self, item: Any) -> Any:
        if isinstance(item, list):
            return [self._part(element) for element in item]
        return self._parts.get(item, item) if isinstance(item, Tensor) else item
