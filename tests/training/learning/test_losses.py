"""The losses against numbers computed by hand.

Letters: B batch, A actions.
"""

import numpy as np
import pytest
import torch

from alphazero.training.learning.losses import auxiliary_losses, losses, win_draw_loss


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


def test_a_value_becomes_win_draw_and_loss_that_mean_it():
    targets = torch.tensor([1.0, 0.0, -1.0, 0.25, -0.75, 1.0000001])
    expected = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.25, 0.75, 0], [0, 0.25, 0.75], [1, 0, 0]]
    assert win_draw_loss(targets).tolist() == expected


def test_the_loss_of_win_draw_and_loss_is_that_computed_by_hand():
    # softmax of (ln 1, ln 2, ln 5) is (1/8, 2/8, 5/8); the values are 1/8 - 5/8 and 5/8 - 1/8.
    outcome_logits = np.log(np.array([[1, 2, 5], [5, 2, 1], [5, 2, 1]]))
    values, targets = np.array([-0.5, 0.5, 0.5]), np.array([-1.0, 0.0, 0.25])
    policy = np.ones((3, 1))
    parts = losses(
        *map(torch.from_numpy, (np.zeros((3, 1)), values, policy, targets, outcome_logits))
    )
    by_hand = [np.log(8 / 5), np.log(4), 0.25 * np.log(8 / 5) + 0.75 * np.log(4)]
    assert float(parts.value) == pytest.approx(sum(by_hand) / 3)
    assert float(parts.error) == pytest.approx((0.5 + 0.5 + 0.25) / 3)
    assert float(parts.policy) == 0


def test_the_loss_of_win_draw_and_loss_is_least_where_the_value_is_the_mean_of_its_targets():
    targets = torch.tensor([1.0, 1.0, -1.0, 0.3, -0.1], dtype=torch.float64)
    logits = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.05)
    for _ in range(500):
        answers = (torch.zeros(5, 1), torch.zeros(5), torch.ones(5, 1), targets)
        parts = losses(*answers, logits.expand(5, 3))
        optimizer.zero_grad()
        parts.value.backward()
        optimizer.step()
    win, _, loss = torch.softmax(logits.detach(), 0)
    assert float(win - loss) == pytest.approx(float(targets.mean()), abs=1e-4)


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
        "reply": np.log(np.array([[1, 2, 5], [7, 7, 7]])),
        "short_term_value": np.array([[three, -three, 0.0], [0.0, 0.0, three]]),
    }
    targets = {
        "ownership": (np.array([[1.0, 0.0, -1.0], [1.0, 1.0, 1.0]]), np.array([1.0, 0.0])),
        "margin": (np.array([7.0, 50.0]), np.array([1.0, 0.0])),
        "reply": (np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 0.0]]), np.array([1.0, 0.0])),
        "short_term_value": (
            np.array([[0.5, 1.0, -1.0], [0.0, 0.5, -1.0]]),
            np.array([1.0, 1.0]),
        ),
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
        "reply": (0.5 * np.log(8) + 0.5 * np.log(4)) / 2,
        "short_term_value": sum(horizons) / 2,
    }
    known = {"ownership": 0.5, "margin": 0.5, "reply": 0.5, "short_term_value": 1.0}
    assert {name: float(each) for name, each in found.items()} == pytest.approx(
        {f"{head}_loss": loss for head, loss in expected.items()}
        | {f"{head}_known": share for head, share in known.items()}
    )
