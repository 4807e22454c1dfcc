"""Checkpoints: one `.safetensors` file holds a player's game, network, weights and strength.

The layout is that of safetensors: a length (8 bytes), a JSON header, the tensors. The header's
`__metadata__` holds the format and the SHA-256 of the whole file, in which the hash itself counts
as zeros, because safetensors by itself loads a flipped bit silently. Nothing is ever unpickled.

Only functions that need tensors import torch, so that a wrong file is refused early.
"""

import hashlib
import importlib
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

from alphazero.config.fields import Reader
from alphazero.config.schema import Config, NetworkConfig
from alphazero.config.strict_yaml import Document
from alphazero.errors import CheckpointError, ConfigError, GameError, RunError
from alphazero.utils.checked_json import parse_object, typed
from alphazero.utils.files import (
    explain_os_error,
    printable,
    read_limited,
    sha256_hex,
    suggest_file,
    write_atomic,
)
from alphazero.utils.machine import total_memory
from alphazero.utils.shipped import find_shipped, shipped_players

if TYPE_CHECKING:
    from torch import Tensor

    from alphazero.games import Game
    from alphazero.network.resnet import ResNet

JSON: TypeAlias = dict[str, "JSON"] | list["JSON"] | str | int | float | bool | None

BEST: Final = "best.safetensors"
"""The best player in a run's folder."""
PLAYER_FORMAT: Final = "alphazero-player"
FORMAT_VERSION: Final = 2
"""The version of every format written here, and the only one that is read."""
HEADER_LIMIT: Final = 1 << 20
FILE_LIMIT: Final = 4 << 30
LEARNING_COPIES: Final = 4
"""Copies of the weights in memory while learning, about: weights, gradient, momentum and EMA."""

_FLOATS: Final = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16"}
TYPES: Final = _FLOATS | {"int64": "I64", "int32": "I32", "uint8": "U8", "bool": "BOOL"}
"""Names in safetensors of torch's types."""

_HASH: Final = b'"sha256":"'
"""What precedes the hash. Within the header's texts the quotation marks are escaped."""
_NO_HASH: Final = b"0" * 64
_MESSAGE_LIMIT: Final = 400


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A player at one moment of its training."""

    game_name: str
    game_options: dict[str, Any]
    network_settings: NetworkConfig
    weights: "dict[str, Tensor]"
    """the network's `state_dict`"""
    step: int
    """optimizer updates"""
    iteration: int
    rating: float | None = None
    """in Elo; None if unknown"""
    details: dict[str, JSON] = field(default_factory=dict)
    """for people"""
    source: str = "this checkpoint"
    """the file's name in messages"""
    sha256: str = ""
    """of the file that it was read from, which may be replaced later; empty without a file"""

    @property
    def player_hash(self) -> str:
        """The first 16 hex digits of `sha256`, which identify the player in games and levels."""
        return self.sha256[:16]

    @property
    def num_weights(self) -> int:
        return sum(math.prod(tensor.shape) for tensor in self.weights.values())

    @property
    def game(self) -> "Game":
        """The game of its training; raises GameError when it is unknown here."""
        from alphazero.games import make_game  # late: it loads numba

        return make_game(self.game_name, **self.game_options)

    def network(self, game: "Game | None" = None) -> "ResNet":
        """Return a new network with a copy of these weights, in evaluation mode.

        `game` is the one to play, as another size of the board; default: that of training.

        Raises:
            CheckpointError: when the game is unknown or the weights do not fit it.
        """
        network = self._validated_network(game)
        weights = {name: tensor.detach().clone() for name, tensor in self.weights.items()}
        network.load_state_dict(weights, assign=True)
        return network.eval()

    def _validated_network(self, game: "Game | None" = None) -> "ResNet":
        """Return the network on the "meta" device, after checking that every weight fits it."""
        from alphazero.network.resnet import ResNet

        # Before anything is built: a header may ask for a thousand blocks.
        if self.network_settings.blocks > len(self.weights):
            refuse(self.source, "it holds fewer weights than its network has blocks; it is damaged")
        try:
            game = game or self.game
        except (GameError, TypeError, ValueError, OverflowError) as error:
            refuse(self.source, f"its game cannot be made here: {error}")
        network = ResNet.of(game, self.network_settings, None)
        expected = network.state_dict()
        if odd := sorted(expected.keys() ^ self.weights.keys()):
            kind = "lacks" if odd[0] in expected else "has an unknown"
            refuse(self.source, f"its network {kind} weight {odd[0]!r}; it is of another program")
        for name, tensor in sorted(self.weights.items()):
            ours, theirs = _describe(expected[name]), _describe(tensor)
            if ours != theirs:
                refuse(
                    self.source,
                    f"it does not fit the game {self.game_name!r}: expected weight {name!r} "
                    f"{ours}, received {theirs}",
                )
        return network


