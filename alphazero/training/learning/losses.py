"""The loss: (z - v)^2 - pi log p + c |theta|^2 (AlphaGo Zero, Nature 550, 2017, equation 1).

Each auxiliary head of the network adds its loss, times its weight.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

StepLosses: TypeAlias = dict[str, Tensor]
"""The figures of a step, as scalars by their names in `StepReport` and `auxiliary_losses`."""


class Losses(NamedTuple):
    """The policy and value parts of the loss, and two other figures of a batch."""

    policy: Tensor
    """-pi . log p, the cross-entropy, mean over the batch"""
    value: Tensor
    """(z - v)^2, mean over the batch"""
    entropy: Tensor
    """-p . log p, of the network's policy, mean over the batch"""
    error: Tensor
    """|z - v|, mean over the batch"""


def losses(policy_logits: Tensor, values: Tensor, policies: Tensor, outcomes: Tensor) -> Losses:
    """Return the losses of the network's outputs on a batch of samples.

    `policy_logits` [B, A] and `values` [B] are the network's outputs. `policies` [B, A] are search
    policies; `outcomes` [B] are the value targets for the player to move. The policy is over all
    actions: the targets of illegal ones are zero, so the network learns to give them no
    probability.
    Silver et al., Nature 550 (2017), equation 1.
    """
    log_p = functional.log_softmax(policy_logits, dim=1)
    return Losses(
        policy=-(policies * log_p).sum(dim=1).mean(),
        value=((outcomes - values) ** 2).mean(),
        entropy=-(log_p.exp() * log_p).sum(dim=1).mean(),
        error=(outcomes - values).abs().mean().detach(),
    )


def auxiliary_losses(
    outputs: Mapping[str, Tensor], targets: Mapping[str, tuple[Tensor, Tensor]]
) -> StepLosses:
    """Return two figures for each auxiliary head of the network's `outputs` [B, ...].

    `targets` are pairs of values [B, ...] and weights [B], see `Target`. `<head>_loss` is the loss
    in nats; its mean is over the whole batch, where an unknown target has a loss of 0, so that each
    known one counts the same in every batch. `<head>_known` is the share of known targets.
    Wu 2019 (arXiv:1902.10565), section 4.1 and appendix B, except for the margin, see `MarginHead`.
    """
    found = {}
    for head, output in outputs.items():
        values, weights = targets[head]
        found[f"{head}_loss"] = (weights * _POSITION_LOSSES[head](output, values)).mean()
        found[f"{head}_known"] = weights.mean()
    return found


def _value_cross_entropy(logits: Tensor, values: Tensor) -> Tensor:
    """Return the cross-entropy [B, n] of win and loss, where values -1 to 1 [B, n] are means."""
    wins = (1 + values.clamp(-1, 1)) / 2
    return functional.binary_cross_entropy_with_logits(logits, wins, reduction="none")


def _ownership_loss(logits: Tensor, owners: Tensor) -> Tensor:
    """Return the mean over the cells; a cell of nobody is each player's by half."""
    return _value_cross_entropy(logits, owners).mean(dim=1)


def _short_term_value_loss(logits: Tensor, values: Tensor) -> Tensor:
    """Return the sum over the horizons."""
    return _value_cross_entropy(logits, values).sum(dim=1)


def _margin_loss(outputs: Tensor, margins: Tensor) -> Tensor:
    """Return -log of the normal density with the mean and standard deviation `outputs` [B, 2]."""
    mean, spread = outputs.unbind(1)
    return spread.log() + (((margins - mean) / spread) ** 2 + math.log(2 * math.pi)) / 2


_POSITION_LOSSES: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "ownership": _ownership_loss,
    "margin": _margin_loss,
    "short_term_value": _short_term_value_loss,
}
"""The losses [B] of each head's outputs and target values."""


def squared_norm(parameters: Iterable[Tensor]) -> Tensor:
    """Return |theta|^2 over all parameters."""
    return torch.stack([(each.detach() ** 2).sum() for each in parameters]).sum()
