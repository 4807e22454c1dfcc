"""Data-parallel learning: several processes, one GPU each, share every optimizer step.

`torchrun --nproc-per-node N -m alphazero train ...` starts N equal processes. Rank 0 is the leader:
it trains like a single process, but cuts each batch into N parts. The followers do the same steps
on their parts. All have the same weights, because the gradients are averaged before each step, and
normalisation takes its mean and variance over the whole batch. So N processes compute what one
does, except for rounding.

Letters: b positions of one process's part, [C, H, W] observation, A actions, F filters.
"""

import os
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any, Final, cast

import torch
from torch import Tensor, distributed, nn

from alphazero.errors import RunError
from alphazero.training.data.auxiliary_targets import target_shapes
from alphazero.training.data.replay_buffer import Batch

BARRIER_TIMEOUT: Final = timedelta(days=7)
"""Longest wait of a follower for the next step, while the leader plays; torchrun ends orphans."""

_STEP, _STOP = 1, 0


class Group:
    """The processes of a `torchrun`."""

    def __init__(self) -> None:
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()

    def check(self, batch_size: int) -> None:
        """Raise RunError unless a batch can be cut into equal parts."""
        if batch_size % self.size:
            raise RunError(
                f"learner.batch_size ({batch_size}) must be a multiple of {self.size}, the number "
                "of processes that learn"
            )

    def barrier(self) -> None:
        distributed.barrier()

    def scatter(self, batch: Batch) -> Batch:
        """Leader: send every process its part of a batch; return the leader's own."""
        self._announce(_STEP, batch)
        parts = []
        for array in batch.arrays():
            pieces = list(torch.from_numpy(array).chunk(self.size))
            part = torch.empty_like(pieces[0])
            distributed.scatter(part, pieces, src=0)
            parts.append(part.numpy())
        return Batch.of_arrays(parts, batch.auxiliary)

    def receive(self, batch_size: int, planes: int, heads: Sequence[str] = ()) -> Batch | None:
        """Follower: return this process's part of the next batch, with targets for `heads`.

        None: there are no more batches.
        """
        message = torch.zeros(4, dtype=torch.int64)
        distributed.broadcast(message, src=0)
        order, height, width, actions = message.tolist()
        if order == _STOP:
            return None
        observation = planes, height, width
        rows = batch_size // self.size
        parts = [torch.empty(rows, *observation), torch.empty(rows, actions), torch.empty(rows)]
        for shape in target_shapes(heads, observation).values():
            parts += [torch.empty(rows, *shape), torch.empty(rows)]
        for part in parts:
            distributed.scatter(part, src=0)
        return Batch.of_arrays([part.numpy() for part in parts], heads)

    def shutdown(self) -> None:
        """Leader: end the followers."""
        self._announce(_STOP)

    def sync_followers(self) -> None:
        """Leader: wait until the followers have loaded the published state."""
        self.barrier()
        self.barrier()

    def average(self, tensors: Iterable[Tensor]) -> None:
        """Replace tensors, in place, by their means over all processes."""
        tensors = list(tensors)
        joined = torch.cat([each.reshape(-1).float() for each in tensors])
        distributed.all_reduce(joined)
        joined /= self.size
        means = torch.split(joined, [tensor.numel() for tensor in tensors])
        for tensor, mean in zip(tensors, means, strict=True):
            tensor.copy_(mean.view(tensor.shape))

    def _announce(self, order: int, batch: Batch | None = None) -> None:
        """Send an order; a step's order includes the rows, columns and actions of its board."""
        shape = (0, 0, 0)
        if batch is not None:
            shape = (*batch.observations.shape[2:], batch.policies.shape[1])
        distributed.broadcast(torch.tensor([order, *shape]), src=0)


def init_process_group() -> Group | None:
    """Return the group that this process was started in; None if it is alone."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return None
    if not distributed.is_initialized():
        backend = "gloo"
        if torch.cuda.is_available():
            # "cuda" means this process's own GPU.
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
            backend = "cpu:gloo,cuda:nccl"
        distributed.init_process_group(backend, timeout=BARRIER_TIMEOUT)
    return Group()


class _Sum(torch.autograd.Function):
    """Sums a tensor over all processes; its gradient is the sum of their gradients."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:  # noqa: ARG004  (torch passes it)
        total = tensor.clone()
        distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:  # noqa: ARG004
        total = gradients[0].clone()
        distributed.all_reduce(total)
        return total


def _sum(tensor: Tensor) -> Tensor:
    return cast(Tensor, _Sum.apply(tensor))  # type: ignore[no-untyped-call]


class SharedNormalisation(nn.BatchNorm2d):
    """Batch normalisation over all processes; unlike `SyncBatchNorm` it also runs on CPUs."""

    def forward(self, features: Tensor) -> Tensor:
        """Map features [b, F, H, W] to the same shape."""
        if not self.training:
            return super().forward(features)
        wide = features.float()
        count = distributed.get_world_size() * wide.numel() // self.num_features
        mean = _sum(wide.sum((0, 2, 3))) / count
        centred = wide - mean[:, None, None]
        variance = _sum((centred * centred).sum((0, 2, 3))) / count
        with torch.no_grad():
            assert self.running_mean is not None
            assert self.running_var is not None
            assert self.num_batches_tracked is not None
            assert self.momentum is not None
            self.running_mean.lerp_(mean.detach(), self.momentum)
            unbiased = variance.detach() * (count / max(count - 1, 1))
            self.running_var.lerp_(unbiased, self.momentum)
            self.num_batches_tracked.add_(1)
        scale = self.weight * torch.rsqrt(variance + self.eps)
        normalised = centred * scale[:, None, None] + self.bias[:, None, None]
        return normalised.to(features.dtype)


def share_normalisation(network: nn.Module) -> None:
    """Share each batch normalisation of `network`; its tensors and their names stay the same."""
    for module in list(network.modules()):
        for name, child in list(module.named_children()):
            if type(child) is nn.BatchNorm2d:
                shared = SharedNormalisation(child.num_features, child.eps, child.momentum)
                shared.weight, shared.bias = child.weight, child.bias
                shared.running_mean, shared.running_var = child.running_mean, child.running_var
                shared.num_batches_tracked = child.num_batches_tracked
                setattr(module, name, shared)
