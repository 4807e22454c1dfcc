"""A check for faulty devices, before any of their outputs is kept.

At the start of a run its evaluator and a plain copy of the network, in float32 on the CPU, evaluate
the same fixed positions. Otherwise a faulty driver, kernel or memory would write games and weights
that look like any others.

Shapes: B positions, C planes, H rows, W columns, A actions.
"""

import copy
from typing import Final, NamedTuple, Protocol

import numpy as np
import torch

from alphazero.errors import RunError
from alphazero.games import ONGOING, Game
from alphazero.network.resnet import ResNet
from alphazero.utils.arrays import Float32Array

POSITIONS: Final = 16
_PLIES: Final = 200
_SEED: Final = 2017

TOLERANCES: Final = {"float32": 0.02, "bfloat16": 0.2}
"""The largest error allowed, by precision, as a share of the spread of the outputs over positions.
Measured on CPUs for networks of every size shipped here, new and trained: 0.000001 and 0.04.
Unrelated outputs are off by 1."""

_LEAST_SPREAD: Final = 0.02
"""The smallest spread to divide by, that of a new network. A network that is sure of every game has
nearly equal outputs."""


class PreciseEvaluator(Protocol):
    """An evaluator that names its precision."""

    precision: str

    def evaluate(self, observations: Float32Array) -> tuple[Float32Array, Float32Array]:
        """Return policy logits float32 [B, A] and values float32 [B]."""


class DeviceCheck(NamedTuple):
    """The errors of an evaluator's outputs, as shares of the reference's spread."""

    policy: float
    value: float
    tolerance: float

    def __str__(self) -> str:
        return (
            f"policies are off by {self.policy:.3%} and values by {self.value:.3%} of their "
            f"spread (at most {self.tolerance:.0%}) from float32 on the CPU"
        )


def check_device(evaluator: PreciseEvaluator, network: ResNet, game: Game) -> DeviceCheck:
    """Compare an evaluator's outputs with those of its `network`, which is not changed.

    Raises:
        RunError: when an error exceeds the tolerance of the precision.
    """
    agreement = compare(evaluator, network, fixed_positions(game))
    if not max(agreement.policy, agreement.value) <= agreement.tolerance:
        raise RunError(
            f"this device computes wrongly: {agreement}; nothing that it answered was kept; "
            "choose another one, as with inference.device=cpu, inference.backend=torch or "
            "inference.precision=float32"
        )
    return agreement


def compare(
    evaluator: PreciseEvaluator, network: ResNet, observations: Float32Array
) -> DeviceCheck:
    """Return the errors of an evaluator's outputs for `observations` [B, C, H, W]."""
    logits, values = evaluator.evaluate(observations)
    plain = copy.deepcopy(network).to("cpu", torch.float32).eval()
    with torch.inference_mode():
        exact_logits, exact_values = (
            answer.numpy() for answer in plain(torch.from_numpy(observations))
        )
    return DeviceCheck(
        relative_error(logits, exact_logits),
        relative_error(values, exact_values),
        TOLERANCES[evaluator.precision],
    )


def fixed_positions(game: Game) -> Float32Array:
    """Return observations [B, C, H, W] spread over one random game, the same at every start."""
    rng = np.random.default_rng(_SEED)
    state = game.initial_state()
    seen: list[Float32Array] = []
    while len(seen) < _PLIES and game.outcome(state) == ONGOING:
        seen.append(game.observe(state))
        state = game.play(state, int(rng.choice(np.flatnonzero(game.legal_action_mask(state)))))
    chosen = np.linspace(0, len(seen) - 1, POSITIONS).astype(int)
    return np.stack([seen[ply] for ply in np.unique(chosen)])


def relative_error(answers: Float32Array, exact: Float32Array) -> float:
    """Return the root mean square of the error, divided by that of `exact` about its mean.

    Both [B] or [B, A]. The mean is over positions, so that a part common to all of them, like a
    new network's bias, does not hide the outputs of another position. NaN is infinitely far.
    """
    spread = max(_root_mean_square(exact - exact.mean(axis=0)), _LEAST_SPREAD)
    distance = _root_mean_square(answers - exact) / spread
    return distance if np.isfinite(distance) else float("inf")


def _root_mean_square(numbers: Float32Array) -> float:
    return float(np.sqrt(np.mean(np.square(numbers, dtype=np.float64))))
