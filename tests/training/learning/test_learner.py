"""The learner against hand-computed losses and steps, and its promises about state and errors.

Letters: B batch, A actions, [C, H, W] observation.
"""

import copy
import dataclasses
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from helpers.paths import TESTS
from helpers.processes import run_python
from helpers.runs.learners import NETWORK, make_batch, make_learner, with_targets
from helpers.runs.tiny_run import tiny_config
from torch import Tensor

from alphazero.config.fields import config_fields
from alphazero.config.schema import AUXILIARY_HEADS, NetworkConfig, RatePoint
from alphazero.errors import RunError
from alphazero.network.checkpoint import HEADER_LIMIT, tensors_to_bytes
from alphazero.network.resnet import ResNet
from alphazero.reference import loss
from alphazero.training.data.batch import Batch, Target
from alphazero.training.data.replay_buffer import ReplayBuffer
from alphazero.training.iteration import Training
from alphazero.training.learning import losses
from alphazero.training.learning.learner import Learner
from alphazero.training.learning.muon import orthogonalized
from alphazero.training.run_directory import RunDirectory

HEADS = dataclasses.replace(NETWORK, auxiliary=AUXILIARY_HEADS)


def parameters_of(learner: Learner) -> list[Tensor]:
    return [each.detach().clone() for each in learner.network.parameters()]


def plain_loss(network: ResNet, batch: Batch, c: float) -> Tensor:
    """The reference's (z - v)^2 - pi . log p + c |theta|^2."""
    observations, policies, values = map(torch.from_numpy, batch.arrays())
    return loss(network, (observations, policies, values), c)


def full_gradient(network: ResNet, batch: Batch, c: float) -> list[Tensor]:
    """The gradient of the reference's loss."""
    twin = copy.deepcopy(network).train()
    twin.zero_grad()
    plain_loss(twin, batch, c).backward()
    return [each.grad for each in twin.parameters()]


def assert_close(found: Sequence[Tensor], expected: Sequence[Tensor]) -> None:
    for each, other in zip(found, expected, strict=True):
        torch.testing.assert_close(each, other, rtol=1e-4, atol=1e-6)


# The loss


def test_the_loss_of_a_step_is_that_of_the_reference():
    learner, batch = make_learner(l2_penalty=0.03), make_batch()
    expected = plain_loss(copy.deepcopy(learner.network).train(), batch, 0.03).item()
    norm = sum(float((each.double() ** 2).sum()) for each in parameters_of(learner))
    parts = learner.train_step(batch)
    assert float(parts["loss/total"]) == pytest.approx(expected, rel=1e-5)
    assert float(parts["loss/l2"]) == pytest.approx(0.03 * norm)
    total = float(parts["loss/policy"] + parts["loss/value"] + parts["loss/l2"])
    assert float(parts["loss/total"]) == pytest.approx(total)


# The step


@pytest.mark.parametrize(("c", "momentum"), [(0.0, 0.0), (0.05, 0.9)])
def test_steps_of_sgd_descend_the_gradient_of_the_whole_loss(c: float, momentum: float):
    learner = make_learner(l2_penalty=c, momentum=momentum)
    velocity = [torch.zeros_like(each) for each in parameters_of(learner)]
    for seed in range(3):
        batch = make_batch(seed=seed)
        before, gradient = parameters_of(learner), full_gradient(learner.network, batch, c)
        velocity = [momentum * v + slope for v, slope in zip(velocity, gradient, strict=True)]
        learner.train_step(batch)
        expected = [theta - 0.1 * v for theta, v in zip(before, velocity, strict=True)]
        assert_close(parameters_of(learner), expected)


