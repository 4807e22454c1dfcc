"""Checkpoints: one `.safetensors` file holds a player's game, network, weights and strength.

The layout is that of safetensors: a length (8 bytes), a JSON header, the tensors. The header's
`__metadata__` holds the format and a SHA-256 over all contents, because safetensors by itself
loads a flipped bit silently. Nothing is ever unpickled.
"""

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from torch import Tensor

from alphazero.config.fields import WrongValueError, config_fields
from alphazero.config.schema import AUXILIARY_HEADS, NetworkConfig, check_names
from alphazero.errors import GameError
from alphazero.games import Game, make_game
from alphazero.network.header import PLAYER_FORMAT, read_file, refuse
from alphazero.network.resnet import ResNet
from alphazero.network.tensor_file import (
    JSON,
    NAMES_OF_TYPES,
    bytes_of_file,
    check_numbers,
    parse_tensors,
)
from alphazero.utils.checked_json import parse_object, typed
from alphazero.utils.files import printable, sha256_hex, write_atomic

_WIDTH_LIMIT: Final = 1 << 16


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A player at one moment of its training; `source` names the file in messages.

    `weights` is the network's `state_dict`; `step` counts optimizer updates; `rating` is in Elo,
    None if unknown; `details` is for people.
    """

    game_name: str
    game_options: dict[str, Any]
    network_settings: NetworkConfig
    weights: dict[str, Tensor]
    step: int
    iteration: int
    rating: float | None = None
    details: dict[str, JSON] = field(default_factory=dict)
    source: str = "this checkpoint"

    def network(self, game: Game | None = None) -> ResNet:
        """Return a new network with a copy of these weights, in evaluation mode.

        `game` is the one to play, as another size of the board; default: that of training.

        Raises:
            CheckpointError: when the game is unknown or the weights do not fit it.
        """
        network = self._validated_network(game)
        weights = {name: tensor.detach().clone() for name, tensor in self.weights.items()}
        network.load_state_dict(weights, assign=True)
        return network.eval()

    def _validated_network(self, game: Game | None = None) -> ResNet:
        """Return the network on the "meta" device, after checking that every weight fits it."""
        # Before anything is built: a header may ask for a billion blocks.
        if self.network_settings.blocks > len(self.weights):
            refuse(self.source, "it holds fewer weights than its network has blocks; it is damaged")
        try:
            game = game or make_game(self.game_name, **self.game_options)
        except (GameError, TypeError, ValueError, OverflowError) as error:
            refuse(self.source, f"its game cannot be made here: {error}")
        network = ResNet.of(game, self.network_settings, None)
        expected = network.state_dict()
        if odd := sorted(expected.keys() ^ self.weights.keys()):
            kind = "lacks" if odd[0] in expected else "has an unknown"
            refuse(self.source, f"its network {kind} weight {odd[0]!r}; it is of another program")
        for name, tensor in sorted(self.weights.items()):
            wanted = expected[name]
            if (tensor.shape, tensor.dtype) != (wanted.shape, wanted.dtype):
                refuse(
                    self.source,
                    f"it does not fit the game {self.game_name!r}: expected weight {name!r} "
                    f"{_describe(wanted)}, received {_describe(tensor)}",
                )
        return network


def save_checkpoint(path: Path | str, checkpoint: Checkpoint) -> str:
    """Write a player atomically; return the SHA-256 of the file (64 hexadecimal digits).

    Equal checkpoints give equal files.

    Raises:
        CheckpointError: for weights that are NaN, infinite or a negative variance.
        RunError: when the file cannot be written.
    """
    data = checkpoint_bytes(checkpoint, printable(path))
    write_atomic(path, data)
    return sha256_hex(data)


def checkpoint_bytes(checkpoint: Checkpoint, name: str) -> bytes:
    """Return the bytes of a player's file; raise CheckpointError for `name` as `check_numbers`."""
    check_numbers(name, checkpoint.weights)
    shape = dataclasses.asdict(checkpoint.network_settings)
    del shape["initial"]  # the run's, not the network's
    player = {
        "game": {"name": checkpoint.game_name, "options": checkpoint.game_options},
        "network": shape,
        "step": checkpoint.step,
        "iteration": checkpoint.iteration,
        "rating": checkpoint.rating,
        "details": checkpoint.details,
    }
    text = json.dumps(player, allow_nan=False, sort_keys=True)
    return bytes_of_file(name, checkpoint.weights, {"format": PLAYER_FORMAT, "player": text})


def load_checkpoint(path: Path | str) -> Checkpoint:
    """Read a player; raise CheckpointError for a wrong hash, format, game or weight."""
    return read_checkpoint(read_file(path), printable(path))


def read_checkpoint(data: bytes, name: str) -> Checkpoint:
    """Do the same as `load_checkpoint` for the bytes of a file; `name` is for errors."""
    tensors, metadata = parse_tensors(data, name, PLAYER_FORMAT)
    try:
        checkpoint = _checkpoint_of(parse_object(metadata["player"]), tensors, name)
    except (KeyError, TypeError, ValueError, WrongValueError) as error:
        refuse(name, f"its description of the player is unreadable ({error}); it is damaged")
    check_numbers(name, tensors)
    checkpoint._validated_network()
    return checkpoint


def _checkpoint_of(player: dict[str, Any], weights: dict[str, Tensor], source: str) -> Checkpoint:
    """Return the checkpoint in a file; raise KeyError, TypeError or ValueError if malformed."""
    game = typed(player["game"], dict)
    network = typed(player["network"], dict)
    heads = check_names(network.get("auxiliary"), "heads", AUXILIARY_HEADS)
    rating = player["rating"]
    return Checkpoint(
        game_name=typed(game["name"], str),
        game_options=typed(game["options"], dict),
        network_settings=_settings_of(network | {"auxiliary": heads}, source),
        weights=weights,
        step=typed(player["step"], int),
        iteration=typed(player["iteration"], int),
        rating=None if rating is None else float(typed(rating, int, float)),
        details=typed(player["details"], dict),
        source=source,
    )


def _settings_of(values: dict[str, Any], source: str) -> NetworkConfig:
    """Return the network's settings; raise TypeError or ValueError for a wrong value."""
    if odd := sorted(values.keys() ^ NetworkConfig.__dataclass_fields__.keys() - {"initial"}):
        kind = "has the unknown" if odd[0] in values else "lacks the"
        refuse(source, f"its network {kind} setting {odd[0]!r}; it is of another version")
    settings = NetworkConfig(**values)
    for each, kind, note in config_fields(NetworkConfig):
        if note.read:  # checked above
            continue
        value = typed(getattr(settings, each.name), kind)
        if kind is int and not (note.at_least or 0) <= value <= _WIDTH_LIMIT:
            raise ValueError(f"{each.name} = {value}")
        if note.choices and value not in note.choices:
            raise ValueError(f"{each.name} = {value!r}")
    if settings.global_pooling >= settings.filters:
        raise ValueError(f"global_pooling = {settings.global_pooling}")
    return settings


def _describe(tensor: Tensor) -> str:
    """Return type and shape: `F32 [64, 3, 3, 3]`."""
    return f"{NAMES_OF_TYPES[tensor.dtype]} {list(tensor.shape)}"
