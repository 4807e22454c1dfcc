"""Learners and batches made by hand."""

import dataclasses

import numpy as np
import torch

from alphazero.config.schema import InferenceConfig, NetworkConfig, RatePoint
from alphazero.network.resnet import ResNet
from alphazero.training.data.batch import Batch, Target
from alphazero.training.learning.learner import Learner
from helpers.settings import learner_config, network_config

SHAPE, ACTIONS = (4, 3, 3), 9


NETWORK = network_config(blocks=1, filters=6, policy_filters=2, value_filters=1, value_hidden=8)


PLAIN = learner_config(learning_rate=(RatePoint(0, 0.1),), l2_penalty=0.0, max_grad_norm=0.0)


def make_network(seed: int = 0, settings: NetworkConfig = NETWORK) -> ResNet:
    """A small network whose parameters all affect the output: no scale is zero."""
    network = ResNet(SHAPE, ACTIONS, settings, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.2)
    return network


def make_batch(size: int = 16, seed: int = 0) -> Batch:
    rng = np.random.default_rng(seed)
    return Batch(
        (rng.random((size, *SHAPE)) < 0.4).astype(np.float32),
        rng.dirichlet(np.ones(ACTIONS), size).astype(np.float32),
        rng.choice([-1, 0, 1], size).astype(np.float32),
    )


def with_targets(batch: Batch, seed: int = 0) -> Batch:
    """The batch with random targets of all auxiliary heads, some of them unknown."""
    rng, size = np.random.default_rng(seed), len(batch.values)
    values = {
        "ownership": rng.choice([-1, 1], (size, SHAPE[1] * SHAPE[2])),
        "margin": rng.integers(-9, 10, size),
        "short_term_value": rng.uniform(-0.9, 0.9, (size, 3)),
    }
    known = {head: np.ones(size, np.float32) for head in values}
    known["ownership"][::3] = known["margin"][::3] = 0
    targets = {
        head: Target(numbers.astype(np.float32), known[head]) for head, numbers in values.items()
    }
    return batch._replace(auxiliary=targets)


def make_learner(
    seed: int = 0,
    precision: str = "float32",
    momentum: float = 0.0,
    settings: NetworkConfig = NETWORK,
    **changes: object,
) -> Learner:
    """A learner on the CPU, in float32 and without momentum unless told otherwise."""
    inference = InferenceConfig(device="cpu", precision=precision)
    network = make_network(seed, settings)
    learner = Learner(network, dataclasses.replace(PLAIN, **changes), inference)
    for optimizer in learner._optimizers:
        for group in optimizer.param_groups:
            if "momentum" in group:
                group["momentum"] = momentum
    return learner