@pytest.mark.parametrize("weight_decay", [0.0, 0.5])
def test_two_steps_of_adamw_follow_their_equations_with_l2_in_the_gradient(weight_decay: float):
    learner = make_learner(optimizer="adamw", l2_penalty=0.05, weight_decay=weight_decay)
    first = [torch.zeros_like(each) for each in parameters_of(learner)]
    second = [torch.zeros_like(each) for each in parameters_of(learner)]
    for step in (1, 2):
        batch = make_batch(seed=step)
        before, gradient = parameters_of(learner), full_gradient(learner.network, batch, 0.05)
        first = [0.9 * m + 0.1 * slope for m, slope in zip(first, gradient, strict=True)]
        second = [0.999 * v + 0.001 * g**2 for v, g in zip(second, gradient, strict=True)]
        learner.train_step(batch)
        for theta, m, v, found in zip(before, first, second, parameters_of(learner), strict=True):
            # Decoupled decay is for matrices and kernels, not for biases and normalisations.
            kept = theta * (1 - 0.1 * weight_decay) if theta.ndim > 1 else theta
            change = (m / (1 - 0.9**step)) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
            sure = m.abs() > 1e-4  # Adam makes whole steps of slopes that are mere rounding
            assert sure.float().mean() > 0.6
            torch.testing.assert_close(
                found[sure], (kept - 0.1 * change)[sure], rtol=1e-3, atol=1e-4
            )


def assert_near_orthogonal(found: torch.Tensor, matrices: torch.Tensor) -> None:
    """Check that it is U S' V^T of U S V^T, S' between 0.65 and 1.25 where S is not small."""
    left, sizes, right = torch.linalg.svd(matrices.double(), full_matrices=False)
    inner = left.mT @ found.double() @ right.mT
    reached = torch.diagonal(inner, dim1=-2, dim2=-1)
    share = sizes / sizes.norm(dim=-1, keepdim=True)
    assert reached.max() < 1.25
    assert reached[share > 0.02].min() > 0.65
    expected = left @ torch.diag_embed(reached) @ right
    torch.testing.assert_close(found.double(), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("shape", [(3, 5, 40), (2, 40, 5), (1, 16, 16), (2, 1, 9), (2, 9, 1)])
def test_muon_brings_the_singular_values_near_one_and_keeps_the_singular_vectors(shape):
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(4))
    assert_near_orthogonal(orthogonalized(matrices), matrices)
    assert_near_orthogonal(orthogonalized(1e-6 * matrices), matrices)


@pytest.mark.parametrize("weight_decay", [0.0, 0.5])
def test_two_steps_of_muon_follow_their_equations_with_l2_in_the_gradient(weight_decay: float):
    learner = make_learner(
        optimizer="muon",
        momentum=0.8,
        l2_penalty=0.05,
        weight_decay=weight_decay,
        max_grad_norm=0.0,
    )
    mean = [torch.zeros_like(each) for each in parameters_of(learner)]
    for step in (1, 2):
        batch = make_batch(seed=step)
        before, gradient = parameters_of(learner), full_gradient(learner.network, batch, 0.05)
        mean = [0.8 * m + 0.2 * slope for m, slope in zip(mean, gradient, strict=True)]
        learner.train_step(batch)
        for theta, m, slope, found in zip(
            before, mean, gradient, parameters_of(learner), strict=True
        ):
            if theta.ndim <= 1:  # Adam's, with a first step of 0.1 wherever there is a slope
                if step == 1:
                    sure = slope.abs() > 1e-4
                    expected = theta - 0.1 * slope.sign()
                    torch.testing.assert_close(found[sure], expected[sure], rtol=0, atol=1e-3)
                continue
            length = 0.2 * max(theta.flatten(1).shape) ** 0.5
            moved = ((1 - 0.1 * weight_decay) * theta - found) / (0.1 * length)
            ahead = 0.8 * m + 0.2 * slope
            assert_near_orthogonal(moved.flatten(1)[None], ahead.flatten(1)[None])


