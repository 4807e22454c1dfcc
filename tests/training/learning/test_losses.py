"""The losses against numbers computed by hand.

Letters: B batch, A actions.
"""

import numpy as np
import pytest
import torch

from alphazero.training.learning.losses import auxiliary_losses, losses


def test_the_losses_are_those_computed_by_hand():
    # softmax of (ln 1, ln 2, ln 5) is (1/8, 2/8, 5/8), and of equal logits (1/3, 1/3, 1/3).
    logits = np.log(np.array([[1, 2, 5], [7, 7, 7]]))
    policies, outcomes = np.array([[0.5, 0.5, 0], [0, 0, 1]]), np.array([1.0, -1.0])
    parts = losses(*map(torch.from_numpy, (logits, np.array([0.5, 0.0]), policies, outcomes)))
    policy = [0.5 * np.log(8) + 0.5 * np.log(4), np.log(3)]
    entropy = [np.log(8) / 8 + np.log(4) / 4 + np.log(8 / 5) * 5 / 8, np.log(3)]
    assert float(parts.policy) == pytest.approx(sum(policy) / 2)
    assert float(parts.value) == pytest.approx((0.25 + 1) / 2)
    assert float(parts.error) == pytest.approx((0.5 + 1) / 2)
    assert float(parts.entropy) == pytest.approx(sum(entropy) / 2)


def test_perfect_answers_leave_the_entropy_of_the_targets():
    rng = np.random.default_rng(0)
    policies = rng.dirichlet(np.ones(7), 20)
    outcomes = rng.choice([-1.0, 0.0, 1.0], 20)
    logits = np.log(policies) + rng.normal(size=(20, 1))
    parts = losses(*map(torch.from_numpy, (logits, outcomes, policies, outcomes)))
    entropy = -(policies * np.log(policies)).sum(axis=1).mean()
    assert float(parts.policy) == pytest.approx(entropy)
    assert float(parts.entropy) == pytest.approx(entropy)
    assert float(parts.value) == float(parts.error) == 0


def test_very_sure_answers_give_finite_losses():
    logits = torch.tensor([[1e4, 0.0, -1e4]])
    parts = losses(logits, torch.ones(1), torch.tensor([[0.5, 0.5, 0.0]]), -torch.ones(1))
    assert float(parts.policy) == 5_000
    assert float(parts.value) == 4
    assert float(parts.entropy) == 0


def test_the_auxiliary_losses_are_those_computed_by_hand():
    # A logit of ln 3 is a probability of 3/4, one of -ln 3 of 1/4, one of 0 of 1/2.
    three = np.log(3)
    outputs = {
        "ownership": np.array([[three, -three, 0.0], [three, 0.0, 0.0]]),
        "margin": np.array([[4.0, 2.0], [0.0, 1.0]]),
        "short_term_value": np.array([[three, -three, 0.0], [0.0, 0.0, three]]),
    }
    targets = {
        "ownership": (np.array([[1.0, 0.0, -1.0], [1.0, 1.0, 1.0]]), np.array([1.0, 0.0])),
        "margin": (np.array([7.0, 50.0]), np.array([1.0, 0.0])),
        "short_term_value": (np.array([[0.5, 1.0, -1.0], [0.0, 0.5, -1.0]]), np.array([1.0, 1.0])),
    }
    found = auxiliary_losses(
        {head: torch.from_numpy(output) for head, output in outputs.items()},
        {head: tuple(map(torch.from_numpy, target)) for head, target in targets.items()},
    )
    own, other = -np.log(3 / 4), -np.log(1 / 4)
    cells = [own, (own + other) / 2, np.log(2)]
    horizons = [0.75 * own + 0.25 * other, other, np.log(2), np.log(2), np.log(2), other]
    expected = {
        "ownership": sum(cells) / 3 / 2,
        "margin": (np.log(2 * np.sqrt(2 * np.pi)) + 0.5 * (3 / 2) ** 2) / 2,
        "short_term_value": sum(horizons) / 2,
    }
    known = {"ownership": 0.5, "margin": 0.5, "short_term_value": 1.0}
    assert {name: float(each) for name, each in found.items()} == pytest.approx(
        {f"{head}_loss": loss for head, loss in expected.items()}
        | {f"{head}_known": share for head, share in known.items()}
    )
