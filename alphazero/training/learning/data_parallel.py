"""Data-parallel learning: several processes, one GPU each, share every optimizer step.

`torchrun --nproc-per-node N -m alphazero train ...` starts N equal processes. Rank 0 is the leader:
it trains like a single process, but cuts each batch into N parts. The followers do the same steps
on their parts. All have the same weights, because the gradients are averaged before each step, and
normalisation takes its mean and variance over the whole batch. So N processes compute what one
does, except for rounding.

Letters: b positions of one process's part, [F, H, W] features.
"""

import atexit
import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, cast

import torch
from torch import Tensor, distributed, nn

from alphazero.config.schema import InferenceConfig, LearnerConfig
from alphazero.errors import RunError
from alphazero.network.resnet import ResNet
from alphazero.training.data.auxiliary_targets import target_shapes
from alphazero.training.data.batch import Batch
from alphazero.training.learning.learner import Learner
from alphazero.training.run_directory import RunDirectory
from alphazero.utils.arrays import Float32Array

BARRIER_TIMEOUT: Final = timedelta(days=7)
"""Longest wait of a follower for the next step, while the leader plays; torchrun ends orphans."""

_STEP, _STOP = 1, 0


@contextlib.contextmanager
def _ending_together() -> Iterator[None]:
    """Raise RunError when another process has ended, so that this one ends with one line."""
    try:
        yield
    except RuntimeError as error:
        if "gloo" not in str(error):  # it names its own sources
            raise
        raise RunError(
            "another process of torchrun has ended, so the run stops; the last saved iteration is "
            "whole, resume it afterwards"
        ) from error


class Group:
    """The processes of a `torchrun`."""

    def __init__(self) -> None:
        self.rank, self.size = distributed.get_rank(), distributed.get_world_size()
        self._following = False
        """Leader: whether the followers have loaded the published state."""

    def check(self, batch_size: int) -> None:
        """Raise RunError unless a batch can be cut into equal parts."""
        if batch_size % self.size:
            raise RunError(
                f"learner.batch_size ({batch_size}) must be a multiple of {self.size}, the number "
                "of processes that learn"
            )

    def scatter(self, batch: Batch[Float32Array]) -> Batch[Float32Array]:
        """Leader: send every process its part of a batch; return the leader's own."""
        self._announce(_STEP)
        parts = []
        for array in batch.arrays():
            pieces = list(torch.from_numpy(array).chunk(self.size))
            part = torch.empty_like(pieces[0])
            distributed.scatter(part, pieces, src=0)
            parts.append(part.numpy())
        return Batch.of_arrays(parts, batch.auxiliary)

    def receive(self, batch_size: int, network: ResNet) -> Batch[Float32Array] | None:
        """Follower: return this process's part of the network's next batch; None: no more."""
        order = torch.zeros((), dtype=torch.int64)
        distributed.broadcast(order, src=0)
        if order == _STOP:
            return None
        observation, heads = network.observation_shape, network.settings.auxiliary
        rows = batch_size // self.size
        parts = [torch.empty(rows, *one) for one in (observation, (network.num_actions,), ())]
        for shape in target_shapes(heads, observation).values():
            parts += [torch.empty(rows, *shape), torch.empty(rows)]
        for part in parts:
            distributed.scatter(part, src=0)
        return Batch.of_arrays([part.numpy() for part in parts], heads)

    def shutdown(self) -> None:
        """Leader: end the followers."""
        self._announce(_STOP)

    def average(self, tensors: Iterable[Tensor]) -> None:
        """Replace tensors, in place, by their means over all processes."""
        tensors = list(tensors)
        joined = torch.cat([tensor.reshape(-1).float() for tensor in tensors])
        distributed.all_reduce(joined)
        joined /= self.size
        means = torch.split(joined, [tensor.numel() for tensor in tensors])
        for tensor, mean in zip(tensors, means, strict=True):
            tensor.copy_(mean.view(tensor.shape))

    @_ending_together()
    def follow(self, folder: Path) -> None:
        """Follower: do the learner's steps in the run in `folder`, until the leader ends."""
        distributed.barrier()  # the leader has published
        run = RunDirectory.resume(folder)
        learner = self.learner(run)
        learner.restore(run.load_learner(), run.state.step)
        distributed.barrier()  # the followers have loaded it
        try:
            learner.run_follower()
        except RunError:  # the leader raises the same error and reports it
            raise SystemExit(2) from None
        distributed.barrier()  # as in `leading`

    def learner(self, run: RunDirectory) -> "SharedLearner":
        """Return this process's learner of a run."""
        return SharedLearner(run.new_network(), run.config.learner, run.config.inference, self)

    @contextlib.contextmanager
    def leading(self) -> Iterator[None]:
        """Leader: end the followers after this block; where it fails, they lose the connection."""
        with _ending_together():
            yield
            self.shutdown()
            distributed.barrier()  # gloo aborts a process that is left behind in its last call

    def _announce(self, order: int) -> None:
        if not self._following:
            distributed.barrier()  # the run is published
            distributed.barrier()  # the followers have loaded it
            self._following = True
        distributed.broadcast(torch.tensor(order), src=0)


class SharedLearner(Learner):
    """A learner whose steps are those of all processes; each has one, for its part of a batch."""

    records = False  # the pass waits for the other processes, which cannot be recorded

    def __init__(
        self, network: ResNet, settings: LearnerConfig, inference: InferenceConfig, group: Group
    ) -> None:
        group.check(settings.batch_size)
        share_normalisation(network)
        super().__init__(network, settings, inference)
        self._group = group

    def run_follower(self) -> None:
        """Do the leader's steps on this process's parts, until it ends."""
        while part := self._group.receive(self.settings.batch_size, self.network):
            super()._step_on(part)

    def _step_on(self, batch: Batch[Float32Array]) -> dict[str, Tensor]:
        return super()._step_on(self._group.scatter(batch))

    def _share(self, gradients: Sequence[Tensor | None], metrics: Tensor) -> None:
        self._group.average(
            [*(gradient for gradient in gradients if gradient is not None), metrics]
        )


def join_group() -> Group:
    """Return the group of `torchrun` that this process was started in."""
    if not distributed.is_initialized():
        backend = "gloo"
        if torch.cuda.is_available():
            # "cuda" means this process's own GPU.
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
            backend = "cpu:gloo,cuda:nccl"
        distributed.init_process_group(backend, timeout=BARRIER_TIMEOUT)
        atexit.register(distributed.destroy_process_group)  # else its threads may abort the exit
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