@pytest.mark.parametrize("limit", [0.05, 1e6])
def test_clipping_limits_the_norm_and_keeps_the_direction(limit: float):
    batch, learner = make_batch(), make_learner(max_grad_norm=limit)
    before, gradient = parameters_of(learner), full_gradient(learner.network, batch, 0.0)
    norm = torch.stack([(slope**2).sum() for slope in gradient]).sum().sqrt()
    assert norm > 10 * 0.05
    reported = learner.train_step(batch)["learner/gradient_norm"]
    torch.testing.assert_close(reported, norm, rtol=1e-4, atol=0)
    share = min(1, limit / norm)
    expected = [theta - 0.1 * slope * share for theta, slope in zip(before, gradient, strict=True)]
    assert_close(parameters_of(learner), expected)


@pytest.mark.parametrize("optimizer", ["sgd", "adamw", "muon"])
def test_the_learning_rate_changes_at_its_very_step(optimizer: str):
    rates = (RatePoint(0, 0.1), RatePoint(2, 1e-9), RatePoint(4, 0.1))
    learner = make_learner(optimizer=optimizer, learning_rate=rates)
    moved = []
    for step in range(6):
        before = parameters_of(learner)
        report = learner.train([make_batch(seed=step)])
        largest = max(
            float((now - then).abs().max())
            for now, then in zip(parameters_of(learner), before, strict=True)
        )
        moved.append(largest > 1e-4)
        assert report.metrics["learner/learning_rate"] == (1e-9 if step in (2, 3) else 0.1)
    assert moved == [True, True, False, False, True, True]
    assert learner.step == 6


def test_a_report_is_the_mean_over_its_steps():
    batches = [make_batch(seed=seed) for seed in range(3)]
    one, other = make_learner(l2_penalty=0.01), make_learner(l2_penalty=0.01)
    report = one.train(batches)
    parts = [other.train_step(batch) for batch in batches]
    assert report.steps == 3
    assert report.metrics.keys() == parts[0].keys() | {"learner/learning_rate"}
    for name in parts[0]:
        mean = np.mean([float(part[name]) for part in parts])
        assert report.metrics[name] == pytest.approx(mean)


def learner_with_heads(seed: int = 0, **changes: object) -> Learner:
    """A learner whose network has every auxiliary head."""
    return make_learner(seed, settings=HEADS, **changes)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_eight_samples_are_learnt_by_heart_by_every_head(monkeypatch, precision: str):
    monkeypatch.setitem(losses.AUXILIARY_WEIGHTS, "margin", 1.0)
    learner = make_learner(
        settings=dataclasses.replace(HEADS, global_pooling=3),
        precision=precision,
        optimizer="adamw",
        learning_rate=(RatePoint(0, 0.01),),
    )
    batch = with_targets(make_batch(8))
    first = learner.train([batch]).metrics
    learner.train([batch] * 200)
    last = learner.train([batch] * 10).metrics
    assert first["loss/value"] > 0.3
    assert last["loss/value"] < 0.05
    assert first["learner/value_error"] > 0.3
    assert last["learner/value_error"] < 0.1
    entropy = float(-(batch.policies * np.log(batch.policies)).sum(axis=1).mean())
    assert first["loss/policy"] > entropy + 0.3
    assert entropy - 1e-4 < last["loss/policy"] < entropy + 0.1
    assert {f"auxiliary/{head}" for head in AUXILIARY_HEADS} <= first.keys()
    assert last["auxiliary/ownership"] < 0.1
    assert last["auxiliary/margin"] < first["auxiliary/margin"] - 2
    wins = (1 + batch.auxiliary["short_term_value"].values) / 2
    entropy = -(wins * np.log(wins) + (1 - wins) * np.log(1 - wins)).sum(axis=1).mean()
    above = [each["auxiliary/short_term_value"] - entropy for each in (first, last)]
    assert -1e-4 < above[1] < 0.5 * above[0]


def test_targets_of_which_none_is_known_change_nothing():
    batch = with_targets(make_batch())
    unknown = {
        head: Target(values, np.zeros_like(weights))
        for head, (values, weights) in batch.auxiliary.items()
    }
    learner = learner_with_heads()
    before = copy.deepcopy(learner.network.auxiliary)
    report = learner.train([batch._replace(auxiliary=unknown)]).metrics
    assert not [name for name in report if name.startswith("auxiliary/")]
    parts = report["loss/policy"] + report["loss/value"] + report["loss/l2"]
    assert report["loss/total"] == pytest.approx(parts)
    for one, two in zip(before.parameters(), learner.network.auxiliary.parameters(), strict=True):
        assert torch.equal(one, two)