# --- players -------------------------------------------------------------------------------------


def save_checkpoint(path: Path | str, checkpoint: Checkpoint) -> str:
    """Write a player atomically; return the SHA-256 of the file, in hexadecimal digits.

    Raises:
        CheckpointError: for weights that are NaN, infinite or a negative variance.
        RunError: when the file cannot be written.
    """
    data = checkpoint_bytes(checkpoint, printable(path))
    write_atomic(path, data)
    return sha256_hex(data)


def checkpoint_bytes(checkpoint: Checkpoint, name: str) -> bytes:
    """Return the bytes of a player's file; raise CheckpointError as `save_checkpoint`."""
    _check_numbers(name, checkpoint.weights)
    player = {
        "game": {"name": checkpoint.game_name, "options": checkpoint.game_options},
        "network": settings_dict(checkpoint.network_settings),
        "step": checkpoint.step,
        "iteration": checkpoint.iteration,
        "rating": checkpoint.rating,
        "details": checkpoint.details,
    }
    text = json.dumps(player, allow_nan=False, sort_keys=True)
    return tensors_to_bytes(name, checkpoint.weights, {"format": PLAYER_FORMAT, "player": text})


def settings_dict(settings: NetworkConfig) -> dict[str, Any]:
    """Return the settings of a network by name, without `initial`, which is the run's."""
    return {name: value for name, value in vars(settings).items() if name != "initial"}


def load_checkpoint(path: Path | str) -> Checkpoint:
    """Read a player; raise CheckpointError for a wrong hash, format, game or weight."""
    return read_checkpoint(_read_file(path), printable(path))


def read_checkpoint(data: bytes, name: str) -> Checkpoint:
    """Read a player from the bytes of a file, as `load_checkpoint`; `name` is for errors."""
    checkpoint = _parse_player(data, name)
    _check_numbers(name, checkpoint.weights)
    checkpoint._validated_network()
    return checkpoint


def load_description(path: Path | str) -> Checkpoint:
    """Read a player in a tenth of the time, without torch: its weights are numpy arrays.

    Raises CheckpointError as `load_checkpoint`, but not for weights that no network can have.
    """
    return _parse_player(_read_file(path), printable(path), "numpy")


def _parse_player(data: bytes, name: str, library: str = "torch") -> Checkpoint:
    weights, metadata = parse_tensors(data, name, PLAYER_FORMAT, library)
    try:
        player = parse_object(metadata["player"])
        game, rating = typed(player["game"], dict), player["rating"]
        return Checkpoint(
            game_name=typed(game["name"], str),
            game_options=typed(game["options"], dict),
            network_settings=_settings_of(typed(player["network"], dict), name),
            weights=weights,
            step=typed(player["step"], int),
            iteration=typed(player["iteration"], int),
            rating=None if rating is None else float(typed(rating, int, float)),
            details=typed(player["details"], dict),
            source=name,
            sha256=sha256_hex(data),
        )
    except (KeyError, TypeError, ValueError) as error:
        refuse(name, f"its description of the player is unreadable ({error}); it is damaged")


