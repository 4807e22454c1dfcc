"""The learner: optimizer steps on the loss of AlphaGo Zero."""

import copy
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from alphazero.config.schema import LearnerConfig
from alphazero.errors import RunError
from alphazero.network.inference.devices import resolve_device, resolve_precision
from alphazero.network.resnet import ResNet
from alphazero.training.data.replay_buffer import Batch
from alphazero.training.learning.data_parallel import Group, share_normalisation
from alphazero.training.learning.losses import StepLosses, squared_norm
from alphazero.training.learning.muon import Muon
from alphazero.training.learning.objective import Objective, with_auxiliary

STEP_PASSES = 3
"""Passes of a step over the network: forward, and backward to features and to weights."""


@contextmanager
def _without_denormals() -> Iterator[None]:
    """Flush floats below 1e-38 to zero: dead filters decay into them, and they are slow."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


class StepReport(NamedTuple):
    """Means over the steps of one iteration; NaN when no step was due."""

    steps: int
    total: float
    policy: float
    value: float
    l2: float
    entropy: float
    error: float
    gradient_norm: float
    learning_rate: float
    auxiliary: Mapping[str, float]
    """loss of each auxiliary head, mean over the positions with a known target; NaN for none"""


class Learner:
    """A network and its optimizer; in a `group` each process has one, for its part of the batch."""

    def __init__(
        self,
        network: ResNet,
        settings: LearnerConfig,
        device: str = "auto",
        group: Group | None = None,
    ) -> None:
        self.settings = settings
        self.group = group
        if group is not None:
            group.check(settings.batch_size)
            share_normalisation(network)
        self.device = torch.device(resolve_device(device))
        self.network = network.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.ema_network = copy.deepcopy(network) if settings.ema_decay else network
        """The network that plays: the EMA of the weights, or the network itself."""
        self.step = 0
        bfloat16 = resolve_precision(settings.precision, self.device.type) == "bfloat16"
        # In a group the pass waits for the other processes, which cannot be recorded.
        self._objective = Objective(self.network, settings, bfloat16, records=group is None)
        self._optimizers = self._make_optimizers()

    @property
    def useful_threads(self) -> int:
        """The most cores that make a step faster, as in `ResNet.useful_threads`."""
        threads: int = self.network.useful_threads(self.settings.batch_size, STEP_PASSES)
        return threads

    def _make_optimizers(self) -> list[torch.optim.Optimizer]:
        """Build the configured optimizer; with Muon, AdamW updates the vectors.

        The gradient of c |theta|^2 is 2 c theta, which SGD adds as weight decay 2 c. The others'
        decay is decoupled from the loss and spares biases and normalisation, as is usual; their
        2 c theta is added to the gradient in `_step_on`.
        """
        settings, parameters = self.settings, list(self.network.parameters())
        rate, decay = settings.rate_at(0), settings.weight_decay
        if settings.optimizer == "sgd":
            return [
                torch.optim.SGD(
                    parameters,
                    rate,
                    momentum=settings.momentum,
                    weight_decay=2 * settings.l2_penalty,
                )
            ]
        matrices = [each for each in parameters if each.ndim > 1]
        vectors = {"params": [each for each in parameters if each.ndim <= 1], "weight_decay": 0.0}
        if settings.optimizer == "muon":
            muon = Muon(matrices, rate, settings.momentum, decay)
            return [muon, torch.optim.AdamW([vectors], rate)]
        return [torch.optim.AdamW([{"params": matrices, "weight_decay": decay}, vectors], rate)]

    def train_step(self, batch: Batch) -> StepLosses:
        """Do one optimizer step; return the parts of its loss as scalars.

        Raises:
            RunError: when the batch, the loss or the gradient is not finite; the weights (but
                not the statistics of normalisation) are then still those before the step.
        """
        names = ["observations", "policies", "values"]
        for head in batch.auxiliary:
            names += [f"{head} targets", f"{head} weights"]
        for name, array in zip(names, batch.arrays(), strict=True):
            if not np.isfinite(array).all():
                self._fail(f"a batch whose {name} are not finite")
        return self._step_on(batch if self.group is None else self.group.scatter(batch))

    def run_follower(self) -> None:
        """Do the leader's steps on this process's parts, until it ends."""
        assert self.group is not None
        network, size = self.network, self.settings.batch_size
        planes = network.observation_shape[0]
        while part := self.group.receive(size, planes, network.settings.auxiliary):
            self._step_on(part)

    @_without_denormals()
    def _step_on(self, batch: Batch) -> StepLosses:
        """Do one optimizer step on a batch, or on this process's part of it."""
        settings = self.settings
        arrays = [torch.from_numpy(array).to(self.device) for array in batch.arrays()]
        arrays[0] = arrays[0].contiguous(memory_format=torch.channels_last)
        self.network.train()
        l2 = torch.zeros((), device=self.device)
        if settings.l2_penalty > 0:
            l2 = settings.l2_penalty * squared_norm(self.network.parameters())
        self.network.zero_grad()
        loss, figures = self._objective(*arrays)
        loss.backward()  # type: ignore[no-untyped-call]
        if self.group is not None:
            gradients = [each.grad for each in self.network.parameters() if each.grad is not None]
            self.group.average([*gradients, figures])
        parts = dict(zip(self._objective.part_names, figures.unbind(), strict=True))
        if settings.optimizer != "sgd" and settings.l2_penalty > 0:
            for each in self.network.parameters():
                assert each.grad is not None
                each.grad.add_(each.detach(), alpha=2 * settings.l2_penalty)
        limit = settings.max_grad_norm or float("inf")
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), limit)
        total = with_auxiliary(parts["policy"] + parts["value"] + l2, parts, settings)
        if not bool(torch.isfinite(norm + total)):
            self._fail(
                f"a loss of {total.item():g} (policy {parts['policy'].item():g}, value "
                f"{parts['value'].item():g}) and a gradient of norm {norm.item():g}"
            )
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = settings.rate_at(self.step)
            optimizer.step()
        self.step += 1
        self._update_average()
        return {"total": total, **parts, "l2": l2, "gradient_norm": norm}

    @torch.no_grad()
    def _update_average(self) -> None:
        """Move the EMA towards the network, faster in its first steps; counters are copied."""
        if self.ema_network is self.network:
            return
        decay = min(self.settings.ema_decay, (1 + self.step) / (10 + self.step))
        averages, current = self.ema_network.state_dict(), self.network.state_dict()
        mixed = [name for name, each in averages.items() if each.is_floating_point()]
        torch._foreach_lerp_(
            [averages[name] for name in mixed], [current[name] for name in mixed], 1 - decay
        )
        for name in averages.keys() - mixed:
            averages[name].copy_(current[name])

    def train(self, batches: Iterable[Batch], earlier: Iterable[StepLosses] = ()) -> StepReport:
        """Do one step for each batch; return the means over these and the `earlier` steps."""
        reports = [*earlier, *(self.train_step(batch) for batch in batches)]

        def mean(name: str) -> float:
            if not reports:
                return math.nan
            # Apple's GPUs have no float64.
            return float(torch.stack([report[name] for report in reports]).cpu().double().mean())

        names = ("total", "policy", "value", "l2", "entropy", "error", "gradient_norm")
        return StepReport(
            steps=len(reports),
            learning_rate=self.settings.rate_at(max(self.step - 1, 0)),
            auxiliary={
                head: mean(f"{head}_loss") / known if (known := mean(f"{head}_known")) else math.nan
                for head in self.network.settings.auxiliary
            },
            **{name: mean(name) for name in names},
        )

    def state(self) -> dict[str, Tensor]:
        """Return copies of the weights and the optimizer state as named tensors."""
        tensors = {f"network.{name}": each for name, each in self.network.state_dict().items()}
        if self.ema_network is not self.network:
            tensors |= {
                f"player.{name}": each for name, each in self.ema_network.state_dict().items()
            }
        for optimizer, numbers in self._numbered():
            for index, values in optimizer.state_dict()["state"].items():
                for name, value in values.items():
                    if value is not None:
                        tensors[f"optimizer.{numbers[index]}.{name}"] = torch.as_tensor(value)
        return {
            name: each.detach().cpu().clone(memory_format=torch.contiguous_format)
            for name, each in tensors.items()
        }

    def restore(self, tensors: dict[str, Tensor], step: int) -> None:
        """Load the tensors that `state` returned."""
        weights: dict[str, dict[str, Tensor]] = {"network": {}, "player": {}}
        moments: dict[int, dict[str, Tensor]] = {}
        parameters = [
            each
            for optimizer in self._optimizers
            for group in optimizer.param_groups
            for each in group["params"]
        ]
        for name, tensor in tensors.items():
            kind, rest = name.split(".", 1)
            if kind in weights:
                weights[kind][rest] = tensor
            else:
                index, part = rest.split(".")
                copied = _arranged_as(parameters[int(index)], tensor)
                moments.setdefault(int(index), {})[part] = copied
        self.network.load_state_dict(weights["network"])
        if self.ema_network is not self.network:
            self.ema_network.load_state_dict(weights["player"] or weights["network"])
        for optimizer, numbers in self._numbered():
            groups = optimizer.state_dict()["param_groups"]
            own = {index: moments[each] for index, each in enumerate(numbers) if each in moments}
            optimizer.load_state_dict({"state": own, "param_groups": groups})
        self.step = step

    def _numbered(self) -> Iterator[tuple[torch.optim.Optimizer, range]]:
        """Yield each optimizer with the numbers of its parameters in the names of `state`."""
        first = 0
        for optimizer in self._optimizers:
            count = sum(len(group["params"]) for group in optimizer.param_groups)
            yield optimizer, range(first, first + count)
            first += count

    def _fail(self, what: str) -> None:
        raise RunError(
            f"training stopped at step {self.step}: found {what}; lower learner.learning_rate "
            "or learner.max_grad_norm and resume, the last saved iteration is whole"
        )


def _arranged_as(parameter: Tensor, moment: Tensor) -> Tensor:
    """Return a copy of a moment in its parameter's memory format: steps on two formats are slow."""
    if moment.shape != parameter.shape:
        return moment.clone()
    return torch.empty_like(parameter).copy_(moment)