# State


@pytest.mark.arithmetic
@pytest.mark.parametrize(
    ("precision", "momentum", "heads"),
    [("float32", 0.9, False), ("bfloat16", 0.9, True), ("float32", 0.0, True)],
)
@pytest.mark.parametrize("optimizer", ["sgd", "adamw", "muon"])
def test_a_restored_learner_goes_on_to_the_very_same_bits(
    optimizer: str, precision: str, momentum: float, heads: bool
):
    settings = {
        "optimizer": optimizer,
        "precision": precision,
        "momentum": momentum,
        "l2_penalty": 1e-3,
        "max_grad_norm": 1.0,
        "ema_decay": 0.9 if heads else 0.0,
        "learning_rate": (RatePoint(0, 0.05), RatePoint(5, 0.01)),
    }
    make = learner_with_heads if heads else make_learner
    batches = [make_batch(seed=seed) for seed in range(8)]
    if heads:
        batches = [with_targets(batch, seed) for seed, batch in enumerate(batches)]
    learner, other = make(**settings), make(seed=1, **settings)
    learner.train(batches[:4])
    state = learner.state()
    kept = {name: tensor.clone() for name, tensor in state.items()}
    learner.train(batches[4:])
    other.train(batches[:1])
    other.restore(state, 4)
    other.train(batches[4:])
    final, found = learner.state(), other.state()
    assert found.keys() == final.keys()
    assert all(torch.equal(found[name], final[name]) for name in final)
    assert other.step == learner.step == 8
    # Neither learner wrote into the state.
    assert all(torch.equal(state[name], kept[name]) for name in state)
    assert all(tensor.is_contiguous() for tensor in state.values())


def test_a_restored_learner_has_the_moments_in_the_memory_format_of_the_weights():
    learner = make_learner(optimizer="adamw")
    learner.train([make_batch()])
    learner.restore(learner.state(), 1)
    states = [each for optimizer in learner._optimizers for each in optimizer.state.items()]
    for parameter, moments in states:
        assert moments["exp_avg"].stride() == parameter.stride()
        assert moments["exp_avg_sq"].stride() == parameter.stride()


# What is not finite


ARRAYS = [
    *("observations", "policies", "values"),
    *(f"{head} {part}" for head in AUXILIARY_HEADS for part in ("targets", "weights")),
]


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ARRAYS)
def test_a_batch_that_is_not_finite_stops_training_at_its_step(name: str, number: float):
    learner = learner_with_heads(momentum=0.9)
    learner.train([with_targets(make_batch(seed=seed)) for seed in range(3)])
    before = learner.state()
    batch = with_targets(make_batch())
    batch.arrays()[ARRAYS.index(name)].flat[3] = number
    with pytest.raises(RunError, match=f"stopped at step 3: .* batch whose {name} are not finite"):
        learner.train_step(batch)
    assert learner.step == 3
    after = learner.state()
    assert all(torch.equal(after[name], before[name]) for name in before)


@pytest.mark.parametrize("optimizer", ["sgd", "adamw", "muon"])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e38])
def test_weights_that_are_not_finite_stop_training_and_stay_as_they_were(
    optimizer: str, number: float
):
    learner = make_learner(optimizer=optimizer, l2_penalty=1e-4)
    learner.train([make_batch()])
    with torch.no_grad():
        learner.network.policy_output.bias[2] = number
    before = parameters_of(learner)
    with pytest.raises(RunError, match=r"stopped at step 1: .* loss of") as caught:
        learner.train_step(make_batch())
    assert "\n" not in str(caught.value)
    assert learner.step == 1
    for now, then in zip(parameters_of(learner), before, strict=True):
        assert torch.equal(now.nan_to_num(7), then.nan_to_num(7))