def _settings_of(values: dict[str, Any], source: str) -> NetworkConfig:
    """Return the network's settings; raise ValueError for a wrong value."""
    if odd := sorted(values.keys() ^ NetworkConfig.__dataclass_fields__.keys() - {"initial"}):
        kind = "has the unknown" if odd[0] in values else "lacks the"
        refuse(source, f"its network {kind} setting {odd[0]!r}; it is of another version")
    reader = Reader("the header", Document({}, {}, []))
    settings = reader.read(NetworkConfig, ("network",), values)
    if reader.problems:
        raise ValueError(reader.problems[0].message)
    if settings.global_pooling >= settings.filters:
        raise ValueError(f"global_pooling: {settings.global_pooling} is not less than filters")
    return settings


def _check_numbers(name: str, weights: "dict[str, Tensor]") -> None:
    """Raise CheckpointError when a weight is NaN or infinite, or a variance is negative."""
    for key, tensor in sorted(weights.items()):
        if not tensor.isfinite().all():
            fault = "NaN or infinity"
        elif key.endswith("running_var") and (tensor < 0).any():
            fault = "a negative variance"
        else:
            continue
        refuse(name, f"weight {key!r} holds {fault}; use an earlier checkpoint", "use")


def _describe(tensor: "Tensor") -> str:
    """Return type and shape: `F32 [64, 3, 3, 3]`."""
    return f"{_type_of(tensor)} {list(tensor.shape)}"


def check_network_size(config: Config, game: "Game") -> None:
    """Raise ConfigError unless the network fits a checkpoint, and learning fits this machine."""
    from alphazero.network.resnet import ResNet

    skeleton = ResNet.of(game, config.network, None)
    size = sum(weights.nbytes for weights in skeleton.parameters())
    needed, memory = LEARNING_COPIES * size, total_memory()
    if size > FILE_LIMIT:
        fault = f"a checkpoint holds {FILE_LIMIT / 2**30:,.0f} GiB at most"
    elif memory and needed > memory:
        fault = f"learning takes {needed / 2**30:,.1f} GiB, of {memory / 2**30:,.1f} GiB here"
    else:
        return
    raise ConfigError(
        f"network: its weights take {size / 2**30:,.1f} GiB, and {fault}; lower network.filters or "
        "blocks, or policy_filters or value_hidden"
    )


# --- files of tensors ----------------------------------------------------------------------------


