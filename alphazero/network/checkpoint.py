"""One `.safetensors` file is a whole player: its game, its network, its weights, its strength.

The layout is that of safetensors: a length (8 bytes), a JSON header, the tensors. The header's
`__metadata__` says what the file is and carries a SHA-256 over all of it, because safetensors
by itself loads a flipped bit silently. Nothing is ever unpickled.
"""

import dataclasses
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from alphazero.config.fields import noted_fields
from alphazero.config.schema import NetworkConfig
from alphazero.errors import GameError
from alphazero.games import make_game
from alphazero.network.header import (
    FORMAT_VERSION,
    HEADER_LIMIT,
    PLAYER_FORMAT,
    header_of,
    metadata_of,
    parse_object,
    read_file,
    refuse,
    typed,
)
from alphazero.network.resnet import ResNet
from alphazero.utils.files import sha256_hex, shown, write_atomic

JSON: TypeAlias = dict[str, "JSON"] | list["JSON"] | str | int | float | bool | None


_WIDTH_LIMIT: Final = 1 << 16
# The library's own error, and what torch says about shapes that no tensor can have.
_UNREADABLE_TENSORS: Final = (
    *(safetensors.SafetensorError, AssertionError, OverflowError),
    *(RuntimeError, TypeError, ValueError),
)
_RESERVED: Final = ("format", "format_version", "sha256")

_NAMES_OF_TYPES: Final = {
    torch.float32: "F32",
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.float64: "F64",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A player at one moment of its training; `source` says in messages where it was read.

    `weights` are those of the network's `state_dict`; `step` and `iteration` count optimizer
    updates and turns of the loop; `rating` is in Elo, None when unknown; `details` is for people.
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

    def network(self) -> ResNet:
        """Return a new network with a copy of these weights, in evaluation mode.

        Raises CheckpointError when the game is not known here or the weights do not fit it.
        """
        network = self._skeleton()
        weights = {name: tensor.detach().clone() for name, tensor in self.weights.items()}
        network.load_state_dict(weights, assign=True)
        return network.eval()

    def _skeleton(self) -> ResNet:
        """Return the network without memory, once every weight is known to fit it."""
        # Before anything is built: a header may ask for a billion blocks.
        if self.network_settings.blocks > len(self.weights):
            refuse(self.source, "it holds fewer weights than its network has blocks; it is damaged")
        try:
            game = make_game(self.game_name, **self.game_options)
        except (GameError, TypeError, ValueError, OverflowError) as error:
            refuse(self.source, f"its game cannot be made here: {error}")
        network = ResNet(game.observation_shape, game.num_actions, self.network_settings, None)
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
    """Write one player, atomically; return the SHA-256 of the file (64 hexadecimal digits).

    Equal checkpoints give equal files. Raises CheckpointError for weights that are no numbers,
    RunError when the file cannot be written.
    """
    data = checkpoint_bytes(checkpoint, shown(path))
    write_atomic(path, data)
    return sha256_hex(data)


def checkpoint_bytes(checkpoint: Checkpoint, name: str) -> bytes:
    """Return the bytes of a player's file; `name` stands in errors.

    Raises CheckpointError for weights that are no numbers: NaN, infinity, a negative variance.
    """
    _check_numbers(name, checkpoint.weights)
    player = {
        "game": {"name": checkpoint.game_name, "options": checkpoint.game_options},
        "network": dataclasses.asdict(checkpoint.network_settings),
        "step": checkpoint.step,
        "iteration": checkpoint.iteration,
        "rating": checkpoint.rating,
        "details": checkpoint.details,
    }
    text = json.dumps(player, allow_nan=False, sort_keys=True)
    return _bytes_of_file(name, checkpoint.weights, {"format": PLAYER_FORMAT, "player": text})


def load_checkpoint(path: Path | str) -> Checkpoint:
    """Read one player and verify it: hash, format, sound weights, and that they fit the game.

    Raises CheckpointError, in one line that names the path, for whatever is wrong.
    """
    return read_checkpoint(read_file(path), shown(path))


def read_checkpoint(data: bytes, name: str) -> Checkpoint:
    """Read the bytes of a player's file as `load_checkpoint` does; `name` stands in errors.

    Raises CheckpointError, in one line that names it, for whatever is wrong.
    """
    tensors, metadata = _tensors_of(data, name, PLAYER_FORMAT)
    try:
        checkpoint = _checkpoint_of(parse_object(metadata["player"]), tensors, name)
    except (KeyError, TypeError, ValueError) as error:
        refuse(name, f"its description of the player is unreadable ({error}); it is damaged")
    _check_numbers(name, tensors)
    checkpoint._skeleton()
    return checkpoint


def _checkpoint_of(player: dict[str, Any], weights: dict[str, Tensor], source: str) -> Checkpoint:
    """Return the checkpoint that a file describes; KeyError, TypeError or ValueError if none."""
    game = typed(player["game"], dict)
    rating = player["rating"]
    return Checkpoint(
        game_name=typed(game["name"], str),
        game_options=typed(game["options"], dict),
        network_settings=_settings_of(typed(player["network"], dict)),
        weights=weights,
        step=typed(player["step"], int),
        iteration=typed(player["iteration"], int),
        rating=None if rating is None else float(typed(rating, int, float)),
        details=typed(player["details"], dict),
        source=source,
    )


def _settings_of(values: dict[str, Any]) -> NetworkConfig:
    """Return the network's settings; TypeError for an unknown one, ValueError out of range.

    A setting that is younger than the file has its default, which is how networks were before.
    """
    settings = NetworkConfig(**values)
    for each, kind, note in noted_fields(NetworkConfig):
        value = typed(getattr(settings, each.name), kind)
        if kind is int and not (note.at_least or 0) <= value <= _WIDTH_LIMIT:
            raise ValueError(f"{each.name} = {value}")
        if note.choices and value not in note.choices:
            raise ValueError(f"{each.name} = {value!r}")
    if settings.global_pooling >= settings.filters:
        raise ValueError(f"global_pooling = {settings.global_pooling}")
    return settings


def save_tensors(path: Path | str, tensors: dict[str, Tensor], metadata: dict[str, str]) -> str:
    """Write tensors and texts as one verified file, atomically; return the file's SHA-256.

    `metadata` must name the file's "format"; "format_version" and "sha256" are added here.
    Raises CheckpointError when the header would be too large to read, RunError from the disk.
    """
    data = _bytes_of_file(shown(path), tensors, metadata)
    write_atomic(path, data)
    return sha256_hex(data)


def _bytes_of_file(name: str, tensors: dict[str, Tensor], metadata: dict[str, str]) -> bytes:
    """Return what `save_tensors` writes."""
    texts = {**metadata, "format_version": str(FORMAT_VERSION)}
    texts["sha256"] = _digest(texts, tensors)
    # Written here, because the library orders its metadata at random: files could not be compared.
    header: dict[str, Any] = {"__metadata__": dict(sorted(texts.items()))}
    end = 0
    contents = []
    # The widest types first keep every tensor aligned.
    for key, tensor in sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0])):
        contents.append(_bytes_of(tensor))
        start, end = end, end + len(contents[-1])
        kind, shape = _NAMES_OF_TYPES[tensor.dtype], list(tensor.shape)
        header[key] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > HEADER_LIMIT:
        refuse(name, f"its header would exceed {HEADER_LIMIT:,} bytes", "write")
    return b"".join((len(text).to_bytes(8, "little"), text, *contents))


