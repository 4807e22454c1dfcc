"""The losses against numbers computed by hand.

Letters: B batch, A actions.
"""

import numpy as np
import pytest
import torch
from helpers.settings import learner_config

from alphazero.network.resnet import NetworkOutput
from alphazero.training.data.batch import Batch
from alphazero.training.learning import losses
from alphazero.training.learning.losses import training_loss

WEIGHTS = {"ownership": 2.0, "margin": 3.0, "short_term_value": 5.0}


@pytest.fixture(autouse=True)
def _weights_of_heads(monkeypatch) -> None:
    monkeypatch.setattr(losses, "AUXILIARY_WEIGHTS", WEIGHTS)


def metrics_of(
    logits: np.ndarray,
    values: np.ndarray,
    policies: np.ndarray,
    outcomes: np.ndarray,
    outputs: dict[str, np.ndarray] | None = None,
    targets: dict[str, tuple[np.ndarray, np.ndarray]] | None = None,
) -> dict[str, float]:
    """The metrics of a batch; the loss that is differentiated is the total."""
    extra = {head: torch.from_numpy(each) for head, each in (outputs or {}).items()}
    known = {head: tuple(map(torch.from_numpy, pair)) for head, pair in (targets or {}).items()}
    network = NetworkOutput(torch.from_numpy(logits), torch.from_numpy(values), extra)
    observations = torch.zeros(0)  # which the losses do not read
    batch = Batch(observations, torch.from_numpy(policies), torch.from_numpy(outcomes), known)
    weights = [torch.tensor([1.0, 2.0]), torch.tensor([[3.0]])]
    loss, metrics = training_loss(network, batch, weights, learner_config(l2_penalty=0.5))
    assert float(metrics["loss/l2"]) == 0.5 * (1 + 4 + 9)
    assert float(loss) + 7 == pytest.approx(float(metrics["loss/total"]))
    return {name: float(each) for name, each in metrics.items()}


def test_the_losses_are_those_computed_by_hand():
    # softmax of (ln 1, ln 2, ln 5) is (1/8, 2/8, 5/8), and of equal logits (1/3, 1/3, 1/3).
    logits = np.log(np.array([[1, 2, 5], [7, 7, 7]]))
    policies, outcomes = np.array([[0.5, 0.5, 0], [0, 0, 1]]), np.array([1.0, -1.0])
    parts = metrics_of(logits, np.array([0.5, 0.0]), policies, outcomes)
    policy = [0.5 * np.log(8) + 0.5 * np.log(4), np.log(3)]
    entropy = [np.log(8) / 8 + np.log(4) / 4 + np.log(8 / 5) * 5 / 8, np.log(3)]
    assert parts["loss/policy"] == pytest.approx(sum(policy) / 2)
    assert parts["loss/value"] == pytest.approx((0.25 + 1) / 2)
    assert parts["learner/value_error"] == pytest.approx((0.5 + 1) / 2)
    assert parts["learner/policy_entropy"] == pytest.approx(sum(entropy) / 2)


def test_very_sure_answers_give_finite_losses():
    logits, policies = np.array([[1e4, 0.0, -1e4]]), np.array([[0.5, 0.5, 0.0]])
    parts = metrics_of(logits, np.ones(1), policies, -np.ones(1))
    assert parts["loss/policy"] == 5_000
    assert parts["loss/value"] == 4
    assert parts["learner/policy_entropy"] == 0


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
    logits, values = np.zeros((2, 3)), np.zeros(2)
    found = metrics_of(logits, values, np.full((2, 3), 1 / 3), values + 1, outputs, targets)
    own, other = -np.log(3 / 4), -np.log(1 / 4)
    cells = [own, (own + other) / 2, np.log(2)]
    horizons = [0.75 * own + 0.25 * other, other, np.log(2), np.log(2), np.log(2), other]
    expected = {
        "ownership": sum(cells) / 3 / 2,
        "margin": (np.log(2 * np.sqrt(2 * np.pi)) + 0.5 * (3 / 2) ** 2) / 2,
        "short_term_value": sum(horizons) / 2,
    }
    known = {"ownership": 0.5, "margin": 0.5, "short_term_value": 1.0}
    for head, loss in expected.items():
        assert found[f"auxiliary/{head}"] == pytest.approx(loss)
        assert found[f"known/{head}"] == known[head]
    weighted = sum(
        weight * expected[head]
        for head, weight in (("ownership", 2), ("margin", 3), ("short_term_value", 5))
    )
    assert found["loss/total"] == pytest.approx(np.log(3) + 1 + weighted + 7)