def tensors_to_bytes(name: str, tensors: "dict[str, Tensor]", metadata: dict[str, str]) -> bytes:
    """Return the bytes of a verified file; raise CheckpointError if its header is too large.

    `metadata` must have a "format"; "format_version" and "sha256" are added. `name` is for errors.
    """
    import torch

    texts = {**metadata, "format_version": str(FORMAT_VERSION), "sha256": _NO_HASH.decode()}
    # Written here, because the library orders its metadata at random: equal files would differ.
    header: dict[str, Any] = {"__metadata__": dict(sorted(texts.items()))}
    end = 0
    contents = []
    # Descending element sizes keep every tensor aligned.
    for key, tensor in sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0])):
        row_major = tensor.detach().cpu().contiguous().reshape(-1)
        contents.append(row_major.view(torch.uint8).numpy().data)
        start, end = end, end + len(contents[-1])
        kind, shape = _type_of(tensor), list(tensor.shape)
        header[key] = {"dtype": kind, "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > HEADER_LIMIT:
        refuse(name, f"its header would exceed {HEADER_LIMIT:,} bytes", "write")
    head = len(text).to_bytes(8, "little") + text
    digest = hashlib.sha256(head)
    for content in contents:
        digest.update(content)
    head = head.replace(_HASH + _NO_HASH, _HASH + digest.hexdigest().encode(), 1)
    return b"".join((head, *contents))


def parse_tensors(
    data: bytes, name: str, expected_format: str, library: str = "torch"
) -> "tuple[dict[str, Tensor], dict[str, str]]":
    """Verify the bytes of a file; return its tensors and its other texts.

    The tensors are those of `library`, torch or numpy, and take about as much memory again as
    `data`. Raises CheckpointError for any fault.
    """
    import safetensors

    load: Any = importlib.import_module(f"safetensors.{library}").load
    header, texts = _parse_header(data, name, expected_format)
    if _digest(data) != texts.pop("sha256"):
        refuse(name, "its SHA-256 does not match: the file is damaged; use another copy of it")
    if foreign := {tensor.get("dtype", "") for tensor in header.values()} - set(TYPES.values()):
        refuse(name, f"it holds tensors of a type that is not used here ({foreign.pop()!r})")
    # The library's own error, and torch's errors for impossible shapes.
    errors = safetensors.SafetensorError, AssertionError, OverflowError, RuntimeError
    try:
        return load(data), texts
    except (*errors, TypeError, ValueError):
        refuse(name, "its tensors are not where its header says; it is damaged or incomplete")


def _digest(data: bytes) -> str:
    """Return the SHA-256 of a file in which the hash counts as zeros, without a copy of it."""
    place = data.find(_HASH) + len(_HASH)
    digest = hashlib.sha256(data[:place])
    digest.update(_NO_HASH)
    digest.update(memoryview(data)[place + len(_NO_HASH) :])
    return digest.hexdigest()


def _type_of(tensor: "Tensor") -> str:
    return TYPES[str(tensor.dtype).removeprefix("torch.")]


# --- headers, without torch ----------------------------------------------------------------------


def find_checkpoint(path: Path) -> Path:
    """Return `path`, or the best player's checkpoint if `path` is a run's folder.

    The name of a shipped player, as `connect_four`, is its file.

    Raises:
        CheckpointError: for a folder without one, and for a missing file with a similar name.
    """
    try:
        path = find_shipped(path, shipped_players())
        best = path / BEST
        if best.exists():
            return best
        if path.is_dir():
            expected = "a .safetensors file or the folder of a run"
            raise CheckpointError(f"{printable(path)} holds no {BEST}; give {expected}")
        if not path.exists() and (near := suggest_file(path, ".safetensors", "checkpoints")):
            raise CheckpointError(f"{printable(path)}: no such file{near}")
    except OSError as error:
        reason = explain_os_error(error)
        raise CheckpointError(f"cannot read {printable(path)}: {reason}") from error
    return path


def _read_file(path: Path | str) -> bytes:
    """Return the bytes of the file at `path`; raise CheckpointError when it cannot be read."""
    try:
        return read_limited(path, FILE_LIMIT)
    except RunError as error:
        raise CheckpointError(str(error)) from error


def _parse_header(
    data: bytes, name: str, expected_format: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the tensors of a header by name, and its texts without format and version.

    Raises:
        CheckpointError: for another kind of file, another format or a damaged header.
    """
    # A header's length may begin like a pickle; then its JSON follows.
    if data[:2] == b"PK" or (data[:1] == b"\x80" and data[8:9] != b"{"):
        refuse(
            name, "this is a pickled PyTorch file, which can run code; only .safetensors are read"
        )
    length = int.from_bytes(data[:8], "little")
    foreign = "it is no .safetensors file, or its header is damaged"
    if len(data) >= 8 and length > HEADER_LIMIT:
        refuse(name, f"{foreign} (longer than 1 MiB)")
    if len(data) < 8 + length:
        refuse(name, f"it ends too early, after {len(data):,} bytes; use another copy of it")
    try:
        header = parse_object(data[8 : 8 + length].decode())
        for tensor in header.values():
            typed(typed(tensor, dict).get("dtype", ""), str)
    except (TypeError, ValueError):
        refuse(name, f"{foreign} (no JSON of tensors)")
    texts = header.pop("__metadata__", {})
    kind, version = texts.pop("format", None), texts.pop("format_version", None)
    if kind != expected_format:
        origin = f"of format {kind!r}" if kind else "of another program"
        refuse(name, f"this .safetensors file is {origin}; expected {expected_format!r}")
    if version != str(FORMAT_VERSION):
        reader = f"this version of alphazero reads {FORMAT_VERSION}; use the version that wrote it"
        refuse(name, f"its format is {str(version)[:9]}, and {reader}")
    if "sha256" not in texts or not all(isinstance(text, str) for text in texts.values()):
        refuse(name, "its header lacks the SHA-256 or holds no texts; it is damaged")
    return header, texts


def refuse(name: str, why: str, verb: str = "read") -> NoReturn:
    """Raise CheckpointError about the file called `name`, in one line."""
    raise CheckpointError(f"cannot {verb} {name}: {printable(why)[:_MESSAGE_LIMIT]}")