def load_tensors(
    path: Path | str, expected_format: str
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read and verify a file of `save_tensors`; return its tensors and its other texts.

    The memory needed is at most about twice the file.
    Raises CheckpointError, in one line that names the path, for whatever is wrong.
    """
    return _tensors_of(read_file(path), shown(path), expected_format)


def _tensors_of(
    data: bytes, name: str, expected_format: str
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Verify the bytes of a file and return what `load_tensors` does."""
    header = header_of(name, data)
    texts = metadata_of(name, header, expected_format)
    if foreign := {each.get("dtype", "") for each in header.values()} - set(
        _NAMES_OF_TYPES.values()
    ):
        refuse(name, f"it holds tensors of a type that is not used here ({foreign.pop()!r})")
    try:
        tensors = safetensors.torch.load(data)
    except _UNREADABLE_TENSORS:
        refuse(name, "its tensors are not where its header says; it is damaged or incomplete")
    if _digest(texts, tensors) != texts["sha256"]:
        refuse(name, "its SHA-256 does not match: the file is damaged; use another copy of it")
    return tensors, {key: text for key, text in texts.items() if key not in _RESERVED}


def _digest(texts: dict[str, str], tensors: dict[str, Tensor]) -> str:
    """Return the SHA-256 of every text but the hash itself, and of every tensor, in name order.

    Each part is preceded by its length, so that no two contents give the same sequence of bytes.
    """
    digest = hashlib.sha256()

    def add(part: bytes | memoryview) -> None:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)

    for key, text in sorted(texts.items()):
        if key != "sha256":
            add(key.encode())
            add(text.encode())
    for name, tensor in sorted(tensors.items()):
        add(name.encode())
        add(_NAMES_OF_TYPES[tensor.dtype].encode())
        add(json.dumps(list(tensor.shape)).encode())
        add(_bytes_of(tensor))
    return digest.hexdigest()


def _bytes_of(tensor: Tensor) -> memoryview:
    """Return the tensor's bytes in row-major order, without a copy where it lies so already."""
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().data


def _check_numbers(name: str, weights: dict[str, Tensor]) -> None:
    """Raise CheckpointError when a weight is NaN or infinite, or a variance is negative."""
    for key, tensor in sorted(weights.items()):
        fault = ""
        if not bool(torch.isfinite(tensor).all()):
            fault = "NaN or infinity"
        elif key.endswith("running_var") and bool((tensor < 0).any()):
            fault = "a negative variance"
        if fault:
            refuse(name, f"weight {key!r} holds {fault}; use an earlier checkpoint", "use")


def _describe(tensor: Tensor) -> str:
    """Return type and shape as a message prints them: `F32 [64, 3, 3, 3]`."""
    return f"{_NAMES_OF_TYPES[tensor.dtype]} {list(tensor.shape)}"
