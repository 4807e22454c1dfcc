"""The loss that a step differentiates: one pass through the network and all its heads.

On a GPU of NVIDIA or AMD the pass and its gradient are recorded as CUDA graphs: launching their
hundreds of small kernels one by one would take longer than running them.
"""

import copy
from collections.abc import Callable
from typing import TypeAlias, cast

import torch
from torch import Tensor, nn

from alphazero.config.schema import LearnerConfig
from alphazero.network.resnet import ResNet
from alphazero.training.data.batch import Batch
from alphazero.training.learning.losses import training_loss

LossFunction: TypeAlias = Callable[..., tuple[Tensor, Tensor]]


class Objective(nn.Module):
    """The loss of a batch, and its metrics.

    `records`: whether a GPU may record it. If recording fails, it runs eagerly.
    """

    def __init__(
        self, network: ResNet, settings: LearnerConfig, bfloat16: bool, records: bool
    ) -> None:
        super().__init__()
        self.network, self.settings, self.in_bfloat16 = network, settings, bfloat16
        self.metric_names: list[str] = []
        """names of the metrics, those of `training_loss`; known after the first call"""
        self._records = records and next(network.parameters()).is_cuda
        self._recorded: dict[torch.Size, LossFunction] = {}
        """by the shape of the observations"""

    def forward(self, observations: Tensor, *targets: Tensor) -> tuple[Tensor, Tensor]:
        # Each weight is used once, so a cache of its casts would gain nothing; graphs forbid it.
        kind, enabled = observations.device.type, self.in_bfloat16
        with torch.autocast(kind, torch.bfloat16, enabled=enabled, cache_enabled=False):
            outputs = self.network.forward_full(observations)
        batch = Batch.of_arrays([observations, *targets], self.network.settings.auxiliary)
        loss, metrics = training_loss(outputs, batch, self.network.parameters(), self.settings)
        self.metric_names[:] = metrics
        return loss, torch.stack([*metrics.values()])

    def compute(self, *arrays: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss and its metrics [n], detached, of the arrays of a `Batch`.

        The observations are channels-last, and the network is in training mode. The loss is valid
        until the next call.
        """
        shape = arrays[0].shape
        if self._records and shape not in self._recorded:
            try:
                # A copy, because torch replaces the module's `forward`.
                self._recorded[shape] = _record(copy.copy(self), arrays)
            except RuntimeError as error:
                self._records = False
                self._recorded.clear()
                message = str(error).partition("\n")[0]
                print(f"CUDA graphs cannot be used ({message}); learning will be slower")
        if not self._records:
            return self.forward(*arrays)
        loss, metrics = self._recorded[shape](*arrays)
        return loss, metrics.detach().clone()  # the next call writes into the same memory


def _record(module: nn.Module, arrays: tuple[Tensor, ...]) -> LossFunction:
    """Return the module's function as CUDA graphs for arrays of these shapes.

    Recording runs it a few times, which must not count in the statistics of normalisation. No
    other thread may use the GPU meanwhile.
    """
    if hasattr(torch.autograd.graph, "set_warn_on_accumulate_grad_stream_mismatch"):
        # Replays run on another stream than the recording did; newer torch warns of that.
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    before = {name: buffer.clone() for name, buffer in module.named_buffers()}
    examples = tuple(torch.clone(array) for array in arrays)
    try:
        with torch.cuda.device(arrays[0].device):
            return cast(LossFunction, torch.cuda.make_graphed_callables(module, examples))
    finally:
        for name, tensor in module.named_buffers():
            tensor.copy_(before[name])