# In the loop


def test_the_loop_augments_by_symmetries(tmp_path, monkeypatch):
    augmented, sample = [], ReplayBuffer.sample

    def watch(replay: ReplayBuffer, size: int, rng: Any, augment: bool, *others: Any) -> Batch:
        augmented.append(augment)
        return sample(replay, size, rng, augment, *others)

    training = Training(RunDirectory.create(tiny_config(tmp_path)), 1)
    training.store_games(training.play())
    monkeypatch.setattr(ReplayBuffer, "sample", watch)
    assert training.learn(0).steps > 0
    assert all(augmented)


def test_denormal_weights_become_zero_in_a_step_and_denormals_remain_outside_it():
    """A weight that decay halves at each step ends at 0, not among the slow denormal numbers."""
    tiny = torch.tensor([2e-38])  # the smallest normal number is 1.2e-38
    half = torch.tensor([0.5])
    learner = make_learner(optimizer="adamw", learning_rate=(RatePoint(0, 1.0),), weight_decay=0.5)
    with torch.no_grad():
        for each in learner.network.parameters():
            each.zero_()
        dead = learner.network.value_hidden.weight
        dead.copy_(tiny.expand_as(dead))
    learner.train_step(make_batch())
    assert (tiny * half > 0).all(), "outside a step"
    # Its gradient is 0, for what follows it is: nothing but the decay touches it.
    assert (dead == 0).all()


# The average of the weights


def test_the_player_is_the_running_average_of_the_weights():
    learner = make_learner(ema_decay=0.5)
    assert learner.ema_network is not learner.network
    expected = {name: each.clone() for name, each in learner.ema_network.state_dict().items()}
    for step in range(1, 8):
        learner.train_step(make_batch(seed=step))
        decay = min(0.5, (1 + step) / (10 + step))
        for name, weight in learner.network.state_dict().items():
            if weight.is_floating_point():
                expected[name] = decay * expected[name] + (1 - decay) * weight
    for name, weight in learner.ema_network.state_dict().items():
        if weight.is_floating_point():
            torch.testing.assert_close(weight, expected[name])
            assert not torch.equal(weight, learner.network.state_dict()[name])


def test_without_an_average_the_weights_themselves_play():
    learner = make_learner()
    assert learner.ema_network is learner.network
    assert not any(name.startswith("player.") for name in learner.state())


def test_the_tallest_network_fits_a_file_with_the_state_of_its_learner():
    (most,) = (
        note.at_most for field, _, note in config_fields(NetworkConfig) if field.name == "blocks"
    )
    tall = dataclasses.replace(HEADS, filters=2, global_pooling=1, blocks=int(most))
    learner = make_learner(settings=tall, optimizer="adamw", ema_decay=0.5)
    learner.train_step(with_targets(make_batch()))
    data = tensors_to_bytes("learner", learner.state(), {"format": "state"})
    assert int.from_bytes(data[:8], "little") < 0.9 * HEADER_LIMIT, "of larger weights it is longer"


# Threads


def test_a_small_step_stays_on_one_core():
    assert make_learner(batch_size=16).useful_threads == 1
    assert make_learner(batch_size=10**6).useful_threads > 64


STEPS_ALONE = """
import sys
import torch
from helpers.runs.learners import make_batch, make_learner
for optimizer in ("sgd", "adamw", "muon"):
    learner = make_learner(optimizer=optimizer)
    learner.train_step(make_batch())
    learner.restore(learner.state(), learner.step)
without = {"torch._dynamo", *([] if torch.__version__.startswith("2.6.") else ["sympy"])}
print(not without & set(sys.modules))
"""


def test_no_optimizer_imports_torchs_compiler():
    """In a process of its own, for in this one another test may have imported it.

    torch 2.6 imports sympy where it draws the first weights.
    """
    path = os.pathsep.join([str(TESTS), *sys.path])
    assert run_python("-c", STEPS_ALONE, PYTHONPATH=path) == "True\n"
