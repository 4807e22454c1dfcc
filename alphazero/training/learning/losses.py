"""The loss: (z - v)^2 - pi log p + c |theta|^2 (AlphaGo Zero, Nature 550, 2017, equation 1)."""

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

StepLosses: TypeAlias = dict[str, Tensor]
"""The figures of a step, as scalars by their names in `StepReport`."""


class Losses(NamedTuple):
    """The policy and value parts of the loss, and two other figures of a batch."""

    policy: Tensor
    """-pi . log p, the cross-entropy, mean over the batch"""
    value: Tensor
    """(z - v)^2, or the cross-entropy of win, draw and loss; mean over the batch"""
    entropy: Tensor
    """-p . log p, of the network's policy, mean over the batch"""
    error: Tensor
    """|z - v|, mean over the batch"""


def win_draw_loss(targets: Tensor) -> Tensor:
    """Return the distribution over win, draw and loss [B, 3] with the means `targets` [B].

    An outcome of -1, 0 or 1 is certain. A mean between them leaves the share of draws open. Leela
    Chess Zero records this share in its search and gives (1 - draw + mean) / 2 to the win
    (lczero-training, tf/chunkparser.py). Our search keeps means alone, so the draw gets the most
    that the mean allows, 1 - |mean|, and the rest is all win or all loss. P(win) - P(loss), the
    only output that the search uses, is learned without bias. With a `search_value_weight` above 0
    P(draw) alone is too high.
    """
    targets = targets.clamp(-1, 1)  # rounding may put means of a search outside
    return torch.stack([targets.relu(), 1 - targets.abs(), (-targets).relu()], dim=1)


def losses(
    policy_logits: Tensor,
    values: Tensor,
    policies: Tensor,
    outcomes: Tensor,
    outcome_logits: Tensor | None = None,
) -> Losses:
    """Return the losses of the network's outputs on a batch of samples.

    `policy_logits` [B, A], `values` [B] and, from a win-draw-loss head, `outcome_logits` [B, 3] are
    the network's outputs. `policies` [B, A] are search policies; `outcomes` [B] are the value
    targets for the player to move. The policy is over all actions: the targets of illegal ones are
    zero, so the network learns to give them no probability.
    Silver et al., Nature 550 (2017), equation 1.
    """
    log_p = functional.log_softmax(policy_logits, dim=1)
    if outcome_logits is None:
        value = ((outcomes - values) ** 2).mean()
    else:
        value = functional.cross_entropy(outcome_logits, win_draw_loss(outcomes))
    return Losses(
        policy=-(policies * log_p).sum(dim=1).mean(),
        value=value,
        entropy=-(log_p.exp() * log_p).sum(dim=1).mean(),
        error=(outcomes - values).abs().mean().detach(),
    )


def squared_norm(parameters: Iterable[Tensor]) -> Tensor:
    """Return |theta|^2 over all parameters."""
    return torch.stack([(each.detach() ** 2).sum() for each in parameters]).sum()
