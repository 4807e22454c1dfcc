"""The loss: (z - v)² - π·log p + c‖θ‖² (AlphaGo Zero, Nature 550, 2017, equation 1).

Each auxiliary head of the network adds its loss, times its weight. This file alone knows the terms:
a new one is a line of `_terms`, a row of `LOSS_METRICS` and a weight in `AUXILIARY_WEIGHTS`.
"""

import math
from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor
from torch.nn import functional

from alphazero.config.schema import LearnerConfig
from alphazero.network.resnet import NetworkOutput
from alphazero.training.data.batch import Batch

LOSS_METRICS: Mapping[str, str] = {
    "loss/total": "",
    "loss/policy": "nats",
    "loss/value": "",
    "loss/l2": "",
    "auxiliary/ownership": "nats",
    "auxiliary/margin": "nats",
    "auxiliary/short_term_value": "nats",
    "learner/policy_entropy": "nats",
    "learner/value_error": "",
}
"""The units of a step's metrics by name. Each is a mean over the positions of the batches."""

KNOWN = "known/"
"""Prefix of the share of positions with a known target of an auxiliary head, which is no metric."""


def training_loss(
    outputs: NetworkOutput,
    batch: Batch[Tensor],
    parameters: Iterable[Tensor],
    settings: LearnerConfig,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the loss to differentiate, and the metrics of `LOSS_METRICS`, detached.

    The metric `loss/total` also has c‖θ‖², whose gradient 2cθ the learner adds. The policy is over
    all actions: the targets of illegal ones are zero, so the network learns to give them no
    probability. The loss of an auxiliary head is its mean over the whole batch, where an unknown
    target has a loss of 0, so that each known one counts the same in every batch. Beside the metric
    stands the share of known targets, after `KNOWN`.
    """
    log_p = functional.log_softmax(outputs.policy_logits, dim=1)
    terms = _terms(log_p, outputs, batch)
    loss = torch.stack([weight * term for weight, term in terms.values()]).sum()
    with torch.no_grad():
        distances = (batch.values - outputs.values).abs()
        squared_norm = torch.stack([(weight**2).sum() for weight in parameters]).sum()
        l2 = settings.l2_penalty * squared_norm
        metrics = {"loss/total": loss + l2, "loss/l2": l2}
        metrics |= {name: term for name, (_, term) in terms.items()}
        metrics["learner/policy_entropy"] = -(log_p.exp() * log_p).sum(dim=1).mean()
        metrics["learner/value_error"] = distances.mean()
        for head, (_, weights) in batch.auxiliary.items():
            metrics[KNOWN + head] = weights.mean()
    return loss, {name: metric.detach() for name, metric in metrics.items()}


def _terms(
    log_p: Tensor, outputs: NetworkOutput, batch: Batch[Tensor]
) -> dict[str, tuple[float, Tensor]]:
    """Return the weight and the mean over the batch of each term of the loss, by metric."""
    terms = {
        "loss/policy": (1.0, -(batch.policies * log_p).sum(dim=1).mean()),
        "loss/value": (1.0, ((batch.values - outputs.values) ** 2).mean()),
    }
    for head, output in outputs.auxiliary.items():
        values, weights = batch.auxiliary[head]
        loss = (weights * _POSITION_LOSSES[head](output, values)).mean()
        terms[f"auxiliary/{head}"] = AUXILIARY_WEIGHTS[head], loss
    return terms


def _value_cross_entropy(logits: Tensor, values: Tensor) -> Tensor:
    """Return the cross-entropy [B, n] of win and loss, where values -1 to 1 [B, n] are means."""
    wins = (1 + values.clamp(-1, 1)) / 2
    return functional.binary_cross_entropy_with_logits(logits, wins, reduction="none")


def _margin_loss(outputs: Tensor, margins: Tensor) -> Tensor:
    """Return -log of the normal density with the mean and standard deviation `outputs` [B, 2]."""
    mean, spread = outputs.unbind(1)
    return spread.log() + (((margins - mean) / spread) ** 2 + math.log(2 * math.pi)) / 2


_POSITION_LOSSES: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "ownership": lambda logits, owners: _value_cross_entropy(logits, owners).mean(dim=1),
    "margin": _margin_loss,
    "short_term_value": lambda logits, values: _value_cross_entropy(logits, values).sum(dim=1),
}
"""The losses [B], in nats, of each auxiliary head's outputs and target values. That of ownership is
a mean over the cells, where a cell of nobody belongs half to each player; that of short-term values
is a sum over the horizons.

Wu 2019 (arXiv:1902.10565), section 4.1 and appendix B, except for the margin, see `MarginHead`.
"""


AUXILIARY_WEIGHTS = {"ownership": 1.5, "margin": 0.02, "short_term_value": 0.72}
"""The weight of each head's loss. Wu 2019, appendix B: 1.5 for ownership, and 0.02 for the
cross-entropy of scores; KataGo, python/train.py: 1.2 x 0.6 for each horizon, as for the value."""
