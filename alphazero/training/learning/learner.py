"""The learner: optimizer steps on the loss of AlphaGo Zero."""

import copy
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from alphazero.config.schema import InferenceConfig, LearnerConfig
from alphazero.errors import RunError
from alphazero.network.inference.devices import resolve_device, resolve_precision
from alphazero.network.resnet import ResNet
from alphazero.training.data.batch import Batch
from alphazero.training.learning.losses import KNOWN
from alphazero.training.learning.objective import Objective
from alphazero.utils.arrays import Float32Array

MOMENTUM = 0.9
"""Momentum of SGD and Muon. Silver et al., Nature 550 (2017), Methods, Optimization."""

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
    """The steps of one iteration."""

    steps: int
    metrics: Mapping[str, float]
    """means over the steps by metric; empty when no step was due"""


class Learner:
    """A network and its optimizer."""

    records = True
    """whether a GPU may record the loss of a batch"""

    def __init__(
        self, network: ResNet, settings: LearnerConfig, inference: InferenceConfig
    ) -> None:
        self.settings = settings
        self.device = torch.device(resolve_device(inference.device))
        self.network = network.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.ema_network = copy.deepcopy(network) if settings.ema_decay else network
        """The network that plays: the EMA of the weights, or the network itself."""
        self.step = 0
        bfloat16 = resolve_precision(inference.precision, self.device.type) == "bfloat16"
        self._objective = Objective(self.network, settings, bfloat16, self.records)
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
        rate, decay = settings.rate_at(0), settings.decay
        if settings.optimizer == "sgd":
            sgd, penalty = _without_dynamo(torch.optim.SGD), 2 * settings.l2_penalty
            return [sgd(parameters, lr=rate, momentum=MOMENTUM, weight_decay=penalty)]
        adam = _without_dynamo(torch.optim.AdamW)
        matrices = [parameter for parameter in parameters if parameter.ndim > 1]
        vectors = {
            "params": [parameter for parameter in parameters if parameter.ndim <= 1],
            "weight_decay": 0.0,
        }
        if settings.optimizer == "muon":
            from alphazero.training.learning.muon import Muon

            muon = _without_dynamo(Muon)(matrices, rate, MOMENTUM, decay)
            return [muon, adam([vectors], lr=rate)]
        return [adam([{"params": matrices, "weight_decay": decay}, vectors], lr=rate)]

    def train_step(self, batch: Batch[Float32Array]) -> dict[str, Tensor]:
        """Do one optimizer step; return its metrics as scalars.

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
        return self._step_on(batch)

    @_without_denormals()
    def _step_on(self, batch: Batch[Float32Array]) -> dict[str, Tensor]:
        settings = self.settings
        arrays = [torch.from_numpy(array).to(self.device) for array in batch.arrays()]
        arrays[0] = arrays[0].contiguous(memory_format=torch.channels_last)
        self.network.train()
        self.network.zero_grad()
        loss, numbers = self._objective.compute(*arrays)
        loss.backward()  # type: ignore[no-untyped-call]
        self._share([parameter.grad for parameter in self.network.parameters()], numbers)
        metrics = dict(zip(self._objective.metric_names, numbers.unbind(), strict=True))
        if settings.optimizer != "sgd" and settings.l2_penalty > 0:
            for parameter in self.network.parameters():
                assert parameter.grad is not None
                parameter.grad.add_(parameter.detach(), alpha=2 * settings.l2_penalty)
        limit = settings.max_grad_norm or float("inf")
        norm = torch.nn.utils.clip_grad_norm_(self.network.parameters(), limit)
        if not bool(torch.isfinite(norm + metrics["loss/total"])):
            losses = ", ".join(
                f"{name.removeprefix('loss/')} {metrics[name].item():g}"
                for name in ("loss/total", "loss/policy", "loss/value")
            )
            self._fail(f"a loss of {losses} and a gradient of norm {norm.item():g}")
        rate = settings.rate_at(self.step)
        for optimizer in self._optimizers:
            for group in optimizer.param_groups:
                group["lr"] = rate
            with torch.no_grad():
                optimizer.step()
        self.step += 1
        self._update_average()
        return metrics | {"learner/gradient_norm": norm}

    def _share(self, gradients: Sequence[Tensor | None], metrics: Tensor) -> None:
        """Average gradients and metrics, in place, with other processes; there are none here."""

    @torch.no_grad()
    def _update_average(self) -> None:
        """Move the EMA towards the network, faster in its first steps; counters are copied."""
        if self.ema_network is self.network:
            return
        decay = min(self.settings.ema_decay, (1 + self.step) / (10 + self.step))
        averages, current = self.ema_network.state_dict(), self.network.state_dict()
        mixed = [name for name, average in averages.items() if average.is_floating_point()]
        torch._foreach_lerp_(
            [averages[name] for name in mixed], [current[name] for name in mixed], 1 - decay
        )
        for name in averages.keys() - mixed:
            averages[name].copy_(current[name])

    def train(
        self, batches: Iterable[Batch[Float32Array]], earlier: Iterable[Mapping[str, Tensor]] = ()
    ) -> StepReport:
        """Do one step for each batch; return the means over these and the `earlier` steps."""
        reports = [*earlier, *(self.train_step(batch) for batch in batches)]
        if not reports:
            return StepReport(0, {})
        # Apple's GPUs have no float64.
        means = {
            name: float(torch.stack([report[name] for report in reports]).cpu().double().mean())
            for name in reports[0]
        }
        for head in self.network.settings.auxiliary:
            loss, share = means.pop(f"auxiliary/{head}"), means.pop(KNOWN + head)
            if share:
                means[f"auxiliary/{head}"] = loss / share
        means["learner/learning_rate"] = self.settings.rate_at(self.step - 1)
        return StepReport(len(reports), means)

    def state(self) -> dict[str, Tensor]:
        """Return copies of the weights and the optimizer state as named tensors."""
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        if self.ema_network is not self.network:
            tensors |= {
                f"player.{name}": tensor for name, tensor in self.ema_network.state_dict().items()
            }
        for optimizer, numbers in self._numbered():
            for index, values in optimizer.state_dict()["state"].items():
                for name, value in values.items():
                    if value is not None:
                        tensors[f"optimizer.{numbers[index]}.{name}"] = torch.as_tensor(value)
        return {
            name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
            for name, tensor in tensors.items()
        }

    def restore(self, tensors: dict[str, Tensor], step: int) -> None:
        """Load the tensors that `state` returned."""
        weights: dict[str, dict[str, Tensor]] = {"network": {}, "player": {}}
        moments: dict[int, dict[str, Tensor]] = {}
        parameters = [
            parameter
            for optimizer in self._optimizers
            for group in optimizer.param_groups
            for parameter in group["params"]
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
            own = {
                index: moments[number] for index, number in enumerate(numbers) if number in moments
            }
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


def _without_dynamo(kind: type[torch.optim.Optimizer]) -> Any:
    """Return an optimizer's class without torch's wrappers of its methods.

    They import torch's compiler, which nothing here uses: 1.5 seconds of each start.
    """
    names = ("add_param_group", "state_dict", "load_state_dict", "step")
    return type(
        kind.__name__, (kind,), {name: inspect.unwrap(getattr(kind, name)) for name in names}
    )


def _arranged_as(parameter: Tensor, moment: Tensor) -> Tensor:
    """Return a copy of a moment in its parameter's memory format: steps on two formats are slow."""
    if moment.shape != parameter.shape:
        return moment.clone()
    return torch.empty_like(parameter).copy_(moment)
