"""A player's network as an ONNX file that explains itself, compared with torch before it is kept.

Shapes: B positions, C planes, H rows, W columns.
"""

import json
from importlib.metadata import version
from typing import Any, Final, NamedTuple

import numpy as np
import torch

from alphazero.errors import ConfigError, RunError
from alphazero.games.game import Game
from alphazero.games.registry import write_game
from alphazero.network.checkpoint import Checkpoint, settings_dict
from alphazero.network.inference.backend import onnx_is_installed
from alphazero.network.inference.device_check import fixed_positions
from alphazero.network.inference.onnx_evaluator import (
    BATCH,
    INPUT,
    LOGITS,
    VALUES,
    onnx_bytes,
    open_session,
)
from alphazero.network.resnet import ResNet, fold_batch_norm
from alphazero.utils.arrays import Float32Array
from alphazero.utils.files import sha256_of
from alphazero.utils.shipped import shipped_players

ONNX_FORMAT: Final = "alphazero-onnx"
FORMAT_VERSION: Final = 1

GAMES: Final = 64
"""Random games whose positions, about a thousand, are those on which a model is compared."""

TOLERANCE: Final = 1e-3
"""Largest difference of a logit or value from torch. The shipped players have at most 0.00003."""


class Comparison(NamedTuple):
    """A model's answers compared with torch in float32."""

    positions: int
    logit_error: float
    """largest absolute difference of a policy logit"""
    value_error: float
    """largest absolute difference of a value"""

    @property
    def good(self) -> bool:
        return max(self.logit_error, self.value_error) <= TOLERANCE

    def __str__(self) -> str:
        return (
            f"on {self.positions:,} positions the largest difference from torch is "
            f"{self.logit_error:.2g} in a policy logit and {self.value_error:.2g} in a value; "
            f"at most {TOLERANCE:g} is allowed"
        )


class OnnxModel(NamedTuple):
    """An ONNX file before it is written."""

    data: bytes
    """the file's contents"""
    metadata: dict[str, str]
    comparison: Comparison

    def describe(self) -> str:
        """Return the names and shapes of inputs and outputs, and the comparison, in a few lines."""
        shape, actions = self.metadata["observation_shape"][1:-1], self.metadata["num_actions"]
        return (
            f"input   {INPUT:14} float32 [{BATCH}, {shape}]\n"
            f"output  {LOGITS:14} float32 [{BATCH}, {actions}]\n"
            f"output  {VALUES:14} float32 [{BATCH}], from -1 to 1, for the player to move\n"
            f"planes  {self.metadata['planes']}\n{self.comparison}"
        )


def export_model(checkpoint: Checkpoint, games: int = GAMES) -> OnnxModel:
    """Return a player's network as an ONNX model.

    Raises:
        ConfigError: when ONNX is not installed.
        RunError: when the model's answers differ too much from torch in `games` random games.
    """
    if not onnx_is_installed():
        raise ConfigError("ONNX is not installed; pip install 'alphazero[onnx]'")
    game = checkpoint.game
    network = fold_batch_norm(checkpoint.network())
    metadata = _describe(checkpoint, game)
    data = onnx_bytes(network, metadata)
    comparison = compare_with_torch(data, network, fixed_positions(game, games))
    if not comparison.good:
        raise RunError(f"the model was not written: {comparison}")
    return OnnxModel(data, metadata, comparison)


@torch.inference_mode()
def compare_with_torch(data: bytes, network: ResNet, observations: Float32Array) -> Comparison:
    """Compare a model in ONNX Runtime with its folded network in torch, in float32.

    `observations` [B, C, H, W], B above 0.
    """
    exact = [output.numpy() for output in network(torch.from_numpy(observations))]
    received: Any = open_session(data).run([LOGITS, VALUES], {INPUT: observations})
    logit_error, value_error = (
        float(np.abs(ours - theirs).max()) for ours, theirs in zip(received, exact, strict=True)
    )
    return Comparison(len(observations), logit_error, value_error)


def _describe(checkpoint: Checkpoint, game: Game) -> dict[str, str]:
    """Return the metadata of a model: texts, some of them JSON.

    Players of the package have its licence; others belong to their trainers.
    """
    start = game.initial_state()
    names = [
        game.action_name(start, action) if legal else None
        for action, legal in enumerate(game.legal_action_mask(start))
    ]
    shipped = any(sha256_of(path) == checkpoint.sha256 for path in shipped_players().values())
    planes = type(game).observation_shape.__doc__ or "not described"  # not that of `Game`
    facts: dict[str, Any] = {
        "format": ONNX_FORMAT,
        "format_version": FORMAT_VERSION,
        "producer": f"alphazero {version('alphazero')}",
        "license": "MIT" if shipped else "unspecified",
        "player_sha256": checkpoint.sha256,
        "game": write_game(game),
        "game_options": game.options,
        "planes": " ".join(planes.split()).rstrip("."),
        "observation_shape": game.observation_shape,
        "num_actions": game.num_actions,
        "first_actions": names,
        "network": settings_dict(checkpoint.network_settings),
        "step": checkpoint.step,
        "iteration": checkpoint.iteration,
    }
    return {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in facts.items()
    }
