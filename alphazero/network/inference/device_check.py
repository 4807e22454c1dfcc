"""A check for faulty devices, before any of their outputs is kept.

At the start of a run its evaluator and a copy of the network in float32 on the CPU evaluate the
same fixed positions. Otherwise a faulty driver, kernel or memory would write games and weights that
look like any others.

Shapes: B positions, C planes, H rows, W columns, A actions.
"""

import copy
import functools
from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from alphazero.config.schema import NetworkConfig
from alphazero.errors import RunError
from alphazero.games import ONGOING, Game
from alphazero.network.inference.batched_evaluator import BatchedEvaluator
from alphazero.network.resnet import ResNet
from alphazero.utils.arrays import Float32Array

POSITIONS: Final = 16
_PLIES: Final = 200
_SEED: Final = 2017

TOLERANCES: Final = {"float32": 0.02, "bfloat16": 0.2}
"""The largest error allowed, by precision, as a share of the spread of the outputs over positions.
Measured on CPUs for networks of every size shipped here, new and trained: 0.000001 and 0.04.
Unrelated outputs are off by 1."""

_MIN_SPREAD: Final = 0.02
"""The smallest spread to divide by, that of a new network. A network that is sure of every game has
nearly equal outputs."""


class DeviceCheck(NamedTuple):
    """The errors of a device's outputs from float32 on the CPU."""

    errors: Mapping[str, float]
    """shares of the spread of the CPU's numbers: of policies, values, gradients"""
    tolerance: float = TOLERANCES["float32"]
    failure: str = ""
    """torch's error if it could not compute"""

    def __str__(self) -> str:
        errors = ", ".join(f"{name} by {error:.3%}" for name, error in self.errors.items())
        limit = f"at most {self.tolerance:.0%}"
        return self.failure or f"{errors} of their spread off float32 on the CPU ({limit})"

    @property
    def fault(self) -> str:
        """The fault of the device; empty if there is none."""
        good = not self.failure and max(self.errors.values()) <= self.tolerance
        return "" if good else str(self)


def check_device(evaluator: BatchedEvaluator, network: ResNet, game: Game) -> DeviceCheck:
    """Compare an evaluator's outputs with those of its `network`, which is not changed.

    Raises:
        RunError: when an error exceeds the tolerance of the precision.
    """
    check = compare(evaluator, network, fixed_positions(game))
    if check.fault:
        raise RunError(
            f"this device computes wrongly: {check}; nothing that it answered was kept; "
            "choose another one, as with inference.device=cpu, inference.backend=torch or "
            "inference.precision=float32"
        )
    return check


def compare(
    evaluator: BatchedEvaluator, network: ResNet, observations: Float32Array
) -> DeviceCheck:
    """Return the errors of an evaluator's outputs for `observations` [B, C, H, W]."""
    exact_network = copy.deepcopy(network).to("cpu", torch.float32).eval()
    with torch.inference_mode():
        exact = exact_network(torch.from_numpy(observations))
    errors = {
        name: relative_error(ours, theirs.numpy())
        for name, ours, theirs in zip(
            ("policies", "values"), evaluator.evaluate(observations), exact, strict=True
        )
    }
    return DeviceCheck(errors, TOLERANCES[evaluator.precision])


def fixed_positions(game: Game, games: int = 1) -> Float32Array:
    """Return observations [B, C, H, W] spread over random games, the same at every start.

    They differ, and are at most `POSITIONS` of each game.
    """
    rng = np.random.default_rng(_SEED)
    chosen: dict[bytes, Float32Array] = {}
    for _ in range(games):
        state = game.initial_state()
        positions: list[Float32Array] = []
        while len(positions) < _PLIES and game.outcome(state) == ONGOING:
            positions.append(game.observe(state))
            state = game.play(state, int(rng.choice(np.flatnonzero(game.legal_action_mask(state)))))
        for ply in np.linspace(0, len(positions) - 1, POSITIONS).astype(int).tolist():
            chosen[positions[ply].tobytes()] = positions[ply]
    return np.stack(list(chosen.values()))


@functools.cache
def self_check(device: str) -> DeviceCheck:
    """Compute a small network and its gradient on a device and on the CPU, and compare them.

    A run also compares its own network, in the precision of play, by `check_device`.
    """
    cudnn = torch.backends.cudnn  # torch's default for convolutions is TF32
    if hasattr(cudnn, "conv"):
        cudnn.conv.fp32_precision = "ieee"
    else:  # before torch 2.9
        cudnn.allow_tf32 = False
    try:
        answers = _compute(torch.device(device))
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        reason = str(error).splitlines()[0][:120]
        return DeviceCheck({}, failure=f"torch cannot compute there ({reason})")
    exact = _compute(torch.device("cpu"))
    return DeviceCheck({name: relative_error(answers[name], exact[name]) for name in exact})


def check_network() -> tuple[ResNet, Tensor]:
    """Return the network of the self-check, and 16 observations [B, C, H, W]."""
    settings = NetworkConfig(
        blocks=2, filters=16, policy_filters=2, value_filters=1, value_hidden=16, global_pooling=0
    )
    network = ResNet((3, 6, 7), 7, settings)
    draw = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for weights in network.parameters():  # a new network's blocks are the identity
            weights.add_(0.3 * torch.randn(weights.shape, generator=draw))
    return network, torch.randint(0, 2, (16, 3, 6, 7), generator=draw).float()


def _compute(device: torch.device) -> dict[str, Float32Array]:
    """Return the policy logits [B, A], values [B] and gradient of one step of a fixed network."""
    network, observations = check_network()
    draw = torch.Generator().manual_seed(3)
    policies = torch.softmax(torch.randn(len(observations), 7, generator=draw), 1)
    outcomes = torch.randn(len(observations), generator=draw).sign()
    network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    planes = observations.to(device).contiguous(memory_format=torch.channels_last)
    logits, values = network.train()(planes)
    loss: Tensor = cross_entropy(logits, policies.to(device))
    loss = loss + (outcomes.to(device) - values).square().mean()
    loss.backward()  # type: ignore[no-untyped-call]
    gradients = [
        weight.grad.flatten() for weight in network.parameters() if weight.grad is not None
    ]
    outputs = {"policies": logits, "values": values, "gradients": torch.cat(gradients)}
    return {name: numbers.detach().cpu().numpy() for name, numbers in outputs.items()}


def relative_error(answers: Float32Array, exact: Float32Array) -> float:
    """Return the root mean square of the error, divided by that of `exact` about its mean.

    Both [B] or [B, A]. The mean is over positions, so that a part common to all of them, like a
    new network's bias, does not hide the outputs of another position. NaN is infinitely far.
    """

    def root_mean_square(numbers: Float32Array) -> float:
        return float(np.sqrt(np.mean(np.square(numbers, dtype=np.float64))))

    spread = max(root_mean_square(exact - exact.mean(axis=0)), _MIN_SPREAD)
    error = root_mean_square(answers - exact) / spread
    return error if np.isfinite(error) else float("inf")
