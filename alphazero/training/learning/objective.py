"""The loss that a step differentiates: one pass through the network and all its heads.

On a GPU the pass and its gradient are recorded as CUDA graphs: launching their hundreds of small
kernels one by one would take longer than running them.
"""

import contextlib
import copy
from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

import torch
from torch import Tensor, nn

from alphazero.config.schema import LearnerConfig
from alphazero.network.resnet import ResNet
from alphazero.training.learning.losses import auxiliary_losses, losses

Pass: TypeAlias = Callable[..., tuple[Tensor, Tensor]]


class _Pass(nn.Module):
    def __init__(self, network: ResNet, settings: LearnerConfig, bfloat16: bool) -> None:
        super().__init__()
        self.network, self.settings, self.in_bfloat16 = network, settings, bfloat16

    def forward(
        self, observations: Tensor, policies: Tensor, outcomes: Tensor, *others: Tensor
    ) -> tuple[Tensor, Tensor]:
        # Each weight is used once, so a cache of its casts would gain nothing; graphs forbid it.
        kind, enabled = observations.device.type, self.in_bfloat16
        with torch.autocast(kind, torch.bfloat16, enabled=enabled, cache_enabled=False):
            answers = self.network.forward_full(observations)
        parts = losses(answers.policy_logits, answers.values, policies, outcomes)
        pairs = zip(others[::2], others[1::2], strict=True)
        targets = dict(zip(self.network.settings.auxiliary, pairs, strict=True))
        extra = auxiliary_losses(answers.auxiliary, targets)
        loss = with_auxiliary(parts.policy + parts.value, extra, self.settings)
        return loss, torch.stack([*parts, *extra.values()]).detach()


class Objective:
    """The loss of a batch, without the L2 penalty, and its parts.

    `records`: whether a GPU may record it. If recording fails, it runs eagerly.
    """

    def __init__(
        self, network: ResNet, settings: LearnerConfig, bfloat16: bool, records: bool
    ) -> None:
        heads = network.settings.auxiliary
        self.figures = [
            *("policy", "value", "entropy", "error"),
            *(f"{head}_{figure}" for head in heads for figure in ("loss", "known")),
        ]
        """The names of the parts, as in `Losses` and `auxiliary_losses`."""
        self._eager = _Pass(network, settings, bfloat16)
        self._records = records and next(network.parameters()).is_cuda
        self._recorded: dict[torch.Size, Pass] = {}
        """by the shape of the observations, which differs between boards"""

    def __call__(self, *arrays: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss and its parts, detached, of the arrays of a `Batch`.

        The observations are channels-last, and the network is in training mode.
        """
        shape = arrays[0].shape
        if self._records and shape not in self._recorded:
            try:
                self._recorded[shape] = _record(copy.copy(self._eager), arrays)
            except RuntimeError as error:
                self._records = False
                message = str(error).splitlines()[0]
                print(f"CUDA graphs cannot be used ({message}); learning will be slower")
        if not self._records:
            return cast(tuple[Tensor, Tensor], self._eager(*arrays))
        loss, figures = self._recorded[shape](*arrays)
        # The next replay writes into the same memory.
        return loss, figures.detach().clone()


def _record(objective: nn.Module, arrays: tuple[Tensor, ...]) -> Pass:
    """Return the pass as CUDA graphs for arrays of these shapes.

    Recording runs the pass a few times, which must not count in the statistics of normalisation.
    """
    before = {name: each.clone() for name, each in objective.named_buffers()}
    examples = tuple(torch.clone(each) for each in arrays)
    # The pass was recorded on another stream, which newer versions of torch warn of.
    with contextlib.suppress(AttributeError):
        torch.autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(False)
    graphed = torch.cuda.make_graphed_callables(objective, examples)
    for name, each in objective.named_buffers():
        each.copy_(before[name])
    return cast(Pass, graphed)


def with_auxiliary(loss: Tensor, parts: Mapping[str, Tensor], settings: LearnerConfig) -> Tensor:
    """Add the losses of the auxiliary heads among `parts` to a loss, times their weights."""
    for name, part in parts.items():
        if name.endswith("_loss"):
            loss = loss + settings.weight_of(name.removesuffix("_loss")) * part
    return loss
