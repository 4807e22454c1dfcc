"""The header of a player's file, which can be read before torch is loaded."""

from pathlib import Path
from typing import Any, Final, NoReturn, cast

from alphazero.errors import CheckpointError, RunError
from alphazero.utils.checked_json import parse_object, typed
from alphazero.utils.files import explain_os_error, printable, read_limited, suggest_file
from alphazero.utils.shipped import find_shipped, shipped_players

PLAYER_FORMAT: Final = "alphazero-player"
FORMAT_VERSION: Final = 1
"""The newest version of every format written here; older ones are read."""
HEADER_LIMIT: Final = 1 << 20
FILE_LIMIT: Final = 4 << 30
_MESSAGE_LIMIT: Final = 400


def find_checkpoint(path: Path) -> Path:
    """Return `path`, or the best player's checkpoint if `path` is a run's folder.

    The name of a shipped player, as `connect_four`, is its file.

    Raises:
        CheckpointError: for a folder without one, and for a missing file with a similar name.
    """
    try:
        path = find_shipped(path, shipped_players())
        best = path / "best.safetensors"
        if best.exists():
            return best
        if path.is_dir():
            raise CheckpointError(
                f"{printable(path)} holds no best.safetensors; give a .safetensors file or the "
                "folder of a run"
            )
        if not path.exists() and (near := suggest_file(path, ".safetensors", "checkpoints")):
            raise CheckpointError(f"{printable(path)}: no such file{near}")
    except OSError as error:
        raise CheckpointError(
            f"cannot read {printable(path)}: {explain_os_error(error)}"
        ) from error
    return path


def check_checkpoint(path: Path | str) -> None:
    """Raise CheckpointError unless a file's header is a player's: a check before compilation."""
    data, name = read_file(path), printable(path)
    header = header_of(name, data)
    metadata_of(name, header, PLAYER_FORMAT)


def read_file(path: Path | str) -> bytes:
    """Return the bytes of the file at `path`; raise CheckpointError when it cannot be read."""
    try:
        return read_limited(path, FILE_LIMIT)
    except RunError as error:
        raise CheckpointError(str(error)) from error


def header_of(name: str, data: bytes) -> dict[str, Any]:
    """Return the parsed header, an object of objects."""
    # A header's length may begin like a pickle; then its JSON follows.
    if data[:2] == b"PK" or (data[:1] == b"\x80" and data[8:9] != b"{"):
        refuse(
            name, "this is a pickled PyTorch file, which can run code; only .safetensors are read"
        )
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or (length <= HEADER_LIMIT and length > len(data) - 8):
        refuse(name, f"it ends too early, after {len(data):,} bytes; use another copy of it")
    if length > HEADER_LIMIT:
        refuse(name, "it is no .safetensors file, or its header is damaged (longer than 1 MiB)")
    try:
        header = parse_object(data[8 : 8 + length].decode())
        for tensor in header.values():
            typed(typed(tensor, dict).get("dtype", ""), str)
    except (TypeError, ValueError):
        refuse(name, "it is no .safetensors file, or its header is damaged (no JSON of tensors)")
    return header


def metadata_of(name: str, header: dict[str, Any], expected_format: str) -> dict[str, str]:
    """Remove the metadata from the header and return it; raise CheckpointError for a wrong one."""
    texts = header.pop("__metadata__", {})
    found = texts.get("format")
    if found != expected_format:
        what = f"of format {found!r}" if found else "of another program"
        refuse(name, f"this .safetensors file is {what}; expected {expected_format!r}")
    version = texts.get("format_version")
    if not (isinstance(version, str) and version.isascii() and version.isdecimal()):
        refuse(name, f"its format version is {version!r}, not a number; it is damaged")
    if len(version) > 9 or int(version) > FORMAT_VERSION:
        refuse(
            name,
            f"written by a newer alphazero (format {version[:9]}; "
            f"this one reads up to {FORMAT_VERSION}): upgrade",
        )
    if "sha256" not in texts or not all(isinstance(text, str) for text in texts.values()):
        refuse(name, "its header lacks the SHA-256 or holds no texts; it is damaged")
    return cast(dict[str, str], texts)


def refuse(name: str, why: str, verb: str = "read") -> NoReturn:
    """Raise CheckpointError about the file called `name`, in one line."""
    raise CheckpointError(f"cannot {verb} {name}: {printable(why)[:_MESSAGE_LIMIT]}")
